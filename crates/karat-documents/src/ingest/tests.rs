//! Refusals of documents, and helpers that show documents as text.

use super::*;
use std::collections::BTreeSet;

/// Reads a document that must be accepted.
#[track_caller]
pub(super) fn read(name: &str, bytes: &[u8]) -> Document {
    ingest(name, bytes, &IngestLimits::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The sections of a document, one heading per line with its text below, then the notes.
#[track_caller]
pub(super) fn draw(name: &str, bytes: &[u8]) -> String {
    let document = read(name, bytes);
    let mut out = String::new();
    for section in &document.sections {
        let number = section.number.as_ref().map_or_else(String::new, |number| format!(" [{number}]"));
        let above = section.path.last().map_or_else(String::new, |above| format!(" in «{above}»"));
        out.push_str(&format!("{} «{}»{number} {}{above}\n", section.level, section.heading, section.place));
        out.extend(section.body.lines().map(|line| format!("{}\n", format!("  {line}").trim_end())));
    }
    out.extend(document.notes.iter().map(|note| format!("note: {note}\n")));
    out
}

#[track_caller]
pub(super) fn refusal(name: &str, bytes: &[u8]) -> String {
    ingest(name, bytes, &IngestLimits::default())
        .map(|document| document.sections.len())
        .expect_err("it was taken")
        .to_string()
}

#[test]
fn every_format_has_unique_extensions() {
    let mut endings = BTreeSet::new();
    for format in FORMATS {
        assert!(!format.extensions.is_empty(), "{}", format.name);
        for extension in format.extensions {
            assert!(endings.insert(*extension), "{extension} is used twice");
            assert_eq!(format_of(&format!("a.b.{}", extension.to_uppercase())).map(|f| f.name), Some(format.name));
        }
    }
    assert!(format_of("md").is_none() && format_of("a.exe").is_none() && format_of("").is_none());
}

#[track_caller]
fn check_refused(name: &str, bytes: &[u8], expect: &str) {
    let limits = IngestLimits { file_bytes: 1000, ..IngestLimits::default() };
    let error = ingest(name, bytes, &limits).expect_err("it was taken").to_string();
    assert_eq!(error, expect);
}

#[test]
fn unsupported_files_are_refused_with_help() {
    check_refused("a.exe", b"x", "a.exe: unsupported kind of document; supported: .md, .markdown, .docx, .pdf");
    check_refused("a.md", b"", "a.md: the file is empty; is it the right one?");
    check_refused(
        "a.md",
        &[b'x'; 1001],
        "a.md: the file exceeds the limit for one document (1000 bytes); split it, or remove what it does not need",
    );
    check_refused(
        "a.md",
        b"%PDF-1.7 ...",
        "a.md: this is a PDF, not what its name says; give it the ending of what it is",
    );
    check_refused(
        "a.md",
        b"PK\x03\x04 ...",
        "a.md: this is a zip archive, perhaps a .docx, not what its name says; give it the ending of what it is",
    );
}

#[test]
fn panicking_and_slow_readers_are_errors() {
    let limits = |seconds| IngestLimits { seconds, ..IngestLimits::default() };
    let (patient, hasty) = (limits(5), limits(0));
    let source = Source { name: "a.pdf", bytes: b"", limits: &patient };
    assert_eq!(run_guarded(&source, "pdf", || Ok(is_guarded())), Ok(true));
    assert!(!is_guarded());
    let broken: Result<(), _> = run_guarded(&source, "pdf", || panic!("bad xref"));
    let expect = "a.pdf: this pdf is damaged in a way that breaks its reader; open it and save it again";
    assert_eq!(broken.expect_err("the reader panicked").to_string(), expect);
    let slow: Result<(), _> = run_guarded(&Source { limits: &hasty, ..source }, "pdf", || {
        std::thread::sleep(Duration::from_secs(2));
        Ok(())
    });
    let expect = "a.pdf: reading it took longer than 0 s and was stopped; is it damaged? Save it again, or split it";
    assert_eq!(slow.expect_err("the reader is slow").to_string(), expect);
}

#[test]
fn busy_machine_does_not_stop_a_reader() {
    let check = |spent, elapsed, expect| {
        let [spent, elapsed, limit] = [spent, elapsed, 60].map(Duration::from_secs);
        assert_eq!(took_too_long(spent, elapsed, limit), expect, "{spent:?} of {elapsed:?}");
    };
    check(5, 70, false);
    check(59, 600, false);
    check(60, 60, true);
    // It waits for something that never comes.
    check(0, 1_200, true);
}

#[test]
fn documents_round_trip() {
    let text = "front\n\n# A\n\ntext\n\n## 1.2 B\n\n- one\n- two\n";
    let document = ingest("a.md", text.as_bytes(), &IngestLimits::default()).unwrap();
    let kept = serde_json::to_string(&IngestedV1::from(&document)).unwrap();
    let read: IngestedV1 = serde_json::from_str(&kept).unwrap();
    assert_eq!(stored_document(read.clone(), "a.md"), Some(document));
    assert_eq!(stored_document(IngestedV1 { format: "odt".into(), ..read }, "a.md"), None);
}
