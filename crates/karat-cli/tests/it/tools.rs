//! `karat tools`, faults of declared tools, and real tools run through the shipped manifests.

use crate::project::{Project, root, skipped};
use karat::tool::catalogue::{CATALOGUE, shipped};
use karat::tool::manifest::{Context, Kind, Manifest, Program};
use karat::tool::output::{About, Caps, Output, Read, read};
use karat::tool::placeholders::{PLACEHOLDERS, fill};
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::Outcome;
use karat_format::tool::ToolManifestV1;
use karat_import::rule_map::RuleMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn the_catalogue_is_listed() {
    let project = Project::new();
    let text = project.ok("tools list");
    let json = project.json("tools list --json");
    for entry in CATALOGUE {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(entry.name)), "{}", entry.name);
        let known = json.as_array().unwrap().iter().find(|known| known["name"] == entry.name).unwrap();
        assert_eq!(known["declared_in"], "catalogue");
        assert!(known["description"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

#[test]
fn tools_of_a_suite_are_listed_first() {
    let project = Project::new().with(
        "s/karat.toml",
        "[suite]\nname = \"mine\"\n[tools.bandit]\ncommand = [\"my-bandit\"]\nformat = \"bandit\"\ndescription = \"My own\"\n",
    );
    project.write("s/cases/c/case.yaml", "id: c\n");
    let text = project.ok("tools list --suite s");
    assert!(text.starts_with("  bandit") && text.lines().next().unwrap().ends_with("My own (mine)"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("  bandit ")).count(), 1);
    let shown = project.ok("tools show bandit --suite s");
    assert!(shown.contains("[tools.bandit]") && shown.contains("my-bandit"), "{shown}");
}

/// What is shown can be pasted, and is no fault there.
#[test]
fn shown_manifests_are_ready_to_paste() {
    let project = Project::new();
    let mut config = "[suite]\nname = \"s\"\n".to_owned();
    for entry in CATALOGUE {
        let shown = project.ok(&format!("tools show {}", entry.name));
        assert_eq!(shown, entry.toml);
        config.push_str(&shown);
        assert!(project.json(&format!("tools show {} --json", entry.name))["description"].is_string());
    }
    project.write("karat.toml", config);
    project.write("cases/c/case.yaml", "id: c\n");
    project.run("check . --json").expect(0);
    project.run("tools show bandti").says(2, &["unknown tool `bandti`, did you mean `bandit`?"]);
}

#[test]
fn the_doctor_says_what_is_missing() {
    let project = Project::new();
    let run = |line: &str, variables: &[(&str, &str)]| {
        let mut command = project.command();
        command.env("PATH", project.path("bin")).env_remove("ANTHROPIC_API_KEY").envs(variables.iter().copied());
        crate::project::Ran::start(command.args(line.split_whitespace()))
    };
    run("tools doctor", &[]).expect(0);
    let out = run("tools doctor bandit", &[]).expect(5).out;
    assert!(out.contains("bandit: not usable") && out.contains("pip install bandit"), "{out}");
    run("tools doctor patterns", &[]).expect(0);
    let key = run("tools doctor claude-code --json", &[("ANTHROPIC_API_KEY", "my-secret-value")]).expect(5);
    let json: Value = serde_json::from_str(&key.out).unwrap();
    assert_eq!(json[0]["variables"][0]["set"], true);
    assert!(!format!("{}{}", key.out, key.err).contains("my-secret-value"));
    run("tools doctor nothing", &[]).says(2, &["unknown tool `nothing`"]);
}

/// A suite with one tool, whose version command is this shell script.
fn with_version(script: &str) -> Project {
    let project = Project::new().with("cases/c/case.yaml", "id: c\n");
    let config =
        "[suite]\nname = \"s\"\n[tools.mine]\ncommand = [\"sh\"]\nformat = \"sarif\"\nversion = [\"sh\", \"./v\"]\n";
    let words = format!("version = {}", serde_json::to_string(&["sh", "-c", script]).unwrap());
    project.with("karat.toml", config.replace("version = [\"sh\", \"./v\"]", &words))
}

#[test]
fn the_doctor_asks_for_versions() {
    let said = |script: &str| {
        let json = with_version(script).json("tools doctor mine --suite . --json");
        assert_eq!(json[0]["usable"], true);
        (json[0]["version"].as_str().map(str::to_owned), json[0]["remarks"].to_string())
    };
    assert_eq!(said("echo; echo -; echo 'mine 1.2'; echo more").0.unwrap(), "mine 1.2");
    assert_eq!(said("echo 'mine 1.3' >&2").0.unwrap(), "mine 1.3");
    let (version, remarks) = said("echo 1.2; exit 3");
    assert!(
        version.is_none() && remarks.contains("does not print its version: it ended with exit code 3"),
        "{remarks}"
    );
    let (version, remarks) = said("true");
    assert!(version.is_none() && remarks.contains("does not print its version\""), "{remarks}");
    let (version, remarks) = said("while :; do echo 1234567890123456789012345678901234567890; done");
    assert!(version.is_none() && remarks.contains("went over its limit on output"), "{remarks}");
}

/// Whoever looks at somebody else's suite runs its version commands, and gives nothing away by it.
#[test]
fn the_doctor_hands_nothing_to_a_version_command() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "(exec 3<>/dev/tcp/127.0.0.1/{port}); echo x > $there/new; echo names $(env | sed 's/=.*//' | sort) files $(ls -A) $(ls -A ~) $(cat $there/karat.toml)"
    );
    let project = Project::new().with("home/private", "mine").with("suite/cases/c/case.yaml", "id: c\n");
    let words =
        serde_json::to_string(&["bash", "-c", &script.replace("$there", project.path("suite").to_str().unwrap())]);
    project.write(
        "suite/karat.toml",
        format!(
            "[suite]\nname = \"s\"\n[tools.mine]\ncommand = [\"sh\"]\nformat = \"sarif\"\nversion = {}\n",
            words.unwrap()
        ),
    );
    let mut command = project.command();
    command.args(["tools", "doctor", "mine", "--suite", "suite", "--json"]);
    let ran = crate::project::Ran::start(command.env("HOME", project.path("home")).env("A_TOKEN", "secret")).expect(0);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let said = json[0]["version"].as_str().unwrap();
    let names = said.split(" files").next().unwrap();
    assert!(!names.contains("A_TOKEN") && names.starts_with("names HOME LANG PATH PWD"), "{said}");
    if karat_sandbox::available().strongest() > karat_sandbox::Isolation::Process {
        assert!(said.ends_with("files home tmp"), "{said}");
        assert!(!project.path("suite/new").exists());
        assert!(listener.accept().is_err());
    }
}

