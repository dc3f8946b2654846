//! Which reports can be compared with each other.

use super::{good, graded_suite, middling, noisy, score_to_file, submit};

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
fn results_of_other_judges_have_no_verdict() {
    let project = graded_suite(40, 1, &[("t", good)]);
    score_to_file(&project, "none.json", "");
    submit(&project, 40, 1, &[("t", noisy)], "submissions/all.jsonl");
    project.ok("score . --judge local -o local.json");
    project.ok("baseline write none.json -o base.json");
    let sentence =
        |from: &str| format!("Judges differ: no judge decided for {from}, local for local.json; a difference");
    for from in ["none.json", "base.json"] {
        // First, and in every format.
        let output = project.ok(&format!("compare {from} local.json -o c.md -o c.json"));
        assert!(output.starts_with(&sentence(from)), "{output}");
        assert!(output.contains("judge both alike with `karat score RUN --judge none -o rejudged.json`"), "{output}");
        assert!(!output.contains("worse"), "{output}");
        let markdown = project.read("c.md");
        assert!(markdown.lines().nth(2).unwrap().contains(&sentence(from)), "{markdown}");
        let json: serde_json::Value = serde_json::from_str(&project.read("c.json")).unwrap();
        for metric in json["comparisons"][0]["metrics"].as_array().unwrap() {
            assert_eq!(metric["verdict"], "inconclusive", "{metric}");
        }
        let output = project.ok(&format!("compare {from} local.json --across-judges"));
        assert!(output.starts_with(&sentence(from)) && output.contains("worse"), "{output}");
        let gate = format!("gate local.json --no-worse-than {from} -o g.md");
        let ran = project.run(&gate).expect(3);
        assert!(ran.out.starts_with(&sentence(from)) && ran.out.contains("The gate is inconclusive"), "{}", ran.out);
        assert!(project.read("g.md").lines().nth(2).unwrap().contains(&sentence(from)), "{}", project.read("g.md"));
        let ran = project.run(&format!("{gate} --across-judges")).expect(1);
        assert!(ran.out.starts_with(&sentence(from)), "{}", ran.out);
    }
}

/// A judge of the same name that would decide otherwise is another judge, in whatever it differs.
#[test]
fn judges_that_changed_have_no_verdict() {
    let project = graded_suite(12, 1, &[("t", middling)]);
    project.ok("score . --judge local -o r.json");
    project.ok("baseline write r.json -o base.json");
    let report: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let identity = &report["judges"][0]["identity"];
    assert_eq!(identity["provider"], "local");
    assert!(identity["parameters"]["params"].is_string(), "{identity}");
    let check = |old: serde_json::Value, new: serde_json::Value, expect: Option<&str>| {
        for (name, identity) in [("old.json", old), ("new.json", new)] {
            let mut report = report.clone();
            report["judges"][0]["identity"] = identity;
            project.write(name, report.to_string());
        }
        project.ok("baseline write old.json -o base.json");
        for from in ["old.json", "base.json"] {
            let ran = project.run(&format!("gate new.json --no-worse-than {from}")).expect(if expect.is_some() {
                3
            } else {
                0
            });
            let output = project.ok(&format!("compare {from} new.json"));
            assert_eq!(ran.out.starts_with("Judges differ: "), expect.is_some(), "{}", ran.out);
            if let Some(text) = expect {
                let text = text.replace("OLD", from);
                assert!(ran.out.replace('\n', " ").contains(&text), "{text}: {}", ran.out);
                assert!(output.replace('\n', " ").contains(&text), "{text}: {output}");
            }
            let help = "judge the earlier result again with `karat score RUN --judge local -o rejudged.json`";
            assert_eq!(ran.out.replace('\n', " ").contains(help), expect.is_some(), "{}", ran.out);
            project.run(&format!("gate new.json --no-worse-than {from} --across-judges")).expect(0);
        }
    };
    let own = |json: serde_json::Value| json;
    let model = |model: &str, prompt: &str| serde_json::json!({ "provider": "openai", "model": model, "parameters": { "t": 0 }, "prompts": [prompt] });
    let panel = |members: &[&str], consensus: &str| serde_json::json!({ "provider": "panel", "members": members, "consensus": consensus });
    let local = |hash: &str| serde_json::json!({ "provider": "local", "parameters": { "params": hash } });
    check(own(identity.clone()), own(identity.clone()), None);
    check(local("1"), local("2"), Some("local has other parameters in new.json than in OLD"));
    check(local("1"), model("m", "p"), Some("local has other provider and model and parameters in new.json"));
    check(model("m", "p 1"), model("n", "p 1"), Some("local has the model m in OLD, and n in new.json"));
    check(
        model("m", "pair/v1 1"),
        model("m", "pair/v2 1"),
        Some("the prompt pair/v1 1 in OLD, and pair/v2 1 in new.json"),
    );
    check(
        model("m", "pair/v1 1"),
        model("m", "pair/v1 2"),
        Some("the prompt pair/v1 1 in OLD, and pair/v1 2 in new.json"),
    );
    check(model("m", "audit/v1 1"), model("m", "audit-safe/v1 2"), None);
    check(
        panel(&["a", "b"], "majority"),
        panel(&["a", "c"], "majority"),
        Some("members a and b in OLD, and a and c in"),
    );
    check(panel(&["a", "b"], "majority"), panel(&["a", "b"], "dawid-skene"), Some("consensus majority in OLD"));
    // Older reports do not say it.
    check(serde_json::Value::Null, local("2"), None);
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
