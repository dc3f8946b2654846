//! `karat tools`, faults in tool declarations, and real tools run with the shipped manifests.

use crate::project::{Project, lines, report_skipped, root, trial};
use karat::tool::catalogue::{CATALOGUE, shipped};
use karat::tool::output::{Caps, Output, Read, read};
use karat::tool::placeholders::{PLACEHOLDERS, fill};
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::{Outcome, Trial};
use karat_format::tool::ToolManifestV1;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn catalogue_is_listed() {
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

/// The output of `tools show` is valid in `karat.toml`.
#[test]
fn shown_manifests_are_valid_declarations() {
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
    project.run("tools show bandti").expect_error(2, &["unknown tool `bandti`, did you mean `bandit`?"]);
}

/// What `tools show` prints is also a manifest in a file of its own, and the same one.
#[test]
fn shown_manifests_are_valid_files() {
    let project = Project::new();
    for entry in CATALOGUE {
        let name = entry.name;
        project.write("x.toml", project.ok(&format!("tools show {name}")));
        let shown = project.json("tools show x.toml --json");
        assert_eq!(shown, project.json(&format!("tools show {name} --json")), "{name}");
    }
    project.write("patterns-copy.toml", project.ok("tools show patterns"));
    let report = project.json("run starter --tool patterns-copy.toml --trials 1 --only rust* -q --json");
    assert_eq!(report["tools"][0]["tool"], "patterns");
    let two = project.ok("tools show bandit") + &project.ok("tools show ruff");
    project.write("two.toml", two);
    project.run("tools show two.toml").expect_error(4, &["two.toml declares 2 tools"]);
}

/// A suite's manifest names files of the suite, and may be kept in any folder.
#[test]
fn shown_manifest_of_a_suite_works_from_anywhere() {
    let project = Project::new()
        .with(
            "s/karat.toml",
            "[suite]\nname = \"s\"\n[tools.told]\nkind = \"replay\"\nsubmission = \"told/all.jsonl\"\n",
        )
        .with("s/cases.jsonl", lines(&[json!({ "id": "c" })]))
        .with("s/told/all.jsonl", lines(&[trial("c", "told", 1, json!([]))]));
    project.write("elsewhere/x.toml", project.ok("tools show told --suite s"));
    project.ok("run s --tool elsewhere/x.toml --dry-run");
    std::fs::remove_file(project.path("s/told/all.jsonl")).unwrap();
    for tool in ["elsewhere/x.toml", "replay:s/told/all.jsonl"] {
        let ran = project.run(&format!("run s --tool {tool} --dry-run")).expect(4);
        assert_eq!(ran.err.matches("s/told/all.jsonl: ").count(), 1, "{}", ran.err);
    }
    let built_in = project.run("tools show noisy --suite code-review").expect(0);
    assert!(built_in.err.contains("scripted/noisy.jsonl is built in"), "{}", built_in.err);
}

#[test]
fn doctor_reports_missing_programs_without_secrets() {
    let project = Project::new();
    let run = |line: &str, variables: &[(&str, &str)]| {
        let mut command = project.command();
        command.env("PATH", project.path("bin")).env_remove("ANTHROPIC_API_KEY").envs(variables.iter().copied());
        crate::project::CommandOutput::start(command.args(line.split_whitespace()))
    };
    run("tools doctor", &[]).expect(0);
    let out = run("tools doctor bandit", &[]).expect(5).out;
    assert!(out.contains("bandit: not usable") && out.contains("pip install bandit"), "{out}");
    run("tools doctor patterns", &[]).expect(0);
    let key = run("tools doctor claude-code --json", &[("ANTHROPIC_API_KEY", "my-secret-value")]).expect(5);
    let json: Value = serde_json::from_str(&key.out).unwrap();
    assert_eq!(json[0]["variables"][0]["set"], true);
    assert!(!format!("{}{}", key.out, key.err).contains("my-secret-value"));
    run("tools doctor nothing", &[]).expect_error(2, &["unknown tool `nothing`"]);
}

/// A suite with one tool whose version command is this shell script.
fn project_with_version_script(script: &str) -> Project {
    let project = Project::new().with("cases/c/case.yaml", "id: c\n");
    let config =
        "[suite]\nname = \"s\"\n[tools.mine]\ncommand = [\"sh\"]\nformat = \"rdjsonl\"\nversion = [\"sh\", \"./v\"]\n";
    let words = format!("version = {}", serde_json::to_string(&["sh", "-c", script]).unwrap());
    project.with("karat.toml", config.replace("version = [\"sh\", \"./v\"]", &words))
}

#[test]
fn doctor_reads_versions() {
    let run_doctor = |script: &str| {
        let json = project_with_version_script(script).json("tools doctor mine --suite . --json");
        assert_eq!(json[0]["usable"], true);
        (json[0]["version"].as_str().map(str::to_owned), json[0]["remarks"].to_string())
    };
    assert_eq!(run_doctor("echo; echo -; echo 'mine 1.2'; echo more").0.unwrap(), "mine 1.2");
    assert_eq!(run_doctor("echo 'mine 1.3' >&2").0.unwrap(), "mine 1.3");
    let (version, remarks) = run_doctor("echo 1.2; exit 3");
    assert!(
        version.is_none() && remarks.contains("does not print its version: it ended with exit code 3"),
        "{remarks}"
    );
    let (version, remarks) = run_doctor("true");
    assert!(version.is_none() && remarks.contains("does not print its version\""), "{remarks}");
    let (version, remarks) = run_doctor("while :; do echo 1234567890123456789012345678901234567890; done");
    assert!(version.is_none() && remarks.contains("went over its limit on output"), "{remarks}");
}

/// `tools doctor` runs version commands of other people's suites, so they are isolated.
#[test]
fn version_commands_get_no_secrets_files_or_network() {
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
            "[suite]\nname = \"s\"\n[tools.mine]\ncommand = [\"sh\"]\nformat = \"rdjsonl\"\nversion = {}\n",
            words.unwrap()
        ),
    );
    let mut command = project.command();
    command.args(["tools", "doctor", "mine", "--suite", "suite", "--json"]);
    let ran = crate::project::CommandOutput::start(command.env("HOME", project.path("home")).env("A_TOKEN", "secret"))
        .expect(0);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let output = json[0]["version"].as_str().unwrap();
    let names = output.split(" files").next().unwrap();
    assert!(!names.contains("A_TOKEN") && names.starts_with("names HOME LANG PATH PWD"), "{output}");
    if karat_sandbox::available().strongest() > karat_sandbox::Isolation::Process {
        assert!(output.ends_with("files home tmp"), "{output}");
        assert!(!project.path("suite/new").exists());
        assert!(listener.accept().is_err());
    }
}

