//! The labelling session of one annotator, which the terminal and the label page share.
//!
//! A [`Queue`] holds all items of one kind, the most informative first, and is the same for everybody. An [`AnnotationSession`] is
//! a queue as one annotator sees it: what comes next, which labels an answer gives, and the progress so far.

mod progress;

pub use progress::{Agreement, AgreementWith, Bounds, FirstItems, JudgeErrors, Progress};

use super::page::{Excerpt, SourceOf, excerpts};
use super::question::shown_question;
use karat_core::judgement::Judgement;
use karat_core::local_judge::LocalJudge;
use karat_core::panel::AuditField;
use karat_core::profile::Profile;
use karat_core::scorecard::label_priority::{Uncertainty, figure_metric};
use karat_core::scorecard::{PairSelection, Scorecard};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_store::label::{
    Annotator, Label, LabelAnswer, LabelKind, LabelQuestion, NewLabel, OpenAudit, OpenExtra, OpenPair, SHORT, Sample,
    Source, Subject, audit_queue, extra_queue, pair_queue,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const TARGET_FOUND: LabelQuestion = LabelQuestion::Audit(AuditField::TargetFound);

/// A pair, an extra, or a decision of an audit to label.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Item {
    /// The key of its label.
    pub key: String,
    /// The keys of all its texts: that of the shown one, then those of the others.
    keys: Vec<String>,
    pub shown: Subject,
    /// For extras: other texts that report the same.
    pub others: Vec<Subject>,
    pub tools: usize,
    pub trials: usize,
    /// For pairs: how much of the interval is due to it.
    doubt: Uncertainty,
    /// For extras: how much of the distance between the bounds of precision is due to it.
    width: f64,
    /// For what rates a found target: the key of the question whether it was found.
    found: Option<String>,
}

impl Item {
    fn new(shown: Subject, others: Vec<Subject>, tools: usize, trials: usize) -> Self {
        let keys: Vec<String> = std::iter::once(&shown).chain(&others).map(|text| text.key().to_string()).collect();
        let (key, doubt) = (keys[0].clone(), Uncertainty::default());
        Self { key, keys, shown, others, tools, trials, doubt, width: 0.0, found: None }
    }

    /// The short id, a prefix of the key.
    pub fn id(&self) -> &str {
        self.key.get(..SHORT).unwrap_or(&self.key)
    }

    /// The code around the golden and the finding.
    pub fn code(&self, source: &SourceOf<'_>) -> Vec<Excerpt> {
        excerpts(&self.shown, source)
    }

    /// The shown parts as JSON: golden, finding and code, but neither tools, judgements nor labels.
    pub fn as_json(&self, source: &SourceOf<'_>) -> Value {
        let Subject { kind, case, golden, finding, response, .. } = &self.shown;
        let mut value = json!({ "case": case });
        if *kind != LabelKind::Extra {
            value["golden"] = json!(golden);
        }
        match response {
            Some(response) => value["response"] = json!(response),
            None => value["finding"] = json!(finding),
        }
        if let LabelQuestion::Audit(field) = self.shown.question() {
            value["field"] = json!(field);
            value["ask"] = json!(shown_question(self.shown.question()));
        }
        value["id"] = json!(self.id());
        value["key"] = json!(self.key);
        value["code"] = json!(self.code(source));
        value
    }
}

/// Which pairs are shown; default: all.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ShownPairs {
    pub sample: Option<Sample>,
    pub only: Option<PairSelection>,
}

/// All items of one kind to label. It is the same for every annotator, whatever has been labelled.
pub struct Queue {
    /// The kind of its items.
    pub kind: LabelKind,
    /// In order.
    pub items: Vec<Item>,
    /// The index of the item that has a text with this key.
    by_key: HashMap<String, usize>,
    /// The metric whose interval labels narrow.
    metric: String,
    /// The part of the interval's half width that is due to the choice of cases, if known.
    cases: Option<f64>,
    /// The probability from which the judge calls a pair a match.
    threshold: f64,
    sample: Option<Sample>,
}

impl Queue {
    /// Pairs, all or those selected, those first whose labels narrow the metric's interval most; a sample comes in random order
    /// instead. `cases` is the part of the interval's half width that is due to the choice of cases. `judgements` must not contain
    /// human ones, since the order would reveal them.
    pub fn pairs(
        suite: &Suite,
        trials: &[Trial],
        judgements: &[Judgement],
        profile: &Profile,
        judge: &LocalJudge,
        cases: Option<f64>,
        shown: ShownPairs,
    ) -> Self {
        let ShownPairs { sample, only } = shown;
        let mut open = pair_queue(suite, trials, judgements, profile, judge, only);
        if let Some(sample) = sample {
            // In random order, so that the first of them are a sample too if the rest is never labelled.
            let placed = open.into_iter().filter_map(|open| Some((sample.place(&open.key)?, open)));
            let mut drawn: Vec<(f64, OpenPair<'_>)> = placed.collect();
            drawn.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            open = drawn.into_iter().map(|(_, open)| open).collect();
        }
        let item = |open: OpenPair<'_>| {
            let shown = Subject::pair(open.case, open.golden, open.finding);
            Item { doubt: open.doubt, ..Item::new(shown, Vec::new(), open.tools, open.trials) }
        };
        let plain = Self::plain(LabelKind::Pair, open.into_iter().map(item).collect(), figure_metric(profile));
        Self { cases, threshold: judge.params().threshold, sample, ..plain }
    }

