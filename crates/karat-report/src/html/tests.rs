//! Content of the HTML page: every case once, code around locations, and no injected scripts.

use super::excerpt::{ExcerptLimits, Places};
use super::*;
use crate::report_view::{ChangedFile, CodeProvider, ReportView, Sources};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use karat::suite::{LoadedSuite, load};
use karat::work::{Scoring, Work};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::CaseId;
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::{FailedTrials, Profile};
use karat_core::suite::{Case, Change, Suite, Verdict};
use karat_core::trial::{Outcome, Trial};
use karat_format::shipped_suites::locate;
use serde_json::Value;
use std::io::Read;

/// Cases with one golden and one matching finding each.
fn suite(cases: usize, title: &str) -> (Suite, Vec<Trial>) {
    let mut suite = Suite { name: title.to_owned(), digest: String::new(), cases: Vec::new() };
    let mut trials = Vec::new();
    for number in 0..cases {
        let id = format!("case-{number}");
        let golden = Golden {
            title: Some(title.to_owned()),
            description: Some(format!("{title}: described in more words")),
            file: FilePattern::new("src/a.py"),
            lines: Some(Lines { start: 40, end: 41 }),
            ..Golden::new("g")
        };
        suite.cases.push(Case { goldens: vec![golden], ..Case::new(&id) });
        let finding = Finding {
            title: Some(title.to_owned()),
            message: Some(format!("{title} is what number {number} says of it")),
            file: RepoPath::new("src/a.py"),
            line_start: Some(40),
            ..Finding::new("f")
        };
        trials.push(Trial { findings: vec![finding], ..Trial::reported(id.as_str().into(), "tool".into(), 1) });
    }
    (suite, trials)
}

fn score_suite(suite: Suite, trials: Vec<Trial>) -> (LoadedSuite, Scoring) {
    let mut loaded = load(locate("starter")).unwrap_or_else(|_| panic!("the starter suite loads"));
    loaded.suite = suite;
    let profile = karat::profile::resolve("karat", &karat::profile::no_files, &[]).unwrap();
    let scoring = Work::new(trials, profile).score(&loaded);
    (loaded, scoring)
}

/// The same files in every case.
#[derive(Default)]
struct Files {
    unchanged: Vec<(&'static str, String)>,
    changed: Vec<ChangedFile>,
}

impl CodeProvider for Files {
    fn file(&self, _: &CaseId, path: &RepoPath) -> Option<String> {
        let unchanged = self.unchanged.iter().find(|(name, _)| *name == path.as_str() || *name == "*");
        unchanged.map(|(_, text)| text.clone())
    }

