//! Audits: ten decisions about a whole response, in one question, and nothing of the answer guessed.
//!
//! A trial that lists findings has each of them classified. One that answers in free text has its claims counted by the judge,
//! each with a quote that must stand in the text. One that says nothing at all is decided [by rule](by_rule).

use super::template::audit::{AUDIT, AUDIT_SAFE, as_judge_sees, fields, neutral, schema};
use karat_core::ids::FindingId;
use karat_core::judgement::{AuditDecision, Classification, ClassifiedFinding, TargetAssessment, TypeMatch};
use karat_core::suite::{Case, Verdict};
use karat_core::trial::{Outcome, Trial};
use karat_llm::prompt::{AnswerCheck, AnswerSpec, Question};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why an answer is no audit. The model is told in the same words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AuditFault {
    /// A field is missing, of another type, or a word nobody knows.
    #[error("it is no audit: {0}")]
    Shape(String),
    /// A number that is no share.
    #[error("`confidence_expressed` is {0}, and must be a number from 0 to 1, or null where the response states none")]
    Confidence(f64),
    /// A finding that was not listed.
    #[error("there is no finding `{finding}`; {known}")]
    UnknownFinding {
        /// What was named.
        finding: String,
        /// What there is to name.
        known: String,
    },
    /// A finding with two classes.
    #[error("the finding `{0}` is classified twice; give each finding one entry and one class")]
    Twice(String),
    /// Findings without a class.
    #[error("no class is given for {0}; classify every finding that is listed")]
    Unclassified(String),
    /// Claims that are not named in turn.
    #[error("the claims of a text are named f1, f2 and so on without a gap, and `{0}` is missing")]
    Gap(String),
    /// A claim that no words of the response make.
    #[error(
        "the `quote` of `{finding}` does not stand in the text of the response; copy a passage of it letter by letter"
    )]
    NoSuchQuote {
        /// The claim.
        finding: String,
    },
    /// A quote that would stand in any text.
    #[error("the `quote` of `{0}` is shorter than {SHORTEST_QUOTE} letters; quote the passage that makes the claim")]
    ShortQuote(String),
    /// Two claims made by the same words.
    #[error("`{0}` and `{1}` have the same quote; list a claim once, or quote what tells the two apart")]
    SameQuote(String, String),
    /// A class for what is not there.
    #[error("`{finding}` cannot be {}: the code is safe, so it has no target", class.as_str())]
    NoTarget {
        /// The finding.
        finding: String,
        /// Its class.
        class: Classification,
    },
    /// A target found where there is none.
    #[error("`target` says that the target was found, and the code is safe, so it has none")]
    FoundNothing,
    /// `matches_target` against the class.
    #[error("`matches_target` of `{finding}` must be {} for {}", class.is_about_target(), class.as_str())]
    MatchesTarget {
        /// The finding.
        finding: String,
        /// Its class.
        class: Classification,
    },
    /// `is_valid_concern` against the class.
    #[error("`is_valid_concern` of `{finding}` must be {} for {}", class.is_valid(), class.as_str())]
    ValidConcern {
        /// The finding.
        finding: String,
        /// Its class.
        class: Classification,
    },
    /// Nothing is said of the target.
    #[error("`target` is missing; say whether the target was found")]
    NoAssessment,
    /// A finding is the target, and yet it was not found.
    #[error("`{0}` is TARGET_MATCH, so `target.found` must be true")]
    Denied(String),
    /// Nobody knows what found it.
    #[error("`target.found` is true, so `target.finding` must name the finding that reports the target")]
    FoundByNothing,
    /// The finding that is said to report the target is held for something else.
    #[error("`target.finding` is `{0}`, whose class is neither TARGET_MATCH nor PARTIAL_MATCH")]
    FoundByOther(String),
    /// There is a better one.
    #[error("`target.finding` is `{found}`, a PARTIAL_MATCH, although `{better}` is TARGET_MATCH; name that one")]
    FoundBetter {
        /// What was named.
        found: String,
        /// What should have been.
        better: String,
    },
    /// A score of something that was not found.
    #[error("`target.{0}` must be null where `target.found` is false")]
    Surplus(&'static str),
    /// No word on something that was found.
    #[error("`target.{0}` is missing, and is needed where `target.found` is true")]
    Missing(&'static str),
    /// A score between the levels.
    #[error("`target.{field}` is {score}, and must be 0, 0.25, 0.5, 0.75 or 1")]
    OffLevel {
        /// Which score.
        field: &'static str,
        /// Its value.
        score: f64,
    },
}

/// The levels of the rubric.
pub const LEVELS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A shorter quote says nothing, unless the whole text is shorter.
const SHORTEST_QUOTE: usize = 8;

/// What to ask about a trial; `None` if nobody need be asked, because the trial failed or is decided [by rule](by_rule).
///
/// Findings are called f1, f2 and so on, since a tool's own names may tell which tool it is. An answer that breaks a rule of
/// [`decision`] is sent back once, like any that cannot be read.
pub fn question(id: impl Into<String>, case: &Case, trial: &Trial, code: Option<&str>) -> Option<Question> {
    if trial.outcome != Outcome::Reported || trial.is_silent() {
        return None;
    }
    let rubric = Rubric::new(case, trial);
    let template = if rubric.safe { &AUDIT_SAFE } else { &AUDIT };
    let names = match &rubric.said {
        ResponseContent::Listed(count) => Some(*count),
        ResponseContent::Text(_) => None,
    };
    let max_tokens = names.map_or(template.max_tokens, longest_answer);
    let form = AnswerSpec { schema: schema(rubric.safe, names), max_tokens, check: Arc::new(rubric) };
    Some(Question { id: id.into(), template, fields: fields(case, trial, code), form: Some(form) })
}

/// The audit of a trial that says nothing that could be judged: neither findings nor text.
///
/// What it said of the code is its stated verdict. Without one, a tool that lists findings and lists none has found nothing,
/// which says that the code is safe; a tool that answers in free text and wrote none has given no verdict. `None` if a
/// judge must be asked, and where the trial failed and there is nothing to audit.
pub fn by_rule(case: &Case, trial: &Trial) -> Option<AuditDecision> {
    if trial.outcome != Outcome::Reported || !trial.is_silent() {
        return None;
    }
    let stated = trial.verdict.map(|verdict| verdict == Verdict::Vulnerable);
    let silence = trial.response.is_none().then_some(false);
    let missed = TargetAssessment { found: false, finding: None, type_match: None, rcir: None, ava: None, fsv: None };
    Some(AuditDecision {
        said_vulnerable: stated.or(silence),
        confidence_expressed: trial.confidence,
        findings: Vec::new(),
        target: (case.verdict == Verdict::Vulnerable).then_some(missed),
        explanation: Some("It reported nothing, so nobody had to be asked.".to_owned()),
    })
}

/// The audit that an answer holds, under the names that findings have in the trial; claims of free text are `response:1`,
/// `response:2` and so on.
///
/// Every rule is checked, also for an answer from the ledger: each finding has one class, flags follow the class, the target
/// is found by a finding that is about it, scores lie on [`LEVELS`], quotes stand in the text. Nothing is put right here.
pub fn decision(answer: &Value, case: &Case, trial: &Trial) -> Result<AuditDecision, AuditFault> {
    let rubric = Rubric::new(case, trial);
    let mut decision = rubric.read(answer)?;
    // Names are f1, f2 and so on by now, in turn.
    let name = |index: usize| trial.findings.get(index).map_or_else(|| FindingId::claim(index + 1), |f| f.id.clone());
    if let Some(target) = &mut decision.target {
        let index = decision.findings.iter().position(|found| Some(&found.finding) == target.finding.as_ref());
        target.finding = index.map(name);
    }
    decision.findings.iter_mut().enumerate().for_each(|(index, found)| found.finding = name(index));
    Ok(decision)
}

/// The rules an answer is held to.
#[derive(Debug)]
struct Rubric {
    safe: bool,
    said: ResponseContent,
}

/// What a response consists of.
#[derive(Debug)]
enum ResponseContent {
    /// So many findings.
    Listed(usize),
    /// Text, as the judge sees it, with its white space evened out.
    Text(String),
}

#[derive(Deserialize)]
struct Answer {
    said_vulnerable: Option<bool>,
    confidence_expressed: Option<f64>,
    findings: Vec<Entry>,
    target: Option<Target>,
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    finding: String,
    quote: Option<String>,
    classification: Classification,
    matches_target: bool,
    is_valid_concern: bool,
}

#[derive(Deserialize)]
struct Target {
    found: bool,
    finding: Option<String>,
    type_match: Option<TypeMatch>,
    rcir: Option<f64>,
    ava: Option<f64>,
    fsv: Option<f64>,
}

impl AnswerCheck for Rubric {
    fn check(&self, answer: &Value) -> Result<(), String> {
        self.read(answer).map(drop).map_err(|fault| fault.to_string())
    }
}

impl Rubric {
    fn new(case: &Case, trial: &Trial) -> Self {
        let said = match (trial.findings.len(), trial.response.as_deref()) {
            (0, Some(response)) => ResponseContent::Text(evened(&as_judge_sees(response))),
            (count, _) => ResponseContent::Listed(count),
        };
        Self { safe: case.verdict == Verdict::Safe, said }
    }

    /// The audit, with findings in turn under the names that the judge knows them by.
    fn read(&self, answer: &Value) -> Result<AuditDecision, AuditFault> {
        let answer = Answer::deserialize(answer).map_err(|error| AuditFault::Shape(error.to_string()))?;
        if let Some(confidence) = answer.confidence_expressed.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(AuditFault::Confidence(confidence));
        }
        let entries = self.in_turn(answer.findings)?;
        self.quotes(&entries)?;
        let findings: Vec<ClassifiedFinding> =
            entries.into_iter().map(|entry| self.classified(entry)).collect::<Result<_, _>>()?;
        let target = self.target(answer.target, &findings)?;
        Ok(AuditDecision {
            said_vulnerable: answer.said_vulnerable,
            confidence_expressed: answer.confidence_expressed,
            findings,
            target,
            explanation: answer.explanation.filter(|words| !words.trim().is_empty()),
        })
    }

    /// The entries in the order of their names, each name there once and none besides.
    fn in_turn(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, AuditFault> {
        let given = entries.len();
        let count = match self.said {
            ResponseContent::Listed(count) => count,
            ResponseContent::Text(_) => given,
        };
        let mut named: BTreeMap<usize, Entry> = BTreeMap::new();
        for entry in entries {
            let Some(index) = index(&entry.finding) else {
                return Err(AuditFault::UnknownFinding { finding: entry.finding, known: self.known() });
            };
            if let (ResponseContent::Listed(_), true) = (&self.said, index >= count) {
                return Err(AuditFault::UnknownFinding { finding: entry.finding, known: self.known() });
            }
            if let Some(earlier) = named.insert(index, entry) {
                return Err(AuditFault::Twice(earlier.finding));
            }
        }
        let missing: Vec<String> = (0..count).filter(|index| !named.contains_key(index)).map(neutral).collect();
        match (&self.said, missing.first()) {
            (_, None) => Ok(named.into_values().collect()),
            (ResponseContent::Text(_), Some(first)) => Err(AuditFault::Gap(first.clone())),
            (ResponseContent::Listed(_), Some(_)) => Err(AuditFault::Unclassified(missing.join(", "))),
        }
    }

    fn known(&self) -> String {
        match self.said {
            ResponseContent::Listed(0) => "the response lists none".to_owned(),
            ResponseContent::Listed(1) => "the only one is `f1`".to_owned(),
            ResponseContent::Listed(count) => format!("there are `f1` to `{}`", neutral(count - 1)),
            ResponseContent::Text(_) => "the claims of a text are named f1, f2 and so on".to_owned(),
        }
    }

    /// Every claim of a text is made by words that stand in it, and no two by the same.
    fn quotes(&self, entries: &[Entry]) -> Result<(), AuditFault> {
        let ResponseContent::Text(text) = &self.said else { return Ok(()) };
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for entry in entries {
            let quote = evened(entry.quote.as_deref().unwrap_or_default());
            if quote.is_empty() || !text.contains(&quote) {
                return Err(AuditFault::NoSuchQuote { finding: entry.finding.clone() });
            }
            if quote.chars().count() < SHORTEST_QUOTE && quote != *text {
                return Err(AuditFault::ShortQuote(entry.finding.clone()));
            }
            if let Some(earlier) = seen.insert(quote, &entry.finding) {
                return Err(AuditFault::SameQuote(earlier.to_owned(), entry.finding.clone()));
            }
        }
        Ok(())
    }

    fn classified(&self, entry: Entry) -> Result<ClassifiedFinding, AuditFault> {
        let Entry { finding, classification: class, matches_target, is_valid_concern, .. } = entry;
        if self.safe && class.is_about_target() {
            return Err(AuditFault::NoTarget { finding, class });
        }
        if matches_target != class.is_about_target() {
            return Err(AuditFault::MatchesTarget { finding, class });
        }
        if is_valid_concern != class.is_valid() {
            return Err(AuditFault::ValidConcern { finding, class });
        }
        Ok(ClassifiedFinding {
            finding: FindingId::new(finding),
            classification: class,
            matches_target: Some(matches_target),
            is_valid_concern: Some(is_valid_concern),
        })
    }

    fn target(
        &self,
        target: Option<Target>,
        findings: &[ClassifiedFinding],
    ) -> Result<Option<TargetAssessment>, AuditFault> {
        if self.safe {
            return if target.is_some_and(|target| target.found) { Err(AuditFault::FoundNothing) } else { Ok(None) };
        }
        let target = target.ok_or(AuditFault::NoAssessment)?;
        let whole = findings.iter().find(|found| found.classification == Classification::TargetMatch);
        let whole = whole.map(|found| found.finding.to_string());
        let scores = [("rcir", target.rcir), ("ava", target.ava), ("fsv", target.fsv)];
        if !target.found {
            if let Some(finding) = whole {
                return Err(AuditFault::Denied(finding));
            }
            let given = scores.into_iter().find(|(_, score)| score.is_some()).map(|(field, _)| field);
            if let Some(field) = given.or(target.finding.is_some().then_some("finding")) {
                return Err(AuditFault::Surplus(field));
            }
        } else {
            self.found_by(target.finding.as_deref(), whole, findings)?;
            if target.type_match.is_none() {
                return Err(AuditFault::Missing("type_match"));
            }
            for (field, score) in scores {
                let score = score.ok_or(AuditFault::Missing(field))?;
                if !LEVELS.contains(&score) {
                    return Err(AuditFault::OffLevel { field, score });
                }
            }
        }
        Ok(Some(TargetAssessment {
            found: target.found,
            finding: target.finding.map(FindingId::new),
            type_match: target.type_match,
            rcir: target.rcir,
            ava: target.ava,
            fsv: target.fsv,
        }))
    }

    /// What is said to report the target is about it, and nothing reports it better.
    fn found_by(
        &self,
        named: Option<&str>,
        whole: Option<String>,
        findings: &[ClassifiedFinding],
    ) -> Result<(), AuditFault> {
        let named = named.ok_or(AuditFault::FoundByNothing)?;
        let found = findings.iter().find(|found| found.finding.as_str() == named);
        let unknown = || AuditFault::UnknownFinding { finding: named.to_owned(), known: self.known() };
        match (found.ok_or_else(unknown)?.classification, whole) {
            (Classification::TargetMatch, _) | (Classification::PartialMatch, None) => Ok(()),
            (Classification::PartialMatch, Some(better)) => {
                Err(AuditFault::FoundBetter { found: named.to_owned(), better })
            }
            _ => Err(AuditFault::FoundByOther(named.to_owned())),
        }
    }
}

/// Which finding a name stands for, counted from 0; there is one way to write a name.
fn index(name: &str) -> Option<usize> {
    let index = name.strip_prefix('f')?.parse::<usize>().ok()?.checked_sub(1)?;
    (neutral(index) == name).then_some(index)
}

/// The answer to so many findings, in tokens.
fn longest_answer(findings: usize) -> u32 {
    let needed = 1024 + 96 * u32::try_from(findings).unwrap_or(u32::MAX / 128);
    needed.clamp(2048, 16_384)
}

/// The words of a text with one blank between them, for models do not copy line breaks faithfully.
fn evened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
