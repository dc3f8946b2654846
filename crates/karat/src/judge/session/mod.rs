//! Asks a judge about many trials, and counts what that took.

mod audits;
mod context;
mod pairs;
mod usage;

pub use context::{JudgeContext, JudgeEvent};
pub(super) use context::{cannot_audit, no_answer};
pub use usage::SessionResult;

use super::registry::{Judge, JudgeKind};
use crate::failure::Result;
use karat_core::judgement::{Decision, Judgement};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{PairQuestion, run_judge_rounds};
use karat_core::trial::Trial;
use pairs::{PanelVotes, answer_alone};
use std::collections::BTreeSet;
use usage::UsageTable;

/// Asks a judge what the profile needs: about every pair that can still change the assignment of a trial, or about every trial
/// as a whole. What the given judgements decide is not asked about.
pub(super) fn ask(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    profile: &Profile,
    context: &mut JudgeContext<'_>,
) -> Result<SessionResult> {
    let mut usage = UsageTable::default();
    let (mut judgements, saved) = match profile.method {
        Method::Audit => (audits::ask(judge, trials, given, context, &mut usage)?, 0),
        _ => ask_pairs(judge, trials, given, profile, context, &mut usage)?,
    };
    usage.require_answers(judge)?;
    add_extra_labels(&mut judgements, context.labels);
    Ok(SessionResult { judgements, ..usage.finish(judge, saved) })
}

/// Asks a judge about exactly these pairs. There is a judgement for each of them.
pub fn ask_about(
    judge: &Judge,
    questions: &[PairQuestion<'_>],
    context: &mut JudgeContext<'_>,
) -> Result<SessionResult> {
    let mut usage = UsageTable::default();
    let judgements = match &judge.kind {
        JudgeKind::Panel(panel) => PanelVotes::new(judge, panel).answer(questions, context, &mut usage)?,
        _ => answer_alone(judge, questions, context, &mut usage)?,
    };
    Ok(SessionResult { judgements, ..usage.finish(judge, 0) })
}

/// The judgements, and how many open pairs could not change anything.
fn ask_pairs(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    profile: &Profile,
    context: &mut JudgeContext<'_>,
    usage: &mut UsageTable,
) -> Result<(Vec<Judgement>, usize)> {
    let suite = &context.loaded.suite;
    let JudgeKind::Panel(panel) = &judge.kind else {
        let mut answer = |questions: &[PairQuestion<'_>]| answer_alone(judge, questions, context, usage);
        let rounds = run_judge_rounds(suite, trials, given, profile, &judge.name, &mut answer)?;
        return Ok((rounds.judgements, rounds.saved));
    };
    let mut votes = PanelVotes::new(judge, panel);
    loop {
        votes.returned.clear();
        let mut answer = |questions: &[PairQuestion<'_>]| votes.answer(questions, context, usage);
        let rounds = run_judge_rounds(suite, trials, given.clone(), profile, &judge.name, &mut answer)?;
        // Votes on later pairs may change a panel's decision about earlier ones, and then other pairs may matter.
        if votes.is_settled() {
            usage.notes.extend(votes.note());
            return Ok((rounds.judgements, rounds.saved));
        }
    }
}

/// Adds people's labels of extras, which no judge is asked about, unless the same judgement was given.
fn add_extra_labels(judgements: &mut Vec<Judgement>, labels: &[Judgement]) {
    let key = |judgement: &Judgement| match &judgement.decision {
        Decision::Extra(extra) => {
            let Judgement { case, tool, trial, judge, .. } = judgement;
            Some((case.clone(), tool.clone(), *trial, judge.clone(), extra.finding.clone()))
        }
        _ => None,
    };
    let given: BTreeSet<_> = judgements.iter().filter_map(key).collect();
    judgements.extend(labels.iter().filter(|label| key(label).is_some_and(|key| !given.contains(&key))).cloned());
}
