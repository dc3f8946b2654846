//! Locates golden parts in the documents they refer to.

use super::nearest;
use crate::ingest::Section;
use karat_core::assessment::part_match::PartIndex;
use karat_core::assessment::record::GoldenPart;
use karat_core::assessment::text::{Term, Tokens, Vocabulary};
use std::cell::{Cell, OnceCell};

/// The location of a golden part.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceLocation {
    /// Index among the bundle's documents.
    pub document: usize,
    /// Index of the first section.
    pub section: usize,
    /// The number of sections the text spans.
    pub sections: usize,
    /// The share of the sections' words, without the first heading, that the text covers.
    pub coverage: f64,
}

pub(super) struct PartFault {
    pub(super) key: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) struct Source<'d> {
    pub(super) name: &'d str,
    pub(super) sections: &'d [Section],
}

pub(super) struct BundleTexts<'d> {
    documents: Vec<Source<'d>>,
    vocabulary: Vocabulary,
    /// Heading and body of each section of each document.
    words: Vec<Vec<(Tokens, Tokens)>>,
    /// Built for the first fault.
    bodies: Vec<OnceCell<PartIndex>>,
    /// How many similar passages may still be looked for.
    looks: Cell<usize>,
}

/// A record made for other versions of its documents has hundreds of such faults; the first ones suffice.
const MOST_NEAR_SEARCHES: usize = 50;

impl<'d> BundleTexts<'d> {
    pub(super) fn new(documents: Vec<Source<'d>>) -> Self {
        let mut vocabulary = Vocabulary::default();
        let mut read = |section: &Section| (vocabulary.read("", &section.heading), vocabulary.read("", &section.body));
        let words = documents.iter().map(|document| document.sections.iter().map(&mut read).collect()).collect();
        let bodies = documents.iter().map(|_| OnceCell::new()).collect();
        Self { documents, vocabulary, words, bodies, looks: Cell::new(MOST_NEAR_SEARCHES) }
    }

    /// Locates a part in its document, or explains what is wrong with it.
    pub(super) fn locate(&mut self, part: &GoldenPart, document: usize) -> Result<EvidenceLocation, Vec<PartFault>> {
        let title = self.vocabulary.read("", &part.title);
        let text = self.vocabulary.read("", &part.text);
        let sections = &self.words[document];
        let headed: Vec<usize> = (0..sections.len()).filter(|&s| sections[s].0 == title).collect();
        let whole = headed.iter().find(|&&section| sections[section].1 == text);
        let found = whole.or_else(|| headed.iter().find(|&&section| has(&sections[section].1, text.in_order())));
        if let Some(&section) = found {
            let coverage = text.len() as f64 / sections[section].1.len() as f64;
            return Ok(EvidenceLocation { document, section, sections: 1, coverage });
        }
        if let Some(standing) = headed.iter().find_map(|&section| self.spans(&text, document, section)) {
            return Ok(standing);
        }
        Err(self.faults(part, document, &headed, &title, &text))
    }

    /// A text that begins in a section and continues in the following ones.
    fn spans(&self, text: &Tokens, document: usize, section: usize) -> Option<EvidenceLocation> {
        let sections = &self.words[document];
        let mut run: Vec<Term> = sections[section].1.in_order().to_vec();
        let own = run.len();
        let mut ends = vec![own];
        for (heading, body) in &sections[section + 1..] {
            // No longer run can hold a text that begins in its first section.
            if run.len() >= own + text.len() {
                break;
            }
            run.extend(heading.in_order().iter().chain(body.in_order()));
            ends.push(run.len());
        }
        let at = position(text.in_order(), &run).filter(|&at| at < own)?;
        let spanned = ends.iter().position(|&end| at + text.len() <= end)? + 1;
        let coverage = text.len() as f64 / ends[spanned - 1] as f64;
        Some(EvidenceLocation { document, section, sections: spanned, coverage })
    }

