//! What must hold of every opinion, whatever the texts.

use super::fit::fit;
use super::labels::LabelledTrial;
use super::params::Provenance;
use super::*;
use crate::lines::Lines;
use crate::path::{FilePattern, RepoPath};
use crate::suite::Case;
use crate::trial::Trial;
use proptest::prelude::*;

fn golden(text: &str) -> Golden {
    let mut golden = Golden::new("g");
    golden.description = Some(text.to_owned());
    golden
}

fn finding(text: &str) -> Finding {
    let mut finding = Finding::new("f");
    finding.message = Some(text.to_owned());
    finding
}

/// Four issues, each reported once in other words.
const SAID: [(&str, &str); 4] = [
    (
        "The token cache is never cleared and grows without bound",
        "tokenCache grows forever, nothing evicts its entries",
    ),
    ("SQL injection: the search term is concatenated into the query", "`search` builds the SQL query from user input"),
    ("Race between checking the stock and reserving it", "Two concurrent requests can both pass the stock check"),
    ("Off by one: the last page of 50 rows is never shown", "The last page is skipped when it has 50 rows"),
];

fn judge() -> LocalJudge {
    let mut case = Case::new("c");
    case.goldens = SAID.iter().map(|(text, _)| golden(text)).collect();
    let mut trial = Trial::reported("c".into(), "t".into(), 1);
    trial.findings = SAID.iter().map(|(_, text)| finding(text)).collect();
    let stated = (0..16).map(|pair| Some(pair / 4 == pair % 4)).collect();
    let labelled = LabelledTrial { case: &case, trial: &trial, stated, whole: true };
    LocalJudge::new(fit(&[labelled], Provenance::default(), &params::tests::blank()).unwrap()).unwrap()
}

#[test]
fn a_fitted_judge_separates_its_training_pairs() {
    let (judge, goldens, findings) = (judge(), SAID.map(|s| golden(s.0)), SAID.map(|s| finding(s.1)));
    let all: Vec<(usize, usize)> = (0..4).flat_map(|g| (0..4).map(move |f| (g, f))).collect();
    for opinion in judge.judge(&goldens, &findings, &all) {
        assert_eq!(opinion.matched, opinion.golden == opinion.finding, "{opinion:?}");
        assert!(!opinion.reasons.is_empty());
    }
    assert_eq!(judge.judge(&goldens, &findings, &[(4, 0), (0, 4), (usize::MAX, 0)]), []);
}

/// A label that is a category and a place, and nothing else, is found by a rule of that category at that place.
#[test]
fn a_terse_golden_is_found_by_its_kind_and_place() {
    let shipped = include_str!("../../../karat/judges/local.toml");
    let judge = LocalJudge::new(toml::from_str(shipped).unwrap()).unwrap();
    let place = |line| Some(Lines { start: line, end: line });
    let mut golden = golden("unchecked_calls");
    (golden.category, golden.file) = (Some("unchecked_calls".to_owned()), FilePattern::new("a.sol"));
    golden.lines = place(10);
    let mut finding = finding("Check result of \"send\"");
    (finding.category, finding.file) = (Some("unchecked-calls".to_owned()), RepoPath::new("a.sol"));
    finding.line_start = Some(10);
    let says = |golden: &Golden, finding: &Finding| {
        judge.judge(std::slice::from_ref(golden), std::slice::from_ref(finding), &[(0, 0)])[0].matched
    };
    assert!(says(&golden, &finding));
    let elsewhere = Finding { line_start: Some(90), ..finding.clone() };
    assert!(!says(&golden, &elsewhere), "the same kind far away is another one");
    let other_kind = Finding { category: Some("naming".to_owned()), ..finding.clone() };
    assert!(!says(&golden, &other_kind));
    let mut detailed = golden.clone();
    detailed.description = Some("The withdrawn amount is added to the wrong balance before the loop ends".to_owned());
    assert!(!says(&detailed, &other_kind), "a golden that says more is not found by less");
    let mut worded = Golden { category: None, ..golden.clone() };
    worded.keywords = vec!["send".to_owned(), "result".to_owned()];
    assert!(says(&worded, &finding), "all its keywords are there");
    worded.keywords = vec!["reentrancy".to_owned(), "withdraw".to_owned()];
    assert!(!says(&worded, &other_kind), "none of them is there");
}

#[test]
fn opinions_do_not_depend_on_what_else_is_asked() {
    let (judge, goldens, findings) = (judge(), SAID.map(|s| golden(s.0)), SAID.map(|s| finding(s.1)));
    let all = judge.probabilities(&goldens, &findings);
    let [one] = &judge.judge(&goldens, &findings, &[(2, 1)])[..] else { panic!("one opinion expected") };
    assert_eq!(one.probability.to_bits(), all[2 * 4 + 1].to_bits());
}

#[test]
fn places_and_kinds_speak() {
    let judge = judge();
    let mut own = golden(SAID[0].0);
    own.file = FilePattern::new("src/cache.py");
    own.lines = Some(Lines { start: 10, end: 12 });
    own.category = Some("memory-leak".to_owned());
    own.keywords = vec!["cache".to_owned(), "evict".to_owned()];
    own.function = Some("token_for".to_owned());
    let likely = |change: &dyn Fn(&mut Finding)| {
        // A comment that is not terse, so that its text is weighed in every place.
        let mut other = finding(&format!("tokenCache grows{}", " and this goes on".repeat(6)));
        change(&mut other);
        judge.probabilities(std::slice::from_ref(&own), &[other])[0]
    };
    let at = |file: &'static str, line: u32| {
        move |f: &mut Finding| {
            f.file = RepoPath::new(file);
            f.line_start = Some(line);
        }
    };
    // Each is likelier than the one before it.
    let places = [
        likely(&at("src/other.py", 11)),
        likely(&at("src/cache.py", 90)),
        likely(&|_| {}),
        likely(&at("src/cache.py", 13)),
        likely(&at("src/cache.py", 11)),
    ];
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    let without = likely(&|_| {});
    assert!(likely(&|f| f.category = Some("Memory leak".to_owned())) > without);
    assert!(likely(&|f| f.category = Some("style".to_owned())) < without);
    assert!(likely(&|f| f.function = Some("Token_For".to_owned())) > without);
}

