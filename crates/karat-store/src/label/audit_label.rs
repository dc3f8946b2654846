//! A person's answer to one of the ten decisions of an audit.

use karat_core::judgement::Classification;
use karat_core::panel::{AuditAnswer, AuditField};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;

/// The answer where the response states no confidence.
const NOTHING: &str = "none";

/// A person's answer to one of the decisions of an audit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditLabel {
    /// The decision.
    pub field: AuditField,
    /// `None`: the response states no confidence.
    pub answer: Option<AuditAnswer>,
}

impl AuditLabel {
    /// The class of a finding.
    pub fn class(class: Classification) -> Self {
        Self { field: AuditField::Classification, answer: Some(AuditAnswer::Category(class as usize)) }
    }

    /// Parses the answer to a decision: one of its words, or a number from 0 to 1 or in percent.
    pub fn parse(field: AuditField, word: &str) -> Option<Self> {
        let answer = match field.categories() {
            Some(names) => {
                // What has more answers is no question for yes or no.
                let word = match word.to_lowercase().as_str() {
                    "yes" | "y" if names.len() <= 3 => names.last()?,
                    "no" | "n" if names.len() <= 3 => names.iter().rev().nth(1)?,
                    _ => word,
                };
                Some(AuditAnswer::Category(names.iter().position(|name| name.eq_ignore_ascii_case(word))?))
            }
            None if field == AuditField::ConfidenceExpressed && word.eq_ignore_ascii_case(NOTHING) => None,
            None => {
                let share = match word.strip_suffix('%') {
                    Some(percent) => percent.trim_end().parse::<f64>().ok()? / 100.0,
                    None => word.parse::<f64>().ok()?,
                };
                // Adding 0 turns -0 into 0.
                Some(AuditAnswer::Number((0.0..=1.0).contains(&share).then_some(share + 0.0)?))
            }
        };
        Some(Self { field, answer })
    }

    /// The answer in words, without the decision.
    pub fn answer_word(self) -> String {
        match self.answer {
            None => NOTHING.to_owned(),
            Some(AuditAnswer::Number(number)) => number.to_string(),
            Some(AuditAnswer::Category(category)) => {
                let names = self.field.categories().unwrap_or_default();
                names.get(category).copied().unwrap_or_default().to_owned()
            }
        }
    }

    /// Parses what [`Display`](fmt::Display) writes, which is what is stored: a class, or another decision and its answer.
    pub(crate) fn parse_stored(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            Some((field, answer)) => {
                Self::parse(AuditField::ALL.into_iter().find(|known| known.as_str() == field)?, answer)
            }
            None => Self::parse(AuditField::Classification, text),
        }
    }

    /// Different for different answers, also to different decisions.
    pub(super) fn index(self) -> usize {
        const ANSWERS: usize = 2_000_000;
        let answer = match self.answer {
            None => ANSWERS - 1,
            Some(AuditAnswer::Category(category)) => category,
            // In millionths, which people do not tell apart.
            Some(AuditAnswer::Number(number)) => (number * 1e6).round() as usize,
        };
        self.field as usize * ANSWERS + answer
    }
}

impl fmt::Display for AuditLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            AuditField::Classification => f.write_str(&self.answer_word()),
            field => write!(f, "{} {}", field.as_str(), self.answer_word()),
        }
    }
}

/// As in judgements: the decision and its value.
impl Serialize for AuditLabel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        let word = self.answer_word();
        let name = self.field.as_str();
        match (self.answer, word.as_str()) {
            (Some(AuditAnswer::Number(number)), _) => map.serialize_entry(name, &number)?,
            (_, "true" | "vulnerable") => map.serialize_entry(name, &true)?,
            (_, "false" | "safe") => map.serialize_entry(name, &false)?,
            (_, word) => map.serialize_entry(name, word)?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_stored_and_read_back() {
        for field in AuditField::ALL {
            let mut answers: Vec<String> = field.categories().into_iter().flatten().map(str::to_owned).collect();
            if answers.is_empty() {
                answers.extend(["0", "0.25", "1", "0.333"].map(str::to_owned));
            }
            answers.extend((field == AuditField::ConfidenceExpressed).then(|| "none".to_owned()));
            let mut indices = Vec::new();
            for answer in answers {
                let label = AuditLabel::parse(field, &answer).unwrap_or_else(|| panic!("{answer}"));
                assert_eq!(AuditLabel::parse_stored(&label.to_string()), Some(label), "{label}");
                assert_eq!(label.answer_word(), answer);
                indices.push(label.index());
            }
            let different: std::collections::BTreeSet<usize> = indices.iter().copied().collect();
            assert_eq!(different.len(), indices.len());
        }
    }

    #[test]
    fn people_may_say_yes_and_percent() {
        let check = |field, word: &str, expected: Option<&str>| {
            assert_eq!(AuditLabel::parse(field, word).map(AuditLabel::answer_word).as_deref(), expected, "{word}");
        };
        check(AuditField::TargetFound, "Yes", Some("true"));
        check(AuditField::IsValidConcern, "n", Some("false"));
        check(AuditField::SaidVulnerable, "yes", Some("vulnerable"));
        check(AuditField::SaidVulnerable, "no", Some("safe"));
        check(AuditField::SaidVulnerable, "none", Some("none"));
        check(AuditField::ConfidenceExpressed, "85 %", Some("0.85"));
        check(AuditField::ConfidenceExpressed, "None", Some("none"));
        for (field, word) in [
            (AuditField::Rcir, "none"),
            (AuditField::Rcir, "1.1"),
            (AuditField::Rcir, "NaN"),
            (AuditField::Rcir, "yes"),
            (AuditField::Classification, "no"),
            (AuditField::Classification, "yes"),
            (AuditField::TypeMatch, "no"),
            (AuditField::TargetFound, "1"),
        ] {
            check(field, word, None);
        }
    }
}
