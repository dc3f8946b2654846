//! Which tools could run here: is the program there, which version is it, is a key at hand. Nothing is run on a case.

use super::manifest::{Context, Kind, Manifest, Program};
use super::placeholders;
use karat_format::judge::JudgeConfigV1;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::cancel::Cancel;
use karat_io::remove_tree::remove_tree;
use karat_llm::providers;
use karat_sandbox::{Access, ExitReason, Job, JobResult, Limits, Supervisor};
use karat_sandbox::{available, find_installation, locate_program, python_user_base, root_in_sandbox};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The machine as a tool would find it.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Where programs are looked for, as in the variable PATH.
    pub path: Option<&'a OsStr>,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// Whether a variable is set to something; what to is nobody's business.
    pub is_set: &'a dyn Fn(&str) -> bool,
    /// How the process that watches over a version command is started.
    pub supervisor: &'a Supervisor,
    /// An empty folder of nobody else's, for what version commands write.
    pub scratch: &'a Path,
}

/// What was found out about a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Examined {
    /// The tool.
    pub tool: String,
    /// How it comes to findings.
    pub kind: ToolKindV1,
    /// Whether it could run here.
    pub usable: bool,
    /// What it calls its version.
    pub version: Option<String>,
    /// The programs it needs.
    pub programs: Vec<Needed>,
    /// The variables it is handed, and whether they are set.
    pub variables: Vec<Variable>,
    /// What it is cut off from, and what not.
    pub isolation: String,
    /// Why it could not run, or what to give it.
    pub remarks: Vec<String>,
}

/// A program that a tool needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Needed {
    /// As the manifest names it.
    pub name: String,
    /// Where it lies.
    pub found: Option<PathBuf>,
}

/// A variable that a tool is handed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether it is set.
    pub set: bool,
}

/// A version is printed at once or not at all.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longer answers are no version.
const LONGEST_VERSION: usize = 200;
/// Whoever prints more than this does not print a version.
const LONGEST_OUTPUT: usize = 1 << 20;
/// What a version command takes for its home.
const HOME: &str = "home";
/// Where it puts temporary files.
const TMP: &str = "tmp";

/// Looks at one tool. Its version command is run, and nothing else.
pub fn examine(name: &str, raw: &ToolManifestV1, around: &Surroundings<'_>) -> Examined {
    let mut examined = Examined {
        tool: name.to_owned(),
        kind: raw.kind,
        usable: true,
        version: None,
        programs: Vec::new(),
        variables: Vec::new(),
        isolation: "runs no program".to_owned(),
        remarks: Vec::new(),
    };
    let context = Context { model: Some("any"), home: around.home, files_anywhere: true };
    match Manifest::resolve(name, raw, Path::new(""), &context) {
        Err(faults) => {
            examined.usable = false;
            examined.remarks.extend(faults.iter().map(ToString::to_string));
        }
        Ok(Manifest { kind: Kind::Command(program), .. }) => look(&program, raw, around, &mut examined),
        Ok(Manifest { kind: Kind::Llm(llm), .. }) => look_for_key(&llm.config, raw, around, &mut examined),
        Ok(_) => {}
    }
    examined
}

fn look(program: &Program, raw: &ToolManifestV1, around: &Surroundings<'_>, examined: &mut Examined) {
    let firsts = [&program.command, &program.version, &program.setup].map(|words| words.first());
    for word in firsts.into_iter().flatten().chain(&program.needs) {
        // What set-up prepares is not there yet.
        let first = Some(word).filter(|word| placeholders::used(word).is_ok_and(|used| used.is_empty()));
        let Some(first) = first.filter(|first| !examined.programs.iter().any(|known| known.name == **first)) else {
            continue;
        };
        let found = around.path.and_then(|path| locate_program(first.as_ref(), path));
        if found.is_none() {
            examined.usable = false;
            let install = raw.install.as_ref().map(|how| format!("; to install: {how}")).unwrap_or_default();
            examined.remarks.push(format!("`{first}` was not found{install}"));
        }
        examined.programs.push(Needed { name: first.clone(), found });
    }
    let variable = |name: &String| Variable { name: name.clone(), set: (around.is_set)(name) };
    examined.variables = program.pass_env.iter().map(variable).collect();
    let missing = program.missing_keys(around.is_set);
    if !missing.is_empty() {
        examined.usable = false;
        examined.remarks.push(format!("no key: set {}", missing.join(" or ")));
    }
    say_which_model(raw, examined);
    if !program.setup.is_empty() {
        examined.remarks.push("set-up is run once before the first trial, with the network".to_owned());
    }
    examined.isolation = isolation(program);
    let plain = program.version.iter().all(|word| placeholders::used(word).is_ok_and(|used| used.is_empty()));
    if let Some(found) = examined.programs.iter().find(|p| Some(&p.name) == program.version.first()).filter(|_| plain) {
        match found.found.as_deref().map(|file| version(file, program, around)) {
            Some(Ok(version)) => examined.version = Some(version),
            Some(Err(why)) => examined.remarks.push(why),
            None => {}
        }
    }
}

