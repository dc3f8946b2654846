//! What is asked about an item to label, and the keys and words that answer.

#![expect(missing_docs, reason = "names of fields say it")]

use crate::judge::audit::LEVELS;
use karat_core::judgement::{Classification, TypeMatch};
use karat_core::panel::AuditField;
use karat_store::label::{LabelAnswer, LabelQuestion};
use serde::Serialize;
use std::collections::BTreeSet;

/// A question as people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownQuestion {
    pub question: &'static str,
    pub answers: Vec<Choice>,
    /// Whether any number from 0 to 1 is an answer as well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub number: bool,
}

/// One of the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    pub key: String,
    /// As `karat label add` takes it.
    pub answer: String,
    pub name: String,
    /// `good`, `bad` or `warn`.
    pub tone: &'static str,
    /// What it means, if the name does not say it.
    #[serde(skip)]
    pub meaning: &'static str,
}

/// The question, with all its answers.
pub fn shown_question(question: LabelQuestion) -> ShownQuestion {
    let (text, answers) = match question {
        LabelQuestion::Pair => (
            "Does the report describe the known problem?",
            vec![
                choice("y", "yes", "Yes", "good", "acting on the report fixes the known problem."),
                choice("n", "no", "No", "bad", "another defect, the same kind of defect elsewhere, or generic text."),
                choice(
                    "p",
                    "partial",
                    "Partial",
                    "warn",
                    "related to the known problem but missing its point. This is not a match.",
                ),
            ],
        ),
        LabelQuestion::Extra => (
            "Is it a real problem?",
            vec![
                choice("y", "yes", "Yes", "good", "a real problem in this code."),
                choice("n", "no", "No", "bad", "made up, wrong, or too minor to report."),
            ],
        ),
        LabelQuestion::Audit(field) => (audit_question(field), audit_answers(field)),
    };
    let number = question == LabelQuestion::Audit(AuditField::ConfidenceExpressed);
    ShownQuestion { question: text, answers, number }
}

impl ShownQuestion {
    /// Parses what was typed: a key, or an answer of `karat label add`.
    pub fn parse(&self, question: LabelQuestion, word: &str) -> Option<LabelAnswer> {
        let typed = self.answers.iter().find(|choice| choice.key.eq_ignore_ascii_case(word));
        LabelAnswer::parse(question, typed.map_or(word, |choice| &choice.answer))
    }

    /// Such as `yes, no or partial`.
    pub fn expected(&self) -> String {
        let mut words: Vec<&str> = self.answers.iter().map(|choice| choice.answer.as_str()).collect();
        words.extend(self.number.then_some("a number from 0 to 1"));
        match words.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            _ => words.concat(),
        }
    }
}

/// The decisions of audits by the names of `karat judge agree --on`, and by those of judgements.
pub fn audit_field(name: &str) -> Option<AuditField> {
    let own = match name {
        "verdict" => AuditField::SaidVulnerable,
        "confidence" => AuditField::ConfidenceExpressed,
        "found" => AuditField::TargetFound,
        name => AuditField::ALL.into_iter().find(|field| field.as_str() == name)?,
    };
    Some(own)
}

/// Parses decisions separated by commas, or `all`; by default the class of findings.
pub fn audit_fields(names: &[impl AsRef<str>]) -> Result<BTreeSet<AuditField>, String> {
    let mut fields = BTreeSet::new();
    for name in names.iter().flat_map(|names| names.as_ref().split(',')).map(str::trim).filter(|name| !name.is_empty())
    {
        match name {
            "all" => fields.extend(AuditField::ALL),
            name => {
                fields.insert(audit_field(name).ok_or_else(|| {
                    let known: Vec<&str> = AuditField::ALL.into_iter().map(short_name).collect();
                    format!("unknown decision `{name}`: expected all, {}", known.join(", "))
                })?);
            }
        }
    }
    if fields.is_empty() {
        fields.insert(AuditField::Classification);
    }
    Ok(fields)
}

/// The name to type.
pub fn short_name(field: AuditField) -> &'static str {
    match field {
        AuditField::SaidVulnerable => "verdict",
        AuditField::ConfidenceExpressed => "confidence",
        AuditField::TargetFound => "found",
        field => field.as_str(),
    }
}

fn audit_question(field: AuditField) -> &'static str {
    match field {
        AuditField::Classification => "What is it?",
        AuditField::MatchesTarget => "Is it about the target?",
        AuditField::IsValidConcern => "Is it a legitimate concern?",
        AuditField::SaidVulnerable => "Does the response call the code vulnerable?",
        AuditField::ConfidenceExpressed => "How sure does the response say it is?",
        AuditField::TargetFound => "Does the response report the target?",
        AuditField::TypeMatch => "How well does the type that it names fit the target?",
        AuditField::Rcir => "How well does it explain the root cause of the target?",
        AuditField::Ava => "How well does it describe the attack?",
        AuditField::Fsv => "How well would its fix work?",
    }
}

