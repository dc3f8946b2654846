//! An ingested document as stored in a session, so that it need not be ingested again.

use serde::{Deserialize, Serialize};

/// A document that was taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub struct IngestedV1 {
    pub format: String,
    pub sections: Vec<IngestedSectionV1>,
    pub notes: Vec<String>,
}

/// A section of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub struct IngestedSectionV1 {
    pub id: String,
    pub heading: String,
    pub path: Vec<String>,
    pub level: u8,
    pub number: Option<String>,
    pub body: String,
    pub unit: UnitV1,
    pub first: usize,
    pub last: usize,
}

/// What places in a document are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of the variants say it")]
pub enum UnitV1 {
    Line,
    Paragraph,
    Page,
}
