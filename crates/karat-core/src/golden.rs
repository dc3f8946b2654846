//! The issues a good tool reports for a case.

use crate::ids::GoldenId;
use crate::lines::Lines;
use crate::path::FilePattern;
use crate::wording::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

named_enum! {
    /// How bad a thing is; the order of the variants is from worst to mildest.
    Severity {
        /// Exploitable or destructive now.
        Critical = "critical",
        /// Serious.
        High = "high",
        /// Worth fixing.
        Medium = "medium",
        /// Minor.
        Low = "low",
        /// Remark only.
        Info = "info",
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a match with the golden means. The order is the order in which goldens are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Acceptance {
    /// Counts for recall.
    #[default]
    Required,
    /// True but not demanded: its match is neither a true nor a false positive.
    Acceptable,
    /// A known false alarm: reporting it is a named false positive.
    Trap,
}

/// How many goldens there are, how many of them are to find, and the rest by kind: `194 goldens, 60 to find, 46 acceptable, 88 traps`.
pub fn count_by_kind(kinds: impl Iterator<Item = Acceptance>) -> String {
    let (mut required, mut acceptable, mut traps) = (0, 0, 0);
    for kind in kinds {
        *match kind {
            Acceptance::Required => &mut required,
            Acceptance::Acceptable => &mut acceptable,
            Acceptance::Trap => &mut traps,
        } += 1;
    }
    let all = count(required + acceptable + traps, "golden");
    if acceptable + traps == 0 {
        return if required > 0 { format!("{all} to find") } else { all };
    }
    let others = [(acceptable, format!("{acceptable} acceptable")), (traps, count(traps, "trap"))];
    let others = others.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words);
    let parts: Vec<String> = [all, format!("{required} to find")].into_iter().chain(others).collect();
    parts.join(", ")
}

/// How running code shows that a golden is real. Tools never see any of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProofV1")]
pub struct Proof {
    /// The program and its arguments. It must fail in a copy of `after/` with `files` laid over it, and pass there with `fixed` applied.
    pub run: Vec<String>,
    /// A folder of the case, outside `before/` and `after/`.
    pub files: String,
    /// A file of the case, outside `before/` and `after/`: a unified diff on `after/` that repairs what is wrong.
    pub fixed: String,
}

impl Proof {
    /// Whether one of its paths names something in the case's folder, and not the folder itself.
    pub fn is_inside_case(path: &str) -> bool {
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']);
        path.trim_end_matches('/').split('/').all(is_plain)
    }
}

/// One golden issue of a case.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Golden {
    /// Unique within the case.
    pub id: GoldenId,
    pub severity: Option<Severity>,
    /// What kind of issue it is, in the suite's own words.
    pub category: Option<String>,
    pub file: Option<FilePattern>,
    pub lines: Option<Lines>,
    /// A fragment that its lines contain.
    pub quote: Option<String>,
    pub function: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub keywords: Vec<String>,
    pub rule_id: Option<String>,
    pub rule_aliases: Vec<String>,
    pub anchor: Option<String>,
    /// The identity key, where it is given rather than built.
    pub identity_key: Option<String>,
    pub cwe: Vec<u32>,
    pub root_cause: Option<String>,
    pub attack_scenario: Option<String>,
    pub fix: Option<String>,
    /// The one issue an audit of the case is about.
    pub target: bool,
    pub acceptance: Acceptance,
    pub proof: Option<Proof>,
}

impl Golden {
    /// A required golden with only an id, for tests and importers to build on.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: GoldenId::new(id), ..Self::default() }
    }

    /// One-line summary: title, description or id.
    pub fn headline(&self) -> &str {
        self.title.as_deref().or(self.description.as_deref()).unwrap_or(self.id.as_str())
    }

    /// Whether it counts for recall.
    pub fn is_required(&self) -> bool {
        self.acceptance == Acceptance::Required
    }

    /// The rule and its other names.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rule_id.iter().chain(&self.rule_aliases).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goldens_are_counted_by_what_is_demanded_of_them() {
        use Acceptance::{Acceptable, Required, Trap};
        let check = |kinds: &[(Acceptance, usize)], expected: &str| {
            let kinds = kinds.iter().flat_map(|(kind, n)| std::iter::repeat_n(*kind, *n));
            assert_eq!(count_by_kind(kinds), expected);
        };
        check(&[], "0 goldens");
        check(&[(Required, 1)], "1 golden to find");
        check(&[(Required, 26)], "26 goldens to find");
        check(&[(Trap, 1)], "1 golden, 0 to find, 1 trap");
        check(&[(Required, 1), (Acceptable, 2)], "3 goldens, 1 to find, 2 acceptable");
        check(&[(Trap, 88), (Required, 60), (Acceptable, 46)], "194 goldens, 60 to find, 46 acceptable, 88 traps");
    }
}
