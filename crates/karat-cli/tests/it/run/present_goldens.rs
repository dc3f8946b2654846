//! `karat score SUITE --run RUN`: stored trials are scored with the goldens as they are now.

use super::{FINDS_IT, report, with_cases, with_tool};
use crate::project::Project;
use serde_json::{Value, json};

fn finished() -> Project {
    let project = with_cases(3);
    with_tool(&project, "it", FINDS_IT, "");
    report(&project, "it", "--trials 1 --judge none");
    project
}

fn edit(project: &Project, case: usize, from: &str, to: &str) {
    let file = format!("suite/cases/case-{case}/case.yaml");
    let text = project.read(&file);
    assert!(text.contains(from), "{text}");
    project.write(&file, text.replace(from, to));
}

fn recall(report: &Value) -> &Value {
    &report["tools"][0]["metrics"]["recall"]["value"]
}

#[test]
fn edited_golden_changes_the_score_of_a_run() {
    let project = finished();
    let unchanged = project.run("score suite --run latest").expect(0);
    assert!(unchanged.out.contains("No score changed since run "), "{}", unchanged.out);
    let warnings = project.json("score suite --run latest --json")["warnings"].to_string();
    assert!(warnings.contains("with the present goldens of small: none was edited since"), "{warnings}");
    edit(&project, 1, "file: app.py\n    line_start: 2\n    keywords: [sql]", "file: b.py\n    keywords: [leak]");
    edit(
        &project,
        2,
        "issues:\n",
        "issues:\n  - id: more\n    title: Result may be empty\n    file: gone.py\n    line_start: 9\n",
    );
    for detail in ["", " --detail misses"] {
        let line = format!("score suite --run latest --judge none --json{detail}");
        let ran = project.run(&line).expect(0);
        let scored: Value = serde_json::from_str(&ran.out).unwrap();
        let warnings = scored["warnings"].to_string();
        assert_eq!(recall(&scored), &json!(0.5), "{detail}: {warnings}");
        assert!(warnings.contains("1 golden edited, 1 golden added"), "{warnings}");
        assert!(ran.err.contains("Since run "), "{}", ran.err);
        assert!(ran.err.contains("case case-1: query now missed by it (before: found)"), "{}", ran.err);
        assert!(ran.err.contains("case case-2: new golden more missed by it"), "{}", ran.err);
    }
    // The run itself keeps its goldens, and says how to score with the present ones.
    let own = project.json("score latest --json");
    assert_eq!(recall(&own), &json!(1.0));
    let warnings = own["warnings"].to_string();
    assert!(warnings.contains("goldens are those of the run: `karat score SUITE --run "), "{warnings}");
    project.run("run --resume latest").expect_error(4, &["with the present goldens: karat score ", " --run "]);
    let explained = project.ok("explain case-1 --run latest --suite suite");
    assert!(explained.contains("b.py"), "{explained}");
    assert!(!project.ok("explain case-1 --run latest").contains("b.py"));
}

#[test]
fn every_metric_that_changed_is_told() {
    let project = finished();
    edit(&project, 1, "category: sql-injection\n", "category: sql-injection\n    severity: high\n");
    // It is found as before, so that neither F1 nor any golden's state is another.
    let out = project.ok("score suite --run latest --judge none");
    let told = "\n  weighted recall of it – → 1.000\n    also weighted detection – → 1.000\n";
    assert!(out.contains(told), "{out}");
    assert!(out.contains("Since run ") && !out.contains("No score changed"), "{out}");
}

#[test]
fn cases_that_tools_saw_otherwise_are_left_out() {
    let project = finished();
    project.write("suite/cases/case-1/after/app.py", "changed\n\n");
    std::fs::remove_dir_all(project.path("suite/cases/case-2")).unwrap();
    project.write("suite/cases/new/case.yaml", "id: new\nverdict: safe\n");
    let scored = project.json("score suite --run latest --json");
    let cases: Vec<&Value> = scored["cases"].as_array().unwrap().iter().map(|case| &case["case"]).collect();
    assert_eq!(cases, ["case-3"]);
    assert_eq!(scored["tools"][0]["outcomes"]["skipped"].as_u64().unwrap_or(0), 0);
    let warnings = scored["warnings"].to_string();
    for expected in [
        "1 case left out, since their code or pull request has changed since the run: case-1",
        "1 case left out, since the suite no longer has them: case-2",
        "1 case left out, since they were added after the run: new",
    ] {
        assert!(warnings.contains(expected), "{warnings}");
    }
    std::fs::remove_dir_all(project.path("suite/cases/case-3")).unwrap();
    project.run("score suite --run latest").expect_error(4, &["says nothing about the trials of run", "help:"]);
    project.run("score nowhere --run latest").expect(4);
    project.run("score suite --run nothing").expect_error(2, &["there is no run `nothing`"]);
}
