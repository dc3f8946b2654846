//! Settles the judgements of one trial into one decision per pair, finding and audit.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::{FindingId, GoldenId, JudgeName};
use crate::judgement::{
    AuditDecision, ClassifiedFinding, Decision, ExtraDecision, Judgement, PairDecision, TargetAssessment,
};
use std::borrow::Cow;
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
    /// Pairs that a judge was asked about without an answer, and that have no other decision.
    pub unjudged: BTreeSet<(usize, usize)>,
    /// The settled audit: people before models, the majority's first audit, completed by a model where people are silent.
    pub audit: Option<Cow<'a, AuditDecision>>,
    /// Who made that audit, and the index of the judgement.
    pub audited_by: Option<(&'a JudgeName, usize)>,
    /// How many of its findings people classified; these come first.
    pub classified_by_people: usize,
    pub split_audit: bool,
    /// How many of the findings that the audit classifies the trial does not have.
    pub unknown_in_audit: usize,
    /// Judgements of pairs and extras that name a golden or finding the trial does not have.
    pub unknown: Vec<usize>,
}

impl<'a> Decisions<'a> {
    /// The judgements must all be about the trial with these goldens and findings. People go before models. Among several of
    /// a kind the majority decides; an even split is no match, and of an extra it decides nothing.
    pub fn settle(judgements: &[(usize, &'a Judgement)], goldens: &[Golden], findings: &[Finding]) -> Self {
        if judgements.is_empty() {
            return Self::default();
        }
        let goldens: HashMap<&GoldenId, usize> = goldens.iter().enumerate().map(|(i, g)| (&g.id, i)).collect();
        let finding_index: HashMap<&FindingId, usize> = findings.iter().enumerate().map(|(i, f)| (&f.id, i)).collect();
        let golden_at = |id: &GoldenId| goldens.get(id).copied();
        let finding_at = |id: &FindingId| finding_index.get(id).copied();
        let mut named: BTreeMap<(usize, usize), Vec<Vote<'a, PairDecision>>> = BTreeMap::new();
        let mut unnamed: BTreeMap<usize, Vec<Vote<'a, PairDecision>>> = BTreeMap::new();
        let mut of_extras: BTreeMap<usize, Vec<Vote<'a, ExtraDecision>>> = BTreeMap::new();
        let mut audits: Vec<Audit<'a>> = Vec::new();
        let mut unknown = Vec::new();
        let mut failed: BTreeSet<(usize, usize)> = BTreeSet::new();
        for &(index, judgement) in judgements {
            let judge = &judgement.judge;
            match &judgement.decision {
                Decision::Audit(decision) => audits.push(Vote { index, judge, decision }),
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
        let (settled, split_audit) = settle_audits(&deciding(&audits));
        let has = |id: &FindingId| finding_at(id).is_some();
        let (audit, by_people) = settled.map(|first| merge_audits(first, &audits, &has)).unzip();
        // Claims in free text only have the ids the judge gave them; findings listed by a tool have their own.
        let known = |id: &FindingId| has(id) || (findings.is_empty() && id.is_claim());
        let unknown_findings =
            |audit: &AuditDecision| audit.findings.iter().filter(|found| !known(&found.finding)).count();
        failed.retain(|pair| !named.contains_key(pair));
        Self {
            unjudged: failed,
            pairs: named.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            unnamed: unnamed.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            extras: of_extras.into_iter().filter_map(|(key, votes)| Some((key, decide_extra(&votes)?))).collect(),
            unknown_in_audit: audit.as_deref().map_or(0, unknown_findings),
            audit,
            classified_by_people: by_people.unwrap_or(0),
            audited_by: settled.map(|settled| (settled.judge, settled.index)),
            split_audit,
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

    pub(super) fn is_classified_by_people(&self, id: &FindingId) -> bool {
        let found = |audit: &AuditDecision| audit.findings.iter().position(|found| found.finding == *id);
        self.audit.as_deref().and_then(found).is_some_and(|place| place < self.classified_by_people)
    }
}

/// Those that decide: people, where there are any, else models.
fn deciding<'v, 'a, T>(votes: &'v [Vote<'a, T>]) -> Vec<&'v Vote<'a, T>> {
    let any_human = votes.iter().any(|vote| vote.judge.is_human());
    votes.iter().filter(|vote| !any_human || vote.judge.is_human()).collect()
}

/// The first audit with the majority verdict, and whether another verdict has as many votes.
fn settle_audits<'s, 'a>(deciding: &[&'s Audit<'a>]) -> (Option<&'s Audit<'a>>, bool) {
    let votes =
        |verdict: Option<bool>| deciding.iter().filter(|other| other.decision.said_vulnerable == verdict).count();
    let most = deciding.iter().map(|other| votes(other.decision.said_vulnerable)).max().unwrap_or(0);
    let first = deciding.iter().find(|other| votes(other.decision.said_vulnerable) == most).copied();
    let split =
        [Some(true), Some(false), None].into_iter().filter(|verdict| most > 0 && votes(*verdict) == most).count() > 1;
    (first, split)
}

/// Completes the settled audit with what other audits add. Also returns how many of its findings people classified.
///
/// People may classify only some findings. A finding of the trial gets the class most people give it, or the model's where
/// no person classified it. Claims in free text have no ids that two audits share, so nothing is added to them.
fn merge_audits<'a>(
    first: &Audit<'a>,
    audits: &[Audit<'a>],
    has: &dyn Fn(&FindingId) -> bool,
) -> (Cow<'a, AuditDecision>, usize) {
    if !first.judge.is_human() {
        return (Cow::Borrowed(first.decision), 0);
    }
    let (people, models): (Vec<&Audit<'a>>, Vec<&Audit<'a>>) = audits.iter().partition(|audit| audit.judge.is_human());
    let model = settle_audits(&models).0;
    if people.len() == 1 && model.is_none() {
        return (Cow::Borrowed(first.decision), first.decision.findings.len());
    }
    let mut audit = first.decision.clone();
    for other in people.iter().flat_map(|other| &other.decision.findings).filter(|found| has(&found.finding)) {
        if !audit.findings.iter().any(|found| found.finding == other.finding) {
            audit.findings.push(other.clone());
        }
    }
    for found in audit.findings.iter_mut().filter(|found| has(&found.finding)) {
        *found = majority_classification(found, &people);
    }
    let by_people = audit.findings.len();
    let Some(model) = model.map(|model| model.decision) else { return (Cow::Owned(audit), by_people) };
    let unsaid = |found: &&ClassifiedFinding| {
        has(&found.finding) && !audit.findings.iter().any(|own| own.finding == found.finding)
    };
    let more: Vec<ClassifiedFinding> = model.findings.iter().filter(unsaid).cloned().collect();
    // A target found by a model stands, unless people classify that finding as something else.
    let refuted = |target: &TargetAssessment| {
        let named = audit.findings.iter().find(|found| Some(&found.finding) == target.finding.as_ref());
        target.found && named.is_some_and(|found| !found.classification.is_about_target())
    };
    audit.target = match (audit.target.take(), model.target.as_ref()) {
        (None, theirs) => theirs.filter(|target| !refuted(target)).cloned(),
        // Ratings of the target belong to the finding that reports it.
        (Some(own), Some(theirs)) if own.found && theirs.found && own.finding == theirs.finding => {
            Some(TargetAssessment {
                type_match: own.type_match.or(theirs.type_match),
                rcir: own.rcir.or(theirs.rcir),
                ava: own.ava.or(theirs.ava),
                fsv: own.fsv.or(theirs.fsv),
                ..own
            })
        }
        (own, _) => own,
    };
    audit.findings.extend(more);
    audit.said_vulnerable = audit.said_vulnerable.or(model.said_vulnerable);
    audit.confidence_expressed = audit.confidence_expressed.or(model.confidence_expressed);
    (Cow::Owned(audit), by_people)
}

/// The class most people give a finding; on a tie, the current one.
fn majority_classification(found: &ClassifiedFinding, people: &[&Audit<'_>]) -> ClassifiedFinding {
    let votes: Vec<&ClassifiedFinding> = people
        .iter()
        .filter_map(|one| one.decision.findings.iter().find(|label| label.finding == found.finding))
        .collect();
    let count = |class| votes.iter().filter(|vote| vote.classification == class).count();
    let most = votes.iter().map(|vote| count(vote.classification)).max().unwrap_or(0);
    if count(found.classification) == most {
        return found.clone();
    }
    votes.iter().find(|vote| count(vote.classification) == most).map_or_else(|| found.clone(), |label| (*label).clone())
}

struct Vote<'a, T> {
    index: usize,
    judge: &'a JudgeName,
    decision: &'a T,
}

type Audit<'a> = Vote<'a, AuditDecision>;

fn decide<'a>(votes: &[Vote<'a, PairDecision>]) -> Option<SettledPair<'a>> {
    let deciding = deciding(votes);
    let yes = deciding.iter().filter(|vote| vote.decision.matched).count();
    let matched = 2 * yes > deciding.len();
    let decider = deciding.iter().find(|vote| vote.decision.matched == matched).or(deciding.first())?;
    Some(SettledPair {
        matched,
        partial: decider.decision.partial == Some(true),
        confidence: decider.decision.confidence,
        judge: decider.judge,
        judgement: decider.index,
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
