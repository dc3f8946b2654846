//! Which tools can run here: whether the program is found, its version, whether a key is set, and one trial in the sandbox on a
//! small sample in several languages.

use super::catalogue::shipped;
use super::grants::requested;
use super::manifest::{Context, Manifest};
use super::replay::Recordings;
use super::run_context::RunContext;
use super::{Blocked, Task, failed};
use crate::checkout::Template;
use crate::failure::{Failure, Result};
use crate::scratch::make_scratch;
use crate::suite::{LoadedSuite, load};
use karat_core::ids::ToolName;
use karat_core::suite::Case;
use karat_core::trial::Outcome;
use karat_format::quantity;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_sandbox::{Supervisor, available};
use karat_store::record::{TrialKey, TrialRecord};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The tools to examine, and what they are examined with.
#[expect(missing_docs, reason = "field names say it")]
pub struct DoctorRequest {
    pub tools: Vec<ToolToExamine>,
    /// The user's environment, of which tools see only what is allowed.
    pub environment: BTreeMap<String, OsString>,
    pub supervisor: Supervisor,
    pub cancel: Cancel,
    /// Tools at once; by default the number of processors.
    pub jobs: Option<usize>,
}

/// A tool to examine.
#[expect(missing_docs, reason = "field names say it")]
pub struct ToolToExamine {
    pub name: String,
    pub manifest: ToolManifestV1,
    /// Whether the user gave the manifest or it came with Karat; one of a suite gets nothing beyond the closed sandbox.
    pub trusted: bool,
}

/// Files of the sample, with something to find in each language that the catalogue's tools read.
const SAMPLE: &[(&str, &str)] = &[
    ("karat.toml", "[suite]\nname = \"sample\"\n"),
    ("cases/sample/case.yaml", "id: sample\npr:\n  title: Add a sample\n  description: One file in each language.\n"),
    ("cases/sample/before/README.md", "A sample.\n"),
    ("cases/sample/after/README.md", "A sample.\n"),
    (
        "cases/sample/after/app.py",
        "import subprocess\n\n\ndef run(word):\n    subprocess.call('ls ' + word, shell=True)\n",
    ),
    ("cases/sample/after/app.js", "export function run(text) {\n  if (text == NaN) return eval(text);\n}\n"),
    (
        "cases/sample/after/Vault.sol",
        "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n\ncontract Vault {\n    address owner = msg.sender;\n\n    \
         function close(address payable to) public {\n        require(tx.origin == owner);\n        selfdestruct(to);\n    }\n}\n",
    ),
    ("cases/sample/after/Cargo.toml", "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("cases/sample/after/src/lib.rs", "pub fn is_empty(list: &Vec<u8>) -> bool {\n    return list.len() == 0;\n}\n"),
    ("cases/sample/after/app.ts", "export const run = (text: any): any => eval(text);\n"),
    ("cases/sample/after/app.rb", "def run(word)\n  `ls #{word}`\nend\n"),
    ("cases/sample/after/app.c", "#include <stdio.h>\n\nvoid greet(char *name) {\n    printf(name);\n}\n"),
    (
        "cases/sample/after/App.java",
        "class App {\n    boolean same(String a) {\n        return a == \"x\";\n    }\n}\n",
    ),
    ("cases/sample/after/go.mod", "module example.org/sample\n\ngo 1.20\n"),
    (
        "cases/sample/after/main.go",
        "package main\n\nimport (\n\t\"crypto/md5\"\n\t\"fmt\"\n)\n\nfunc main() {\n\tfmt.Println(md5.Sum([]byte(\"a\")))\n}\n",
    ),
];

/// The longest that a tool may take for the sample, however much time its manifest gives it for a case.
const SAMPLE_TIMEOUT: &str = "3m";
/// Lines of a failed tool's standard error that are repeated.
const SHOWN_LINES: usize = 6;

/// Examines tools, several at once. `done` is called with each when it has been examined.
pub fn diagnose(request: &DoctorRequest, done: &(dyn Fn(&Examined) + Sync)) -> Result<Vec<Examined>> {
    let scratch = make_scratch()?;
    let sample = write_sample(&scratch.path)?;
    let failed_sample = |error: io::Error| Failure::io("the sample", error);
    let case = sample.suite.cases.first().ok_or_else(|| Failure::failed("the sample has no case"))?;
    let template = Template::build(&sample, case).map_err(failed_sample)?;
    let (supervisor, environment) = (&request.supervisor, &request.environment);
    let context = RunContext::new(&sample, scratch.path.clone(), supervisor, request.cancel.clone(), environment, 0);
    let is_set = |name: &str| context.variable(name).is_some();
    let next = AtomicUsize::new(0);
    let examined = Mutex::new(BTreeMap::new());
    let work = || {
        while !request.cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(tool) = request.tools.get(index) else { break };
            let folder = context.new_folder();
            let around = Surroundings {
                path: environment.get("PATH").map(OsString::as_os_str),
                home: environment.get("HOME").map(Path::new),
                is_set: &is_set,
                supervisor,
                scratch: &folder,
            };
            let mut found = examine(tool, &around);
            try_sample(tool, &context, (case, template.as_ref()), &mut found);
            done(&found);
            examined.lock().unwrap_or_else(PoisonError::into_inner).insert(index, found);
        }
    };
    let jobs = request.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, request.tools.len().max(1)) {
            scope.spawn(work);
        }
    });
    if request.cancel.is_cancelled() {
        return Err(Failure::failed("stopped before all tools were examined"));
    }
    Ok(examined.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect())
}

