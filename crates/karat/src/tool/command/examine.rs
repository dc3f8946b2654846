//! Whether a command could run here: its programs, its variables, and the version that it prints.

use super::environment::{HOME, TMP};
use super::join_paths;
use super::program::Program;
use super::runner::first_line;
use crate::tool::doctor::{Examined, NeededProgram, Surroundings, Variable, remark_open_model};
use crate::tool::placeholders;
use karat_io::cancel::Cancel;
use karat_io::remove_tree::remove_tree;
use karat_sandbox::{Access, ExitReason, Job, JobResult, Limits, NetworkAccess};
use karat_sandbox::{available, find_folder_installation, find_installation, python_variables, root_in_sandbox};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const VERSION_TIME: Duration = Duration::from_secs(20);
const MAX_VERSION_CHARS: usize = 200;
const MAX_OUTPUT: usize = 1 << 20;

pub(in crate::tool) fn examine_program(program: &Program, around: &Surroundings<'_>, examined: &mut Examined) {
    let raw = &program.manifest;
    let has_no_placeholder = |word: &String| placeholders::used(word).is_ok_and(|used| used.is_empty());
    let first_words = [&raw.command, &raw.version, &raw.setup].map(|words| words.first());
    // A program that set-up prepares is not there yet.
    for word in first_words.into_iter().flatten().chain(&raw.needs).filter(|word| has_no_placeholder(word)) {
        let name = &placeholders::fill(word, &BTreeMap::new()).unwrap_or_default();
        if examined.programs.iter().any(|known| known.name == *name) {
            continue;
        }
        let found = around.path.and_then(|path| program.locate(name.as_ref(), path));
        if found.is_none() {
            examined.usable = false;
            let install = raw.install.as_ref().map(|how| format!("; to install: {how}")).unwrap_or_default();
            examined.remarks.push(format!("`{name}` was not found{install}"));
        }
        examined.programs.push(NeededProgram { name: name.clone(), found });
    }
    let variable = |name: &String| Variable { name: name.clone(), set: (around.is_set)(name) };
    examined.variables = raw.pass_env.iter().map(variable).collect();
    let missing = program.missing_keys(around.is_set);
    if !missing.is_empty() {
        examined.usable = false;
        examined.remarks.push(format!("no key: set {}", missing.join(" or ")));
    }
    remark_open_model(raw, examined);
    if !raw.setup.is_empty() {
        examined.remarks.push("set-up is run once before the first trial, with the network".to_owned());
    }
    examined.isolation = if program.network == NetworkAccess::None { "no network" } else { "network open" }.to_owned();
    for (verb, places) in [("reads", &program.expose), ("writes", &program.writable)] {
        if !places.is_empty() {
            examined.isolation.push_str(&format!("; {verb} {}", join_paths(places, ", ")));
        }
    }
    if !raw.version.iter().all(has_no_placeholder) {
        return;
    }
    let words = raw.version.iter().map(|word| placeholders::fill(word, &BTreeMap::new()).unwrap_or_default());
    let command: Vec<String> = words.collect();
    let printer = examined.programs.iter().find(|known| Some(&known.name) == command.first());
    let Some(file) = printer.and_then(|printer| printer.found.as_deref()) else { return };
    match ask_version(file, &command, program, around) {
        Ok(version) => examined.version = Some(version),
        Err(why) => examined.remarks.push(why),
    }
}

/// The first line with words that a version command prints, or why there is none. The command is not trusted, so it is
/// isolated as in a run: an empty folder, a short environment, no network.
fn ask_version(
    found: &Path,
    command: &[String],
    program: &Program,
    around: &Surroundings<'_>,
) -> Result<String, String> {
    let finished = run_isolated(found, command, program, around);
    let _ = remove_tree(around.scratch);
    let finished = finished.map_err(|error| format!("its version could not be asked for: {error}"))?;
    let command = command.join(" ");
    if finished.exit != ExitReason::Exited(0) {
        return Err(format!("`{command}` does not print its version: it {}", finished.exit));
    }
    let line = first_line(&finished, |line| line.chars().any(char::is_alphanumeric));
    let line = line.ok_or_else(|| format!("`{command}` does not print its version"))?;
    Ok(line.chars().take(MAX_VERSION_CHARS).collect())
}

fn run_isolated(
    found: &Path,
    command: &[String],
    program: &Program,
    around: &Surroundings<'_>,
) -> io::Result<JobResult> {
    let root = around.scratch;
    for folder in [HOME, TMP] {
        fs::create_dir_all(root.join(folder))?;
    }
    let isolation = available().strongest();
    let sandbox_root = root_in_sandbox(isolation, root);
    let mut env: BTreeMap<String, OsString> = BTreeMap::from([
        ("HOME".to_owned(), sandbox_root.join(HOME).into()),
        ("TMPDIR".to_owned(), sandbox_root.join(TMP).into()),
        ("LANG".to_owned(), "C.UTF-8".into()),
    ]);
    env.extend(around.path.map(|path| ("PATH".to_owned(), path.to_owned())));
    let needs = program.manifest.needs.iter().filter_map(|name| program.locate(name.as_ref(), around.path?));
    let programs = [found.to_owned()].into_iter().chain(needs);
    // A suite cannot choose what is shown.
    let readable: Vec<PathBuf> = if program.files_anywhere {
        let folder = program.manifest.manifest_dir.as_deref().map(Path::new);
        let of_folder = folder.map(find_folder_installation).unwrap_or_default();
        let of_programs = programs.flat_map(|program| find_installation(&program));
        program.expose.iter().cloned().chain(of_folder).chain(of_programs).collect()
    } else {
        let named = command.first().is_some_and(|name| name.contains('/'));
        programs.flat_map(|program| if named { vec![program] } else { find_installation(&program) }).collect()
    };
    let python = python_variables(&readable, around.home).into_iter();
    env.extend(python.map(|(name, value)| (name, value.into())));
    let words = command.iter().skip(1).map(OsString::from);
    let job = Job {
        command: [found.into()].into_iter().chain(words).collect(),
        env,
        root: root.to_owned(),
        dir: root.to_owned(),
        tool: None,
        access: Access { readable, ..Access::default() },
        limits: Limits { time: VERSION_TIME, output: MAX_OUTPUT, ..Limits::default() },
        isolation,
    };
    karat_sandbox::run(&job, around.supervisor, &Cancel::default())
}
