//! `karat suite twist`, `karat compare --twisted` and `--model-cutoff`: what a model may have remembered.

use crate::project::{Project, lines, report_skipped, root, trial};
use crate::run::sandboxed;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The content of every file below a folder.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The folder of the suite, in which a path has no spaces.
fn code_review() -> String {
    root().join("suites/code-review").canonicalize().unwrap().display().to_string()
}

fn twisted_cases(report: &Value) -> usize {
    let cases = report["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["copied_because"].is_null()).count()
}

#[test]
fn twisted_suite_is_accepted_and_the_same_for_a_seed() {
    let (project, suite) = (Project::new(), code_review());
    let report = project.json(&format!("suite twist {suite} --to one --seed 7 --json -q"));
    project.ok(&format!("suite twist {suite} --to two --seed 7 -q"));
    project.ok(&format!("suite twist {suite} --to other --seed 8 -q"));
    let [one, two, other] = ["one", "two", "other"].map(|folder| contents(&project.path(folder)));
    assert!(one == two, "the same seed gave other files");
    assert_ne!(one, other);
    for folder in ["one", "other"] {
        project.ok(&format!("check {folder} --strict"));
    }
    // Of all languages with a grammar, nearly everything is twisted; C#, shell and SQL are copied.
    let cases = report["cases"].as_array().unwrap();
    let known = ["c", "cpp", "go", "java", "javascript", "python", "ruby", "rust", "typescript"];
    for case in cases {
        let (is_known, why) = (known.contains(&case["language"].as_str().unwrap()), &case["copied_because"]);
        assert!(is_known || why == "no grammar for its language", "{case}");
    }
    let with_grammar = cases.iter().filter(|case| known.contains(&case["language"].as_str().unwrap())).count();
    assert!(twisted_cases(&report) * 10 >= with_grammar * 9, "{} of {with_grammar}", twisted_cases(&report));
    for operation in ["rename", "reorder", "dead-code", "move", "log-text"] {
        assert!(cases.iter().any(|case| case["operations"][operation].is_u64()), "{operation} was never done");
    }
    // Cases say what they come from, and keep their canaries.
    let case = project.read("one/cases/py-archive-import/case.yaml");
    let digest = report["twisted_from"].as_str().unwrap();
    assert!(case.contains(&format!("twisted_from:\n  suite: \"{digest}\"\n  seed: 7\n")), "{case}");
    assert!(case.contains("canary: \"karat-canary-"), "{case}");
    assert!(!project.read("one/cases/sql-sales-report/case.yaml").contains("twisted_from"));
}

#[test]
fn proofs_hold_on_the_twisted_suite() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here");
    }
    let (project, suite) = (Project::new(), code_review());
    let cases = "py-archive-import py-contact-merge py-spool-worker js-event-batcher js-line-reader js-token-bucket \
                 c-mail-headers c-sample-reader";
    let ran = project.run(&format!("suite twist {suite} --to t --seed 3 --only {cases} --prove --json -q"));
    let report: Value = serde_json::from_str(&ran.expect(0).out).unwrap();
    let proofs = report["proved"]["proofs"].as_array().unwrap();
    assert!(!proofs.is_empty());
    for proof in proofs {
        match proof["verdict"].as_str().unwrap() {
            "proven" => {}
            "no_toolchain" => report_skipped(&format!("{} has no toolchain here", proof["case"])),
            other => panic!("{other}: {proof}"),
        }
    }
}

#[test]
fn long_files_are_copied() {
    let project = Project::new();
    small_suite(&project, 2);
    project.write("s/cases/c2/after/app.py", format!("{CODE}{}", "# More.\n".repeat(40_000)));
    let report = project.json("suite twist s --to t --json -q");
    assert!(report["cases"][0]["copied_because"].is_null(), "{report}");
    assert_eq!(report["cases"][1]["copied_because"], "a file of its code is longer than 256 KiB");
}

