//! Streams JSON and explains what is wrong with it.
//!
//! No function here holds a document; all give errors with line and column.

mod lenient;

pub(crate) use lenient::{Lenient, Loose, Object, Word, records};

use crate::{ImportError, Input, MAX_RESULTS, check_count, input};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::marker::PhantomData;
use std::path::Path;

/// Reads a whole document, for formats that are small by nature.
pub(crate) fn read<T: DeserializeOwned>(input: Input<'_>) -> Result<T, ImportError> {
    read_seed(input, PhantomData::<T>)
}

/// Reads a document through a seed, which may process it while it is read.
pub(crate) fn read_seed<'de, S: DeserializeSeed<'de>>(input: Input<'_>, seed: S) -> Result<S::Value, ImportError> {
    let path = input.path;
    let mut deserializer = serde_json::Deserializer::from_reader(buffered(input)?);
    let value = seed.deserialize(&mut deserializer).map_err(|error| fault(path, error))?;
    deserializer.end().map_err(|error| fault(path, error))?;
    Ok(value)
}

/// Reads an array element by element. An `Err` of `each` becomes an error with the element's position.
pub(crate) fn for_each<T: DeserializeOwned>(
    input: Input<'_>,
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ImportError> {
    read_seed(input, By::Seq(Elements { each: &mut each, element: PhantomData }))
}

/// Reads consecutive documents, such as JSON lines. An `Err` of `each` becomes an error with the document's number.
pub(crate) fn for_each_document<T: DeserializeOwned>(
    input: Input<'_>,
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ImportError> {
    let path = input.path;
    let mut deserializer = serde_json::Deserializer::from_reader(buffered(input)?);
    for number in 1.. {
        // `end` succeeds only if nothing but white space is left.
        match deserializer.end() {
            Ok(()) => break,
            Err(error) if error.is_io() => return Err(fault(path, error)),
            Err(_) => (),
        }
        check_count(MAX_RESULTS, number).map_err(|message| malformed(path, message))?;
        let document = T::deserialize(&mut deserializer).map_err(|error| fault(path, error))?;
        each(document).map_err(|message| malformed(path, format!("document {number}: {message}")))?;
    }
    Ok(())
}

/// Reads the array `name` of a top-level object element by element. Returns the fields in `keep`, wherever they are.
pub(crate) fn for_each_under<T: DeserializeOwned>(
    input: Input<'_>,
    name: &str,
    keep: &[&str],
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<BTreeMap<String, Value>, ImportError> {
    let place = ArrayPlace { outer: None, name, may_be_missing: false, may_be_bare: false, keep };
    read_seed(input, By::Map(Nested { place, each: &mut each, element: PhantomData }))
}

/// The same for the array `name` of the object `outer` of the top-level object; both may be absent.
pub(crate) fn for_each_within<T: DeserializeOwned>(
    input: Input<'_>,
    (outer, name): (&str, &str),
    keep: &[&str],
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<BTreeMap<String, Value>, ImportError> {
    let place = ArrayPlace { outer: Some(outer), name, may_be_missing: true, may_be_bare: false, keep };
    read_seed(input, By::Map(Nested { place, each: &mut each, element: PhantomData }))
}

/// Reads a top-level array element by element, or the array `name` of a top-level object.
pub(crate) fn for_each_or_under<T: DeserializeOwned>(
    input: Input<'_>,
    name: &str,
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ImportError> {
    let place = ArrayPlace { outer: None, name, may_be_missing: false, may_be_bare: true, keep: &[] };
    read_seed(input, By::Any(Nested { place, each: &mut each, element: PhantomData })).map(drop)
}

pub(crate) fn malformed(path: &Path, message: impl Into<String>) -> ImportError {
    ImportError::Malformed { path: input::display_path(path), line: 0, column: 0, message: message.into() }
}

/// Explains an error of the JSON parser, with its position.
pub(crate) fn fault(path: &Path, error: serde_json::Error) -> ImportError {
    let (line, column) = (error.line(), error.column());
    if error.is_io() {
        return input::read_error(path, io::Error::from(error));
    }
    let place = format!(" at line {line} column {column}");
    let text = error.to_string();
    let text = truncated(text.strip_suffix(&place).unwrap_or(&text));
    let message = if error.is_eof() {
        format!("the file ends in the middle of its JSON ({text}); copy the whole file, or run the tool to its end")
    } else if text == "recursion limit exceeded" {
        "nested too deeply; no known format does that".to_owned()
    } else if error.is_syntax() {
        format!("not valid JSON: {text}")
    } else {
        text
    };
    ImportError::Malformed { path: input::display_path(path), line, column, message }
}

/// Checks the first character, since an error about it can be clearer than the parser's.
fn buffered<'a>(input: Input<'a>) -> Result<BufReader<Box<dyn Read + 'a>>, ImportError> {
    let mut reader = BufReader::with_capacity(64 * 1024, input.reader);
    let mut space = Vec::new();
    let mut byte = [0];
    let first = loop {
        match reader.read(&mut byte) {
            Ok(0) => break None,
            // White space is kept, up to a point, so that lines and columns stay right.
            Ok(_) if byte[0].is_ascii_whitespace() && space.len() < 1 << 20 => space.push(byte[0]),
            Ok(_) => break Some(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(input::read_error(input.path, error)),
        }
    };
    let message = match first {
        Some(first @ (b'{' | b'[')) => {
            space.push(first);
            return Ok(BufReader::with_capacity(64 * 1024, Box::new(Cursor::new(space).chain(reader))));
        }
        Some(b'<') => "this is XML or HTML, not JSON; ask the tool for its JSON output".to_owned(),
        Some(first) => {
            format!("expected JSON, which starts with `{{` or `[`, found `{}`", first.escape_ascii())
        }
        None => "the file is empty; expected JSON".to_owned(),
    };
    let line = 1 + space.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + space.iter().rev().take_while(|&&byte| byte != b'\n').count();
    Err(ImportError::Malformed { path: input::display_path(input.path), line, column, message })
}

fn truncated(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An object, an array or any value, read by a visitor.
pub(crate) enum By<V> {
    Map(V),
    Seq(V),
    Any(V),
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for By<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        match self {
            Self::Map(visitor) => deserializer.deserialize_map(visitor),
            Self::Seq(visitor) => deserializer.deserialize_seq(visitor),
            Self::Any(visitor) => deserializer.deserialize_any(visitor),
        }
    }
}

/// Reads an array as one type, or an object as another.
pub(crate) fn array_or_object<'de, D: Deserializer<'de>, A: Deserialize<'de>, O: Deserialize<'de>, T>(
    deserializer: D,
    expected: &'static str,
    array: fn(A) -> T,
    object: fn(O) -> T,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(ArrayOrObject { expected, array, object })
}

struct ArrayOrObject<A, O, T> {
    expected: &'static str,
    array: fn(A) -> T,
    object: fn(O) -> T,
}

impl<'de, A: Deserialize<'de>, O: Deserialize<'de>, T> Visitor<'de> for ArrayOrObject<A, O, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<T, S::Error> {
        A::deserialize(SeqAccessDeserializer::new(seq)).map(self.array)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(self.object)
    }
}

/// An element, or an array of them, each passed to a closure as soon as it is read.
struct Elements<'a, F, T> {
    each: &'a mut F,
    element: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de> for Elements<'_, F, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        (self.each)(T::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Elements<'_, F, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut count = 0;
        while seq.next_element_seed(Elements { each: &mut *self.each, element: PhantomData })?.is_some() {
            count += 1;
            check_count(MAX_RESULTS, count).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// Where a document has the array that is read element by element.
#[derive(Clone, Copy)]
struct ArrayPlace<'a> {
    /// The object of the document that has the array; otherwise the document has it.
    outer: Option<&'a str>,
    name: &'a str,
    /// Also whether the object may be `null`.
    may_be_missing: bool,
    /// Whether the document may be the array itself.
    may_be_bare: bool,
    keep: &'a [&'a str],
}

struct Nested<'a, F, T> {
    place: ArrayPlace<'a>,
    each: &'a mut F,
    element: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Nested<'_, F, T> {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            ArrayPlace { outer: Some(outer), .. } => write!(f, "an object with an object `{outer}`"),
            ArrayPlace { name, may_be_bare: true, .. } => write!(f, "an array, or an object with an array `{name}`"),
            ArrayPlace { name, .. } => write!(f, "an object with an array `{name}`"),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        if self.place.may_be_missing { Ok(BTreeMap::new()) } else { Err(E::invalid_type(Unexpected::Unit, &self)) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        if !self.place.may_be_bare {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        Elements { each: self.each, element: PhantomData }.visit_seq(seq)?;
        Ok(BTreeMap::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let ArrayPlace { outer, name, may_be_missing, keep, .. } = self.place;
        let mut fields = BTreeMap::new();
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == outer.unwrap_or(name) {
                found = true;
                if outer.is_some() {
                    let place = ArrayPlace { outer: None, keep: &[], ..self.place };
                    map.next_value_seed(By::Any(Nested { place, each: &mut *self.each, element: PhantomData }))?;
                } else {
                    map.next_value_seed(By::Seq(Elements { each: &mut *self.each, element: PhantomData }))?;
                }
            } else if keep.contains(&key.as_str()) {
                fields.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if !found && !may_be_missing {
            return Err(A::Error::custom(format!("missing array `{name}`; is this the right format?")));
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests;
