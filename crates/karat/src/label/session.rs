//! The labelling session of one annotator, which the terminal and the label page share.
//!
//! A [`Queue`] holds all items of one kind, the most informative first, and is the same for everybody. An [`AnnotationSession`] is
//! a queue as one annotator sees it: what comes next, which labels an answer gives, and the progress so far.

mod progress;
mod queue;

pub use progress::{Agreement, Bounds, JudgeErrors, Progress, With};
pub use queue::{Item, Queue};

use karat_store::label::{Annotator, Label, LabelAnswer, NewLabel, Source, Subject};
use std::collections::{BTreeMap, HashMap};

/// A queue as one annotator sees it.
pub struct AnnotationSession<'q> {
    queue: &'q Queue,
    annotator: Annotator,
    /// By key: the index of each annotator's answer.
    voices: HashMap<String, BTreeMap<Annotator, usize>>,
    /// Keys that the annotator skipped, in that order.
    skipped: Vec<String>,
}

impl<'q> AnnotationSession<'q> {
    /// The session of an annotator, given all labels so far.
    pub fn new(queue: &'q Queue, labels: &[Label], annotator: Annotator) -> Self {
        let mut session = Self { queue, annotator, voices: HashMap::new(), skipped: Vec::new() };
        for label in labels.iter().filter(|label| label.counts && label.kind() == queue.kind()) {
            session.add_answer(label.key.to_string(), label.annotator.clone(), label.answer);
        }
        session
    }

    /// The annotator.
    pub fn annotator(&self) -> &Annotator {
        &self.annotator
    }

    /// Items that the annotator has not labelled, in order; skipped ones come last.
    pub fn open(&self) -> Vec<&'q Item> {
        let mut open: Vec<&'q Item> = self.queue.items().iter().filter(|item| self.is_open(item)).collect();
        open.sort_by_key(|item| self.skipped.iter().position(|key| *key == item.key).map_or(0, |place| place + 1));
        open
    }

    /// The next item to label.
    pub fn next(&self) -> Option<&'q Item> {
        self.open().into_iter().next()
    }

    /// Skips an item: it comes again when all others are done.
    pub fn skip(&mut self, key: &str) {
        self.skipped.retain(|skipped| skipped != key);
        self.skipped.push(key.to_owned());
    }

    /// The labels that an answer gives: one for each text of the item without a label of this annotator; `None` if the answer is
    /// for another kind.
    pub fn labels(
        &self,
        item: &Item,
        answer: LabelAnswer,
        note: Option<String>,
        source: Source,
    ) -> Option<Vec<NewLabel>> {
        if answer.kind() != item.kind() {
            return None;
        }
        // If all are labelled, the first is labelled again, so that a different answer is not lost silently.
        let all = !self.is_open(item);
        let is_open = |at: usize, key: &str| if all { at == 0 } else { !self.has_labelled(key) };
        let texts = std::iter::once(&item.shown).chain(&item.others).zip(&item.keys).enumerate();
        let open = texts.filter(|(at, (_, key))| is_open(*at, key));
        let picked_with_probability = self.queue.probability();
        let label = |(_, (subject, _)): (usize, (&Subject, &String))| {
            let (subject, annotator, note) = (subject.clone(), self.annotator.clone(), note.clone());
            NewLabel { subject, annotator, answer, note, picked_with_probability, source }
        };
        Some(open.map(label).collect())
    }

    /// Adds labels that were stored.
    pub fn record(&mut self, labels: &[NewLabel]) {
        for label in labels {
            self.add_answer(label.subject.key().to_string(), self.annotator.clone(), label.answer);
        }
    }

    /// Removes labels that were undone.
    pub fn undone(&mut self, undone: &[String]) {
        for key in undone {
            if let Some(voices) = self.voices.get_mut(key) {
                voices.remove(&self.annotator);
            }
        }
        // What was undone comes first again.
        self.skipped.retain(|key| !undone.contains(key));
    }

    /// The progress of the annotator.
    pub fn progress(&self) -> Progress {
        Progress::new(self)
    }

    fn add_answer(&mut self, key: String, annotator: Annotator, answer: LabelAnswer) {
        self.voices.entry(key).or_default().insert(annotator, answer.index());
    }

    fn is_open(&self, item: &Item) -> bool {
        item.keys.iter().any(|key| !self.has_labelled(key))
    }

    fn has_labelled(&self, key: &str) -> bool {
        self.voices.get(key).is_some_and(|voices| voices.contains_key(&self.annotator))
    }
}

#[cfg(test)]
mod tests;
