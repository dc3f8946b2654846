//! One thing that a person may be asked about, and what an answer to it comes to.

use crate::label::page::{Excerpt, SourceOf, excerpts};
use karat_core::scorecard::label_priority::Uncertainty;
use karat_store::label::{Annotator, LabelAnswer, LabelKind, NewLabel, SHORT, Source, Subject};
use serde_json::{Value, json};

/// One thing that a person may be asked about.
#[derive(Clone, Debug)]
pub struct Item {
    /// What a label of it hangs on: the whole key.
    pub key: String,
    /// The keys of all its texts, in their order; that of what is shown is the first.
    pub(super) keys: Vec<String>,
    /// What is shown.
    pub shown: Subject,
    /// Other texts that report the same, of an extra.
    pub others: Vec<Subject>,
    /// How many tools report it.
    pub tools: usize,
    /// In how many trials it is reported.
    pub trials: usize,
    /// What it leaves in doubt, of a pair.
    pub(super) doubt: Uncertainty,
    /// How far apart it keeps the bounds of precision, of an extra.
    pub(super) width: f64,
}

impl Item {
    /// What it is.
    pub fn kind(&self) -> LabelKind {
        self.shown.kind
    }

    /// As much of the key as people type.
    pub fn id(&self) -> &str {
        self.key.get(..SHORT).unwrap_or(&self.key)
    }

    /// The code around the places.
    pub fn code(&self, source: &SourceOf<'_>) -> Vec<Excerpt> {
        excerpts(&self.shown, source)
    }

    /// What a page or another program shows: golden, finding and code, and nothing of who reported it or what anybody thinks.
    pub fn as_json(&self, source: &SourceOf<'_>) -> Value {
        let Subject { kind, case, golden, finding } = &self.shown;
        let mut value = json!({ "case": case });
        if *kind != LabelKind::Extra {
            value["golden"] = json!(golden);
        }
        value["finding"] = json!(finding);
        value["id"] = json!(self.id());
        value["key"] = json!(self.key);
        value["code"] = json!(self.code(source));
        value
    }

    /// The labels that an answer comes to; `None` if it is an answer about another kind.
    pub(super) fn labels(
        &self,
        annotator: &Annotator,
        answer: LabelAnswer,
        note: Option<String>,
        source: Source,
        picked_with_probability: Option<f64>,
        is_done: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<NewLabel>> {
        if answer.kind() != self.kind() {
            return None;
        }
        // Where all of them are done the answer is compared with the first, so that no other one is lost silently.
        let all = self.keys.iter().all(|key| is_done(key));
        let is_open = |at: usize, key: &str| if all { at == 0 } else { !is_done(key) };
        let texts = std::iter::once(&self.shown).chain(&self.others).zip(&self.keys).enumerate();
        let open = texts.filter(|(at, (_, key))| is_open(*at, key));
        let label = |(_, (subject, _)): (usize, (&Subject, &String))| NewLabel {
            subject: subject.clone(),
            annotator: annotator.clone(),
            answer,
            note: note.clone(),
            picked_with_probability,
            source,
        };
        Some(open.map(label).collect())
    }
}
