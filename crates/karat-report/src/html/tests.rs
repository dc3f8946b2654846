//! Content of the HTML page: every case once, code around locations, and no injected scripts.

use super::detail::{ExcerptLimits, Places};
use super::*;
use crate::report_view::{ReportView, Sources};
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
use karat_core::suite::{Case, Suite};
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

/// Draws the page; every source file has a thousand lines.
fn page(suite: Suite, trials: Vec<Trial>) -> String {
    let (loaded, scoring) = score_suite(suite, trials);
    let code =
        |_: &CaseId, _: &RepoPath| Some((1..=1000).map(|n| format!("line_{n} = {n} # <b>\n")).collect::<String>());
    let sources = Sources { suite: &loaded.suite, trials: &scoring.trials, code: &code };
    draw(
        &ReportView { sources: Some(sources), ..ReportView::new(&scoring.report) },
        &TerminalStyle { width: 80, colour: false },
    )
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
    let case = unpack(&page(suite, trials), "portion-0").unwrap()[0].take();
    let lines = case["files"][0]["lines"].as_array().unwrap();
    let numbers: Vec<u64> = lines.iter().map(|line| line[0].as_u64().unwrap()).collect();
    assert_eq!((numbers[0], *numbers.last().unwrap()), (28, 53), "twelve lines around lines 40 and 41 of a long file");
    assert_eq!(lines[0][1], "line_28 = 28 # <b>");
    assert_eq!(lines[0][2], "10.2n1.5c", "colours: plain, number, plain, comment");
    assert_eq!(case["files"][0]["length"], 1000);
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
    let (suite, trials) = suite(1, "a");
    let code = |_: &CaseId, path: &RepoPath| (path.as_str() == "a.py").then(|| "one\r\ntwo\r\n".to_owned());
    let sources = Sources { suite: &suite, trials: &trials, code: &code };
    let shown = |file: &str, start: u32, room: ExcerptLimits| {
        let mut places = Places::default();
        places.add(Some(file), Some(start), None);
        serde_json::to_value(places.show(&CaseId::from("case-0"), &sources, room)).unwrap()
    };
    let near = ExcerptLimits { whole: 0, around: 1 };
    assert_eq!(shown("a.py", 900, near), serde_json::json!([]));
    assert_eq!(shown("../a.py", 1, near), serde_json::json!([]));
    assert_eq!(shown("b.py", 1, near), serde_json::json!([]));
    assert_eq!(shown("a.py", u32::MAX, ExcerptLimits { whole: 9, around: 1 })[0]["lines"][1][1], "two");
}