#[test]
fn reasons_name_both_sides() {
    let judge = judge();
    let mut own = golden(SAID[0].0);
    own.file = FilePattern::new("a.py");
    let mut other = finding(SAID[0].1);
    other.file = RepoPath::new("b.py");
    let [opinion] = &judge.judge(&[own], &[other], &[(0, 0)])[..] else { panic!("one opinion expected") };
    let explanation = opinion.explanation();
    assert!(explanation.contains("against: ") && explanation.contains("other_file -"), "{explanation}");
    assert!(explanation.starts_with("for: "), "{explanation}");
}

#[test]
fn fits_are_the_same_bits_with_any_number_of_threads() {
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| format!("{:?}", judge().params()))
    };
    assert_eq!(bits(1), bits(4));
}

#[test]
fn hostile_texts_get_a_probability() {
    let judge = judge();
    let long = "a".repeat(1 << 20);
    let words = "leak `x` ".repeat(1 << 17);
    let ticks = "`".repeat(1 << 20);
    let texts =
        ["", " ", "\0\0", "\u{202e}drowssap\u{202c}", "🦀🦀 é ß İ", "n't", "\u{2019}t", "_", "0.", "1.x", "``", "'t"];
    let texts: Vec<&str> = texts.into_iter().chain([long.as_str(), &words, &ticks]).collect();
    let goldens: Vec<Golden> = texts.iter().map(|text| golden(text)).collect();
    let mut findings: Vec<Finding> = texts.iter().map(|text| finding(text)).collect();
    findings.push(Finding::new("nothing said"));
    for probability in judge.probabilities(&goldens, &findings) {
        assert!((0.0..=1.0).contains(&probability));
    }
    assert!(judge.probabilities(&[], &findings).is_empty());
    assert!(judge.probabilities(&goldens, &[]).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Findings and goldens in another order get the same opinions, to the bit.
    #[test]
    fn order_does_not_matter(texts in proptest::collection::vec("\\PC{0,40}|[a-z]{1,6}( [a-zA-Z_`.]{1,8}){0,6}", 1..6)) {
        let judge = judge();
        let goldens = SAID.map(|s| golden(s.0));
        let forth: Vec<Finding> = texts.iter().map(|text| finding(text)).collect();
        let back: Vec<Finding> = forth.iter().rev().cloned().collect();
        let (a, b) = (judge.probabilities(&goldens, &forth), judge.probabilities(&goldens, &back));
        let n = texts.len();
        for g in 0..goldens.len() {
            for f in 0..n {
                let (one, other) = (a[g * n + f], b[g * n + n - 1 - f]);
                prop_assert!((0.0..=1.0).contains(&one));
                prop_assert_eq!(one.to_bits(), other.to_bits());
            }
        }
    }
}

/// A drafted golden has a title and a place. That a finding elsewhere is of its kind says nothing of it.
#[test]
fn a_title_is_not_found_in_another_file_without_a_word_in_common() {
    let shipped = include_str!("../../../karat/judges/local.toml");
    let judge = LocalJudge::new(toml::from_str(shipped).unwrap()).unwrap();
    let drafted = Golden {
        title: Some("Respect the tariff".to_owned()),
        category: Some("correctness".to_owned()),
        rule_id: Some("R1".to_owned()),
        function: Some("charge".to_owned()),
        cwe: vec![682],
        file: FilePattern::new("src/bill.py"),
        lines: Some(Lines { start: 3, end: 4 }),
        ..Golden::new("g")
    };
    let other = Finding {
        category: drafted.category.clone(),
        rule_id: drafted.rule_id.clone(),
        function: drafted.function.clone(),
        cwe: drafted.cwe.clone(),
        file: RepoPath::new("lib/menu.py"),
        line_start: Some(3),
        ..finding("A wrong number is drawn")
    };
    let said = |golden: &Golden, finding: &Finding| {
        let opinion = judge.judge(std::slice::from_ref(golden), std::slice::from_ref(finding), &[(0, 0)]).remove(0);
        (opinion.matched, opinion.reasons.iter().any(|(name, _)| *name == "nothing_in_common"))
    };
    let prose = Finding { rule_id: None, cwe: Vec::new(), ..other.clone() };
    for finding in [&other, &prose] {
        assert_eq!(said(&drafted, finding), (false, true), "{finding:?}");
    }
    // Whatever brings the two together is weighed as before.
    let worded = Finding { message: Some("The tariff is ignored".to_owned()), ..other.clone() };
    let moved = Finding { file: RepoPath::new("old/bill.py"), ..other.clone() };
    let placeless = Finding { file: None, ..other.clone() };
    for finding in [&worded, &moved, &placeless] {
        assert!(!said(&drafted, finding).1, "{finding:?}");
    }
    let described = Golden { description: Some("The total leaves it out".to_owned()), ..drafted };
    assert!(!said(&described, &other).1);
}
