//! Documents: any bytes are taken apart or refused, within bounds.

use karat_documents::ingest::{Document, IngestLimits, ingest, is_guarded};
use std::collections::BTreeSet;
use std::sync::Once;

/// As [`check`], for Markdown.
pub fn markdown(bytes: &[u8]) {
    check("in.md", bytes);
}

/// As [`check`], for Word documents.
pub fn docx(bytes: &[u8]) {
    check("in.docx", bytes);
}

/// As [`check`], for PDFs.
pub fn pdf(bytes: &[u8]) {
    check("in.pdf", bytes);
}

/// A document is taken apart or refused, both times the same, in time; its sections have ids of their own and hang together.
fn check(name: &str, bytes: &[u8]) {
    // Libraries that panic on a damaged document are caught and told; only other panics are findings.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !is_guarded() {
                told(info);
            }
        }));
    });
    let limits = IngestLimits {
        unpacked_bytes: 16 << 20,
        part_bytes: 8 << 20,
        pages: 50,
        sections: 2_000,
        seconds: 8,
        ..IngestLimits::default()
    };
    let first = ingest(name, bytes, &limits);
    match &first {
        Ok(document) => sound(document),
        Err(error) => {
            let told = error.to_string();
            assert!(told.starts_with(name) && told.len() < 2_000, "{told}");
            assert!(!told.contains("took longer"), "{told}");
        }
    }
    assert_eq!(first, ingest(name, bytes, &limits), "read again it is another");
}

fn sound(document: &Document) {
    let mut ids = BTreeSet::new();
    for section in &document.sections {
        assert!(ids.insert(&section.id), "{} stands twice", section.id);
        assert!(section.place.first >= 1 && section.place.first <= section.place.last, "{:?}", section.place);
        assert!(section.path.len() <= usize::from(section.level), "{section:?}");
        assert!(section.level > 0 || section.heading.is_empty(), "{section:?}");
        assert!(!section.heading.contains('\n') || document.format != "markdown", "{:?}", section.heading);
    }
}
