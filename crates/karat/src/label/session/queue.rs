//! All items of one kind to label, the most informative first.

use crate::label::page::{Excerpt, SourceOf, excerpts};
use karat_core::judgement::Judgement;
use karat_core::local_judge::LocalJudge;
use karat_core::profile::Profile;
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::label_priority::{Uncertainty, figure_metric};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_store::label::{
    LabelKey, LabelKind, OpenAudit, OpenExtra, OpenPair, SHORT, Sample, Subject, audit_queue, extra_queue, pair_queue,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A pair, an extra or an audited finding to label.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Item {
    /// The key of its label.
    pub key: String,
    /// The keys of all its texts: that of the shown one, then those of the others.
    pub(super) keys: Vec<String>,
    pub shown: Subject,
    /// For extras: other texts that report the same.
    pub others: Vec<Subject>,
    pub tools: usize,
    pub trials: usize,
    /// For pairs: how much of the interval is due to it.
    pub(super) doubt: Uncertainty,
    /// For extras: how much of the distance between the bounds of precision is due to it.
    pub(super) width: f64,
}

impl Item {
    fn single(key: &LabelKey, shown: Subject, tools: usize, trials: usize) -> Self {
        let (key, others) = (key.to_string(), Vec::new());
        Self { keys: vec![key.clone()], key, shown, others, tools, trials, doubt: Uncertainty::default(), width: 0.0 }
    }

    /// The kind of label.
    pub fn kind(&self) -> LabelKind {
        self.shown.kind
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
}

/// All items of one kind to label. It is the same for every annotator, whatever has been labelled.
pub struct Queue {
    kind: LabelKind,
    items: Vec<Item>,
    /// The index of the item that has a text with this key.
    by_key: HashMap<String, usize>,
    /// The metric whose interval labels narrow.
    pub(super) metric: String,
    /// The part of the interval's half width that is due to the choice of cases, if known.
    pub(super) cases: Option<f64>,
    /// The probability from which the judge calls a pair a match.
    pub(super) threshold: f64,
    sample: Option<Sample>,
}

impl Queue {
    /// Pairs, those first whose labels narrow the metric's interval most; a sample comes in random order instead. `cases` is the
    /// part of the interval's half width that is due to the choice of cases. `judgements` must not contain human ones, since the
    /// order would reveal them.
    pub fn pairs(
        suite: &Suite,
        trials: &[Trial],
        judgements: &[Judgement],
        profile: &Profile,
        judge: &LocalJudge,
        cases: Option<f64>,
        sample: Option<Sample>,
    ) -> Self {
        let mut open = pair_queue(suite, trials, judgements, profile, judge);
        if let Some(sample) = sample {
            // In random order, so that the first of them are a sample too if the rest is never labelled.
            let placed = open.into_iter().filter_map(|open| Some((sample.place(&open.key)?, open)));
            let mut drawn: Vec<(f64, OpenPair<'_>)> = placed.collect();
            drawn.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            open = drawn.into_iter().map(|(_, open)| open).collect();
        }
        let item = |open: OpenPair<'_>| {
            let shown = Subject::pair(open.case, open.golden, open.finding);
            Item { doubt: open.doubt, ..Item::single(&open.key, shown, open.tools, open.trials) }
        };
        let plain = Self::plain(LabelKind::Pair, open.into_iter().map(item).collect(), figure_metric(profile));
        Self { cases, threshold: judge.params().threshold, sample, ..plain }
    }

    /// Extras that at least so many tools report, those first whose labels narrow the bounds of precision most.
    pub fn extras(suite: &Suite, trials: &[Trial], profile: &Profile, scorecard: &Scorecard, min_tools: usize) -> Self {
        let item = |open: OpenExtra<'_>| Item {
            key: open.shown.key().to_string(),
            keys: std::iter::once(&open.shown).chain(&open.others).map(|text| text.key().to_string()).collect(),
            tools: open.pool.tools().len(),
            trials: open.pool.trials(),
            doubt: Uncertainty::default(),
            width: open.width,
            shown: open.shown,
            others: open.others,
        };
        let queue = extra_queue(suite, trials, scorecard, profile);
        let items = queue.into_iter().map(item).filter(|item| item.tools >= min_tools).collect();
        Self::plain(LabelKind::Extra, items, "precision")
    }

    /// Findings to classify, those first that most tools report.
    pub fn audits(suite: &Suite, trials: &[Trial]) -> Self {
        let item = |open: OpenAudit<'_>| {
            Item::single(&open.key, Subject::audit(open.case, open.finding), open.tools, open.trials)
        };
        Self::plain(LabelKind::Audit, audit_queue(suite, trials).into_iter().map(item).collect(), "")
    }

    fn plain(kind: LabelKind, items: Vec<Item>, metric: &str) -> Self {
        let numbered = items.iter().enumerate();
        let by_key = numbered.flat_map(|(at, item)| item.keys.iter().map(move |key| (key.clone(), at))).collect();
        Self { kind, items, by_key, metric: metric.to_owned(), cases: None, threshold: 0.5, sample: None }
    }

    /// The kind of its items.
    pub fn kind(&self) -> LabelKind {
        self.kind
    }

    /// All items, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
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

    /// The probability with which its items were sampled, if they were.
    pub fn probability(&self) -> Option<f64> {
        self.sample.map(Sample::probability)
    }
}
