//! Audits: ten decisions about a whole response, in one question; invalid answers are rejected, never repaired.
//!
//! A trial that lists findings has each of them classified. One that answers in free text has its claims counted by the judge,
//! each with a quote that must occur in the text. A trial without findings and text is decided [by rule](by_rule).

use super::template::audit::{AUDIT, AUDIT_SAFE, as_judge_sees, fields, neutral, schema};
use karat_core::ids::FindingId;
use karat_core::judgement::{AuditDecision, Classification, ClassifiedFinding, TargetAssessment};
use karat_core::suite::{Case, Verdict};
use karat_core::trial::{Outcome, Trial};
use karat_llm::prompt::{AnswerCheck, AnswerSpec, Question};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The levels of scores in the rubric.
pub const LEVELS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// In letters, unless the whole text is shorter.
const SHORTEST_QUOTE: usize = 8;

/// The question about a trial; `None` if the trial failed or is decided [by rule](by_rule).
///
/// Findings are called f1, f2 and so on, since a tool's own names may tell which tool it is.
pub fn question(id: impl Into<String>, case: &Case, trial: &Trial, code: Option<&str>) -> Option<Question> {
    if trial.outcome != Outcome::Reported || trial.is_silent() {
        return None;
    }
    let rubric = Rubric::new(case, trial);
    let template = if rubric.safe { &AUDIT_SAFE } else { &AUDIT };
    let names = rubric.listed;
    let needed = |findings: usize| 1024 + 96 * u32::try_from(findings).unwrap_or(u32::MAX / 128);
    let max_tokens = names.map_or(template.max_tokens, |findings| needed(findings).clamp(2048, 16_384));
    let form = AnswerSpec { schema: schema(rubric.safe, names), max_tokens, check: Arc::new(rubric) };
    Some(Question { id: id.into(), template, fields: fields(case, trial, code), form: Some(form) })
}

/// The audit of a trial with neither findings nor text; `None` if a judge must be asked or the trial failed.
/// Without a stated verdict, a tool that lists findings and lists none says that the code is safe; a tool that answers in free
/// text and wrote none has given no verdict.
pub fn by_rule(case: &Case, trial: &Trial) -> Option<AuditDecision> {
    if trial.outcome != Outcome::Reported || !trial.is_silent() {
        return None;
    }
    let stated = trial.verdict.map(|verdict| verdict == Verdict::Vulnerable);
    let silence = trial.response.is_none().then_some(false);
    let missed = TargetAssessment { found: Some(false), ..TargetAssessment::default() };
    Some(AuditDecision {
        said_vulnerable: Some(stated.or(silence).into()),
        confidence_expressed: Some(trial.confidence.into()),
        findings: Vec::new(),
        target: (case.verdict == Verdict::Vulnerable).then_some(missed),
        explanation: Some("It reported nothing, so nobody had to be asked.".to_owned()),
    })
}

/// Parses an answer into an audit, with the ids that findings have in the trial; claims of free text are `response:1` and so on.
/// Every rule is checked, also for an answer from the ledger. The model is sent the same error message.
pub fn decision(answer: &Value, case: &Case, trial: &Trial) -> Result<AuditDecision, String> {
    let mut decision = Rubric::new(case, trial).parse(answer)?;
    // Findings are in the order of their names f1, f2 and so on.
    let name = |index: usize| trial.findings.get(index).map_or_else(|| FindingId::claim(index + 1), |f| f.id.clone());
    if let Some(target) = &mut decision.target {
        let index = decision.findings.iter().position(|found| Some(&found.finding) == target.finding.as_ref());
        target.finding = index.map(name);
    }
    decision.findings.iter_mut().enumerate().for_each(|(index, found)| found.finding = name(index));
    Ok(decision)
}

#[derive(Debug)]
struct Rubric {
    safe: bool,
    /// How many findings are listed; `None`: the judge lists the claims of a text.
    listed: Option<usize>,
    /// The text as the judge sees it, with normalised white space.
    text: String,
}

