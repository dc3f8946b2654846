//! Cases and the suite they form.

use crate::golden::Golden;
use crate::ids::CaseId;
use crate::lines::Lines;
use crate::path::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How hard a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Difficulty {
    /// Plain to see.
    Easy,
    /// Needs thought.
    Medium,
    /// Needs knowledge of more than the lines at hand.
    Hard,
}

impl Difficulty {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

/// Whether a case is vulnerable, or a tool said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Something is wrong with it.
    Vulnerable,
    /// Nothing is wrong with it.
    Safe,
}

/// The pull request a case is dressed as.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PullRequest {
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
}

/// One unit of evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Unique within the suite.
    pub id: CaseId,
    /// What people call it.
    pub name: Option<String>,
    /// What it tests.
    pub description: Option<String>,
    /// Programming language.
    pub language: Option<String>,
    /// How hard it is.
    pub difficulty: Option<Difficulty>,
    /// What it is about.
    pub categories: Vec<String>,
    /// A tier of the benchmark's own.
    pub tier: Option<String>,
    /// The pull request it is dressed as.
    pub pr: Option<PullRequest>,
    /// The truth about the case as a whole.
    pub verdict: Verdict,
    /// Weakness numbers the verdict is about.
    pub cwe: Vec<u32>,
    /// The repository it was taken from.
    pub repo: Option<String>,
    /// Its fixed or vulnerable sibling.
    pub twin: Option<CaseId>,
    /// What a good tool reports.
    pub goldens: Vec<Golden>,
    /// Whether findings beyond the goldens leave it passed.
    pub allow_unexpected: bool,
    /// Free fields to slice and cluster by.
    pub meta: BTreeMap<String, String>,
    /// The lines its change touched, where before and after are at hand.
    pub change: Option<Change>,
}

impl Case {
    /// A safe case with nothing but a name.
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: CaseId::new(id),
            name: None,
            description: None,
            language: None,
            difficulty: None,
            categories: Vec::new(),
            tier: None,
            pr: None,
            verdict: Verdict::Safe,
            cwe: Vec::new(),
            repo: None,
            twin: None,
            goldens: Vec::new(),
            allow_unexpected: false,
            meta: BTreeMap::new(),
            change: None,
        }
    }

    /// What it says of itself, by the names that slices and clusters go by; categories stand apart, as there may be several.
    pub fn fields(&self) -> impl Iterator<Item = (String, &str)> {
        let own = [
            ("language", self.language.as_deref()),
            ("difficulty", self.difficulty.map(Difficulty::as_str)),
            ("repo", self.repo.as_deref()),
        ];
        let own = own.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
        own.chain(self.meta.iter().map(|(field, value)| (format!("meta.{field}"), value.as_str())))
    }

    /// The value of one of its [`fields`](Self::fields).
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The goldens that count for recall.
    pub fn required(&self) -> impl Iterator<Item = &Golden> {
        self.goldens.iter().filter(|golden| golden.is_required())
    }

    /// No required golden: such a case asks for silence and stays out of precision, recall and F1.
    pub fn is_clean(&self) -> bool {
        self.required().next().is_none()
    }
}

/// Lines of the after side that a change touched, by file, sorted and disjoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// A file that did not change is absent.
    pub touched: BTreeMap<RepoPath, Vec<Lines>>,
}

impl Change {
    /// Whether a place lies outside the change. What has no file cannot be told, and counts as inside.
    pub fn excludes(&self, file: Option<&RepoPath>, lines: Option<Lines>) -> bool {
        let Some(file) = file else { return false };
        match (self.touched.get(file), lines) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(touched), Some(lines)) => !touched.iter().any(|t| t.overlaps(lines)),
        }
    }
}

/// A set of cases under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// What people call it.
    pub name: String,
    /// A hash of everything the cases say and hold.
    pub digest: String,
    /// In the order of their files.
    pub cases: Vec<Case>,
}
