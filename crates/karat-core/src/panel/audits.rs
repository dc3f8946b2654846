//! Merges all audits of one trial into one, field by field.

use crate::ids::{FindingId, JudgeName};
use crate::judgement::{
    AuditDecision, Classification, ClassifiedFinding, Expressed, ExtraDecision, TargetAssessment, TypeMatch,
};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One audit and who made it.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AuditVote<'a> {
    pub judge: &'a JudgeName,
    pub decision: &'a AuditDecision,
}

/// The audits of one trial, and what else their merging depends on.
#[derive(Clone, Debug, Default)]
pub struct AuditVotes<'a> {
    /// Each by another judge, in any order.
    pub audits: Vec<AuditVote<'a>>,
    /// What people say of single findings without an audit.
    pub extras: Vec<&'a ExtraDecision>,
    /// The findings of the trial.
    pub findings: Vec<&'a FindingId>,
    /// Whether the case has a target.
    pub has_target: bool,
}

/// All audits of one trial as one.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedAudit {
    /// The decisions most share; a field is `None` where nobody was asked.
    pub decision: AuditDecision,
    /// What a rule had to settle, as votes are tied.
    pub ties: Vec<AuditTie>,
    /// What people decided about findings.
    pub by_people: BTreeMap<FindingId, PeopleOnFinding>,
    /// Whether a model audited the trial, so that what is not there was not found; people may answer only some questions.
    pub is_complete: bool,
    /// Who made the audits, by name, people first.
    pub judges: Vec<JudgeName>,
    /// Which of the audits comes nearest to the decision; its words explain it.
    pub nearest: usize,
}

/// Which decisions about a finding people made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeopleOnFinding {
    /// Whether they classified it.
    pub classified: bool,
    /// Whether it matches the target, where they answered that and are not divided.
    pub matches_target: Option<bool>,
    /// Whether it is a valid concern, where they answered that and are not divided.
    pub is_valid: Option<bool>,
}

impl PeopleOnFinding {
    /// What one person says of it.
    fn stated(found: &ClassifiedFinding) -> Self {
        Self {
            classified: found.classification.is_some(),
            matches_target: found.matches_target,
            is_valid: found.is_valid_concern,
        }
    }
}

/// A decision of an audit with equally many votes for several answers, so that a rule settled it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditTie {
    /// The finding, where it is a decision about one.
    pub finding: Option<FindingId>,
    /// The name of the decision.
    pub field: &'static str,
}

impl fmt::Display for AuditTie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.finding {
            Some(finding) => write!(f, "{} of {finding}", self.field),
            None => f.write_str(self.field),
        }
    }
}

/// Merges the audits of one trial; `None` where there are none. Their order makes no difference.
///
/// For each field, those decide who answered it: people, if any did, else models. The majority decides on booleans and
/// classes, the median on numbers. On a tie: no verdict; no confidence; the target not found; a finding invalid, then of the
/// class that credits it least; the worse type match; of the findings that report the target the first.
///
/// Claims of free text are counted by each judge anew, so that the first claim of one is not that of another. They are taken
/// whole from the judge who is nearest to all else that was settled, and so are the words of explanation.
pub fn merge_audits(votes: &AuditVotes<'_>) -> Option<MergedAudit> {
    if votes.audits.is_empty() {
        return None;
    }
    let mut ties = BTreeSet::new();
    let mut by_people = BTreeMap::new();
    let mut decision = AuditDecision {
        said_vulnerable: verdict(votes, &mut ties),
        confidence_expressed: confidence(votes, &mut ties),
        findings: findings(votes, &mut by_people, &mut ties),
        target: None,
        explanation: None,
    };
    decision.target = target(votes, &decision.findings, &by_people, &mut ties);
    let indices = || 0..votes.audits.len();
    let claims = |index: usize| votes.audits[index].decision.findings.iter().any(|found| found.finding.is_claim());
    // A model without claims says that there are none; a person may not have been asked.
    let tells = |index: &usize| claims(*index) || !votes.audits[*index].judge.is_human();
    if indices().any(claims)
        && let Some(index) = nearest(votes, indices().filter(tells), &decision)
    {
        let own = votes.audits[index].decision;
        let claims: Vec<&ClassifiedFinding> = own.findings.iter().filter(|found| found.finding.is_claim()).collect();
        if votes.audits[index].judge.is_human() {
            by_people.extend(claims.iter().map(|found| (found.finding.clone(), PeopleOnFinding::stated(found))));
        }
        decision.findings.extend(claims.into_iter().cloned());
        if let Some(target) = &mut decision.target {
            // Another judge's number would point at another claim.
            let claimed = target.finding.as_ref().is_none_or(FindingId::is_claim);
            let same = own.target.as_ref().filter(|own| own.found == target.found && claimed);
            target.finding = target.finding.take().filter(|_| !claimed).or(same.and_then(|own| own.finding.clone()));
        }
    }
    let explained = |index: &usize| votes.audits[*index].decision.explanation.is_some();
    let nearest = nearest(votes, indices().filter(explained), &decision).or(nearest(votes, indices(), &decision))?;
    decision.explanation.clone_from(&votes.audits[nearest].decision.explanation);
    let mut judges: Vec<&JudgeName> = votes.audits.iter().map(|vote| vote.judge).collect();
    judges.sort_by_key(|judge| (!judge.is_human(), *judge));
    judges.dedup();
    Some(MergedAudit {
        decision,
        ties: ties.into_iter().collect(),
        by_people,
        is_complete: judges.iter().any(|judge| !judge.is_human()),
        judges: judges.into_iter().cloned().collect(),
        nearest,
    })
}

