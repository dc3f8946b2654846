//! `karat label extras` and `karat suite adopt`: findings that match no golden are labelled, and adopted into the
//! suite.

use crate::project::{CommandOutput, Project, lines, trial};
use serde_json::{Value, json};

const MARK: &str = "marktool";

const CASE: &str = "id: orders
# What the change brings in.
issues:
  - id: g1
    title: SQL injection in order search   # the point
    file: orders.py
    line_start: 4
    keywords: [SQL, search]
";

/// One golden that both tools find, a leak that both report in their own words, and noise that one of them reports.
fn project() -> Project {
    let code: String = (1..=30).map(|n| format!("line_{n} = {n}\n")).collect();
    let place = |id: &str, title: &str, message: &str, line: u32| {
        json!({ "id": id, "title": title, "message": message, "file": "orders.py", "line_start": line,
                "severity": "high" })
    };
    let found = |id: &str| place(id, "SQL injection", "The order search is open to SQL injection", 4);
    let leak = "The database connection is never closed when the query fails.\nIt leaks.";
    let first = [
        found(&format!("{MARK}-1")),
        place(&format!("{MARK}-2"), "Connection leak", leak, 20),
        place(&format!("{MARK}-3"), "Line is too long", "Break it", 28),
    ];
    let second = [found("x1"), place("x2", "Leak", "A database connection leaks when the query fails", 21)];
    let trials = [
        trial("orders", MARK, 1, json!(first)),
        trial("orders", MARK, 2, json!(first)),
        trial("orders", "tool-b", 1, json!(second)),
    ];
    Project::new()
        .with("karat.toml", "[suite]\nname = \"tiny\"\n")
        .with("cases/orders/case.yaml", CASE)
        .with("cases/orders/before/orders.py", "import db\n")
        .with("cases/orders/after/orders.py", code)
        .with("s.jsonl", lines(&trials))
}

const S: &str = "--suite . --submission s.jsonl";

fn next_extra(project: &Project, name: &str, flags: &str) -> Value {
    project.json(&format!("label extras --as {name} {S} --json {flags}"))
}

fn extra_id(extra: &Value) -> String {
    extra["next"]["id"].as_str().unwrap_or_else(|| panic!("no extra is left: {extra}")).to_owned()
}

fn score(project: &Project, flags: &str) -> Value {
    project.json(&format!("score . --submission s.jsonl --json {flags}"))
}

/// TP, FP and the bounds of precision of a tool.
fn figures(report: &Value, tool: usize) -> (u64, u64, f64, f64) {
    let own = &report["tools"][tool];
    let bound = |id: &str| own["metrics"][id]["value"].as_f64().unwrap();
    let count = |id: &str| own["counts"][id].as_u64().unwrap();
    (count("tp"), count("fp"), bound("precision_lower"), bound("precision_upper"))
}

#[test]
fn extras_of_several_tools_come_first_and_are_labelled_once() {
    let project = project();
    let extra = next_extra(&project, "anna", "");
    assert_eq!((&extra["labelled"], &extra["extras"]), (&json!(0), &json!(2)));
    let title = extra["next"]["finding"]["title"].as_str().unwrap();
    assert!(title.to_lowercase().contains("leak"), "{extra}");
    let ran = project.run(&format!("label extras --as anna {S}")).expect(0);
    for part in ["Report that names no known problem", "Code", "case orders"] {
        assert!(ran.out.contains(part), "no {part:?}:\n{}", ran.out);
    }
    assert!(ran.err.contains("0 of 2 extras labelled by anna"), "{}", ran.err);
    let answer = ran.err.lines().last().unwrap().trim().strip_prefix("karat ").unwrap();
    project.run(answer).expect_error(0, &["anna answered yes for the extra", "and 1 text that report the same"]);
    let extra = next_extra(&project, "anna", "");
    assert_eq!((&extra["labelled"], &extra["next"]["finding"]["title"]), (&json!(1), &json!("Line is too long")));
    project
        .run(&format!("label add {} no --as anna {S}", extra_id(&extra)))
        .expect_error(0, &["anna answered no for the extra"]);
    project
        .run(&format!("label extras --as anna {S}"))
        .expect_error(0, &["2 of 2 extras labelled by anna; nothing left"]);
    assert_eq!(next_extra(&project, "ben", "--min-tools 2")["extras"], 1);
    assert_eq!(next_extra(&project, "ben", "--min-tools 3")["next"], Value::Null);
    assert_eq!(next_extra(&project, "ben", "--skip 1")["next"]["finding"]["title"], "Line is too long");
    // Both wordings of the leak, and the noise.
    let listed = project.json("label list --json");
    assert_eq!(listed.as_array().unwrap().len(), 3);
    assert!(project.ok("label list").contains("orders (an extra)"));
    assert!(project.ok("store verify").contains("3 labels"));
}