/// The version that a tool of the catalogue prints, if it is installed here and works; nothing else of it is run.
pub(crate) fn version_installed(
    name: &str,
    environment: &BTreeMap<String, OsString>,
    supervisor: &Supervisor,
) -> Result<Option<String>> {
    let Some(ready) = shipped(name) else { return Ok(None) };
    let scratch = make_scratch()?;
    let around = Surroundings {
        path: environment.get("PATH").map(OsString::as_os_str),
        home: environment.get("HOME").map(Path::new),
        is_set: &|name| environment.get(name).is_some_and(|value| !value.is_empty()),
        supervisor,
        scratch: &scratch.path.join("version"),
    };
    let tool = ToolToExamine { name: name.to_owned(), manifest: ready.manifest()?, trusted: true };
    let found = examine(&tool, &around);
    Ok(found.version.filter(|_| found.usable))
}

fn write_sample(scratch: &Path) -> Result<LoadedSuite> {
    let folder = scratch.join("sample");
    for (path, text) in SAMPLE {
        let path = folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| Failure::io(path.display().to_string(), error))?;
    }
    Ok(load(Files::Disk(folder))?)
}

/// Runs a tool once on the sample, as a run would. Tools that use the network are not tried, since asking a model costs money.
fn try_sample(
    tool: &ToolToExamine,
    context: &RunContext<'_>,
    (case, template): (&Case, Option<&Template>),
    examined: &mut Examined,
) {
    let raw = &tool.manifest;
    if !examined.usable || raw.kind != ToolKindV1::Command {
        return;
    }
    if raw.network || raw.loopback {
        return examined.remarks.push("not tried: it uses the network, which may cost money".to_owned());
    }
    if !tool.trusted && !requested(raw).is_empty() {
        let remark = "not tried: a suite's tool that asks for permissions is only run with `karat run --allow`";
        return examined.remarks.push(remark.to_owned());
    }
    let mut raw = ToolManifestV1 { version: Vec::new(), rule_map: None, ..raw.clone() };
    if raw.timeout.as_deref().is_none_or(|own| quantity::duration(own).ok() > quantity::duration(SAMPLE_TIMEOUT).ok()) {
        raw.timeout = Some(SAMPLE_TIMEOUT.to_owned());
    }
    let tried = run_sample(&ToolToExamine { name: tool.name.clone(), manifest: raw, ..*tool }, context, case, template);
    match tried {
        Ok(Some((record, blocked))) => {
            let outcome = record.trial.outcome;
            if failed(outcome) {
                examined.usable = false;
                let why = record.detail.reason.as_deref().unwrap_or("for an unknown reason");
                examined.remarks.insert(0, format!("its trial {}: {why}", outcome.ended()));
            }
            examined.trial = Some(SampleTrial {
                outcome,
                findings: record.trial.findings.len(),
                stderr: record.last_stderr_lines(SHOWN_LINES),
                blocked,
            });
        }
        Ok(None) => {}
        Err(why) => {
            examined.usable = false;
            examined.remarks.insert(0, why);
        }
    }
}