type Ties = BTreeSet<AuditTie>;

fn tied(field: &'static str, finding: Option<&FindingId>) -> AuditTie {
    AuditTie { finding: finding.cloned(), field }
}

/// The answers that decide: those of people, if there are any, else those of models.
fn deciding<T>(answers: impl IntoIterator<Item = (bool, T)>) -> Vec<T> {
    let (people, models): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(human, _)| *human);
    let side = if people.is_empty() { models } else { people };
    side.into_iter().map(|(_, answer)| answer).collect()
}

impl<'a> AuditVotes<'a> {
    /// What was answered to one question, each with whether a person answered it.
    fn answers<T>(&self, answer: impl Fn(&'a AuditDecision) -> Option<T>) -> Vec<(bool, T)> {
        let answers = self.audits.iter().filter_map(|vote| Some((vote.judge.is_human(), answer(vote.decision)?)));
        answers.collect()
    }
}

fn verdict(votes: &AuditVotes<'_>, ties: &mut Ties) -> Option<Expressed<bool>> {
    match most(deciding(votes.answers(|audit| audit.said_vulnerable))).as_slice() {
        [] => None,
        [answer] => Some(*answer),
        _ => {
            ties.insert(tied("said_vulnerable", None));
            Some(Expressed::Nothing)
        }
    }
}

fn confidence(votes: &AuditVotes<'_>, ties: &mut Ties) -> Option<Expressed<f64>> {
    let answers = deciding(votes.answers(|audit| audit.confidence_expressed));
    let stated: Vec<f64> = answers.iter().filter_map(|answer| answer.value()).collect();
    match (2 * stated.len()).cmp(&answers.len()) {
        _ if answers.is_empty() => None,
        Ordering::Greater => Some(median(stated).into()),
        Ordering::Less => Some(Expressed::Nothing),
        Ordering::Equal => {
            ties.insert(tied("confidence_expressed", None));
            Some(Expressed::Nothing)
        }
    }
}

/// What was said of one finding, each with whether a person said it.
#[derive(Default)]
struct FindingAnswers {
    /// The first place that any audit has it at.
    place: usize,
    classes: Vec<(bool, Classification)>,
    matches_target: Vec<(bool, bool)>,
    is_valid: Vec<(bool, bool)>,
}

/// What each finding is, in the order in which the audits have them; claims are left out.
fn findings(
    votes: &AuditVotes<'_>,
    by_people: &mut BTreeMap<FindingId, PeopleOnFinding>,
    ties: &mut Ties,
) -> Vec<ClassifiedFinding> {
    let mut all: BTreeMap<&FindingId, FindingAnswers> = BTreeMap::new();
    for vote in &votes.audits {
        let human = vote.judge.is_human();
        let mut seen = BTreeSet::new();
        let listed = vote.decision.findings.iter().enumerate();
        // Of several entries of one finding in one audit, the first stands.
        for (place, found) in listed.filter(|(_, f)| !f.finding.is_claim() && seen.insert(&f.finding)) {
            let own = all.entry(&found.finding).or_insert(FindingAnswers { place, ..FindingAnswers::default() });
            own.place = own.place.min(place);
            own.classes.extend(found.classification.map(|class| (human, class)));
            own.matches_target.extend(found.matches_target.map(|answer| (human, answer)));
            own.is_valid.extend(found.is_valid_concern.map(|answer| (human, answer)));
        }
    }
    for extra in &votes.extras {
        let unlisted = || FindingAnswers { place: usize::MAX, ..FindingAnswers::default() };
        all.entry(&extra.finding).or_insert_with(unlisted).is_valid.push((true, extra.valid));
    }
    let mut ordered: Vec<(&FindingId, FindingAnswers)> = all.into_iter().collect();
    ordered.sort_by_key(|(id, answers)| (answers.place, *id));
    ordered
        .into_iter()
        .map(|(id, answers)| {
            let (found, people) = finding(id, answers, ties);
            by_people.insert(id.clone(), people);
            found
        })
        .collect()
}

fn finding(id: &FindingId, answers: FindingAnswers, ties: &mut Ties) -> (ClassifiedFinding, PeopleOnFinding) {
    let classified = answers.classes.iter().any(|(human, _)| *human);
    let class = class(id, &deciding(answers.classes), ties);
    // The answer, and whether people gave it; what they are divided about they do not decide.
    let mut settle = |field: &'static str, of: Vec<(bool, bool)>, implied: Option<bool>| {
        let by_people = of.iter().any(|(human, _)| *human);
        if classified && !by_people {
            // What people call a finding implies it, whatever models say of what they take for another class.
            return (implied, None);
        }
        match most(deciding(of)).as_slice() {
            [] => (None, None),
            [answer] => (Some(*answer), by_people.then_some(*answer)),
            _ => {
                ties.insert(tied(field, Some(id)));
                (Some(implied.unwrap_or(false)), None)
            }
        }
    };
    let about = class.map(Classification::is_about_target);
    let (matches_target, matches_by_people) = settle("matches_target", answers.matches_target, about);
    let (is_valid_concern, valid_by_people) =
        settle("is_valid_concern", answers.is_valid, class.map(Classification::is_valid));
    let found = ClassifiedFinding { finding: id.clone(), classification: class, matches_target, is_valid_concern };
    (found, PeopleOnFinding { classified, matches_target: matches_by_people, is_valid: valid_by_people })
}

