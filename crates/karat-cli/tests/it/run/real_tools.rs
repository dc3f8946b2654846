//! Real scanners through the shipped manifests. `scripts/test-tools` installs them into a private folder.

use super::{outcomes, parsed};
use crate::project::{CommandOutput, Project, report_skipped};

/// The folder with the installed scanners; `None`, with a note, if there is none.
fn find_installed_scanners() -> Option<String> {
    let folder =
        std::env::var("KARAT_TEST_TOOLS").ok().filter(|folder| std::path::Path::new(folder).join("bandit").exists());
    if folder.is_none() {
        report_skipped("bandit and ruff are not installed; scripts/test-tools installs them");
    }
    folder
}

fn run(project: &Project, folder: &str, line: &str) -> CommandOutput {
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    CommandOutput::start(project.command().env("PATH", path).args(line.split_whitespace()))
}

#[test]
fn bandit_and_ruff_are_run_and_scored() {
    let Some(folder) = find_installed_scanners() else { return };
    let project = Project::new();
    let ran = run(&project, &folder, "run starter --tool bandit ruff --only language=python --trials 1 --json");
    let report = parsed(&ran);
    for (index, tool) in ["bandit", "ruff"].iter().enumerate() {
        assert_eq!(report["tools"][index]["tool"], *tool);
        assert_eq!(report["tools"][index]["outcomes"]["reported"], 2, "{}", ran.err);
    }
    let findings = |tool: usize| -> Vec<String> {
        let cases = report["tools"][tool]["cases"].as_array().unwrap();
        let trials = cases.iter().flat_map(|case| case["trials"].as_array().unwrap());
        let findings = trials.flat_map(|trial| trial["findings"].as_array().unwrap());
        findings
            .map(|f| format!("{} {}", f["rule_id"].as_str().unwrap_or(""), f["file"].as_str().unwrap_or("")))
            .collect()
    };
    // The search builds its SQL by string concatenation, which both have a rule for. Paths are relative to the case.
    assert!(findings(0).iter().any(|f| f == "B608 shop/orders.py"), "{:?}", findings(0));
    assert!(findings(1).iter().any(|f| f.contains("S608") && f.ends_with("shop/orders.py")), "{:?}", findings(1));
    let shown = project.json("store show latest --json").to_string();
    assert!(shown.contains("bandit 1.") && shown.contains("ruff 0."), "{shown}");
}

#[test]
fn bandit_parse_error_is_incomplete() {
    let Some(folder) = find_installed_scanners() else { return };
    let project = super::with_cases(1);
    project.write("suite/cases/case-1/after/broken.py", "def f(:\n");
    let report = parsed(&run(&project, &folder, "run suite --tool bandit --trials 1 --json -q"));
    assert_eq!(outcomes(&report), "reported 1");
    assert_eq!(report["tools"][0]["incomplete"], 1);
    assert!(report["warnings"].to_string().contains("broken.py"), "{}", report["warnings"]);
}

/// A change to a file of Bandit's own sources: what is added at its end, and the goldens with the line of the addition they lie on.
struct Change {
    case: &'static str,
    file: &'static str,
    added: &'static str,
    goldens: &'static [(&'static str, usize, &'static str, &'static str, &'static str)],
}