#[test]
fn labelling_does_not_reveal_the_tool() {
    let project = project();
    project
        .run(&format!("label add {} no --as anna --note {MARK}-note {S}", extra_id(&next_extra(&project, "anna", ""))))
        .expect(0);
    let mut output = String::new();
    for skip in 0..3 {
        for json in ["", "--json"] {
            let ran = project.run(&format!("label extras --as ben {S} --skip {skip} {json}")).expect(0);
            output.push_str(&ran.out);
            output.push_str(&ran.err);
        }
    }
    for word in [MARK, "tool-b", "anna", "trial", "x2", "2 tools"] {
        assert!(!output.contains(word), "{word} is revealed:\n{output}");
    }
}

#[test]
fn labels_of_extras_count_in_scoring_and_can_be_exported() {
    let project = project();
    assert_eq!(figures(&score(&project, ""), 0), (2, 4, 1.0 / 3.0, 1.0));
    let leak = extra_id(&next_extra(&project, "anna", ""));
    project.run(&format!("label add {leak} yes --as anna --note sure {S}")).expect(0);
    let noise = extra_id(&next_extra(&project, "anna", ""));
    project.run(&format!("label add {noise} no --as anna {S}")).expect(0);
    project.run(&format!("label export {S} -o labels.jsonl")).expect_error(0, &["5 judgements from 3 labels"]);
    let report = score(&project, "--judgements labels.jsonl");
    assert_eq!(figures(&report, 0), (2, 2, 0.5, 0.5));
    assert_eq!(figures(&report, 1), (1, 0, 1.0, 1.0));
    let text = report.to_string();
    assert!(text.contains("a real problem that no golden describes") && text.contains("reviewed: not a problem"));
    // On a panel, labels of extras count too, and each person only once.
    let panel = score(&project, "--judge human,local");
    assert_eq!((figures(&panel, 0), figures(&panel, 1)), (figures(&report, 0), figures(&report, 1)));
    let both = score(&project, "--judge human,local --judgements labels.jsonl");
    assert_eq!(figures(&both, 0), figures(&report, 0));

    let other = self::project();
    other.write("labels.jsonl", project.read("labels.jsonl"));
    other.run(&format!("label import labels.jsonl {S}")).expect_error(0, &["3 labels added, 0 already present"]);
    other.run(&format!("label import labels.jsonl {S}")).expect_error(0, &["0 labels added, 3 already present"]);
    assert_eq!(other.ok(&format!("label export {S}")), project.read("labels.jsonl"));
    let flipped = project.read("labels.jsonl").replace("\"valid\":true", "\"valid\":false");
    other.write("turned.jsonl", flipped);
    other
        .run(&format!("label import turned.jsonl {S}"))
        .expect_error(4, &["anna has said yes of this finding before", "--change", "nothing was loaded"]);
    let taken = other.json(&format!("label import turned.jsonl {S} --change --json"));
    assert_eq!(taken, json!({ "added": 0, "corrected": 2, "were_here": 1 }));
}

#[test]
fn corrected_labels_of_extras_keep_their_history() {
    let project = project();
    let leak = extra_id(&next_extra(&project, "anna", ""));
    project.run(&format!("label add {leak} yes --as anna {S}")).expect(0);
    project
        .run(&format!("label add {leak} no --as anna {S}"))
        .expect_error(2, &["anna said yes of the extra", "--change"]);
    project.run(&format!("label add {leak} partial --as ben {S}")).expect_error(2, &["expected yes or no"]);
    project.run(&format!("label add {leak} no --as anna --change {S}")).expect(0);
    let history = project.json("label list --history --json");
    let entries: Vec<(bool, bool)> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|l| (l["valid"].as_bool().unwrap(), l["counts"].as_bool().unwrap()))
        .collect();
    assert_eq!(entries, [(true, false), (true, false), (false, true), (false, true)]);
    // A labelled extra can be changed without a run, by its text alone.
    project.run(&format!("label add {leak} yes --as ben")).expect_error(0, &["ben answered yes for the extra"]);
    assert!(project.ok("label list --history").contains("corrected"));
}

