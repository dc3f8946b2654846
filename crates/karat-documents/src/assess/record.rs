//! Parses a golden record and checks what can be checked without its template and documents.

use karat_core::assessment::text::tokens;
use karat_format::diagnostic::{Diagnostic, Fault};
use karat_format::document::{Decoded, Document, Segment, Syntax, Value, decode_bytes, schema_of};
use karat_format::golden_record::{GoldenRecordV0_4, PartV0_4, RecordVersion, RequirementV0_4};
use karat_format::id_fault;

/// Parses a record. A record whose source has faults is only good for finding more of them.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<(GoldenRecordV0_4, SourceFile), Vec<Diagnostic>> {
    let schema = schema_of::<GoldenRecordV0_4>();
    let (record, mut source) = SourceFile::new(decode_bytes::<GoldenRecordV0_4>(file, bytes, Syntax::Yaml, &schema))?;
    if let Some(fault) = other_version(&source) {
        // The rest of such a file cannot be checked by this version.
        return Err(vec![fault]);
    }
    check(&record, &mut source);
    Ok((record, source))
}

/// A parsed file with its faults, which are reported only at values the author wrote, not at substitutes for faulty ones.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) document: Document,
    pub(super) faults: Vec<Diagnostic>,
}

impl SourceFile {
    pub(super) fn new<T>(Decoded { value, faults }: Decoded<T>) -> Result<(T, Self), Vec<Diagnostic>> {
        match value {
            Some((value, document)) => Ok((value, Self { document, faults })),
            None => Err(faults),
        }
    }

    pub(super) fn report<'p, S: Into<Segment<'p>> + Copy>(
        &mut self,
        path: &[S],
        code: &'static str,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        let path: Vec<Segment<'p>> = path.iter().map(|step| (*step).into()).collect();
        if self.document.has(&path) {
            self.faults.push(Diagnostic { help, ..self.document.at(&path, code, message) });
        }
    }

    pub(super) fn report_key(&mut self, path: &[&str], code: &'static str, message: String, help: Option<String>) {
        self.faults.extend(self.at_key(path, code, message).map(|fault| Diagnostic { help, ..fault }));
    }

    pub(super) fn at_key(&self, path: &[&str], code: &'static str, message: impl Into<String>) -> Option<Diagnostic> {
        let (name, parent) = path.split_last()?;
        let parent: Vec<Segment<'_>> = parent.iter().map(|key| Segment::Key(key)).collect();
        let Value::Object(entries) = &self.document.node.get(&parent)?.value else { return None };
        let (key, _) = entries.iter().find(|(key, _)| key.name == *name)?;
        Some(self.document.source.diagnostic(Fault::new(code, key.span.clone(), message)))
    }

    /// Reports a key that is not a valid id.
    pub(super) fn check_key(&mut self, path: &[&str]) {
        if let Some(fault) = path.last().and_then(|id| id_fault(&[], id)) {
            self.report_key(path, fault.code, fault.message, None);
        }
    }
}

fn other_version(source: &SourceFile) -> Option<Diagnostic> {
    let stated = match &source.document.node.get(&["schema_version".into()])?.value {
        Value::String(text) if text == RecordVersion::KNOWN => return None,
        Value::String(text) => text.clone(),
        Value::Float(number) if number.to_string() != RecordVersion::KNOWN => number.to_string(),
        Value::Int(number) => number.to_string(),
        _ => return None,
    };
    let known = RecordVersion::KNOWN;
    let message = format!("records of version {stated:?} are not known; this version of Karat reads {known:?}");
    let help = format!("bring the record into the form of {known}, as docs/formats.md has it");
    Some(source.document.at(&["schema_version".into()], "unknown-version", message).with_help(help))
}

fn check(record: &GoldenRecordV0_4, source: &mut SourceFile) {
    for (key, id) in [("bundle_id", &record.bundle_id), ("template_id", &record.template_id)] {
        if let Some(fault) = id_fault(&[], id).filter(|_| !id.is_empty()) {
            source.report(&[key], fault.code, fault.message, None);
        }
    }
    if record.template_id.contains(['/', '\\']) && id_fault(&[], &record.template_id).is_none() {
        let message = format!("template_id {:?}: expected the name of one folder below templates/", record.template_id);
        source.report(&["template_id"], "bad-id", message, None);
    }
    for (question, _) in record.assumptions.question_answers.iter() {
        source.check_key(&["assumptions", "question_answers", question]);
    }
    if record.requirements.is_empty() {
        let message = "a record says what is true of at least one requirement, and this one has none";
        source.report(&["requirements"], "no-requirements", message, None);
    }
    for (id, requirement) in record.requirements.iter() {
        source.check_key(&["requirements", id]);
        check_requirement(id, requirement, source);
    }
}

/// No clause is as long, and comparing takes time proportional to the product of both lengths.
const MOST_WORDS: usize = 50_000;

pub(super) const BLOCKS: [&str; 2] = ["primary_evidence", "supporting_evidence"];

fn check_requirement(id: &str, requirement: &RequirementV0_4, source: &mut SourceFile) {
    for (block, parts) in BLOCKS.into_iter().zip([&requirement.primary_evidence, &requirement.supporting_evidence]) {
        for (part_id, part) in parts.iter() {
            let path = ["requirements", id, block, part_id];
            source.check_key(&path);
            check_part(&path, part, source);
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
        source.report_key(&second, "part-in-both", message, Some(help.to_owned()));
    }
}

fn check_part(path: &[&str; 4], part: &PartV0_4, source: &mut SourceFile) {
    let [root, id, block, part_id] = *path;
    for (key, text) in [("document", &part.document), ("title", &part.title), ("text", &part.text)] {
        let (code, message) = match key {
            // The schema already rejects empty values.
            _ if text.is_empty() => continue,
            _ if text.trim().is_empty() => ("blank", format!("`{key}` of `{part_id}` is blank")),
            "document" if text.contains(['/', '\\']) || text.chars().any(char::is_control) => {
                let expected = "the name of a file beside the record, without a path";
                ("not-a-name", format!("document {text:?}: expected {expected}"))
            }
            "document" => continue,
            _ => match tokens(text).len() {
                0 => ("blank", format!("`{key}` of `{part_id}` has no words")),
                n if n > MOST_WORDS => {
                    ("too-long", format!("`{key}` of `{part_id}` has {n} words; expected at most {MOST_WORDS}"))
                }
                _ => continue,
            },
        };
        source.report(&[root, id, block, part_id, key], code, message, None);
    }
}
