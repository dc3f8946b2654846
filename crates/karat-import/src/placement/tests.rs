use super::*;
use crate::ReportedFinding;
use karat_core::golden::Golden;
use karat_core::path::FilePattern;

fn suite(cases: &[(&str, &[&str])]) -> Suite {
    let case = |(id, files): &(&str, &[&str])| {
        let golden = |file: &&str| Golden { file: FilePattern::new(file), ..Golden::new("g") };
        Case { goldens: files.iter().map(golden).collect(), ..Case::new(*id) }
    };
    Suite { name: "s".to_owned(), digest: String::new(), cases: cases.iter().map(case).collect() }
}

fn sample() -> Suite {
    suite(&[
        ("sqli", &["app.py", "shared.py", "after/odd.py"]),
        ("sqli/deep", &["db.py"]),
        ("xss", &["web/page.js", "shared.py", "gen/*.js"]),
        ("clean", &[]),
    ])
}

fn finding(path: &str) -> ReportedFinding {
    let mut finding = Finding::new("");
    finding.rule_id = Some("r".to_owned());
    finding.file = RepoPath::new(path);
    ReportedFinding { tool: Some(ToolName::new("t")), case: None, finding }
}

fn data(paths: &[&str]) -> ImportedData {
    ImportedData { findings: paths.iter().map(|path| finding(path)).collect(), ..ImportedData::default() }
}

fn placement(suite: Option<&Suite>, case_rule: CaseRule) -> Placement<'_> {
    Placement { suite, case_rule, tool: None, trial: 1 }
}

/// Case and path of one finding, as `case: path`, or `-`.
fn place_one(path: &str, placement: &Placement<'_>) -> String {
    let known = |case: &CaseId, path: &RepoPath| case.as_str() == "clean" && path.as_str() == "lib/only.rs";
    let placed = place(data(&[path]), placement, &known).unwrap();
    let found = placed.trials.iter().find(|trial| !trial.findings.is_empty());
    match found {
        Some(trial) => {
            let file = trial.findings[0].file.as_ref().map(ToString::to_string);
            format!("{}: {}", trial.case, file.unwrap_or_default())
        }
        None => {
            assert_eq!(placed.unplaced.values().sum::<usize>(), 1);
            "-".to_owned()
        }
    }
}

#[test]
fn paths_determine_cases() {
    let sample = sample();
    let check = |path: &str, expect: &str| {
        assert_eq!(place_one(path, &placement(Some(&sample), CaseRule::ByPrefix)), expect, "{path}");
    };
    check("sqli/app.py", "sqli: app.py");
    check("sqli/after/app.py", "sqli: app.py");
    check("sqli/before/x/app.py", "sqli: x/app.py");
    check("sqli/after/odd.py", "sqli: after/odd.py");
    check("sqli/deep/db.py", "sqli/deep: db.py");
    check("sqli/deepest/db.py", "sqli: deepest/db.py");
    check("cases/xss/after/new.js", "xss: new.js");
    check("my/suite/cases/xss/new.js", "xss: new.js");
    check("/tmp/suite/xss/after/new.js", "xss: new.js");
    check("web/page.js", "xss: web/page.js");
    check("lib/only.rs", "clean: lib/only.rs");
    check("/home/u/checkout/web/page.js", "xss: web/page.js");
    check("C:/proj/lib/only.rs", "clean: lib/only.rs");
    check("vendor/web/page.js", "-");
    check("shared.py", "-");
    check("unknown.py", "-");
    check("sqli", "-");
    check("", "-");
    check("xss/gen/a.js", "xss: gen/a.js");
    check("tests/java/xss.java", "xss: tests/java/xss.java");
    let single = suite(&[("only", &[])]);
    assert_eq!(place_one("any/where.py", &placement(Some(&single), CaseRule::ByPrefix)), "only: any/where.py");
}

#[test]
fn case_is_extracted_from_the_path_by_regex() {
    let suite = sample();
    let check = |expression: &str, path: &str, suite: Option<&Suite>, expect: &str| {
        let case_rule = CaseRule::FromPath(regex::Regex::new(expression).unwrap());
        assert_eq!(place_one(path, &placement(suite, case_rule)), expect, "{expression} {path}");
    };
    check("^runs/(?P<number>\\d+)/(?P<case>[^/]+)", "runs/7/xss/a.js", Some(&suite), "xss: a.js");
    check("^runs/([^/]+)", "runs/xss/after/a.js", Some(&suite), "xss: a.js");
    check("^[^/]+", "xss/a.js", Some(&suite), "xss: a.js");
    check("^[^/]+", "other/a.js", Some(&suite), "-");
    check("^[^/]+", "other/a.js", None, "other: a.js");
    check("^nothing", "other/a.js", None, "-");
    check("x*", "other/a.js", None, "-");
}

#[test]
fn single_case_gets_all_findings() {
    let suite = sample();
    let check = |path: &str, suite: Option<&Suite>, expect: &str| {
        assert_eq!(place_one(path, &placement(suite, CaseRule::One(CaseId::new("sqli")))), expect, "{path}");
    };
    check("x/y.py", Some(&suite), "sqli: x/y.py");
    check("/tmp/trial/app.py", Some(&suite), "sqli: app.py");
    check("after/app.py", Some(&suite), "sqli: app.py");
    check("after/other.py", Some(&suite), "sqli: after/other.py");
    check("", Some(&suite), "sqli: ");
    check("cases/sqli/after/z.py", None, "sqli: z.py");
}

