//! Limits on ingesting one document.

/// Limits on one document; each applies to every format that has the thing it limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct IngestLimits {
    pub file_bytes: usize,
    /// One packed part (archive entry, PDF stream), unpacked.
    pub part_bytes: usize,
    /// All packed parts together, unpacked.
    pub unpacked_bytes: usize,
    pub entries: usize,
    /// Nesting of XML and Markdown.
    pub depth: usize,
    /// Events of one XML part.
    pub xml_events: usize,
    /// Lines and markup characters of a Markdown file, each of which may become a tree node.
    pub markup: usize,
    pub pages: usize,
    pub sections: usize,
    pub seconds: u64,
}

impl Default for IngestLimits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            part_bytes: 64 << 20,
            unpacked_bytes: 256 << 20,
            entries: 10_000,
            depth: 200,
            xml_events: 10_000_000,
            markup: 500_000,
            pages: 5_000,
            sections: 50_000,
            seconds: 60,
        }
    }
}

pub(super) fn bytes(n: usize) -> String {
    if n >= 1 << 20 && n.is_multiple_of(1 << 20) { format!("{} MiB", n >> 20) } else { format!("{n} bytes") }
}
