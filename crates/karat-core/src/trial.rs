//! One execution of a tool on a case.

use crate::finding::Finding;
use crate::ids::{CaseId, ToolName};
use crate::suite::Verdict;

named_enum! {
    /// How an execution ended. A failed trial is never an empty list of findings.
    #[derive(Default)]
    Outcome {
        /// The tool ran; its findings, perhaps none, are what it reported.
        #[default]
        Reported = "reported",
        /// The tool failed.
        Crashed = "crashed",
        /// The tool did not end in time.
        TimedOut = "timed_out",
        /// The tool's output could not be read.
        Unparsable = "unparsable",
        /// The tool could not be tried because of an outage: a rate limit, a server or network that is down, a missing key. It
        /// counts neither for nor against the tool.
        Unavailable = "unavailable",
        /// The tool was never run.
        Skipped = "skipped",
    }
}

impl Outcome {
    /// Its name for people, where it stands alone: in a cell, or after a number.
    pub fn words(self) -> &'static str {
        match self {
            Self::TimedOut => "timed out",
            other => other.as_str(),
        }
    }

    /// The same for people in a sentence, after one trial or after several: `2 trials never ran`.
    pub fn ended(self) -> &'static str {
        match self {
            Self::Unparsable => "left unreadable output",
            Self::Unavailable => "could not be tried",
            Self::Skipped => "never ran",
            other => other.words(),
        }
    }
}

/// The result of one execution of a tool on a case.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Trial {
    pub case: CaseId,
    pub tool: ToolName,
    /// Which of the repetitions it is, counted from 1.
    pub number: u32,
    /// How the tool was asked, where it is asked in several ways.
    pub style: Option<String>,
    pub outcome: Outcome,
    /// What the tool said of the case as a whole.
    pub verdict: Option<Verdict>,
    /// How sure it was of that, from 0 to 1.
    pub confidence: Option<f64>,
    pub latency_ms: Option<f64>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost_usd: Option<f64>,
    pub response: Option<String>,
    pub findings: Vec<Finding>,
    /// What the tool said of its own work, such as files it could not read.
    pub notes: Vec<String>,
}

impl Trial {
    /// A trial that reported nothing.
    pub fn reported(case: CaseId, tool: ToolName, number: u32) -> Self {
        Self { case, tool, number, ..Self::default() }
    }

    /// Whether it says nothing at all, neither in findings nor in prose.
    pub fn is_silent(&self) -> bool {
        self.findings.is_empty() && self.response.as_deref().is_none_or(|response| response.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_words_and_no_codes() {
        for outcome in Outcome::ALL {
            assert!(!outcome.words().contains('_') && !outcome.ended().contains('_'), "{outcome:?}");
        }
        assert_eq!(
            Outcome::ALL.map(Outcome::words).join(", "),
            "reported, crashed, timed out, unparsable, unavailable, skipped"
        );
    }
}
