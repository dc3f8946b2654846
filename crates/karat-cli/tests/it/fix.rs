//! `karat fix`: verdicts and figures, what a fixer sees and cannot do, kept results, and what is left out.

use crate::project::{Project, lines, near, report_skipped, trial};
use crate::run::sandboxed;
use serde_json::{Value, json};

const PATCH: &str = "--- a/value\n+++ b/value\n@@ -1 +1 @@\n-wrong\n+right\n";
const PROVES: &str = "grep -qx right value\n";

/// Adds a case whose code is `value`, which is `wrong` and should be `right`.
fn add_case(project: &Project, id: &str, script: &str) {
    let case = format!(
        "id: {id}\nlanguage: shell\nissues:\n  - id: g\n    title: The value is not the one that was asked for\n    file: value\n    \
         line_start: 1\n    proof:\n      run: [sh, proof.sh]\n      files: proofs/g\n      fixed: fixed/g.patch\n"
    );
    project.write(&format!("s/cases/{id}/case.yaml"), case);
    project.write(&format!("s/cases/{id}/before/value"), "none\n");
    project.write(&format!("s/cases/{id}/after/value"), "wrong\n");
    project.write(&format!("s/cases/{id}/proofs/g/proof.sh"), script);
    project.write(&format!("s/cases/{id}/fixed/g.patch"), PATCH);
}

/// Writes what the only value of the code should be, if the finding says it.
const OBEYS: &str = "new=$(sed -n 's/.*should be \\([a-z]*\\).*/\\1/p' \"$KARAT_FINDING_FILE\")\n\
                     if [ -n \"$new\" ]; then echo \"$new\" > value; fi\n";

/// Adds a fixer that runs a shell script in the folder of the code.
fn add_fixer(project: &Project, name: &str, script: &str, more: &str) {
    project.write(&format!("fixers/{name}/{name}.sh"), script);
    project.write(
        &format!("fixers/{name}/{name}.toml"),
        format!("kind = \"fixer\"\ncommand = [\"sh\", \"{name}.sh\"]\n{more}"),
    );
}

/// A finding on the line of the golden.
fn finding(message: &str) -> Value {
    json!([{ "id": "f1", "title": "The value", "message": message, "file": "value", "line_start": 1 }])
}

/// A suite with two cases, a reviewer who says what is wrong in one of them, and a fixer that does what a finding says.
fn project() -> Project {
    let project = Project::new().with("s/karat.toml", "[suite]\nname = \"repairs\"\n");
    add_case(&project, "a", PROVES);
    add_case(&project, "b", PROVES);
    let trials = [
        trial("a", "clear", 1, finding("it should be right")),
        trial("b", "clear", 1, finding("so it should be right")),
        trial("a", "vague", 1, finding("something is wrong")),
        trial("b", "vague", 1, json!([])),
    ];
    project.write("trials.jsonl", lines(&trials));
    add_fixer(&project, "obeys", OBEYS, "");
    project
}

fn fix(project: &Project, fixer: &str, more: &str) -> Value {
    let line = format!(
        "fix s --submission trials.jsonl --judge none --with fixers/{fixer}/{fixer}.toml --store kept --json -q {more}"
    );
    project.json(&line)
}