/// The class by two majorities: first whether it is a valid one, then which of these.
fn class(id: &FindingId, votes: &[Classification], ties: &mut Ties) -> Option<Classification> {
    let valid = votes.iter().filter(|class| class.is_valid()).count();
    let is_valid = 2 * valid > votes.len();
    let side = most(votes.iter().copied().filter(|class| class.is_valid() == is_valid));
    if 2 * valid == votes.len() && valid > 0 || side.len() > 1 {
        ties.insert(tied("classification", Some(id)));
    }
    side.into_iter().max_by_key(|class| severity_rank(*class))
}

/// How little a class credits a finding; of invalid ones, how much harm it does.
fn severity_rank(class: Classification) -> u8 {
    match class {
        Classification::TargetMatch => 0,
        Classification::PartialMatch => 1,
        Classification::BonusValid => 2,
        Classification::Informational => 3,
        Classification::DesignChoice => 4,
        Classification::OutOfScope => 5,
        Classification::SecurityTheater => 6,
        Classification::Mischaracterized => 7,
        Classification::Hallucinated => 8,
    }
}

/// Whether the target was found.
struct FoundTarget<'a> {
    found: bool,
    /// The finding by which people recognised it.
    recognised: Option<&'a FindingId>,
}

/// The target, and its ratings by those who agree on whether it was found.
fn target(
    votes: &AuditVotes<'_>,
    findings: &[ClassifiedFinding],
    by_people: &BTreeMap<FindingId, PeopleOnFinding>,
    ties: &mut Ties,
) -> Option<TargetAssessment> {
    // What people hold for something else did not find the target, whatever models say.
    let refuted = |id: &FindingId| {
        let people = by_people.get(id).copied().unwrap_or_default();
        let class = findings.iter().find(|found| found.finding == *id).and_then(|found| found.classification);
        people.matches_target == Some(false)
            || people.classified
                && people.matches_target.is_none()
                && !class.is_some_and(Classification::is_about_target)
    };
    let all = votes.answers(|audit| audit.target.as_ref());
    let valid = |human: bool, target: &TargetAssessment| human || !target.finding.as_ref().is_some_and(&refuted);
    let answers = all.iter().filter_map(|(human, target)| Some((*human, target.found? && valid(*human, target))));
    let settled = settle_found(votes, findings, by_people, answers.collect(), ties);
    let found = settled.as_ref().map(|settled| settled.found);
    let recognised = settled.and_then(|settled| settled.recognised);
    let side = |human: bool, target: &TargetAssessment| {
        let same = target.found.is_none() || target.found == found;
        same && (found != Some(true) || valid(human, target))
    };
    let side: Vec<(bool, &TargetAssessment)> = all.into_iter().filter(|(human, target)| side(*human, target)).collect();
    let finding = found_by(&side, findings, found, recognised, ties);
    let is_by_people = recognised.is_some() || side.iter().any(|(human, target)| *human && target.finding.is_some());
    // Ratings of models belong to the finding that they mean.
    let means = |human: bool, target: &TargetAssessment| {
        human || !is_by_people || target.finding.is_none() || target.finding.as_ref() == finding
    };
    let rated = side.iter().copied().filter(|(human, target)| means(*human, target)).collect();
    let target = TargetAssessment { found, finding: finding.cloned(), ..ratings(rated, ties) };
    (target != TargetAssessment::default()).then_some(target)
}

