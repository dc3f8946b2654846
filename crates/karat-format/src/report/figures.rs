//! Figures of a case by name, in little memory: a large report has many cases with the same few names.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Numbers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FiguresV1 {
    /// In the order of names, each once.
    entries: Box<[(Arc<str>, f64)]>,
}

/// The most names that are shared; files may hold any number of them.
const MOST_SHARED: usize = 10_000;

thread_local! {
    static SHARED: RefCell<HashSet<Arc<str>>> = RefCell::default();
}

fn shared(name: &str) -> Arc<str> {
    SHARED.with_borrow_mut(|names| {
        if let Some(known) = names.get(name) {
            return known.clone();
        }
        let name = Arc::from(name);
        if names.len() < MOST_SHARED {
            names.insert(Arc::clone(&name));
        }
        name
    })
}

impl FiguresV1 {
    /// The number of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let at = self.entries.binary_search_by(|(own, _)| (**own).cmp(name)).ok()?;
        Some(self.entries[at].1)
    }

    /// All numbers in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.entries.iter().map(|(name, number)| (&**name, *number))
    }

    /// All names, upward.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| &**name)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn new(mut entries: Vec<(Arc<str>, f64)>) -> Self {
        // The sort is stable and the last number of a name counts.
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|(next, number), (name, kept)| {
            let is_same = next == name;
            if is_same {
                *kept = *number;
            }
            is_same
        });
        Self { entries: entries.into() }
    }
}

impl<N: AsRef<str>> FromIterator<(N, f64)> for FiguresV1 {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(figures: I) -> Self {
        Self::new(figures.into_iter().map(|(name, number)| (shared(name.as_ref()), number)).collect())
    }
}

impl<N: AsRef<str>> Extend<(N, f64)> for FiguresV1 {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, figures: I) {
        let mut entries = std::mem::take(&mut self.entries).into_vec();
        entries.extend(figures.into_iter().map(|(name, number)| (shared(name.as_ref()), number)));
        *self = Self::new(entries);
    }
}

impl Serialize for FiguresV1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for FiguresV1 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Figures;

        impl<'de> Visitor<'de> for Figures {
            type Value = FiguresV1;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("numbers by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FiguresV1, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, number)) = map.next_entry::<Cow<'de, str>, f64>()? {
                    entries.push((shared(&name), number));
                }
                Ok(FiguresV1::new(entries))
            }
        }

        deserializer.deserialize_map(Figures)
    }
}

impl JsonSchema for FiguresV1 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, f64>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, f64>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_sorted_and_found_by_name() {
        let figures: FiguresV1 = [("recall", 0.5), ("f1", 1.0), ("recall", 0.25)].into_iter().collect();
        assert_eq!(figures.iter().collect::<Vec<_>>(), [("f1", 1.0), ("recall", 0.25)]);
        assert_eq!((figures.get("f1"), figures.get("f2")), (Some(1.0), None));
        let text = serde_json::to_string(&figures).unwrap();
        assert_eq!(text, r#"{"f1":1.0,"recall":0.25}"#);
        assert_eq!(serde_json::from_str::<FiguresV1>(&text).unwrap(), figures);
        assert_eq!(serde_json::from_str::<FiguresV1>(r#"{"a\u0062":1}"#).unwrap().get("ab"), Some(1.0));
    }

    #[test]
    fn names_are_stored_once() {
        let [one, other] = [0.0, 1.0].map(|number| FiguresV1::from_iter([("name", number)]));
        assert!(Arc::ptr_eq(&one.entries[0].0, &other.entries[0].0));
    }

    #[test]
    fn results_of_a_case_and_a_trial_are_small() {
        use crate::report::{CaseResultV1, TrialResultV1};
        // A large report has millions of them.
        assert!(size_of::<CaseResultV1>() <= 128, "{}", size_of::<CaseResultV1>());
        assert!(size_of::<TrialResultV1>() <= 256, "{}", size_of::<TrialResultV1>());
    }
}
