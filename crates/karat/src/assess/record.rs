//! A golden record read from its text, with everything that can be said of it alone.

use crate::diagnostic::Diagnostic;
use crate::document::{Document, Fault, Segment, Syntax, Value, decode_bytes, schema_of};
use crate::format::golden_record::{GoldenRecordV0_4, PartV0_4, RecordVersion, RequirementV0_4};
use crate::format::id_fault;
use karat_core::assessment::text::tokens;

/// A record as it is written, and all that is wrong with it. With faults it is good for finding more of them only.
pub(super) struct Written {
    pub(super) record: GoldenRecordV0_4,
    pub(super) page: Page,
}

/// Reads a record; all its faults are told at once.
pub(super) fn read(file: &str, bytes: &[u8]) -> (Option<Written>, Vec<Diagnostic>) {
    let decoded = decode_bytes::<GoldenRecordV0_4>(file, bytes, Syntax::Yaml, &schema_of::<GoldenRecordV0_4>());
    let mut faults = decoded.faults;
    let Some((record, document)) = decoded.value else { return (None, faults) };
    let page = Page(document);
    if let Some(fault) = other_version(&page) {
        // What else such a file says is not for this version to judge.
        return (None, vec![fault]);
    }
    check(&record, &page, &mut faults);
    (Some(Written { record, page }), faults)
}

/// A file with its places. Only what its author wrote is remarked on; stand-ins for faulty values are not.
#[derive(Debug)]
pub(super) struct Page(pub(super) Document);

impl Page {
    /// A fault at a value.
    pub(super) fn at(&self, path: &[&str], code: &'static str, message: impl Into<String>) -> Option<Diagnostic> {
        let steps = steps(path);
        self.0.has(&steps).then(|| self.0.at(&steps, code, message))
    }

    /// A fault at the key of a value.
    pub(super) fn at_key(&self, path: &[&str], code: &'static str, message: impl Into<String>) -> Option<Diagnostic> {
        let span = self.key_span(path)?;
        Some(self.0.source.diagnostic(Fault::new(code, span, message)))
    }

    /// The line of a key.
    fn line_of_key(&self, path: &[&str]) -> Option<usize> {
        self.at_key(path, "", "").map(|there| there.line)
    }

    fn key_span(&self, path: &[&str]) -> Option<std::ops::Range<usize>> {
        let (name, parent) = path.split_last()?;
        let Value::Object(entries) = &self.0.node.get(&steps(parent))?.value else { return None };
        entries.iter().find(|(key, _)| key.name == *name).map(|(key, _)| key.span.clone())
    }
}

fn steps<'p>(path: &[&'p str]) -> Vec<Segment<'p>> {
    path.iter().map(|key| Segment::Key(key)).collect()
}

fn other_version(page: &Page) -> Option<Diagnostic> {
    let stated = match &page.0.node.get(&["schema_version".into()])?.value {
        Value::String(text) if text == RecordVersion::KNOWN => return None,
        Value::String(text) => text.clone(),
        Value::Float(number) if number.to_string() != RecordVersion::KNOWN => number.to_string(),
        Value::Int(number) => number.to_string(),
        _ => return None,
    };
    let known = RecordVersion::KNOWN;
    let message = format!("records of version {stated:?} are not known; this version of Karat reads {known:?}");
    let span = page.0.node.place(&["schema_version".into()]);
    let help = format!("bring the record into the form of {known}, as docs/formats.md has it");
    Some(page.0.source.diagnostic(Fault::new("unknown-version", span, message).with_help(help)))
}

fn check(record: &GoldenRecordV0_4, page: &Page, faults: &mut Vec<Diagnostic>) {
    for (key, id) in [("bundle_id", &record.bundle_id), ("template_id", &record.template_id)] {
        if let Some(fault) = id_fault(&[], id).filter(|_| !id.is_empty()) {
            faults.extend(page.at(&[key], fault.code, fault.message));
        }
    }
    if record.template_id.contains(['/', '\\']) && id_fault(&[], &record.template_id).is_none() {
        let message = format!("template_id {:?}: expected the name of one folder below templates/", record.template_id);
        faults.extend(page.at(&["template_id"], "bad-id", message));
    }
    for (question, _) in record.assumptions.question_answers.iter() {
        bad_key(&["assumptions", "question_answers", question], page, faults);
    }
    if record.requirements.is_empty() {
        let message = "a record says what is true of at least one requirement, and this one has none";
        faults.extend(page.at(&["requirements"], "no-requirements", message));
    }
    for (id, requirement) in record.requirements.iter() {
        bad_key(&["requirements", id], page, faults);
        requirement_faults(id, requirement, page, faults);
    }
}

/// How many words a golden part may have: no clause has as many, and comparing takes time by the product of both sides.
const MOST_WORDS: usize = 50_000;

/// The two blocks of evidence, by the names they have in files.
pub(super) const BLOCKS: [&str; 2] = ["primary_evidence", "supporting_evidence"];

fn requirement_faults(id: &str, requirement: &RequirementV0_4, page: &Page, faults: &mut Vec<Diagnostic>) {
    for (block, parts) in BLOCKS.into_iter().zip([&requirement.primary_evidence, &requirement.supporting_evidence]) {
        for (part_id, part) in parts.iter() {
            let path = ["requirements", id, block, part_id];
            bad_key(&path, page, faults);
            part_faults(&path, part, page, faults);
        }
    }
    for (part_id, _) in requirement.supporting_evidence.iter() {
        if requirement.primary_evidence.get(part_id).is_none() {
            continue;
        }
        let [first, second] = BLOCKS.map(|block| ["requirements", id, block, part_id]);
        let line = page.line_of_key(&first).unwrap_or_default();
        let message = format!("the part `{part_id}` stands under primary_evidence already, on line {line}");
        let help = "a part decides or it backs what decides: remove one of the two, or rename one that is another part";
        faults.extend(page.at_key(&second, "part-in-both", message).map(|fault| fault.with_help(help)));
    }
}

fn part_faults(path: &[&str; 4], part: &PartV0_4, page: &Page, faults: &mut Vec<Diagnostic>) {
    let [root, id, block, part_id] = *path;
    for (key, text) in [("document", &part.document), ("title", &part.title), ("text", &part.text)] {
        let path = [root, id, block, part_id, key];
        // What is empty was refused by the schema.
        if text.is_empty() {
            continue;
        }
        if text.trim().is_empty() {
            faults.extend(page.at(&path, "blank", format!("`{key}` of `{part_id}` is blank")));
        } else if key == "document" && (text.contains(['/', '\\']) || text.chars().any(char::is_control)) {
            let message = format!("document {text:?}: expected the name of a file beside the record, without a path");
            faults.extend(page.at(&path, "not-a-name", message));
        } else if key != "document" {
            let words = tokens(text).len();
            if words == 0 {
                faults.extend(page.at(&path, "blank", format!("`{key}` of `{part_id}` has no words")));
            } else if words > MOST_WORDS {
                let message = format!("`{key}` of `{part_id}` has {words} words; expected at most {MOST_WORDS}");
                faults.extend(page.at(&path, "too-long", message));
            }
        }
    }
}

fn bad_key(path: &[&str], page: &Page, faults: &mut Vec<Diagnostic>) {
    if let Some(fault) = path.last().and_then(|id| id_fault(&[], id)) {
        faults.extend(page.at_key(path, fault.code, fault.message));
    }
}
