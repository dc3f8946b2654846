//! How much is taken from one document.

/// Bounds on what one document may cost. All of them hold for every format that knows the thing that is bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub file_bytes: usize,
    /// Bytes of one packed part, such as an entry of an archive or a stream of a PDF, once it is unpacked.
    pub part_bytes: usize,
    /// Bytes of all packed parts together, once they are unpacked.
    pub unpacked_bytes: usize,
    /// Entries of an archive.
    pub entries: usize,
    /// How deep XML may be nested, and Markdown.
    pub depth: usize,
    /// Tags, texts and other events of one XML part.
    pub xml_events: usize,
    /// Lines and signs of markup of a Markdown file, each of which may become a node of its tree.
    pub markup: usize,
    /// Pages of a PDF.
    pub pages: usize,
    /// Sections of a document.
    pub sections: usize,
    /// Seconds that reading may take.
    pub seconds: u64,
}

impl Default for Limits {
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

/// A number of bytes as messages say it.
pub(super) fn bytes(n: usize) -> String {
    if n >= 1 << 20 && n.is_multiple_of(1 << 20) { format!("{} MiB", n >> 20) } else { format!("{n} bytes") }
}