    fn changed_files(&self, _: &Case) -> Vec<ChangedFile> {
        self.changed.clone()
    }
}

fn numbered_lines(count: u32) -> String {
    (1..=count).map(|n| format!("line_{n} = {n} # <b>\n")).collect()
}

/// Draws the page; every source file has a hundred lines.
fn page(suite: Suite, trials: Vec<Trial>) -> String {
    page_with_code(suite, trials, &Files { unchanged: vec![("*", numbered_lines(100))], ..Files::default() })
}

fn page_with_code(suite: Suite, trials: Vec<Trial>, code: &Files) -> String {
    let (loaded, scoring) = score_suite(suite, trials);
    let sources = Sources { suite: &loaded.suite, trials: &scoring.trials, code };
    draw(&ReportView { sources: Some(sources), ..ReportView::new(&scoring.report) }, &TerminalStyle::complete(80))
}

fn unpack(page: &str, id: &str) -> Option<Value> {
    let start = page.find(&format!("<script type=\"application/octet-stream\" id=\"{id}\">"))?;
    let data = page[start..].split('>').nth(1)?.split('<').next()?;
    let mut text = String::new();
    GzDecoder::new(STANDARD.decode(data).ok()?.as_slice()).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[test]
fn index_names_the_portion_of_every_case() {
    let (suite, trials) = suite(700, "a lock is taken late");
    let page = page(suite, trials);
    let index = unpack(&page, "index").unwrap();
    let portion = index["portion"].as_array().unwrap();
    assert_eq!(portion.len(), 700);
    assert!(portion.last().unwrap().as_u64().unwrap() > 0, "the test needs several portions");
    let mut place = 0;
    for number in 0.. {
        let Some(cases) = unpack(&page, &format!("portion-{number}")) else { break };
        for case in cases.as_array().unwrap() {
            assert_eq!(case["id"], index["ids"][place]);
            assert_eq!(portion[place], number);
            place += 1;
        }
    }
    assert_eq!(place, 700);
    assert_eq!(index["cells"][0]["tp"].as_array().unwrap().len(), 700);
}

#[test]
fn case_has_texts_and_code_around_locations() {
    let (suite, trials) = suite(1, "a lock is taken late");
    let code = Files { unchanged: vec![("*", numbered_lines(20_000))], ..Files::default() };
    let case = unpack(&page_with_code(suite, trials, &code), "portion-0").unwrap()[0].take();
    let lines = case["files"][0]["lines"].as_array().unwrap();
    let numbers: Vec<u64> = lines.iter().map(|line| line[0].as_u64().unwrap()).collect();
    assert_eq!((numbers[0], *numbers.last().unwrap()), (28, 53), "twelve lines around lines 40 and 41 of a long file");
    assert_eq!(lines[0][1], "line_28 = 28 # <b>");
    assert_eq!(lines[0][2], "10.2n1.5c", "colours: plain, number, plain, comment");
    assert_eq!(case["files"][0]["length"], 20_000);
    assert_eq!(case["goldens"][0]["text"], "a lock is taken late: described in more words");
    assert_eq!(case["tools"][0][0]["result"]["findings"][0]["title"], "a lock is taken late");
    assert_eq!(case["tools"][0][0]["texts"]["f"], "a lock is taken late is what number 0 says of it");
}

#[test]
fn goldens_with_a_file_pattern_list_the_matching_files() {
    let (mut suite, mut trials) = suite(1, "a lock is taken late");
    suite.cases[0].goldens[0].file = FilePattern::new("app/*/page.tsx");
    let mut other = trials[0].findings[0].clone();
    (trials[0].findings[0].file, other.file) = (RepoPath::new("app/[id]/page.tsx"), RepoPath::new("app/i/x/page.tsx"));
    other.id = "f2".into();
    trials[0].findings.push(other);
    let case = unpack(&page(suite, trials), "portion-0").unwrap()[0].take();
    assert_eq!(case["files"].as_array().unwrap().len(), 2, "the test needs two files");
    assert_eq!(case["goldens"][0]["files"], serde_json::json!(["app/[id]/page.tsx"]));
}

#[test]
fn excluded_trials_are_not_counted_in_cells() {
    let (suite, trials) = suite(1, "a lock is taken late");
    let failed = Trial { outcome: Outcome::Crashed, number: 2, findings: Vec::new(), ..trials[0].clone() };
    let shown = |failed_trials: FailedTrials| {
        let (loaded, _) = score_suite(suite.clone(), Vec::new());
        let profile = karat::profile::resolve("karat", &karat::profile::no_files, &[]).unwrap();
        let profile = Profile { failed_trials, ..profile };
        let scoring = Work::new(vec![trials[0].clone(), failed.clone()], profile).score(&loaded);
        let index = serde_json::to_value(index::build(&scoring.report, &[0])).unwrap();
        let cell = |name: &str| index["cells"][0][name][0].as_u64().unwrap();
        (cell("tp"), cell("missed"), cell("failed"))
    };
    assert_eq!(shown(FailedTrials::Miss), (0, 2, 1));
    assert_eq!(shown(FailedTrials::Exclude), (0, 1, 1));
}

#[test]
fn texts_of_tools_and_suites_are_escaped() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) \u{202e}\u{0}";
    let (suite, mut trials) = suite(2, hostile);
    for trial in &mut trials {
        trial.tool = hostile.into();
    }
    let page = page(suite, trials);
    assert_eq!(page.matches("<img").count(), 0);
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
    // The page's own script, the index and one portion.
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("</script").count(), 3);
}

#[test]
fn page_leads_with_the_result_in_words() {
    let (suite, trials) = suite(3, "a lock is taken late");
    let page = page(suite, trials);
    assert!(page.contains("<h1>tool: F1 0.00</h1>"), "{}", page.split("<h1>").nth(1).unwrap());
    for tab in ["overview", "cases", "method"] {
        assert!(page.contains(&format!("<a href=\"#{tab}\">")), "no tab {tab}");
        assert!(page.contains(&format!("id=\"{tab}\"")), "the tab {tab} leads nowhere");
    }
    assert!(!page.contains("<a href=\"#judges\">"), "no judge was asked, so there is no such tab");
}

