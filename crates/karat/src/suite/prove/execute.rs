//! One run of a proof: a fresh copy of the code with the proof's files, and the command in the sandbox.

use super::toolchain::{Installed, find_installed, version_command};
use crate::failure::{Failure, Result};
use crate::suite::LoadedSuite;
use crate::suite::code::Side;
use crate::suite::kept_proofs::proof_path;
use crate::suite::objects::FileMode;
use crate::suite::package::make_parents;
use crate::tool::command::environment::{CHECKOUT, environment, make_folders};
use crate::tool::command::runner::{first_line, last_line};
use crate::tool::run_context::RunContext;
use karat_core::golden::Proof;
use karat_core::suite::Case;
use karat_io::remove_tree::remove_tree;
use karat_sandbox::{Access, ExitReason, Isolation, Job, JobResult, Limits, NetworkAccess};
use karat_sandbox::{locate_program, python_variables, root_in_sandbox, run};
use karat_source::git::{GitError, apply_patch};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Compiling and running a small project takes seconds; a proof that waits for ever must not hold up the others.
const TIME_LIMIT: Duration = Duration::from_secs(120);
const MAX_OUTPUT: usize = 8 << 20;

/// Exit codes by which a proof says why it could not be run.
const DOES_NOT_COMPILE: i32 = 3;
const NO_TOOLCHAIN: i32 = 4;
/// By which shells say that there is no such program.
const NOT_FOUND: i32 = 127;

/// The code that a proof is run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProofSide<'a> {
    Change,
    /// The change with the golden's own patch.
    Fix,
    /// The code in a folder that an untrusted program has written to.
    Folder(&'a Path),
}

/// How a proof ended, with the reason if it did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunOutcome {
    Passed,
    Failed(String),
    NoToolchain(String),
    Broken(String),
}

/// Runs proofs of one suite.
pub(crate) struct ProofRunner<'a> {
    context: &'a RunContext<'a>,
    isolation: Isolation,
    /// The versions of toolchains, by language.
    versions: Mutex<BTreeMap<String, Option<String>>>,
}

impl<'a> ProofRunner<'a> {
    pub(crate) fn new(context: &'a RunContext<'a>, isolation: Isolation) -> Self {
        Self { context, isolation, versions: Mutex::default() }
    }

    /// Runs a proof once; `None` if it was cancelled. A proof is told which run on the same code it is, as tools are.
    pub(crate) fn run_proof(
        &self,
        case: &Case,
        proof: &Proof,
        side: ProofSide<'_>,
        number: usize,
    ) -> Result<Option<RunOutcome>> {
        let root = self.context.new_folder();
        let outcome = self.run_in(&root, case, proof, side, number);
        // What cannot be removed now goes with the folder of all runs.
        let _ = remove_tree(&root);
        outcome
    }