/// A model is asked from here, so there is nothing to find but its key; a server other than the provider's own may need none.
fn look_for_key(config: &JudgeConfigV1, raw: &ToolManifestV1, around: &Surroundings<'_>, examined: &mut Examined) {
    examined.isolation = "runs no program; asks over the network".to_owned();
    let Some(remote) = providers::entry(&config.provider).ok().and_then(|entry| entry.remote) else {
        examined.isolation = "runs no program; answers from a file".to_owned();
        return;
    };
    let name = config.key_env.clone().unwrap_or_else(|| remote.key.to_owned());
    let set = (around.is_set)(&name);
    let elsewhere = config.base_url.is_some() || (around.is_set)(remote.base);
    if !set && (config.key_env.is_some() || !elsewhere) {
        examined.usable = false;
        examined.remarks.push(format!("no key: set {name}"));
    }
    examined.variables.push(Variable { name, set });
    say_which_model(raw, examined);
}

fn say_which_model(raw: &ToolManifestV1, examined: &mut Examined) {
    let open = match raw.model.as_deref() {
        Some(model) => model.contains("{model}"),
        None => raw.kind == ToolKindV1::Llm,
    };
    if open {
        examined.remarks.push("name a model with --model NAME or KARAT_TOOL_MODEL".to_owned());
    }
}

fn isolation(program: &Program) -> String {
    let network = if program.network { "network open" } else { "no network" };
    let seen: Vec<String> = program.expose.iter().map(|place| place.display().to_string()).collect();
    let written: Vec<String> = program.writable.iter().map(|place| place.display().to_string()).collect();
    let mut parts = vec![network.to_owned()];
    if !seen.is_empty() {
        parts.push(format!("reads {}", seen.join(", ")));
    }
    if !written.is_empty() {
        parts.push(format!("writes {}", written.join(", ")));
    }
    parts.join("; ")
}

/// The first line with words that a version command prints, or why there is none. It is somebody else's command, so it is kept
/// apart as in a run: an empty folder, a short environment, no network.
fn version(found: &Path, program: &Program, around: &Surroundings<'_>) -> Result<String, String> {
    let root = around.scratch.join("version");
    let finished = isolated(&root, found, program, around);
    let _ = remove_tree(&root);
    let finished = finished?;
    let command = program.version.join(" ");
    if finished.exit != ExitReason::Exited(0) {
        return Err(format!("`{command}` does not print its version: it {}", finished.exit));
    }
    let said = [&finished.stdout.bytes, &finished.stderr.bytes].map(|bytes| String::from_utf8_lossy(bytes));
    let mut lines = said.iter().flat_map(|text| text.lines()).map(str::trim);
    let line = lines.find(|line| line.chars().any(char::is_alphanumeric));
    let line = line.ok_or_else(|| format!("`{command}` does not print its version"))?;
    Ok(line.chars().take(LONGEST_VERSION).collect())
}

fn isolated(root: &Path, found: &Path, program: &Program, around: &Surroundings<'_>) -> Result<JobResult, String> {
    let unasked = |error: &dyn std::error::Error| format!("its version could not be asked for: {error}");
    for folder in [HOME, TMP] {
        fs::create_dir_all(root.join(folder)).map_err(|error| unasked(&error))?;
    }
    let isolation = available().strongest();
    let seen = root_in_sandbox(isolation, root);
    let mut env: BTreeMap<String, OsString> = BTreeMap::from([
        ("HOME".to_owned(), seen.join(HOME).into()),
        ("TMPDIR".to_owned(), seen.join(TMP).into()),
        ("LANG".to_owned(), "C.UTF-8".into()),
    ]);
    env.extend(around.path.map(|path| ("PATH".to_owned(), path.to_owned())));
    let needs = program.needs.iter().filter_map(|name| locate_program(name.as_ref(), around.path?));
    let mut readable: Vec<PathBuf> = program.expose.clone();
    readable.extend([found.to_owned()].into_iter().chain(needs).flat_map(|program| find_installation(&program)));
    let user_base = python_user_base(&readable, around.home);
    env.extend(user_base.map(|base| ("PYTHONUSERBASE".to_owned(), base.into())));
    let words = program.version.iter().skip(1).map(OsString::from);
    let job = Job {
        command: [found.into()].into_iter().chain(words).collect(),
        env,
        root: root.to_owned(),
        dir: root.to_owned(),
        tool: None,
        access: Access { readable, ..Access::default() },
        limits: Limits { time: PATIENCE, output: LONGEST_OUTPUT, ..Limits::default() },
        isolation,
    };
    karat_sandbox::run(&job, around.supervisor, &Cancel::default()).map_err(|error| unasked(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::document::{Syntax, decode, schema_of};
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
            scratch: scratch.path(),
        };
        let found = examine("t", &raw, &around);
        let mut told = vec![if found.usable { "usable" } else { "unusable" }.to_owned()];
        told.extend(found.version.map(|version| format!("version {version}")));
        told.push(found.isolation);
        told.extend(found.remarks);
        let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(told.join("\n"), expect.join("\n"), "{manifest}");
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
            "unusable\nruns no program\ncommand: names no program; give it and its arguments as a list of words, such as [\"scan\", \"{checkout}\"]\nneeds `format`, what the tool writes; there are karat, sarif, semgrep, bandit, eslint, slither, rdjson, rdjsonl, github-review, review-text, scan-findings, csv",
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
