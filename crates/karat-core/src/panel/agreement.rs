//! How far judges agree on each of the ten decisions of an audit.

use crate::ids::{CaseId, FindingId, JudgeName, ToolName};
use crate::judgement::{AuditDecision, Classification, ClassifiedFinding, Decision, Judgement, TypeMatch};
use crate::stats::agreement::{Estimate, Level, Rating, Ratings, measure};
use std::collections::{BTreeMap, BTreeSet};

named_enum! {
    /// The decisions that an audit consists of.
    AuditField {
        /// Whether the response called the case vulnerable.
        SaidVulnerable = "said_vulnerable",
        /// How sure the response was.
        ConfidenceExpressed = "confidence_expressed",
        /// The class of a finding.
        Classification = "classification",
        /// Whether a finding is the target.
        MatchesTarget = "matches_target",
        /// Whether a finding is a legitimate concern.
        IsValidConcern = "is_valid_concern",
        /// Whether the target was found.
        TargetFound = "target.found",
        /// How well the claimed type fits the target.
        TypeMatch = "type_match",
        /// Root cause identification.
        Rcir = "rcir",
        /// Attack vector validity.
        Ava = "ava",
        /// Fix suggestion validity.
        Fsv = "fsv",
    }
}

/// An answer to one of the decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AuditAnswer {
    /// The index among the [categories](AuditField::categories).
    Category(usize),
    /// A confidence or a score.
    Number(f64),
}

impl AuditField {
    /// The answers there are, in rising order if they have an order; `None` for numbers.
    pub fn categories(self) -> Option<Vec<&'static str>> {
        match self {
            Self::SaidVulnerable => Some(vec!["none", "safe", "vulnerable"]),
            Self::Classification => Some(Classification::ALL.map(Classification::as_str).to_vec()),
            Self::MatchesTarget | Self::IsValidConcern | Self::TargetFound => Some(vec!["false", "true"]),
            // From the worst to the best.
            Self::TypeMatch => Some(TypeMatch::ALL.into_iter().rev().map(TypeMatch::as_str).collect()),
            Self::ConfidenceExpressed | Self::Rcir | Self::Ava | Self::Fsv => None,
        }
    }

    /// What distance between answers counts.
    pub fn level(self) -> Level {
        match self {
            Self::TypeMatch => Level::Ordinal,
            Self::ConfidenceExpressed | Self::Rcir | Self::Ava | Self::Fsv => Level::Interval,
            _ => Level::Nominal,
        }
    }

    /// Whether it is about one finding, not about the response as a whole.
    pub fn is_of_finding(self) -> bool {
        matches!(self, Self::Classification | Self::MatchesTarget | Self::IsValidConcern)
    }

    /// Whether it only makes sense for a case with a target.
    pub fn needs_target(self) -> bool {
        !matches!(self, Self::SaidVulnerable | Self::ConfidenceExpressed | Self::Classification | Self::IsValidConcern)
    }

    /// What an audit answers, by finding where the decision is about one. What was not asked has no answer, and neither has a
    /// confidence that the response does not state.
    pub fn answers(self, audit: &AuditDecision) -> Vec<(Option<&FindingId>, AuditAnswer)> {
        self.stated(audit).into_iter().filter_map(|(finding, answer)| Some((finding, answer?))).collect()
    }

    /// The same with `None` for a confidence that, according to the judge, the response does not state.
    pub fn stated(self, audit: &AuditDecision) -> Vec<(Option<&FindingId>, Option<AuditAnswer>)> {
        let target = audit.target.as_ref();
        let yes = |answer: bool| Some(AuditAnswer::Category(usize::from(answer)));
        let of_findings = |answer: &dyn Fn(&ClassifiedFinding) -> Option<Option<AuditAnswer>>| {
            let answers = audit.findings.iter().filter_map(|found| Some((Some(&found.finding), answer(found)?)));
            answers.collect()
        };
        let number = |score: f64| Some(AuditAnswer::Number(score));
        let answer = match self {
            Self::Classification => {
                return of_findings(&|found| Some(Some(AuditAnswer::Category(found.classification? as usize))));
            }
            Self::MatchesTarget => return of_findings(&|found| found.matches_target.map(yes)),
            Self::IsValidConcern => return of_findings(&|found| found.is_valid_concern.map(yes)),
            Self::SaidVulnerable => audit.said_vulnerable.map(|stated| {
                Some(AuditAnswer::Category(stated.value().map_or(0, |vulnerable| 1 + usize::from(vulnerable))))
            }),
            Self::ConfidenceExpressed => {
                audit.confidence_expressed.map(|stated| stated.value().map(AuditAnswer::Number))
            }
            Self::TargetFound => target.and_then(|target| target.found).map(yes),
            Self::TypeMatch => {
                let fits = target.and_then(|target| target.type_match);
                fits.map(|fits| Some(AuditAnswer::Category(TypeMatch::ALL.len() - 1 - fits as usize)))
            }
            Self::Rcir => target.and_then(|target| target.rcir).map(number),
            Self::Ava => target.and_then(|target| target.ava).map(number),
            Self::Fsv => target.and_then(|target| target.fsv).map(number),
        };
        answer.map(|answer| (None, answer)).into_iter().collect()
    }

    /// Writes an answer into an audit, where [`stated`](Self::stated) reads it.
    pub fn state(self, audit: &mut AuditDecision, finding: Option<&FindingId>, answer: Option<AuditAnswer>) {
        let (category, number) = match answer {
            Some(AuditAnswer::Category(category)) => (Some(category), None),
            Some(AuditAnswer::Number(number)) => (None, Some(number)),
            None => (None, None),
        };
        let yes = category.map(|category| category == 1);
        if let Some(id) = finding {
            if audit.findings.iter().all(|found| found.finding != *id) {
                audit.findings.push(ClassifiedFinding::unasked(id.clone()));
            }
            for found in audit.findings.iter_mut().filter(|found| found.finding == *id) {
                match self {
                    Self::Classification => {
                        found.classification = category.and_then(|at| Classification::ALL.get(at).copied());
                    }
                    Self::MatchesTarget => found.matches_target = yes,
                    Self::IsValidConcern => found.is_valid_concern = yes,
                    _ => {}
                }
            }
            return;
        }
        match self {
            Self::SaidVulnerable => {
                audit.said_vulnerable = category.map(|said| (said > 0).then_some(said == 2).into());
            }
            Self::ConfidenceExpressed => audit.confidence_expressed = Some(number.into()),
            Self::Classification | Self::MatchesTarget | Self::IsValidConcern => {}
            _ => {
                let target = audit.target.get_or_insert_default();
                match self {
                    Self::TargetFound => target.found = yes,
                    Self::TypeMatch => {
                        target.type_match = category.and_then(|at| TypeMatch::ALL.into_iter().rev().nth(at));
                    }
                    Self::Rcir => target.rcir = number,
                    Self::Ava => target.ava = number,
                    _ => target.fsv = number,
                }
            }
        }
    }
}

