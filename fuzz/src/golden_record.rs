//! Golden records with their template and a document.

use karat_core::assessment::record::{GoldenPart, GoldenRecord, Requirement};
use karat_documents::DocumentError;
use karat_documents::assess::lint::lint;
use karat_documents::assess::{Bundle, DocumentSource, IngestedBefore, discover, load};
use karat_documents::ingest::{Document, IngestLimits, ingest};
use karat_format::diagnostic::Diagnostic;
use karat_format::diagnostic_render::render;
use karat_format::golden_record::{AssumptionsV0_4, GoldenRecordV0_4, PartV0_4, RecordVersion, RequirementV0_4};
use karat_format::ordered_map::OrderedMap;
use std::collections::BTreeSet;
use std::path::Path;

/// The files of a bundle, named by letters from `a` on, and what is in those that an input does not give.
pub const FILES: [(&str, &str); 3] = [
    ("bundles/one/one.golden-assessment.yml", ""),
    (
        "bundles/one/contract.md",
        "# Agreement\n\n## 1. Security\n\nThe Processor shall protect personal data.\n\n## 2. Notices\n\nNotices are sent by post.\n",
    ),
    (
        "templates/privacy/config.yml",
        "requirements:\n  security: {title: Security, description: Data are protected.}\n  notices: {title: Notices, description: Ways are stated.}\n",
    ),
];

/// Ends a file; the byte never occurs in UTF-8.
const END: u8 = 0xff;

/// A record of any bytes is taken or refused, the lints end, and what is taken survives being written.
pub fn check(bytes: &[u8]) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let Ok(folder) = folder else { return };
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        let made = path.parent().is_none_or(|parent| std::fs::create_dir_all(parent).is_ok());
        assert!(made && std::fs::write(path, content).is_ok(), "{name} cannot be written");
    };
    write("karat.toml", b"[suite]\nname = \"s\"\nkind = \"assessment\"\n");
    for (name, content) in FILES {
        write(name, content.as_bytes());
    }
    for (name, content) in bytes.split(|byte| *byte == END).filter_map(|file| file.split_first()) {
        write(FILES[usize::from(name.wrapping_sub(b'a')) % FILES.len()].0, content);
    }
    let bundle = match loaded(folder.path()) {
        Ok(bundle) => bundle,
        Err(faults) => {
            assert!(!faults.is_empty(), "refused without a reason");
            let few = &faults[..faults.len().min(3)];
            assert!(!render(few, false, 80).contains('\u{1b}'), "a terminal escape came through");
            return;
        }
    };
    let parts = |bundle: &Bundle| {
        let requirements = bundle.record.requirements.iter();
        requirements.map(|requirement| requirement.evidence_parts().count()).collect::<Vec<_>>()
    };
    let standings: Vec<usize> = bundle.evidence_locations.iter().map(Vec::len).collect();
    assert_eq!(standings, parts(&bundle), "every part of a record that is taken stands somewhere");
    render(&lint(&bundle), false, 80);
    let text = serde_json::to_string(&written(&bundle.record)).unwrap_or_default();
    write(FILES[0].0, text.as_bytes());
    match loaded(folder.path()) {
        Ok(again) => assert_eq!(again.record, bundle.record),
        Err(faults) => panic!("{text}\n{}", render(&faults, false, 100)),
    }
}

/// The record as its file has it.
fn written(record: &GoldenRecord) -> GoldenRecordV0_4 {
    let parts = |parts: &[GoldenPart]| {
        let part = |part: &GoldenPart| PartV0_4 {
            document: part.document.clone(),
            title: part.title.clone(),
            text: part.text.clone(),
        };
        OrderedMap(parts.iter().map(|golden| (golden.id.to_string(), part(golden))).collect())
    };
    let requirement = |requirement: &Requirement| RequirementV0_4 {
        assessment: requirement.assessment,
        primary_evidence: parts(&requirement.primary),
        supporting_evidence: parts(&requirement.supporting),
        rationale: requirement.rationale.clone(),
    };
    let answers = record.question_answers.iter().map(|given| (given.question.clone(), given.answer.clone()));
    GoldenRecordV0_4 {
        schema_version: RecordVersion::V0_4,
        bundle_id: record.bundle.clone(),
        template_id: record.template.clone(),
        assumptions: AssumptionsV0_4 { question_answers: OrderedMap(answers.collect()) },
        requirements: OrderedMap(
            record.requirements.iter().map(|stated| (stated.id.to_string(), requirement(stated))).collect(),
        ),
    }
}

/// Reads documents within limits.
struct Limited(IngestLimits);

impl DocumentSource for Limited {
    fn read(&mut self, _: &str, name: &str, bytes: &[u8]) -> Result<Document, DocumentError> {
        ingest(name, bytes, &self.0)
    }

    fn ingested_before(&mut self, _: &str, _: &BTreeSet<&str>) -> Vec<IngestedBefore> {
        Vec::new()
    }
}

fn loaded(folder: &Path) -> Result<Bundle, Vec<Diagnostic>> {
    let places = discover(&[folder.display().to_string()], false).map_err(|faults| faults.0)?;
    let limits = IngestLimits { sections: 2_000, seconds: 8, ..IngestLimits::default() };
    let Some(place) = places.first() else { panic!("the record is not found") };
    load(place, &mut Limited(limits))
}
