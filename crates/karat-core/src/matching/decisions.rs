//! What judges said of one trial, by index, with disagreement settled.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::{FindingId, JudgeName};
use crate::judgement::{AuditDecision, Decision, ExtraDecision, Judgement, PairDecision};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The settled decision about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided<'a> {
    /// Match or not.
    pub matched: bool,
    /// Near the truth, not the whole of it, by the deciding judge's word.
    pub partial: bool,
    /// The deciding judge's confidence.
    pub confidence: Option<f64>,
    /// The deciding judge.
    pub judge: &'a JudgeName,
    /// Index of the deciding judgement.
    pub judgement: usize,
}

/// The settled decision about a finding that reports no golden.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidedExtra<'a> {
    /// Whether it is a real problem.
    pub valid: bool,
    /// The deciding judge.
    pub judge: &'a JudgeName,
}

/// All decisions about one trial.
#[derive(Debug, Default)]
pub struct Decisions<'a> {
    /// By golden and finding index.
    pub pairs: BTreeMap<(usize, usize), Decided<'a>>,
    /// By finding index: whether it matched a golden the source does not name, or none at all.
    pub unnamed: BTreeMap<usize, Decided<'a>>,
    /// By finding index: whether it is a real problem, should it report no golden.
    pub extras: BTreeMap<usize, DecidedExtra<'a>>,
    /// Pairs that a judge was asked about in vain, and nobody else decided.
    pub unjudged: BTreeSet<(usize, usize)>,
    /// The audit: of people before models, the first that says what most say.
    pub audit: Option<&'a AuditDecision>,
    /// Who made that audit, and the index of the judgement.
    pub audited_by: Option<(&'a JudgeName, usize)>,
    /// Whether as many audits say something else.
    pub split_audit: bool,
    /// How many of the findings that the audit classifies the trial does not have.
    pub unknown_in_audit: usize,
    /// Judgements of pairs and extras that name a golden or finding the trial does not have.
    pub strangers: Vec<usize>,
}

