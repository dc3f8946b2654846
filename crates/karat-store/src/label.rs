//! Labels: people's answers about pairs (does this finding report this golden?), extras (is this unmatched finding a real
//! problem?) and audited findings (which class is it?).
//!
//! A label is keyed by what the person saw, such as a [`PairSubject`], not by a run, so it applies wherever a tool reports
//! the same on the same case. [`worklist()`] picks the pairs worth labelling, [`read()`] reads labels from files of
//! judgements, and [`labels_as_judgements`] converts them back.

mod audit;
mod extra;
mod extra_queue;
mod key;
mod pair;
mod read;
mod sample;
mod worklist;

pub use audit::{
    AuditKey, AuditLabel, AuditSubject, NewAuditLabel, OpenAudit, audit_label_judgements, audit_queue, class_named,
};
pub use extra::{ExtraKey, ExtraLabel, ExtraSubject, NewExtraLabel, extra_label_judgements, validity_word};
pub use extra_queue::{OpenExtra, extra_queue};
pub use key::{Key, SHORT};
pub use pair::{FindingText, GoldenText, PairKey, PairSubject};
pub use read::{ImportContext, NewLabels, read};
pub use sample::{BadProbability, Sample};
pub use worklist::{OpenPair, worklist};

use karat_core::finding::Finding;
use karat_core::ids::{CaseId, GoldenId, JudgeName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::diagnostic::stand_in;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Prefix of the judge name of a person.
const HUMAN: &str = "human:";

/// The name of a person who labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Annotator(String);

/// A name that annotators cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid annotator name {name:?}: {reason}")]
pub struct BadAnnotator {
    name: String,
    reason: &'static str,
}

impl Annotator {
    /// A name that judgements can carry.
    pub fn new(name: &str) -> Result<Self, BadAnnotator> {
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
        Err(BadAnnotator { name: name.to_owned(), reason })
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

/// How a label was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The person was shown the item and asked.
    Asked,
    /// The person named the item.
    Added,
    /// A file of judgements.
    Imported,
}

impl Source {
    const ALL: [(&'static str, Self); 3] =
        [("asked", Self::Asked), ("added", Self::Added), ("imported", Self::Imported)];

    /// The stored word.
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, source)| *source == self).map_or("", |(word, _)| word)
    }

    /// Parses the stored word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, source)| source)
    }
}

/// What a label is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelKind {
    /// A golden and a finding.
    Pair,
    /// A finding that reports no golden.
    Extra,
    /// A finding of an audited case.
    Audit,
}

impl LabelKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Pair, Self::Extra, Self::Audit];

    /// What it is about, for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Extra => "extra",
            Self::Audit => "audited finding",
        }
    }
}

/// All current labels.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Labels {
    pub pairs: Vec<Label>,
    pub extras: Vec<ExtraLabel>,
    pub audits: Vec<AuditLabel>,
}

impl Labels {
    /// All labels as judgements of these trials.
    pub fn judgements(&self, suite: &Suite, trials: &[Trial]) -> Vec<Judgement> {
        let mut judgements = labels_as_judgements(&self.pairs, suite, trials);
        judgements.extend(extra_label_judgements(&self.extras, trials).into_iter().map(|(_, judgement)| judgement));
        judgements
            .extend(audit_label_judgements(&self.audits, suite, trials).into_iter().map(|(_, judgement)| judgement));
        judgements
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.extras.is_empty() && self.audits.is_empty()
    }
}

/// A label to store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NewLabel {
    pub pair: PairSubject,
    pub annotator: Annotator,
    pub answer: Answer,
    /// From 0 to 1.
    pub confidence: Option<f64>,
    pub note: Option<String>,
    /// Sampling probability; `None` if the pair was not sampled.
    pub picked_with_probability: Option<f64>,
    pub source: Source,
}

/// A stored label.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Label {
    /// Consecutive number, in the order of storing.
    pub sequence: i64,
    pub pair: PairKey,
    pub case: CaseId,
    pub golden: GoldenId,
    pub annotator: Annotator,
    #[serde(flatten)]
    pub answer: Answer,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Sampling probability; `None` if the pair was not sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked_with_probability: Option<f64>,
    /// Milliseconds since 1970.
    pub made_ms: i64,
    pub source: Source,
    /// Neither corrected nor withdrawn.
    pub counts: bool,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawn_ms: Option<i64>,
}

/// Labels as judgements of these trials: one per annotator, trial and finding whose pair has a current label, ordered by
/// trial, finding, golden and label.
pub fn labels_as_judgements(labels: &[Label], suite: &Suite, trials: &[Trial]) -> Vec<Judgement> {
    pair_label_judgements(labels, suite, trials).into_iter().map(|(_, judgement)| judgement).collect()
}

/// The same judgements, each with its label.
pub fn pair_label_judgements<'l>(labels: &'l [Label], suite: &Suite, trials: &[Trial]) -> Vec<(&'l Label, Judgement)> {
    let mut by_pair: HashMap<&PairKey, Vec<&'l Label>> = HashMap::new();
    let mut goldens: HashSet<(&str, &str)> = HashSet::new();
    for label in labels.iter().filter(|label| label.counts) {
        by_pair.entry(&label.pair).or_default().push(label);
        goldens.insert((label.case.as_str(), label.golden.as_str()));
    }
    // Only cases with labels are considered; each text is built once.
    let of_case = |case: &Case| -> Vec<String> {
        let labelled = case.goldens.iter().filter(|g| goldens.contains(&(case.id.as_str(), g.id.as_str())));
        labelled.map(|golden| GoldenText::new(case, golden).text()).collect()
    };
    let known: HashMap<&str, Vec<String>> = suite
        .cases
        .iter()
        .map(|case| (case.id.as_str(), of_case(case)))
        .filter(|(_, known)| !known.is_empty())
        .collect();
    let of_trial = |trial: &Trial| -> Vec<(&'l Label, Judgement)> {
        let known = known.get(trial.case.as_str()).map_or(&[][..], Vec::as_slice);
        if known.is_empty() {
            return Vec::new();
        }
        let mut judgements = Vec::new();
        for finding in &trial.findings {
            let reported = FindingText::new(finding).text();
            for known in known {
                let labels = by_pair.get(&PairKey::from_texts(known, &reported));
                judgements.extend(labels.into_iter().flatten().map(|label| (*label, judgement(label, trial, finding))));
            }
        }
        judgements
    };
    trials.par_iter().flat_map_iter(of_trial).collect()
}

fn judgement(label: &Label, trial: &Trial, finding: &Finding) -> Judgement {
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: label.annotator.judge(),
        exchange: None,
        decision: Decision::Pair(PairDecision {
            probability: label.picked_with_probability,
            golden: Some(label.golden.clone()),
            finding: finding.id.clone(),
            matched: label.answer.matched,
            partial: label.answer.partial,
            confidence: label.confidence,
            explanation: label.note.clone(),
        }),
    }
}