#[test]
fn the_doctor_does_not_wait_for_what_a_version_command_left() {
    let project = with_version("sleep 300 & setsid sleep 300 & echo 'mine 1'");
    let begun = std::time::Instant::now();
    assert_eq!(project.json("tools doctor mine --suite . --json")[0]["version"], "mine 1");
    assert!(begun.elapsed() < std::time::Duration::from_secs(120));
}

#[test]
fn faults_of_declared_tools_have_places() {
    let project = Project::new()
        .with(
            "karat.toml",
            "[suite]\nname = \"s\"\n\n[tools.mine]\ncommand = [\"scan\", \"{chekout}\"]\nformat = \"sariff\"\ntimeout = \"soon\"\nenv = { HOME = \"/\" }\n\n[tools.old]\nkind = \"replay\"\nsubmission = \"gone.jsonl\"\n",
        )
        .with("cases/c/case.yaml", "id: c\n");
    let faults: Value = serde_json::from_str(&project.run("check . --json").expect(4).out).unwrap();
    let said: Vec<String> = faults
        .as_array()
        .unwrap()
        .iter()
        .map(|d| {
            format!("{} {}:{}:{}", d["code"].as_str().unwrap(), d["file"].as_str().unwrap(), d["line"], d["column"])
        })
        .collect();
    let expect = [
        "unknown-placeholder ./karat.toml:5:20",
        "frozen-variable ./karat.toml:8:16",
        "unknown-format ./karat.toml:6:10",
        "bad-duration ./karat.toml:7:11",
        "no-such-file ./karat.toml:12:14",
    ];
    assert_eq!(said, expect, "{faults:#}");
}

#[test]
fn the_page_about_tools_names_everything() {
    let text = std::fs::read_to_string(root().join("docs/tools.md")).unwrap();
    for known in PLACEHOLDERS {
        assert!(text.contains(&format!("| `{{{}}}` | {} |", known.name, known.stands_for)), "{}", known.name);
    }
    for entry in CATALOGUE {
        assert!(text.contains(&format!("| `{}` |", entry.name)), "{}", entry.name);
    }
    for format in karat::tool::output::formats() {
        assert!(text.contains(&format!("`{format}`")), "{format}");
    }
}

/// The folder with real tools that `scripts/test-tools` made.
fn real_tools() -> Option<PathBuf> {
    let folder = std::env::var_os("KARAT_TEST_TOOLS").filter(|folder| !folder.is_empty()).map(PathBuf::from)?;
    folder.join("bandit").is_file().then_some(folder)
}

