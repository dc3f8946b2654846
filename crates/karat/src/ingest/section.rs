//! A document as sections.

use serde::Serialize;
use std::fmt;

/// A document, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    /// The name it was given by.
    pub name: String,
    /// The name of its format.
    pub format: &'static str,
    /// Its sections, in the order of the document. All text of the document lies in exactly one of them.
    pub sections: Vec<Section>,
    /// What was left out or put right.
    pub notes: Vec<String>,
}

/// A heading and the text up to the next heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Who it is, by what it says and where it hangs: the same text under the same headings has the same id.
    pub id: SectionId,
    /// The heading with its number, as the document shows it; empty for text before the first heading.
    pub heading: String,
    /// The headings above it, the outermost first.
    pub path: Vec<String>,
    /// How deep the heading lies, from 1; 0 for text before the first heading.
    pub level: u8,
    /// The number of the heading without its last dot, such as `2.3`, where it has one.
    pub number: Option<String>,
    /// The text in plain words: paragraphs apart by an empty line, table rows with ` | ` between cells, lists with markers.
    pub body: String,
    /// Where it lies.
    pub place: Place,
}

impl Section {
    /// Heading and body as one text, the form in which sections are compared and searched.
    pub fn combined(&self) -> String {
        format!("{}\n\n{}", self.heading, self.body)
    }
}

/// The id of a section: 16 hexadecimal digits, with `#2` and so on behind those of equal sections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SectionId(String);

impl SectionId {
    /// The id of a section of these words, of which so many were seen before.
    pub(super) fn of(path: &[String], heading: &str, body: &str, before: usize) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in path.iter().map(String::as_str).chain([heading, body]) {
            // Lengths keep apart what would read the same when put together.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let digits = &hasher.finalize().to_hex()[..16];
        Self(if before == 0 { digits.to_owned() } else { format!("{digits}#{}", before + 1) })
    }

    /// One that was kept.
    pub(crate) fn kept(id: String) -> Self {
        Self(id)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a section lies, first and last counted from 1 and both meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// What is counted.
    pub unit: Unit,
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

/// What places are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Lines of the file.
    #[default]
    Line,
    /// Paragraphs of the document, those in tables and empty ones too.
    Paragraph,
    /// Pages.
    Page,
}

impl fmt::Display for Place {
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
    fn ids_tell_what_is_said_where() {
        let path = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let id = SectionId::of(&path(&["A", "B"]), "C", "text", 0);
        assert_eq!(id, SectionId::of(&path(&["A", "B"]), "C", "text", 0));
        assert_eq!(format!("{id}#3"), SectionId::of(&path(&["A", "B"]), "C", "text", 2).to_string());
        for other in [
            SectionId::of(&path(&["AB"]), "C", "text", 0),
            SectionId::of(&path(&["A"]), "BC", "text", 0),
            SectionId::of(&path(&["A", "B"]), "C", "texts", 0),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(id.as_str().len(), 16);
    }
}
