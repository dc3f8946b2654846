//! Settles the judgements of one trial into one decision per pair, finding and audit.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::{FindingId, GoldenId, JudgeName};
use crate::judgement::{AuditDecision, Decision, ExtraDecision, Judgement, PairDecision};
use crate::panel::{self, AuditVote, AuditVotes, MergedAudit, majority, merge_audits};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledPair<'a> {
    pub matched: bool,
    /// A partial match, according to the deciding judge.
    pub partial: bool,
    pub confidence: Option<f64>,
    pub judge: &'a JudgeName,
    pub judgement: usize,
}

impl<'a> SettledPair<'a> {
    /// A decision that no judgement records, by a judge that states no confidence.
    pub(crate) fn assumed(matched: bool, judge: &'a JudgeName) -> Self {
        Self { matched, partial: false, confidence: None, judge, judgement: usize::MAX }
    }
}

/// The votes of several judges that decide about one pair, ordered by the names of the judges.
#[derive(Clone, Debug, PartialEq)]
pub struct PairVotes<'a> {
    pub judges: Vec<&'a JudgeName>,
    pub judgements: Vec<usize>,
    /// Whether as many say yes as no.
    pub is_tied: bool,
}

impl PairVotes<'_> {
    /// The names of all of them as one.
    pub(super) fn judge(&self) -> JudgeName {
        JudgeName::new(self.judges.iter().map(|judge| judge.as_str()).collect::<Vec<_>>().join(", "))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledExtra<'a> {
    pub valid: bool,
    pub judge: &'a JudgeName,
}

#[derive(Debug, Default)]
pub struct Decisions<'a> {
    /// By golden and finding index.
    pub pairs: BTreeMap<(usize, usize), SettledPair<'a>>,
    /// By finding index: whether it matched a golden the source does not name, or none at all.
    pub unnamed: BTreeMap<usize, SettledPair<'a>>,
    /// By finding index: whether it is a real problem, should it report no golden.
    pub extras: BTreeMap<usize, SettledExtra<'a>>,
    /// Pairs that have no decision: a judge was asked without an answer, or the judges are evenly split.
    pub unjudged: BTreeSet<(usize, usize)>,
    /// By golden and finding index: the votes on pairs that several judges decide about.
    pub votes: BTreeMap<(usize, usize), PairVotes<'a>>,
    /// By finding index: the judgements where people or models are evenly split on whether it is a real problem.
    pub tied_extras: BTreeMap<usize, Vec<usize>>,
    /// All audits of the trial as one.
    pub audit: Option<MergedAudit>,
    /// Whether there is no audit, and it only has what people say of extras, which is of interest where trials are audited.
    pub is_audit_of_extras: bool,
    /// Who made the audit that is nearest to it, and the index of that judgement.
    pub audited_by: Option<(&'a JudgeName, usize)>,
    /// How many of the findings that the audit classifies the trial does not have.
    pub unknown_in_audit: usize,
    /// Judgements of pairs and extras that name a golden or finding the trial does not have.
    pub unknown: Vec<usize>,
}

