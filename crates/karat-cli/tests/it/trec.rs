//! `karat trec`: evaluation of TREC runs against relevance judgements.

use crate::data::shared;
use crate::project::{Project, near};
use insta::assert_snapshot;

const QRELS: &str = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n3 0 a 1\n";
const RUN: &str = "1 Q0 b 1 3 mine\n1 Q0 a 2 2 mine\n1 Q0 c 3 2 mine\n2 Q0 d 1 1 mine\n9 Q0 a 1 1 mine\n";

fn project() -> Project {
    Project::new().with("qrels.txt", QRELS).with("run.txt", RUN)
}

/// The lines of `trec_eval` for measures that Karat supports.
fn official<'t>(text: &'t str, ours: &str) -> Vec<&'t str> {
    let name = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let known: std::collections::BTreeSet<String> = ours.lines().map(name).collect();
    text.lines().filter(|line| known.contains(&name(line))).collect()
}

#[test]
fn figures_equal_those_of_trec_eval() {
    let Some(folder) = shared("trec_eval") else { return };
    let file = |name: &str| folder.join(name).display().to_string();
    let printed = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let ours = |more: &[&str]| {
        let files = ["trec", &file("qrels.test"), &file("results.test")].map(str::to_owned);
        let words: Vec<&str> = files.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Project::new().run_list(&words).expect(0).out
    };
    assert_eq!(ours(&[]), printed("out.test"));
    let parameters = [
        "-m",
        "iprec_at_recall.0.10,.20,.25,.75,.50",
        "-m",
        "P.5,7,3",
        "-m",
        "recall.20,2000",
        "-m",
        "Rprec_mult.5.0,0.2,0.35",
        "-m",
        "ndcg_cut.10,20,23",
        "-m",
        "success.2,5,20",
        "--per-query",
    ];
    for (more, file, least) in [
        (&["-m", "all"][..], "out.test.a", 89),
        (&["-m", "all", "--per-query"], "out.test.aq", 89 + 3 * 85),
        (&parameters, "out.test.meas_params", 4 * 19),
    ] {
        let ours = ours(more);
        assert_eq!(ours.lines().collect::<Vec<_>>(), official(&printed(file), &ours), "{file}");
        assert!(ours.lines().count() >= least, "{file}: {}", ours.lines().count());
    }
}

#[test]
fn layout_equals_that_of_trec_eval() {
    let ran =
        project().run("trec qrels.txt run.txt -m map -m P.1,2 -m num_rel -m num_q -m gm_map --per-query").expect(0);
    // Topic 1 ranks b, c, a: equal scores are ordered by descending name.
    assert_snapshot!(ran.out.replace('\t', "|"), @r"
    num_rel               |1|2
    map                   |1|0.5833
    P_1                   |1|0.0000
    P_2                   |1|0.5000
    num_rel               |2|1
    map                   |2|0.0000
    P_1                   |2|0.0000
    P_2                   |2|0.0000
    num_q                 |all|2
    num_rel               |all|3
    map                   |all|0.2917
    gm_map                |all|0.0024
    P_1                   |all|0.0000
    P_2                   |all|0.2500
    ");
    assert_snapshot!(ran.err, @r"
    note: topics of the run without judgements are skipped: 9
    note: judged topics missing from the run are skipped: 3; --complete counts them as 0
    ");
    let ran = project().run("trec qrels.txt run.txt -m map --complete").expect(0);
    assert_eq!(ran.out, "map                   \tall\t0.1944\n");
    assert_snapshot!(ran.err, @"note: topics of the run without judgements are skipped: 9");
}

#[test]
fn json_has_full_precision() {
    let report = project().json("trec qrels.txt run.txt -m map -m ndcg --per-query --json");
    near(&report, "/all/map", (7.0 / 12.0) / 2.0);
    near(&report, "/by_topic/1/map", 7.0 / 12.0);
    near(&report, "/by_topic/1/ndcg", (2.0 / 3_f64.log2() + 0.5) / (2.0 + 1.0 / 3_f64.log2()));
    assert_eq!(report["run"], "mine");
    assert_eq!(report["missing_topics"], serde_json::json!(["3"]));
    assert_eq!(report["unjudged_topics"], serde_json::json!(["9"]));
    assert!(project().json("trec qrels.txt run.txt --json")["by_topic"].is_null());
}

#[test]
fn invalid_files_are_refused_with_positions() {
    #[track_caller]
    fn check(qrels: &str, run: &str, expected: &[&str]) {
        let project = Project::new().with("q", qrels).with("r", run);
        let ran = project.run("trec q r").expect_error(4, expected);
        assert_eq!(ran.out, "");
    }
    check("1 0 a 1\n1 0 b\n", RUN, &["q:2:1", "this line has 3 columns, expected 4", "topic 0 document relevance"]);
    check("1 0 a yes\n", RUN, &["q:1:7", "invalid relevance `yes`: expected a whole number", "0 is not relevant"]);
    check("1 0 a 1\r\n1 0 a 0\r\n", RUN, &["q:2:5", "a is judged for topic 1 already, at line 1", "keep one"]);
    check(
        QRELS,
        "1 Q0 a 1 high x\n",
        &["r:1:10", "invalid score `high`: expected a number", "a greater score comes first"],
    );
    check(QRELS, "1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n", &["r:2:6", "a is ranked for topic 1 already, at line 1"]);
    check(QRELS, "1 Q0 a 1 2\n", &["r:1:1", "this line has 5 columns, expected 6", "topic Q0 document rank"]);
    check("", RUN, &["the file has no line that says anything", "topic 0 document relevance"]);
    check(QRELS, "\u{feff}\r\n", &["the file has no line that says anything"]);
    check(RUN, QRELS, &["this looks like a run: give the judgements first, then the run"]);
    check(QRELS, QRELS, &["this looks like judgements: give them first, then the run"]);
    check("7 0 a 1", RUN, &["q and r have no topic in common: the judgements have 7, the run has 1, 2, 9"]);
    project().run("trec nowhere run.txt").expect_error(4, &["nowhere"]);
}

#[test]
fn byte_order_marks_line_ends_and_stdin_are_accepted() {
    let plain = project().ok("trec qrels.txt run.txt");
    let odd = Project::new()
        .with("qrels.txt", format!("\u{feff}# judged\r\n{}", QRELS.replace('\n', "\r\n")))
        .with("run.txt", RUN.replace(' ', "\t \t").replace('\n', "\n\n"));
    assert_eq!(odd.ok("trec qrels.txt run.txt"), plain);
    let piped = project().command().args(["trec", "qrels.txt", "-"]).write_stdin(RUN).output().unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), plain);
}

#[test]
fn unknown_measures_are_usage_errors() {
    let check = |measure: &str, expected: &str| {
        project().run(&format!("trec qrels.txt run.txt -m {measure}")).expect_error(2, &[expected]);
    };
    check("mapp", "unknown measure `mapp`, did you mean `map`?");
    check("P.0", "invalid cutoff `0` of `P`: expected ranks from 1, such as P.5,10");
    check("map.5", "invalid cutoff `5` of `map`: map has no cutoffs");
    check("iprec_at_recall.x", "expected shares, such as iprec_at_recall.0.2,0.5");
    project().run("trec - -").expect_error(2, &["standard input can be read only once"]);
    project().run("trec qrels.txt").expect_error(2, &["RUN"]);
}
