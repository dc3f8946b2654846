//! Combines several judges into one decision.
//!
//! Results do not depend on the order of the judges, and unanimous decisions stay as they are. A tie is left
//! open or settled by a documented rule, and is reported either way.

mod agreement;
mod audits;

pub use agreement::{AGREEMENT_SEED, AuditAnswer, AuditField, AuditRatings, FieldAgreement};
pub use audits::{AuditTie, AuditVote, AuditVotes, MergedAudit, PeopleOnFinding, merge_audits};

use crate::stats::agreement::{Rating, Ratings};
use crate::stats::dawid_skene::dawid_skene;
use std::collections::BTreeMap;

/// How votes become a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consensus {
    /// Every vote weighs the same.
    #[default]
    Majority,
    /// A vote weighs by the error rates of its judge, which are learnt from all items together.
    DawidSkene,
}

impl Consensus {
    /// All ways, as they are typed.
    pub const NAMES: [(&str, Self); 2] = [("majority", Self::Majority), ("dawid-skene", Self::DawidSkene)];

    /// The way of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, way)| *way)
    }
}

/// One judge's vote on an item.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Vote {
    /// The judge, counted from 0. The first word of a judge on an item counts.
    pub judge: usize,
    pub matched: bool,
    pub confidence: Option<f64>,
}

/// What a panel decides about an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelDecision {
    /// Match or not.
    pub matched: bool,
    /// The share of votes for it; by Dawid–Skene the probability that it is true.
    pub confidence: f64,
}

/// What a panel decides about all items.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelDecisions {
    /// One for each item, in the order given; `None` without votes or on a tie.
    pub items: Vec<Option<PanelDecision>>,
    /// Why it was not decided in the way that was asked for, in words.
    pub note: Option<String>,
}

/// Two judges leave more unknowns than there are figures, so that their errors cannot be separated from the truth.
const FEWEST_JUDGES: usize = 3;

/// With fewer items that several judges have judged, error rates are not known well enough to weigh by.
const FEWEST_ITEMS: usize = 30;

/// Settles items, each with the votes on it.
///
/// By majority, a tie is settled by the greater sum of confidences where every vote states one, and is left open
/// else. By Dawid–Skene, where there is too little to learn from, the majority decides and the note says so.
pub fn settle_pairs(items: &[Vec<Vote>], how: Consensus) -> PanelDecisions {
    let majority = |note| PanelDecisions { items: items.iter().map(|votes| majority(votes)).collect(), note };
    if how == Consensus::Majority {
        return majority(None);
    }
    let ratings = ratings(items);
    let (judges, shared) = (ratings.raters, ratings.pairable());
    if judges < FEWEST_JUDGES || shared < FEWEST_ITEMS {
        return majority(Some(format!(
            "Dawid–Skene needs {FEWEST_JUDGES} judges and {FEWEST_ITEMS} items judged by two of them; there are {judges} \
             and {shared}, so the majority decided"
        )));
    }
    let learnt = dawid_skene(&ratings);
    if !learnt.converged {
        return majority(Some("Dawid–Skene did not converge on these votes, so the majority decided".to_owned()));
    }
    let ruling = |(posterior, class): (&Vec<f64>, &Option<usize>)| {
        (*class)?;
        // Without a single vote for a match, there is one class only.
        let likely = posterior.get(MATCH).copied().unwrap_or(0.0);
        let clear = (likely - 0.5).abs() > EVEN;
        clear.then(|| PanelDecision { matched: likely > 0.5, confidence: likely.max(1.0 - likely) })
    };
    PanelDecisions { items: learnt.posterior.iter().zip(&learnt.class).map(ruling).collect(), note: None }
}

/// The category of a match among ratings; 0 is no match.
const MATCH: usize = 1;

/// So near to one half, rounding alone would decide.
const EVEN: f64 = 1e-9;

/// Settles one item by majority; `None` without votes, or on a tie that confidences do not settle.
pub fn majority(votes: &[Vote]) -> Option<PanelDecision> {
    let mut by_judge: BTreeMap<usize, Vote> = BTreeMap::new();
    for vote in votes {
        by_judge.entry(vote.judge).or_insert(*vote);
    }
    let (yes, no): (Vec<Vote>, Vec<Vote>) = by_judge.values().partition(|vote| vote.matched);
    let matched = match yes.len().cmp(&no.len()) {
        std::cmp::Ordering::Equal => {
            confidence_sum(&yes)?.partial_cmp(&confidence_sum(&no)?).filter(|order| order.is_ne())?.is_gt()
        }
        order => order.is_gt(),
    };
    let voices = if matched { yes.len() } else { no.len() };
    Some(PanelDecision { matched, confidence: voices as f64 / by_judge.len() as f64 })
}

/// The sum of confidences, the same in any order of votes; `None` without votes or where one states none.
fn confidence_sum(votes: &[Vote]) -> Option<f64> {
    let mut stated: Vec<f64> = votes.iter().map(|vote| vote.confidence).collect::<Option<_>>()?;
    stated.sort_by(f64::total_cmp);
    (!stated.is_empty()).then(|| stated.iter().sum())
}

/// The votes as ratings. Judges are numbered by what they said, so that sums run in the same order whoever comes first.
fn ratings(items: &[Vec<Vote>]) -> Ratings {
    let mut by_judge: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
    for (item, votes) in items.iter().enumerate() {
        for vote in votes {
            by_judge.entry(vote.judge).or_default().push((item, vote.matched));
        }
    }
    let mut judges: Vec<(&Vec<(usize, bool)>, usize)> = by_judge.iter().map(|(judge, votes)| (votes, *judge)).collect();
    judges.sort();
    let number: BTreeMap<usize, usize> = judges.iter().enumerate().map(|(at, (_, judge))| (*judge, at)).collect();
    let rating = |vote: &Vote| Rating { rater: number[&vote.judge], category: usize::from(vote.matched) };
    Ratings::new(items.iter().map(|votes| votes.iter().map(rating).collect()))
}

#[cfg(test)]
mod tests;
