//! Reads arrays that are nested in one object, or in an object that some writers leave out.

use super::{Elements, read_seed};
use crate::{ImportError, Input};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Reads the array `name` of the object `outer` of a top-level object element by element; both may be absent. Returns the other
/// top-level fields that are listed in `keep`.
pub fn for_each_within<T: DeserializeOwned>(
    input: Input<'_>,
    (outer, name): (&str, &str),
    keep: &[&str],
    each: impl FnMut(T) -> Result<(), String>,
) -> Result<BTreeMap<String, Value>, ImportError> {
    read_seed(input, Within { outer, name, keep, each, element: PhantomData })
}

/// Reads a top-level array element by element, or the array `name` of a top-level object.
pub fn for_each_or_under<T: DeserializeOwned>(
    input: Input<'_>,
    name: &str,
    each: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ImportError> {
    read_seed(input, OrUnder { name, each, element: PhantomData })
}

struct Within<'a, F, T> {
    outer: &'a str,
    name: &'a str,
    keep: &'a [&'a str],
    each: F,
    element: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de> for Within<'_, F, T> {
    type Value = BTreeMap<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Within<'_, F, T> {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with an object `{}`", self.outer)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == self.outer {
                map.next_value_seed(Inner { name: self.name, each: &mut self.each, element: PhantomData })?;
            } else if self.keep.contains(&key.as_str()) {
                fields.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

struct Inner<'a, F, T> {
    name: &'a str,
    each: F,
    element: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de> for Inner<'_, F, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Inner<'_, F, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with an array `{}`", self.name)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == self.name {
                map.next_value_seed(Elements { each: &mut self.each, element: PhantomData })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct OrUnder<'a, F, T> {
    name: &'a str,
    each: F,
    element: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de> for OrUnder<'_, F, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> Visitor<'de> for OrUnder<'_, F, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array, or an object with an array `{}`", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Elements { each: self.each, element: PhantomData }.visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.name {
                seen = true;
                map.next_value_seed(Elements { each: &mut self.each, element: PhantomData })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if !seen {
            return Err(A::Error::custom(format!("missing array `{}`; is this the right format?", self.name)));
        }
        Ok(())
    }
}