type TriedSample = Option<(TrialRecord, Vec<Blocked>)>;

fn run_sample(
    tool: &ToolToExamine,
    context: &RunContext<'_>,
    case: &Case,
    template: Option<&Template>,
) -> Result<TriedSample, String> {
    let home = context.variable("HOME").map(Path::new);
    let resolved = Context { model: Some("any"), home, files_anywhere: tool.trusted };
    let manifest = Manifest::resolve(&tool.name, &tool.manifest, &resolved);
    let manifest = manifest.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let loaded = manifest.declaration.load(context.loaded, &mut Recordings::default());
    let loaded = loaded.map_err(|failure| failure.text())?;
    let (runner, _) = loaded.prepare(available().strongest(), context).map_err(|error| error.to_string())?;
    let key = TrialKey { tool: ToolName::new(&tool.name), case: case.id.clone(), number: 1 };
    let record = runner.run_trial(&Task { key, attempt: 1 }, Some(case), template, &|_| ());
    let record = record.map_err(|error| error.to_string())?;
    Ok(record.map(|record| {
        let blocked = runner.blocked(&record);
        (record, blocked)
    }))
}

/// The machine as a tool would find it.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// The variable PATH.
    pub(crate) path: Option<&'a OsStr>,
    pub(crate) home: Option<&'a Path>,
    /// Whether a variable is set and not empty; its value is never needed.
    pub(crate) is_set: &'a (dyn Fn(&str) -> bool + Sync),
    pub(crate) supervisor: &'a Supervisor,
    /// A folder that does not exist yet, for what version commands write.
    pub(crate) scratch: &'a Path,
}

/// What was found out about a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Examined {
    pub tool: String,
    pub kind: ToolKindV1,
    pub usable: bool,
    pub version: Option<String>,
    pub programs: Vec<NeededProgram>,
    pub variables: Vec<Variable>,
    pub isolation: String,
    /// Why it could not run, or what to give it.
    pub remarks: Vec<String>,
    /// Its trial on the sample, if it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<SampleTrial>,
}

/// A trial of a tool on the sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SampleTrial {
    pub outcome: Outcome,
    pub findings: usize,
    /// The last lines that it printed to standard error.
    pub stderr: Vec<String>,
    /// What the sandbox kept from it, as far as that is known.
    pub blocked: Vec<Blocked>,
}

/// A program that a tool needs, and where it was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NeededProgram {
    pub name: String,
    pub found: Option<PathBuf>,
}

/// A variable that a tool gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Variable {
    pub name: String,
    pub set: bool,
}

/// Examines one tool. Its version command is run, and nothing else.
fn examine(tool: &ToolToExamine, around: &Surroundings<'_>) -> Examined {
    let ToolToExamine { name, manifest: raw, trusted } = tool;
    let mut examined = Examined {
        tool: name.to_owned(),
        kind: raw.kind,
        usable: true,
        isolation: "runs no program".to_owned(),
        ..Examined::default()
    };
    let context = Context { model: Some("any"), home: around.home, files_anywhere: *trusted };
    match Manifest::resolve(name, raw, &context) {
        Ok(manifest) => manifest.declaration.examine(raw, around, &mut examined),
        Err(faults) => {
            examined.usable = false;
            examined.remarks.extend(faults.iter().map(ToString::to_string));
        }
    }
    examined
}