/// `tool case verdict`, with a star where the result was kept, one line each.
fn verdicts(report: &Value) -> String {
    let line = |fix: &Value| {
        let star = if fix["is_kept"] == true { "*" } else { "" };
        let text = |key: &str| fix[key].as_str().unwrap().to_owned();
        format!("{} {} {}{star}\n", text("tool"), text("case"), text("verdict"))
    };
    report["fixes"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn finding_that_says_enough_is_repaired() {
    let project = project();
    let report = fix(&project, "obeys", "");
    // The same finding about another case is another one.
    assert_eq!(verdicts(&report), "clear a repaired\nclear b repaired\nvague a not_repaired\n");
    assert_eq!(report["schema"], "karat.fix/1");
    for (tool, found, all, of_found) in [(0, 2, 1.0, Some(1.0)), (1, 1, 0.0, Some(0.0))] {
        let figures = &report["tools"][tool];
        assert_eq!((&figures["goldens"], &figures["found"]), (&json!(2), &json!(found)));
        near(figures, "/fix_through/value", all);
        assert_eq!(figures["fix_through_found"]["value"].as_f64(), of_found);
    }
    // Wilson's interval of none of two ends at z² / (2 + z²).
    let high = report["tools"][1]["fix_through"]["ci"][1].as_f64().unwrap();
    assert!((high - 0.657_619).abs() < 1e-4, "{high}");
    assert!(
        report["fixes"][2]["reason"].as_str().unwrap().starts_with("the proof: it ended with exit code 1"),
        "{report}"
    );
    // Nothing is written into the suite.
    assert!(!project.path("s/proofs.json").exists() && !project.path("s/.karat").exists());
    assert_eq!(project.read("s/cases/a/after/value"), "wrong\n");
}

#[test]
fn nothing_is_run_again() {
    let project = project();
    let runs = project.path("runs");
    std::fs::create_dir(&runs).unwrap();
    // Each run leaves a file.
    let script = format!("{OBEYS}mktemp {}/XXXXXX > /dev/null\n", runs.display());
    add_fixer(&project, "counts", &script, &format!("writable = [{:?}]\n", runs.display().to_string()));
    let count = || std::fs::read_dir(&runs).unwrap().count();
    fix(&project, "counts", "--only a");
    assert_eq!(count(), 2);
    let stopped = fix(&project, "counts", "");
    assert_eq!(verdicts(&stopped), "clear a repaired*\nclear b repaired\nvague a not_repaired*\n");
    assert_eq!(count(), 3);
    let again = fix(&project, "counts", "");
    assert_eq!(verdicts(&again), "clear a repaired*\nclear b repaired*\nvague a not_repaired*\n");
    assert_eq!(count(), 3);
    assert_eq!(again["tools"], stopped["tools"]);
    assert_eq!(verdicts(&fix(&project, "counts", "--force --tool vague")), "vague a not_repaired\n");
    assert_eq!(count(), 4);

    // Another finding, other code, another proof and another fixer each need a new run.
    project.write("trials.jsonl", lines(&[trial("a", "clear", 1, finding("it really should be right"))]));
    assert_eq!(verdicts(&fix(&project, "counts", "")), "clear a repaired\n");
    project.write("s/cases/a/after/other", "more\n");
    assert_eq!(verdicts(&fix(&project, "counts", "")), "clear a repaired\n");
    project.write("s/cases/a/proofs/g/proof.sh", "grep -q right value\n");
    assert_eq!(verdicts(&fix(&project, "counts", "")), "clear a repaired\n");
    assert_eq!(verdicts(&fix(&project, "counts", "")), "clear a repaired*\n");
    project.write("fixers/counts/counts.sh", format!("{script}# changed\n"));
    assert_eq!(verdicts(&fix(&project, "counts", "")), "clear a repaired\n");
    assert_eq!(count(), 8);
}

/// The same finding in several trials is repaired once, and a golden weighs the same however many trials there are.
#[test]
fn trials_are_averaged_within_a_golden() {
    let project = project();
    let trials: Vec<Value> = (1..=4)
        .flat_map(|number| {
            let a = if number == 4 { "something is wrong" } else { "it should be right" };
            [trial("a", "t", number, finding(a)), trial("b", "t", number, json!([]))]
        })
        .collect();
    project.write("trials.jsonl", lines(&trials));
    let report = fix(&project, "obeys", "");
    assert_eq!(verdicts(&report), "t a repaired\nt a repaired*\nt a repaired*\nt a not_repaired\n");
    let tool = &report["tools"][0];
    assert_eq!((&tool["goldens"], &tool["trials"], &tool["found"]), (&json!(2), &json!(8), &json!(4)));
    near(tool, "/fix_through/value", 0.375);
    near(tool, "/fix_through_found/value", 0.75);
    assert_eq!((&tool["fix_through"]["n"], &tool["fix_through_found"]["n"]), (&json!(2), &json!(1)));
}

/// What a fixer does wrong counts against the finding, and is told apart.
#[test]
fn fixer_that_fails_repairs_nothing() {
    let project = project();
    project.write("trials.jsonl", lines(&[trial("a", "t", 1, finding("it should be right"))]));
    let check = |name: &str, script: &str, more: &str, verdict: &str, reason: &str| {
        add_fixer(&project, name, script, more);
        let report = fix(&project, name, "");
        assert_eq!(report["fixes"][0]["verdict"], verdict, "{name}: {report}");
        let why = report["fixes"][0]["reason"].as_str().unwrap_or_default();
        assert!(why.contains(reason), "{name}: {why}");
        report["tools"][0].clone()
    };
    let tool =
        check("crashes", "echo right > value\necho no luck >&2\nexit 9\n", "", "failed", "it exited with 9: no luck");
    assert_eq!((&tool["failed"], &tool["found"]), (&json!(1), &json!(1)));
    near(&tool, "/fix_through/value", 0.0);
    check("hangs", "sleep 600\n", "timeout = \"1s\"\n", "failed", "it took longer than 1 s");
    check("missing", "no-such-program-7131\n", "", "failed", "it exited with 127");
    let removes = "cd \"$KARAT_CHECKOUT\" && rm -rf ./* && rmdir \"$KARAT_CHECKOUT\"\nexit 0\n";
    check("removes", removes, "", "broken", "the folder of the code is gone");
    assert_eq!(verdicts(&fix(&project, "removes", "")), "t a broken\n", "it is tried again");
    check("empties", "rm -rf ./* ./.[!.]*\n", "", "not_repaired", "");
    check("nothing", "exit 0\n", "", "not_repaired", "it ended with exit code 1");
    check("pipe", "rm value\nmkfifo value\n", "", "not_repaired", "");
    // An outage says nothing about the finding.
    let tool = check("outage", "exit 75\n", "infra_exit = [75]\n", "unavailable", "infra_exit");
    assert_eq!((&tool["unavailable"], &tool["goldens"]), (&json!(1), &json!(1)));
    assert_eq!(tool["fix_through"]["value"], json!(0.0), "b was not found");
    assert_eq!(verdicts(&fix(&project, "outage", "")), "t a unavailable\n", "it is tried again");
    assert_eq!(verdicts(&fix(&project, "crashes", "")), "t a failed*\n");
    project.write("s/note", "");
    assert_eq!(verdicts(&fix(&project, "crashes", "--retry-failed")), "t a failed\n");
}

/// The proof is laid over what the fixer left, whatever that is, and nothing of the fixer's is followed or kept.
#[test]
fn fixer_cannot_replace_the_proof() {
    let project = project();
    project.write("trials.jsonl", lines(&[trial("a", "t", 1, finding("it should be right"))]));
    for (name, script) in [
        ("writes", "echo exit 0 > proof.sh\n"),
        ("links", "ln -s /bin/true proof.sh\n"),
        ("folder", "mkdir proof.sh && touch proof.sh/x\n"),
        ("readonly", "echo exit 0 > proof.sh\nchmod 400 proof.sh\nchmod 500 .\n"),
        ("unreadable", "chmod 000 value\nchmod 000 .\n"),
        ("home", "echo exit 0 > \"$HOME/proof.sh\"\necho 'exit 0' > \"$HOME/.profile\"\n"),
    ] {
        add_fixer(&project, name, script, "");
        assert_eq!(verdicts(&fix(&project, name, "")), "t a not_repaired\n", "{name}");
    }
    // What is repaired stays repaired, whatever else is there.
    for (name, script) in [("also", "echo exit 1 > proof.sh\n"), ("locked", "chmod 000 value\nchmod 000 .\n")] {
        add_fixer(&project, name, &format!("{OBEYS}{script}"), "");
        assert_eq!(verdicts(&fix(&project, name, "")), "t a repaired\n", "{name}");
    }
    // A link in the place of a folder of the proof leads nowhere.
    std::fs::create_dir(project.path("elsewhere")).unwrap();
    project.write("s/cases/a/proofs/g/deep/helper.sh", PROVES);
    project.write("s/cases/a/proofs/g/proof.sh", "sh deep/helper.sh\n");
    let link = format!("{OBEYS}ln -s {} deep\n", project.path("elsewhere").display());
    add_fixer(&project, "away", &link, "");
    assert_eq!(verdicts(&fix(&project, "away", "")), "t a repaired\n");
    assert_eq!(std::fs::read_dir(project.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn fixer_sees_the_finding_and_the_code_alone() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing keeps a fixer from looking");
    }
    let project = project();
    let root = project.path("").canonicalize().unwrap();
    // The name of the tool is in no other word that the fixer is given.
    project.write("trials.jsonl", lines(&[trial("a", "clear", 1, finding("it should be right"))]));
    // It repairs only if nothing that could help it is there.
    let script = format!(
        "root={}\n\
         for place in \"$root/s/cases/a/case.yaml\" \"$root/s/cases/a/proofs/g/proof.sh\" \"$root/trials.jsonl\" \"$root/kept/fixes\" \\\n\
         proof.sh proofs fixed case.yaml before .git ../proofs ../fixed ../case.yaml ../request/change.diff ../request/title.txt; do\n\
         [ -e \"$place\" ] && cat \"$place\" >&2 && exit 8\n\
         done\n\
         env | grep -E 'KARAT_(PR|DIFF|BASE|HEAD|TITLE)' >&2 && exit 8\n\
         [ \"$(ls -A)\" = value ] || exit 8\n\
         grep -q '\"id\": \"finding\"' \"$1\" || exit 8\n\
         grep -q clear \"$1\" && exit 8\n\
         {OBEYS}",
        root.display()
    );
    add_fixer(&project, "looks", &script, "");
    let manifest = project.read("fixers/looks/looks.toml").replace("\"looks.sh\"", "\"looks.sh\", \"{finding_file}\"");
    project.write("fixers/looks/looks.toml", manifest);
    let report = fix(&project, "looks", "");
    assert_eq!(verdicts(&report), "clear a repaired\n", "{report}");
}

#[test]
fn fixer_may_print_a_diff() {
    let project = project();
    project.write("trials.jsonl", lines(&[trial("a", "t", 1, finding("it should be right"))]));
    let diff = "cat <<'END'\n--- a/value\n+++ b/value\n@@ -1 +1 @@\n-wrong\n+right\nEND\n";
    for (name, script, more, expect) in [
        // What it writes into the folder does not count.
        ("prints", format!("rm value\n{diff}"), "", "repaired"),
        ("writes", format!("({diff}) > \"$KARAT_OUTPUT\"\n"), "env = { X = \"{output}\" }\n", "repaired"),
        ("nothing", "echo right > value\n".to_owned(), "", "not_repaired"),
        ("other", diff.replace("-wrong", "-else"), "", "failed"),
        // What it makes beside the code is not in the way.
        ("blocks", format!("mkdir ../patched ../../patched 2> /dev/null\n{diff}"), "", "repaired"),
        ("outside", diff.replace("b/value", "b/../../value"), "", "failed"),
    ] {
        add_fixer(&project, name, &script, &format!("format = \"diff\"\n{more}"));
        let report = fix(&project, name, "");
        assert_eq!(report["fixes"][0]["verdict"], expect, "{name}: {report}");
    }
}

/// A proof that does not hold here decides nothing, and its golden is named.
#[test]
fn goldens_without_a_proof_that_holds_are_left_out() {
    let project = project();
    add_case(&project, "c", "exit 0\n");
    add_case(&project, "d", "exit 4\n");
    let trials = ["a", "c", "d"].map(|case| trial(case, "t", 1, finding("it should be right")));
    project.write("trials.jsonl", lines(&trials));
    let plain = "id: e\nissues:\n  - id: g\n    title: Nothing proves this\n    file: value\n    line_start: 1\n";
    project.write("s/cases/e/case.yaml", plain);
    project.write("s/cases/e/after/value", "wrong\n");
    let report = fix(&project, "obeys", "");
    assert_eq!(verdicts(&report), "t a repaired\n");
    let left_out = report["left_out"].as_array().unwrap().iter();
    let left_out: Vec<(&str, &str)> =
        left_out.map(|own| (own["case"].as_str().unwrap(), own["verdict"].as_str().unwrap())).collect();
    assert_eq!(left_out, [("c", "passes_on_both"), ("d", "no_toolchain")]);
    assert_eq!((&report["without_proof"], &report["tools"][0]["goldens"]), (&json!(1), &json!(2)));
    near(&report, "/tools/0/fix_through/value", 0.5);
    let flags = "--submission trials.jsonl --judge none --with fixers/obeys/obeys.toml --store kept -q";
    let text = project.ok(&format!("fix s {flags}"));
    for part in
        ["2 goldens have proofs that do not hold here", "1 required golden has no proof", "c g", "passes on both"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Verdicts that are kept in the suite are used if the toolchain is the same. The proof that says it has none is tried again.
    let controls = |store: &str| {
        let flags = "--submission trials.jsonl --judge none --with fixers/obeys/obeys.toml";
        let ran = project.run(&format!("fix s {flags} --store {store} --json")).expect(0);
        assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["tools"], report["tools"]);
        let line = ran.err.lines().find(|line| line.contains("on the change and on its fix")).unwrap_or_default();
        line.split(" on the change").next().unwrap().to_owned()
    };
    assert_eq!(controls("fresh1"), "running 4 proofs");
    project.run("suite prove s -q").expect(1);
    assert_eq!(controls("fresh2"), "running 1 proof");

    let message = "no required golden of the selected cases of repairs has a proof";
    project.run(&format!("fix s {flags} --only e")).expect_error(4, &[message, "docs/writing-cases.md"]);
    project.run(&format!("fix s {flags} --only absent")).expect_error(2, &["no case of the suite matches `absent`"]);
    project.run(&format!("fix starter {flags}")).expect_error(4, &["unknown-case"]);
}

/// A repair must hold twice.
#[test]
fn repair_that_holds_once_is_none() {
    let project = project();
    project.write("trials.jsonl", lines(&[trial("a", "t", 1, finding("it should be right"))]));
    let script = format!("grep -q lucky value && test \"$KARAT_TRIAL\" != 1 && exit 1\n{PROVES}");
    project.write("s/cases/a/proofs/g/proof.sh", script);
    add_fixer(&project, "lucky", "printf 'right\\nlucky\\n' > value\n", "");
    let report = fix(&project, "lucky", "--only a");
    assert_eq!(verdicts(&report), "t a not_repaired\n", "{report}");
    let reason = report["fixes"][0]["reason"].as_str().unwrap();
    assert!(reason.ends_with("when it was run again"), "{reason}");
}

#[test]
fn run_is_repaired_and_reported() {
    let project = project();
    project.run("run s --tool replay:trials.jsonl --judge none --store kept -q").expect(0);
    let line = "fix latest --with fixers/obeys/obeys.toml --store kept --tool clear";
    let ran = project.run(&format!("{line} -o fix.json -o fix.md --report r.json --report r.html")).expect(0);
    assert!(ran.out.contains("fix-through") && ran.out.contains("clear") && !ran.out.contains("vague"), "{}", ran.out);
    let report: Value = serde_json::from_str(&project.read("fix.json")).unwrap();
    assert_eq!(verdicts(&report), "clear a repaired\nclear b repaired\n");
    let markdown = project.read("fix.md");
    assert!(markdown.contains("| clear | 2 | 2 | 2 | 0 | 1.000 (.34–1)"), "{markdown}");
    let whole: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    near(&whole, "/tools/0/metrics/fix_through/value", 1.0);
    for verbosity in ["", "-v", "-q"] {
        let shown = project.ok(&format!("report r.json {verbosity}"));
        assert!(shown.contains("fix-through") && shown.contains("of found"), "{verbosity}: {shown}");
    }
    let unknown = "fix latest --with fixers/obeys/obeys.toml --store kept --tool nobody";
    project.run(unknown).expect_error(2, &["run latest: no trials of nobody", "Available: ", "clear"]);
    project.run("gate r.json --min fix_through=0.3 --allow-small-n").expect(0);
    project.run("gate r.json --min fix_through=0.9 --allow-small-n").expect(3);
    assert!(project.read("r.html").contains("fix-through"));
    // A report without a fixer says so.
    project.run("score s --submission trials.jsonl --judge none -o s.json -q").expect(0);
    assert!(!project.ok("report s.json -v").contains("of found"));
    let scored: Value = serde_json::from_str(&project.read("s.json")).unwrap();
    assert_eq!(scored["tools"][0]["metrics"]["fix_through"]["undefined"], "no fixer was run");
    // The store is still one.
    assert!(project.ok("store verify --store kept").contains("1 run"));
}

#[test]
fn fixers_and_reviewers_are_told_apart() {
    let project = project();
    let flags = "--submission trials.jsonl --judge none --store kept -q";
    project
        .run(&format!("fix s {flags} --with patterns"))
        .expect_error(2, &["`patterns` is no fixer", "kind = \"patterns\""]);
    project.run(&format!("fix s {flags} --with nosuch")).expect_error(2, &["unknown tool `nosuch`"]);
    project.run(&format!("fix s {flags}")).expect_error(2, &["--with <FIXER>"]);
    let refused = &["it is a fixer, which reports nothing itself", "karat fix --with"];
    project.run("run s --tool fixers/obeys/obeys.toml --store kept -q").expect_error(4, refused);
    // A fixer of the suite is not run with its tools, and may be named.
    project.write(
        "s/karat.toml",
        "[suite]\nname = \"repairs\"\n[tools.grep]\nkind = \"fixer\"\ncommand = [\"sed\", \"-i\", \"s/wrong/right/\", \"{checkout}/value\"]\n",
    );
    project.ok("check s --strict");
    let plan = project.json("run s --dry-run --json --store kept");
    assert_eq!(plan["tools"][0]["name"], "patterns");
    let report = project.json(&format!("fix s {flags} --json --with grep"));
    assert_eq!(verdicts(&report), "clear a repaired\nclear b repaired\nvague a repaired\n");
    for (more, fault) in [
        ("format = \"sarif\"\n", "unknown format `sarif` of a fixer"),
        ("retries = 2\n", "has no effect for kind = \"fixer\""),
        ("env = { X = \"{diff_file}\" }\n", "`{diff_file}` has no value here"),
    ] {
        add_fixer(&project, "bad", "exit 0\n", more);
        project.run(&format!("fix s {flags} --with fixers/bad/bad.toml")).expect_error(4, &[fault]);
    }
    let reviewer = "command = [\"sh\", \"{finding_file}\"]\nformat = \"sarif\"\n";
    project.write("reviewer/reviewer.toml", reviewer);
    project
        .run("run s --tool reviewer/reviewer.toml --store kept")
        .expect_error(4, &["`{finding_file}` has no value here"]);
}