/// Proofs that a change of names, and any change, breaks: it is taken back, and the copy holds.
#[test]
fn what_breaks_a_proof_is_taken_back() {
    let project = Project::new();
    project.write("s/karat.toml", "[suite]\nname = \"small\"\n");
    let after = "import os\n\n\ndef pick(rows, size):\n    chosen = rows[:size + 1]\n    return chosen\n\n\n\
                 def drop(rows):\n    return [row for row in rows if row]\n\n\ndef keep(rows):\n    return pick(rows, 1)\n";
    let patch = "--- a/app.py\n+++ b/app.py\n@@ -2,5 +2,5 @@\n \n \n def pick(rows, size):\n-    chosen = rows[:size + 1]\n\
                 +    chosen = rows[:size]\n     return chosen\n";
    let fixed = after.replace("size + 1", "size");
    let by_name = "word=$(printf 'cho%s' sen)\ngrep -qw \"$word\" *.py && ! grep -q 'size + 1' *.py\n";
    let by_text = "test \"$(cat app.py)\" = \"$(base64 -d expected)\"\n";
    for (id, script) in [("name", by_name), ("text", by_text)] {
        let case = format!(
            "id: {id}\nlanguage: python\ncanary: canary-{id}\nissues:\n  - id: g\n    title: One too many\n    \
             file: app.py\n    line_start: 5\n    proof:\n      run: [sh, proof.sh]\n      files: proofs/g\n      fixed: fixed/g.patch\n"
        );
        project.write(&format!("s/cases/{id}/case.yaml"), case);
        project.write(&format!("s/cases/{id}/before/app.py"), &fixed);
        project.write(&format!("s/cases/{id}/after/app.py"), after);
        project.write(&format!("s/cases/{id}/proofs/g/proof.sh"), script);
        project.write(&format!("s/cases/{id}/proofs/g/expected"), BASE64_STANDARD.encode(&fixed));
        project.write(&format!("s/cases/{id}/fixed/g.patch"), patch);
    }
    project.ok("suite prove s -q");
    project.ok("suite twist s --to plain -q");
    project.run("suite prove plain -q").expect(1);
    let ran = project.run("suite twist s --to t --prove --json -q").expect(0);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let [name, text] = [0, 1].map(|at| &report["cases"][at]);
    assert_eq!((&name["case"], &name["dropped"]), (&json!("name"), &json!(["rename"])), "{report}");
    assert!(name["copied_because"].is_null() && name["operations"]["dead-code"].is_u64(), "{name}");
    assert_eq!(text["copied_because"], "its proofs do not hold on variants of it", "{text}");
    assert_eq!(project.read("t/cases/text/after/app.py"), after);
    assert!(!project.read("t/cases/text/case.yaml").contains("twisted_from"));
    let table = project.run("suite twist s --to u --prove -q").expect(0).out;
    assert!(table.contains("name without rename: its proofs did not hold with it"), "{table}");
}

const CODE: &str = "import os\n\n\ndef first(path, names):\n    for name in names:\n        os.remove(path + name)\n\n\n\
                    def second(path, names):\n    return [first(path, [name]) for name in names]\n\n\n\
                    def third(rows):\n    found = [row for row in rows if row]\n    return len(found)\n";

/// A suite of some cases with one golden each, on the line that removes files.
fn small_suite(project: &Project, cases: usize) {
    project.write("s/karat.toml", "[suite]\nname = \"small\"\n");
    for at in 0..cases {
        let case = format!(
            "id: c{at}\nlanguage: python\ncanary: canary-{at}\nmade: 2026-01-0{at}\nissues:\n  - id: g\n    \
             title: Joined without a separator\n    file: app.py\n    line_start: 6\n    line_end: 6\n    \
             quote: \"os.remove(path + name)\"\n    keywords: [separator]\n",
            at = at + 1
        );
        project.write(&format!("s/cases/c{}/case.yaml", at + 1), case);
        project.write(&format!("s/cases/c{}/before/app.py", at + 1), "import os\n");
        project.write(&format!("s/cases/c{}/after/app.py", at + 1), CODE);
    }
}

/// Where the golden of a case is, and what its file is called.
fn place(project: &Project, suite: &str, case: &str) -> (String, u64) {
    let text = project.read(&format!("{suite}/cases/{case}/case.yaml"));
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        line.trim().trim_matches('"').to_owned()
    };
    (value("file:"), value("line_start:").parse().unwrap())
}

/// A finding at the place of each golden that is in the list.
fn submission(project: &Project, suite: &str, tool: &str, cases: usize, found: &[usize]) -> String {
    let all: Vec<Value> = (1..=cases)
        .map(|at| {
            let (file, line) = place(project, suite, &format!("c{at}"));
            let finding =
                json!({ "id": "f", "message": "Joined without a separator", "file": file, "line_start": line });
            let findings = if found.contains(&at) { json!([finding]) } else { json!([]) };
            trial(&format!("c{at}"), tool, 1, findings)
        })
        .collect();
    lines(&all)
}

