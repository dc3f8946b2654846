//! Reading SARIF, and writing identity keys into it.

use karat_core::identity::key;
use karat_core::profile::IdentityRules;
use karat_import::{ImportError, ImportedData, importer, input, sarif};
use std::io::{self, Read};
use std::path::Path;

/// Any bytes are read or refused whole, the same however they arrive, and no finding is out of bounds.
pub fn check(bytes: &[u8]) {
    let (result, harvest) = import(Box::new(bytes));
    match &result {
        Err(_) => assert!(harvest.findings.is_empty() && harvest.tools.is_empty() && harvest.failures.is_empty()),
        Ok(()) => {
            for reported in &harvest.findings {
                let finding = &reported.finding;
                assert!(finding.title.is_some() || finding.message.is_some() || finding.rule_id.is_some());
                assert!(finding.line_start.is_none_or(|start| start > 0 && finding.line_end >= Some(start)));
                assert!(finding.confidence.is_none_or(|value| (0.0..=1.0).contains(&value)));
            }
        }
    }
    if bytes.len() < 4096 {
        let (again, same) = import(Box::new(Drops(bytes)));
        // Of several faults the one met first is told, so only whether there is one must be the same.
        assert_eq!(again.is_ok(), result.is_ok(), "whether it can be read depends on how the bytes arrive");
        assert_eq!(
            (same.findings, same.tools, same.failures, same.notes),
            (harvest.findings, harvest.tools, harvest.failures, harvest.notes)
        );
    }
}

/// Writing keys changes nothing of the findings but their keys.
pub fn keys(bytes: &[u8]) {
    let (Ok(()), before) = import(Box::new(bytes)) else { return };
    let Some(file) = on_disk(bytes) else { return };
    let rules =
        IdentityRules { chunk_anchors: true, require_anchor: false, rule_fallback: true, include_source: false };
    let mut copy = Vec::new();
    let written = sarif::write_keys(file.path(), &mut copy, &rules).map_err(|error| error.to_string());
    let (read, after) = import(Box::new(copy.as_slice()));
    assert_eq!(read, Ok(()), "the copy cannot be read");
    assert_eq!(after.findings.len(), before.findings.len(), "findings were lost or made");
    let mut keyed = 0;
    for (mut old, new) in before.findings.into_iter().zip(after.findings) {
        if let Some(key) = key::computed_key(&old.finding, &rules) {
            keyed += 1;
            old.finding.identity_key = Some(key);
        }
        assert_eq!(new, old);
    }
    assert!(written.is_ok_and(|count| count >= keyed), "keys were counted wrongly");
}

fn import(reader: Box<dyn Read + '_>) -> (Result<(), String>, ImportedData) {
    let mut harvest = ImportedData::default();
    let Some(sarif) = importer("sarif") else { return (Err("no importer is called sarif".to_owned()), harvest) };
    let input = input::from_reader(Path::new("in.sarif"), reader);
    let result = input.and_then(|input| sarif.read(input, &mut harvest));
    (result.map_err(|error: ImportError| error.to_string()), harvest)
}

/// The bytes as a file.
pub fn on_disk(bytes: &[u8]) -> Option<tempfile::NamedTempFile> {
    let file = tempfile::NamedTempFile::new().ok()?;
    std::fs::write(file.path(), bytes).ok()?;
    Some(file)
}

/// Bytes that arrive one by one.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(1);
        self.0.read(&mut buffer[..most])
    }
}