    fn run_in(
        &self,
        root: &Path,
        case: &Case,
        proof: &Proof,
        side: ProofSide<'_>,
        number: usize,
    ) -> Result<Option<RunOutcome>> {
        let failed = |error: io::Error| Failure::io(format!("a copy of `{}`", case.id), error);
        make_folders(root).map_err(failed)?;
        let copy = root.join(CHECKOUT);
        fs::create_dir(&copy).map_err(failed)?;
        match side {
            ProofSide::Change | ProofSide::Fix => write_code(self.context.loaded, case, &copy).map_err(failed)?,
            ProofSide::Folder(folder) => match copy_folder(folder, &copy, Limits::default().disk) {
                Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                    return Err(failed(error));
                }
                Err(error) => return Ok(Some(RunOutcome::Broken(format!("its files cannot be copied: {error}")))),
                Ok(()) => {}
            },
        }
        if side == ProofSide::Fix {
            let path = proof_path(self.context.loaded, &case.id, &proof.fixed);
            let patch = self.context.loaded.files.read(&path).map_err(failed)?.unwrap_or_default();
            match apply_patch(&copy, &patch) {
                Ok(()) => {}
                Err(GitError::Failed { message, .. }) => {
                    return Ok(Some(RunOutcome::Broken(format!("{} does not apply: {message}", proof.fixed))));
                }
                Err(error) => return Err(error.into()),
            }
        }
        match self.copy_proof(case, proof, &copy) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(failed(error)),
            Err(error) => {
                return Ok(Some(RunOutcome::Broken(format!("{} cannot be laid over the code: {error}", proof.files))));
            }
            Ok(()) => {}
        }
        let program = proof.run.first().map(String::as_str).unwrap_or_default();
        if !program.contains('/') && self.program(proof).is_none() {
            return Ok(Some(RunOutcome::NoToolchain(format!("the program `{program}` was not found on the PATH"))));
        }
        let command: Vec<&str> = proof.run.iter().map(String::as_str).collect();
        let finished = self.run_command(root, &command, case.language.as_deref(), number)?;
        Ok(classify(&finished))
    }

    /// The program of the machine that a proof starts; `None` if it is missing, or is a file of the proof.
    fn program(&self, proof: &Proof) -> Option<PathBuf> {
        let name = proof.run.first().filter(|name| !name.contains('/'))?;
        locate_program(OsStr::new(name), &self.context.path())
    }

    pub(crate) fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// What a proof uses of this machine: the version of the toolchain, else the path of the program. `None` if neither is known.
    pub(crate) fn programs(&self, case: &Case, proof: &Proof) -> Result<Option<String>> {
        let toolchain = self.toolchain(case)?;
        Ok(toolchain.or_else(|| self.program(proof).map(|path| path.display().to_string())))
    }

    /// The version of the toolchain of a case's language, asked for once.
    pub(crate) fn toolchain(&self, case: &Case) -> Result<Option<String>> {
        let Some(command) = version_command(case.language.as_deref()) else { return Ok(None) };
        let language = case.language.clone().unwrap_or_default();
        if let Some(known) = self.versions.lock().unwrap_or_else(PoisonError::into_inner).get(&language) {
            return Ok(known.clone());
        }
        let program = command.first().copied().unwrap_or_default();
        let version = match locate_program(OsStr::new(program), &self.context.path()) {
            None => None,
            Some(_) => {
                let root = self.context.new_folder();
                let failed = |error: io::Error| Failure::io("a folder for the version of a toolchain", error);
                make_folders(&root).map_err(failed)?;
                fs::create_dir(root.join(CHECKOUT)).map_err(failed)?;
                let finished = self.run_command(&root, command, case.language.as_deref(), 1);
                let _ = remove_tree(&root);
                let finished = finished?;
                let answered = finished.exit == ExitReason::Exited(0);
                first_line(&finished, |line| !line.is_empty()).filter(|_| answered)
            }
        };
        let version: Option<String> = version.map(|line| line.chars().take(100).collect());
        self.versions.lock().unwrap_or_else(PoisonError::into_inner).insert(language, version.clone());
        Ok(version)
    }

    fn run_command(&self, root: &Path, command: &[&str], language: Option<&str>, number: usize) -> Result<JobResult> {
        let context = self.context;
        let (path, home) = (context.path(), context.variable("HOME").map(Path::new));
        let program = command.first().copied().unwrap_or_default();
        let Installed { readable, variables } =
            find_installed(program, language, &path, home, context.variable("RUSTUP_HOME"));
        let mut env = environment(context, NetworkAccess::None, &[], &root_in_sandbox(self.isolation, root));
        env.extend(python_variables(&readable, home).into_iter().map(|(name, value)| (name, value.into())));
        env.extend(variables);
        env.insert("KARAT_TRIAL".to_owned(), number.to_string().into());
        // LeakSanitizer traces its own process, which the sandbox forbids, and ends a program that has no leak with a failure.
        env.insert("ASAN_OPTIONS".to_owned(), "detect_leaks=0".into());
        let mut command: Vec<OsString> = command.iter().map(OsString::from).collect();
        if let (false, Some(first)) = (program.contains('/'), command.first_mut())
            && let Some(found) = locate_program(OsStr::new(program), &path)
        {
            // A name would be looked for in the code, too.
            *first = found.into();
        }
        let secret = context.secret.iter().chain([&context.scratch]).cloned().collect();
        let job = Job {
            command,
            env,
            root: root.to_owned(),
            dir: root.join(CHECKOUT),
            tool: None,
            access: Access { readable, secret, ..Access::default() },
            // Sanitizers, by which proofs see what goes wrong in memory, reserve terabytes.
            limits: Limits { time: TIME_LIMIT, output: MAX_OUTPUT, any_reservation: true, ..Limits::default() },
            isolation: self.isolation,
        };
        run(&job, context.supervisor, &context.cancel).map_err(|error| Failure::failed(format!("{program}: {error}")))
    }

    fn copy_proof(&self, case: &Case, proof: &Proof, copy: &Path) -> io::Result<()> {
        let files = &self.context.loaded.files;
        let folder = proof_path(self.context.loaded, &case.id, &proof.files);
        for below in files.walk(&folder)?.files {
            let path = format!("{folder}/{below}");
            let Some(bytes) = files.read(&path)? else { continue };
            let mode = if files.is_executable(&path) { FileMode::Executable } else { FileMode::Plain };
            write_over(copy, &below, &bytes, mode)?;
        }
        Ok(())
    }
}