#[test]
fn columns_that_say_nothing_are_left_out() {
    let (mut suite, mut trials) = suite(3, "a lock is taken late");
    suite.cases.iter_mut().for_each(|case| case.verdict = Verdict::Vulnerable);
    trials.iter_mut().for_each(|trial| trial.verdict = Some(Verdict::Vulnerable));
    let heads = |page: &str| page.split("<thead>").nth(1).unwrap().split("</thead>").next().unwrap().to_owned();
    let drawn = page(suite.clone(), trials.clone());
    assert!(!heads(&drawn).contains(title("accuracy")) && !heads(&drawn).contains(title("clean_pass")));
    for left_out in [("clean_pass", "no clean case"), ("accuracy", "every case is vulnerable")] {
        let words = format!("{} ({})", title(left_out.0), left_out.1);
        assert!(drawn.contains(&words), "{words}");
    }
    suite.cases.push(Case::new("clean"));
    let quiet = Trial { verdict: Some(Verdict::Safe), ..Trial::reported("clean".into(), "tool".into(), 1) };
    let drawn = page(suite, trials.into_iter().chain([quiet]).collect());
    assert!(
        heads(&drawn).contains(title("accuracy")) && heads(&drawn).contains(title("clean_pass")),
        "{}",
        heads(&drawn)
    );
}

#[test]
fn hardest_cases_are_in_the_overview() {
    let (mut suite, mut trials) = suite(2, "a lock is taken late");
    suite.cases.extend([Case::new("quiet"), Case::new("noisy")]);
    let findings = ["f1", "f2"].map(|id| Finding { message: Some("an alarm".to_owned()), ..Finding::new(id) }).to_vec();
    trials.push(Trial::reported("quiet".into(), "tool".into(), 1));
    trials.push(Trial { findings, ..Trial::reported("noisy".into(), "tool".into(), 1) });
    let (_, scoring) = score_suite(suite.clone(), trials.clone());
    let hardest = index::hardest(&scoring.report, 9);
    let ids: Vec<&str> = hardest.iter().map(|one| one.case.case.as_str()).collect();
    assert_eq!(ids, ["noisy", "case-0", "case-1"], "a case without errors is not hard");
    assert_eq!((hardest[0].mean, hardest[0].required, hardest[0].false_alarms), (None, 0, 2));
    assert_eq!((hardest[1].mean, hardest[1].found, hardest[1].required), (Some(0.0), 0, 1));
    let page = page(suite, trials);
    assert!(page.contains("<a href=\"#/case/noisy\">noisy</a>") && page.contains("#/cases?order=hard"));
    assert_eq!(index::hardest(&scoring.report, 1).len(), 1);
}

#[test]
fn plots_carry_the_file_that_saves_them() {
    let (suite, trials) = suite(3, "a lock is taken late");
    let other = trials.iter().map(|trial| Trial { tool: "other".into(), ..trial.clone() });
    let page = page(suite, trials.iter().cloned().chain(other).collect());
    let packed = page.split("<span class=\"save\"").nth(1).unwrap().split("data-svg=\"").nth(1).unwrap();
    let bytes = STANDARD.decode(packed.split('"').next().unwrap()).unwrap();
    let mut svg = String::new();
    GzDecoder::new(bytes.as_slice()).read_to_string(&mut svg).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.contains(">F1 of every tool</text>"), "{svg}");
}

#[test]
fn headline_says_who_leads_and_who_is_tied() {
    let (suite, trials) = suite(2, "a lock is taken late");
    let (_, scoring) = score_suite(suite, trials);
    let sentence = |ranks: &[(&str, usize, f64)], p: Option<f64>| {
        let mut report = scoring.report.clone();
        let tool = report.tools.remove(0);
        report.tools = ranks.iter().map(|(name, ..)| ToolV1 { tool: (*name).to_owned(), ..tool.clone() }).collect();
        let tools: Vec<Value> = ranks
            .iter()
            .map(|(tool, low, value)| {
                serde_json::json!({ "rank": low, "rank_low": low, "rank_high": 9, "tool": tool, "value": value, "ci": null, "n": 2 })
            })
            .collect();
        let pair = serde_json::json!({ "a": "a", "b": "b", "difference": 0.1, "p": p, "p_holm": p, "better": null, "n": 2, "differing": 2 });
        let ranking =
            serde_json::json!({ "metric": "f1", "direction": "up", "tools": tools, "pairs": [pair], "statement": "" });
        report.ranking = Some(serde_json::from_value(ranking).unwrap());
        headline_sentence(&report).unwrap()
    };
    let tested = Some(0.01);
    let check = |ranks: &[(&str, usize, f64)], expect: &str| assert_eq!(sentence(ranks, tested), expect);
    check(&[("a", 1, 0.82), ("b", 2, 0.5), ("c", 2, 0.4)], "a leads, F1 0.82; b and c are tied");
    check(&[("a", 1, 0.82), ("b", 2, 0.5), ("c", 3, 0.4)], "a leads, F1 0.82; b follows with 0.50");
    check(&[("a", 1, 0.82), ("b", 1, 0.8)], "a and b are tied, F1 0.80 to 0.82");
    check(
        &[("a", 1, 0.8), ("b", 1, 0.8), ("c", 3, 0.4)],
        "a and b are tied for the lead, F1 0.80; c follows with 0.40",
    );
    check(&[("a", 1, 0.8), ("b", 1, 0.7), ("c", 1, 0.7), ("d", 1, 0.6)], "All 4 tools are tied, F1 0.60 to 0.80");
    check(&[("a", 2, 0.8), ("b", 2, 0.7)], "a has the best F1, 0.00, but no tool leads");
    assert_eq!(
        sentence(&[("a", 1, 0.8), ("b", 1, 0.7)], None),
        "a has the best F1, 0.00; no two tools could be tested"
    );
}

