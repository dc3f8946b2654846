//! JSON output of commands, and examples in their help.

use crate::project::{Project, fixture};
use serde_json::json;

#[test]
fn commands_that_write_files_report_them_as_json() {
    let project = Project::new();
    let made = project.json("init mine --json");
    assert_eq!(made["written"][0], "karat.toml");
    assert_eq!(project.json("check mine --json"), json!([]));

    let scan = "mine/submissions/example-reviewer.jsonl";
    let expected = project.json(&format!("expect --from {scan} -o exact --json"));
    assert_eq!(expected["added"], json!(["unchecked-index: v2|pager.py|unchecked-index|lines:10-10"]));
    assert_eq!((&expected["kept"], &expected["not_met"]), (&json!(0), &json!([])));

    let bandit = fixture("bandit/report.json");
    let arguments =
        ["import", "--from", "bandit", "--suite", "mine", "--case", "tidy-rename", &bandit, "-o", "b.jsonl", "--json"];
    let imported: serde_json::Value = serde_json::from_str(&project.run_list(&arguments).expect(0).out).unwrap();
    assert_eq!((&imported["trials"], &imported["without_case"]), (&json!(1), &json!({})));
    assert!(imported["findings"].as_u64() > Some(0), "{imported}");

    let profiles = project.json("profile list --json");
    assert_eq!(profiles[0]["name"], "karat");
    assert_eq!(project.json("import --list --json")[0]["name"], "sarif");
    assert_eq!(project.json("profile show crb --json")["assignment"], "greedy");
    // With --json the submission needs -o, since standard output has the report.
    project.run("import --from bandit --case x in.json --json").expect(2);
}

#[test]
fn help_of_every_command_has_an_example() {
    let project = Project::new();
    let verbs = [
        "init",
        "check",
        "score",
        "report",
        "explain",
        "compare",
        "gate",
        "baseline write",
        "power",
        "import",
        "ingest",
        "key",
        "expect",
        "drift",
        "suite add",
        "suite gc",
        "label next",
        "label add",
        "label list",
        "label export",
        "label import",
        "store export",
        "store import",
        "store gc",
        "metrics explain",
        "profile show",
        "doctor",
        "schema",
        "completions",
        "man",
    ];
    for verb in verbs {
        let help = project.ok(&format!("{verb} --help"));
        assert!(help.contains("Example"), "{verb}:\n{help}");
        assert!(help.contains(&format!("  karat {verb}")), "{verb}:\n{help}");
    }
    assert!(project.ok("completions bash").contains("_karat"));
}
