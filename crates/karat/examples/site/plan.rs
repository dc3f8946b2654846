//! Which pages there are, what they are called, and in which order they are read.

/// A group of pages in the navigation.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) pages: &'static [Entry],
}

/// A page.
pub(crate) struct Entry {
    /// The Markdown it is made from, from the root of the repository.
    pub(crate) source: &'static str,
    /// The file it becomes. All lie in one folder, so that every link is a plain name.
    pub(crate) file: &'static str,
    /// What the navigation calls it.
    pub(crate) name: &'static str,
}

const fn page(source: &'static str, file: &'static str, name: &'static str) -> Entry {
    Entry { source, file, name }
}

/// Every page. One below `docs/` that is not here is a fault.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        title: "Start",
        pages: &[
            page("README.md", "index.html", "Karat"),
            page("docs/install.md", "install.html", "Installing"),
            page("docs/tutorial.md", "tutorial.html", "Tutorial"),
            page("docs/README.md", "pages.html", "All pages"),
            page("docs/compared.md", "compared.html", "Karat compared"),
            page("docs/evidence.md", "evidence.html", "Evidence"),
            page("docs/glossary.md", "glossary.html", "Glossary"),
        ],
    },
    Section {
        title: "Guides",
        pages: &[
            page("docs/guide-builder.md", "guide-builder.html", "Did my change help?"),
            page("docs/guide-chooser.md", "guide-chooser.html", "Which tool or model?"),
            page("docs/guide-researcher.md", "guide-researcher.html", "Studying auditors"),
            page("docs/guide-compliance.md", "guide-compliance.html", "Reviewing documents"),
            page("docs/guide-keeper.md", "guide-keeper.html", "Keeping a benchmark"),
            page("docs/ci.md", "ci.html", "In CI"),
            page("docs/many-machines.md", "many-machines.html", "Many machines"),
            page("docs/writing-cases.md", "writing-cases.html", "Writing cases"),
            page("docs/writing-goldens.md", "writing-goldens.html", "Writing golden records"),
        ],
    },
    Section {
        title: "Reference",
        pages: &[
            page("docs/command-line.md", "command-line.html", "Command line"),
            page("docs/running.md", "running.html", "Running tools"),
            page("docs/tools.md", "tools.html", "Tools"),
            page("docs/fix-through.md", "fix-through.html", "Fix-through"),
            page("docs/formats.md", "formats.html", "Formats"),
            page("docs/importers.md", "importers.html", "Importers"),
            page("docs/metrics.md", "metrics.html", "Metrics"),
            page("docs/compare.md", "compare.html", "Comparing, gates, power"),
            page("docs/memorisation.md", "memorisation.html", "Memorisation"),
            page("docs/profiles.md", "profiles.html", "Profiles"),
            page("docs/reports.md", "reports.html", "Reports"),
            page("docs/tables.md", "tables.html", "Tables"),
            page("docs/large-inputs.md", "large-inputs.html", "Large inputs"),
            page("docs/plots.md", "plots.html", "Plots"),
            page("docs/serve.md", "serve.html", "Pages in a browser"),
            page("docs/judges.md", "judges.html", "Judges"),
            page("docs/local-judge.md", "local-judge.html", "The local judge"),
            page("docs/audit-judge.md", "audit-judge.html", "The audit judge"),
            page("docs/agreement.md", "agreement.html", "Agreement"),
            page("docs/labels.md", "labels.html", "Labels"),
            page("docs/calibrate.md", "calibrate.html", "Calibrating"),
            page("docs/identity.md", "identity.html", "Identity keys"),
            page("docs/assess.md", "assess.html", "Assessing documents"),
            page("docs/ingest.md", "ingest.html", "Documents"),
            page("docs/retrieval.md", "retrieval.html", "Search"),
            page("docs/trec.md", "trec.html", "TREC measures"),
            page("docs/agreements.md", "agreements.html", "The suite of agreements"),
            page("suites/starter/README.md", "starter.html", "The starter suite"),
            page("suites/scanned/README.md", "scanned.html", "The scanned suite"),
            page("suites/scanner-rules/README.md", "scanner-rules.html", "The scanner-rules suite"),
            page("docs/store.md", "store.html", "Store"),
            page(super::schemas::SOURCE, "schemas.html", "JSON Schemas"),
            page("CHANGELOG.md", "changelog.html", "Changes"),
        ],
    },
    Section {
        title: "Internals",
        pages: &[
            page("ARCHITECTURE.md", "architecture.html", "Architecture"),
            page("docs/matching.md", "matching.html", "Matching"),
            page("docs/statistics.md", "statistics.html", "Statistics"),
            page("docs/fuzzing.md", "fuzzing.html", "Fuzzing"),
            page("bench/README.md", "bench.html", "Benchmarks"),
            page("CONTRIBUTING.md", "contributing.html", "Contributing"),
        ],
    },
];

/// All pages, in the order in which they are read.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    SECTIONS.iter().flat_map(|section| section.pages)
}

/// The page that a file of the repository became.
pub(crate) fn by_source(source: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.source == source)
}
