//! In cases of any shape the index leads to what looking at all pairs finds.

use super::*;
use crate::golden::Golden;
use crate::ids::JudgeName;
use crate::lines::Lines;
use crate::matching::decisions::SettledPair;
use crate::matching::pair::prose;
use crate::matching::text::Vocabulary;
use crate::path::{FilePattern, RepoPath};
use crate::profile::{Profile, Requirement, Unstated};
use crate::suite::Case;
use proptest::prelude::*;

fn profile(name: &str) -> Profile {
    let text = match name {
        "karat" => include_str!("../../../../karat/profiles/karat.toml"),
        _ => include_str!("../../../../karat/profiles/crb.toml"),
    };
    let shipped: Profile = toml::from_str(text).unwrap();
    Profile { judge: "none".to_owned(), ..shipped }
}

const FILES: [&str; 9] = [
    "src/a.rs",
    "src/b.rs",
    "src/deep/a.rs",
    "lib/a.rs",
    "lib/c.rs",
    "d.rs",
    "src/lib/e.rs",
    "other/f.rs",
    "other/deep/g.rs",
];
const GLOBS: [&str; 5] = ["src/*.rs", "**/a.rs", "src/**", "*/deep/*", "lib/c*"];
const WORDS: [&str; 7] = ["cache", "token", "race", "lock", "leak", "cache_token", "index"];

/// File, first line and length, keywords, words of the title, kind.
type DrawnGolden = (Option<usize>, Option<(u32, u32)>, Vec<usize>, Vec<usize>, u32);
/// File, first line and length, words of the message, kind.
type DrawnFinding = (Option<usize>, Option<(u32, u32)>, Vec<usize>, u32);

prop_compose! {
    fn goldens()(
        list in proptest::collection::vec((
            proptest::option::weighted(0.9, 0_usize..14),
            proptest::option::weighted(0.7, (1_u32..30, 0_u32..12)),
            proptest::collection::vec(0_usize..7, 0..3),
            proptest::collection::vec(0_usize..7, 0..4),
            0_u32..3,
        ), 1..12)
    ) -> Vec<Golden> {
        let golden = |(number, (file, lines, keywords, title, kind)): (usize, DrawnGolden)| Golden {
            file: file.and_then(|at| FilePattern::new(FILES.iter().chain(&GLOBS).nth(at).unwrap())),
            lines: lines.map(|(start, length)| Lines { start, end: start + length }),
            keywords: keywords.into_iter().map(|at| WORDS[at].to_owned()).collect(),
            title: Some(title.into_iter().map(|at| WORDS[at]).collect::<Vec<_>>().join(" ")),
            category: Some(format!("k{kind}")),
            rule_id: Some(format!("r{kind}")),
            cwe: vec![kind],
            ..Golden::new(format!("g{number}"))
        };
        list.into_iter().enumerate().map(golden).collect()
    }
}

prop_compose! {
    fn findings()(
        list in proptest::collection::vec((
            proptest::option::weighted(0.9, 0_usize..9),
            proptest::option::weighted(0.8, (1_u32..30, 0_u32..25)),
            proptest::collection::vec(0_usize..7, 0..4),
            0_u32..3,
        ), 1..14)
    ) -> Vec<Finding> {
        let finding = |(number, (file, lines, words, kind)): (usize, DrawnFinding)| Finding {
            file: file.and_then(|at| RepoPath::new(FILES[at])),
            line_start: lines.map(|(start, _)| start),
            line_end: lines.map(|(start, length)| start + length),
            message: Some(words.into_iter().map(|at| WORDS[at]).collect::<Vec<_>>().join(" ")),
            category: Some(format!("k{kind}")),
            rule_id: Some(format!("r{kind}")),
            cwe: vec![kind],
            ..Finding::new(format!("f{number}"))
        };
        list.into_iter().enumerate().map(finding).collect()
    }
}

