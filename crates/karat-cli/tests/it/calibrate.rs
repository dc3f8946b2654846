//! `karat calibrate`: values of a profile fitted to human judgements.

use crate::data::shared;
use crate::project::{Project, lines, number, root, suite, trial};
use serde_json::{Value, json};

/// An audited tool: in how many of three cases it finds and reports the target, how well it understands it, whether
/// it also invents something, and its stated confidence.
struct Tool(&'static str, usize, f64, bool, f64);

const TOOLS: [Tool; 6] = [
    Tool("ash", 3, 0.25, true, 0.5),
    Tool("birch", 2, 1.0, false, 0.75),
    Tool("cedar", 3, 0.5, true, 1.0),
    Tool("elm", 1, 1.0, false, 0.25),
    Tool("fir", 2, 0.25, false, 1.0),
    Tool("oak", 1, 0.5, true, 0.75),
];

/// A suite of three cases with a target and one safe case, with trials of six tools and their audits.
fn audited_suite() -> Project {
    let case = |id: &str| json!({ "id": id, "issues": [{ "id": "g", "title": "Reentrancy", "target": true }] });
    let mut project = suite(&[case("a"), case("b"), case("c"), json!({ "id": "safe", "verdict": "safe" })]);
    let (mut trials, mut audits) = (Vec::new(), Vec::new());
    for Tool(name, found, level, invents, sure) in TOOLS {
        for (at, id) in ["a", "b", "c", "safe"].into_iter().enumerate() {
            let hit = at < found;
            let mut findings = Vec::new();
            findings.extend(hit.then(|| json!({ "finding": "f1", "classification": "TARGET_MATCH" })));
            findings.extend(invents.then(|| json!({ "finding": "f2", "classification": "HALLUCINATED" })));
            trials.push(trial(id, name, 1, json!([{ "id": "f1", "title": "x" }, { "id": "f2", "title": "y" }])));
            let mut audit = json!({ "case": id, "tool": name, "trial": 1, "judge": "aud", "kind": "audit",
                "said_vulnerable": hit, "confidence_expressed": sure, "findings": findings });
            if id != "safe" {
                audit["target"] = if hit {
                    json!({ "found": true, "finding": "f1", "type_match": "exact", "rcir": level, "ava": level, "fsv": level })
                } else {
                    json!({ "found": false })
                };
            }
            audits.push(audit);
        }
    }
    project = project.with("s.jsonl", lines(&trials)).with("audits.jsonl", lines(&audits));
    project
}

/// The same with its report, and a ranking by two experts who value understanding most.
fn scored_suite() -> Project {
    let project = audited_suite();
    project.run("score . --submission s.jsonl --judgements audits.jsonl --profile audit -o report.json").expect(0);
    project.with(
        "experts.csv",
        "tool,rank,expert\nbirch,1,anna\nelm,2,anna\ncedar,3,anna\noak,4,anna\nash,5,anna\nfir,6,anna\n\
         birch,1,ben\nelm,1,ben\noak,3,ben\ncedar,4,ben\nfir,5,ben\n",
    )
}

#[test]
fn sui_weights_are_fitted_to_rankings() {
    let project = scored_suite();
    insta::assert_snapshot!(project.ok("calibrate sui report.json --ranking experts.csv"), @r"
    weights of sui from rankings of 6 tools by 2 experts

      weight                 current  fitted
      verdict_f2               0.250   0.071
      target_detection_rate    0.250   0.022
      finding_precision        0.150   0.000
      reasoning                0.250   0.901
      calibration              0.100   0.005

      agreement with the experts    Spearman  Kendall
      current weights                  0.505    0.391
      fitted, each tool held out       0.885    0.783
      fitted, each expert held out     0.907    0.802
      fitted, nothing held out         0.936    0.869

      place  experts  current  fitted  held out
      birch      1.2      1.0     1.0       1.0
      elm        1.8      4.0     2.0       2.0
      cedar      3.5      2.0     3.0       3.0
      oak        3.5      6.0     4.0       5.0
      ash        5.0      3.0     5.0       6.0
      fir        5.5      5.0     6.0       5.0

    Keep the current weights. The fitted ones are not recommended: held-out gain in Spearman's rho
    +0.380 (−0.152 to +1.471): 6 tools, and a recommendation needs 30.
    ");
    let fit = project.json("calibrate sui report.json --ranking experts.csv --json");
    let fitted = fit["weights"]["fitted"].as_object().unwrap();
    let sum: f64 = fitted.values().map(|weight| weight.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{fitted:?}");
    assert_eq!(
        (&fit["better"], &fit["gain"]["recommended"], &fit["gain"]["p"]),
        (&json!(false), &json!(false), &Value::Null)
    );
    assert!((number(&fit, "/gain/gain") - 0.380).abs() < 0.001 && fit["gain"]["ci"].is_array(), "{fit:#}");
    assert!(number(&fit, "/weights/fitted/reasoning") > number(&fit, "/weights/present/reasoning"));
    assert_eq!((&fit["experts"], &fit["preferences"]), (&json!(["anna", "ben"]), &json!(24)));
    assert_eq!((fit["tools"].as_array().unwrap().len(), &fit["left_out"]), (6, &json!([])));
    // Scoring in the same command gives the same.
    let line =
        "calibrate sui . --submission s.jsonl --judgements audits.jsonl --profile audit --ranking experts.csv --json";
    assert_eq!(project.json(line), fit);
    // Rankings can also be JSON lines.
    let rows = project.read("experts.csv");
    let line = |row: &str| {
        let [tool, rank, expert] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        json!({ "tool": tool, "rank": rank.parse::<f64>().unwrap(), "expert": expert })
    };
    project.write("experts.jsonl", lines(&rows.lines().skip(1).map(line).collect::<Vec<_>>()));
    assert_eq!(project.json("calibrate sui report.json --ranking experts.jsonl --json"), fit);
}

#[test]
fn fitted_weights_are_written_as_a_profile() {
    let project = scored_suite();
    let fitted = project.json("calibrate sui report.json --ranking experts.csv -o ours.toml --force --json");
    let written = project.read("ours.toml");
    assert!(written.starts_with("# Weights of sui, fitted by") && written.contains("extends = \"audit\""), "{written}");
    let report = project.json("score . --submission s.jsonl --judgements audits.jsonl --profile ours.toml --json");
    assert_eq!((&report["profile"]["sui"], &report["profile"]["name"]), (&fitted["weights"]["fitted"], &json!("ours")));
    // Everything else is unchanged.
    let mut before: Value = serde_json::from_str(&project.read("report.json")).unwrap();
    for key in ["sui", "name"] {
        before["profile"][key] = report["profile"][key].clone();
    }
    assert_eq!(before["profile"], report["profile"]);
}

/// What is not recommended is not written, unless somebody insists.
#[test]
fn values_that_are_not_recommended_are_not_written() {
    let project = scored_suite();
    // Experts who rank the tools as the current weights do.
    let fit = project.json("calibrate sui report.json --ranking experts.csv --json");
    let tools = fit["tools"].as_array().unwrap().iter();
    let rows: String = tools.map(|tool| format!("{},{}\n", tool["tool"].as_str().unwrap(), tool["present"])).collect();
    project.write("agreed.csv", format!("tool,rank\n{rows}"));
    let refused = |line: &str| {
        let ran = project.run(&format!("{line} -o ours.toml"));
        let ran = ran.expect_error(1, &["ours.toml is not written", "--force writes it anyway"]);
        assert!(ran.out.contains("Keep the current"), "{}", ran.out);
        assert!(!project.path("ours.toml").exists());
        project.ok(&format!("{line} -o ours.toml --force"));
        std::fs::remove_file(project.path("ours.toml")).unwrap();
        // Without a file, nothing is asked for that is refused.
        project.ok(line);
    };
    refused("calibrate sui report.json --ranking agreed.csv");
    // With so few tools not even weights that do better are.
    refused("calibrate sui report.json --ranking experts.csv");
    refused("calibrate match starter scanned");
    project.run("calibrate match starter scanned --force").expect(2);
}

/// The parts and the mean are those of the profile that the reports were scored by, or of the one asked for.
#[test]
fn weights_are_fitted_to_the_index_of_the_profile() {
    let project = scored_suite();
    let score = "score . --submission s.jsonl --judgements audits.jsonl --profile audit-strict -o strict.json";
    project.run(score).expect(0);
    let parts = json!(["verdict_f2", "partial_credit_detection", "finding_precision_confirmed", "reasoning", "ece"]);
    let strict = project.json("calibrate sui strict.json --ranking experts.csv --json");
    assert_eq!((&strict["parts"], &strict["mean"]), (&parts, &json!("geometric")));
    let plain = project.json("calibrate sui report.json --ranking experts.csv --json");
    assert_eq!(plain["mean"], "as_published");
    assert_ne!(
        (&strict["agreement"], &strict["weights"]["fitted"]),
        (&plain["agreement"], &plain["weights"]["fitted"])
    );
    let asked = project.json("calibrate sui report.json --ranking experts.csv --profile audit-strict --json");
    assert_eq!(asked, strict);
    let drawn = project.ok("calibrate sui strict.json --ranking experts.csv -o ours.toml --force");
    for wanted in ["partial_credit_detection", "finding_precision_confirmed", "weighted geometric mean"] {
        assert!(drawn.contains(wanted), "{drawn}");
    }
}

#[test]
fn unusable_rankings_are_refused_with_the_reason() {
    let project = scored_suite();
    let check = |ranking: &str, code: i32, expected: &[&str]| {
        project.write("r.csv", ranking);
        project.run("calibrate sui report.json --ranking r.csv").expect_error(code, expected);
    };
    check("", 4, &["the file is empty", "tool,rank"]);
    check("tool,rank\nash,1\nbirch,2\nelm,3\n", 4, &["3 ranked tools", "at least 4"]);
    check("tool,rank\nash,1\nbirch,1\nelm,1\noak,1\n", 4, &["every ranking is a single tie"]);
    check(
        "tool,rank\nash,1\nbich,2\n",
        4,
        &["r.csv:3:1", "unknown tool `bich`: no report has it", "did you mean `birch`?"],
    );
    check("tool,rank\nash,1\nash,2\n", 4, &["ranked `ash`, at line 2", "column `expert`"]);
    check("tool,place\nash,1\n", 4, &["missing column `rank` or `score`"]);
    check("tool,rank\nash,first\n", 4, &["expected a number"]);
    check("{\"tool\": \"ash\", \"rank\": 1, \"mood\": 2}\n", 4, &["mood"]);
    check("\0\0", 4, &["r.csv: this is not text"]);
    project.run("calibrate sui report.json --ranking none.csv").expect_error(4, &["none.csv"]);
    project
        .run("calibrate sui report.json --ranking experts.csv -o ours.json")
        .expect_error(2, &["a profile is a .toml file"]);
    project.run("calibrate sui report.json").expect_error(2, &["--ranking"]);
    project
        .run("calibrate sui report.json report.json --ranking experts.csv")
        .expect_error(4, &["both have the tool `ash`"]);
    project.run("calibrate sui . nowhere --submission s.jsonl --ranking experts.csv").expect_error(2, &["one suite"]);
    // A profile of another kind has other figures.
    project
        .run("score . --submission s.jsonl --judgements audits.jsonl --profile karat --judge none -o k.json")
        .expect(0);
    project.run("calibrate sui report.json k.json --ranking experts.csv").expect_error(4, &["different rules"]);
}

#[test]
fn tools_without_audits_are_skipped_by_name() {
    let project = audited_suite();
    let mut audits: Vec<Value> =
        project.read("audits.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    audits.retain(|audit| audit["tool"] != "oak");
    project.write("audits.jsonl", lines(&audits));
    project.write("r.csv", "tool,score\nash,1\nbirch,9\ncedar,7\nelm,8\noak,3\n");
    let line = "calibrate sui . --submission s.jsonl --judgements audits.jsonl --profile audit --ranking r.csv";
    let ran =
        project.run(line).expect_error(0, &["oak is skipped: it has no `sui`", "fir is skipped: it was not ranked"]);
    assert!(ran.out.contains("rankings of 4 tools by 1 expert"), "{}", ran.out);
    let warning = "oak is skipped: it has no `verdict_f2`: no vulnerable case with a verdict";
    project.run(&line.replace("audit --r", "karat --judge none --r")).expect_error(0, &[warning]);
}

/// The output in the documentation after this command; `KARAT_UPDATE=1` rewrites it.
#[test]
fn matching_rules_are_fitted_to_labels() {
    let command = "karat calibrate match starter scanned --set threshold=0.3";
    let out = Project::new().ok(command.strip_prefix("karat ").unwrap());
    let path = root().join("docs/calibrate.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let start = format!("```console\n$ {command}\n");
    let (before, rest) = text.split_once(&start).unwrap();
    let (documented, after) = rest.split_once("```\n").unwrap();
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{start}{out}```\n{after}")).unwrap();
    } else {
        assert_eq!(documented, out, "the output in docs/calibrate.md is out of date; KARAT_UPDATE=1 rewrites it");
    }
    for wanted in
        ["736 labelled pairs by authors, 313 of them matches", "Use the fitted threshold", "Kept: weights.file"]
    {
        assert!(out.contains(wanted), "{out}");
    }
    let fit = Project::new().json("calibrate match starter scanned --set threshold=0.3 --json");
    assert_eq!((&fit["advice"], &fit["held_out"]["groups"]), (&json!("threshold"), &json!(16)));
    assert_eq!(fit["held_out"]["present_curve"].as_array().unwrap().len(), 21);
    // With the shipped rules there is nothing to gain.
    assert_eq!(Project::new().json("calibrate match starter scanned --json")["advice"], "keep");
    let project = labelled_suite();
    project
        .run("calibrate match . scanned --submission s.jsonl --labels l.jsonl")
        .expect_error(2, &["need exactly one suite"]);
    project.write("karat.toml", "[suite]\nname = \"s\"\n[scoring.override]\nthreshold = 0.5\n");
    project.run("calibrate match . scanned").expect_error(2, &["has no calibration set"]);
}

/// A suite in which only lines are informative, keywords are not, with labels accordingly.
fn labelled_suite() -> Project {
    let mut cases = Vec::new();
    let (mut trials, mut labels) = (Vec::new(), Vec::new());
    for case in 0..6 {
        let id = format!("c{case}");
        cases.push(
            json!({ "id": id, "repo": format!("r{}", case % 2), "issues": [{ "id": "g", "title": "t", "file": "a.py",
            "line_start": 100, "line_end": 110, "keywords": ["cache", "bound"] }] }),
        );
        let mut findings = Vec::new();
        for at in 0..8 {
            let matched = at % 2 == 0;
            let start = if matched { 104 + at } else { 300 + at };
            let message = if (at + case) % 3 == 0 { "the cache has no bound" } else { "something is wrong" };
            findings.push(json!({ "id": format!("f{at}"), "file": "a.py", "line_start": start, "message": message }));
            labels.push(
                json!({ "kind": "pair", "case": id, "tool": "t", "trial": 1, "judge": "human:eve", "golden": "g",
                "finding": format!("f{at}"), "match": matched }),
            );
        }
        trials.push(trial(&id, "t", 1, json!(findings)));
    }
    suite(&cases).with("s.jsonl", lines(&trials)).with("l.jsonl", lines(&labels))
}

#[test]
fn fitted_rules_decide_like_the_labels() {
    let project = labelled_suite();
    let fit = project.json("calibrate match . --submission s.jsonl --labels l.jsonl -o ours.toml --json");
    assert_eq!((&fit["better"], &fit["held_out"]["groups"], &fit["pairs"]), (&json!(true), &json!(6), &json!(48)));
    assert_eq!((number(&fit, "/held_out/f1"), number(&fit, "/held_out/kappa")), (1.0, 1.0));
    let gain = &fit["gains"]["all"];
    assert_eq!((&gain["recommended"], &gain["because"], &fit["advice"]), (&json!(true), &Value::Null, &json!("all")));
    assert!(number(gain, "/p") <= 0.05 && number(gain, "/ci/0") > 0.0, "{gain:#}");
    assert!(number(&fit, "/fitted/weights/line") > number(&fit, "/present/weights/line"));
    let report = project.json("score . --submission s.jsonl --profile ours.toml --judge none --json");
    assert_eq!(report["profile"]["weights"], fit["fitted"]["weights"]);
    assert_eq!(report["profile"]["threshold"], fit["fitted"]["threshold"]);
    // One of four matches is the match, and the others are duplicates: nothing is matched that people do not match.
    assert_eq!(report["tools"][0]["counts"], json!({ "tp": 6, "fp": 24, "fn": 0 }));
    let other = project.json("calibrate match . --submission s.jsonl --labels l.jsonl --group-by repo --json");
    assert_eq!(other["held_out"]["groups"], 2);
    assert_eq!(other["gains"]["all"]["because"], "2 groups, and a recommendation needs 5");
    let out = project.ok("calibrate match . --submission s.jsonl --labels l.jsonl --group-by meta.team");
    assert!(out.contains("nothing could be held out"), "{out}");
}

#[test]
fn unusable_labels_are_refused_with_the_reason() {
    let project = labelled_suite();
    let all: Vec<Value> = project.read("l.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    project.write("few.jsonl", lines(&all[..20]));
    let of = |matched: bool| -> Vec<Value> {
        all.iter()
            .cloned()
            .map(|label| {
                let mut label = label;
                label["match"] = json!(matched);
                label
            })
            .collect()
    };
    project.write("yes.jsonl", lines(&of(true)));
    project.write("no.jsonl", lines(&of(false)));
    project.write("bad.jsonl", "{\"kind\": \"pair\"");
    project.write("empty.jsonl", "");
    let check = |file: &str, expected: &[&str]| {
        project.run(&format!("calibrate match . --submission s.jsonl --labels {file}")).expect_error(4, expected);
    };
    check("few.jsonl", &["20 labelled pairs are too few", "30 are needed"]);
    check("yes.jsonl", &["every labelled pair matches", "both kinds"]);
    check("no.jsonl", &["no labelled pair matches"]);
    check("bad.jsonl", &["bad.jsonl:1"]);
    check("empty.jsonl", &["no pair of these submissions is judged"]);
    check("none.jsonl", &["none.jsonl"]);
    let line = "calibrate match . --submission s.jsonl --labels l.jsonl";
    project.run(&format!("{line} --profile identity")).expect_error(2, &["does not compare scores"]);
    project.run(&format!("{line} --set line_tolerance=1")).expect_error(4, &["allow 24 of the labelled pairs"]);
    project.run(&format!("{line} --group-by colour")).expect_error(2, &["cannot be grouped by `colour`"]);
    project.run("calibrate match . --submission s.jsonl").expect_error(2, &["--labels"]);
    project.run("calibrate match .").expect_error(2, &["has no calibration set"]);
}

/// Settings of a suite override any profile, so a fitted value may have no effect there.
#[test]
fn override_by_the_suite_is_reported() {
    let project = labelled_suite();
    project.write("karat.toml", "[suite]\nname = \"s\"\n[scoring.override]\nthreshold = 0.5\n");
    project
        .run("calibrate match . --submission s.jsonl --labels l.jsonl -o ours.toml")
        .expect_error(0, &["wrote ours.toml", "the suite's karat.toml sets `threshold`"]);
}

/// 1,020 goldens in prose, without locations and keywords: only the threshold can be fitted.
#[test]
fn threshold_is_fitted_to_published_labels() {
    let Some(bench) = shared("code-review-bench") else { return };
    let project = Project::new();
    let judge = "anthropic_claude-opus-4-5-20251101";
    let (goldens, results) = (bench.join("golden_comments"), bench.join("results").join(judge));
    let [goldens, results] = [goldens, results].map(|path| path.display().to_string());
    project.run_list(&["import", "--from", "code-review-bench", &goldens, &results, "-o", "bench"]).expect(0);
    let fit = project.json(&format!(
        "calibrate match bench --submission bench/submissions/{judge}.jsonl --labels bench/judgements/{judge}.jsonl \
         --group-by repo --profile karat --json"
    ));
    assert_eq!((&fit["seen"]["file"], &fit["seen"]["keyword"]), (&json!(0), &json!(0)));
    assert_eq!(fit["fitted"]["weights"], fit["present"]["weights"]);
    assert!(number(&fit, "/held_out/kappa") >= number(&fit, "/present/kappa"), "{fit:#}");
}