/// Whether the target was found: as those say who were asked, else as the classes imply that people gave.
fn settle_found<'f>(
    votes: &AuditVotes<'_>,
    findings: &'f [ClassifiedFinding],
    by_people: &BTreeMap<FindingId, PeopleOnFinding>,
    answers: Vec<(bool, bool)>,
    ties: &mut Ties,
) -> Option<FoundTarget<'f>> {
    let classified = |id: &FindingId| by_people.get(id).is_some_and(|people| people.classified);
    let whole = |found: &&ClassifiedFinding| {
        found.classification == Some(Classification::TargetMatch) && classified(&found.finding)
    };
    let recognised = findings.iter().find(whole).map(|found| &found.finding);
    if recognised.is_some() && votes.has_target && !answers.iter().any(|(human, _)| *human) {
        return Some(FoundTarget { found: true, recognised });
    }
    match most(deciding(answers)).as_slice() {
        [found] => Some(FoundTarget { found: *found, recognised: recognised.filter(|_| *found) }),
        [] => {
            let complete = !votes.findings.is_empty() && votes.findings.iter().all(|id| classified(id));
            (complete && votes.has_target).then_some(FoundTarget { found: false, recognised: None })
        }
        _ => {
            ties.insert(tied("target.found", None));
            Some(FoundTarget { found: false, recognised: None })
        }
    }
}

/// The finding that reports the target, by those who agree that it was found.
fn found_by<'f>(
    side: &[(bool, &'f TargetAssessment)],
    findings: &[ClassifiedFinding],
    found: Option<bool>,
    recognised: Option<&'f FindingId>,
    ties: &mut Ties,
) -> Option<&'f FindingId> {
    let stated = side.iter().filter(|(_, target)| target.found == found || target.finding.is_some());
    let by_people = side.iter().filter_map(|(human, target)| target.finding.as_ref().filter(|_| *human)).count() > 0;
    if let Some(id) = recognised.filter(|_| !by_people) {
        return Some(id);
    }
    let named: Vec<Option<&FindingId>> =
        stated.filter(|(human, _)| *human || !by_people).map(|(_, target)| target.finding.as_ref()).collect();
    // What most hold for something else cannot be what found it, unless nothing else is named.
    let about = |id: &FindingId| {
        let class = findings.iter().find(|own| own.finding == *id).and_then(|own| own.classification);
        class.is_some_and(Classification::is_about_target)
    };
    let place = |id: &FindingId| findings.iter().position(|own| own.finding == *id).unwrap_or(usize::MAX);
    let fitting: Vec<Option<&FindingId>> = named.iter().copied().filter(|id| id.is_some_and(about)).collect();
    let candidates = most(if fitting.is_empty() { named } else { fitting });
    if candidates.len() > 1 && !candidates.iter().flatten().any(|id| id.is_claim()) {
        ties.insert(tied("target.finding", None));
    }
    candidates.into_iter().min_by_key(|id| (id.is_none(), id.map(place), *id)).flatten()
}

