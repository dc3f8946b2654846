//! Hand-made files with every kind of disagreement, and the real benchmark where it is available.

use crate::testing::{check, check_fault, import_all, shared_data};
use crate::{ImportedData, input};
use karat_core::ids::{FindingId, GoldenId, ToolName};
use karat_core::judgement::Decision;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const GOLDENS: &[u8] = include_bytes!("../../fixtures/code-review-bench/golden_comments/shop.json");
const CANDIDATES: &[u8] = include_bytes!("../../fixtures/code-review-bench/results/strict/candidates.json");
const EVALUATIONS: &[u8] = include_bytes!("../../fixtures/code-review-bench/results/strict/evaluations.json");

const TRIALS: &str = r#"
    ran ada
    ran bob
    ran cyd
    ran dot
    trial shop-7 ada 1 reported
    f1: message="Query is built by hand" file="db.py" start="12" source="extracted"
    f2: message="also the query"
    f3: message="style"
    f4: message="broken judge"
    f5: message="style"
    f6: message="only evaluated"
    trial shop-7 bob 1 reported
    f1: message="(no text)"
    trial shop-7 cyd 1 reported
    trial shop-7 dot 1 skipped
"#;

#[test]
fn files_are_combined_in_any_order() {
    let goldens = ("golden_comments/shop.json", GOLDENS);
    let candidates = ("results/strict/candidates.json", CANDIDATES);
    let evaluations = ("results/strict/evaluations.json", EVALUATIONS);
    let expect = format!(
        r#"{TRIALS}
        case shop-7 vulnerable name "Faster orders" repo "maker/shop" meta {{"original_url": "https://github.com/maker/shop/pull/70", "remark": "rebuilt", "url": "https://github.com/bench/shop/pull/7"}}
        golden g1 description="SQL injection" severity="high"
        golden g2 description="Race" severity="low"
        golden g3 description="Race"
        case shop-8 safe name "Nothing wrong" repo "maker/shop" meta {{"url": "https://github.com/bench/shop/pull/8"}}
        judged shop-7 ada by strict: g1 f1 true 0.9 "the same query"
        judged shop-7 ada by strict: g2 f1 true
        judged shop-7 ada by strict: g3 f3 true
        judged shop-7 ada by strict: - f5 false
        judged shop-7 ada by strict: - f6 false
        judged shop-7 ada by strict: - f2 true "matched a golden but was not its best candidate; the source does not say which"
        judged shop-7 cyd by strict: - f1 true "matched a golden that is not among the goldens of this case"
        note candidate skipped: its tool reported the same text before (1)
        note candidates of a skipped trial ignored (1)
        note error of the judge (1)
        note finding left unjudged: its judge failed (1)
        note line number ignored: line numbers start at 1 (1)
        note matched a golden that is not among the goldens of this case (1)
        note trial whose tp, fp and fn differ from the lengths of its lists; the lists are used (1)
        note trial whose true positives and false negatives are not all goldens of its case (1)
        note unknown severity ignored: "Dire" (1)
        "#
    )
    .replace("trial shop-7 cyd 1 reported", "trial shop-7 cyd 1 reported\n f1: message=\"elsewhere\"");
    for inputs in [[goldens, candidates, evaluations], [candidates, evaluations, goldens]] {
        let data = import_all("code-review-bench", &inputs).unwrap_or_else(|error| panic!("{error}"));
        check(&data, &expect);
    }
}

#[test]
fn goldens_are_taken_from_evaluations_alone() {
    let text: &[u8] = br#"{"https://h/o/r/pull/1": {"ada": {
        "true_positives": [{"golden_comment": "B", "matched_candidate": "x", "confidence": 7}],
        "false_negatives": [{"golden_comment": "A", "severity": "High"}]}, "bob": {"false_negatives": [
        {"golden_comment": "A"}, {"golden_comment": "B"}]}}}"#;
    let data = import_all("code-review-bench", &[("results/j/e.json", text)]).unwrap_or_else(|error| panic!("{error}"));
    check(
        &data,
        r#"
        ran ada
        ran bob
        trial r-1 ada 1 reported
        f1: message="x"
        trial r-1 bob 1 reported
        case r-1 vulnerable repo "o/r" meta {"url": "https://h/o/r/pull/1"}
        golden g1 description="B"
        golden g2 description="A" severity="high"
        judged r-1 ada by j: g1 f1 true
        note goldens taken from the evaluations: no golden_comments file was given (1)
        "#,
    );
}

#[test]
fn candidates_alone_give_trials_and_no_cases() {
    let text: &[u8] = br#"{"https://h/o/r/pull/1": {"ada": [{"text": "x"}], "bob": []}}"#;
    let data = import_all("code-review-bench", &[("results/j/c.json", text)]).unwrap_or_else(|error| panic!("{error}"));
    check(
        &data,
        r#"
        ran ada
        ran bob
        trial r-1 ada 1 reported
        f1: message="x"
        trial r-1 bob 1 reported
        "#,
    );
}

