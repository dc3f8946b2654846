//! Which reports can be compared with each other.

use super::{good, graded_suite, middling, score_to_file, submit};

#[test]
fn different_suites_need_intersection() {
    let project = graded_suite(40, 1, &[("t", middling)]);
    score_to_file(&project, "old.json", "");
    // One golden renamed, and one case added.
    let cases = project.read("cases.jsonl");
    let first = cases.lines().next().unwrap();
    let more = first.replacen("\"id\":\"race\"", "\"id\":\"raced\"", 1);
    assert_ne!(first, more);
    let other = first.replace("case-000", "case-999");
    project.write("cases.jsonl", format!("{}{other}\n", cases.replacen(first, &more, 1)));
    score_to_file(&project, "new.json", "");
    project.run("compare old.json new.json").expect_error(4, &["different suites or versions", "--intersection"]);
    let json = project.json("compare old.json new.json --intersection --json --metric f1");
    assert_eq!(json["comparisons"][0]["cases"], 39);
    assert_eq!(json["comparisons"][0]["left_out"][0]["cases"], serde_json::json!(["case-999"]));
    assert_eq!(json["comparisons"][0]["left_out"][1]["why"], "their goldens differ");
    let output = project.ok("compare old.json new.json --intersection");
    assert!(output.contains("1 case left out: their goldens differ"), "{output}");
}

#[test]
fn different_profiles_are_always_refused() {
    let project = graded_suite(12, 1, &[("t", middling)]);
    score_to_file(&project, "a.json", "");
    score_to_file(&project, "b.json", "--set threshold=0.9");
    for flags in ["", "--intersection"] {
        project.run(&format!("compare a.json b.json {flags}")).expect_error(4, &["threshold is 0.575 and 0.9"]);
    }
}

#[test]
fn different_judges_are_compared_with_a_note() {
    let project = graded_suite(40, 1, &[("t", middling)]);
    score_to_file(&project, "none.json", "");
    project.ok("score . --judge local -o local.json");
    let output = project.ok("compare none.json local.json");
    assert!(output.contains("judges differ: nobody decided for t (none.json), local for t (local.json)"), "{output}");
}

#[test]
fn invalid_comparisons_are_reported() {
    let project = graded_suite(12, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    project.run("compare r.json").expect_error(2, &["only one tool"]);
    project.run("compare r.json --tools t,u").expect_error(2, &["has no tool `u`", "Available: t"]);
    project.run("compare r.json r.json --metric f7").expect_error(2, &["f7"]);
    project.run("compare r.json r.json --margin -1").expect(2);
    project.run("compare r.json r.json -o x.docx").expect_error(2, &["x.docx", ".md"]);
    project.run("compare nowhere.json r.json").expect_error(4, &["nowhere.json"]);
    project.write("broken.json", "{ \"schema\": \"karat.report/1\"");
    project.run("compare r.json broken.json").expect_error(4, &["broken.json"]);
    project.write("empty.json", "");
    project.run("compare r.json empty.json").expect_error(4, &["empty.json"]);
    project.run("compare r.json r.json --all-pairs").expect_error(2, &["one run or report"]);
}

#[test]
fn tools_of_two_reports_are_named_with_their_files() {
    let project = graded_suite(40, 1, &[("old", middling)]);
    score_to_file(&project, "a.json", "");
    submit(&project, 40, 1, &[("new", good)], "submissions/all.jsonl");
    score_to_file(&project, "b.json", "");
    for flags in ["", "--tools old,new"] {
        let output = project.ok(&format!("compare a.json b.json {flags}"));
        assert!(output.starts_with("old (a.json) → new (b.json)"), "{output}");
    }
}

#[test]
fn comparisons_are_written_to_files() {
    let project = graded_suite(40, 1, &[("old", middling), ("new", good)]);
    score_to_file(&project, "r.json", "");
    project
        .run("compare r.json --metric f1 -o c.md -o c.json -o c.txt")
        .expect_error(0, &["wrote c.md", "wrote c.json"]);
    let markdown = project.read("c.md");
    assert!(
        markdown.contains("### old → new") && markdown.contains("| F1 |") && markdown.contains("**better**"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&project.read("c.json")).unwrap();
    assert_eq!(json, project.json("compare r.json --metric f1 --json"));
    assert!(project.read("c.txt").contains("better"));
}