/// The type match and the scores that these judges give.
fn ratings(targets: Vec<(bool, &TargetAssessment)>, ties: &mut Ties) -> TargetAssessment {
    let types: Vec<TypeMatch> =
        most(deciding(targets.iter().filter_map(|(human, target)| Some((*human, target.type_match?)))));
    if types.len() > 1 {
        ties.insert(tied("type_match", None));
    }
    let score = |of: fn(&TargetAssessment) -> Option<f64>| {
        median(deciding(targets.iter().filter_map(|(human, target)| Some((*human, of(target)?)))))
    };
    TargetAssessment {
        type_match: types.into_iter().max(),
        rcir: score(|target| target.rcir),
        ava: score(|target| target.ava),
        fsv: score(|target| target.fsv),
        ..TargetAssessment::default()
    }
}

/// All values with the most votes, in their order.
fn most<T: Ord>(answers: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut votes: BTreeMap<T, usize> = BTreeMap::new();
    for value in answers {
        *votes.entry(value).or_default() += 1;
    }
    let greatest = votes.values().copied().max().unwrap_or(0);
    votes.into_iter().filter(|(_, count)| *count == greatest).map(|(value, _)| value).collect()
}

/// The value in the middle, or the mean of the two there.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(if low == high { values[low] } else { f64::midpoint(values[low], values[high]) })
}

/// Which of these audits is nearest to what was settled; people go before models.
fn nearest(votes: &AuditVotes<'_>, among: impl Iterator<Item = usize>, settled: &AuditDecision) -> Option<usize> {
    let among: Vec<(bool, usize)> = among.map(|index| (votes.audits[index].judge.is_human(), index)).collect();
    let among = deciding(among);
    let audits: Vec<&AuditDecision> = among.iter().map(|index| votes.audits[*index].decision).collect();
    let typical = typical(&audits)?;
    let distance =
        |index: &usize| (distance(votes.audits[*index].decision, settled, &typical), votes.audits[*index].judge);
    among.into_iter().min_by_key(distance)
}

/// How many claims there are, by the lower median, and how many of them valid; `None` without audits.
fn typical(audits: &[&AuditDecision]) -> Option<(usize, usize)> {
    let median = |of: fn(&ClassifiedFinding) -> bool| {
        let mut counts: Vec<usize> =
            audits.iter().map(|audit| audit.findings.iter().filter(|f| of(f)).count()).collect();
        counts.sort_unstable();
        counts.get(counts.len().checked_sub(1)? / 2).copied()
    };
    Some((median(|_| true)?, median(|found| found.classification.is_some_and(Classification::is_valid))?))
}

/// How far an audit is from what was settled, then from the usual number of claims. Audits at the same distance are put in
/// order by what would be taken from them, so that it makes no difference which of two equals is met first.
fn distance<'a>(audit: &'a AuditDecision, settled: &AuditDecision, typical: &(usize, usize)) -> impl Ord + use<'a> {
    let of = |audit: &AuditDecision| audit.target.as_ref().and_then(|target| target.found);
    let score = |audit: &AuditDecision, of: fn(&TargetAssessment) -> Option<f64>| audit.target.as_ref().and_then(of);
    let scores: [fn(&TargetAssessment) -> Option<f64>; 3] = [|t| t.rcir, |t| t.ava, |t| t.fsv];
    let fit = |audit: &AuditDecision| audit.target.as_ref().and_then(|target| target.type_match);
    let class = |audit: &AuditDecision, id: &FindingId| {
        audit.findings.iter().find(|found| found.finding == *id).and_then(|found| found.classification)
    };
    let differing = usize::from(audit.said_vulnerable != settled.said_vulnerable)
        + usize::from(fit(audit) != fit(settled))
        + scores.into_iter().filter(|of| score(audit, *of) != score(settled, *of)).count()
        + settled.findings.iter().filter(|f| class(audit, &f.finding) != f.classification).count();
    let is_valid = |found: &&ClassifiedFinding| found.classification.is_some_and(Classification::is_valid);
    let valid = audit.findings.iter().filter(is_valid).count();
    let odd = audit.findings.len().abs_diff(typical.0) + valid.abs_diff(typical.1);
    let taken: Vec<_> =
        audit.findings.iter().map(|f| (&f.finding, f.classification, f.matches_target, f.is_valid_concern)).collect();
    let finding = audit.target.as_ref().and_then(|target| target.finding.as_ref());
    // On a tie, audits with an explanation come first.
    (of(audit) != of(settled), differing, odd, Reverse(audit.explanation.is_some()), taken, finding, &audit.explanation)
}
