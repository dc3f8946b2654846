//! Search by words: BM25 over an index in memory.

use super::RetrievalError;
use super::words::{Analysis, IndexWords, Reader};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tantivy::directory::RamDirectory;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::Bm25Weight;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{IndexBuilder, InvertedIndexReader, SegmentReader, TantivyDocument, TantivyError, Term};

const WORDS: &str = "words";

/// The least and the most memory that writing an index is prepared for; it may use more.
const BUDGET: (usize, usize) = (1 << 20, 1 << 27);

/// Passages by their words, numbered as they were given. A text that is searched for is never read as anything but words.
pub(super) struct Bm25 {
    analysis: Analysis,
    field: Field,
    /// Nothing where no passage has a word.
    words: Option<(std::sync::Arc<InvertedIndexReader>, FieldNormReader)>,
    passages: usize,
}

impl Bm25 {
    pub(super) fn new(texts: &[String], analysis: &Analysis) -> Result<Self, RetrievalError> {
        let mut schema = Schema::builder();
        // Where in a text a word stands is not asked, and there is nothing to get back from the index but numbers.
        let indexing = TextFieldIndexing::default().set_tokenizer(WORDS).set_index_option(IndexRecordOption::WithFreqs);
        let field = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let tokenizers = TokenizerManager::new();
        tokenizers.register(WORDS, IndexWords::new(analysis));
        let bytes: usize = texts.iter().map(String::len).sum();
        let index = IndexBuilder::new().schema(schema.build()).tokenizers(tokenizers);
        // One segment, written by one thread: numbers are those of the passages.
        let budget = bytes.saturating_mul(2).clamp(BUDGET.0, BUDGET.1);
        let mut writer = index.single_segment_index_writer(RamDirectory::create(), budget).map_err(broken)?;
        for text in texts {
            let mut document = TantivyDocument::new();
            document.add_text(field, text);
            writer.add_document(document).map_err(broken)?;
        }
        let segments = writer.finalize().and_then(|index| index.searchable_segments()).map_err(broken)?;
        let words = match segments.as_slice() {
            [segment] => {
                let segment = SegmentReader::open(segment).map_err(broken)?;
                let words = segment.inverted_index(field).map_err(broken)?;
                let lengths = segment.get_fieldnorms_reader(field).map_err(broken)?;
                (words.total_num_tokens() > 0).then_some((words, lengths))
            }
            _ => None,
        };
        Ok(Self { analysis: analysis.clone(), field, words, passages: texts.len() })
    }

    /// How words are read.
    pub(super) fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// How much a word tells, by how few passages have it; one that none has tells most.
    pub(super) fn rarity(&self, word: &str) -> Result<f64, RetrievalError> {
        let Some((words, _)) = &self.words else { return Ok(0.0) };
        let with = words.doc_freq(&Term::from_field_text(self.field, word)).map_err(|error| broken(error.into()))?;
        let (with, all) = (f64::from(with), self.passages as f64);
        Ok((1.0 + (all - with + 0.5) / (with + 0.5)).ln())
    }

    /// The best passages for each text, best first, with their scores; those with the same score in the order of passages. Only
    /// passages with a word of the text are found.
    pub(super) fn search(
        &self,
        texts: &[&str],
        most: usize,
        candidate: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Vec<Vec<(usize, f64)>>, RetrievalError> {
        let start = || (Reader::new(&self.analysis), vec![0.0_f32; self.passages]);
        let answer = |(reader, scores): &mut (Reader, Vec<f32>), text: &&str| {
            self.score(reader, text, scores)?;
            Ok(best(scores, most, candidate))
        };
        texts.par_iter().map_init(start, answer).collect()
    }

    /// Adds up what each word of a text says for each passage. Words come in one order, so that equal passages have equal scores
    /// to the last bit.
    fn score(&self, reader: &mut Reader, text: &str, scores: &mut [f32]) -> Result<(), RetrievalError> {
        scores.fill(0.0);
        let Some((words, lengths)) = &self.words else { return Ok(()) };
        let mut asked: BTreeMap<String, u32> = BTreeMap::new();
        reader.read(text, |word| *asked.entry(word.to_owned()).or_default() += 1);
        let average = words.total_num_tokens() as f32 / self.passages as f32;
        for (word, times) in asked {
            let term = Term::from_field_text(self.field, &word);
            let found = words.get_term_info(&term).map_err(|error| broken(error.into()))?;
            let Some(found) = found else { continue };
            let weight =
                Bm25Weight::for_one_term_without_explain(u64::from(found.doc_freq), self.passages as u64, average);
            let weight = weight.boost_by(times as f32);
            let places = words.read_block_postings_from_terminfo(&found, IndexRecordOption::WithFreqs);
            let mut places = places.map_err(|error| broken(error.into()))?;
            while !places.docs().is_empty() {
                for (passage, times) in places.docs().iter().zip(places.freqs()) {
                    if let Some(score) = scores.get_mut(*passage as usize) {
                        *score += weight.score(lengths.fieldnorm_id(*passage), *times);
                    }
                }
                places.advance();
            }
        }
        Ok(())
    }
}

/// The best of all that have a score above 0.
fn best(scores: &[f32], most: usize, candidate: &dyn Fn(usize) -> bool) -> Vec<(usize, f64)> {
    let found = scores.iter().enumerate().filter(|(part, score)| **score > 0.0 && candidate(*part));
    let mut found: Vec<(usize, f32)> = found.map(|(part, score)| (part, *score)).collect();
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if found.len() > most {
        if most > 0 {
            found.select_nth_unstable_by(most - 1, order);
        }
        found.truncate(most);
    }
    found.sort_unstable_by(order);
    found.into_iter().map(|(part, score)| (part, f64::from(score))).collect()
}

fn broken(error: TantivyError) -> RetrievalError {
    RetrievalError::Index { why: error.to_string() }
}
