//! The GitHub action and the GitLab template: `ci/karat-ci` as their steps call it, against a recorded API on loopback.

mod api;
pub(crate) mod lint;

use crate::project::{CommandOutput, Project, lines, report_skipped, root, suite, trial};
use api::{Api, Request};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// A job in which the steps of the action run.
struct Job {
    project: Project,
    inputs: BTreeMap<&'static str, String>,
    env: BTreeMap<&'static str, String>,
}

const SCORE_GOOD: &str = "score --submission good.jsonl";
const SCORE_BAD: &str = "score --submission bad.jsonl";

impl Job {
    /// A suite of four cases, with a submission that finds everything and one that finds nothing. `None` without Python.
    fn new() -> Option<Self> {
        if Command::new("python3").arg("--version").output().is_err() {
            report_skipped("python3 is not installed, and the action needs it");
            return None;
        }
        let golden = json!({"id": "query", "title": "SQL query built from input", "file": "app.py", "line_start": 2});
        let cases: Vec<Value> =
            (1..=4).map(|n| json!({"id": format!("case-{n}"), "verdict": "vulnerable", "issues": [golden]})).collect();
        let finding = json!({"id": "f", "title": "SQL query built from input", "file": "app.py", "line_start": 2});
        let trials = |findings: Value| {
            lines(&(1..=4).map(|n| trial(&format!("case-{n}"), "told", 1, findings.clone())).collect::<Vec<_>>())
        };
        let project = suite(&cases)
            .with("good.jsonl", trials(json!([finding])))
            .with("bad.jsonl", trials(json!([])))
            .with("gate.toml", "allow_small_n = true\n[[rule]]\nmetric = \"f1\"\nmin = 0.5\n")
            .with("event.json", json!({"pull_request": {"number": 5}}).to_string())
            .with("runner/empty", "");
        let path = |name: &str| project.path(name).display().to_string();
        let env = BTreeMap::from([
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_OUTPUT", path("output")),
            ("GITHUB_PATH", path("path")),
            ("GITHUB_STEP_SUMMARY", path("summary.md")),
            ("GITHUB_EVENT_PATH", path("event.json")),
            ("GITHUB_REPOSITORY", "example/project".to_owned()),
            ("GITHUB_SERVER_URL", "https://example.org".to_owned()),
            ("GITHUB_RUN_ID", "77".to_owned()),
            ("GITHUB_SHA", "0123".to_owned()),
            ("GITHUB_REF", "refs/pull/5/merge".to_owned()),
            ("RUNNER_TEMP", path("runner")),
            ("KARAT_CI_RETRY_WAIT", "0".to_owned()),
        ]);
        let inputs = BTreeMap::from([("token", "secret".to_owned()), ("comment", "true".to_owned())]);
        Some(Self { project, inputs, env })
    }

    fn with(mut self, input: &'static str, value: impl Into<String>) -> Self {
        self.inputs.insert(input, value.into());
        self
    }

    fn on(mut self, api: &Api) -> Self {
        self.env.insert("GITHUB_API_URL", api.url.clone());
        self.env.insert("CI_API_V4_URL", api.url.clone());
        self
    }

    /// Runs one step with nothing of the environment but a path with Karat on it.
    fn step(&self, name: &str) -> CommandOutput {
        let mut command = Command::new("python3");
        command.arg(root().join("ci/karat-ci")).arg(name);
        self.start(command, Path::new(env!("CARGO_BIN_EXE_karat")).parent().unwrap())
    }