impl<'a> Decisions<'a> {
    /// Settles the given judgements, which must all be about the trial with these goldens and findings.
    ///
    /// People go before models. Among several of a kind the majority decides; an even split is no match, and of an extra it
    /// decides nothing.
    pub fn settle(judgements: &[(usize, &'a Judgement)], goldens: &[Golden], findings: &[Finding]) -> Self {
        if judgements.is_empty() {
            return Self::default();
        }
        let golden_index: HashMap<&str, usize> = goldens.iter().enumerate().map(|(i, g)| (g.id.as_str(), i)).collect();
        let finding_index: HashMap<&str, usize> =
            findings.iter().enumerate().map(|(i, f)| (f.id.as_str(), i)).collect();
        let mut named: BTreeMap<(usize, usize), Vec<Vote<'a>>> = BTreeMap::new();
        let mut unnamed: BTreeMap<usize, Vec<Vote<'a>>> = BTreeMap::new();
        let mut of_extras: BTreeMap<usize, Vec<(&'a JudgeName, &'a ExtraDecision)>> = BTreeMap::new();
        let mut audits: Vec<Audit<'a>> = Vec::new();
        let mut strangers = Vec::new();
        let mut failed: BTreeSet<(usize, usize)> = BTreeSet::new();
        for &(index, judgement) in judgements {
            match &judgement.decision {
                Decision::Audit(audit) => audits.push(Audit { index, judge: &judgement.judge, audit }),
                Decision::Extra(extra) => match finding_index.get(extra.finding.as_str()) {
                    Some(&f) => of_extras.entry(f).or_default().push((&judgement.judge, extra)),
                    None => strangers.push(index),
                },
                Decision::Unjudged(pair) => {
                    let place = (golden_index.get(pair.golden.as_str()), finding_index.get(pair.finding.as_str()));
                    match place {
                        (Some(&g), Some(&f)) => failed.extend([(g, f)]),
                        _ => strangers.push(index),
                    }
                }
                Decision::Pair(pair) => {
                    let vote = Vote { index, judge: &judgement.judge, pair };
                    let finding = finding_index.get(pair.finding.as_str());
                    let golden = pair.golden.as_ref().map(|id| golden_index.get(id.as_str()));
                    match (golden, finding) {
                        (Some(Some(&g)), Some(&f)) => named.entry((g, f)).or_default().push(vote),
                        (None, Some(&f)) => unnamed.entry(f).or_default().push(vote),
                        _ => strangers.push(index),
                    }
                }
            }
        }
        let (settled, split_audit) = settle_audits(&audits);
        // What free text claims has no name but the one a judge gave it. Where a tool lists its findings, they have names.
        let known = |id: &FindingId| finding_index.contains_key(id.as_str()) || (findings.is_empty() && id.is_claim());
        let unknown = |audit: &AuditDecision| audit.findings.iter().filter(|found| !known(&found.finding)).count();
        failed.retain(|pair| !named.contains_key(pair));
        Self {
            unjudged: failed,
            pairs: named.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            unnamed: unnamed.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            extras: of_extras.into_iter().filter_map(|(key, votes)| Some((key, decide_extra(&votes)?))).collect(),
            audit: settled.map(|settled| settled.audit),
            audited_by: settled.map(|settled| (settled.judge, settled.index)),
            split_audit,
            unknown_in_audit: settled.map_or(0, |settled| unknown(settled.audit)),
            strangers,
        }
    }
}

impl<'a> Decisions<'a> {
    /// What was decided about a pair; a finding that was judged to match nothing does not match this golden either.
    pub fn about(&self, golden: usize, finding: usize) -> Option<&Decided<'a>> {
        let nothing = || self.unnamed.get(&finding).filter(|decided| !decided.matched);
        self.pairs.get(&(golden, finding)).or_else(nothing)
    }
}

/// The first audit that says what most say of the verdict, and whether another verdict has as many voices.
fn settle_audits<'s, 'a>(audits: &'s [Audit<'a>]) -> (Option<&'s Audit<'a>>, bool) {
    let any_human = audits.iter().any(|audit| audit.judge.is_human());
    let heard: Vec<&Audit<'a>> = audits.iter().filter(|audit| !any_human || audit.judge.is_human()).collect();
    let voices = |said: Option<bool>| heard.iter().filter(|other| other.audit.said_vulnerable == said).count();
    let most = heard.iter().map(|other| voices(other.audit.said_vulnerable)).max().unwrap_or(0);
    let first = heard.iter().find(|other| voices(other.audit.said_vulnerable) == most).copied();
    let split =
        [Some(true), Some(false), None].into_iter().filter(|said| most > 0 && voices(*said) == most).count() > 1;
    (first, split)
}

struct Audit<'a> {
    index: usize,
    judge: &'a JudgeName,
    audit: &'a AuditDecision,
}

struct Vote<'a> {
    index: usize,
    judge: &'a JudgeName,
    pair: &'a PairDecision,
}

fn decide<'a>(votes: &[Vote<'a>]) -> Option<Decided<'a>> {
    let any_human = votes.iter().any(|vote| vote.judge.is_human());
    let heard: Vec<&Vote<'a>> = votes.iter().filter(|vote| !any_human || vote.judge.is_human()).collect();
    let yes = heard.iter().filter(|vote| vote.pair.matched).count();
    let matched = 2 * yes > heard.len();
    let spokesman = heard.iter().find(|vote| vote.pair.matched == matched).or(heard.first())?;
    Some(Decided {
        matched,
        partial: spokesman.pair.partial == Some(true),
        confidence: spokesman.pair.confidence,
        judge: spokesman.judge,
        judgement: spokesman.index,
    })
}

fn decide_extra<'a>(votes: &[(&'a JudgeName, &'a ExtraDecision)]) -> Option<DecidedExtra<'a>> {
    let any_human = votes.iter().any(|(judge, _)| judge.is_human());
    let heard = || votes.iter().filter(|(judge, _)| !any_human || judge.is_human());
    let (yes, all) = (heard().filter(|(_, extra)| extra.valid).count(), heard().count());
    let valid = match (2 * yes).cmp(&all) {
        Ordering::Equal => return None,
        order => order.is_gt(),
    };
    let (judge, _) = heard().find(|(_, extra)| extra.valid == valid)?;
    Some(DecidedExtra { valid, judge })
}
