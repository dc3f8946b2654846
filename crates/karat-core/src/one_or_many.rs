//! Fields that hold one value or a list: `cwe: 89` says the same as `cwe: [89]`. They are written as a list.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Reads one value or a list of them.
pub fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(ListVisitor { null_is_empty: false, item: PhantomData })
}

/// The same for a list that may be absent.
pub fn optional_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let list: Option<OneOrMany<T>> = Option::deserialize(deserializer)?;
    Ok(list.map(|list| list.0))
}

/// Reads one CWE number or a list of them, each as `89` or `CWE-89`. Scanners write null where they know none.
pub fn cwe_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    let list: Vec<CweNumber> = deserializer.deserialize_any(ListVisitor { null_is_empty: true, item: PhantomData })?;
    Ok(list.into_iter().map(|number| number.0).collect())
}

/// The schema of [`list`] and [`optional_list`].
pub fn list_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [generator.subschema_for::<Vec<T>>(), generator.subschema_for::<T>()] })
}

/// The schema of [`cwe_list`].
pub fn cwe_list_schema(generator: &mut SchemaGenerator) -> Schema {
    let (list, one) = (generator.subschema_for::<Vec<CweNumber>>(), generator.subschema_for::<CweNumber>());
    json_schema!({ "anyOf": [list, one, { "type": "null" }] })
}

/// The number in a text such as `CWE-89`, `cwe 89`, `89` or `CWE-89: SQL injection`.
pub fn parse_cwe(text: &str) -> Option<u32> {
    let text = text.trim();
    let rest = match text.get(..3).filter(|start| start.eq_ignore_ascii_case("cwe")) {
        Some(_) => text[3..].trim_start_matches(['-', '_', ':', ' ']),
        None => text,
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if rest[end..].starts_with(|c: char| c.is_alphanumeric() || c == '.') {
        return None;
    }
    rest[..end].parse().ok()
}

struct OneOrMany<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        list(deserializer).map(Self)
    }
}

struct ListVisitor<T> {
    null_is_empty: bool,
    item: PhantomData<T>,
}

fn one<'de, T: Deserialize<'de>, E: Error, V: IntoDeserializer<'de, E>>(value: V) -> Result<Vec<T>, E> {
    Ok(vec![T::deserialize(value.into_deserializer())?])
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or a list of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
        one(text)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Vec<T>, E> {
        one(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Vec<T>, E> {
        one(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Vec<T>, E> {
        one(number)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Vec<T>, E> {
        one(value)
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
        match self.null_is_empty {
            true => Ok(Vec::new()),
            false => Err(E::invalid_type(serde::de::Unexpected::Unit, &self)),
        }
    }
}

/// The number of a weakness, as `89` or `CWE-89`.
struct CweNumber(u32);

impl<'de> Deserialize<'de> for CweNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CweVisitor)
    }
}

impl JsonSchema for CweNumber {
    fn schema_name() -> Cow<'static, str> {
        "CweNumber".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = generator.subschema_for::<u32>();
        let text = json_schema!({ "type": "string", "pattern": "^\\s*([Cc][Ww][Ee][-_: ]*)?[0-9]+" });
        json_schema!({ "description": "The number of a weakness, such as 89 or \"CWE-89\".", "anyOf": [number, text] })
    }
}

struct CweVisitor;

impl Visitor<'_> for CweVisitor {
    type Value = CweNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a CWE number such as 89 or \"CWE-89\"")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<CweNumber, E> {
        let found = u32::try_from(number).map(CweNumber);
        found.map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<CweNumber, E> {
        let found = u32::try_from(number).map(CweNumber);
        found.map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CweNumber, E> {
        parse_cwe(text).map(CweNumber).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn cwe_numbers_are_read_in_every_form() {
        let check = |value: Value, expect: &[u32]| assert_eq!(cwe_list(&value).unwrap(), expect, "{value}");
        check(json!(89), &[89]);
        check(json!([89]), &[89]);
        check(json!("CWE-89"), &[89]);
        check(json!("89"), &[89]);
        check(json!(["CWE-89: SQL injection", 20, "cwe_079", "CWE: 7"]), &[89, 20, 79, 7]);
        check(json!([]), &[]);
        check(json!(null), &[]);
        for wrong in [json!("sql"), json!(-1), json!(1.5), json!([null]), json!("CWE-"), json!("CWE-12x"), json!("1.5")]
        {
            let fault = cwe_list(&wrong).unwrap_err().to_string();
            assert!(fault.contains("a CWE number such as 89 or \"CWE-89\""), "{wrong}: {fault}");
        }
    }

    #[test]
    fn one_value_stands_for_a_list_of_one() {
        let texts = |value: Value| list::<_, String>(&value).map_err(|fault| fault.to_string());
        assert_eq!(texts(json!("a")).unwrap(), ["a"]);
        assert_eq!(texts(json!(["a", "b"])).unwrap(), ["a", "b"]);
        assert_eq!(texts(json!([])).unwrap(), [""; 0]);
        assert!(texts(json!(1)).is_err() && texts(json!(null)).is_err() && texts(json!({})).is_err());
        assert_eq!(optional_list::<_, i32>(&json!(0)).unwrap(), Some(vec![0]));
        assert_eq!(optional_list::<_, i32>(&json!(null)).unwrap(), None);
    }
}
