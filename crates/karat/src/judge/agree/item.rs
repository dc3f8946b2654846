//! What is rated, and a rating on its way.

use karat_core::judgement::Judgement;
use serde::Serialize;

/// What was rated. Judgements name a trial and perhaps a golden and a finding of it, a CSV file one word.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Item {
    /// The word of a CSV file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The number of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// The golden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub golden: Option<String>,
    /// The finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

impl Item {
    /// The trial a judgement is about.
    pub(super) fn of_trial(case: &str, tool: &str, trial: u32) -> Self {
        let (case, tool) = (Some(case.to_owned()), Some(tool.to_owned()));
        Self { case, tool, trial: Some(trial), ..Self::default() }
    }

    pub(super) fn new(judgement: &Judgement) -> Self {
        Self::of_trial(judgement.case.as_str(), judgement.tool.as_str(), judgement.trial)
    }
}

/// A value as it was given.
#[derive(Clone, Debug)]
pub(super) enum RatingValue {
    /// One of a fixed list.
    Listed(usize),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// One rating on its way.
#[derive(Clone, Debug)]
pub(super) struct Rated {
    pub(super) item: Item,
    pub(super) rater: String,
    pub(super) value: RatingValue,
    pub(super) explanation: Option<String>,
}