#[test]
fn a_tool_that_remembers_loses_what_it_recites() {
    let project = Project::new();
    small_suite(&project, 8);
    for at in 1..=8 {
        project.write(&format!("s/cases/c{at}/before/app.py"), CODE.replace("path + name", "os.path.join(path, name)"));
    }
    project.ok("suite twist s --to t --seed 5 -q");
    project.ok("check t --strict");
    let (old, new) = (place(&project, "s", "c1"), place(&project, "t", "c1"));
    assert!(old.1.abs_diff(new.1) > 5, "the golden must have another place: {old:?} {new:?}");
    // One case could not be twisted: it is left out of the comparison.
    let copied = project.read("t/cases/c8/case.yaml");
    project.write("t/cases/c8/case.yaml", copied.split("twisted_from").next().unwrap());
    let all: Vec<usize> = (1..=8).collect();
    // What was recorded on the original, byte for byte. Its words still name every golden.
    let recited = submission(&project, "s", "recites", 8, &all);
    for suite in ["s", "t"] {
        let text = format!("{recited}{}", submission(&project, suite, "reads", 8, &all));
        project.write(&format!("{suite}.jsonl"), text);
        project.ok(&format!("score {suite} --submission {suite}.jsonl --judge none -o {suite}.json -q"));
    }
    let comparison = project.json("compare s.json t.json --twisted --json --metric f1");
    let of = |tool: &str| {
        let pairs = comparison["comparisons"].as_array().unwrap();
        pairs.iter().find(|pair| pair["a"]["tool"] == tool).unwrap().clone()
    };
    let recites = of("recites");
    assert_eq!(recites["cases"], 7);
    assert_eq!(recites["left_out"][0]["cases"], json!(["c8"]));
    let twisted = &recites["twisted"];
    assert_eq!(
        ["found", "still_found", "lost", "gained", "neither"].map(|key| twisted[key].as_u64().unwrap()),
        [7, 0, 7, 0, 0]
    );
    assert_eq!((&twisted["lost_elsewhere"], &twisted["elsewhere"]), (&json!(7), &json!([0, 7])), "{twisted}");
    // Seven of seven changed in one direction: 2 · 0.5⁷.
    assert!((twisted["p"].as_f64().unwrap() - 0.015625).abs() < 1e-9, "{twisted}");
    let lost: Vec<&str> =
        recites["goldens"]["lost"].as_array().unwrap().iter().map(|own| own["case"].as_str().unwrap()).collect();
    assert_eq!(lost, ["c1", "c2", "c3", "c4", "c5", "c6", "c7"]);
    let statement = twisted["statement"].as_str().unwrap();
    assert!(
        statement
            .starts_with("of 7 goldens found on the original, 0 are found on the twisted cases; 7 were lost (100.0 %,"),
        "{statement}"
    );
    assert!(
        statement.contains("); 7 of them were reported at another place, such as that of the original;"),
        "{statement}"
    );
    assert!(statement.contains("recall, wherever goldens are reported, changes by 0.0 points"), "{statement}");
    let reads = &of("reads")["twisted"];
    assert_eq!([&reads["found"], &reads["lost"]].map(|own| own.as_u64().unwrap()), [7, 0]);
    assert_eq!(reads["elsewhere"], json!([0, 0]));
    let text = project.ok("compare s.json t.json --twisted --tools recites");
    assert!(text.contains("Of 7 goldens found on the original"), "{text}");
    project.ok("compare s.json t.json --twisted -o twisted.md");
    assert!(
        project.read("twisted.md").contains("**Of 7 goldens found on the original"),
        "{}",
        project.read("twisted.md")
    );
    // Only a suite that was twisted from the first is compared.
    project.run("compare s.json t.json").expect_error(4, &["different suites or versions"]);
    project.run("compare t.json s.json --twisted").expect_error(4, &["name the report on the original first"]);
    project.run("compare s.json s.json --twisted").expect_error(4, &["of no twisted suite", "karat suite twist"]);
    project.run("compare s.json --twisted").expect_error(2, &["compares two reports"]);
    // With less details a report does not say where goldens were reported, which is not nowhere.
    project.ok("report s.json --detail none -o none.json");
    project.ok("report s.json --detail misses -o misses.json");
    for detail in ["none", "misses"] {
        let report = format!("the report of recites ({detail}.json)");
        let refused = [report.as_str(), "does not say where goldens were reported", "--detail all"];
        project.run(&format!("compare {detail}.json t.json --twisted")).expect_error(4, &refused);
    }
    project.write("s/cases/c1/before/app.py", "import sys\n");
    project.ok("score s --submission s.jsonl --judge none -o changed.json -q");
    project.run("compare changed.json t.json --twisted").expect_error(4, &["another version of this one", "again"]);
}

