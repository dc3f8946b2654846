//! The documents of a bundle as parts: what is searched, cited, and held against golden parts.

use super::Bundle;
use crate::ingest::Section;
use crate::retrieval::{Analysis, Language, Passage, RetrievalError};
use karat_core::assessment::part_match::{Matches, PartIndex};
use karat_core::assessment::record::Requirement;
use karat_core::assessment::text::{Tokens, Vocabulary};

/// All parts of a bundle's documents, in the order of the documents.
pub struct Corpus<'a> {
    /// The bundle.
    pub bundle: &'a Bundle,
    /// The parts. Everything else names them by their place here.
    pub parts: Vec<Part<'a>>,
    /// How their words are read.
    pub analysis: Analysis,
    vocabulary: Vocabulary,
    index: PartIndex,
}

/// A part of a document.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The document's name.
    pub document: &'a str,
    /// The section.
    pub section: &'a Section,
}

impl Part<'_> {
    /// Its heading with those above it.
    pub fn full_heading(&self) -> String {
        let above = self.section.path.iter().map(String::as_str);
        above.chain([self.section.heading.as_str()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" › ")
    }
}

impl<'a> Corpus<'a> {
    /// Of a bundle, in the language that its template names or that its words tell.
    pub fn new(bundle: &'a Bundle) -> Result<Self, RetrievalError> {
        let of = |document: &'a crate::ingest::Document| {
            document.sections.iter().map(|section| Part { document: &document.name, section })
        };
        let parts: Vec<Part<'a>> = bundle.documents.iter().flat_map(of).collect();
        let mut vocabulary = Vocabulary::default();
        let tokens = parts.iter().map(|part| vocabulary.read(&part.section.heading, &part.section.body)).collect();
        let stated = &bundle.template.config.search;
        let language = Language::of(stated.language.as_deref(), &passages(&parts))?;
        let analysis = Analysis::new(language, &stated.stop_words);
        Ok(Self { bundle, parts, analysis, vocabulary, index: PartIndex::new(tokens) })
    }

    /// The parts as they are searched.
    pub fn passages(&self) -> Vec<Passage> {
        passages(&self.parts)
    }

    /// How all parts stand to the golden parts of a requirement.
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