#[test]
fn doctor_does_not_wait_for_background_processes() {
    let project = project_with_version_script("sleep 300 & setsid sleep 300 & echo 'mine 1'");
    let started = std::time::Instant::now();
    assert_eq!(project.json("tools doctor mine --suite . --json")[0]["version"], "mine 1");
    assert!(started.elapsed() < std::time::Duration::from_secs(120));
}

#[test]
fn faults_of_declared_tools_have_positions() {
    let project = Project::new()
        .with(
            "karat.toml",
            "[suite]\nname = \"s\"\n\n[tools.mine]\ncommand = [\"scan\", \"{chekout}\"]\nformat = \"sariff\"\ntimeout = \"soon\"\nenv = { HOME = \"/\" }\n\n[tools.old]\nkind = \"replay\"\nsubmission = \"gone.jsonl\"\n",
        )
        .with("cases/c/case.yaml", "id: c\n");
    let faults: Value = serde_json::from_str(&project.run("check . --json").expect(4).out).unwrap();
    let positions: Vec<String> = faults
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
    assert_eq!(positions, expect, "{faults:#}");
}

#[test]
fn docs_list_placeholders_tools_and_formats() {
    let text = std::fs::read_to_string(root().join("docs/tools.md")).unwrap();
    for (name, meaning) in PLACEHOLDERS {
        assert!(text.contains(&format!("| `{{{name}}}` | {meaning} |")), "{name}");
    }
    for entry in CATALOGUE {
        assert!(text.contains(&format!("| `{}` |", entry.name)), "{}", entry.name);
    }
    for format in karat::tool::output::formats() {
        assert!(text.contains(&format!("`{format}`")), "{format}");
    }
}