    fn faults(
        &self,
        part: &GoldenPart,
        document: usize,
        headed: &[usize],
        title: &Tokens,
        text: &Tokens,
    ) -> Vec<PartFault> {
        let GoldenPart { id, document: name, .. } = part;
        let fault = |key, code, message: String, help: String| PartFault { key, code, message, help: Some(help) };
        let body = text.in_order().strip_prefix(title.in_order()).filter(|body| !body.is_empty());
        if let Some(body) = body
            && headed.iter().any(|&section| has(&self.words[document][section].1, body))
        {
            let message = format!("the text of `{id}` begins with its heading, which has a place of its own");
            let help = "remove the heading from `text`: `title` has it, and `text` is what stands below it";
            return vec![fault("text", "text-has-heading", message, help.to_owned())];
        }
        match self.elsewhere(text, document) {
            Some((other, section)) if other != document => {
                let message = format!("the text of `{id}` is not in {name}");
                let (other, place) = (self.documents[other].name, quoted(section));
                vec![fault("document", "wrong-document", message, format!("it is in {other}, under {place}"))]
            }
            Some((_, section)) if headed.is_empty() => {
                let message = format!("{name} has no heading “{}”", nearest::short(&part.title));
                vec![fault("title", "unknown-title", message, format!("the text is under {}", quoted(section)))]
            }
            Some((_, section)) => {
                let message = format!("the text of `{id}` is not under “{}”", nearest::short(&part.title));
                vec![fault("title", "wrong-section", message, format!("it is under {}", quoted(section)))]
            }
            None => {
                let mut found = Vec::new();
                if headed.is_empty() {
                    let message = format!("{name} has no heading “{}”", nearest::short(&part.title));
                    let near = nearest::heading(&part.title, self.documents[document].sections);
                    let help = near.map(|near| format!("did you mean {}?", quoted(near)));
                    found.push(PartFault { key: "title", code: "unknown-title", message, help });
                }
                let message = format!("the text of `{id}` is not in {name}");
                let help = self.near_passage(&part.text, text, document, headed);
                found.push(PartFault { key: "text", code: "text-not-found", message, help });
                found
            }
        }
    }

    /// The first section with the text, in the document or else in another.
    fn elsewhere(&self, text: &Tokens, document: usize) -> Option<(usize, &'d Section)> {
        let others = (0..self.words.len()).filter(|&other| other != document);
        std::iter::once(document).chain(others).find_map(|other| {
            let section = self.words[other].iter().position(|(_, body)| has(body, text.in_order()))?;
            Some((other, &self.documents[other].sections[section]))
        })
    }

    /// The most similar passage, and where it differs.
    fn near_passage(&self, written: &str, text: &Tokens, document: usize, headed: &[usize]) -> Option<String> {
        let looks = self.looks.get();
        if looks == 0 {
            return None;
        }
        self.looks.set(looks - 1);
        let index = self.bodies[document].get_or_init(|| {
            let body = |(_, body): &(Tokens, Tokens)| nearest::bounded(body);
            PartIndex::new(self.words[document].iter().map(body).collect())
        });
        let Some((section, coverage)) = nearest::passage(index, text, headed) else {
            return Some("no section of the document is like it; is it the right document?".to_owned());
        };
        let section = &self.documents[document].sections[section];
        let parting = nearest::parting(written, &section.body);
        Some(format!("nearest is {}, with {:.0} % of its words; {parting}", quoted(section), coverage * 100.0))
    }
}

pub(super) fn quoted(section: &Section) -> String {
    if section.heading.is_empty() {
        return format!("no heading ({}), where no part can be cited", section.place);
    }
    format!("“{}” ({})", nearest::short(&section.heading), section.place)
}

fn has(body: &Tokens, text: &[Term]) -> bool {
    text.len() <= body.len() && position(text, body.in_order()).is_some()
}

/// The position of a text within another (Knuth-Morris-Pratt).
fn position(text: &[Term], within: &[Term]) -> Option<usize> {
    if text.is_empty() || text.len() > within.len() {
        return None;
    }
    let borders = borders(text);
    let mut matched = 0;
    for (at, word) in within.iter().enumerate() {
        while matched > 0 && text[matched] != *word {
            matched = borders[matched - 1];
        }
        matched += usize::from(text[matched] == *word);
        if matched == text.len() {
            return Some(at + 1 - text.len());
        }
    }
    None
}

/// The border lengths of all prefixes.
fn borders<T: PartialEq>(text: &[T]) -> Vec<usize> {
    let mut borders = vec![0; text.len()];
    let mut length = 0;
    for at in 1..text.len() {
        while length > 0 && text[at] != text[length] {
            length = borders[length - 1];
        }
        length += usize::from(text[at] == text[length]);
        borders[at] = length;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::position;

    /// All texts of two words up to some length, written as bits.
    fn texts(longest: u32) -> impl Iterator<Item = Vec<u32>> {
        (0..=longest)
            .flat_map(|length| (0..1_u32 << length).map(move |bits| (0..length).map(|at| bits >> at & 1).collect()))
    }

    #[test]
    fn positions_equal_those_of_a_naive_search() {
        for within in texts(8) {
            for text in texts(5).filter(|text| !text.is_empty()) {
                let plain = within.windows(text.len()).position(|window| window == text);
                assert_eq!(position(&text, &within), plain, "{text:?} in {within:?}");
            }
        }
        assert_eq!(position(&[], &[1]), None);
    }
}
