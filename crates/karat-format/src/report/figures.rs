//! Figures of a case by name, in little memory: a large report has many cases with the same few names.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// Numbers by name.
#[derive(Clone, Debug, PartialEq)]
pub struct FiguresV1 {
    /// Upward, each once.
    names: Arc<[Arc<str>]>,
    /// As bits, which can be looked up.
    numbers: Arc<[u64]>,
}

/// The most names, lists of names and lists of numbers that are shared; files may hold any number of them.
const MOST_SHARED: usize = 10_000;

/// A longer list is a case's own, such as of many confidences.
const LONGEST_SHARED: usize = 200;

thread_local! {
    static NAMES: RefCell<HashSet<Arc<str>>> = RefCell::default();
    static LISTS: RefCell<HashSet<Arc<[Arc<str>]>>> = RefCell::default();
    /// Most cases are as good or bad as others.
    static NUMBERS: RefCell<HashSet<Arc<[u64]>>> = RefCell::default();
}

/// The one that is equal to this, if it is known. Another is remembered, unless there are too many.
fn shared<T: Hash + Eq + ?Sized>(known: &RefCell<HashSet<Arc<T>>>, one: &T) -> Arc<T>
where
    for<'t> Arc<T>: From<&'t T>,
{
    let mut known = known.borrow_mut();
    if let Some(own) = known.get(one) {
        return Arc::clone(own);
    }
    let own = Arc::from(one);
    if known.len() < MOST_SHARED {
        known.insert(Arc::clone(&own));
    }
    own
}

fn shared_name(name: &str) -> Arc<str> {
    NAMES.with(|known| shared(known, name))
}

impl Default for FiguresV1 {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl FiguresV1 {
    /// The number of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let at = self.names.binary_search_by(|own| (**own).cmp(name)).ok()?;
        Some(f64::from_bits(self.numbers[at]))
    }

    /// All numbers in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.names().zip(self.numbers.iter().copied().map(f64::from_bits))
    }

    /// All names, upward.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
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
        let (names, numbers): (Vec<_>, Vec<_>) =
            entries.into_iter().map(|(name, number)| (name, number.to_bits())).unzip();
        if names.len() > LONGEST_SHARED {
            return Self { names: names.into(), numbers: numbers.into() };
        }
        let names = LISTS.with(|known| shared(known, names.as_slice()));
        Self { names, numbers: NUMBERS.with(|known| shared(known, numbers.as_slice())) }
    }
}

impl<N: AsRef<str>> FromIterator<(N, f64)> for FiguresV1 {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(figures: I) -> Self {
        Self::new(figures.into_iter().map(|(name, number)| (shared_name(name.as_ref()), number)).collect())
    }
}

impl<N: AsRef<str>> Extend<(N, f64)> for FiguresV1 {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, figures: I) {
        let own = self.names.iter().cloned().zip(self.numbers.iter().copied().map(f64::from_bits));
        let more = figures.into_iter().map(|(name, number)| (shared_name(name.as_ref()), number));
        *self = Self::new(own.chain(more).collect());
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
                    entries.push((shared_name(&name), number));
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
    fn names_and_equal_numbers_are_stored_once() {
        let [one, other] = [0.0, 1.0].map(|number| FiguresV1::from_iter([("name", number)]));
        assert!(Arc::ptr_eq(&one.names, &other.names));
        let more = FiguresV1::from_iter([("name", 0.0), ("other", 0.0)]);
        assert!(Arc::ptr_eq(&one.names[0], &more.names[0]));
        let again = FiguresV1::from_iter([("same", 0.0)]);
        assert!(Arc::ptr_eq(&one.numbers, &again.numbers));
        assert!(!Arc::ptr_eq(&one.numbers, &other.numbers));
    }

    #[test]
    fn results_of_a_case_and_a_trial_are_small() {
        use crate::report::{CaseResultV1, TrialResultV1};
        // A large report has millions of them.
        assert!(size_of::<CaseResultV1>() <= 160, "{}", size_of::<CaseResultV1>());
        assert!(size_of::<TrialResultV1>() <= 144, "{}", size_of::<TrialResultV1>());
    }
}