#[derive(Deserialize)]
struct Answer {
    said_vulnerable: Option<bool>,
    confidence_expressed: Option<f64>,
    findings: Vec<Entry>,
    target: Option<TargetAssessment>,
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

impl AnswerCheck for Rubric {
    fn check(&self, answer: &Value) -> Result<(), String> {
        self.parse(answer).map(drop)
    }
}

impl Rubric {
    fn new(case: &Case, trial: &Trial) -> Self {
        let (listed, text) = match (trial.findings.len(), trial.response.as_deref()) {
            (0, Some(response)) => (None, normalise(&as_judge_sees(response))),
            (count, _) => (Some(count), String::new()),
        };
        Self { safe: case.verdict == Verdict::Safe, listed, text }
    }

    /// The audit, with findings in order under the names f1, f2 and so on.
    fn parse(&self, answer: &Value) -> Result<AuditDecision, String> {
        let answer = Answer::deserialize(answer).map_err(|error| format!("it is no audit: {error}"))?;
        let Answer { said_vulnerable, confidence_expressed, .. } = answer;
        if let Some(confidence) = confidence_expressed.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(format!(
                "`confidence_expressed` is {confidence}, and must be a number from 0 to 1, or null where the response states none"
            ));
        }
        let entries = self.sort_entries(answer.findings)?;
        self.check_quotes(&entries)?;
        let findings = entries.into_iter().map(|entry| self.classify(entry)).collect::<Result<Vec<_>, _>>()?;
        let target = self.assess_target(answer.target, &findings)?;
        let explanation = answer.explanation.filter(|words| !words.trim().is_empty());
        let (said_vulnerable, confidence_expressed) = (Some(said_vulnerable.into()), Some(confidence_expressed.into()));
        Ok(AuditDecision { said_vulnerable, confidence_expressed, findings, target, explanation })
    }

