//! Values that tolerate unexpected JSON.
//!
//! Files of other tools have nulls, wrong types and duplicate keys where it does not matter; those must not make the file
//! unreadable. A [`Lenient`] type defines what it makes of each kind of JSON value; all others give its default. [`Loose`] makes
//! such a type readable by serde, and [`records`] declares lenient objects.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// What a type makes of each kind of JSON value; by default its default value.
pub(crate) trait Lenient: Default {
    /// What is expected where [`Object`] requires it.
    const OBJECT: &'static str = "an object";

    fn from_bool(_: bool) -> Self {
        Self::default()
    }

    fn from_number(_: f64) -> Self {
        Self::default()
    }

    fn from_text(_: String) -> Self {
        Self::default()
    }

    /// From an array, which must be read to its end.
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    /// From an object, which must be read to its end.
    fn from_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// A lenient value as serde reads it; an absent field has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Loose<T>(pub(crate) T);

impl<'de, T: Lenient> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(Anything(PhantomData)).map(Self)
    }
}

struct Anything<T>(PhantomData<T>);

impl<'de, T: Lenient> Visitor<'de> for Anything<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only shown where an object is required, as everything else is accepted.
        f.write_str(T::OBJECT)
    }

    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::from_bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::from_number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(T::from_number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(T::from_number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<T, E> {
        Ok(T::from_text(value.to_owned()))
    }

    fn visit_none<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }

    /// `null` within an array.
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<T, A::Error> {
        T::from_array(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::from_object(object)
    }
}

/// Only strings; other kinds of value count as absent.
impl Lenient for Option<String> {
    fn from_text(text: String) -> Self {
        Some(text)
    }
}

/// Also if written as a string.
impl Lenient for Option<bool> {
    fn from_bool(value: bool) -> Self {
        Some(value)
    }

    fn from_text(text: String) -> Self {
        text.trim().parse().ok()
    }
}

/// Also if written as a string.
impl Lenient for Option<f64> {
    fn from_number(value: f64) -> Self {
        Some(value).filter(|value| value.is_finite())
    }

    fn from_text(text: String) -> Self {
        text.trim().parse().ok().and_then(Self::from_number)
    }
}

/// A count or an index: negative, fractional or larger numbers count as absent.
impl Lenient for Option<u32> {
    fn from_number(value: f64) -> Self {
        (value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value)).then_some(value as u32)
    }

    fn from_text(text: String) -> Self {
        text.trim().parse().ok()
    }
}

/// Only arrays; a single value does not count as one.
impl<T: Lenient> Lenient for Vec<T> {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut elements = Self::new();
        while let Some(Loose(element)) = array.next_element()? {
            elements.push(element);
        }
        Ok(elements)
    }
}

impl<T: Lenient> Lenient for BTreeMap<String, T> {
    fn from_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut entries = Self::new();
        while let Some((key, Loose(value))) = object.next_entry()? {
            entries.insert(key, value);
        }
        Ok(entries)
    }
}

/// Boxed, so that an absent object takes no more than a pointer.
impl<T: Lenient> Lenient for Option<Box<T>> {
    fn from_object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::from_object(object).map(|value| Some(Box::new(value)))
    }
}

/// A text that some writers put as a number; an empty one counts as absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word(pub(crate) Option<String>);

impl Lenient for Word {
    fn from_text(text: String) -> Self {
        Self(Some(text).filter(|text| !text.is_empty()))
    }

    fn from_number(number: f64) -> Self {
        Self(Some(number.to_string()))
    }
}

/// A lenient value where it is required: anything but an object is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Lenient> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Anything(PhantomData)).map(Self)
    }
}

/// Declares lenient objects: `records! { struct Region { start_line: Option<u32> = "startLine", … } … }`.
///
/// Fields that are absent, `null` or of the wrong type have their default; of duplicate keys the last counts; other keys are
/// skipped.
macro_rules! records {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident {
        $($(#[$field_doc:meta])* $field_vis:vis $field:ident: $kind:ty = $key:literal),* $(,)?
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name {
            $($(#[$field_doc])* $field_vis $field: $kind),*
        }

        impl $name {
            /// Reads the value of a key, or skips it.
            $vis fn read_field<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                key: &str,
                object: &mut A,
            ) -> Result<(), A::Error> {
                match key {
                    $($key => self.$field = object.next_value::<$crate::json::Loose<$kind>>()?.0,)*
                    _ => object.next_value::<serde::de::IgnoredAny>().map(drop)?,
                }
                Ok(())
            }
        }

        impl $crate::json::Lenient for $name {
            fn from_object<'de, A: serde::de::MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
                let mut record = Self::default();
                while let Some(key) = object.next_key::<String>()? {
                    record.read_field(&key, &mut object)?;
                }
                Ok(record)
            }
        }
    )*};
}

pub(crate) use records;