const CHANGES: [Change; 5] = [
    Change {
        case: "load-overrides",
        file: "bandit/core/config.py",
        added: "\n\ndef load_overrides(stream):\n    \"\"\"Settings that the scanned project brings along.\"\"\"\n    \
                return yaml.load(stream, Loader=yaml.Loader)\n",
        goldens: &[(
            "objects-from-project",
            5,
            "A scanned project decides what runs",
            "Any Python object in the settings file is constructed while it is read, so that whoever wrote the repository \
             executes code on the machine that scans it.",
            "[502]",
        )],
    },
    Change {
        case: "result-cache",
        file: "bandit/core/utils.py",
        added: "\n\ndef cache_key(path, seen=[]):\n    import hashlib\n\n    seen.append(path)\n    \
                return hashlib.md5(path.encode()).hexdigest()\n\n\ndef newest_first(results):\n    \
                assert results, \"nothing was found\"\n    return sorted(results, key=lambda result: result.mtime)\n",
        goldens: &[
            (
                "shared-seen",
                3,
                "Files of one scan show up in the next",
                "The list of paths is created once, when the function is defined, and every later call adds to the same one.",
                "[]",
            ),
            (
                "weak-key",
                7,
                "Two different files can get the same cache entry",
                "Collisions of this digest can be made on purpose, so that a harmless result is served for a harmful file.",
                "[328]",
            ),
            (
                "wrong-order",
                12,
                "Results are shown oldest first",
                "The callers expect the newest result at the front; `reverse=True` is missing.",
                "[]",
            ),
        ],
    },
    Change {
        case: "after-scan-hook",
        file: "bandit/core/manager.py",
        added: "\n\ndef run_hook(command, report):\n    import subprocess\n\n    \
                return subprocess.call(command + \" \" + report, shell=True)\n",
        goldens: &[(
            "shell-from-name",
            6,
            "A report called `x; rm -rf ~` deletes the home folder",
            "Command and file name are joined and handed to a shell, which takes what follows the semicolon for a command of \
             its own.",
            "[78]",
        )],
    },
    Change {
        case: "upload-report",
        file: "bandit/formatters/json.py",
        added: "\n\ndef upload(url, text, token):\n    import requests\n\n    try:\n        \
                requests.post(url, data=text, headers={\"Authorization\": token}, verify=False)\n    \
                except Exception:\n        pass\n",
        goldens: &[
            (
                "any-certificate",
                7,
                "The token can be read on the way",
                "Whoever sits between the two machines may present any certificate and is believed.",
                "[295]",
            ),
            (
                "lost-upload",
                8,
                "Nobody learns that an upload failed",
                "Every error is dropped, and the caller goes on as if the report had arrived.",
                "[]",
            ),
        ],
    },
    Change {
        case: "last-report",
        file: "bandit/cli/main.py",
        added: "\n\ndef remember(report, admins):\n    if \"root\" in admins or \"admin\":\n        \
                with open(\"/tmp/bandit-last.json\", \"w\") as out:\n            out.write(report)\n",
        goldens: &[
            (
                "always-true",
                4,
                "Every user passes the check for administrators",
                "The right side of `or` is a text that is not empty, so that the condition holds for everybody.",
                "[]",
            ),
            (
                "guessable-file",
                5,
                "Another user can put a link where the report is written",
                "The name in the shared folder is known in advance, and a link placed there makes the tool overwrite a file of \
                 its user.",
                "[377]",
            ),
        ],
    },
];

/// What a person credits after reading what both scanners print: nothing that they report is about the order of results or about
/// the condition that always holds, and Bandit has no rule for mutable defaults.
const CREDITED: [(&str, &[&str]); 2] = [
    (
        "bandit",
        &["any-certificate", "guessable-file", "lost-upload", "objects-from-project", "shell-from-name", "weak-key"],
    ),
    (
        "ruff",
        &[
            "any-certificate",
            "guessable-file",
            "lost-upload",
            "objects-from-project",
            "shared-seen",
            "shell-from-name",
            "weak-key",
        ],
    ),
];

#[test]
fn credited_findings_equal_hand_labels() {
    let Some(folder) = find_installed_scanners() else { return };
    let library = std::path::Path::new(&folder).join("../lib");
    let pythons = std::fs::read_dir(library).unwrap().map(|entry| entry.unwrap().path().join("site-packages"));
    let sources = pythons.into_iter().find(|path| path.join("bandit/core").is_dir()).unwrap();
    let project = Project::new();
    project
        .write("suite/karat.toml", "[suite]\nname = \"trial\"\nkind = \"findings\"\n[scoring]\nprofile = \"karat\"\n");
    for Change { case, file, added, goldens } in CHANGES {
        let before = std::fs::read_to_string(sources.join(file)).unwrap().trim_end().to_owned() + "\n";
        let lines = before.lines().count();
        project.write(&format!("suite/cases/{case}/before/{file}"), &before);
        project.write(&format!("suite/cases/{case}/after/{file}"), format!("{before}{added}"));
        let mut yaml = format!("id: {case}\nlanguage: python\nverdict: vulnerable\nissues:\n");
        for (id, line, title, description, cwe) in goldens {
            let line = lines + line;
            yaml.push_str(&format!(
                "  - id: {id}\n    file: {file}\n    line_start: {line}\n    line_end: {line}\n    severity: medium\n    \
                 title: {title:?}\n    description: {description:?}\n    cwe: {cwe}\n"
            ));
        }
        project.write(&format!("suite/cases/{case}/case.yaml"), &yaml);
    }
    let report = parsed(&run(&project, &folder, "run suite --tool bandit ruff --trials 1 --json -q"));
    for (index, (tool, credited)) in CREDITED.iter().enumerate() {
        let tool_report = &report["tools"][index];
        assert_eq!(tool_report["tool"], *tool);
        let cases = tool_report["cases"].as_array().unwrap();
        let matches = cases.iter().flat_map(|case| case["trials"][0]["matches"].as_array().unwrap());
        let mut found: Vec<&str> = matches.map(|own| own["golden"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, *credited, "{tool}");
    }
    // Bandit's own code was not changed, and what is reported of it is no false alarm.
    let ruff = &report["tools"][1];
    assert!(ruff["untouched_extras"].as_u64().unwrap() > 5, "{ruff}");
}
