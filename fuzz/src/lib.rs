//! Properties that must hold for any bytes. The fuzz targets look for bytes that break them; a plain test of the `karat` crate
//! includes this folder and checks them on every fixture.

pub mod answers;
pub mod audit;
pub mod document;
pub mod golden_record;
pub mod importers;
pub mod ingest;
pub mod places;
pub mod records;
pub mod results;
pub mod sarif;
pub mod seeds;
pub mod settings;
pub mod stored;
pub mod suite_tree;
pub mod symbols;
pub mod tool_output;
pub mod trec;

/// A property, under the name of its fuzz target.
pub struct Target {
    /// The name of the file in `fuzz_targets`.
    pub name: &'static str,
    /// Panics where the property does not hold.
    pub check: fn(&[u8]),
}

/// All properties.
pub static TARGETS: &[Target] = &[
    Target { name: "sarif", check: sarif::check },
    Target { name: "importers", check: importers::check },
    Target { name: "document", check: document::check },
    Target { name: "submission", check: records::submission },
    Target { name: "judgements", check: records::judgements },
    Target { name: "suite_tree", check: suite_tree::check },
    Target { name: "symbols", check: symbols::check },
    Target { name: "globs_paths_keys", check: places::check },
    Target { name: "sarif_keys", check: sarif::keys },
    Target { name: "audit", check: audit::check },
    Target { name: "trec", check: trec::check },
    Target { name: "ingest_markdown", check: ingest::markdown },
    Target { name: "ingest_docx", check: ingest::docx },
    Target { name: "ingest_pdf", check: ingest::pdf },
    Target { name: "golden_record", check: golden_record::check },
    Target { name: "answers", check: answers::check },
    Target { name: "profile", check: settings::profile },
    Target { name: "manifest", check: settings::manifest },
    Target { name: "report", check: results::report },
    Target { name: "baseline", check: results::baseline },
    Target { name: "labels", check: results::labels },
    Target { name: "tables", check: results::tables },
    Target { name: "store_import", check: stored::check },
    Target { name: "tool_output", check: tool_output::check },
];