type Item = (CaseId, ToolName, u32, Option<FindingId>);

/// The seed of the intervals of agreement, unless one was asked for: the same answers must give the same figures in every
/// report and command.
pub const AGREEMENT_SEED: u64 = 0;

/// The answers of several judges to the decisions of audits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditRatings {
    items: BTreeMap<AuditField, BTreeMap<Item, BTreeMap<JudgeName, AuditAnswer>>>,
}

/// How far judges agree on one decision.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct FieldAgreement {
    pub field: AuditField,
    /// The share of equal pairs of answers.
    pub percent: Estimate,
    /// Krippendorff's alpha at the level of the answers.
    pub alpha: Estimate,
    /// Cohen's kappa of two judges, if there are two and the answers have no distance.
    pub kappa: Option<Estimate>,
}

impl AuditRatings {
    /// Adds a judgement; one that is no audit adds nothing.
    pub fn add(&mut self, judgement: &Judgement) {
        let Decision::Audit(audit) = &judgement.decision else { return };
        let Judgement { case, tool, trial, judge, .. } = judgement;
        for field in AuditField::ALL {
            for (finding, answer) in field.answers(audit) {
                // Each judge numbers the claims of a text anew.
                if finding.is_some_and(FindingId::is_claim) {
                    continue;
                }
                let item = (case.clone(), tool.clone(), *trial, finding.cloned());
                let judges = self.items.entry(field).or_default().entry(item).or_default();
                judges.entry(judge.clone()).or_insert(answer);
            }
        }
    }

    /// The judges, by name.
    pub fn judges(&self) -> BTreeSet<&JudgeName> {
        self.items.values().flat_map(|items| items.values()).flat_map(|answers| answers.keys()).collect()
    }

    /// The first decision that two judges made about the same, else the first that anybody made.
    pub fn first_shared(&self) -> AuditField {
        let first = self.items.iter().find(|(_, items)| is_shared(items)).or(self.items.iter().next());
        first.map_or(AuditField::SaidVulnerable, |(field, _)| *field)
    }

    /// How far they agree on each decision; empty where no trial was audited by two of them.
    pub fn measure(&self, seed: u64) -> Vec<FieldAgreement> {
        let raters: BTreeMap<&JudgeName, usize> = self.judges().into_iter().zip(0..).collect();
        if !self.items.values().any(is_shared) {
            return Vec::new();
        }
        let none = BTreeMap::new();
        let measure_field = |field: AuditField| {
            let ratings = ratings(self.items.get(&field).unwrap_or(&none), &raters);
            let pairs: &[(usize, usize)] =
                if raters.len() == 2 && field.level() == Level::Nominal { &[(0, 1)] } else { &[] };
            let measured = measure(&ratings, pairs, seed);
            let alpha = match field.level() {
                Level::Nominal => measured.nominal,
                Level::Ordinal => measured.ordinal,
                Level::Interval => measured.interval,
            };
            let kappa = measured.cohen.first().map(|pair| pair.plain);
            FieldAgreement { field, percent: measured.percent, alpha, kappa }
        };
        AuditField::ALL.into_iter().map(measure_field).collect()
    }
}

/// Whether two judges answered about the same item.
fn is_shared(items: &BTreeMap<Item, BTreeMap<JudgeName, AuditAnswer>>) -> bool {
    items.values().any(|own| own.len() > 1)
}

fn ratings(items: &BTreeMap<Item, BTreeMap<JudgeName, AuditAnswer>>, raters: &BTreeMap<&JudgeName, usize>) -> Ratings {
    let mut numbers: Vec<f64> = items.values().flat_map(BTreeMap::values).filter_map(number).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let category = |answer: &AuditAnswer| match *answer {
        AuditAnswer::Category(category) => category,
        AuditAnswer::Number(number) => numbers.partition_point(|known| *known < number),
    };
    let rated = |answers: &BTreeMap<JudgeName, AuditAnswer>| {
        let rating = |(judge, answer)| Some(Rating { rater: *raters.get(judge)?, category: category(answer) });
        answers.iter().filter_map(rating).collect()
    };
    let ratings = Ratings::new(items.values().map(rated));
    if numbers.is_empty() { ratings } else { ratings.with_scores(numbers) }
}

fn number(answer: &AuditAnswer) -> Option<f64> {
    match *answer {
        AuditAnswer::Number(number) => Some(number),
        AuditAnswer::Category(_) => None,
    }
}
