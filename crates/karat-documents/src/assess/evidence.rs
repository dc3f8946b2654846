//! Locates golden parts in the documents they refer to.

use super::nearest;
use crate::ingest::{Document, Section};
use karat_core::assessment::part_match::{PartIndex, PartMatch};
use karat_core::assessment::record::GoldenPart;
use karat_core::assessment::rules::Thresholds;
use karat_core::assessment::text::{Term, Tokens, Vocabulary, tokens};
use karat_format::diagnostic::Level;

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
    /// The share of the golden part's words that stand there: 1 unless its text or title differs.
    pub golden_coverage: f64,
}

/// Documents by name; `None` for one that failed.
pub(super) type Documents = Vec<(String, Option<Document>)>;

/// What is wrong with a golden part.
pub(super) struct Finding {
    /// A warning if the part still counts where it was found.
    pub(super) level: Level,
    /// The key of the part that it is about.
    pub(super) key: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

type Report<'r> = dyn FnMut(Finding) + 'r;

pub(super) struct BundleTexts<'d> {
    documents: &'d Documents,
    vocabulary: Vocabulary,
    /// Heading and body of each section of each document.
    words: Vec<Vec<(Tokens, Tokens)>>,
    thresholds: &'d Thresholds,
    /// Heading and body of each section as one text, built for the first part that is not found as it is.
    parts: Vec<Option<PartIndex>>,
    /// Built for the first fault.
    bodies: Vec<Option<PartIndex>>,
    /// How many similar passages may still be looked for.
    looks: usize,
}

/// A record made for other versions of its documents has hundreds of such faults; the first ones suffice.
const MOST_NEAR_SEARCHES: usize = 50;

impl<'d> BundleTexts<'d> {
    pub(super) fn new(documents: &'d Documents, thresholds: &'d Thresholds) -> Self {
        let mut vocabulary = Vocabulary::default();
        let mut read = |section: &Section| (vocabulary.read("", &section.heading), vocabulary.read("", &section.body));
        let words = documents.iter().map(|document| sections(document).iter().map(&mut read).collect()).collect();
        let none = || documents.iter().map(|_| None).collect();
        let (parts, bodies) = (none(), none());
        Self { documents, vocabulary, words, thresholds, parts, bodies, looks: MOST_NEAR_SEARCHES }
    }

    /// Locates a part in its document, or reports what is wrong with it.
    pub(super) fn locate(
        &mut self,
        part: &GoldenPart,
        document: usize,
        report: &mut Report<'_>,
    ) -> Option<EvidenceLocation> {
        let title = self.vocabulary.read("", &part.title);
        let text = self.vocabulary.read("", &part.text);
        let sections = &self.words[document];
        let headed: Vec<usize> = (0..sections.len()).filter(|&s| sections[s].0 == title).collect();
        let whole = headed.iter().find(|&&section| sections[section].1 == text);
        let found = whole.or_else(|| headed.iter().find(|&&section| has(&sections[section].1, text.in_order())));
        if let Some(&section) = found {
            let coverage = text.len() as f64 / sections[section].1.len() as f64;
            return Some(EvidenceLocation { document, section, sections: 1, coverage, golden_coverage: 1.0 });
        }
        let found = headed.iter().find_map(|&section| self.spans(&text, document, section));
        if found.is_some() {
            return found;
        }
        let found = self.inexact(part, document, report);
        if found.is_none() {
            self.explain(part, document, &headed, &title, &text, report);
        }
        found
    }

    /// A part whose title or text differs from the document, and that a citation of the section would still count for.
    fn inexact(&mut self, part: &GoldenPart, document: usize, report: &mut Report<'_>) -> Option<EvidenceLocation> {
        let sections = sections(&self.documents[document]);
        let index = self.parts[document].get_or_insert_with(|| {
            let read = |section: &Section| self.vocabulary.read(&section.heading, &section.body);
            PartIndex::new(sections.iter().map(read).collect())
        });
        let matches = index.matches(&[self.vocabulary.read(&part.title, &part.text)], self.thresholds);
        let hits = matches.near_parts(0).iter().filter(|near| near.found.category.is_hit());
        let best = hits.max_by(|a, b| {
            let shares = a.found.golden_coverage.total_cmp(&b.found.golden_coverage);
            shares.then(a.found.part_coverage.total_cmp(&b.found.part_coverage)).then(b.part.cmp(&a.part))
        })?;
        let PartMatch { golden_coverage, part_coverage, .. } = best.found;
        let section = &sections[best.part];
        let [title, heading] = [&part.title, &section.heading].map(|text| tokens(text));
        let (key, difference) = if title == heading {
            ("text", nearest::parting(&part.text, &section.body))
        } else {
            ("title", format!("the record has the title “{}”", nearest::short(&part.title)))
        };
        let share = (golden_coverage * 100.0).floor();
        report(Finding {
            level: Level::Warning,
            key,
            code: "inexact-part",
            message: format!(
                "`{}` has {share} % of its words in {}, where it counts as found",
                part.id,
                quoted(section)
            ),
            help: Some(difference),
        });
        Some(EvidenceLocation { document, section: best.part, sections: 1, coverage: part_coverage, golden_coverage })
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
        Some(EvidenceLocation { document, section, sections: spanned, coverage, golden_coverage: 1.0 })
    }

