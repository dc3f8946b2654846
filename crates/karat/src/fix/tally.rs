//! Adds up what became of findings.

use karat_core::ids::{CaseId, GoldenId};
use karat_core::metric::fix_through::{GoldenFixes, fix_through};
use karat_core::scorecard::{Scorecard, ToolScore};
use karat_core::suite::Suite;
use karat_format::fix::{FixV1, FixVerdictV1, FixedToolV1};
use karat_format::report::EstimateV1;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The figures of every tool over goldens whose proof holds.
pub(super) fn tally(
    scorecard: &Scorecard,
    suite: &Suite,
    holding: &BTreeSet<(&CaseId, &GoldenId)>,
    fixes: &[FixV1],
) -> Vec<FixedToolV1> {
    scorecard.tools.iter().map(|tool| tally_tool(tool, suite, holding, fixes)).collect()
}

fn tally_tool(
    tool: &ToolScore,
    suite: &Suite,
    holding: &BTreeSet<(&CaseId, &GoldenId)>,
    fixes: &[FixV1],
) -> FixedToolV1 {
    let name = tool.tool.to_string();
    let own = fixes.iter().filter(|fix| fix.tool == name);
    let verdicts: HashMap<(&str, &str, u32), FixVerdictV1> =
        own.map(|fix| ((fix.case.as_str(), fix.golden.as_str(), fix.trial), fix.verdict)).collect();
    let mut by_golden: BTreeMap<(&CaseId, &GoldenId), GoldenFixes> = BTreeMap::new();
    let mut counts: BTreeMap<FixVerdictV1, usize> = BTreeMap::new();
    for score in &tool.cases {
        let case = &suite.cases[score.case];
        for golden in case.goldens.iter().filter(|golden| holding.contains(&(&case.id, &golden.id))) {
            for trial in score.counted() {
                let verdict = verdicts.get(&(case.id.as_str(), golden.id.as_str(), trial.number)).copied();
                if let Some(verdict) = verdict {
                    *counts.entry(verdict).or_default() += 1;
                }
                if verdict == Some(FixVerdictV1::Unavailable) {
                    continue;
                }
                let fixes = by_golden.entry((&case.id, &golden.id)).or_default();
                fixes.trials += 1;
                fixes.found += usize::from(verdict.is_some());
                fixes.repaired += usize::from(verdict == Some(FixVerdictV1::Repaired));
            }
        }
    }
    let goldens: Vec<GoldenFixes> = by_golden.into_values().collect();
    let figures = fix_through(&goldens);
    let of = |verdict: FixVerdictV1| counts.get(&verdict).copied().unwrap_or_default();
    FixedToolV1 {
        tool: name,
        goldens: goldens.len(),
        trials: goldens.iter().map(|golden| golden.trials).sum(),
        found: goldens.iter().map(|golden| golden.found).sum(),
        repaired: of(FixVerdictV1::Repaired),
        not_repaired: of(FixVerdictV1::NotRepaired),
        broken: of(FixVerdictV1::Broken),
        failed: of(FixVerdictV1::Failed),
        unavailable: of(FixVerdictV1::Unavailable),
        fix_through: EstimateV1::from(&figures.of_all),
        fix_through_found: EstimateV1::from(&figures.of_found),
    }
}
