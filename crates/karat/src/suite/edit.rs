//! Changes the text of cases in place: comments, order and layout of the files stay.

use super::{LoadedSuite, StatedIn};
use karat_core::ids::CaseId;
use karat_format::case::CaseV1;
use karat_format::document::{Node, Segment, Syntax, decode_bytes, json, schema_of, yaml};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// A value of a golden to change.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Edit {
    pub case: CaseId,
    /// Index in the case.
    pub golden: usize,
    pub key: &'static str,
    /// The new value, as JSON, which YAML reads too.
    pub value: serde_json::Value,
    /// Whether the key is left out if it is absent.
    pub needless: bool,
}

/// Applies the edits and returns the new content of each file that changes, by its path in the suite. Nothing is written.
pub fn apply(loaded: &LoadedSuite, edits: &[Edit]) -> io::Result<BTreeMap<String, String>> {
    edit_cases(loaded, edits, |edit| &edit.case, edited, ["", "; change its lines by hand"])
        .map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Edits the text of each case and returns the new content of each file that changes; nothing if `edit` fails for any.
/// `advice` is for a file that changed meanwhile, and for one that cannot be edited.
pub(super) fn edit_cases<T>(
    loaded: &LoadedSuite,
    edits: &[T],
    case: impl Fn(&T) -> &CaseId,
    edit: impl Fn(&str, &[&T], Syntax) -> Option<String>,
    advice: [&str; 2],
) -> Result<BTreeMap<String, String>, String> {
    const LISTED: &str = "cases.jsonl";
    let read = |file: &str| {
        let changed = || format!("{} changed while it was being read{}", loaded.files.display(file), advice[0]);
        loaded.text(file).ok_or_else(changed)
    };
    let mut by_case: BTreeMap<&CaseId, Vec<&T>> = BTreeMap::new();
    for edit in edits {
        by_case.entry(case(edit)).or_default().push(edit);
    }
    let mut changed = BTreeMap::new();
    let mut unwritable = Vec::new();
    let mut listed: BTreeMap<usize, Vec<&T>> = BTreeMap::new();
    for (case, edits) in by_case {
        match loaded.stated_in.get(case) {
            Some(StatedIn::File(file)) => match edit(&read(file)?, &edits, Syntax::Yaml) {
                Some(text) => drop(changed.insert(file.clone(), text)),
                None => unwritable.push(loaded.files.display(file)),
            },
            Some(StatedIn::Line(number)) => drop(listed.insert(*number, edits)),
            None => {}
        }
    }
    if !listed.is_empty() {
        let text = read(LISTED)?;
        let mut out = String::with_capacity(text.len());
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let body = line.trim_end_matches(['\n', '\r']);
            match listed.get(&number).map(|edits| edit(body, edits, Syntax::Json)) {
                None => out.push_str(body),
                Some(Some(new)) => out.push_str(&new),
                Some(None) => unwritable.push(format!("{}:{number}", loaded.files.display(LISTED))),
            }
            out.push_str(&line[body.len()..]);
        }
        changed.insert(LISTED.to_owned(), out);
    }
    if unwritable.is_empty() {
        return Ok(changed);
    }
    Err(format!("{} is laid out in a way that cannot be edited safely{}", unwritable.join(", "), advice[1]))
}

pub(super) fn parse(text: &str, syntax: Syntax) -> Option<Node> {
    match syntax {
        Syntax::Yaml => yaml::parse(text).ok(),
        _ => json::parse(text).ok(),
    }
}

/// The case that a text states; `None` if it has faults.
pub(super) fn decoded(text: &str, syntax: Syntax) -> Option<CaseV1> {
    let decoded = decode_bytes::<CaseV1>("", text.as_bytes(), syntax, &schema_of::<CaseV1>());
    decoded.value.filter(|_| decoded.faults.is_empty()).map(|(case, _)| case)
}

/// The text of a case with changed values; `None` if it could not be read again.
fn edited(text: &str, edits: &[&Edit], syntax: Syntax) -> Option<String> {
    let node = parse(text, syntax)?;
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    for edit in edits {
        let at = |key: &'static str| [Segment::Key("issues"), Segment::Index(edit.golden), Segment::Key(key)];
        let value = edit.value.to_string();
        if let Some(there) = node.get(&at(edit.key)) {
            splices.push((there.span.clone(), value));
        } else if let Some(neighbour) = node.get(&at("line_start")).filter(|_| !edit.needless) {
            // A new key is added after the line it belongs to, in the style of the file.
            let Range { start, end } = neighbour.span;
            let lead = &text[line_start(text, start)..start];
            let added = if syntax == Syntax::Yaml && !lead.contains('{') {
                let indent: String = lead.chars().take_while(|c| *c == ' ' || *c == '-').collect();
                format!("\n{}{}: {value}", indent.replace('-', " "), edit.key)
            } else {
                format!(", \"{}\": {value}", edit.key)
            };
            splices.push((end..end, added));
        }
    }
    let out = splice(text, splices);
    parse(&out, syntax).map(|_| out)
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

pub(super) fn splice(text: &str, mut splices: Vec<(Range<usize>, String)>) -> String {
    splices.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
    let mut out = text.to_owned();
    for (range, new) in splices {
        out.replace_range(range, &new);
    }
    out
}