impl<'a> Decisions<'a> {
    /// The judgements must all be about the trial with these goldens and findings. People go before models. Among several of
    /// a kind the majority decides, as in a panel that is asked: an even split on a pair is settled by the confidences, if each
    /// vote states one, and decides nothing else.
    pub fn settle(judgements: &[(usize, &'a Judgement)], goldens: &[Golden], findings: &[Finding]) -> Self {
        if judgements.is_empty() {
            return Self::default();
        }
        let has_target = goldens.iter().any(Golden::is_required);
        let goldens: HashMap<&GoldenId, usize> = goldens.iter().enumerate().map(|(i, g)| (&g.id, i)).collect();
        let finding_index: HashMap<&FindingId, usize> = findings.iter().enumerate().map(|(i, f)| (&f.id, i)).collect();
        let golden_at = |id: &GoldenId| goldens.get(id).copied();
        let finding_at = |id: &FindingId| finding_index.get(id).copied();
        let mut named: BTreeMap<(usize, usize), Vec<Vote<'a, PairDecision>>> = BTreeMap::new();
        let mut unnamed: BTreeMap<usize, Vec<Vote<'a, PairDecision>>> = BTreeMap::new();
        let mut of_extras: BTreeMap<usize, Vec<Vote<'a, ExtraDecision>>> = BTreeMap::new();
        let mut audits: Vec<(usize, AuditVote<'a>)> = Vec::new();
        let mut unknown = Vec::new();
        let mut failed: BTreeSet<(usize, usize)> = BTreeSet::new();
        for &(index, judgement) in judgements {
            let judge = &judgement.judge;
            match &judgement.decision {
                Decision::Audit(decision) => audits.push((index, AuditVote { judge, decision })),
                Decision::Extra(decision) => match finding_at(&decision.finding) {
                    Some(f) => of_extras.entry(f).or_default().push(Vote { index, judge, decision }),
                    None => unknown.push(index),
                },
                Decision::Unjudged(pair) => match golden_at(&pair.golden).zip(finding_at(&pair.finding)) {
                    Some(place) => failed.extend([place]),
                    None => unknown.push(index),
                },
                Decision::Pair(decision) => {
                    let vote = Vote { index, judge, decision };
                    match (decision.golden.as_ref().map(golden_at), finding_at(&decision.finding)) {
                        (Some(Some(g)), Some(f)) => named.entry((g, f)).or_default().push(vote),
                        (None, Some(f)) => unnamed.entry(f).or_default().push(vote),
                        _ => unknown.push(index),
                    }
                }
            }
        }
        // Without an audit, what people say of extras is one that answers nothing else.
        let people = || of_extras.values().flatten().filter(|vote| vote.judge.is_human());
        let is_of_extras = audits.is_empty();
        let alone: Vec<AuditDecision> =
            people().filter(|_| is_of_extras).map(|vote| vote.decision.as_audit()).collect();
        let of_people = people().zip(&alone);
        let of_people = of_people.map(|(vote, decision)| (vote.index, AuditVote { judge: vote.judge, decision }));
        let audits: Vec<(usize, AuditVote<'_>)> = audits.into_iter().chain(of_people).collect();
        let audit = merge_audits(&AuditVotes {
            audits: audits.iter().map(|(_, vote)| *vote).collect(),
            extras: people().filter(|_| !is_of_extras).map(|vote| vote.decision).collect(),
            findings: findings.iter().map(|finding| &finding.id).collect(),
            has_target,
        });
        // Claims in free text only have the ids the judge gave them; findings listed by a tool have their own.
        let known = |id: &FindingId| finding_at(id).is_some() || (findings.is_empty() && id.is_claim());
        let unknown_findings =
            |audit: &MergedAudit| audit.decision.findings.iter().filter(|found| !known(&found.finding)).count();
        let pairs: BTreeMap<(usize, usize), SettledPair<'a>> =
            named.iter().filter_map(|(key, votes)| Some((*key, decide(votes)?))).collect();
        failed.extend(named.keys());
        failed.retain(|pair| !pairs.contains_key(pair));
        Self {
            unjudged: failed,
            pairs,
            votes: named.into_iter().filter_map(|(key, votes)| Some((key, several(&votes)?))).collect(),
            unnamed: unnamed.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            tied_extras: of_extras
                .iter()
                .filter(|(_, votes)| decide_extra(votes).is_none())
                .map(|(key, votes)| (*key, deciding(votes).into_iter().map(|vote| vote.index).collect()))
                .collect(),
            extras: of_extras.into_iter().filter_map(|(key, votes)| Some((key, decide_extra(&votes)?))).collect(),
            unknown_in_audit: audit.as_ref().map_or(0, unknown_findings),
            is_audit_of_extras: is_of_extras,
            audited_by: audit.as_ref().and_then(|audit| {
                let nearest = audits[audit.nearest].0;
                judgements.iter().find(|(index, _)| *index == nearest).map(|(index, own)| (&own.judge, *index))
            }),
            audit,
            unknown,
        }
    }

    /// What was decided about a pair; a finding that was judged to match nothing does not match this golden either.
    pub fn pair(&self, golden: usize, finding: usize) -> Option<&SettledPair<'a>> {
        let nothing = || self.unnamed.get(&finding).filter(|decided| !decided.matched);
        self.pairs.get(&(golden, finding)).or_else(nothing)
    }

    /// Calls `act` with these pairs decided so by `judge`, and puts back what was decided before.
    pub(crate) fn with_assumed<T>(
        &mut self,
        pairs: impl IntoIterator<Item = ((usize, usize), bool)>,
        judge: &'a JudgeName,
        act: impl FnOnce(&Self) -> T,
    ) -> T {
        let mut before = Vec::new();
        for (place, matched) in pairs {
            before.push((place, self.pairs.insert(place, SettledPair::assumed(matched, judge))));
        }
        let result = act(self);
        for (place, decided) in before.into_iter().rev() {
            match decided {
                Some(decided) => drop(self.pairs.insert(place, decided)),
                None => drop(self.pairs.remove(&place)),
            }
        }
        result
    }

    /// The votes on a pair on which judges are evenly split.
    pub(super) fn tied(&self, golden: usize, finding: usize) -> Option<&PairVotes<'a>> {
        self.votes.get(&(golden, finding)).filter(|votes| votes.is_tied)
    }

    pub(super) fn is_classified_by_people(&self, id: &FindingId) -> bool {
        self.audit.as_ref().and_then(|audit| audit.by_people.get(id)).is_some_and(|people| people.classified)
    }
}

/// Those that decide: people, where there are any, else models. They are ordered by name, so that it makes no difference in which
/// order judgements are read.
fn deciding<'v, 'a, T>(votes: &'v [Vote<'a, T>]) -> Vec<&'v Vote<'a, T>> {
    let any_human = votes.iter().any(|vote| vote.judge.is_human());
    let mut deciding: Vec<_> = votes.iter().filter(|vote| !any_human || vote.judge.is_human()).collect();
    deciding.sort_by_key(|vote| vote.judge);
    deciding
}

struct Vote<'a, T> {
    index: usize,
    judge: &'a JudgeName,
    decision: &'a T,
}