fn profiles() -> impl Strategy<Value = Profile> {
    let requirement = prop_oneof![
        Just(Vec::new()),
        Just(Vec::new()),
        Just(vec![Requirement::Category]),
        Just(vec![Requirement::Rule, Requirement::Cwe]),
        Just(vec![Requirement::File]),
    ];
    let threshold = prop_oneof![Just(0.3), Just(0.1), Just(0.55), Just(0.0), Just(0.32)];
    let steps = prop_oneof![Just((0.8, 0.3)), Just((0.2, 0.5)), Just((1.0, 0.0))];
    (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        requirement,
        threshold,
        steps,
        proptest::option::weighted(0.2, 0_u32..9),
    )
        .prop_map(|(ours, asks, leave_out, require, threshold, (same_name, shared_directory), line_tolerance)| {
            let mut profile = profile(if ours { "karat" } else { "crb" });
            profile.judge = if asks { "local" } else { "none" }.to_owned();
            profile.unstated = if leave_out { Unstated::LeaveOut } else { Unstated::Zero };
            profile.file.same_name = same_name;
            profile.file.shared_directory = shared_directory;
            Profile { require, threshold, line_tolerance, ..profile }
        })
}

fn decisions<'a>(
    stated: &[(usize, usize, bool)],
    nothing: &[usize],
    judge: &'a JudgeName,
    goldens: usize,
    findings: usize,
) -> Decisions<'a> {
    let decided = |matched| SettledPair { matched, partial: false, confidence: Some(0.5), judge, judgement: 0 };
    let mut decisions = Decisions::default();
    for &(golden, finding, matched) in stated {
        decisions.pairs.insert((golden % goldens, finding % findings), decided(matched));
    }
    for finding in nothing {
        decisions.unnamed.insert(finding % findings, decided(false));
    }
    decisions
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_index_leads_to_what_all_pairs_hold(
        goldens in goldens(),
        findings in findings(),
        profile in profiles(),
        stated in proptest::collection::vec((0_usize..20, 0_usize..20, any::<bool>()), 0..4),
        nothing in proptest::collection::vec(0_usize..20, 0..2),
        most in 1_usize..6,
    ) {
        let case = Case { goldens, ..Case::new("c") };
        let vocabulary = Vocabulary::learn(&case.goldens, prose);
        let prepared = PreparedCase::new(&case, &vocabulary, &profile);
        let judge = JudgeName::new("j");
        let decisions = decisions(&stated, &nothing, &judge, case.goldens.len(), findings.len());
        let search = |indexed| Search::with_index(&prepared, &findings, &decisions, indexed);
        let (plain, indexed) = (search(false), search(true));
        let (all, found) = (plain.all_with(usize::MAX), indexed.all_with(usize::MAX));
        prop_assert_eq!(&all.edges, &found.edges);
        prop_assert_eq!(&all.of_golden, &found.of_golden);
        let every: Vec<usize> = (0..findings.len()).collect();
        prop_assert_eq!(plain.best_goldens(&all, &every), indexed.best_goldens(&found, &every));
        let min_score = quantum(profile.judge_threshold);
        prop_assert_eq!(plain.nearest(min_score, most), indexed.nearest(min_score, most));
        prop_assert_eq!(plain.best_candidates(most), indexed.best_candidates(most));
        prop_assert_eq!(plain.best_candidates(usize::MAX), indexed.best_candidates(usize::MAX));
        // What is kept of a golden with too many pairs are its best.
        let (all, found) = (plain.all_with(most), indexed.all_with(most));
        prop_assert_eq!(&all.of_golden, &found.of_golden);
        prop_assert_eq!(&all.cut, &found.cut);
        let weights = |pairs: &TrialPairs| {
            let mut weights: Vec<(u32, i64)> = pairs.edges.iter().map(|edge| (edge.row, edge.weight)).collect();
            weights.sort_unstable();
            weights
        };
        prop_assert_eq!(weights(&all), weights(&found));
    }
}

/// Many goldens that want the same findings each keep others, so that all can be served.
#[test]
fn equal_pairs_are_kept_in_turn() {
    let goldens: Vec<Golden> =
        (0..100).map(|n| Golden { file: FilePattern::new("a.rs"), ..Golden::new(format!("g{n}")) }).collect();
    let findings: Vec<Finding> =
        (0..100).map(|n| Finding { file: RepoPath::new("a.rs"), ..Finding::new(format!("f{n}")) }).collect();
    let (case, profile) = (Case { goldens, ..Case::new("c") }, profile("crb"));
    let (vocabulary, decisions) = (Vocabulary::default(), Decisions::default());
    let prepared = PreparedCase::new(&case, &vocabulary, &profile);
    let found = Search::new(&prepared, &findings, &decisions).all_with(5);
    assert_eq!((found.edges.len(), found.cut.len()), (500, 100));
    assert_eq!(crate::matching::assign::greedy::assign(100, 100, &found.edges).len(), 100);
}
