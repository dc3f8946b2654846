//! Documents and their sections.

use serde::Serialize;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    pub name: String,
    pub format: &'static str,
    /// In document order; all text is in exactly one of them.
    pub sections: Vec<Section>,
    pub notes: Vec<String>,
}

/// A heading and the text up to the next heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The same text under the same headings has the same id.
    pub id: SectionId,
    /// With its number; empty for text before the first heading.
    pub heading: String,
    pub path: Vec<String>,
    /// From 1; 0 for text before the first heading.
    pub level: u8,
    /// Without a final dot, such as `2.3`.
    pub number: Option<String>,
    /// Plain text: paragraphs separated by empty lines, table cells by ` | `, lists with markers.
    pub body: String,
    pub place: SectionPlace,
}

impl Section {
    /// Heading and body, as compared and searched.
    pub fn combined(&self) -> String {
        format!("{}\n\n{}", self.heading, self.body)
    }
}

/// 16 hex digits; equal sections get a suffix such as `#2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SectionId(String);

impl SectionId {
    /// `before` is the number of equal sections so far.
    pub(super) fn new(path: &[String], heading: &str, body: &str, before: usize) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in path.iter().map(String::as_str).chain([heading, body]) {
            // Lengths make the concatenation unambiguous.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let digits = &hasher.finalize().to_hex()[..16];
        Self(if before == 0 { digits.to_owned() } else { format!("{digits}#{}", before + 1) })
    }

    pub(crate) fn from_stored(id: String) -> Self {
        Self(id)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A range of units, from 1, both ends inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SectionPlace {
    pub unit: Unit,
    pub first: usize,
    pub last: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    #[default]
    Line,
    /// All paragraphs, including empty ones and those in tables.
    Paragraph,
    Page,
}

impl fmt::Display for SectionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Line => "line",
            Unit::Paragraph => "paragraph",
            Unit::Page => "page",
        };
        if self.first == self.last {
            write!(f, "{unit} {}", self.first)
        } else {
            write!(f, "{unit}s {}–{}", self.first, self.last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_text_and_position() {
        let path = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let id = SectionId::new(&path(&["A", "B"]), "C", "text", 0);
        assert_eq!(id, SectionId::new(&path(&["A", "B"]), "C", "text", 0));
        assert_eq!(format!("{id}#3"), SectionId::new(&path(&["A", "B"]), "C", "text", 2).to_string());
        for other in [
            SectionId::new(&path(&["AB"]), "C", "text", 0),
            SectionId::new(&path(&["A"]), "BC", "text", 0),
            SectionId::new(&path(&["A", "B"]), "C", "texts", 0),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(id.as_str().len(), 16);
    }
}
