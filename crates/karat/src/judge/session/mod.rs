//! Asking a judge about many trials, and keeping count of what that took.

mod audits;
mod members;
mod panel;
mod usage;

use super::registry::Judge;
use crate::suite::LoadedSuite;
use karat_core::judgement::{Decision, Judgement};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{Question, run_judge_rounds};
use karat_core::trial::Trial;
use karat_format::report::{JudgeSpentV1, JudgeV1};
use karat_io::cancel::Cancel;
use karat_llm::engine::EngineError;
use karat_llm::ledger::Ledger;
use panel::Panelists;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use usage::UsageTable;

/// What is needed to ask.
pub struct JudgeContext<'a> {
    /// The suite, for the code around the places.
    pub loaded: &'a LoadedSuite,
    /// Where exchanges are kept.
    pub ledger: &'a mut dyn Ledger,
    /// What people have said of the trials.
    pub labels: &'a [Judgement],
    /// A wish to stop.
    pub cancel: &'a Cancel,
    /// Hears how it goes.
    pub tell: &'a mut dyn FnMut(JudgeEvent<'_>),
}

/// How asking goes.
#[derive(Debug)]
pub enum JudgeEvent<'a> {
    /// So many more questions are put.
    Round(usize),
    /// One of them is done.
    Settled {
        /// Whether there is a decision.
        answered: bool,
    },
    /// A request failed and is made again.
    Retrying {
        /// How long it waits.
        wait: Duration,
        /// What happened.
        why: &'a str,
    },
}

/// What came of asking.
#[derive(Debug, Default)]
pub struct SessionResult {
    /// All judgements that count: those given, then those made.
    pub judgements: Vec<Judgement>,
    /// What every judge said that was asked, each member of a panel for itself.
    pub voices: Vec<Judgement>,
    /// What each judge did.
    pub judges: Vec<JudgeV1>,
    /// By judge that is a model: what it cost this time.
    pub spent: BTreeMap<String, JudgeSpentV1>,
    /// What a reader of the report should know.
    pub notes: Vec<String>,
}

/// Why asking ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The engine could not go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Somebody asked to stop.
    #[error("stopped: what was answered is kept in the ledger, and the same command goes on from there")]
    Stopped,
    /// Every single question failed.
    #[error("the judge {judge} answered none of {questions} questions, the first because {why}")]
    NoAnswer {
        /// Who.
        judge: String,
        /// How many were put.
        questions: usize,
        /// What came of the first.
        why: String,
    },
    /// An audit was asked of somebody who decides about pairs alone.
    #[error(
        "the judge {judge} decides about pairs alone, and this profile audits whole responses; name a model with --judge"
    )]
    CannotAudit {
        /// Who.
        judge: String,
    },
}

/// Asks a judge what the profile wants to know: about every pair that can still change the assignment of a trial, or about
/// every trial as a whole. What the given judgements decide is not asked about.
pub fn ask(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    profile: &Profile,
    context: &mut JudgeContext<'_>,
) -> Result<SessionResult, AskError> {
    let mut usage_table = UsageTable::default();
    let (judgements, saved) = match profile.method {
        Method::Audit => (audits::ask(judge, trials, given, context, &mut usage_table)?, 0),
        _ => pairs(judge, trials, given, profile, context, &mut usage_table)?,
    };
    usage_table.refuse_silence(judge)?;
    let judgements = with_extras(judgements, context.labels);
    Ok(SessionResult { judgements, ..usage_table.close(judge, saved) })
}

/// The judgements, and what people said of extras. Nobody is asked about those; whoever asks people hears of them.
fn with_extras(mut judgements: Vec<Judgement>, labels: &[Judgement]) -> Vec<Judgement> {
    let about = |judgement: &Judgement| match &judgement.decision {
        Decision::Extra(extra) => {
            let Judgement { case, tool, trial, judge, .. } = judgement;
            Some((case.clone(), tool.clone(), *trial, judge.clone(), extra.finding.clone()))
        }
        _ => None,
    };
    // Nobody votes twice.
    let given: BTreeSet<_> = judgements.iter().filter_map(about).collect();
    let unheard = labels.iter().filter(|label| about(label).is_some_and(|about| !given.contains(&about)));
    judgements.extend(unheard.cloned());
    judgements
}

/// Asks a judge about these pairs and no others, whatever difference they make. There is a judgement for each of them.
pub fn ask_about(
    judge: &Judge,
    questions: &[Question<'_>],
    context: &mut JudgeContext<'_>,
) -> Result<SessionResult, AskError> {
    let (mut usage_table, mut panelists) = (UsageTable::default(), Panelists::new(judge));
    (context.tell)(JudgeEvent::Round(questions.len()));
    let judgements = panelists.answer(questions, context, &mut usage_table)?;
    let judgements = panelists.settled(questions).unwrap_or(judgements);
    Ok(SessionResult { judgements, ..usage_table.close(judge, 0) })
}

fn pairs(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    profile: &Profile,
    context: &mut JudgeContext<'_>,
    usage_table: &mut UsageTable,
) -> Result<(Vec<Judgement>, usize), AskError> {
    let suite = &context.loaded.suite;
    let mut panelists = Panelists::new(judge);
    loop {
        panelists.begin();
        let mut answer = |questions: &[Question<'_>]| {
            (context.tell)(JudgeEvent::Round(questions.len()));
            panelists.answer(questions, context, usage_table)
        };
        let consulted = run_judge_rounds(suite, trials, given.clone(), profile, &judge.name, &mut answer)?;
        // What judges say of later pairs may change what a panel makes of earlier ones, and then other pairs may matter.
        if panelists.is_settled() {
            usage_table.note(panelists.note());
            return Ok((consulted.judgements, consulted.saved));
        }
    }
}