    /// The entries in the order of their names; each name must occur exactly once.
    fn sort_entries(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, String> {
        let count = self.listed.unwrap_or(entries.len());
        let most = self.listed.unwrap_or(usize::MAX);
        let mut named: BTreeMap<usize, Entry> = BTreeMap::new();
        for entry in entries {
            let Some(index) = index(&entry.finding).filter(|index| *index < most) else {
                return Err(self.unknown(&entry.finding));
            };
            if let Some(Entry { finding, .. }) = named.insert(index, entry) {
                return Err(format!(
                    "the finding `{finding}` is classified twice; give each finding one entry and one class"
                ));
            }
        }
        let missing: Vec<String> = (0..count).filter(|index| !named.contains_key(index)).map(neutral).collect();
        match (self.listed, missing.first()) {
            (_, None) => Ok(named.into_values().collect()),
            (None, Some(first)) => {
                Err(format!("the claims of a text are named f1, f2 and so on without a gap, and `{first}` is missing"))
            }
            (Some(_), Some(_)) => {
                let missing = missing.join(", ");
                Err(format!("no class is given for {missing}; classify every finding that is listed"))
            }
        }
    }

    fn unknown(&self, finding: &str) -> String {
        let known = match self.listed {
            Some(0) => "the response lists none".to_owned(),
            Some(1) => "the only one is `f1`".to_owned(),
            Some(count) => format!("there are `f1` to `{}`", neutral(count - 1)),
            None => "the claims of a text are named f1, f2 and so on".to_owned(),
        };
        format!("there is no finding `{finding}`; {known}")
    }

    /// Every claim of a text must quote it, no two the same passage.
    fn check_quotes(&self, entries: &[Entry]) -> Result<(), String> {
        if self.listed.is_some() {
            return Ok(());
        }
        let mut quotes: BTreeMap<String, &str> = BTreeMap::new();
        for entry in entries {
            let (finding, quote) = (&entry.finding, normalise(entry.quote.as_deref().unwrap_or_default()));
            if quote.is_empty() || !self.text.contains(&quote) {
                let help = "copy a passage of it letter by letter";
                return Err(format!("the `quote` of `{finding}` does not occur in the text of the response; {help}"));
            }
            if quote.chars().count() < SHORTEST_QUOTE && quote != self.text {
                let help = "quote the passage that makes the claim";
                return Err(format!("the `quote` of `{finding}` is shorter than {SHORTEST_QUOTE} letters; {help}"));
            }
            if let Some(earlier) = quotes.insert(quote, finding) {
                let help = "list a claim once, or quote what tells the two apart";
                return Err(format!("`{earlier}` and `{finding}` have the same quote; {help}"));
            }
        }
        Ok(())
    }

    fn classify(&self, entry: Entry) -> Result<ClassifiedFinding, String> {
        let Entry { finding, classification: class, matches_target, is_valid_concern, .. } = entry;
        if self.safe && class.is_about_target() {
            return Err(format!("`{finding}` cannot be {}: the code is safe, so it has no target", class.as_str()));
        }
        for (field, stated, expected) in [
            ("matches_target", matches_target, class.is_about_target()),
            ("is_valid_concern", is_valid_concern, class.is_valid()),
        ] {
            if stated != expected {
                return Err(format!("`{field}` of `{finding}` must be {expected} for {}", class.as_str()));
            }
        }
        Ok(ClassifiedFinding {
            finding: FindingId::new(finding),
            classification: Some(class),
            matches_target: Some(matches_target),
            is_valid_concern: Some(is_valid_concern),
        })
    }

    fn assess_target(
        &self,
        target: Option<TargetAssessment>,
        findings: &[ClassifiedFinding],
    ) -> Result<Option<TargetAssessment>, String> {
        if self.safe {
            return match target {
                Some(TargetAssessment { found: Some(true), .. }) => {
                    Err("`target` says that the target was found, and the code is safe, so it has none".to_owned())
                }
                _ => Ok(None),
            };
        }
        let target = target.ok_or("`target` is missing; say whether the target was found")?;
        let whole = findings.iter().find(|found| found.classification == Some(Classification::TargetMatch));
        let whole = whole.map(|found| found.finding.to_string());
        let scores = [("rcir", target.rcir), ("ava", target.ava), ("fsv", target.fsv)];
        if !target.found.ok_or("`target.found` is missing; say whether the target was found")? {
            if let Some(whole) = whole {
                return Err(format!("`{whole}` is TARGET_MATCH, so `target.found` must be true"));
            }
            let given = scores.into_iter().find(|(_, score)| score.is_some()).map(|(field, _)| field);
            if let Some(field) = given.or(target.finding.is_some().then_some("finding")) {
                return Err(format!("`target.{field}` must be null where `target.found` is false"));
            }
        } else {
            self.check_found_by(target.finding.as_ref().map(FindingId::as_str), whole, findings)?;
            let missing =
                |field: &str| format!("`target.{field}` is missing, and is needed where `target.found` is true");
            if target.type_match.is_none() {
                return Err(missing("type_match"));
            }
            for (field, score) in scores {
                let score = score.ok_or_else(|| missing(field))?;
                if !LEVELS.contains(&score) {
                    return Err(format!("`target.{field}` is {score}, and must be 0, 0.25, 0.5, 0.75 or 1"));
                }
            }
        }
        Ok(Some(target))
    }

    /// The finding that reports the target must be about it, and none may report it better.
    fn check_found_by(
        &self,
        named: Option<&str>,
        whole: Option<String>,
        findings: &[ClassifiedFinding],
    ) -> Result<(), String> {
        let named =
            named.ok_or("`target.found` is true, so `target.finding` must name the finding that reports the target")?;
        let found = findings.iter().find(|found| found.finding.as_str() == named);
        match (found.ok_or_else(|| self.unknown(named))?.classification, whole) {
            (Some(Classification::TargetMatch), _) | (Some(Classification::PartialMatch), None) => Ok(()),
            (Some(Classification::PartialMatch), Some(better)) => Err(format!(
                "`target.finding` is `{named}`, a PARTIAL_MATCH, although `{better}` is TARGET_MATCH; name that one"
            )),
            _ => Err(format!("`target.finding` is `{named}`, whose class is neither TARGET_MATCH nor PARTIAL_MATCH")),
        }
    }
}

/// The index of a name such as `f1`, from 0; names have one spelling.
fn index(name: &str) -> Option<usize> {
    let index = name.strip_prefix('f')?.parse::<usize>().ok()?.checked_sub(1)?;
    (neutral(index) == name).then_some(index)
}

/// Puts one blank between words, since models do not copy line breaks faithfully.
fn normalise(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