#[test]
fn terminal_prompts_for_each_extra() {
    let project = project();
    let typed = "p\ny it leaks\nn\n";
    let Some(ran) = project.run_on_terminal(&format!("label extras --as anna {S}"), typed) else { return };
    let out = ran.out;
    for text in ["Is it a real problem?", "type a letter, with an optional note", "reported by 2 tools in 3 trials"] {
        assert!(out.contains(text), "no {text:?}:\n{out}");
    }
    assert!(!out.contains(MARK), "{out}");
    let answers: Vec<Value> =
        project.json("label list --json").as_array().unwrap().iter().map(|l| l["valid"].clone()).collect();
    assert_eq!(answers, [true, true, false]);
}

/// Labels everything: the leak is real, the noise is not.
fn label_all(project: &Project) {
    for answer in ["yes", "no"] {
        let id = extra_id(&next_extra(project, "anna", ""));
        project.run(&format!("label add {id} {answer} --as anna {S}")).expect(0);
    }
}

#[test]
fn confirmed_extras_are_adopted_once() {
    let project = project();
    let adopt = "suite adopt . --submission s.jsonl";
    project.run(adopt).expect_error(0, &["nothing to adopt", "karat label extras"]);
    label_all(&project);
    let ran = project.run(&format!("{adopt} --dry-run")).expect_error(0, &["1 golden would be adopted"]);
    assert!(ran.out.contains("issues:\n  # Adopted: 2 tools reported it"), "{}", ran.out);
    assert_eq!(project.read("cases/orders/case.yaml"), CASE);
    let ran = project.run(adopt).expect_error(0, &["1 golden adopted", "wrote ./cases/orders/case.yaml"]);
    assert!(ran.out.starts_with("orders: "), "{}", ran.out);
    let case = project.read("cases/orders/case.yaml");
    let added = case.strip_prefix(CASE).unwrap_or_else(|| panic!("what was there has changed:\n{case}"));
    insta::assert_snapshot!(added, @r#"
    # Adopted: 2 tools reported it, and people confirmed it.
    - id: "connection-leak"
      title: "Connection leak"
      description: |2-
        The database connection is never closed when the query fails.
        It leaks.
      file: "orders.py"
      line_start: 20
      line_end: 20
      severity: high
      acceptance: acceptable
    "#);
    project.run("check . --strict").expect(0);
    let report = score(&project, "");
    for tool in report["tools"].as_array().unwrap() {
        for trial in tool["cases"][0]["trials"].as_array().unwrap().iter().filter(|t| t["outcome"] == "reported") {
            assert_eq!(trial["acceptable"].as_array().unwrap().len(), 1, "{trial:#}");
        }
    }
    project.run(adopt).expect_error(0, &["nothing to adopt"]);
    assert_eq!(project.read("cases/orders/case.yaml"), case);
}

#[test]
fn adopt_writes_jsonl_cases_and_reads_label_files() {
    let finding = |id: &str, title: &str| json!({ "id": id, "title": title, "file": "a.py", "line_start": 3 });
    let trials = [
        trial("c", "t", 1, json!([finding("f1", "The socket is left open"), finding("f2", "The name is too short")])),
        trial("d", "t", 1, json!([finding("f1", "The socket is left open")])),
    ];
    let label = |judge: &str, case: &str, finding: &str, valid: bool| json!({ "kind": "extra", "case": case, "tool": "t", "trial": 1, "judge": judge, "finding": finding, "valid": valid });
    let cases = "{\"id\":\"c\", \"issues\": []}\n\n{\"id\": \"d\"}\n";
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"tiny\"\n")
        .with("cases.jsonl", cases)
        .with("s.jsonl", lines(&trials))
        .with(
            "labels.jsonl",
            lines(&[
                label("human:a", "c", "f1", true),
                label("human:b", "c", "f1", true),
                label("human:c", "c", "f1", false),
                label("human:a", "c", "f2", true),
                label("human:b", "c", "f2", false),
                // A model's judgement alone does not change a suite.
                label("sonnet", "d", "f1", true),
            ]),
        );
    let adopted = project.json("suite adopt . --submission s.jsonl --labels labels.jsonl --json");
    assert_eq!((adopted["adopted"].as_array().unwrap().len(), &adopted["written"]), (1, &json!(["cases.jsonl"])));
    assert_eq!(adopted["adopted"][0]["members"], json!([{ "tool": "t", "trial": 1, "finding": "f1" }]));
    let text = project.read("cases.jsonl");
    insta::assert_snapshot!(text, @r#"
    {"id":"c", "issues": [{"id":"the-socket-is-left-open","file":"a.py","line_start":3,"line_end":3,"title":"The socket is left open","acceptance":"acceptable"}]}

    {"id": "d"}
    "#);
    project.run("suite adopt . --submission s.jsonl --labels labels.jsonl").expect_error(0, &["nothing to adopt"]);
    assert_eq!(project.read("cases.jsonl"), text);
}

#[test]
fn unadoptable_extras_are_named_and_nothing_is_written() {
    let project = project();
    label_all(&project);
    let says = |line: &str, code: i32, texts: &[&str]| drop(project.run(line).expect_error(code, texts));
    let adopt = "suite adopt . --submission s.jsonl";
    says("suite adopt", 2, &["SUITE"]);
    says("suite adopt starter", 2, &["a built-in suite is read-only"]);
    says("suite adopt .", 2, &["nothing to adopt from", "--submission"]);
    says("suite adopt . latest", 2, &["there is no run"]);
    says("suite adopt . latest --submission s.jsonl", 2, &["cannot be used with"]);
    says("suite adopt nowhere --submission s.jsonl", 4, &["nowhere"]);
    says(&format!("{adopt} --labels gone.jsonl"), 4, &["gone.jsonl"]);
    project.write("bad.jsonl", "{\"kind\":\"extra\",\"valid\":\"perhaps\"}\n");
    says(&format!("{adopt} --labels bad.jsonl"), 4, &["bad.jsonl:1", "valid"]);
    // A layout that cannot be extended: the whole case in braces.
    let flow = "{id: orders, name: all of it}\n";
    project.write("cases/orders/case.yaml", flow);
    says(adopt, 4, &["cases/orders/case.yaml", "--dry-run", "Nothing was written"]);
    assert_eq!(project.read("cases/orders/case.yaml"), flow);
    says(&format!("{adopt} --dry-run"), 0, &["1 golden would be adopted", "cannot be edited safely"]);
    // A location that the case does not have.
    project.write("cases/orders/case.yaml", CASE);
    project.write("cases/orders/after/orders.py", "a\nb\nc\nd\ne\n");
    says(adopt, 0, &["skipped: orders: ", "lies outside orders.py", "nothing to adopt"]);
    assert_eq!(project.read("cases/orders/case.yaml"), CASE);
}

#[test]
fn invalid_input_about_extras_is_explained() {
    let project = project();
    let says = |line: &str, code: i32, texts: &[&str]| drop(project.run(line).expect_error(code, texts));
    says(&format!("label extras {S}"), 2, &["--as NAME"]);
    says("label extras --as anna", 2, &["--suite"]);
    says("label extras nightly --as anna", 5, &["there is no store"]);
    says(&format!("label extras --as anna {S} --min-tools x"), 2, &["--min-tools"]);
    says(&format!("label extras --as anna {S} --judge nobody-knows"), 2, &["nobody-knows"]);
    says("label extras --as anna --suite . --submission gone.jsonl", 4, &["gone.jsonl"]);
    assert!(!project.path(".karat").exists(), "a lookup created a store");
    let stray = json!({ "kind": "extra", "case": "orders", "tool": "tool-b", "trial": 1, "judge": "sonnet", "finding": "x9",
        "valid": true, "probability": 2 });
    project.write("stray.jsonl", lines(&[stray]));
    let texts = ["`sonnet` is not a person", "has no finding `x9`", "probability"];
    says(&format!("label import stray.jsonl {S}"), 4, &texts[2..]);
    project.write("stray.jsonl", project.read("stray.jsonl").replace(",\"probability\":2", ""));
    says(&format!("label import stray.jsonl {S}"), 4, &texts[..2]);
    let twice = |valid: bool| json!({ "kind": "extra", "case": "orders", "tool": "tool-b", "trial": 1, "judge": "human:a", "finding": "x2", "valid": valid });
    project.write("twice.jsonl", lines(&[twice(true), twice(false)]));
    says(&format!("label import twice.jsonl {S}"), 4, &["a says yes about the same finding at twice.jsonl:1"]);
    says("score . --submission s.jsonl --judgements twice.jsonl", 4, &["has already decided this"]);
    let ran = CommandOutput::start(project.command().args(["label", "extras", "--help"])).expect(0);
    assert!(ran.out.contains("karat label extras --as anna"));
}

#[test]
fn report_lists_unlabelled_extras() {
    let project = project();
    let pooled = |report: &Value| report["pooled_extras"].as_array().cloned().unwrap_or_default();
    let report = score(&project, "");
    let pools = pooled(&report);
    assert_eq!(pools.len(), 1, "{pools:#?}");
    assert_eq!((&pools[0]["tools"], &pools[0]["reports"]), (&json!([MARK, "tool-b"]), &json!(3)));
    assert_eq!((&pools[0]["case"], &pools[0]["title"]), (&json!("orders"), &json!("Connection leak")));
    assert_eq!(pools[0]["members"][2], json!({ "tool": "tool-b", "trial": 1, "finding": "x2" }));
    let open: Vec<u64> =
        report["tools"].as_array().unwrap().iter().map(|t| t["unlabelled_extras"].as_u64().unwrap_or(0)).collect();
    assert_eq!(open, [4, 1]);
    let unlabelled_section = |project: &Project, flags: &str| {
        let out = project.ok(&format!("score . --submission s.jsonl -v {flags}"));
        let from = out.find("Unlabelled extras").map(|at| out[at..].to_owned());
        from.map(|text| {
            text.lines().take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect::<String>()
        })
    };
    insta::assert_snapshot!(unlabelled_section(&project, "").unwrap(), @r"
    Unlabelled extras
      tool-b: 1; mean precision is between 0.500 and 1.000 until labelled
      marktool: 4; mean precision is between 0.333 and 1.000 until labelled
      2 tools on orders: orders.py:20 Connection leak
      `karat label extras` shows them, those that affect precision most first
    ");
    // With one tool alone there is no agreement.
    let alone = unlabelled_section(&project, "--tool tool-b").unwrap();
    assert!(alone.contains("tool-b: 1;") && !alone.contains("Leak"), "{alone}");
    label_all(&project);
    project.run(&format!("label export {S} -o labels.jsonl")).expect(0);
    assert_eq!(unlabelled_section(&project, "--judgements labels.jsonl"), None);
    let report = score(&project, "--judgements labels.jsonl");
    assert!(pooled(&report).is_empty() && !report.to_string().contains("unlabelled_extras"));
}

#[test]
fn terminal_says_how_many_items_matter_most() {
    let place =
        |title: &str, line: u32| json!({ "id": title, "title": title, "file": "orders.py", "line_start": line });
    let (leak, rare) = (place("Connection leak", 20), [place("Line is too long", 10), place("Unused import", 28)]);
    let first = [std::slice::from_ref(&leak), &rare[..]].concat();
    let others = (2..13).map(|number| trial("orders", "t", number, json!([leak])));
    let trials: Vec<Value> = std::iter::once(trial("orders", "t", 1, json!(first))).chain(others).collect();
    let project = project();
    project.write("s.jsonl", lines(&trials));
    let next = |name: &str| project.run(&format!("label extras --as {name} {S}"));
    let advice = "\nthe first matters most: it makes up 94 % of what is unknown about precision\n";
    next("anna").expect_error(0, &["0 of 3 extras labelled by anna", advice]);
    let id = extra_id(&next_extra(&project, "anna", ""));
    project.run(&format!("label add {id} yes --as anna {S}")).expect(0);
    next("anna").expect_error(0, &["1 of 3 extras labelled by anna", "\nthe one that matters most is done: 94 % of "]);
    next("ben").expect_error(0, &[advice]);
    // Two of two items are not few.
    let few = self::project().run(&format!("label extras --as anna {S}")).expect(0);
    assert!(!few.err.contains("matter"), "{}", few.err);
}