    fn start(&self, mut command: Command, programs: &Path) -> CommandOutput {
        let path = std::env::var("PATH").unwrap_or_default();
        command.current_dir(self.project.path("")).env_clear();
        command.env("PATH", format!("{}:{path}", programs.display())).env("HOME", self.project.path("runner"));
        command.envs(&self.env);
        if self.env.contains_key("GITHUB_ACTIONS") {
            command.env("KARAT_CI_INPUTS", json!(self.inputs).to_string());
        } else {
            command.envs(self.inputs.iter().map(|(name, value)| (format!("KARAT_CI_{}", name.to_uppercase()), value)));
        }
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        CommandOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs the steps of the action after the installation, of which only the last may fail; its exit code.
    #[track_caller]
    fn steps(&self) -> Option<i32> {
        for step in ["keys", "run", "sarif", "comment"] {
            self.step(step).expect(0);
        }
        self.step("result").code
    }

    /// The last value of an output; `None` if it was never set.
    fn output(&self, name: &str) -> Option<String> {
        let text = self.project.read("output");
        let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        values.map(str::to_owned).next_back()
    }
}

fn answers(_: &Request, _: usize) -> Option<u16> {
    None
}

fn other_comment(id: u32, body: &str, association: &str) -> Value {
    json!({"id": id, "body": body, "user": {"type": "User"}, "author_association": association, "author": {"id": 8}})
}

#[test]
fn comment_is_written_once_and_edited_in_place() {
    let Some(job) = Job::new() else { return };
    // The comment is on the last of three pages when it is looked for again.
    let others: Vec<Value> = (1..=4).map(|id| other_comment(id, "Looks good.", "MEMBER")).collect();
    let api = Api::start(&others, answers);
    let job = job.on(&api).with("command", SCORE_BAD).with("rules", "gate.toml");
    assert_eq!(job.steps(), Some(1));
    assert_eq!(job.output("verdict").as_deref(), Some("fail"));
    let first = api.comments();
    let body = first[4]["body"].as_str().unwrap();
    assert!(body.starts_with("<!-- karat "), "{body}");
    assert!(body.contains("❌ Karat: fail") && body.contains("The gate fails: 1 demand failed."), "{body}");
    assert!(body.contains("(https://example.org/example/project/actions/runs/77)"), "{body}");
    assert!(api.requests().iter().all(|request| request.headers["authorization"] == "Bearer secret"));

    // The same job with another result edits the comment.
    job.project.write("bad.jsonl", job.project.read("good.jsonl"));
    assert_eq!(job.steps(), Some(0));
    let second = api.comments();
    assert_eq!(second.len(), 5);
    assert!(second[4]["body"].as_str().unwrap().contains("✅ Karat: pass"));
    let list = "GET /repos/example/project/issues/5/comments";
    let create = "POST /repos/example/project/issues/5/comments";
    let edit = "PATCH /repos/example/project/issues/comments/104";
    assert_eq!(api.asked(), [list, list, create, list, list, list, edit]);
}

#[test]
fn comments_of_strangers_and_of_other_jobs_are_not_edited() {
    let Some(job) = Job::new() else { return };
    let api = Api::start(&[], answers);
    let job = job.on(&api).with("command", SCORE_GOOD);
    assert_eq!(job.steps(), Some(0));
    let own = api.comments()[0]["body"].as_str().unwrap().to_owned();
    let api = Api::start(&[other_comment(1, &own, "NONE")], answers);
    let job = job.on(&api);
    assert_eq!(job.steps(), Some(0));
    let job = job.with("suite", "./");
    assert_eq!(job.steps(), Some(0));
    let bodies: Vec<Value> = api.comments().iter().map(|comment| comment["body"].clone()).collect();
    assert_eq!(bodies.len(), 3);
    assert_eq!(bodies[0], own);
}

#[test]
fn missing_permission_is_a_notice() {
    let Some(job) = Job::new() else { return };
    let api = Api::start(&[], |request, _| (request.method != "GET").then_some(403));
    let job = job.on(&api).with("command", SCORE_GOOD).with("sarif", "true");
    job.step("run").expect(0);
    let comment = job.step("comment").expect(0).out;
    assert!(comment.starts_with("::notice title=Karat::the result was not posted as a comment:"), "{comment}");
    assert!(comment.contains("pull-requests: write"), "{comment}");
    let upload = job.step("sarif").expect(0).out;
    assert!(upload.contains("::notice") && upload.contains("security-events: write"), "{upload}");
    assert_eq!(job.step("result").code, Some(0));
    assert_eq!(api.asked().iter().filter(|line| line.starts_with("POST")).count(), 2, "a refusal is final");

    let job = job.with("token", "");
    assert!(job.step("comment").expect(0).out.starts_with("::notice"));
}

#[test]
fn outages_are_retried_and_then_a_notice() {
    let Some(job) = Job::new() else { return };
    let api = Api::start(&[], |_, number| (number < 3).then_some(503));
    let job = job.on(&api).with("command", SCORE_GOOD);
    job.step("run").expect(0);
    assert_eq!(job.step("comment").expect(0).out, "wrote a comment\n");
    assert_eq!((api.requests().len(), api.comments().len()), (4, 1));

    // The comment is looked for again before the edit is repeated.
    let api = Api::start(&[], |request, number| (request.method == "PATCH" && number < 6).then_some(502));
    let job = job.on(&api);
    job.step("comment").expect(0);
    assert_eq!(job.step("comment").expect(0).out, "edited the comment\n");
    assert_eq!(api.comments().len(), 1);

    let api = Api::start(&[], |_, _| Some(500));
    let job = job.on(&api);
    let said = job.step("comment").expect(0).out;
    assert!(said.contains("::notice") && said.contains("answered with 500"), "{said}");
    assert_eq!(api.requests().len(), 4);

    // A port where nobody listens.
    let mut job = job;
    job.env.insert("GITHUB_API_URL", "http://127.0.0.1:1".to_owned());
    assert!(job.step("comment").expect(0).out.contains("::notice"));
}

#[test]
fn inconclusive_gates_pass_or_fail_as_asked() {
    let Some(job) = Job::new() else { return };
    job.project.run("score . --submission good.jsonl -o good.json").expect(0);
    job.project.run("baseline write good.json -o baseline.json").expect(0);
    // An unchanged tool passes, and four cases do not decide about one that finds nothing any more.
    let same = job.with("comment", "false").with("baseline", "baseline.json").with("command", SCORE_GOOD);
    assert_eq!(same.steps(), Some(0));
    assert_eq!(same.output("verdict").as_deref(), Some("pass"));
    let job = same.with("command", SCORE_BAD).with("baseline", "baseline.json");
    let job = job.with("inconclusive", "pass");
    assert_eq!(job.steps(), Some(0));
    assert_eq!(job.output("verdict").as_deref(), Some("inconclusive"));
    let job = job.with("inconclusive", "fail");
    assert_eq!(job.steps(), Some(3));
    assert_eq!(job.output("verdict").as_deref(), Some("inconclusive"));
    let job = job.with("inconclusive", "maybe");
    assert_eq!(job.steps(), Some(2));
    assert_eq!(job.output("verdict").as_deref(), Some("error"));
}

#[test]
fn first_run_writes_the_baseline_if_asked() {
    let Some(job) = Job::new() else { return };
    let job = job.with("comment", "false").with("command", SCORE_GOOD).with("baseline", "base.json");
    assert_eq!(job.steps(), Some(4));
    assert!(job.project.read("summary.md").contains("--baseline-missing=write"), "{}", job.project.read("summary.md"));
    let job = job.with("baseline_missing", "write");
    let said = job.step("run").expect(0).out;
    assert!(said.contains("::notice") && said.contains("there was no baseline"), "{said}");
    assert_eq!(job.step("result").code, Some(0));
    assert_eq!(job.output("verdict").as_deref(), Some("pass"));
    let results = Path::new(&job.output("report").unwrap()).parent().unwrap().join("baseline.json");
    assert_eq!(std::fs::read_to_string(&results).unwrap(), job.project.read("base.json"));
    // The next run is compared with it.
    assert_eq!(job.steps(), Some(0));
    assert!(job.project.read("summary.md").contains("identical") && !results.exists());
    assert_eq!(job.with("baseline_missing", "maybe").steps(), Some(2));
}

fn repo(name: &str) -> Value {
    json!({ "repo": { "full_name": name } })
}

/// What starts a workflow for a pull request.
fn pull(head: Value, login: &str) -> Value {
    let base = repo("example/project");
    json!({ "pull_request": { "number": 5, "head": head, "base": base, "user": { "login": login } } })
}

/// One tool can run, and the other lacks its key.
#[test]
fn missing_key_of_one_of_several_tools_is_an_error_except_on_forks() {
    let Some(job) = Job::new() else { return };
    job.project.write("code/karat.toml", "[suite]\nname = \"code\"\n");
    let issue = "issues:\n  - id: query\n    title: SQL query built from input\n    file: app.py\n    line_start: 2\n";
    job.project.write("code/cases/c/case.yaml", format!("id: c\n{issue}"));
    job.project.write("code/cases/c/before/app.py", "def find(db, name):\n    return None\n");
    job.project.write("code/cases/c/after/app.py", "def find(db, name):\n    return db.execute(name)\n");
    let job = job.with("comment", "false").with("suite", "code").with("command", "run --trials 1");
    let job = job.with("tools", "patterns llm:anthropic/m");
    for (head, verdict, code) in [("somebody/project", "skipped", 0), ("example/project", "error", 5)] {
        job.project.write("event.json", pull(repo(head), "somebody").to_string());
        assert_eq!(job.steps(), Some(code), "{head}");
        assert_eq!(job.output("verdict").as_deref(), Some(verdict), "{head}");
    }
}

/// Secrets are not given to forks, which is no fault of the pull request.
#[test]
fn fork_without_secrets_is_skipped() {
    let Some(job) = Job::new() else { return };
    let job = job.with("comment", "false").with("rules", "gate.toml");
    let job = job.with("command", "score --submission good.jsonl --judge anthropic");
    let cases = [
        (pull(repo("somebody/project"), "somebody"), "skipped", 0),
        (pull(json!({ "repo": null }), "somebody"), "skipped", 0),
        (pull(repo("example/project"), "dependabot[bot]"), "skipped", 0),
        (pull(repo("example/project"), "somebody"), "error", 5),
        (json!({}), "error", 5),
    ];
    for (event, verdict, code) in cases {
        job.project.write("event.json", event.to_string());
        job.project.write("summary.md", "");
        assert_eq!(job.steps(), Some(code), "{event}");
        assert_eq!(job.output("verdict").as_deref(), Some(verdict), "{event}");
        let summary = job.project.read("summary.md");
        assert!(
            summary.contains(&format!("## Karat: {verdict}")) && summary.contains("ANTHROPIC_API_KEY holds no key"),
            "{summary}"
        );
    }
    // Another failure on a fork is one.
    let job = job.with("command", "score --submission missing.jsonl");
    job.project.write("event.json", pull(repo("somebody/project"), "somebody").to_string());
    assert_eq!(job.steps(), Some(4));
    // On GitLab, the projects are told apart.
    let mut job =
        job.with("command", "score --submission good.jsonl --judge anthropic").with("results", "karat-results");
    job.env.retain(|name, _| !name.starts_with("GITHUB"));
    for (source, code) in [("9", 0), ("3", 5)] {
        job.env.insert("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", source.to_owned());
        job.env.insert("CI_MERGE_REQUEST_PROJECT_ID", "3".to_owned());
        job.step("run").expect(0);
        assert_eq!(job.step("result").code, Some(code));
    }
}

#[test]
fn outputs_are_set_whatever_happens() {
    let Some(job) = Job::new() else { return };
    let api = Api::start(&[], answers);
    let job = job.on(&api).with("command", "score --submission missing.jsonl");
    assert_eq!(job.steps(), Some(4));
    assert_eq!((job.output("verdict").as_deref(), job.output("sarif").as_deref()), (Some("error"), Some("")));
    let report = job.output("report").unwrap();
    let text = std::fs::read_to_string(&report).unwrap();
    assert!(report.ends_with("karat.md") && text.contains("error: missing.jsonl: No such file"), "{text}");
    assert!(api.comments()[0]["body"].as_str().unwrap().contains("⚠️ Karat: error\n\n<pre>error: missing.jsonl"));
    assert!(job.project.read("summary.md").contains("missing.jsonl"));

    // Karat is not there at all, as after a failed installation.
    let mut job = job;
    job.env.insert("PATH", job.project.path("runner").display().to_string());
    // The interpreter itself: `python3` may be a script that needs other programs.
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap().stdout;
    std::os::unix::fs::symlink(String::from_utf8(python).unwrap().trim(), job.project.path("runner/python3")).unwrap();
    assert_eq!(job.steps(), Some(5));
    assert_eq!(job.output("verdict").as_deref(), Some("error"));

    // Nothing ran at all.
    let job = job.with("suite", "elsewhere");
    job.step("keys").expect(0);
    assert_eq!(job.step("result").code, Some(5));
    assert_eq!(job.output("verdict").as_deref(), Some("error"));

    let job = job.with("command", "store gc");
    job.step("run").expect(0);
    let said = job.step("result").out;
    assert!(said.contains("expected run or score"), "{said}");
    let job = job.with("command", "score").with("suite", "--resume");
    job.step("run").expect(0);
    assert!(job.step("result").out.contains("which is a flag"));
}

#[test]
fn result_has_report_sarif_and_summary() {
    let Some(job) = Job::new() else { return };
    let api = Api::start(&[], answers);
    let job = job.on(&api).with("command", SCORE_GOOD).with("rules", "gate.toml").with("sarif", "true");
    assert_eq!(job.steps(), Some(0));
    let (report, sarif) = (job.output("report").unwrap(), job.output("sarif").unwrap());
    assert!(std::fs::read_to_string(report).unwrap().to_lowercase().starts_with("<!doctype html>"));
    assert_eq!(serde_json::from_str::<Value>(&std::fs::read_to_string(sarif).unwrap()).unwrap()["version"], "2.1.0");
    let summary = job.project.read("summary.md");
    assert!(summary.contains("## Karat: tiny") && summary.contains("## Karat gate: tiny"), "{summary}");
    let requests = api.requests();
    let upload = requests.iter().find(|request| request.path.ends_with("/code-scanning/sarifs")).unwrap();
    assert_eq!((&upload.body["ref"], &upload.body["commit_sha"]), (&"refs/pull/5/merge".into(), &"0123".into()));

    // Without a pull request there is nothing to comment on.
    job.project.write("event.json", "{}");
    let asked = api.requests().len();
    assert!(job.step("comment").expect(0).out.contains("nothing to comment on"));
    assert_eq!(api.requests().len(), asked);
}

#[test]
fn gitlab_notes_are_edited_in_place() {
    let Some(mut job) = Job::new() else { return };
    job.env.retain(|name, _| !name.starts_with("GITHUB"));
    let gitlab = [("CI_PROJECT_ID", "3"), ("CI_MERGE_REQUEST_IID", "9"), ("CI_JOB_URL", "https://example.org/jobs/1")];
    job.env.extend(gitlab.map(|(name, value)| (name, value.to_owned())));
    let others: Vec<Value> = (1..=3).map(|id| other_comment(id, "Looks good.", "")).collect();
    let api = Api::start(&others, answers);
    let job = job.on(&api).with("command", SCORE_BAD).with("rules", "gate.toml").with("results", "karat-results");
    let job = install_wrapper(job);
    for _ in 0..2 {
        assert_eq!(job.step("all").code, Some(1));
    }
    let env = job.project.read("karat-results/karat.env");
    assert!(env.starts_with("KARAT_VERDICT=fail\nKARAT_REPORT=karat-results/report.html\n"), "{env}");
    assert!(job.project.path("karat-results/gate.xml").is_file());
    assert_eq!(api.comments().len(), 4);
    let notes = "/projects/3/merge_requests/9/notes";
    let asked: Vec<String> = api.asked().into_iter().filter(|line| !line.starts_with("GET")).collect();
    assert_eq!(asked, [format!("POST {notes}"), format!("PUT {notes}/103")]);
    assert_eq!(api.requests()[0].headers["private-token"], "secret");
}

/// A program for archives that calls the Karat under test.
fn wrapper() -> Vec<u8> {
    format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_karat")).into_bytes()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn wheel() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, content) in
        [("karat-1.dist-info/METADATA", b"Name: karat".to_vec()), ("karat-1.data/scripts/karat", wrapper())]
    {
        archive.start_file(name, options).unwrap();
        archive.write_all(&content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Installs from a wheel on disk.
fn install_wrapper(job: Job) -> Job {
    let wheel = wheel();
    job.project.write("karat-1.whl", &wheel);
    job.with("source", "karat-1.whl").with("checksum", sha256(&wheel))
}

#[test]
fn archives_are_verified_before_they_are_unpacked() {
    let Some(job) = Job::new() else { return };
    let wheel = wheel();
    job.project.write("karat-1.whl", &wheel);
    let job = job.with("source", "karat-1.whl");
    let refused = |job: &Job, text: &str| {
        let said = job.step("install");
        assert!(said.code != Some(0) && said.out.contains(text), "{:?} {}{}", said.code, said.out, said.err);
        assert!(!job.project.path("runner/karat-program/karat").exists());
        assert_eq!(job.step("result").code, said.code);
        assert_eq!(job.output("verdict").as_deref(), Some("error"));
    };
    refused(&job, "source needs checksum");
    let job = job.with("checksum", "0".repeat(64));
    refused(&job, "it was not unpacked");
    let job = job.with("checksum", "abc");
    refused(&job, "expected the 64 hexadecimal digits");

    let job = job.with("checksum", format!("SHA256:{}", sha256(&wheel)));
    let said = job.step("install").expect(0).out;
    let version = said.split_whitespace().nth(2).unwrap().to_owned();
    assert!(said.starts_with("installed karat "), "{said}");
    assert_eq!(job.project.read("path").trim(), job.project.path("runner/karat-program").display().to_string());
    let job = job.with("version", "99.9.9");
    let said = job.step("install");
    assert!(said.code == Some(5) && said.out.contains("version is 99.9.9, but this is karat"), "{}", said.out);
    job.project.write(&format!("karat-{version}.whl"), &wheel);
    job.with("source", "karat-{version}.whl").with("version", version).step("install").expect(0);
}

/// The commands of `action.yml` itself, one after the other, as a runner starts them.
#[test]
fn steps_of_the_action_work_together() {
    let Some(job) = Job::new() else { return };
    let api = Api::start(&[], answers);
    let mut job = install_wrapper(job.on(&api)).with("command", SCORE_GOOD).with("rules", "gate.toml");
    job.env.insert("KARAT_CI_ACTION", root().canonicalize().unwrap().display().to_string());
    let mut codes = Vec::new();
    for line in lint::action_commands() {
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &line]);
        codes.push(job.start(bash, &job.project.path("runner/karat-program")).code);
    }
    assert_eq!(codes, [Some(0); 6]);
    assert_eq!(job.output("verdict").as_deref(), Some("pass"));
    assert_eq!(api.comments().len(), 1);
}

#[test]
fn tarballs_are_installed_and_must_have_one_program() {
    let Some(job) = Job::new() else { return };
    job.project.write("files/karat-1/karat", wrapper());
    job.project.write("files/karat-1/README.md", "x");
    let pack = |name: &str| {
        let ran = job.project.run_shell(&format!("tar -C files -czf {name} ."));
        assert_eq!(ran.code, Some(0), "{}", ran.out);
        std::fs::read(job.project.path(name)).unwrap()
    };
    let one = pack("one.tar.gz");
    job.project.write("files/other/karat", wrapper());
    let two = pack("two.tar.gz");
    let job = job.with("source", "one.tar.gz").with("checksum", sha256(&one));
    job.step("install").expect(0);
    let job = job.with("source", "two.tar.gz").with("checksum", sha256(&two));
    assert!(job.step("install").expect(5).out.contains("contains 2 files called karat"));
    let job = job.with("source", "missing.tar.gz");
    assert!(job.step("install").expect(5).out.contains("missing.tar.gz"));
    let job = job.with("source", "");
    assert!(job.step("install").expect(2).out.contains("checksum needs source"));
}

#[test]
fn caches_have_a_key_for_each_suite() {
    let Some(job) = Job::new() else { return };
    let keys = |job: &Job| {
        job.step("keys").expect(0);
        ["store_prefix", "store_key", "program_key"].map(|name| job.output(name).unwrap())
    };
    let [prefix, key, program] = keys(&job);
    assert!(key.starts_with(&prefix) && key.ends_with("-77-1"), "{key}");
    assert!(program.starts_with("karat-"), "{program}");
    let job = job.with("suite", "suites/other one");
    let [other, ..] = keys(&job);
    assert_ne!(prefix, other);
    assert!(other.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{other}");
    // What is fetched need not be cached.
    let [.., program] = keys(&job.with("source", "karat.whl"));
    assert_eq!(program, "");
}
