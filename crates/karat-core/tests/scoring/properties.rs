//! What must hold for every input.

use crate::story::{profile, suite};
use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden};
use karat_core::ids::{CaseId, ToolName};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::scorecard::{ToolScore, score};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use proptest::prelude::*;

const FILES: [&str; 4] = ["src/a.py", "src/b.py", "lib/a.py", "web/x/c.ts"];
const WORDS: [&str; 6] = ["sql", "race", "leak", "lock", "token", "path"];

pub(crate) fn goldens() -> impl Strategy<Value = Vec<Golden>> {
    let one = (0..4_usize, proptest::option::of(1_u32..30), proptest::collection::vec(0..6_usize, 0..3), 0..6_u8);
    proptest::collection::vec(one, 0..7).prop_map(|list| {
        let build = |(i, (file, line, words, kind)): (usize, (usize, Option<u32>, Vec<usize>, u8))| Golden {
            title: Some(format!("{} problem number {i}", WORDS[i % 6])),
            file: FilePattern::new(FILES[file]),
            lines: Lines::from_start(line, line.map(|l| l + 2)),
            keywords: words.iter().map(|w| WORDS[*w].to_owned()).collect(),
            rule_id: Some(format!("r{}", i % 3)),
            acceptance: match kind {
                0 => Acceptance::Acceptable,
                1 => Acceptance::Trap,
                _ => Acceptance::Required,
            },
            ..Golden::new(format!("g{i}"))
        };
        list.into_iter().enumerate().map(build).collect()
    })
}

pub(crate) fn findings() -> impl Strategy<Value = Vec<Finding>> {
    let one = (0..5_usize, proptest::option::of(1_u32..30), proptest::collection::vec(0..6_usize, 0..4), 0..3_u8);
    proptest::collection::vec(one, 0..9).prop_map(|list| {
        let build = |(i, (file, line, words, rule)): (usize, (usize, Option<u32>, Vec<usize>, u8))| Finding {
            message: Some(words.iter().map(|w| WORDS[*w]).collect::<Vec<_>>().join(" ")),
            file: FILES.get(file).and_then(|f| RepoPath::new(f)),
            line_start: line,
            rule_id: Some(format!("r{rule}")),
            ..Finding::new(format!("f{i}"))
        };
        list.into_iter().enumerate().map(build).collect()
    })
}

fn scored(name: &str, goldens: &[Golden], findings: &[Finding]) -> ToolScore {
    let suite = suite(vec![Case { goldens: goldens.to_vec(), ..Case::new("c") }]);
    let mut trial = Trial::reported(CaseId::new("c"), ToolName::new("t"), 1);
    trial.findings = findings.to_vec();
    score(&suite, &[trial], &[], &profile(name, "")).tools.remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_lost_and_nothing_counts_twice(goldens in goldens(), findings in findings()) {
        for name in ["karat", "crb", "identity", "owasp"] {
            let tool = scored(name, &goldens, &findings);
            let result = &tool.cases[0].trials[0].result;
            // Where nothing but verdicts is compared, no golden is missed.
            let required = if name == "owasp" { 0 } else { goldens.iter().filter(|g| g.is_required()).count() };
            result.assert_conserved(findings.len(), required);
            let mut seen: Vec<usize> = result.matches.iter().chain(&result.acceptable).map(|m| m.finding)
                .chain(result.extras.iter().map(|e| e.finding)).chain(result.duplicates.iter().map(|d| d.finding)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..findings.len()).collect::<Vec<_>>(), "{}", name);
        }
    }

    #[test]
    fn the_order_of_findings_changes_no_count(goldens in goldens(), findings in findings()) {
        let mut turned = findings.clone();
        turned.reverse();
        let (a, b) = (scored("karat", &goldens, &findings), scored("karat", &goldens, &turned));
        let total = |tool: &ToolScore| -> f64 { tool.cases[0].trials[0].result.matches.iter().filter_map(|m| m.score).sum() };
        prop_assert!((total(&a) - total(&b)).abs() < 1e-6);
    }

    #[test]
    fn one_more_finding_never_lowers_the_total(goldens in goldens(), findings in findings()) {
        prop_assume!(!findings.is_empty());
        let total = |tool: &ToolScore| -> f64 { tool.cases[0].trials[0].result.matches.iter().filter_map(|m| m.score).sum() };
        let fewer = scored("karat", &goldens, &findings[1..]);
        let more = scored("karat", &goldens, &findings);
        prop_assert!(total(&more) + 1e-9 >= total(&fewer));
    }

    #[test]
    fn saying_everything_twice_finds_nothing_more(goldens in goldens(), findings in findings()) {
        // Twice the same findings cannot raise recall by matching one text to itself: each golden still needs a pair that counts.
        let found = |tool: &ToolScore| -> Vec<usize> { tool.cases[0].trials[0].result.matches.iter().map(|m| m.golden).collect() };
        let mut twice = findings.clone();
        twice.extend(findings.iter().map(|f| Finding { id: karat_core::ids::FindingId::new(format!("{}again", f.id)), ..f.clone() }));
        let (once, doubled) = (scored("crb", &goldens, &findings), scored("crb", &goldens, &twice));
        prop_assert!(doubled.counts.tp + doubled.counts.fp + doubled.cases[0].trials[0].result.duplicates.len() >= once.counts.tp + once.counts.fp);
        for golden in found(&once) {
            prop_assert!(found(&doubled).contains(&golden));
        }
    }

    #[test]
    fn metrics_stay_between_0_and_1(goldens in goldens(), findings in findings()) {
        for name in ["karat", "crb", "identity", "owasp"] {
            for (id, estimate) in scored(name, &goldens, &findings).metrics {
                let low = if id == "youden" { -1.0 } else { 0.0 };
                prop_assert!(estimate.value.is_none_or(|v| (low..=1.0).contains(&v)), "{} {} {:?}", name, id, estimate.value);
                prop_assert_eq!(estimate.value.is_none(), estimate.undefined.is_some());
            }
        }
    }
}
