//! Cases and the suite they form.

use crate::golden::Golden;
use crate::ids::CaseId;
use crate::lines::Lines;
use crate::path::RepoPath;
use crate::profile::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named_enum! {
    /// How hard a case is.
    Difficulty {
        /// Plain to see.
        Easy = "easy",
        /// Needs thought.
        Medium = "medium",
        /// Needs knowledge of more than the lines at hand.
        Hard = "hard",
    }
}

/// Whether a case is vulnerable, or a tool said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Something is wrong with it.
    Vulnerable,
    /// Nothing is wrong with it.
    #[default]
    Safe,
}

/// The pull request a case is dressed as.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PullRequestV1")]
pub struct PullRequest {
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
}

/// The names of two trees among the suite's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TreesV1")]
pub struct Trees {
    /// The code before the change; absent: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The code after it.
    pub after: String,
}

/// What a case is a variant of that means the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TwistedFromV1")]
pub struct TwistedFrom {
    /// The hash of the suite that has a case of the same id.
    pub suite: String,
    /// Where random choices started from.
    pub seed: u64,
    /// What was done to its code: `rename`, `reorder`, `dead-code`, `move`, `log-text`.
    pub operations: Vec<String>,
}

/// Whether a case may have been seen by a model that was trained until a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutoffSide {
    /// It was made until that day.
    Before,
    /// It was made later.
    After,
}

impl CutoffSide {
    /// The value of the slice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before cutoff",
            Self::After => "after cutoff",
        }
    }
}

/// One unit of evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Case {
    /// Unique within the suite.
    pub id: CaseId,
    pub name: Option<String>,
    pub description: Option<String>,
    pub language: Option<String>,
    pub difficulty: Option<Difficulty>,
    pub categories: Vec<String>,
    pub tier: Option<String>,
    pub pr: Option<PullRequest>,
    pub verdict: Verdict,
    pub cwe: Vec<u32>,
    pub repo: Option<String>,
    /// The commit of `repo` whose change this is, where the code is not in the suite.
    pub rev: Option<String>,
    /// The commit that the change is compared with; default: the first parent of `rev`.
    pub base_rev: Option<String>,
    /// The whole code, where it is among the suite's objects.
    pub trees: Option<Trees>,
    pub twin: Option<CaseId>,
    pub goldens: Vec<Golden>,
    pub allow_unexpected: bool,
    pub meta: BTreeMap<String, String>,
    /// A text that occurs nowhere else: a model that can repeat it was trained on the case.
    pub canary: Option<String>,
    /// The day it was made, as `YYYY-MM-DD`.
    pub made: Option<String>,
    /// What it is a variant of.
    pub twisted_from: Option<TwistedFrom>,
    /// Whether it was made before the cutoff of the model that is scored, if that was stated.
    pub cutoff: Option<CutoffSide>,
    /// The lines its change touched, if before and after are available.
    pub change: Option<Change>,
}

impl Case {
    /// A safe case with only an id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: CaseId::new(id), ..Self::default() }
    }

    /// Its fields by the names used for slices and clusters; without categories, as there may be several.
    pub fn fields(&self) -> impl Iterator<Item = (String, &str)> {
        let own = [
            ("language", self.language.as_deref()),
            ("difficulty", self.difficulty.map(Difficulty::as_str)),
            ("repo", self.repo.as_deref()),
            ("made", self.cutoff.map(CutoffSide::as_str)),
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

    /// Whether a golden of it is its target, or one of them: those that are marked, or where none is the required ones.
    pub fn is_target(&self, golden: &Golden) -> bool {
        if self.goldens.iter().any(|own| own.target) { golden.target } else { golden.is_required() }
    }

    /// The golden that an audit looks for: the marked one, else the first required one.
    pub fn audited_target(&self) -> Option<usize> {
        let marked = self.goldens.iter().position(|golden| golden.target && golden.is_required());
        marked.or_else(|| self.goldens.iter().position(Golden::is_required))
    }

    /// The required goldens that are compared with findings. An audit looks for one, and where only verdicts count it is none.
    pub fn compared_goldens(&self, method: Method) -> Vec<usize> {
        match method {
            Method::Verdict => Vec::new(),
            Method::Audit => self.audited_target().into_iter().collect(),
            Method::Score | Method::Identity | Method::Recorded => {
                (0..self.goldens.len()).filter(|golden| self.goldens[*golden].is_required()).collect()
            }
        }
    }

    /// No required golden: such a case asks for silence and stays out of precision, recall and F1.
    pub fn is_clean(&self) -> bool {
        self.required().next().is_none()
    }
}

/// Lines of the after side that a change touched, by file, sorted and disjoint. All lines of a removed file are touched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// A file that did not change is absent.
    pub touched: BTreeMap<RepoPath, Vec<Lines>>,
}

impl Change {
    /// Whether a place is more than `tolerance` lines away from everything the change touched. A place without a file, or without
    /// lines in a touched file, counts as inside.
    pub fn excludes(&self, file: Option<&RepoPath>, lines: Option<Lines>, tolerance: u32) -> bool {
        let Some(file) = file else { return false };
        match (self.touched_in(file), lines) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(touched), Some(lines)) => !touched.iter().any(|t| t.gap(lines) <= tolerance),
        }
    }

    /// Tools may name files from another root, such as `repo/src/a.py` for `src/a.py`: that must not look like another file.
    fn touched_in(&self, file: &RepoPath) -> Option<&Vec<Lines>> {
        let ends_with = |long: &RepoPath, short: &RepoPath| {
            long.as_str().strip_suffix(short.as_str()).is_some_and(|root| root.ends_with('/'))
        };
        let is_same = |own: &RepoPath| ends_with(own, file) || ends_with(file, own);
        self.touched.get(file).or_else(|| self.touched.iter().find(|(own, _)| is_same(own)).map(|(_, lines)| lines))
    }
}

/// A set of cases under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// What people call it.
    pub name: String,
    /// Hash over all cases and their files.
    pub digest: String,
    /// In the order of their files.
    pub cases: Vec<Case>,
}

impl Suite {
    /// The hash of the suite that cases of this one are variants of; `None` if there are none, or if they are of several suites.
    pub fn twisted_from(&self) -> Option<&str> {
        let mut suites = self.cases.iter().filter_map(|case| Some(case.twisted_from.as_ref()?.suite.as_str()));
        let first = suites.next()?;
        suites.all(|suite| suite == first).then_some(first)
    }

    /// Notes of each case whether it was made before the cutoff of a model, both as `YYYY-MM-DD`. A case that does not say when it was
    /// made is on neither side.
    pub fn mark_cutoff(&mut self, cutoff: &str) {
        for case in &mut self.cases {
            // Such dates compare like texts.
            let side = |made: &String| if made.as_str() <= cutoff { CutoffSide::Before } else { CutoffSide::After };
            case.cutoff = case.made.as_ref().map(side);
        }
    }
}
