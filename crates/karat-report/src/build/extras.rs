//! Extras that nobody has labelled.

use super::{ReportInput, one_line};
use karat_core::pooling::{Member, Pool, pool_extras};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{ToolScore, TrialScore};
use karat_format::report::{PooledExtraV1, PooledMemberV1};

const MOST_POOLS: usize = 100;
const MOST_MEMBERS: usize = 50;

pub(super) fn unlabelled(tool: &ToolScore, profile: &Profile) -> usize {
    tool.cases.iter().flat_map(|case| &case.trials).map(|trial| open(trial, profile).len()).sum()
}

/// The unlabelled extras that at least two tools report.
pub(super) fn pooled_extras(input: &ReportInput<'_>) -> Vec<PooledExtraV1> {
    let (card, profile) = (input.scorecard, input.profile);
    if card.tools.len() < 2 {
        return Vec::new();
    }
    let reach = profile.line.reach;
    let pools = pool_extras(input.suite, input.trials, card, reach, |trial| open(trial, profile));
    // Pools are sorted by the number of tools.
    let shared = pools.iter().take_while(|pool| pool.tools().len() > 1);
    shared.take(MOST_POOLS).map(|pool| pooled_extra(pool, input)).collect()
}

fn open(trial: &TrialScore, profile: &Profile) -> Vec<usize> {
    let compared = profile.method != Method::Verdict && trial.counted;
    if compared { trial.unlabelled_extras(profile) } else { Vec::new() }
}

fn pooled_extra(pool: &Pool<'_>, input: &ReportInput<'_>) -> PooledExtraV1 {
    let member = |member: &Member<'_>| PooledMemberV1 {
        tool: member.trial.tool.to_string(),
        trial: member.trial.number,
        finding: member.finding.id.to_string(),
    };
    let lines = pool.lead.lines();
    PooledExtraV1 {
        case: input.suite.cases[pool.case].id.to_string(),
        file: pool.lead.file.as_ref().map(ToString::to_string),
        line_start: lines.map(|lines| lines.start),
        line_end: lines.map(|lines| lines.end),
        title: one_line(pool.lead.headline()),
        severity: pool.severity(),
        tools: pool.tools().into_iter().map(ToString::to_string).collect(),
        reports: pool.members.len(),
        members: pool.members.iter().take(MOST_MEMBERS).map(member).collect(),
    }
}