    fn explain(
        &mut self,
        part: &GoldenPart,
        document: usize,
        headed: &[usize],
        title: &Tokens,
        text: &Tokens,
        report: &mut Report<'_>,
    ) {
        let mut report = |key, code, message, help| report(Finding { level: Level::Error, key, code, message, help });
        let GoldenPart { id, document: name, .. } = part;
        let body = text.in_order().strip_prefix(title.in_order()).filter(|body| !body.is_empty());
        if let Some(body) = body
            && headed.iter().any(|&section| has(&self.words[document][section].1, body))
        {
            let message = format!("the text of `{id}` begins with its heading, which has a place of its own");
            let help = "remove the heading from `text`: `title` has it, and `text` is what stands below it";
            return report("text", "text-has-heading", message, Some(help.to_owned()));
        }
        match self.elsewhere(text, document) {
            Some((other, section)) if other != document => {
                let message = format!("the text of `{id}` is not in {name}");
                let help = format!("it is in {}, under {}", self.documents[other].0, quoted(section));
                report("document", "wrong-document", message, Some(help));
            }
            Some((_, section)) if headed.is_empty() => {
                let message = format!("{name} has no heading “{}”", nearest::short(&part.title));
                report("title", "unknown-title", message, Some(format!("the text is under {}", quoted(section))));
            }
            Some((_, section)) => {
                let message = format!("the text of `{id}` is not under “{}”", nearest::short(&part.title));
                report("title", "wrong-section", message, Some(format!("it is under {}", quoted(section))));
            }
            None => {
                if headed.is_empty() {
                    let message = format!("{name} has no heading “{}”", nearest::short(&part.title));
                    let near = nearest::heading(&part.title, sections(&self.documents[document]));
                    let help = near.map(|near| format!("did you mean {}?", quoted(near)));
                    report("title", "unknown-title", message, help);
                }
                let message = format!("the text of `{id}` is not in {name}");
                let help = self.near_passage(&part.text, text, document, headed);
                report("text", "text-not-found", message, help);
            }
        }
    }

    /// The first section with the text, in the document or else in another.
    fn elsewhere(&self, text: &Tokens, document: usize) -> Option<(usize, &'d Section)> {
        let others = (0..self.words.len()).filter(|&other| other != document);
        std::iter::once(document).chain(others).find_map(|other| {
            let section = self.words[other].iter().position(|(_, body)| has(body, text.in_order()))?;
            Some((other, &sections(&self.documents[other])[section]))
        })
    }

    fn near_passage(&mut self, written: &str, text: &Tokens, document: usize, headed: &[usize]) -> Option<String> {
        self.looks = self.looks.checked_sub(1)?;
        let index = self.bodies[document].get_or_insert_with(|| {
            let body = |(_, body): &(Tokens, Tokens)| nearest::bounded(body);
            PartIndex::new(self.words[document].iter().map(body).collect())
        });
        let Some((section, coverage)) = nearest::passage(index, text, headed) else {
            return Some("no section of the document is like it; is it the right document?".to_owned());
        };
        let section = &sections(&self.documents[document])[section];
        let parting = nearest::parting(written, &section.body);
        Some(format!("nearest is {}, with {:.0} % of its words; {parting}", quoted(section), coverage * 100.0))
    }
}

fn sections((_, document): &(String, Option<Document>)) -> &[Section] {
    document.as_ref().map_or(&[], |document| &document.sections)
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

fn borders(text: &[Term]) -> Vec<usize> {
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
