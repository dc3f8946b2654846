//! A temporary project folder per test, and helpers that run the command in it.

use assert_cmd::Command;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Variables read by the command, or by tools that tests run; unset so that tests do not depend on the environment.
const CLEARED_VARIABLES: &[&str] = &[
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "GITHUB_STEP_SUMMARY",
    "CI",
    "RAYON_NUM_THREADS",
    "KARAT_STORE",
    "KARAT_ANNOTATOR",
    "KARAT_JUDGE_MODEL",
    "CRB_JUDGE_MODEL",
    "KARAT_TOOL_MODEL",
    "CRB_TOOL_MODEL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "GEMINI_API_KEY",
    "GEMINI_BASE_URL",
    "PGPASSWORD",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
];

/// A temporary folder with files. Commands run in it, so output has relative paths and needs no scrubbing.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Adds a file.
    pub(crate) fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let full = self.path(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The command without arguments, with `CLEARED_VARIABLES` unset.
    pub(crate) fn command(&self) -> Command {
        Command::from_std(self.process())
    }

    /// The same command, for a process that runs beside the test.
    pub(crate) fn process(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_karat"));
        command.current_dir(self.folder.path());
        for name in CLEARED_VARIABLES {
            command.env_remove(name);
        }
        command
            .env("COLUMNS", "100")
            .env("XDG_CONFIG_HOME", self.path(".user"))
            .env("XDG_CACHE_HOME", self.path(".cache"));
        command
    }

    /// Runs a line in a shell with the command on the path. Standard output and error are merged.
    pub(crate) fn run_shell(&self, line: &str) -> CommandOutput {
        let karat = Command::cargo_bin("karat").unwrap();
        let folder = Path::new(karat.get_program()).parent().unwrap().to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
        let mut shell = Command::new("sh");
        shell.current_dir(self.folder.path()).args(["-c", &format!("exec 2>&1\n{line}")]);
        shell.env("PATH", std::env::join_paths(folders).unwrap()).env("COLUMNS", "80").env("HOME", self.folder.path());
        shell.env("XDG_CONFIG_HOME", self.path(".user"));
        for name in CLEARED_VARIABLES {
            shell.env_remove(name);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "Anna").env(format!("GIT_{who}_EMAIL"), "anna@example.org");
        }
        CommandOutput::start(&mut shell)
    }

    /// Runs the command with the words of a line. There is no quoting: see `run_list`.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        self.run_list(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_list(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::start(self.command().args(arguments))
    }

    /// Runs the command on a pseudo-terminal, where somebody types `input`. Output and error are merged. `None`, and a line that
    /// says so, if `script`, which provides the terminal, is not installed.
    pub(crate) fn run_on_terminal(&self, line: &str, input: &str) -> Option<CommandOutput> {
        if std::process::Command::new("script").arg("--version").output().is_err() {
            report_skipped("`script`, which provides a terminal, is not installed");
            return None;
        }
        let command = format!("{} {line}", assert_cmd::cargo::cargo_bin("karat").display());
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(self.folder.path());
        for name in CLEARED_VARIABLES {
            script.env_remove(name);
        }
        script.env("TERM", "dumb").env("COLUMNS", "100").env("XDG_CONFIG_HOME", self.path(".user")).write_stdin(input);
        Some(CommandOutput::start(&mut script))
    }

    /// Standard output of a run that must succeed.
    pub(crate) fn ok(&self, line: &str) -> String {
        self.run(line).expect(0).out
    }

    /// Standard output of a run that must succeed, as JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}

/// The exit code and output of a run.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    pub(crate) fn start(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\nstdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Asserts the exit code and that standard error contains these texts.
    #[track_caller]
    pub(crate) fn expect_error(self, code: i32, texts: &[&str]) -> Self {
        let ran = self.expect(code);
        for text in texts {
            assert!(ran.err.contains(text), "standard error does not contain {text:?}:\n{}", ran.err);
        }
        ran
    }
}

/// A project with `karat.toml` and `cases.jsonl`.
pub(crate) fn suite(cases: &[Value]) -> Project {
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    Project::new().with("karat.toml", "[suite]\nname = \"tiny\"\n").with("cases.jsonl", lines)
}

impl Project {
    /// The suite, where a tool that reports anything calls a case vulnerable.
    pub(crate) fn with_verdicts_of_findings(self) -> Self {
        let settings = self.read("karat.toml") + "[scoring.override]\nverdict_from = \"any\"\n";
        self.with("karat.toml", settings)
    }
}

/// A line of a submission.
pub(crate) fn trial(case: &str, tool: &str, number: u32, findings: Value) -> Value {
    serde_json::json!({ "case": case, "tool": tool, "trial": number, "outcome": "reported", "findings": findings })
}

/// `head`, `part` repeated `times` rounded down to ten thousands, and `tail`, compressed with gzip.
pub(crate) fn gzip_repeated(head: &str, part: &str, times: usize, tail: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(head.as_bytes()).unwrap();
    let block = part.repeat(10_000);
    for _ in 0..times / 10_000 {
        encoder.write_all(block.as_bytes()).unwrap();
    }
    encoder.write_all(tail.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// JSON Lines.
pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Reports that a test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test must not pass silently")]
pub(crate) fn report_skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A fixture of the importers.
pub(crate) fn fixture(path: &str) -> String {
    root().join("crates/karat-import/fixtures").join(path).canonicalize().unwrap().display().to_string()
}

/// A number within a JSON value, by JSON pointer.
#[track_caller]
pub(crate) fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("there is nothing at {pointer}"));
    found.as_f64().unwrap_or_else(|| panic!("{pointer} is {found}"))
}

#[track_caller]
pub(crate) fn near(value: &Value, pointer: &str, expected: f64) {
    let found = number(value, pointer);
    assert!((found - expected).abs() < 1e-12, "{pointer} is {found}, expected {expected}");
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_tree(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
