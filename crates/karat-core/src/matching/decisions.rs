//! What judges said of one trial, by index, with disagreement settled.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::{FindingId, JudgeName};
use crate::judgement::{
    AuditDecision, ClassifiedFinding, Decision, ExtraDecision, Judgement, PairDecision, TargetAssessment,
};
use std::borrow::Cow;
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
    /// The audit: of people before models, the first that says what most say; and of what people do not speak of, what a
    /// model says.
    pub audit: Option<Cow<'a, AuditDecision>>,
    /// Who made that audit, and the index of the judgement.
    pub audited_by: Option<(&'a JudgeName, usize)>,
    /// How many of its findings are classified by people: the first so many of them.
    pub classified_by_people: usize,
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
        let has = |id: &FindingId| finding_index.contains_key(id.as_str());
        let (audit, classified_by_people) = settled.map_or((None, 0), |first| {
            let (audit, by_people) = completed(first, &audits, &has);
            (Some(audit), by_people)
        });
        // What free text claims has no name but the one a judge gave it. Where a tool lists its findings, they have names.
        let known = |id: &FindingId| finding_index.contains_key(id.as_str()) || (findings.is_empty() && id.is_claim());
        let unknown = |audit: &AuditDecision| audit.findings.iter().filter(|found| !known(&found.finding)).count();
        failed.retain(|pair| !named.contains_key(pair));
        Self {
            unjudged: failed,
            pairs: named.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            unnamed: unnamed.into_iter().filter_map(|(key, votes)| Some((key, decide(&votes)?))).collect(),
            extras: of_extras.into_iter().filter_map(|(key, votes)| Some((key, decide_extra(&votes)?))).collect(),
            unknown_in_audit: audit.as_deref().map_or(0, unknown),
            audit,
            classified_by_people,
            audited_by: settled.map(|settled| (settled.judge, settled.index)),
            split_audit,
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

    /// Whether a person classified this finding.
    pub(super) fn is_classified_by_people(&self, id: &FindingId) -> bool {
        let found = |audit: &AuditDecision| audit.findings.iter().position(|found| found.finding == *id);
        self.audit.as_deref().and_then(found).is_some_and(|place| place < self.classified_by_people)
    }
}

/// The first audit that says what most say of the verdict, and whether another verdict has as many voices.
fn settle_audits<'s, 'a>(audits: &'s [Audit<'a>]) -> (Option<&'s Audit<'a>>, bool) {
    let any_human = audits.iter().any(|audit| audit.judge.is_human());
    let heard: Vec<&Audit<'a>> = audits.iter().filter(|audit| !any_human || audit.judge.is_human()).collect();
    settle_audits_of(&heard)
}

fn settle_audits_of<'s, 'a>(heard: &[&'s Audit<'a>]) -> (Option<&'s Audit<'a>>, bool) {
    let voices = |said: Option<bool>| heard.iter().filter(|other| other.audit.said_vulnerable == said).count();
    let most = heard.iter().map(|other| voices(other.audit.said_vulnerable)).max().unwrap_or(0);
    let first = heard.iter().find(|other| voices(other.audit.said_vulnerable) == most).copied();
    let split =
        [Some(true), Some(false), None].into_iter().filter(|said| most > 0 && voices(*said) == most).count() > 1;
    (first, split)
}

/// The audit that is heard, with what others add to it, and how many of its findings people classified.
///
/// People speak of single findings, and what they leave out they do not take back: a finding that the trial has is what most
/// people say, and where nobody says anything what a model says. What is claimed in free text has no name that two audits
/// share, so nothing is added to it.
fn completed<'a>(
    first: &Audit<'a>,
    audits: &[Audit<'a>],
    has: &dyn Fn(&FindingId) -> bool,
) -> (Cow<'a, AuditDecision>, usize) {
    if !first.judge.is_human() {
        return (Cow::Borrowed(first.audit), 0);
    }
    let (people, models): (Vec<&Audit<'a>>, Vec<&Audit<'a>>) = audits.iter().partition(|audit| audit.judge.is_human());
    let model = settle_audits_of(&models).0;
    if people.len() == 1 && model.is_none() {
        return (Cow::Borrowed(first.audit), first.audit.findings.len());
    }
    let mut audit = first.audit.clone();
    for other in people.iter().flat_map(|other| &other.audit.findings).filter(|found| has(&found.finding)) {
        if !audit.findings.iter().any(|found| found.finding == other.finding) {
            audit.findings.push(other.clone());
        }
    }
    for found in audit.findings.iter_mut().filter(|found| has(&found.finding)) {
        *found = most_say(found, &people);
    }
    let by_people = audit.findings.len();
    let Some(model) = model.map(|model| model.audit) else { return (Cow::Owned(audit), by_people) };
    let unsaid = |found: &&ClassifiedFinding| {
        has(&found.finding) && !audit.findings.iter().any(|own| own.finding == found.finding)
    };
    let more: Vec<ClassifiedFinding> = model.findings.iter().filter(unsaid).cloned().collect();
    // A target that a model sees in a finding stands, unless people say of that finding that it is something else.
    let refuted = |target: &TargetAssessment| {
        let named = audit.findings.iter().find(|found| Some(&found.finding) == target.finding.as_ref());
        target.found && named.is_some_and(|found| !found.classification.is_about_target())
    };
    audit.target = match (audit.target.take(), model.target.as_ref()) {
        (None, theirs) => theirs.filter(|target| !refuted(target)).cloned(),
        // How well the target is understood is said of the finding that reports it.
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

/// What most people say of a finding; of as many voices, the one that is heard already.
fn most_say(found: &ClassifiedFinding, people: &[&Audit<'_>]) -> ClassifiedFinding {
    let voices: Vec<&ClassifiedFinding> =
        people.iter().filter_map(|one| one.audit.findings.iter().find(|said| said.finding == found.finding)).collect();
    let count = |class| voices.iter().filter(|voice| voice.classification == class).count();
    let most = voices.iter().map(|voice| count(voice.classification)).max().unwrap_or(0);
    if count(found.classification) == most {
        return found.clone();
    }
    voices
        .iter()
        .find(|voice| count(voice.classification) == most)
        .map_or_else(|| found.clone(), |said| (*said).clone())
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
