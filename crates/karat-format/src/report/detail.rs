//! How much of single trials a report holds.

use super::{ReportV1, TrialResultV1};
use karat_core::trial::Outcome;
use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// How much of single trials a report holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DetailV1 {
    /// Figures alone: of a trial its outcome, verdict and counts.
    None,
    /// Also missed goldens, false alarms and hits of traps, with their reasons.
    Misses,
    /// Every finding and every pair that was looked at.
    #[default]
    All,
}

impl DetailV1 {
    /// All values, from the least to the most.
    pub const EACH: [Self; 3] = [Self::None, Self::Misses, Self::All];

    /// Its name on the command line and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Misses => "misses",
            Self::All => "all",
        }
    }

    /// Whether nothing is left out.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// What a reader of the whole report must know; `None` if nothing is left out.
    pub fn statement(self) -> Option<String> {
        match self {
            Self::None => Some(self.left_out("findings, matches, misses and their reasons are")),
            Self::Misses => Some(self.left_out("matches, and findings that do not count against a tool, are")),
            Self::All => None,
        }
    }

    /// Says that something is not there because the report was written with less detail: `what` is the subject of a sentence,
    /// such as `missed goldens are`.
    pub fn left_out(self, what: &str) -> String {
        format!("this report was written with --detail {}; {what} not in it", self.as_str())
    }
}

impl ReportV1 {
    /// Says that something is not in the report, unless its detail is at least `needed`.
    pub fn without(&self, needed: DetailV1, what: &str) -> Option<String> {
        (self.detail < needed).then(|| self.detail.left_out(what))
    }
}

impl TrialResultV1 {
    /// Whether a required golden was found; `None` if the report does not say.
    pub fn found(&self, golden: &str) -> Option<bool> {
        if self.misses.iter().any(|miss| miss.golden == golden && miss.is_unaudited()) {
            return None;
        }
        match self.detail {
            DetailV1::All => Some(self.matches.iter().any(|found| found.golden == golden)),
            DetailV1::Misses => {
                Some(self.outcome != Outcome::Unavailable && !self.misses.iter().any(|miss| miss.golden == golden))
            }
            DetailV1::None => None,
        }
    }
}

/// Without details, empty lists are left out: they do not say that there was nothing.
impl Serialize for TrialResultV1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_bare = self.detail == DetailV1::None;
        let mut out = serializer.serialize_struct("TrialResultV1", 20)?;
        macro_rules! field {
            ($name:ident) => {
                out.serialize_field(stringify!($name), &self.$name)?
            };
            ($name:ident if $there:expr) => {
                match $there {
                    true => out.serialize_field(stringify!($name), &self.$name)?,
                    false => out.skip_field(stringify!($name))?,
                }
            };
        }
        field!(trial);
        field!(detail if !self.detail.is_all());
        field!(outcome);
        field!(counted if !self.counted);
        field!(notes if !self.notes.is_empty());
        field!(verdict if !is_bare || self.verdict.is_some());
        field!(verdict_correct);
        field!(lucky_guess if !is_bare || self.lucky_guess.is_some());
        field!(confidence if !is_bare || self.confidence.is_some());
        field!(calibration_error if self.calibration_error.is_some());
        field!(tp);
        field!(fp);
        out.serialize_field("fn", &self.r#fn)?;
        field!(untouched_extras if self.untouched_extras != 0);
        field!(findings if !is_bare);
        field!(matches if !is_bare);
        field!(misses if !is_bare);
        field!(extras if !is_bare);
        field!(duplicates if !is_bare);
        field!(acceptable if !is_bare);
        field!(audit if self.audit.is_some());
        out.end()
    }
}
