//! Streams JSON and explains what is wrong with it.
//!
//! No function here holds a document; all give errors with line and column.

mod lenient;

pub(crate) use lenient::{Lenient, Loose, Object, Word, records};

use crate::{ImportError, Input, check_count, input};
use karat_core::wording;
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

/// Where a document has the array that is read element by element.
#[derive(Clone, Copy)]
pub(crate) enum ArrayPlace<'a> {
    /// The document is the array.
    Document,
    /// The document is an object that has it under this name.
    Under(&'a str),
    /// One of these two.
    DocumentOrUnder(&'a str),
    /// The object of this name in the document has it under the second name; both may be absent.
    Within(&'a str, &'a str),
    /// An object has it under this name; both may be absent.
    PerhapsUnder(&'a str),
}

/// Reads an array element by element. Returns the fields of the document in `keep`, wherever they are. An `Err` of `each`
/// becomes an error with the element's position.
pub(crate) fn for_each<T: DeserializeOwned>(
    input: Input<'_>,
    place: ArrayPlace<'_>,
    keep: &[&str],
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<BTreeMap<String, Value>, ImportError> {
    read_seed(input, Elements { place, keep, each: &mut each }.seed())
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
        check_count(number).map_err(|message| malformed(path, message))?;
        let document = T::deserialize(&mut deserializer).map_err(|error| fault(path, error))?;
        each(document).map_err(|message| malformed(path, format!("document {number}: {message}")))?;
    }
    Ok(())
}

pub(crate) fn malformed(path: &Path, message: impl Into<String>) -> ImportError {
    ImportError { path: input::display_path(path), line: 0, column: 0, message: message.into() }
}

/// Explains an error of the JSON parser, with its position.
pub(crate) fn fault(path: &Path, error: serde_json::Error) -> ImportError {
    let (line, column) = (error.line(), error.column());
    if error.is_io() {
        return input::read_error(path, io::Error::from(error));
    }
    let place = format!(" at line {line} column {column}");
    let text = error.to_string();
    let text = wording::truncate(text.strip_suffix(&place).unwrap_or(&text), 300);
    let message = if error.is_eof() {
        format!("the file ends in the middle of its JSON ({text}); copy the whole file, or run the tool to its end")
    } else if text == "recursion limit exceeded" {
        "nested too deeply; no known format does that".to_owned()
    } else if error.is_syntax() {
        format!("not valid JSON: {text}")
    } else {
        text
    };
    ImportError { path: input::display_path(path), line, column, message }
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
    Err(ImportError { path: input::display_path(input.path), line, column, message })
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

/// The elements of an array, each passed to a closure as soon as it is read.
struct Elements<'a, T> {
    place: ArrayPlace<'a>,
    keep: &'a [&'a str],
    each: &'a mut dyn FnMut(T) -> Result<(), String>,
}

impl<T> Elements<'_, T> {
    fn seed(self) -> By<Self> {
        match self.place {
            ArrayPlace::Document => By::Seq(self),
            ArrayPlace::DocumentOrUnder(_) | ArrayPlace::PerhapsUnder(_) => By::Any(self),
            ArrayPlace::Under(_) | ArrayPlace::Within(..) => By::Map(self),
        }
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Elements<'_, T> {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            ArrayPlace::Document => f.write_str("an array"),
            ArrayPlace::Under(name) | ArrayPlace::PerhapsUnder(name) => write!(f, "an object with an array `{name}`"),
            ArrayPlace::DocumentOrUnder(name) => write!(f, "an array, or an object with an array `{name}`"),
            ArrayPlace::Within(outer, _) => write!(f, "an object with an object `{outer}`"),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        match self.place {
            ArrayPlace::PerhapsUnder(_) => Ok(BTreeMap::new()),
            _ => Err(E::invalid_type(Unexpected::Unit, &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        if !matches!(self.place, ArrayPlace::Document | ArrayPlace::DocumentOrUnder(_)) {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut count = 0;
        while let Some(element) = seq.next_element()? {
            (self.each)(element).map_err(A::Error::custom)?;
            count += 1;
            check_count(count).map_err(A::Error::custom)?;
        }
        Ok(BTreeMap::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (name, place) = match self.place {
            ArrayPlace::Document => return Err(A::Error::invalid_type(Unexpected::Map, &self)),
            ArrayPlace::Within(outer, name) => (outer, ArrayPlace::PerhapsUnder(name)),
            ArrayPlace::Under(name) | ArrayPlace::DocumentOrUnder(name) | ArrayPlace::PerhapsUnder(name) => {
                (name, ArrayPlace::Document)
            }
        };
        let mut fields = BTreeMap::new();
        let mut found = matches!(self.place, ArrayPlace::Within(..) | ArrayPlace::PerhapsUnder(_));
        while let Some(key) = map.next_key::<String>()? {
            if key == name {
                found = true;
                map.next_value_seed(Elements { place, keep: &[], each: &mut *self.each }.seed())?;
            } else if self.keep.contains(&key.as_str()) {
                fields.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if !found {
            return Err(A::Error::custom(format!("missing array `{name}`; is this the right format?")));
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests;