fn summary(placed: &PlacementResult) -> Vec<String> {
    let ids = |trial: &Trial| trial.findings.iter().map(|f| f.id.to_string()).collect::<Vec<_>>().join(" ");
    placed
        .trials
        .iter()
        .map(|t| format!("{}#{} {} {} [{}]", t.tool, t.number, t.case, t.outcome.as_str(), ids(t)))
        .collect()
}

#[test]
fn every_case_gets_a_line_and_every_tool_its_trials() {
    let suite = sample();
    let mut data = data(&["xss/a.js", "sqli/app.py", "xss/b.js", "nowhere.c", "nowhere.c"]);
    data.findings[1].tool = Some(ToolName::new("u"));
    data.tools = vec![ToolName::new("quiet")];
    let placed = place(data, &placement(Some(&suite), CaseRule::ByPrefix), &|_, _| false).unwrap();
    assert_eq!(
        summary(&placed),
        [
            "quiet#1 sqli reported []",
            "quiet#1 sqli/deep reported []",
            "quiet#1 xss reported []",
            "quiet#1 clean reported []",
            "t#1 sqli reported []",
            "t#1 sqli/deep reported []",
            "t#1 xss reported [f1 f2]",
            "t#1 clean reported []",
            "u#1 sqli reported [f1]",
            "u#1 sqli/deep reported []",
            "u#1 xss reported []",
            "u#1 clean reported []",
        ]
    );
    assert_eq!(placed.unplaced, BTreeMap::from([("nowhere.c".to_owned(), 2)]));
    assert_eq!(
        placed.notes,
        [
            "quiet has no findings in 4 of 4 cases",
            "t has no findings in 3 of 4 cases",
            "u has no findings in 3 of 4 cases"
        ]
    );
}

#[test]
fn failures_are_noted_and_fatal_ones_make_trials_unparsable() {
    let suite = suite(&[("a", &[]), ("b", &[])]);
    let failure = |file: Option<&str>, fatal| ToolFailure {
        tool: Some(ToolName::new("t")),
        file: file.map(str::to_owned),
        message: "boom".to_owned(),
        fatal,
    };
    let mut data = data(&["a/x.py"]);
    data.failures = vec![failure(Some("b/y.py"), false), failure(Some("c.py"), false), failure(None, true)];
    let placed = place(data, &placement(Some(&suite), CaseRule::ByPrefix), &|_, _| false).unwrap();
    let notes: Vec<&str> = placed.trials.iter().flat_map(|t| &t.notes).map(String::as_str).collect();
    assert_eq!(notes, ["incomplete: b/y.py: boom"]);
    assert_eq!(summary(&placed), ["t#1 a unparsable []", "t#1 b unparsable []"]);
    assert_eq!(
        placed.notes,
        [
            "t failed in c.py: boom",
            "t failed: boom (all its trials count as unparsable)",
            "t reported that it failed: 1 finding is ignored, and its trials are unparsable",
        ]
    );
}

#[test]
fn complete_trials_are_renamed_with_tool() {
    let trial = |tool: &str| Trial::reported(CaseId::new("a"), ToolName::new(tool), 2);
    let named = |tool: &str| Placement { tool: Some(ToolName::new(tool)), ..placement(None, CaseRule::ByPrefix) };
    let one = ImportedData { trials: vec![trial("x")], ..ImportedData::default() };
    let placed = place(one, &placement(None, CaseRule::ByPrefix), &|_, _| false).unwrap();
    assert_eq!(summary(&placed), ["x#2 a reported []"]);
    let one = ImportedData { trials: vec![trial("x")], ..ImportedData::default() };
    assert_eq!(place(one, &named("y"), &|_, _| false).unwrap().trials[0].tool, ToolName::new("y"));
    let two = ImportedData { trials: vec![trial("x"), trial("z")], ..ImportedData::default() };
    let error = place(two, &named("y"), &|_, _| false).unwrap_err().to_string();
    assert_eq!(
        error,
        "these are trials of several tools (x, z), which cannot all be named y: import them without --tool"
    );
}

#[test]
fn placement_errors_give_advice() {
    let suite = sample();
    let check = |data: ImportedData, placement: Placement<'_>, expect: &str| {
        assert_eq!(place(data, &placement, &|_, _| false).unwrap_err().to_string(), expect);
    };
    check(
        data(&["a.py"]),
        placement(None, CaseRule::ByPrefix),
        "the findings do not say which case they belong to: give the suite (--suite), the case (--case), \
         or an expression that finds it in the path (--case-from)",
    );
    check(
        data(&["a.py"]),
        placement(Some(&suite), CaseRule::One(CaseId::new("sqlli"))),
        "the suite has no case sqlli; did you mean sqli?",
    );
    check(data(&[]), placement(Some(&suite), CaseRule::One(CaseId::new("?"))), "the suite has no case ?");
    let mut nameless = data(&["sqli/a.py"]);
    nameless.findings[0].tool = None;
    check(
        nameless,
        placement(Some(&suite), CaseRule::ByPrefix),
        "the input does not name the tool that reported these findings: name it with --tool",
    );
}

#[test]
fn cases_named_by_the_format_are_kept() {
    let suite = sample();
    let mut data = data(&["x.py", "y.py"]);
    data.findings[0].case = Some(CaseId::new("xss"));
    data.findings[1].case = Some(CaseId::new("gone"));
    let placed = place(data, &placement(Some(&suite), CaseRule::ByPrefix), &|_, _| false).unwrap();
    assert_eq!(placed.trials.iter().map(|trial| trial.findings.len()).sum::<usize>(), 1);
    assert_eq!(placed.unplaced, BTreeMap::from([("y.py".to_owned(), 1)]));
}