#[test]
fn two_judges_at_once_are_refused() {
    let inputs = [("results/a/candidates.json", CANDIDATES), ("results/b/candidates.json", CANDIDATES)];
    let error = import_all("code-review-bench", &inputs).map(|_| ()).expect_err("two judges").to_string();
    assert!(
        error.starts_with("results/b/candidates.json: these are results of the judge \"b\", after those of \"a\";"),
        "{error}"
    );
    assert!(error.ends_with("import one judge's folder at a time"), "{error}");
}

#[test]
fn faults_have_positions() {
    let check = |text: &str, expect: &str| check_fault("code-review-bench", text, expect);
    check("", "the file is empty");
    check("[{\"url\":\"u\"}]", "in:1:12: missing field `comments`");
    check("[{\"url\":\"u\",\"comments\":[\n{\"comment\":null}]}]", "in:2:15: invalid type: null, expected a string");
    check("{\"u\":[]}", "invalid type: sequence, expected an object of tools");
    check(
        "{\"u\":{\"t\":3}}",
        "invalid type: integer `3`, expected an array of candidates or an object with an evaluation",
    );
    check("{\"u\":{\"t\":[{\"path\":\"x\"}]}}", "missing field `text`");
    check("{\"u\":{\"t\":{\"true_positives\":[{}]}}}", "missing field `golden_comment`");
    check("{\"u\":{\"t\":{\"true_pos", "the file ends in the middle");
}

/// Sums of true positives, false positives and misses by tool.
type Counts = BTreeMap<String, (usize, usize, usize)>;

#[test]
#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
fn published_counts_are_reproduced() {
    let Some(root) = shared_data("code-review-bench") else {
        eprintln!("skipped: no code-review-bench in the shared data");
        return;
    };
    let goldens = files(&root.join("golden_comments"));
    let judges: Vec<PathBuf> = files(&root.join("results"));
    assert_eq!(judges.len(), 3);
    for judge in judges {
        let results = [judge.join("candidates.json"), judge.join("evaluations.json")];
        let published_counts = published_counts(&results[1]);
        assert_eq!(published_counts.len(), 12);
        let whole = import_paths(goldens.iter().chain(&results));
        assert_eq!((whole.cases.len(), whole.trials.len()), (30, 360));
        assert_eq!(whole.cases.iter().map(|case| case.goldens.len()).sum::<usize>(), 85);
        assert_eq!(recompute_counts(&whole), published_counts, "{}", judge.display());
        // The evaluations alone name all goldens.
        let alone = import_paths(&results);
        assert_eq!(recompute_counts(&alone), published_counts, "{} alone", judge.display());
        let ids = |data: &ImportedData| data.cases.iter().map(|case| case.id.clone()).collect::<BTreeSet<_>>();
        assert_eq!(ids(&alone), ids(&whole));
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn import_paths<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> ImportedData {
    let mut data = ImportedData::default();
    for path in paths {
        let input = input::open(path).unwrap_or_else(|error| panic!("{error}"));
        super::import(input, &mut data).unwrap_or_else(|error| panic!("{error}"));
    }
    super::finish(&mut data);
    data
}

/// The counts in the evaluations file.
fn published_counts(path: &Path) -> Counts {
    let text = std::fs::read_to_string(path).expect("the evaluations can be read");
    let value: serde_json::Value = serde_json::from_str(&text).expect("the evaluations are JSON");
    let mut counts = Counts::new();
    for (tool, evaluation) in value.as_object().into_iter().flatten().flat_map(|(_, tools)| tools.as_object()).flatten()
    {
        let number = |name: &str| evaluation[name].as_u64().and_then(|n| usize::try_from(n).ok()).expect("a count");
        let entry = counts.entry(tool.clone()).or_default();
        entry.0 += number("tp");
        entry.1 += number("fp");
        entry.2 += number("fn");
    }
    counts
}

/// The counts from the imported judgements: matched goldens, unmatched findings, unmatched goldens.
fn recompute_counts(data: &ImportedData) -> Counts {
    let goldens: BTreeMap<&str, usize> = data.cases.iter().map(|case| (case.id.as_str(), case.goldens.len())).collect();
    type Matched<'a> = (BTreeSet<&'a GoldenId>, BTreeSet<&'a FindingId>);
    let mut hit: BTreeMap<(&str, &ToolName), Matched<'_>> = BTreeMap::new();
    for judgement in &data.judgements {
        let Decision::Pair(pair) = &judgement.decision else { continue };
        if pair.matched {
            let entry = hit.entry((judgement.case.as_str(), &judgement.tool)).or_default();
            entry.0.extend(&pair.golden);
            entry.1.insert(&pair.finding);
        }
    }
    let mut counts = Counts::new();
    for trial in &data.trials {
        let (found, matched) = hit.get(&(trial.case.as_str(), &trial.tool)).map_or((0, 0), |(g, f)| (g.len(), f.len()));
        let entry = counts.entry(trial.tool.to_string()).or_default();
        entry.0 += found;
        entry.1 += trial.findings.len() - matched;
        entry.2 += goldens[trial.case.as_str()] - found;
    }
    counts
}