/// Writes the code of a case with its change to a folder.
pub(crate) fn write_code(loaded: &LoadedSuite, case: &Case, folder: &Path) -> io::Result<()> {
    let Some(mut code) = loaded.read_code(&case.id)? else { return Ok(()) };
    for path in code.after_paths() {
        if let Some(file) = code.read(Side::After, &path)? {
            write_over(folder, &path, &file.bytes, file.mode)?;
        }
    }
    Ok(())
}

/// Copies what an untrusted program left: files, folders and links as links. Anything else, such as a pipe, is left out. More than
/// `most` bytes are refused.
fn copy_folder(from: &Path, to: &Path, most: u64) -> io::Result<()> {
    // A link in its place would lead to what the program could not read.
    if !fs::symlink_metadata(from).is_ok_and(|there| there.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the folder of the code is gone"));
    }
    let mut open = vec![PathBuf::new()];
    let mut left = most;
    while let Some(below) = open.pop() {
        let folder = from.join(&below);
        allow_access(&folder, 0o700)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (kind, below) = (entry.file_type()?, below.join(entry.file_name()));
            let (source, target) = (from.join(&below), to.join(&below));
            if kind.is_symlink() {
                symlink(fs::read_link(&source)?, &target)?;
            } else if kind.is_dir() {
                fs::create_dir(&target)?;
                open.push(below);
            } else if kind.is_file() {
                let about = entry.metadata()?;
                // A file may say that it is larger than what it takes up, and a copy takes up all of it.
                left = left.checked_sub(about.len()).ok_or_else(|| {
                    io::Error::new(io::ErrorKind::FileTooLarge, format!("they are larger than {most} bytes"))
                })?;
                let is_executable = about.permissions().mode() & 0o100 != 0;
                allow_access(&source, 0o400)?;
                fs::copy(&source, &target)?;
                fs::set_permissions(&target, fs::Permissions::from_mode(if is_executable { 0o755 } else { 0o644 }))?;
            }
        }
    }
    Ok(())
}

/// Adds what is missing to the mode of a file or folder that an untrusted program left.
fn allow_access(path: &Path, wanted: u32) -> io::Result<()> {
    let mode = fs::symlink_metadata(path)?.permissions().mode();
    if mode & wanted == wanted {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode | wanted))
}

/// Writes a file in place of whatever is there, also above it. A link is replaced, and none is followed.
fn write_over(folder: &Path, path: &str, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    let target = folder.join(path);
    let above: Vec<&Path> = Path::new(path).ancestors().skip(1).filter(|above| *above != Path::new("")).collect();
    for above in above.into_iter().rev() {
        let above = folder.join(above);
        if fs::symlink_metadata(&above).is_ok_and(|there| !there.is_dir()) {
            fs::remove_file(&above)?;
        }
    }
    make_parents(folder, Path::new(path))?;
    remove_tree(&target)?;
    if mode == FileMode::Link {
        return symlink(OsStr::from_bytes(bytes), &target);
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode as u32 & 0o777).open(&target)?;
    file.write_all(bytes)
}

/// How a proof ended; `None` if it was cancelled. A crash is a failure like any other.
fn classify(finished: &JobResult) -> Option<RunOutcome> {
    let last = last_line(finished);
    Some(match &finished.exit {
        ExitReason::Cancelled => return None,
        ExitReason::Exited(0) => RunOutcome::Passed,
        ExitReason::Exited(DOES_NOT_COMPILE) => RunOutcome::Broken(format!("it does not compile{last}")),
        ExitReason::Exited(code @ (NO_TOOLCHAIN | NOT_FOUND)) => {
            RunOutcome::NoToolchain(format!("it ended with exit code {code}{last}"))
        }
        ExitReason::Exited(_) | ExitReason::Signalled(_) => RunOutcome::Failed(format!("it {}{last}", finished.exit)),
        other => RunOutcome::Broken(format!("it {other}{last}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_below_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("deep")).unwrap();
        fs::write(from.join("deep/a"), "12345").unwrap();
        // It takes up nothing.
        fs::File::create(from.join("sparse")).unwrap().set_len(1 << 30).unwrap();
        let copied = |most: u64| {
            fs::create_dir(&to).unwrap();
            let result = copy_folder(&from, &to, most).map_err(|error| error.kind());
            remove_tree(&to).unwrap();
            result
        };
        assert_eq!(copied(1 << 20), Err(io::ErrorKind::FileTooLarge));
        fs::remove_file(from.join("sparse")).unwrap();
        assert_eq!(copied(4), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(copied(5), Ok(()));
    }
}
