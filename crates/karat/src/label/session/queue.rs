//! Everything of one kind that is worth a label, the most telling first.

use super::item::Item;
use karat_core::judgement::Judgement;
use karat_core::local_judge::LocalJudge;
use karat_core::profile::Profile;
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::label_priority::{Uncertainty, figure_metric};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_store::label::{
    LabelKind, OpenAudit, OpenExtra, OpenPair, Sample, Subject, audit_queue, extra_queue, pair_queue,
};
use std::collections::HashMap;

/// What is there to be labelled.
#[derive(Clone, Copy)]
pub struct LabelScope<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The trials.
    pub trials: &'a [Trial],
    /// What judges decided; what people say must not be among it, as the order would tell it.
    pub judgements: &'a [Judgement],
    /// The rules.
    pub profile: &'a Profile,
}

/// Everything of one kind that is worth a label. It is the same for everybody, whatever anybody has said.
pub struct Queue {
    kind: LabelKind,
    items: Vec<Item>,
    /// By the key of every text: its item.
    by_key: HashMap<String, usize>,
    /// The metric whose interval labels narrow.
    pub(super) metric: String,
    /// Half the width of its interval by the choice of cases; none where it is not known.
    pub(super) cases: Option<f64>,
    /// From which probability on the judge says that a pair is a match.
    pub(super) threshold: f64,
    /// With which probability its items were drawn.
    sample: Option<Sample>,
}

impl Queue {
    /// Pairs, in the order in which their labels narrow the interval of the figure; `cases` is half its width by the choice of
    /// cases alone. A sample comes in the order of chance instead.
    pub fn pairs(seen: LabelScope<'_>, judge: &LocalJudge, cases: Option<f64>, sample: Option<Sample>) -> Self {
        let mut open = pair_queue(seen.suite, seen.trials, seen.judgements, seen.profile, judge);
        if let Some(sample) = sample {
            // In the order of chance, so that the first of them are a sample too, should nobody come to the last.
            let placed = open.into_iter().filter_map(|open| Some((sample.place(&open.key)?, open)));
            let mut drawn: Vec<(f64, OpenPair<'_>)> = placed.collect();
            drawn.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            open = drawn.into_iter().map(|(_, open)| open).collect();
        }
        let item = |open: OpenPair<'_>| Item {
            key: open.key.to_string(),
            keys: vec![open.key.to_string()],
            shown: Subject::pair(open.case, open.golden, open.finding),
            others: Vec::new(),
            tools: open.tools,
            trials: open.trials,
            doubt: open.doubt,
            width: 0.0,
        };
        let metric = figure_metric(seen.profile).to_owned();
        let plain = Self::plain(LabelKind::Pair, open.into_iter().map(item).collect(), &metric);
        Self { cases, threshold: judge.params().threshold, sample, ..plain }
    }

    /// Extras, in the order in which their labels bring the bounds of precision together; only those that so many tools report.
    pub fn extras(seen: LabelScope<'_>, scorecard: &Scorecard, min_tools: usize) -> Self {
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
        let queue = extra_queue(seen.suite, seen.trials, scorecard, seen.profile);
        let items = queue.into_iter().map(item).filter(|item| item.tools >= min_tools).collect();
        Self::plain(LabelKind::Extra, items, "precision")
    }

    /// Findings to classify, what most tools report first.
    pub fn audits(seen: LabelScope<'_>) -> Self {
        let item = |open: OpenAudit<'_>| Item {
            key: open.key.to_string(),
            keys: vec![open.key.to_string()],
            shown: Subject::audit(open.case, open.finding),
            others: Vec::new(),
            tools: open.tools,
            trials: open.trials,
            doubt: Uncertainty::default(),
            width: 0.0,
        };
        let items = audit_queue(seen.suite, seen.trials).into_iter().map(item).collect();
        Self::plain(LabelKind::Audit, items, "")
    }

    fn plain(kind: LabelKind, items: Vec<Item>, metric: &str) -> Self {
        let numbered = items.iter().enumerate();
        let by_key = numbered.flat_map(|(at, item)| item.keys.iter().map(move |key| (key.clone(), at))).collect();
        Self { kind, items, by_key, metric: metric.to_owned(), cases: None, threshold: 0.5, sample: None }
    }

    /// What is labelled.
    pub fn kind(&self) -> LabelKind {
        self.kind
    }

    /// All items, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The only item whose key begins like this.
    pub fn find(&self, beginning: &str) -> Option<&Item> {
        let mut like = self.items.iter().filter(|item| !beginning.is_empty() && item.key.starts_with(beginning));
        like.next().filter(|_| like.next().is_none())
    }

    /// The item that has a text with this whole key.
    pub fn holds(&self, key: &str) -> Option<&Item> {
        self.by_key.get(key).map(|at| &self.items[*at])
    }

    /// With which probability its items were drawn, where they were.
    pub fn probability(&self) -> Option<f64> {
        self.sample.map(Sample::probability)
    }
}
