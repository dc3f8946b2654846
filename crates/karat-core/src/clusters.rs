//! Chooses which cases are resampled together: cases of one repository are more alike than others.

use crate::suite::Suite;
use crate::wording::count;
use std::collections::BTreeMap;

/// The field that clusters are named by where nothing else is asked for.
pub const DEFAULT_FIELD: &str = "repo";

/// With fewer repositories, cluster resampling gives too narrow intervals as well.
pub const ENOUGH_REPOSITORIES: usize = 10;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClusterBy {
    /// Repositories, where enough of them are shared by cases.
    #[default]
    Default,
    /// Nothing: every case stands alone.
    Nothing,
    /// A field of cases: `repo`, `language`, `difficulty` or `meta.NAME`.
    Field(String),
}

/// The value that turns clustering off.
pub const NOTHING: &str = "none";

impl ClusterBy {
    /// Parses the command-line value; `None` is the default.
    pub fn parse(field: Option<&str>) -> Self {
        match field {
            None => Self::Default,
            Some(NOTHING) => Self::Nothing,
            Some(field) => Self::Field(field.to_owned()),
        }
    }

    /// What is done about the cases of a suite.
    pub fn decide(&self, suite: &Suite) -> Clustering {
        let field = self.field();
        self.decide_from(suite.cases.iter().map(|case| case.field(field)))
    }

    /// What is done about cases that have these values of [`field`](Self::field).
    pub fn decide_from<'v>(&self, values: impl Iterator<Item = Option<&'v str>>) -> Clustering {
        let mut members: BTreeMap<&str, usize> = BTreeMap::new();
        let mut alone = 0;
        for value in values {
            match value {
                Some(value) => *members.entry(value).or_default() += 1,
                None => alone += 1,
            }
        }
        let shared_cases = members.values().filter(|count| **count > 1).sum();
        let used = match self {
            Self::Field(_) => true,
            Self::Nothing => false,
            Self::Default => shared_cases > 0 && members.len() >= ENOUGH_REPOSITORIES,
        };
        Clustering {
            field: self.field().to_owned(),
            used,
            asked: *self != Self::Default,
            groups: members.len(),
            shared_cases,
            alone,
        }
    }

    /// The field that was asked for.
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::Field(field) => Some(field),
            Self::Default | Self::Nothing => None,
        }
    }

    /// The field whose values matter.
    pub fn field(&self) -> &str {
        self.named().unwrap_or(DEFAULT_FIELD)
    }
}

/// What is done about cases that are alike, and what is known of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Clustering {
    pub field: String,
    /// Whether cases with the same value of it are drawn together.
    pub used: bool,
    pub asked: bool,
    pub groups: usize,
    pub shared_cases: usize,
    /// How many cases do not state the field; each is a cluster of its own.
    pub alone: usize,
}

impl Clustering {
    /// The field, where cases are drawn together by it.
    pub fn used_field(&self) -> Option<&str> {
        self.used.then_some(self.field.as_str())
    }

    /// What a reader must know where cases share too few repositories.
    pub fn warning(&self) -> Option<String> {
        if self.asked || self.used || self.shared_cases == 0 {
            return None;
        }
        let cases = count(self.shared_cases, "case");
        Some(match self.groups {
            1 => format!(
                "{cases} come from one repository, so intervals do not apply to other repositories; \
                 --cluster none suppresses this warning"
            ),
            groups => format!(
                "{cases} share {groups} repositories, fewer than {ENOUGH_REPOSITORIES}: intervals and tests treat cases as \
                 independent and may be too narrow; --cluster repo resamples whole repositories, --cluster none suppresses this warning"
            ),
        })
    }
}

/// The cluster of every case: cases with the same value share one, and those without a value stand alone.
pub fn numbers<'v>(values: impl Iterator<Item = Option<&'v str>>) -> Vec<usize> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut clusters = Vec::new();
    for (at, value) in values.enumerate() {
        let next = known.len();
        clusters.push(value.map_or(usize::MAX - at, |value| *known.entry(value).or_insert(next)));
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(by: &ClusterBy, sizes: &[usize]) -> Clustering {
        let names: Vec<String> =
            sizes.iter().enumerate().flat_map(|(at, size)| vec![format!("r{at}"); *size]).collect();
        by.decide_from(names.iter().map(|name| Some(name.as_str())))
    }

    #[test]
    fn ten_shared_repositories_are_clusters_by_default() {
        let by = ClusterBy::default();
        let ten = decided(&by, &[2; 10]);
        assert!(ten.used && ten.warning().is_none());
        assert_eq!((ten.groups, ten.shared_cases), (10, 20));
        let nine = decided(&by, &[2; 9]);
        assert!(!nine.used);
        let actual = nine.warning().unwrap();
        assert!(actual.contains("18 cases share 9 repositories") && actual.contains("--cluster repo"), "{actual}");
        assert!(decided(&by, &[40]).warning().unwrap().contains("one repository"));
    }

    #[test]
    fn repositories_of_one_case_are_no_clusters() {
        let each = decided(&ClusterBy::default(), &[1; 40]);
        assert!(!each.used && each.warning().is_none());
        let none = ClusterBy::default().decide_from([None, None].into_iter());
        assert!(!none.used && none.warning().is_none());
        assert_eq!(none.alone, 2);
    }

    #[test]
    fn an_explicit_choice_of_clusters_is_not_warned_about() {
        let off = decided(&ClusterBy::parse(Some("none")), &[2; 10]);
        assert!(!off.used && off.asked && off.warning().is_none());
        let on = decided(&ClusterBy::parse(Some("repo")), &[2; 3]);
        assert!(on.used && on.warning().is_none());
        assert_eq!(ClusterBy::parse(None), ClusterBy::Default);
    }

    #[test]
    fn cases_without_a_value_stand_alone() {
        let [a, b, c, d] = numbers([Some("x"), None, Some("x"), None].into_iter())[..] else { panic!() };
        assert!(a == c && a != b && b != d && a != d);
    }
}
