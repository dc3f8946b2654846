//! Fields that hold one value or a list, in every format that a person or a tool writes.

use crate::project::{Project, lines, suite};
use serde_json::{Value, json};

/// Every way to write a CWE number gives the same numbers, wherever it stands.
#[test]
fn cwe_numbers_are_read_in_every_form_everywhere() {
    for (form, expect) in [
        (json!(89), json!([89])),
        (json!([89]), json!([89])),
        (json!("CWE-89"), json!([89])),
        (json!(["20", "cwe-89: Input"]), json!([20, 89])),
        (json!([]), Value::Null),
        (json!(null), Value::Null),
    ] {
        let case = json!({
            "id": "c", "cwe": form,
            "issues": [{ "id": "g", "title": "Query built from input", "file": "a.py", "line_start": 1, "cwe": form }]
        });
        let project = suite(&[case]);
        project.run("check .").expect(0);
        let finding =
            json!({ "id": "f", "message": "Query built from input", "file": "a.py", "line_start": 1, "cwe": form });
        let native = json!({ "case": "c", "tool": "t", "trial": 1, "outcome": "reported", "findings": [finding] });
        project.write("s.jsonl", lines(&[native]));
        project.run("score . --submission s.jsonl --set require=cwe --json").expect(0);
        let semgrep = json!({ "results": [{
            "check_id": "r", "path": "a.py", "start": { "line": 1 }, "end": { "line": 1 },
            "extra": { "message": "m", "metadata": { "cwe": form } }
        }] });
        let scan = json!([{ "id": "f", "title": "m", "location": { "filepath": "a.py" }, "details": { "cwe": form } }]);
        let bandit = json!({ "results": [{
            "filename": "a.py", "test_id": "B1", "line_number": 1, "issue_text": "m", "issue_cwe": { "id": form }
        }] });
        let sarif = json!({ "version": "2.1.0", "runs": [{
            "tool": { "driver": { "name": "x" } },
            "results": [{ "ruleId": "r", "message": { "text": "m" }, "properties": { "cwe": form } }]
        }] });
        for (format, output) in [("semgrep", semgrep), ("scan-findings", scan), ("bandit", bandit), ("sarif", sarif)] {
            project.write("in.json", output.to_string());
            let imported = project.ok(&format!("import in.json --from {format} --tool t --case c"));
            let trial: Value = serde_json::from_str(imported.lines().next().unwrap()).unwrap();
            assert_eq!(trial["findings"][0]["cwe"], expect, "{format}: {form}");
        }
    }
}

#[test]
fn what_is_no_cwe_number_is_refused_with_its_place() {
    let project = suite(&[json!({ "id": "c", "cwe": ["sql"] })]);
    let out = project.run("check .").expect(4).out;
    assert!(out.contains("a CWE number such as 89 or"), "{out}");
}

#[test]
fn one_word_stands_for_a_list_of_one() {
    let project = Project::new()
        .with(
            "suite/cases/c/case.yaml",
            "id: c\ncategories: security\ncwe: 89\nissues:\n  - id: g\n    title: Query built from input\n    keywords: query\n    \
             rule_aliases: r2\n    cwe: CWE-89\n",
        )
        .with(
            "suite/karat.toml",
            "[suite]\nname = \"s\"\n[tools.t]\ncommand = [\"true\"]\nformat = \"karat\"\nok_exit = 0\ninfra_exit = 75\npass_env = \"TOKEN\"\nneeds = \"sh\"\n",
        );
    project.run("check suite").expect(0);
    let profile = project.ok("profile show karat").replace("require = []", "require = \"file\"");
    assert!(profile.contains("require = \"file\""), "{profile}");
    project.write("own.toml", profile);
    project.run("check suite --profile own.toml").expect(0);
    // A command is no list of one.
    project.write(
        "suite/karat.toml",
        "[suite]\nname = \"s\"\n[tools.t]\ncommand = \"bandit -r .\"\nformat = \"bandit\"\n",
    );
    let out = project.run("check suite").expect(4).out;
    assert!(out.contains("write each word as an item: [\"bandit\", \"-r\", \".\"]"), "{out}");
}