fn audit_answers(field: AuditField) -> Vec<Choice> {
    match field {
        AuditField::Classification => {
            (1..).zip(Classification::ALL).map(|(at, class)| class_choice(at, class)).collect()
        }
        AuditField::MatchesTarget | AuditField::IsValidConcern | AuditField::TargetFound => {
            vec![choice("y", "yes", "Yes", "good", ""), choice("n", "no", "No", "bad", "")]
        }
        AuditField::SaidVulnerable => vec![
            choice("y", "vulnerable", "Vulnerable", "good", ""),
            choice("n", "safe", "Safe", "bad", ""),
            choice("x", "none", "No verdict", "warn", ""),
        ],
        AuditField::ConfidenceExpressed => vec![choice("x", "none", "It does not say", "warn", "")],
        AuditField::TypeMatch => (1..).zip(TypeMatch::ALL).map(|(at, fit)| type_choice(at, fit)).collect(),
        AuditField::Rcir | AuditField::Ava | AuditField::Fsv => {
            let level = |(at, level): (usize, f64)| {
                let tone = if level < 0.5 {
                    "bad"
                } else if level < 1.0 {
                    "warn"
                } else {
                    "good"
                };
                choice(&at.to_string(), &level.to_string(), &level.to_string(), tone, "")
            };
            LEVELS.into_iter().enumerate().map(level).collect()
        }
    }
}

fn choice(key: &str, answer: &str, name: &str, tone: &'static str, meaning: &'static str) -> Choice {
    Choice { key: key.to_owned(), answer: answer.to_owned(), name: name.to_owned(), tone, meaning }
}

fn class_choice(at: usize, class: Classification) -> Choice {
    let meaning = match class {
        Classification::TargetMatch => "Reports the target.",
        Classification::PartialMatch => "Related to the target but missing its point.",
        Classification::BonusValid => "Another real problem.",
        Classification::Hallucinated => "Made up: the code does nothing of the kind.",
        Classification::Mischaracterized => "The code is real but misunderstood.",
        Classification::DesignChoice => "Intended behaviour.",
        Classification::OutOfScope => "True, but out of scope.",
        Classification::SecurityTheater => "Sounds serious but is not.",
        Classification::Informational => "A remark.",
    };
    let tone = if class.is_valid() { "good" } else { "bad" };
    choice(&at.to_string(), class.as_str(), &spoken(class.as_str()), tone, meaning)
}

fn type_choice(at: usize, fit: TypeMatch) -> Choice {
    let (tone, meaning) = match fit {
        TypeMatch::Exact => ("good", "The same name."),
        TypeMatch::Semantic => ("good", "The same thing by another name."),
        TypeMatch::Partial => ("warn", "Related."),
        TypeMatch::Wrong => ("bad", "Something else."),
        TypeMatch::NotMentioned => ("bad", "It names no type."),
    };
    choice(&at.to_string(), fit.as_str(), &spoken(fit.as_str()), tone, meaning)
}

/// `TARGET_MATCH` as `Target match`.
fn spoken(name: &str) -> String {
    let name = name.to_lowercase().replace('_', " ");
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_and_every_key_is_understood() {
        let audits = AuditField::ALL.map(LabelQuestion::Audit);
        for question in [LabelQuestion::Pair, LabelQuestion::Extra].into_iter().chain(audits) {
            let shown = shown_question(question);
            let mut keys = BTreeSet::new();
            for choice in &shown.answers {
                let by_word = LabelAnswer::parse(question, &choice.answer);
                assert!(by_word.is_some(), "{question:?} {choice:?}");
                assert_eq!(shown.parse(question, &choice.key), by_word, "{question:?} {choice:?}");
                assert!(keys.insert(&choice.key), "{question:?} {choice:?}");
                // Taken by what is not an answer.
                assert!(!["s", "u", "q", "m", "g", "?"].contains(&choice.key.as_str()), "{choice:?}");
            }
            assert_eq!(shown.number, question == LabelQuestion::Audit(AuditField::ConfidenceExpressed));
        }
    }

    #[test]
    fn decisions_have_names() {
        for field in AuditField::ALL {
            assert_eq!((audit_field(field.as_str()), audit_field(short_name(field))), (Some(field), Some(field)));
        }
        let fields = |names: &[&str]| audit_fields(names).map(|fields| fields.len());
        assert_eq!(audit_fields(&[""; 0]), Ok(BTreeSet::from([AuditField::Classification])));
        assert_eq!((fields(&["rcir,ava", "found"]), fields(&["all"]), fields(&["rcir, rcir"])), (Ok(3), Ok(10), Ok(1)));
        assert!(fields(&["mood"]).unwrap_err().contains("`mood`: expected all, verdict"));
    }
}