/// The folder with real tools, created by `scripts/test-tools`.
fn real_tools() -> Option<PathBuf> {
    let folder = std::env::var_os("KARAT_TEST_TOOLS").filter(|folder| !folder.is_empty()).map(PathBuf::from)?;
    folder.join("bandit").is_file().then_some(folder)
}

/// Runs a tool of the catalogue on a folder by its manifest, without isolation, and reads its output.
fn run_real_tool(tools: &Path, name: &str, checkout: &Path) -> Read {
    let raw: ToolManifestV1 = shipped(name).unwrap().manifest().unwrap();
    let ok_exit = raw.ok_exit.unwrap_or_else(|| vec![0]);
    let format = raw.format.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let output = scratch.path().join("result");
    let shown = |path: &Path| path.display().to_string();
    let values = BTreeMap::from([("checkout", shown(checkout)), ("output", shown(&output))]);
    let words: Vec<String> = raw.command.iter().map(|word| fill(word, &values).unwrap()).collect();
    let ended =
        std::process::Command::new(tools.join(&words[0])).args(&words[1..]).current_dir(checkout).output().unwrap();
    let code = ended.status.code().unwrap();
    assert!(ok_exit.contains(&code), "{name} ended with {code}: {}", String::from_utf8_lossy(&ended.stderr));
    let bytes = std::fs::read(&output).ok();
    read(&Output {
        trial: &Trial::reported(CaseId::new("c"), ToolName::new(name), 1),
        format: &format,
        bytes: bytes.as_deref(),
        caps: Caps::default(),
        roots: &[shown(checkout)],
        rules: None,
        sources: &|_| None,
    })
}

#[test]
fn output_of_real_tools_is_read_with_shipped_manifests() {
    let Some(tools) = real_tools() else {
        return report_skipped("bandit and ruff are missing: run scripts/test-tools");
    };
    let project = Project::new()
        .with(
            "code/app/run.py",
            "import subprocess\n\n\ndef run(word):\n    subprocess.call('ls ' + word, shell=True)\n",
        )
        .with("clean/app.py", "def add(a, b):\n    return a + b\n")
        .with("broken/app.py", "import subprocess\nsubprocess.call('ls', shell=True)\n")
        .with("broken/bad.py", "def (:\n");
    for (name, rule) in [("bandit", "B602"), ("ruff", "S602")] {
        let found = run_real_tool(&tools, name, &project.path("code"));
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

        let clean = run_real_tool(&tools, name, &project.path("clean"));
        assert_eq!((clean.trial.outcome, clean.trial.findings.len()), (Outcome::Reported, 0), "{name}");
    }
    // A file that the tool could not parse is noted as incomplete.
    let broken = run_real_tool(&tools, "bandit", &project.path("broken"));
    assert_eq!(broken.trial.outcome, Outcome::Reported);
    assert!(broken.trial.findings.iter().all(|f| f.file.as_ref().unwrap().as_str() == "app.py"));
    assert!(!broken.trial.findings.is_empty());
    assert_eq!(broken.trial.notes, ["incomplete: bad.py: syntax error while parsing AST from file"]);
}

/// Both tools on the Python cases of the starter suite.
#[test]
fn findings_of_real_tools_are_scored() {
    let Some(tools) = real_tools() else {
        return report_skipped("bandit and ruff are missing: run scripts/test-tools");
    };
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
            let mut trial = run_real_tool(&tools, name, &folder.join("after")).trial;
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
