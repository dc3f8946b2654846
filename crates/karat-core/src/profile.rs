//! The rules by which pairs are matched and trials are scored: one named value, fully resolved.

use crate::metric::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named set of matching and scoring rules. Every value is stated; nothing is implied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name it is asked for by.
    pub name: String,
    /// What it is for, in one sentence.
    pub description: String,
    /// How pairs come about.
    pub method: Method,
    /// The judge asked when none is named on the command line; `none` asks nobody.
    pub judge: String,
    /// Whether the model that KARAT_JUDGE_MODEL or CRB_JUDGE_MODEL names is asked instead, where one of them is set.
    pub judge_by_variable: bool,
    /// How pairs that count become matches.
    pub assignment: Assignment,
    /// The score from which a pair counts when nobody judged it.
    pub threshold: f64,
    /// The score from which a pair is worth a judge's time.
    pub judge_threshold: f64,
    /// How many candidates of a golden a judge may be asked about.
    pub top_k: u32,
    /// The heuristic's share in the final score of a judged pair; the judge has the rest.
    pub heuristic_share: f64,
    /// What happens to a part of the score that the golden does not state.
    pub unstated: Unstated,
    /// Whether a golden without keywords is compared by its prose.
    pub text_instead_of_keywords: bool,
    /// What must be equal for a pair to exist at all.
    pub require: Vec<Requirement>,
    /// How many lines apart a pair may be at most; absent: any distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_tolerance: Option<u32>,
    /// Whether a second report of a found golden is a false positive.
    pub duplicates_are_false: bool,
    /// Whether a report of an acceptable golden is a false positive.
    pub acceptable_are_false: bool,
    /// Whether an undefined precision or recall counts as 0.
    pub undefined_is_zero: bool,
    /// What a trial that failed or never ran counts as.
    pub failed_trials: FailedTrials,
    /// What happens to findings on lines the change did not touch.
    pub outside_change: OutsideChange,
    /// Whether a case that does not pass makes the command fail.
    pub expect_pass: bool,
    /// The weight of recall against precision in `f_beta`.
    pub beta: f64,
    /// The metrics shown first, in this order.
    pub headline: Vec<String>,
    /// The slice whose plain mean is the headline; absent: the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline_macro_by: Option<String>,
    /// The weights of the parts of a score.
    pub weights: Weights,
    /// The steps of the file part.
    pub file: FileSteps,
    /// The slope of the line part.
    pub line: LineSlope,
    /// The rules of identity keys.
    pub identity: IdentityRules,
}

/// How pairs come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// By a score made of file, lines and words, and by judgements where there are any.
    Score,
    /// By deterministic keys alone.
    Identity,
    /// By what recorded judgements state, as it stands.
    Recorded,
    /// By what an audit of the whole response says of the target.
    Audit,
    /// Not at all: only the verdict about the whole case counts.
    Verdict,
}

/// How pairs that count become matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assignment {
    /// The greatest total score.
    Exact,
    /// The best pair first, then the best of the rest.
    Greedy,
}

/// What happens to a part of the score that the golden does not state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unstated {
    /// It is 0.
    Zero,
    /// It is left out, and the other weights are scaled up to 1.
    LeaveOut,
}

/// Something that must be equal for a pair to exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// The category, ignoring case and the choice of `-`, `_` or blank.
    Category,
    /// One weakness number at least.
    Cwe,
    /// The rule, by any of its names.
    Rule,
    /// The path.
    File,
}

/// What a trial that failed or never ran counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailedTrials {
    /// All goldens missed, the verdict wrong.
    Miss,
    /// Nothing; it is shown and left out.
    Exclude,
}

/// What happens to findings on lines the change did not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutsideChange {
    /// They count as all others, and carry a flag.
    Keep,
    /// They may match, and where they match nothing they are no false positives.
    LeaveOut,
}

/// The weights of the parts of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Of the file part.
    pub file: f64,
    /// Of the line part.
    pub line: f64,
    /// Of the keyword part.
    pub keyword: f64,
    /// Of the text part, which stands in for missing keywords.
    pub text: f64,
}

/// The steps of the file part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSteps {
    /// The same path.
    pub same_path: f64,
    /// The same file name elsewhere.
    pub same_name: f64,
    /// Another file name, and a directory name in common.
    pub shared_directory: f64,
}

/// The slope of the line part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineSlope {
    /// The widest gap that still counts.
    pub reach: u32,
    /// What each line of the gap costs.
    pub step: f64,
}

/// The rules of identity keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityRules {
    /// Whether chunk anchors match; they are only as stable as the chunking.
    pub chunk_anchors: bool,
    /// Whether nothing but `anchor:` matches.
    pub require_anchor: bool,
    /// Whether a golden that no key can be built for matches by file and rule.
    pub rule_fallback: bool,
    /// Whether the part of the tool that found it belongs to the key.
    pub include_source: bool,
}

impl Profile {
    /// Whether a judge is asked, so that a pair nobody decided does not count, however near it is.
    pub fn asks_a_judge(&self) -> bool {
        self.judge != "none"
    }

    /// What is wrong with the values taken together, in words a person can act on.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let shares = [
            ("threshold", self.threshold),
            ("judge_threshold", self.judge_threshold),
            ("heuristic_share", self.heuristic_share),
            ("weights.file", self.weights.file),
            ("weights.line", self.weights.line),
            ("weights.keyword", self.weights.keyword),
            ("weights.text", self.weights.text),
            ("file.same_path", self.file.same_path),
            ("file.same_name", self.file.same_name),
            ("file.shared_directory", self.file.shared_directory),
            ("line.step", self.line.step),
        ];
        for (name, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                faults.push(format!("{name} = {value}: expected a number from 0 to 1"));
            }
        }
        if !(self.beta.is_finite() && self.beta > 0.0) {
            faults.push(format!("beta = {}: expected a number above 0", self.beta));
        }
        for id in self.headline.iter().filter(|id| table::find(id).is_none()) {
            faults.push(format!("headline: there is no metric {id:?}"));
        }
        if let Some(dimension) = &self.headline_macro_by {
            let known = ["severity", "category", "language", "difficulty", "repo"];
            let free = dimension.strip_prefix("meta.").is_some_and(|field| !field.is_empty());
            if !free && !known.contains(&dimension.as_str()) {
                faults.push(format!("headline_macro_by: {dimension:?} is none of {} or meta.*", known.join(", ")));
            }
        }
        if self.weights.file + self.weights.line + self.weights.keyword <= 0.0 {
            faults.push("weights: at least one of file, line and keyword must be above 0".to_owned());
        }
        faults
    }
}
