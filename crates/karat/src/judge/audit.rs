//! Audits: ten decisions about a whole response, in one question; invalid answers are rejected, never repaired.
//!
//! A trial that lists findings has each of them classified. One that answers in free text has its claims counted by the judge,
//! each with a quote that must occur in the text. A trial without findings and text is decided [by rule](by_rule).

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

/// Why an answer is not a valid audit. The model is sent the same words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AuditFault {
    #[error("it is no audit: {0}")]
    Shape(String),
    #[error("`confidence_expressed` is {0}, and must be a number from 0 to 1, or null where the response states none")]
    Confidence(f64),
    #[error("there is no finding `{finding}`; {known}")]
    UnknownFinding { finding: String, known: String },
    #[error("the finding `{0}` is classified twice; give each finding one entry and one class")]
    Twice(String),
    #[error("no class is given for {0}; classify every finding that is listed")]
    Unclassified(String),
    #[error("the claims of a text are named f1, f2 and so on without a gap, and `{0}` is missing")]
    Gap(String),
    #[error(
        "the `quote` of `{finding}` does not occur in the text of the response; copy a passage of it letter by letter"
    )]
    NoSuchQuote { finding: String },
    #[error("the `quote` of `{0}` is shorter than {SHORTEST_QUOTE} letters; quote the passage that makes the claim")]
    ShortQuote(String),
    #[error("`{0}` and `{1}` have the same quote; list a claim once, or quote what tells the two apart")]
    SameQuote(String, String),
    #[error("`{finding}` cannot be {}: the code is safe, so it has no target", class.as_str())]
    NoTarget { finding: String, class: Classification },
    #[error("`target` says that the target was found, and the code is safe, so it has none")]
    FoundNothing,
    #[error("`matches_target` of `{finding}` must be {} for {}", class.is_about_target(), class.as_str())]
    MatchesTarget { finding: String, class: Classification },
    #[error("`is_valid_concern` of `{finding}` must be {} for {}", class.is_valid(), class.as_str())]
    ValidConcern { finding: String, class: Classification },
    #[error("`target` is missing; say whether the target was found")]
    NoAssessment,
    #[error("`{0}` is TARGET_MATCH, so `target.found` must be true")]
    Denied(String),
    #[error("`target.found` is true, so `target.finding` must name the finding that reports the target")]
    FoundByNothing,
    #[error("`target.finding` is `{0}`, whose class is neither TARGET_MATCH nor PARTIAL_MATCH")]
    FoundByOther(String),
    #[error("`target.finding` is `{found}`, a PARTIAL_MATCH, although `{better}` is TARGET_MATCH; name that one")]
    FoundBetter { found: String, better: String },
    #[error("`target.{0}` must be null where `target.found` is false")]
    Surplus(&'static str),
    #[error("`target.{0}` is missing, and is needed where `target.found` is true")]
    Missing(&'static str),
    #[error("`target.{field}` is {score}, and must be 0, 0.25, 0.5, 0.75 or 1")]
    OffLevel { field: &'static str, score: f64 },
}

/// The levels of scores in the rubric.
pub const LEVELS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// In letters, unless the whole text is shorter.
const SHORTEST_QUOTE: usize = 8;

/// The question about a trial; `None` if the trial failed or is decided [by rule](by_rule).
///
/// Findings are called f1, f2 and so on, since a tool's own names may tell which tool it is. An answer that breaks a rule of
/// [`decision`] is sent back once, like any that cannot be parsed.
pub fn question(id: impl Into<String>, case: &Case, trial: &Trial, code: Option<&str>) -> Option<Question> {
    if trial.outcome != Outcome::Reported || trial.is_silent() {
        return None;
    }
    let rubric = Rubric::new(case, trial);
    let template = if rubric.safe { &AUDIT_SAFE } else { &AUDIT };
    let names = match &rubric.content {
        ResponseContent::Listed(count) => Some(*count),
        ResponseContent::Text(_) => None,
    };
    let max_tokens = names.map_or(template.max_tokens, longest_answer);
    let form = AnswerSpec { schema: schema(rubric.safe, names), max_tokens, check: Arc::new(rubric) };
    Some(Question { id: id.into(), template, fields: fields(case, trial, code), form: Some(form) })
}

/// The audit of a trial with neither findings nor text; `None` if a judge must be asked or the trial failed.
///
/// Without a stated verdict, a tool that lists findings and lists none says that the code is safe; a tool that answers in free
/// text and wrote none has given no verdict.
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

/// Parses an answer into an audit, with the ids that findings have in the trial; claims of free text are `response:1`,
/// `response:2` and so on.
///
/// Every rule is checked, also for an answer from the ledger: each finding has one class, flags follow the class, the target
/// is found by a finding that is about it, scores are on [`LEVELS`], quotes occur in the text.
pub fn decision(answer: &Value, case: &Case, trial: &Trial) -> Result<AuditDecision, AuditFault> {
    let rubric = Rubric::new(case, trial);
    let mut decision = rubric.parse(answer)?;
    // Findings are in the order of their names f1, f2 and so on.
    let name = |index: usize| trial.findings.get(index).map_or_else(|| FindingId::claim(index + 1), |f| f.id.clone());
    if let Some(target) = &mut decision.target {
        let index = decision.findings.iter().position(|found| Some(&found.finding) == target.finding.as_ref());
        target.finding = index.map(name);
    }
    decision.findings.iter_mut().enumerate().for_each(|(index, found)| found.finding = name(index));
    Ok(decision)
}

/// The rules for an answer.
#[derive(Debug)]
struct Rubric {
    safe: bool,
    content: ResponseContent,
}

#[derive(Debug)]
enum ResponseContent {
    Listed(usize),
    /// Text as the judge sees it, with normalised white space.
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
        self.parse(answer).map(drop).map_err(|fault| fault.to_string())
    }
}

impl Rubric {
    fn new(case: &Case, trial: &Trial) -> Self {
        let content = match (trial.findings.len(), trial.response.as_deref()) {
            (0, Some(response)) => ResponseContent::Text(normalise(&as_judge_sees(response))),
            (count, _) => ResponseContent::Listed(count),
        };
        Self { safe: case.verdict == Verdict::Safe, content }
    }

    /// The audit, with findings in order under the names f1, f2 and so on.
    fn parse(&self, answer: &Value) -> Result<AuditDecision, AuditFault> {
        let answer = Answer::deserialize(answer).map_err(|error| AuditFault::Shape(error.to_string()))?;
        if let Some(confidence) = answer.confidence_expressed.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(AuditFault::Confidence(confidence));
        }
        let entries = self.sort_entries(answer.findings)?;
        self.check_quotes(&entries)?;
        let findings: Vec<ClassifiedFinding> =
            entries.into_iter().map(|entry| self.classify(entry)).collect::<Result<_, _>>()?;
        let target = self.assess_target(answer.target, &findings)?;
        Ok(AuditDecision {
            said_vulnerable: answer.said_vulnerable,
            confidence_expressed: answer.confidence_expressed,
            findings,
            target,
            explanation: answer.explanation.filter(|words| !words.trim().is_empty()),
        })
    }

    /// The entries in the order of their names; each name must occur exactly once.
    fn sort_entries(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, AuditFault> {
        let given = entries.len();
        let count = match self.content {
            ResponseContent::Listed(count) => count,
            ResponseContent::Text(_) => given,
        };
        let mut named: BTreeMap<usize, Entry> = BTreeMap::new();
        for entry in entries {
            let Some(index) = index(&entry.finding) else {
                return Err(AuditFault::UnknownFinding { finding: entry.finding, known: self.known() });
            };
            if let (ResponseContent::Listed(_), true) = (&self.content, index >= count) {
                return Err(AuditFault::UnknownFinding { finding: entry.finding, known: self.known() });
            }
            if let Some(earlier) = named.insert(index, entry) {
                return Err(AuditFault::Twice(earlier.finding));
            }
        }
        let missing: Vec<String> = (0..count).filter(|index| !named.contains_key(index)).map(neutral).collect();
        match (&self.content, missing.first()) {
            (_, None) => Ok(named.into_values().collect()),
            (ResponseContent::Text(_), Some(first)) => Err(AuditFault::Gap(first.clone())),
            (ResponseContent::Listed(_), Some(_)) => Err(AuditFault::Unclassified(missing.join(", "))),
        }
    }

    fn known(&self) -> String {
        match self.content {
            ResponseContent::Listed(0) => "the response lists none".to_owned(),
            ResponseContent::Listed(1) => "the only one is `f1`".to_owned(),
            ResponseContent::Listed(count) => format!("there are `f1` to `{}`", neutral(count - 1)),
            ResponseContent::Text(_) => "the claims of a text are named f1, f2 and so on".to_owned(),
        }
    }

    /// Every claim of a text must quote it, no two the same passage.
    fn check_quotes(&self, entries: &[Entry]) -> Result<(), AuditFault> {
        let ResponseContent::Text(text) = &self.content else { return Ok(()) };
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for entry in entries {
            let quote = normalise(entry.quote.as_deref().unwrap_or_default());
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

    fn classify(&self, entry: Entry) -> Result<ClassifiedFinding, AuditFault> {
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

    fn assess_target(
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
            self.check_found_by(target.finding.as_deref(), whole, findings)?;
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

    /// The finding that reports the target must be about it, and none may report it better.
    fn check_found_by(
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

/// The index of a name such as `f1`, from 0; names have one spelling.
fn index(name: &str) -> Option<usize> {
    let index = name.strip_prefix('f')?.parse::<usize>().ok()?.checked_sub(1)?;
    (neutral(index) == name).then_some(index)
}

/// In tokens.
fn longest_answer(findings: usize) -> u32 {
    let needed = 1024 + 96 * u32::try_from(findings).unwrap_or(u32::MAX / 128);
    needed.clamp(2048, 16_384)
}

/// Puts one blank between words, since models do not copy line breaks faithfully.
fn normalise(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
