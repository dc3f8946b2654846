//! What people say of pairs: does this finding report this golden? Of extras: is this finding, which reports no golden, a real
//! problem? And of audited findings: what is this?
//!
//! A label hangs on what the person saw, a [`Pair`], and not on a run: it holds wherever a tool says the same of the same case.
//! [`worklist()`] picks the pairs worth a label, [`page`] shows one of them without a word on who reported it,
//! [`read()`] takes labels from files of judgements, and [`labels_as_judgements`] gives them back as such.

mod audit;
pub mod desk;
mod extra;
mod extra_queue;
mod key;
pub mod page;
mod pair;
mod read;
mod sample;
mod worklist;

pub use audit::{AuditKey, AuditLabel, NewAuditLabel, OpenAudit, ShownAudit, audit_queue, audits_heard, class_named};
pub use extra::{ExtraKey, ExtraLabel, NewExtraLabel, ShownExtra, extras_heard, said};
pub use extra_queue::{OpenExtra, extra_queue};
pub use key::{Key, SHORT};
pub use pair::{Known, Pair, PairKey, Reported};
pub use read::{NewLabels, Reading, read};
pub use sample::{BadProbability, Sample};
pub use worklist::{Open, worklist};

use crate::diagnostic::stand_in;
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, GoldenId, JudgeName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// What the name of a judge that is a person begins with.
const HUMAN: &str = "human:";

/// The name of a person who labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Annotator(String);

/// Why nobody can be called this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody who labels can be called {name:?}: {reason}")]
pub struct BadAnnotator {
    name: String,
    reason: &'static str,
}

impl Annotator {
    /// The name, where it is one that judgements can carry.
    pub fn new(name: &str) -> Result<Self, BadAnnotator> {
        let reason = if name.trim().is_empty() || name.trim() != name {
            "a name is not blank, and has no blanks at its ends"
        } else if name.contains(':') {
            "a name has no colon, since judgements are signed human:NAME"
        } else if name.chars().any(|c| stand_in(c).is_some()) {
            "a name has no control characters and none that cannot be seen"
        } else if name.chars().count() > 100 {
            "a name has 100 characters at most"
        } else if name.starts_with('-') {
            "it reads as a flag"
        } else {
            return Ok(Self(name.to_owned()));
        };
        Err(BadAnnotator { name: name.to_owned(), reason })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name by which their judgements are signed.
    pub fn judge(&self) -> JudgeName {
        JudgeName::new(format!("{HUMAN}{}", self.0))
    }
}

impl fmt::Display for Annotator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a person may say of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Whether the finding reports the golden.
    #[serde(rename = "match")]
    pub matched: bool,
    /// Near the truth, not the whole of it; `None` where nothing was said of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
}

impl Answer {
    /// The finding reports the golden.
    pub const YES: Self = Self { matched: true, partial: None };
    /// The finding does not report the golden.
    pub const NO: Self = Self { matched: false, partial: None };
    /// The finding touches the golden and misses what makes it one, which is no match.
    pub const PARTIAL: Self = Self { matched: false, partial: Some(true) };

    /// Every answer that has a word of its own, with the word.
    pub const WORDS: [(&'static str, Self); 3] = [("yes", Self::YES), ("no", Self::NO), ("partial", Self::PARTIAL)];

    /// The answer that a word or its first letter stands for.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let said = |known: &str| known == word || known.get(..1) == Some(word.as_str());
        Self::WORDS.into_iter().find(|(known, _)| said(known)).map(|(_, answer)| answer)
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

    /// Whether both say the same; not saying that it is partial says that it is not.
    pub fn agrees(self, other: Self) -> bool {
        (self.matched, self.partial.unwrap_or(false)) == (other.matched, other.partial.unwrap_or(false))
    }
}

/// The way on which a label came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Somebody was shown the pair and asked.
    Asked,
    /// Somebody named the pair.
    Added,
    /// A file of judgements.
    Imported,
}

impl Source {
    const ALL: [(&'static str, Self); 3] =
        [("asked", Self::Asked), ("added", Self::Added), ("imported", Self::Imported)];

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, source)| *source == self).map_or("", |(word, _)| word)
    }

