//! A folder of its own for each test, and the command run in it.

use assert_cmd::Command;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Variables that the command listens to, and tools that tests call with it. No test hears what its tester has set.
const HEARD: &[&str] = &[
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
];

/// A temporary folder with files; paths in it are shown as the tests wrote them, so that there is nothing to scrub.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The same with one more file.
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

    /// The command, ready to be given arguments. Nothing of the tester's environment that it listens to is left.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::cargo_bin("karat").unwrap();
        command.current_dir(self.folder.path());
        for name in HEARD {
            command.env_remove(name);
        }
        command.env("COLUMNS", "100").env("XDG_CONFIG_HOME", self.path(".user"));
        command
    }

    /// Runs a line as a person would type it, with the command on the path. Both streams come out as one, as on a terminal.
    pub(crate) fn typed(&self, line: &str) -> Ran {
        let karat = Command::cargo_bin("karat").unwrap();
        let folder = Path::new(karat.get_program()).parent().unwrap().to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
        let mut shell = Command::new("sh");
        shell.current_dir(self.folder.path()).args(["-c", &format!("exec 2>&1\n{line}")]);
        shell.env("PATH", std::env::join_paths(folders).unwrap()).env("COLUMNS", "80").env("HOME", self.folder.path());
        shell.env("XDG_CONFIG_HOME", self.path(".user"));
        for name in HEARD {
            shell.env_remove(name);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "Anna").env(format!("GIT_{who}_EMAIL"), "anna@example.org");
        }
        Ran::start(&mut shell)
    }

    /// Runs the command with the words of a line; quotes are not understood, lists of arguments are `run_list`'s.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_list(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_list(&self, arguments: &[&str]) -> Ran {
        Ran::start(self.command().args(arguments))
    }

    /// Standard output of a run that must end well.
    pub(crate) fn ok(&self, line: &str) -> String {
        self.run(line).expect(0).out
    }

    /// The JSON that a run that must end well prints.
    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}

/// How a run ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn start(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The same, after making sure of the exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\nstdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Makes sure of the exit code and that standard error says all of these.
    #[track_caller]
    pub(crate) fn says(self, code: i32, texts: &[&str]) -> Self {
        let ran = self.expect(code);
        for text in texts {
            assert!(ran.err.contains(text), "standard error does not say {text:?}:\n{}", ran.err);
        }
        ran
    }
}

/// A suite in one file, and its `karat.toml`.
pub(crate) fn suite(cases: &[Value]) -> Project {
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    Project::new().with("karat.toml", "[suite]\nname = \"tiny\"\n").with("cases.jsonl", lines)
}

/// A line of a submission.
pub(crate) fn trial(case: &str, tool: &str, number: u32, findings: Value) -> Value {
    serde_json::json!({ "case": case, "tool": tool, "trial": number, "outcome": "reported", "findings": findings })
}

/// A text with a part that is repeated so often, in ten thousands, compressed.
pub(crate) fn zipped(head: &str, part: &str, times: usize, tail: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(head.as_bytes()).unwrap();
    let block = part.repeat(10_000);
    for _ in 0..times / 10_000 {
        encoder.write_all(block.as_bytes()).unwrap();
    }
    encoder.write_all(tail.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Lines of JSON.
pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Says that a test looked at nothing, and why.
#[expect(clippy::print_stderr, reason = "a test that tests nothing must not pass in silence")]
pub(crate) fn skipped(why: &str) {
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
