//! Parses a golden record and checks what can be checked without its template and documents.

use karat_core::assessment::text::tokens;
use karat_format::diagnostic::Diagnostic;
use karat_format::document::{Document, Fault, Segment, Syntax, Value, decode_bytes, schema_of};
use karat_format::golden_record::{GoldenRecordV0_4, PartV0_4, RecordVersion, RequirementV0_4};
use karat_format::id_fault;

/// Parses a record; all faults are reported at once. A record that has faults is only good for finding more of them.
pub(super) fn read(file: &str, bytes: &[u8]) -> (Option<(GoldenRecordV0_4, SourceFile)>, Vec<Diagnostic>) {
    let decoded = decode_bytes::<GoldenRecordV0_4>(file, bytes, Syntax::Yaml, &schema_of::<GoldenRecordV0_4>());
    let mut faults = decoded.faults;
    let Some((record, document)) = decoded.value else { return (None, faults) };
    let source = SourceFile(document);
    if let Some(fault) = other_version(&source) {
        // The rest of such a file cannot be checked by this version.
        return (None, vec![fault]);
    }
    check(&record, &source, &mut faults);
    (Some((record, source)), faults)
}

/// A parsed file with positions. Faults are reported only at values the author wrote, not at substitutes for faulty ones.
#[derive(Debug)]
pub(super) struct SourceFile(pub(super) Document);

impl SourceFile {
    pub(super) fn at(&self, path: &[&str], code: &'static str, message: impl Into<String>) -> Option<Diagnostic> {
        let steps = steps(path);
        self.0.has(&steps).then(|| self.0.at(&steps, code, message))
    }

    pub(super) fn at_key(&self, path: &[&str], code: &'static str, message: impl Into<String>) -> Option<Diagnostic> {
        let (name, parent) = path.split_last()?;
        let Value::Object(entries) = &self.0.node.get(&steps(parent))?.value else { return None };
        let (key, _) = entries.iter().find(|(key, _)| key.name == *name)?;
        Some(self.0.source.diagnostic(Fault::new(code, key.span.clone(), message)))
    }

    /// Reports a key that is not a valid id.
    pub(super) fn check_key(&self, path: &[&str], faults: &mut Vec<Diagnostic>) {
        if let Some(fault) = path.last().and_then(|id| id_fault(&[], id)) {
            faults.extend(self.at_key(path, fault.code, fault.message));
        }
    }
}

fn steps<'p>(path: &[&'p str]) -> Vec<Segment<'p>> {
    path.iter().map(|key| Segment::Key(key)).collect()
}

fn other_version(source: &SourceFile) -> Option<Diagnostic> {
    let stated = match &source.0.node.get(&["schema_version".into()])?.value {
        Value::String(text) if text == RecordVersion::KNOWN => return None,
        Value::String(text) => text.clone(),
        Value::Float(number) if number.to_string() != RecordVersion::KNOWN => number.to_string(),
        Value::Int(number) => number.to_string(),
        _ => return None,
    };
    let known = RecordVersion::KNOWN;
    let message = format!("records of version {stated:?} are not known; this version of Karat reads {known:?}");
    let span = source.0.node.place(&["schema_version".into()]);
    let help = format!("bring the record into the form of {known}, as docs/formats.md has it");
    Some(source.0.source.diagnostic(Fault::new("unknown-version", span, message).with_help(help)))
}

fn check(record: &GoldenRecordV0_4, source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    for (key, id) in [("bundle_id", &record.bundle_id), ("template_id", &record.template_id)] {
        if let Some(fault) = id_fault(&[], id).filter(|_| !id.is_empty()) {
            faults.extend(source.at(&[key], fault.code, fault.message));
        }
    }
    if record.template_id.contains(['/', '\\']) && id_fault(&[], &record.template_id).is_none() {
        let message = format!("template_id {:?}: expected the name of one folder below templates/", record.template_id);
        faults.extend(source.at(&["template_id"], "bad-id", message));
    }
    for (question, _) in record.assumptions.question_answers.iter() {
        source.check_key(&["assumptions", "question_answers", question], faults);
    }
    if record.requirements.is_empty() {
        let message = "a record says what is true of at least one requirement, and this one has none";
        faults.extend(source.at(&["requirements"], "no-requirements", message));
    }
    for (id, requirement) in record.requirements.iter() {
        source.check_key(&["requirements", id], faults);
        requirement_faults(id, requirement, source, faults);
    }
}

/// No clause is as long, and comparing takes time proportional to the product of both lengths.
const MOST_WORDS: usize = 50_000;

/// The evidence blocks, as named in files.
pub(super) const BLOCKS: [&str; 2] = ["primary_evidence", "supporting_evidence"];

fn requirement_faults(id: &str, requirement: &RequirementV0_4, source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    for (block, parts) in BLOCKS.into_iter().zip([&requirement.primary_evidence, &requirement.supporting_evidence]) {
        for (part_id, part) in parts.iter() {
            let path = ["requirements", id, block, part_id];
            source.check_key(&path, faults);
            part_faults(&path, part, source, faults);
        }
    }
    for (part_id, _) in requirement.supporting_evidence.iter() {
        if requirement.primary_evidence.get(part_id).is_none() {
            continue;
        }
        let [first, second] = BLOCKS.map(|block| ["requirements", id, block, part_id]);
        let line = source.at_key(&first, "", "").map_or(0, |first| first.line);
        let message = format!("the part `{part_id}` stands under primary_evidence already, on line {line}");
        let help = "a part decides or it backs what decides: remove one of the two, or rename one that is another part";
        faults.extend(source.at_key(&second, "part-in-both", message).map(|fault| fault.with_help(help)));
    }
}

fn part_faults(path: &[&str; 4], part: &PartV0_4, source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    let [root, id, block, part_id] = *path;
    for (key, text) in [("document", &part.document), ("title", &part.title), ("text", &part.text)] {
        let path = [root, id, block, part_id, key];
        // The schema already rejects empty values.
        if text.is_empty() {
            continue;
        }
        if text.trim().is_empty() {
            faults.extend(source.at(&path, "blank", format!("`{key}` of `{part_id}` is blank")));
        } else if key == "document" && (text.contains(['/', '\\']) || text.chars().any(char::is_control)) {
            let message = format!("document {text:?}: expected the name of a file beside the record, without a path");
            faults.extend(source.at(&path, "not-a-name", message));
        } else if key != "document" {
            let words = tokens(text).len();
            if words == 0 {
                faults.extend(source.at(&path, "blank", format!("`{key}` of `{part_id}` has no words")));
            } else if words > MOST_WORDS {
                let message = format!("`{key}` of `{part_id}` has {words} words; expected at most {MOST_WORDS}");
                faults.extend(source.at(&path, "too-long", message));
            }
        }
    }
}