pub(super) fn remark_open_model(raw: &ToolManifestV1, examined: &mut Examined) {
    if raw.model.as_deref().map_or(raw.kind == ToolKindV1::Llm, |model| model.contains("{model}")) {
        examined.remarks.push("name a model with --model NAME or KARAT_TOOL_MODEL".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::document::{Syntax, decode, schema_of};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with a program and a file that is none.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("scan", 0o755), ("data", 0o644)] {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\necho scan 1.2\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        folder
    }

    /// Nothing can be run here, for the supervisor is not there.
    #[track_caller]
    fn check(manifest: &str, set: &[&str], expect: &str) {
        let folder = folder();
        let schema = schema_of::<ToolManifestV1>();
        let raw = decode::<ToolManifestV1>("t.toml", manifest, Syntax::Toml, &schema).into_result().unwrap().0;
        let is_set = |name: &str| set.contains(&name);
        let scratch = tempfile::tempdir().unwrap();
        let around = Surroundings {
            path: Some(folder.path().as_os_str()),
            home: Some(Path::new("/home/me")),
            is_set: &is_set,
            supervisor: &Supervisor { program: "/nowhere/karat".into(), args: Vec::new() },
            scratch: &scratch.path().join("0"),
        };
        let found = examine(&ToolToExamine { name: "t".to_owned(), manifest: raw, trusted: true }, &around);
        let mut facts = vec![if found.usable { "usable" } else { "unusable" }.to_owned()];
        facts.extend(found.version.map(|version| format!("version {version}")));
        facts.push(found.isolation);
        facts.extend(found.remarks);
        let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(facts.join("\n"), expect.join("\n"), "{manifest}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "{manifest}");
    }

    #[test]
    fn tools_are_looked_at() {
        let known = "command = [\"scan\", \"{checkout}\"]\nformat = \"sarif\"\n";
        check(known, &[], "usable\nno network");
        check(
            &format!("{known}version = [\"scan\", \"--version\"]"),
            &[],
            "usable\nno network\nits version could not be asked for: the supervisor /nowhere/karat could not be started: No such file or directory (os error 2)",
        );
        check(
            "command = [\"absent\"]\nformat = \"sarif\"\ninstall = \"make it\"",
            &[],
            "unusable\nno network\n`absent` was not found; to install: make it",
        );
        check("command = [\"data\"]\nformat = \"sarif\"", &[], "unusable\nno network\n`data` was not found");
        check(
            &format!("{known}setup = [\"npm\"]\nexpose = [\"~/x\"]\nwritable = [\"/y\"]"),
            &[],
            "unusable\nno network; reads /home/me/x; writes /y\n`npm` was not found\n\
             set-up is run once before the first trial, with the network",
        );
        check(
            "command = [\"scan\"]\nformat = \"sarif\"\nneeds = [\"scan\", \"other\"]",
            &[],
            "unusable\nno network\n`other` was not found",
        );
        check("kind = \"patterns\"", &[], "usable\nruns no program");
        check(
            "command = []",
            &[],
            "unusable\nruns no program\ncommand: names no program; give it and its arguments as a list of words, such as [\"scan\", \"{checkout}\"]\nneeds `format`, what the tool writes; available: karat, sarif, semgrep, bandit, eslint, slither, rdjson, rdjsonl, github-review, review-text, scan-findings, csv",
        );
    }

    #[test]
    fn keys_are_needed_and_never_told() {
        let keyed = "command = [\"scan\"]\nformat = \"karat\"\nnetwork = true\nmodel = \"{model}\"\npass_env = [\"A_KEY\", \"B_KEY\", \"LANGUAGE\"]";
        let model = "name a model with --model NAME or KARAT_TOOL_MODEL";
        check(keyed, &["B_KEY"], &format!("usable\nnetwork open\n{model}"));
        check(keyed, &["LANGUAGE"], &format!("unusable\nnetwork open\nno key: set A_KEY or B_KEY\n{model}"));
    }
}
