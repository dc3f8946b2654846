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