#[test]
fn warnings_are_cut_to_their_first_clause() {
    assert_eq!(brief("3 trials failed"), "3 trials failed");
    assert_eq!(
        brief("the judge local is unsure of 12 pairs: label them, and score again"),
        "the judge local is unsure of 12 pairs"
    );
    assert_eq!(
        brief("a warning without any clause which goes on for quite a while"),
        "a warning without any clause which goes"
    );
    assert_eq!(brief(&"ä".repeat(50)), "ä".repeat(40));
    let drawn = chips(&[("short".to_owned(), "short".to_owned()), ("long".to_owned(), "long <b>".to_owned())]).0;
    assert!(drawn.contains("<span class=\"chip\">short</span>"), "{drawn}");
    assert!(drawn.contains("<summary>long</summary><p>long &lt;b&gt;</p>"), "{drawn}");
    let many: Vec<(String, String)> = (0..9).map(|n| (n.to_string(), format!("{n}!"))).collect();
    assert!(chips(&many).0.contains("3 more") && chips(&many).0.contains("<li>8!</li>"), "{}", chips(&many).0);
    assert_eq!(chips(&[]).0, "");
}

#[test]
fn page_is_deterministic() {
    let made = || {
        let (suite, trials) = suite(40, "a lock is taken late");
        page(suite, trials)
    };
    assert_eq!(made(), made());
}

#[test]
fn large_reports_are_shortened_with_a_note() {
    let (suite, mut trials) = suite(600, "a lock is taken late");
    // Incompressible text: 600 cases of about 60,000 bytes each would be 24 MB.
    let mut seed = 7_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:016x}", seed)
    };
    for trial in &mut trials {
        trial.findings = (0..15)
            .map(|n| Finding { message: Some((0..250).map(|_| noise()).collect()), ..Finding::new(format!("f{n}")) })
            .collect();
    }
    let page = page(suite, trials);
    assert!(page.len() < 15_000_000, "{}", page.len());
    assert!(page.contains("To keep the page small"));
}

#[test]
fn locations_outside_of_readable_files_show_no_code() {
    let code = Files { unchanged: vec![("a.py", "one\r\ntwo\r\n".to_owned())], ..Files::default() };
    let shown = |file: &str, start: u32, limits: ExcerptLimits| {
        let mut places = Places::default();
        places.add(Some(file), Some(start), None);
        serde_json::to_value(places.show(&CaseId::from("case-0"), &code, None, limits)).unwrap()[0].take()
    };
    let near = ExcerptLimits::new(0, 1, false);
    assert_eq!(shown("a.py", 900, near), serde_json::json!([]));
    assert_eq!(shown("../a.py", 1, near), serde_json::json!([]));
    assert_eq!(shown("b.py", 1, near), serde_json::json!([]));
    assert_eq!(shown("a.py", u32::MAX, ExcerptLimits::new(9, 1, false))[0]["lines"][1][1], "two");
}

fn changed_file(path: &str, before: Option<&str>, after: Option<&str>) -> ChangedFile {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let path = RepoPath::new(path).unwrap();
    ChangedFile { path, renamed_from: None, before: owned(before), after: owned(after) }
}

/// The numbers of lines.
fn numbers(lines: &Value) -> Vec<u64> {
    lines.as_array().unwrap().iter().map(|line| line[0].as_u64().unwrap()).collect()
}

