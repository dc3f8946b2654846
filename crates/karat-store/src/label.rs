//! Labels: people's answers about pairs (does this finding report this golden?), extras (is this unmatched finding a real
//! problem?), and the ten decisions of audits (which class is this finding? was the target found?).
//!
//! A label is keyed by what the person saw, a [`Subject`], not by a run, so it applies wherever a tool reports the same on
//! the same case. The queues pick what is worth a label, [`read()`] reads labels from files of judgements, and
//! [`label_judgements`] converts them back.

mod audit_label;
mod judgements;
mod queue;
mod read;
mod subject;

pub use audit_label::AuditLabel;
pub use judgements::{label_judgements, labels_as_judgements};
pub use queue::{OpenAudit, OpenExtra, OpenPair, Sample, audit_queue, extra_queue, pair_queue};
pub use read::{ImportContext, read};
pub use subject::{FindingText, GoldenText, LabelKey, ResponseText, SHORT, Subject};

use karat_core::ids::{CaseId, GoldenId, JudgeName};
use karat_core::judgement::Classification;
use karat_core::panel::AuditField;
use karat_format::diagnostic::stand_in;
use serde::Serialize;
use std::fmt;

const HUMAN: &str = "human:";

/// The name of a person who labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Annotator(String);

impl Annotator {
    /// A name that judgements can carry.
    pub fn new(name: &str) -> Result<Self, String> {
        let reason = if name.trim().is_empty() || name.trim() != name {
            "expected a name that is not blank and has no spaces at its ends"
        } else if name.contains(':') {
            "a name has no colon, since judgements are signed human:NAME"
        } else if name.chars().any(|c| stand_in(c).is_some()) {
            "expected a name without control or invisible characters"
        } else if name.chars().count() > 100 {
            "expected at most 100 characters"
        } else if name.starts_with('-') {
            "it looks like a flag"
        } else {
            return Ok(Self(name.to_owned()));
        };
        Err(format!("invalid annotator name {name:?}: {reason}"))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The judge name of their judgements.
    pub fn judge(&self) -> JudgeName {
        JudgeName::new(format!("{HUMAN}{}", self.0))
    }
}

impl fmt::Display for Annotator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A person's answer about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Answer {
    #[serde(rename = "match")]
    pub matched: bool,
    /// Close to the golden, but not it; `None` if not stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
}

impl Answer {
    /// The finding reports the golden.
    pub const YES: Self = Self { matched: true, partial: None };
    /// The finding does not report the golden.
    pub const NO: Self = Self { matched: false, partial: None };
    /// The finding touches the golden but misses what makes it one; not a match.
    pub const PARTIAL: Self = Self { matched: false, partial: Some(true) };

    /// The answers that have a word, with the word.
    pub const WORDS: [(&'static str, Self); 3] = [("yes", Self::YES), ("no", Self::NO), ("partial", Self::PARTIAL)];

    /// Parses a word or its first letter.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let matches = |known: &str| known == word || known.get(..1) == Some(word.as_str());
        Self::WORDS.into_iter().find(|(known, _)| matches(known)).map(|(_, answer)| answer)
    }

    /// The answer in words.
    pub fn word(self) -> &'static str {
        match (self.matched, self.partial) {
            (true, Some(true)) => "yes, in part",
            (true, _) => "yes",
            (false, Some(true)) => "partial",
            (false, _) => "no",
        }
    }

    /// Whether both answers are the same; an unstated `partial` counts as `false`.
    pub fn agrees(self, other: Self) -> bool {
        (self.matched, self.partial.unwrap_or(false)) == (other.matched, other.partial.unwrap_or(false))
    }
}

worded! {
    /// How a label was made.
    Source {
        Asked = "asked",
        /// The person named the item.
        Added = "added",
        Imported = "imported",
    }
}

worded! {
    /// What a label is about.
    LabelKind {
        Pair = "pair",
        Extra = "extra",
        Audit = "audit",
    }
}

/// What a label answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum LabelQuestion {
    Pair,
    Extra,
    /// One of the ten decisions.
    Audit(AuditField),
}

impl LabelQuestion {
    /// The kind of its labels.
    pub fn kind(self) -> LabelKind {
        match self {
            Self::Pair => LabelKind::Pair,
            Self::Extra => LabelKind::Extra,
            Self::Audit(_) => LabelKind::Audit,
        }
    }

    /// What it is about, for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Extra => "extra",
            Self::Audit(field) if field.is_of_finding() => "audited finding",
            Self::Audit(_) => "audited response",
        }
    }
}

/// A person's answer to a question of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "field names say it")]
pub enum LabelAnswer {
    Pair {
        #[serde(flatten)]
        answer: Answer,
        #[serde(skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
    },
    Extra {
        valid: bool,
    },
    Audit(AuditLabel),
}

impl LabelAnswer {
    /// Parses an answer to this question: yes, no, partial, or an answer to a decision of audits.
    pub fn parse(question: LabelQuestion, word: &str) -> Option<Self> {
        match question {
            LabelQuestion::Pair => Answer::parse(word).map(|answer| Self::Pair { answer, confidence: None }),
            LabelQuestion::Extra => {
                let answer = Answer::parse(word).filter(|answer| answer.partial.is_none())?;
                Some(Self::Extra { valid: answer.matched })
            }
            LabelQuestion::Audit(field) => AuditLabel::parse(field, word).map(Self::Audit),
        }
    }

    /// The class of a finding.
    pub fn class(class: Classification) -> Self {
        Self::Audit(AuditLabel::class(class))
    }

    /// What it answers.
    pub fn question(self) -> LabelQuestion {
        match self {
            Self::Pair { .. } => LabelQuestion::Pair,
            Self::Extra { .. } => LabelQuestion::Extra,
            Self::Audit(AuditLabel { field, .. }) => LabelQuestion::Audit(field),
        }
    }

    /// The kind of its question.
    pub fn kind(self) -> LabelKind {
        self.question().kind()
    }

    /// The answer in words; of a decision of audits, with the decision unless it is the class.
    pub fn word(self) -> String {
        match self {
            Self::Pair { answer, .. } => answer.word().to_owned(),
            Self::Extra { valid } => if valid { "yes" } else { "no" }.to_owned(),
            Self::Audit(label) => label.to_string(),
        }
    }

    /// A number for the answer, different for different answers: no, partial, yes for a pair; no, yes for an extra.
    pub fn index(self) -> usize {
        match self {
            Self::Pair { answer: Answer { matched: true, .. }, .. } => 2,
            Self::Pair { answer, .. } => usize::from(answer.partial == Some(true)),
            Self::Extra { valid } => usize::from(valid),
            Self::Audit(label) => label.index(),
        }
    }
}

/// A label to store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NewLabel {
    pub subject: Subject,
    pub annotator: Annotator,
    pub answer: LabelAnswer,
    pub note: Option<String>,
    /// Sampling probability; `None` if the subject was not sampled.
    pub picked_with_probability: Option<f64>,
    pub source: Source,
}

/// A stored label.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Label {
    pub sequence: i64,
    #[serde(flatten, serialize_with = "LabelKey::serialize_named")]
    pub key: LabelKey,
    pub case: CaseId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub golden: Option<GoldenId>,
    pub annotator: Annotator,
    #[serde(flatten)]
    pub answer: LabelAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Sampling probability; `None` if the subject was not sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked_with_probability: Option<f64>,
    pub made_ms: i64,
    pub source: Source,
    /// Neither corrected nor withdrawn.
    pub counts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawn_ms: Option<i64>,
}

impl Label {
    /// What it is about.
    pub fn kind(&self) -> LabelKind {
        self.answer.kind()
    }
}