/// What is not done is said, and lists are folded unless all is wanted.
#[test]
fn copied_and_barely_twisted_cases_are_named_by_reason() {
    let project = Project::new();
    small_suite(&project, 8);
    let read = format!("{CODE}\n\ndef fourth(text):\n    return eval(text)\n");
    for at in 1..=7 {
        project.write(&format!("s/cases/c{at}/before/app.py"), read.replace("path + name", "path"));
        project.write(&format!("s/cases/c{at}/after/app.py"), &read);
    }
    let usual = project.ok("suite twist s --to t");
    assert!(
        usual.contains("7 cases without rename, code with `eval` may depend on names: c1, c2, c3, c4, c5 and 2 more"),
        "{usual}"
    );
    let all = project.ok("suite twist s --to u -v");
    assert!(all.contains("c1, c2, c3, c4, c5, c6, c7\n"), "{all}");
}

#[test]
fn nothing_is_overwritten_and_twins_come_along() {
    let project = Project::new();
    small_suite(&project, 3);
    for (case, twin) in [("c1", "c3"), ("c3", "c1")] {
        let path = format!("s/cases/{case}/case.yaml");
        project.write(&path, format!("{}twin: {twin}\n", project.read(&path)));
    }
    project.write("s/submissions/all.jsonl", "");
    let replay = "[tools.old]\nkind = \"replay\"\nsubmission = \"submissions/all.jsonl\"\n\n";
    let config = format!("{}\n{replay}[scoring]\nprofile = \"karat\"\n", project.read("s/karat.toml"));
    project.write("s/karat.toml", &config);
    project.write("full/mine", "mine\n");
    project.run("suite twist s --to full").expect_error(4, &["full is not empty"]);
    assert_eq!(project.read("full/mine"), "mine\n");
    project.run("suite twist s --to t --only nothing").expect(2);
    let ran = project.run("suite twist s --to t --only c1").expect(0);
    assert!(ran.err.contains("1 file of submissions and kept proofs"), "{}", ran.err);
    assert_eq!(project.read("t/karat.toml"), config.replace(replay, ""));
    let files = contents(&project.path("t"));
    assert!(files.contains_key("cases/c1/case.yaml") && files.contains_key("cases/c3/case.yaml"));
    assert!(!files.keys().any(|path| path.starts_with("cases/c2") || path.starts_with("submissions")));
}

#[test]
fn cases_made_before_the_cutoff_are_shown_apart() {
    let project = Project::new();
    small_suite(&project, 4);
    project.write("s.jsonl", submission(&project, "s", "reads", 4, &[1, 2, 3]));
    let score = |date: &str| {
        project.json(&format!("score s --submission s.jsonl --judge none --json -q --model-cutoff {date}"))
    };
    let report = score("2026-01-02");
    let made = &report["tools"][0]["by"]["made"];
    assert_eq!(made["before cutoff"]["cases"], 2);
    assert_eq!(made["before cutoff"]["metrics"]["recall"]["value"], 1.0);
    assert_eq!(made["after cutoff"]["metrics"]["recall"]["value"], 0.5);
    let warnings = |report: &Value| report["warnings"].to_string();
    assert!(
        warnings(&report).contains("2 cases were made until the model's cutoff, 2026-01-02"),
        "{}",
        warnings(&report)
    );
    let all = score("2027-01-01");
    assert!(warnings(&all).contains("all 4 cases with a date were made until"), "{}", warnings(&all));
    assert!(!warnings(&score("2025-01-01")).contains("cutoff"));
    for bad in ["2026-1-2", "today", "20260102"] {
        project.run(&format!("score s --model-cutoff {bad}")).expect_error(2, &["YYYY-MM-DD"]);
    }
    // A run keeps it: its report and what is scored of it later have the same slice.
    let run = "run s --tool replay:s.jsonl --trials 1 --judge none --store st --json -q --model-cutoff 2026-01-02";
    assert_eq!(project.json(run)["tools"][0]["by"]["made"]["after cutoff"]["cases"], 2);
    let again = project.json("score latest --store st --judge none --json -q");
    assert_eq!(again["tools"][0]["by"]["made"]["after cutoff"]["cases"], 2);
}

#[test]
fn missing_and_repeated_canaries_are_reported() {
    let project = Project::new();
    small_suite(&project, 3);
    let edit = |case: &str, old: &str, new: &str| {
        let path = format!("s/cases/{case}/case.yaml");
        project.write(&path, project.read(&path).replace(old, new));
    };
    project.ok("check s --strict");
    edit("c2", "canary: canary-2\n", "");
    edit("c3", "canary-3", "canary-1");
    let out = project.run("check s --strict").expect(4).out;
    assert!(out.contains("no-canary") && out.contains("`c2` has no canary"), "{out}");
    assert!(out.contains("repeated-canary") && out.contains("`c3` has the canary of `c1`"), "{out}");
    for case in ["c1", "c3"] {
        edit(case, "canary: canary-1\n", "");
    }
    project.ok("check s --strict");
}