    /// The source of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, source)| source)
    }
}

/// What a label may be about.
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

    /// What it is about, in words.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Extra => "extra",
            Self::Audit => "audited finding",
        }
    }
}

/// All labels that count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Of pairs.
    pub pairs: Vec<Label>,
    /// Of extras.
    pub extras: Vec<ExtraLabel>,
    /// Of audited findings.
    pub audits: Vec<AuditLabel>,
}

impl Labels {
    /// All of them as judgements of these trials.
    pub fn judgements(&self, suite: &Suite, trials: &[Trial]) -> Vec<Judgement> {
        let mut judgements = labels_as_judgements(&self.pairs, suite, trials);
        judgements.extend(extras_heard(&self.extras, trials).into_iter().map(|(_, judgement)| judgement));
        judgements.extend(audits_heard(&self.audits, suite, trials).into_iter().map(|(_, judgement)| judgement));
        judgements
    }

    /// Whether nobody has said anything.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.extras.is_empty() && self.audits.is_empty()
    }
}

/// A label to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewLabel {
    /// What the person saw.
    pub pair: Pair,
    /// Who says it.
    pub annotator: Annotator,
    /// What they say.
    pub answer: Answer,
    /// How sure they are, from 0 to 1.
    pub confidence: Option<f64>,
    /// Their words.
    pub note: Option<String>,
    /// The probability with which the pair was picked for a label; `None` where chance had no part in it.
    pub picked_with_probability: Option<f64>,
    /// How it came in.
    pub source: Source,
}

/// A label as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    /// Its place among all labels, in the order in which they came in.
    pub sequence: i64,
    /// What it hangs on.
    pub pair: PairKey,
    /// The case.
    pub case: CaseId,
    /// The golden.
    pub golden: GoldenId,
    /// Who says it.
    pub annotator: Annotator,
    /// What they say.
    #[serde(flatten)]
    pub answer: Answer,
    /// How sure they are, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The probability with which the pair was picked for a label; `None` where chance had no part in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked_with_probability: Option<f64>,
    /// When, in milliseconds since 1970.
    pub made_ms: i64,
    /// How it came in.
    pub source: Source,
    /// Whether it counts: the annotator has neither corrected nor withdrawn it since.
    pub counts: bool,
    /// When it was withdrawn, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawn_ms: Option<i64>,
}

/// Labels as judgements of these trials: one for each annotator, trial and finding whose pair has a label that counts, in the
/// order of the trials, their findings, the goldens and the labels.
pub fn labels_as_judgements(labels: &[Label], suite: &Suite, trials: &[Trial]) -> Vec<Judgement> {
    heard(labels, suite, trials).into_iter().map(|(_, judgement)| judgement).collect()
}

/// The same judgements, each with the label it comes from.
pub fn heard<'l>(labels: &'l [Label], suite: &Suite, trials: &[Trial]) -> Vec<(&'l Label, Judgement)> {
    let mut by_pair: HashMap<&PairKey, Vec<&'l Label>> = HashMap::new();
    let mut goldens: HashSet<(&str, &str)> = HashSet::new();
    for label in labels.iter().filter(|label| label.counts) {
        by_pair.entry(&label.pair).or_default().push(label);
        goldens.insert((label.case.as_str(), label.golden.as_str()));
    }
    // Only what has a label of anybody is looked at: the texts of its golden once, those of each finding once.
    let of_case = |case: &Case| -> Vec<String> {
        let labelled = case.goldens.iter().filter(|g| goldens.contains(&(case.id.as_str(), g.id.as_str())));
        labelled.map(|golden| Known::of(case, golden).text()).collect()
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
        let mut said = Vec::new();
        for finding in &trial.findings {
            let reported = Reported::of(finding).text();
            for known in known {
                let labels = by_pair.get(&PairKey::of(known, &reported));
                said.extend(labels.into_iter().flatten().map(|label| (*label, judgement(label, trial, finding))));
            }
        }
        said
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

#[cfg(test)]
mod tests;
