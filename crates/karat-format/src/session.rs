//! An ingested document as stored in a session, so that it need not be ingested again.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use serde::{Deserialize, Serialize};

/// A document that was taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestedV1 {
    pub format: String,
    pub sections: Vec<IngestedSectionV1>,
    pub notes: Vec<String>,
}

/// A heading of it and the text up to the next heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub struct IngestedSectionV1 {
    /// 16 hex digits: the same text under the same headings has the same id. Equal sections get a suffix such as `#2`.
    pub id: String,
    /// With its number; empty for text before the first heading.
    pub heading: String,
    pub path: Vec<String>,
    /// From 1; 0 for text before the first heading.
    pub level: u8,
    /// Without a final dot, such as `2.3`.
    pub number: Option<String>,
    /// Plain text: paragraphs separated by empty lines, table cells by ` | `, lists with markers.
    pub body: String,
    #[serde(flatten)]
    pub place: PlaceV1,
}

/// A range of units, from 1, both ends inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub struct PlaceV1 {
    /// Paragraphs include empty ones and those in tables.
    pub unit: UnitV1,
    pub first: usize,
    pub last: usize,
}

impl std::fmt::Display for PlaceV1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = match self.unit {
            UnitV1::Line => "line",
            UnitV1::Paragraph => "paragraph",
            UnitV1::Page => "page",
        };
        if self.first == self.last {
            write!(f, "{unit} {}", self.first)
        } else {
            write!(f, "{unit}s {}–{}", self.first, self.last)
        }
    }
}

/// What places in a document are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitV1 {
    #[default]
    Line,
    Paragraph,
    Page,
}
