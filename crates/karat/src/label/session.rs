//! Where one person labels: what comes next, what is shown of it, what an answer means, and how far they have come.
//!
//! A [`Queue`] has everything of one kind that is worth a label, the most telling first, and is the same for everybody. A
//! [`AnnotationSession`] is a queue as one annotator sees it. The terminal and the label page are two surfaces of the same session.

mod item;
mod progress;
mod queue;

pub use item::Item;
pub use progress::{Agreement, Bounds, JudgeErrors, Progress, With};
pub use queue::{LabelScope, Queue};

use karat_store::label::{Annotator, Label, LabelAnswer, NewLabel, Source};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A queue as one person sees it.
pub struct AnnotationSession<'q> {
    queue: &'q Queue,
    annotator: Annotator,
    /// What the annotator has labelled.
    own: HashSet<String>,
    /// By key of what is shown: who says what, as the number of an answer.
    voices: HashMap<String, BTreeMap<Annotator, usize>>,
    /// What the annotator put off, in that order.
    skipped: Vec<String>,
}

impl<'q> AnnotationSession<'q> {
    /// The session of an annotator, by all labels there are.
    pub fn new(queue: &'q Queue, labels: &[Label], annotator: Annotator) -> Self {
        let mut session = Self { queue, annotator, own: HashSet::new(), voices: HashMap::new(), skipped: Vec::new() };
        for label in labels.iter().filter(|label| label.counts && label.kind() == queue.kind()) {
            session.add_answer(label.key.to_string(), label.annotator.clone(), label.answer);
        }
        session
    }

    /// Who labels.
    pub fn annotator(&self) -> &Annotator {
        &self.annotator
    }

    /// What the annotator has not labelled, in order; what they put off comes at the end.
    pub fn open(&self) -> Vec<&'q Item> {
        let mut open: Vec<&'q Item> = self.queue.items().iter().filter(|item| self.is_open(item)).collect();
        open.sort_by_key(|item| self.skipped.iter().position(|key| *key == item.key).map_or(0, |place| place + 1));
        open
    }

    /// What comes next.
    pub fn next(&self) -> Option<&'q Item> {
        self.open().into_iter().next()
    }

    /// Puts something off: it comes again when everything else is done.
    pub fn skip(&mut self, key: &str) {
        self.skipped.retain(|skipped| skipped != key);
        self.skipped.push(key.to_owned());
    }

    /// The labels that an answer comes to: one for each text that reports the same and has none of this annotator yet.
    pub fn labels(
        &self,
        item: &Item,
        answer: LabelAnswer,
        note: Option<String>,
        source: Source,
    ) -> Option<Vec<NewLabel>> {
        let drawn = self.queue.probability();
        item.labels(&self.annotator, answer, note, source, drawn, &|key| self.own.contains(key))
    }

    /// Takes note of labels that are kept, so that the next question is another one.
    pub fn record(&mut self, labels: &[NewLabel]) {
        for label in labels {
            self.add_answer(label.subject.key().to_string(), self.annotator.clone(), label.answer);
        }
    }

    /// Takes note of labels that were taken back.
    pub fn undone(&mut self, taken_back: &[String]) {
        for key in taken_back {
            self.own.remove(key);
            if let Some(voices) = self.voices.get_mut(key) {
                voices.remove(&self.annotator);
            }
        }
        // What somebody wants to think about again comes first.
        self.skipped.retain(|key| !taken_back.contains(key));
    }

    /// How far the annotator has come, and what all labels have brought.
    pub fn progress(&self) -> Progress {
        Progress::new(self)
    }

    fn add_answer(&mut self, key: String, annotator: Annotator, answer: LabelAnswer) {
        if annotator == self.annotator {
            self.own.insert(key.clone());
        }
        self.voices.entry(key).or_default().insert(annotator, answer.index());
    }

    fn is_open(&self, item: &Item) -> bool {
        item.keys.iter().any(|key| !self.own.contains(key))
    }
}

#[cfg(test)]
mod tests;