    /// Extras that at least so many tools report, those first whose labels narrow the bounds of precision most.
    pub fn extras(suite: &Suite, trials: &[Trial], profile: &Profile, scorecard: &Scorecard, min_tools: usize) -> Self {
        let item = |open: OpenExtra<'_>| {
            let OpenExtra { shown, others, pool, width } = open;
            Item { width, ..Item::new(shown, others, pool.tools().len(), pool.trials()) }
        };
        let queue = extra_queue(suite, trials, scorecard, profile);
        let items = queue.into_iter().map(item).filter(|item| item.tools >= min_tools).collect();
        Self::plain(LabelKind::Extra, items, "precision")
    }

    /// These decisions about responses and findings, those first that most tools report.
    pub fn audits(suite: &Suite, trials: &[Trial], fields: &BTreeSet<AuditField>) -> Self {
        let item = |open: OpenAudit| {
            let found = open.found.map(|key| key.to_string());
            Item { found, ..Item::new(open.shown, Vec::new(), open.tools, open.trials) }
        };
        Self::plain(LabelKind::Audit, audit_queue(suite, trials, fields).into_iter().map(item).collect(), "")
    }

    fn plain(kind: LabelKind, items: Vec<Item>, metric: &str) -> Self {
        let numbered = items.iter().enumerate();
        let by_key = numbered.flat_map(|(at, item)| item.keys.iter().map(move |key| (key.clone(), at))).collect();
        Self { kind, items, by_key, metric: metric.to_owned(), cases: None, threshold: 0.5, sample: None }
    }

    /// The only item whose key has this prefix.
    pub fn find(&self, prefix: &str) -> Option<&Item> {
        let mut like = self.items.iter().filter(|item| !prefix.is_empty() && item.key.starts_with(prefix));
        like.next().filter(|_| like.next().is_none())
    }

    /// The item that has a text with this key.
    pub fn holds(&self, key: &str) -> Option<&Item> {
        self.by_key.get(key).map(|at| &self.items[*at])
    }
}

/// A queue as one annotator sees it.
pub struct AnnotationSession<'q> {
    queue: &'q Queue,
    /// Who labels.
    pub annotator: Annotator,
    /// By key: the index of each annotator's answer.
    voices: HashMap<String, BTreeMap<Annotator, usize>>,
    /// Keys that the annotator skipped, in that order.
    skipped: Vec<String>,
}

impl<'q> AnnotationSession<'q> {
    /// The session of an annotator, given all labels so far.
    pub fn new(queue: &'q Queue, labels: &[Label], annotator: Annotator) -> Self {
        let mut session = Self { queue, annotator, voices: HashMap::new(), skipped: Vec::new() };
        for label in labels.iter().filter(|label| label.counts && label.kind() == queue.kind) {
            session.add_answer(label.key.to_string(), label.annotator.clone(), label.answer);
        }
        session
    }

    /// Items that the annotator has not labelled, in order; skipped ones come last.
    pub fn open(&self) -> Vec<&'q Item> {
        let mut open: Vec<&'q Item> = self.queue.items.iter().filter(|item| self.is_open(item)).collect();
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
        if answer.question() != item.shown.question() {
            return None;
        }
        // If all are labelled, the first is labelled again, so that a different answer is not lost silently.
        let all = !self.is_open(item);
        let is_open = |at: usize, key: &str| if all { at == 0 } else { !self.has_labelled(key) };
        let texts = std::iter::once(&item.shown).chain(&item.others).zip(&item.keys).enumerate();
        let open = texts.filter(|(at, (_, key))| is_open(*at, key));
        let picked_with_probability = self.queue.sample.map(Sample::probability);
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
        // What was not found is not rated.
        let was_missed = |key: &String| {
            let own = self.voices.get(key).and_then(|voices| voices.get(&self.annotator));
            own.is_some_and(|answer| LabelAnswer::parse(TARGET_FOUND, "no").is_some_and(|no| no.index() == *answer))
        };
        item.keys.iter().any(|key| !self.has_labelled(key)) && !item.found.as_ref().is_some_and(was_missed)
    }

    fn has_labelled(&self, key: &str) -> bool {
        self.voices.get(key).is_some_and(|voices| voices.contains_key(&self.annotator))
    }
}

#[cfg(test)]
mod tests;