/// One judge decides as it says; several by the rule of panels, with the share of their votes as confidence.
fn decide<'a>(votes: &[Vote<'a, PairDecision>]) -> Option<SettledPair<'a>> {
    let deciding = deciding(votes);
    let panel_votes = deciding.iter().enumerate().map(|(judge, vote)| {
        let PairDecision { matched, confidence, .. } = *vote.decision;
        panel::Vote { judge, matched, confidence }
    });
    let settled = majority(&panel_votes.collect::<Vec<_>>())?;
    let agreeing: Vec<_> = deciding.iter().filter(|vote| vote.decision.matched == settled.matched).collect();
    let decider = agreeing.first()?;
    let partial = agreeing.iter().filter(|vote| vote.decision.partial == Some(true)).count();
    Some(SettledPair {
        matched: settled.matched,
        // Evenly split: what credits the tool least.
        partial: partial > 0 && 2 * partial >= agreeing.len(),
        confidence: if deciding.len() > 1 { Some(settled.confidence) } else { decider.decision.confidence },
        judge: decider.judge,
        judgement: decider.index,
    })
}

fn several<'a>(votes: &[Vote<'a, PairDecision>]) -> Option<PairVotes<'a>> {
    let deciding = deciding(votes);
    let yes = deciding.iter().filter(|vote| vote.decision.matched).count();
    (deciding.len() > 1).then(|| PairVotes {
        judges: deciding.iter().map(|vote| vote.judge).collect(),
        judgements: deciding.iter().map(|vote| vote.index).collect(),
        is_tied: 2 * yes == deciding.len(),
    })
}

fn decide_extra<'a>(votes: &[Vote<'a, ExtraDecision>]) -> Option<SettledExtra<'a>> {
    let deciding = deciding(votes);
    let yes = deciding.iter().filter(|vote| vote.decision.valid).count();
    let valid = match (2 * yes).cmp(&deciding.len()) {
        Ordering::Equal => return None,
        order => order.is_gt(),
    };
    let decider = deciding.iter().find(|vote| vote.decision.valid == valid)?;
    Some(SettledExtra { valid, judge: decider.judge })
}
