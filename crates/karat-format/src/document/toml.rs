//! Parses TOML with positions.

use super::source::truncated;
use super::{DEPTH_LIMIT, Key, Node, Value, fail_on_faults};
use crate::diagnostic::Fault;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Parses a TOML document.
pub fn parse(text: &str) -> Result<Node, Vec<Fault>> {
    fail_on_faults(parse_recoverable(text))
}

/// Longer texts are not parsed beyond a syntax error, since an error takes far more memory than the byte that causes it.
const RECOVERY_LIMIT: usize = 1 << 20;

/// Parses a TOML document and continues after faults; what is near one may be missing from the node or wrong.
pub fn parse_recoverable(text: &str) -> (Option<Node>, Vec<Fault>) {
    let (table, errors) = match DeTable::parse(text) {
        Ok(table) => (Some(table), Vec::new()),
        Err(first) if text.len() > RECOVERY_LIMIT => (None, vec![first]),
        Err(_) => {
            let (table, errors) = DeTable::parse_recoverable(text);
            (Some(table), errors)
        }
    };
    let mut faults: Vec<Fault> = errors.iter().map(|error| syntax_fault(error, text)).collect();
    let node = table.map(|table| Node { value: entries(table.get_ref(), 0, &mut faults), span: 0..text.len() });
    (node, faults)
}

fn syntax_fault(error: &toml::de::Error, text: &str) -> Fault {
    let span = error.span().unwrap_or(0..0);
    match error.message() {
        "duplicate key" => {
            let message = format!("the key `{}` is given twice", truncated(text.get(span.clone()).unwrap_or_default()));
            Fault::new("duplicate-key", span, message).with_help("remove one of the two")
        }
        message if message.contains("recurs") => {
            Fault::new("too-deep", span, "lists, tables or dotted keys are nested too deeply")
        }
        message => Fault::new("syntax", span, format!("not valid TOML: {message}")),
    }
}

fn entries(table: &DeTable<'_>, depth: usize, faults: &mut Vec<Fault>) -> Value {
    let mut entries: Vec<(Key, Node)> = table
        .iter()
        .map(|(key, value)| {
            let key = Key { name: key.get_ref().to_string(), span: key.span() };
            (key, convert(value, depth + 1, faults))
        })
        .collect();
    // The table is sorted by name, but users expect file order.
    entries.sort_by_key(|(key, _)| key.span.start);
    Value::Object(entries)
}

fn convert(spanned: &Spanned<DeValue<'_>>, depth: usize, faults: &mut Vec<Fault>) -> Node {
    let span = spanned.span();
    if depth > DEPTH_LIMIT {
        let message = format!("lists and tables are nested more than {DEPTH_LIMIT} levels deep");
        faults.push(Fault::new("too-deep", span.clone(), message));
        return Node { value: Value::Null, span };
    }
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Integer(integer) => whole(integer),
        DeValue::Float(float) => {
            let number = float.as_str().parse::<f64>().unwrap_or(f64::NAN);
            if !number.is_finite() {
                faults.push(Fault::new("not-finite", span.clone(), "expected a finite number"));
            }
            Value::Float(number)
        }
        DeValue::Datetime(moment) => Value::String(moment.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| convert(item, depth + 1, faults)).collect()),
        DeValue::Table(table) => entries(table, depth, faults),
    };
    Node { value, span }
}

fn whole(integer: &DeInteger<'_>) -> Value {
    // A number too large for any type stays a number, so that it is reported as out of range.
    let wide = || integer.as_str().parse::<f64>().unwrap_or(f64::MAX);
    i128::from_str_radix(integer.as_str(), integer.radix()).map_or_else(|_| Value::Float(wide()), Value::Int)
}
