//! Changing single values of a suite's files in place: comments, order and layout stay as their author left them.

use super::{LoadedSuite, StatedIn};
use karat_core::ids::CaseId;
use karat_format::document::{Node, Segment, json, yaml};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// A value of a golden to change.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The case.
    pub case: CaseId,
    /// The golden's index in it.
    pub golden: usize,
    /// The key.
    pub key: &'static str,
    /// The new value, as JSON, which YAML reads too.
    pub value: serde_json::Value,
    /// Whether the key need not be added where it is absent.
    pub needless: bool,
}

/// Makes the edits and returns the new content of each file that changes, by its path in the suite. Nothing is written.
pub fn apply(loaded: &LoadedSuite, edits: &[Edit]) -> io::Result<BTreeMap<String, String>> {
    let mut by_case: BTreeMap<&CaseId, Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        by_case.entry(&edit.case).or_default().push(edit);
    }
    let mut changed: BTreeMap<String, String> = BTreeMap::new();
    let mut listed: BTreeMap<usize, Vec<&Edit>> = BTreeMap::new();
    for (case, edits) in by_case {
        match loaded.stated_in.get(case) {
            Some(StatedIn::File(file)) => {
                let text = read(loaded, file)?;
                let node = yaml::parse(&text).map_err(|_| unreadable(file))?;
                let new = edited(&text, &node, &edits, Syntax::Yaml);
                // An odd layout must never cost the suite: what cannot be read again is not written.
                yaml::parse(&new).map_err(|_| unwritable(file))?;
                changed.insert(file.clone(), new);
            }
            Some(StatedIn::Line(number)) => {
                listed.insert(*number, edits);
            }
            None => {}
        }
    }
    if !listed.is_empty() {
        let text = read(loaded, "cases.jsonl")?;
        let mut out = String::with_capacity(text.len());
        for (i, line) in text.split_inclusive('\n').enumerate() {
            match listed.get(&(i + 1)) {
                Some(edits) => {
                    let body = line.trim_end_matches(['\n', '\r']);
                    let node = json::parse(body).map_err(|_| unreadable("cases.jsonl"))?;
                    let new = edited(body, &node, edits, Syntax::Json);
                    json::parse(&new).map_err(|_| unwritable("cases.jsonl"))?;
                    out.push_str(&new);
                    out.push_str(&line[body.len()..]);
                }
                None => out.push_str(line),
            }
        }
        changed.insert("cases.jsonl".to_owned(), out);
    }
    Ok(changed)
}

#[derive(Clone, Copy, PartialEq)]
enum Syntax {
    Yaml,
    Json,
}

fn edited(text: &str, node: &Node, edits: &[&Edit], syntax: Syntax) -> String {
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    for edit in edits {
        let at = |key: &'static str| [Segment::Key("issues"), Segment::Index(edit.golden), Segment::Key(key)];
        let value = edit.value.to_string();
        if let Some(there) = node.get(&at(edit.key)) {
            splices.push((there.span.clone(), value));
        } else if let Some(neighbour) = node.get(&at("line_start")).filter(|_| !edit.needless) {
            // A key that is new goes behind the line it belongs to, in the way the file is written.
            let end = neighbour.span.end;
            let block = syntax == Syntax::Yaml && !inside_flow(text, &neighbour.span);
            let added = if block {
                let start = text[..neighbour.span.start].rfind('\n').map_or(0, |newline| newline + 1);
                let lead: String = text[start..].chars().take_while(|c| *c == ' ' || *c == '-').collect();
                format!("\n{}{}: {value}", lead.replace('-', " "), edit.key)
            } else {
                format!(", \"{}\": {value}", edit.key)
            };
            splices.push((end..end, added));
        }
    }
    splices.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
    let mut out = text.to_owned();
    for (range, value) in splices {
        out.replace_range(range, &value);
    }
    out
}

/// Whether a value stands in braces on its line.
fn inside_flow(text: &str, span: &Range<usize>) -> bool {
    let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..span.start].contains('{')
}

fn read(loaded: &LoadedSuite, file: &str) -> io::Result<String> {
    let bytes = loaded.files.read(file)?.ok_or_else(|| unreadable(file))?;
    String::from_utf8(bytes).map_err(|_| unreadable(file))
}

fn unwritable(file: &str) -> io::Error {
    let message = format!("{file} is laid out in a way that cannot be edited safely; change its lines by hand");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn unreadable(file: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{file} changed while it was being read"))
}
