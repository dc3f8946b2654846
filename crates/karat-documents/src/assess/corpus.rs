//! The documents of a bundle as parts, which are searched, cited and matched with golden parts.

use super::Bundle;
use crate::ingest::Section;
use crate::retrieval::{Analysis, Language, Passage, RetrievalError};
use karat_core::assessment::part_match::{Matches, PartIndex};
use karat_core::assessment::record::Requirement;
use karat_core::assessment::text::{Tokens, Vocabulary};

/// All parts of a bundle's documents, in document order.
#[expect(missing_docs, reason = "field names say it")]
pub struct Corpus<'a> {
    pub bundle: &'a Bundle,
    /// Referred to by index everywhere else.
    pub parts: Vec<Part<'a>>,
    pub analysis: Analysis,
    vocabulary: Vocabulary,
    index: PartIndex,
}

/// A part of a document.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Part<'a> {
    pub document: &'a str,
    pub section: &'a Section,
}

impl Part<'_> {
    /// The heading with those above it.
    pub fn full_heading(&self) -> String {
        let above = self.section.path.iter().map(String::as_str);
        above.chain([self.section.heading.as_str()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" › ")
    }
}

impl<'a> Corpus<'a> {
    /// Builds the corpus of a bundle, in its template's language or the detected one.
    pub fn new(bundle: &'a Bundle) -> Result<Self, RetrievalError> {
        let document_parts = |document: &'a crate::ingest::Document| {
            document.sections.iter().map(|section| Part { document: &document.name, section })
        };
        let parts: Vec<Part<'a>> = bundle.documents.iter().flat_map(document_parts).collect();
        let mut vocabulary = Vocabulary::default();
        let tokens = parts.iter().map(|part| vocabulary.read(&part.section.heading, &part.section.body)).collect();
        let stated = &bundle.template.config.search;
        let language = Language::resolve(stated.language.as_deref(), &passages(&parts))?;
        let analysis = Analysis::new(language, &stated.stop_words);
        Ok(Self { bundle, parts, analysis, vocabulary, index: PartIndex::new(tokens) })
    }

    /// The parts as passages for searching.
    pub fn passages(&self) -> Vec<Passage> {
        passages(&self.parts)
    }

    /// Matches all parts with the golden parts of a requirement.
    pub fn matches(&mut self, requirement: &Requirement) -> Matches {
        let mut read =
            |part: &karat_core::assessment::record::GoldenPart| self.vocabulary.read(&part.title, &part.text);
        let goldens: Vec<Tokens> = requirement.evidence_parts().map(|(_, part)| read(part)).collect();
        self.index.matches(&goldens, &self.bundle.template.config.scoring.thresholds)
    }
}

fn passages(parts: &[Part<'_>]) -> Vec<Passage> {
    let passage = |part: &Part<'_>| Passage { heading: part.section.heading.clone(), body: part.section.body.clone() };
    parts.iter().map(passage).collect()
}
