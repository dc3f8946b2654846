//! One thing that a person may be asked about, and what an answer to it comes to.

use crate::label::page::{Excerpt, SourceOf, audit_excerpts, excerpts, extra_excerpts};
use karat_core::judgement::Classification;
use karat_core::scorecard::label_priority::Uncertainty;
use karat_store::label::{
    Annotator, Answer, AuditSubject, ExtraSubject, LabelKind, NewAuditLabel, NewExtraLabel, NewLabel, NewLabels,
    PairSubject, SHORT, Source, class_named,
};
use serde_json::{Value, json};

/// One thing that a person may be asked about.
#[derive(Clone, Debug)]
pub struct Item {
    /// What a label of it hangs on: the whole key.
    pub key: String,
    /// The keys of all its texts, in their order; that of what is shown is the first.
    pub(super) keys: Vec<String>,
    /// What is shown.
    pub shown: ItemView,
    /// How many tools report it.
    pub tools: usize,
    /// In how many trials it is reported.
    pub trials: usize,
    /// What it leaves in doubt, of a pair.
    pub(super) doubt: Uncertainty,
    /// How far apart it keeps the bounds of precision, of an extra.
    pub(super) width: f64,
}

/// What a person sees.
#[derive(Clone, Debug)]
pub enum ItemView {
    /// A golden and a finding.
    Pair(Box<PairSubject>),
    /// A finding that reports no golden; then other texts that report the same.
    Extra(Vec<ExtraSubject>),
    /// A finding of an audited case.
    Audit(Box<AuditSubject>),
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// Of a pair, and how sure they are.
    Pair(Answer, Option<f64>),
    /// Of an extra: whether it is a real problem.
    Extra(bool),
    /// Of an audited finding.
    Audit(Classification),
}

impl Reply {
    /// What a word says of a thing of this kind: yes, no, partial, or the name of a class.
    pub fn parse(kind: LabelKind, word: &str) -> Option<Self> {
        match kind {
            LabelKind::Pair => Answer::parse(word).map(|answer| Self::Pair(answer, None)),
            LabelKind::Extra => {
                let answer = Answer::parse(word).filter(|answer| answer.partial.is_none())?;
                Some(Self::Extra(answer.matched))
            }
            LabelKind::Audit => {
                let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let numbered = number.and_then(|number| Classification::ALL.get(number).copied());
                class_named(word).or(numbered).map(Self::Audit)
            }
        }
    }

    /// The reply in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pair(answer, _) => answer.word(),
            Self::Extra(valid) => karat_store::label::validity_word(valid),
            Self::Audit(class) => class.as_str(),
        }
    }
}

impl Item {
    /// What it is.
    pub fn kind(&self) -> LabelKind {
        match self.shown {
            ItemView::Pair(_) => LabelKind::Pair,
            ItemView::Extra(_) => LabelKind::Extra,
            ItemView::Audit(_) => LabelKind::Audit,
        }
    }

    /// As much of the key as people type.
    pub fn id(&self) -> &str {
        self.key.get(..SHORT).unwrap_or(&self.key)
    }

    /// The code around the places.
    pub fn code(&self, source: &SourceOf<'_>) -> Vec<Excerpt> {
        match &self.shown {
            ItemView::Pair(pair) => excerpts(pair, source),
            ItemView::Extra(texts) => texts.first().map(|shown| extra_excerpts(shown, source)).unwrap_or_default(),
            ItemView::Audit(shown) => audit_excerpts(shown, source),
        }
    }

    /// What a page or another program shows: golden, finding and code, and nothing of who reported it or what anybody thinks.
    pub fn as_json(&self, source: &SourceOf<'_>) -> Value {
        let mut value = match &self.shown {
            ItemView::Pair(pair) => json!({ "case": pair.known.case, "golden": pair.known, "finding": pair.reported }),
            ItemView::Extra(texts) => {
                let shown = texts.first();
                json!({ "case": shown.map(|shown| &shown.case), "finding": shown.map(|shown| &shown.reported) })
            }
            ItemView::Audit(shown) => {
                json!({ "case": shown.case, "golden": shown.target, "finding": shown.reported })
            }
        };
        value["id"] = json!(self.id());
        value["key"] = json!(self.key);
        value["code"] = json!(self.code(source));
        value
    }

    /// The labels that a reply comes to; none where it is no reply to such a thing.
    pub(super) fn labels(
        &self,
        annotator: &Annotator,
        reply: Reply,
        note: Option<String>,
        source: Source,
        picked_with_probability: Option<f64>,
        is_done: &dyn Fn(&str) -> bool,
    ) -> Option<NewLabels> {
        let annotator = annotator.clone();
        let mut labels = NewLabels::default();
        match (&self.shown, reply) {
            (ItemView::Pair(pair), Reply::Pair(answer, confidence)) => labels.pairs.push(NewLabel {
                pair: (**pair).clone(),
                annotator,
                answer,
                confidence,
                note,
                picked_with_probability,
                source,
            }),
            (ItemView::Extra(texts), Reply::Extra(valid)) => {
                // Where all of them are done the answer is compared with the first, so that no other one is lost silently.
                let all = self.keys.iter().all(|key| is_done(key));
                let is_open = |at: usize, key: &str| if all { at == 0 } else { !is_done(key) };
                let keyed = texts.iter().zip(&self.keys).enumerate();
                let open = keyed.filter(|(at, (_, key))| is_open(*at, key)).map(|(_, (shown, _))| shown);
                labels.extras.extend(open.map(|shown| NewExtraLabel {
                    shown: shown.clone(),
                    annotator: annotator.clone(),
                    valid,
                    note: note.clone(),
                    picked_with_probability,
                    source,
                }));
            }
            (ItemView::Audit(shown), Reply::Audit(classification)) => {
                let shown = (**shown).clone();
                labels.audits.push(NewAuditLabel { shown, annotator, classification, note, source });
            }
            _ => return None,
        }
        Some(labels)
    }
}

/// What labels are about, and the numbers of their answers.
pub(super) fn answers(labels: &NewLabels) -> Vec<(String, usize)> {
    let pairs = labels.pairs.iter().map(|label| (label.pair.key().to_string(), of_pair(label.answer)));
    let extras = labels.extras.iter().map(|label| (label.shown.key().to_string(), usize::from(label.valid)));
    let audits = labels.audits.iter().map(|label| (label.shown.key().to_string(), label.classification as usize));
    pairs.chain(extras).chain(audits).collect()
}

/// The number of an answer: no, partial, yes.
pub(super) fn of_pair(answer: Answer) -> usize {
    match (answer.matched, answer.partial) {
        (true, _) => 2,
        (false, Some(true)) => 1,
        (false, _) => 0,
    }
}
