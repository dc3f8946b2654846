//! Which tools could run here: whether the program is found, its version, and whether a key is set. No case is involved.

use super::manifest::{Context, Manifest};
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_sandbox::Supervisor;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The machine as a tool would find it.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Surroundings<'a> {
    /// The variable PATH.
    pub path: Option<&'a OsStr>,
    pub home: Option<&'a Path>,
    /// Whether a variable is set and not empty; its value is never needed.
    pub is_set: &'a dyn Fn(&str) -> bool,
    pub supervisor: &'a Supervisor,
    /// An empty folder for what version commands write.
    pub scratch: &'a Path,
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
pub fn examine(name: &str, raw: &ToolManifestV1, around: &Surroundings<'_>) -> Examined {
    let mut examined = Examined {
        tool: name.to_owned(),
        kind: raw.kind,
        usable: true,
        isolation: "runs no program".to_owned(),
        ..Examined::default()
    };
    let context = Context { model: Some("any"), home: around.home, files_anywhere: true };
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