#[test]
fn changed_files_have_hunks_and_removed_lines() {
    let renamed =
        ChangedFile { renamed_from: RepoPath::new("f.py"), ..changed_file("e.py", Some("x = 1\n"), Some("x = 1\n")) };
    let changed = [
        changed_file("a.py", Some("one\ntwo\nthree\n"), Some("one\n2\nthree\nfour\n")),
        changed_file("b.py", None, Some("new\n")),
        changed_file("c.py", Some("gone = 1\nold\n"), None),
        changed_file("d.png", None, None),
        renamed,
    ];
    let code = Files { unchanged: vec![("same.py", "x\n".to_owned())], ..Files::default() };
    let mut places = Places::default();
    places.add(Some("same.py"), Some(1), None);
    places.add(Some("c.py"), Some(2), None);
    let shown = |change: Option<&[ChangedFile]>, limits| {
        serde_json::to_value(places.show(&CaseId::from("case-0"), &code, change, limits)).unwrap()
    };
    let all = shown(Some(&changed), ExcerptLimits::new(300, 12, true));
    let names: Vec<(&str, &str)> = all[0]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["change"]["kind"].as_str().unwrap()))
        .collect();
    let expected = [
        ("same.py", "unchanged"),
        ("c.py", "removed"),
        ("a.py", "changed"),
        ("b.py", "added"),
        ("d.png", "not_compared"),
        ("e.py", "renamed"),
    ];
    assert_eq!(names, expected);
    let removed = &all[0][1];
    assert_eq!((&removed["length"], removed["change"]["hunks"].to_string().as_str()), (&Value::from(2), "[[1,2,1,0]]"));
    assert_eq!(removed["change"]["old"][0], serde_json::json!([1, "gone = 1", "7.1n"]));
    let edited = &all[0][2]["change"];
    assert_eq!(edited["hunks"], serde_json::json!([[2, 1, 2, 1], [4, 0, 4, 1]]));
    assert_eq!(edited["old"], serde_json::json!([[2, "two", "3."]]));
    assert_eq!(all[0][5]["change"]["from"], "f.py");
    assert_eq!(all[1], 0);
    // A page with very many cases has the lines around goldens and findings only.
    let near = shown(Some(&changed), ExcerptLimits::new(0, 0, false));
    assert_eq!(near[1], 4, "{near}");
    assert_eq!((numbers(&near[0][0]["lines"]), numbers(&near[0][1]["change"]["old"])), (vec![1], vec![2]));
    // Without a state before the change there is nothing to compare.
    assert_eq!(shown(None, ExcerptLimits::new(300, 12, true))[0][0].get("change"), None);
}

#[test]
fn long_changed_files_show_the_lines_around_changes() {
    let before = numbered_lines(2_000);
    let after = before.replace("line_1500 = 1500 # <b>\n", "").replace("line_40 = 40", "line_40 = 41");
    let changed = [changed_file("a.py", Some(&before), Some(&after))];
    let mut places = Places::default();
    places.add(Some("a.py"), Some(1_000), None);
    let shown = |limits| {
        let (files, _) = places.show(&CaseId::from("case-0"), &Files::default(), Some(&changed), limits);
        let file = serde_json::to_value(files).unwrap()[0].take();
        assert_eq!(file["change"]["hunks"], serde_json::json!([[40, 1, 40, 1], [1_500, 1, 1_500, 0]]));
        (numbers(&file["lines"]), numbers(&file["change"]["old"]))
    };
    assert_eq!(shown(ExcerptLimits::new(2_000, 1, true)), ((1..=1_999).collect(), vec![40, 1_500]));
    assert_eq!(
        shown(ExcerptLimits::new(300, 1, true)),
        (vec![39, 40, 41, 999, 1_000, 1_001, 1_499, 1_500, 1_501], vec![40, 1_500])
    );
    assert_eq!(shown(ExcerptLimits::new(0, 1, false)), (vec![999, 1_000, 1_001], vec![]));
}

#[test]
fn page_carries_the_change_of_a_case() {
    let (mut suite, trials) = suite(1, "a lock is taken late");
    let before = numbered_lines(60);
    let after = before.replace("line_40 = 40", "line_40 = 41");
    let code = Files { changed: vec![changed_file("src/a.py", Some(&before), Some(&after))], ..Files::default() };
    let shown = |suite: &Suite| {
        let page = page_with_code(suite.clone(), trials.clone(), &code);
        unpack(&page, "portion-0").unwrap()[0].take()
    };
    assert_eq!(shown(&suite)["files"], serde_json::json!([]), "a case without a change is not compared");
    suite.cases[0].change = Some(Change::default());
    let case = shown(&suite);
    assert_eq!(case["files"][0]["change"]["hunks"], serde_json::json!([[40, 1, 40, 1]]));
    assert_eq!(case["files"][0]["change"]["old"][0][1], "line_40 = 40 # <b>");
    assert_eq!(case["files"][0]["lines"][39][1], "line_40 = 41 # <b>");
}