/// Runs a tool of the catalogue on a folder, as its manifest says, without any isolation, and reads what it wrote.
fn run_real(tools: &Path, name: &str, checkout: &Path) -> Read {
    let raw: ToolManifestV1 = shipped(name).unwrap().manifest().unwrap();
    let manifest = Manifest::resolve(name, &raw, Path::new(""), &Context::default()).unwrap();
    let Kind::Command(program) = manifest.kind else { panic!("{name} is no command") };
    let Program { command, ok_exit, format, .. } = *program;
    let scratch = tempfile::tempdir().unwrap();
    let output = scratch.path().join("result");
    let shown = |path: &Path| path.display().to_string();
    let values = BTreeMap::from([("checkout", shown(checkout)), ("output", shown(&output))]);
    let words: Vec<String> = command.iter().map(|word| fill(word, &values).unwrap()).collect();
    let ended =
        std::process::Command::new(tools.join(&words[0])).args(&words[1..]).current_dir(checkout).output().unwrap();
    let code = ended.status.code().unwrap();
    assert!(ok_exit.contains(&code), "{name} ended with {code}: {}", String::from_utf8_lossy(&ended.stderr));
    let bytes = std::fs::read(&output).ok();
    let about = About {
        case: &CaseId::new("c"),
        tool: &ToolName::new(name),
        number: 1,
        roots: &[&shown(checkout)],
        rules: None::<&RuleMap>,
        sources: &|_| None,
    };
    read(&Output { format, bytes: bytes.as_deref(), caps: Caps::default() }, &about)
}

#[test]
fn real_tools_are_read_through_the_shipped_manifests() {
    let Some(tools) = real_tools() else { return skipped("bandit and ruff are not there: run scripts/test-tools") };
    let project = Project::new()
        .with(
            "code/app/run.py",
            "import subprocess\n\n\ndef run(word):\n    subprocess.call('ls ' + word, shell=True)\n",
        )
        .with("clean/app.py", "def add(a, b):\n    return a + b\n")
        .with("broken/app.py", "import subprocess\nsubprocess.call('ls', shell=True)\n")
        .with("broken/bad.py", "def (:\n");
    for (name, rule) in [("bandit", "B602"), ("ruff", "S602")] {
        let found = run_real(&tools, name, &project.path("code"));
        assert_eq!((found.trial.outcome, found.problem.as_deref()), (Outcome::Reported, None), "{name}");
        let hit = found
            .trial
            .findings
            .iter()
            .find(|f| f.rule_id.as_deref() == Some(rule))
            .unwrap_or_else(|| panic!("{found:#?}"));
        assert_eq!((hit.file.as_ref().unwrap().as_str(), hit.line_start), ("app/run.py", Some(5)), "{name}");
        assert_eq!(found.trial.tool.as_str(), name);
        assert_eq!(found.trial.notes, Vec::<String>::new(), "{name}");

        let clean = run_real(&tools, name, &project.path("clean"));
        assert_eq!((clean.trial.outcome, clean.trial.findings.len()), (Outcome::Reported, 0), "{name}");
    }
    // What could not be parsed makes the trial incomplete, and it is said so.
    let broken = run_real(&tools, "bandit", &project.path("broken"));
    assert_eq!(broken.trial.outcome, Outcome::Reported);
    assert!(broken.trial.findings.iter().all(|f| f.file.as_ref().unwrap().as_str() == "app.py"));
    assert!(!broken.trial.findings.is_empty());
    assert_eq!(broken.trial.notes, ["incomplete: bad.py: syntax error while parsing AST from file"]);
}

/// Both tools on the Python cases of the starter suite, and what they found, scored.
#[test]
fn findings_of_real_tools_are_scored() {
    let Some(tools) = real_tools() else { return skipped("bandit and ruff are not there: run scripts/test-tools") };
    let project = Project::new();
    let cases = root().join("suites/starter/cases");
    let mut lines = String::new();
    let mut ran = 0;
    for folder in std::fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().path()) {
        let case = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !case.starts_with("py-") {
            continue;
        }
        ran += 1;
        for name in ["bandit", "ruff"] {
            let mut trial = run_real(&tools, name, &folder.join("after")).trial;
            trial.case = CaseId::new(&case);
            let line = karat_format::submission::TrialV1::from(&trial);
            lines.push_str(&format!("{}\n", serde_json::to_string(&line).unwrap()));
        }
    }
    assert!(ran > 0, "the starter suite has no case in Python");
    project.write("real.jsonl", lines);
    let report = project.json("score starter --submission real.jsonl --json");
    for (index, name) in ["bandit", "ruff"].iter().enumerate() {
        let tool = &report["tools"][index];
        assert_eq!(tool["tool"], *name);
        assert_eq!(tool["outcomes"]["reported"], ran, "{tool:#}");
    }
}
