//! Ranking measures, named as in `trec_eval`.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use super::Ranking;

/// A measure, or several that differ in how far down a ranking they look.
#[derive(Debug)]
pub struct Family {
    pub name: &'static str,
    pub about: &'static str,
    pub official: bool,
    pub cutoffs: Cutoffs,
    pub total: Total,
    value: fn(&Ranking, f64) -> f64,
}

/// Where a measure looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cutoffs {
    /// At the whole ranking.
    Whole,
    /// At the first k places.
    Places(&'static [u32]),
    /// At shares or multiples of the relevant documents.
    Shares(&'static [f64]),
}

/// How topics become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// The number of topics; a single topic has none.
    Topics,
    Sum,
    Mean,
    /// The geometric mean of values of 0.00001 at least; a single topic has none.
    GeometricMean,
}

const LEAST: f64 = 1e-5;

const PLACES: Cutoffs = Cutoffs::Places(&[5, 10, 15, 20, 30, 100, 200, 500, 1000]);
const RECALLS: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const MULTIPLES: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];

const OFFICIAL: bool = true;
const ASKED: bool = false;

/// One row: shown always or asked for, name, total, cutoffs, what it says, value of a ranking at a cutoff.
macro_rules! families {
    ($($shown:ident $name:literal $total:ident $cutoffs:expr, $about:literal, $value:expr;)*) => {
        &[$(Family {
            name: $name,
            about: $about,
            official: $shown,
            cutoffs: $cutoffs,
            total: Total::$total,
            value: $value,
        }),*]
    };
}

/// All measures, in the order in which they are shown.
pub static FAMILIES: &[Family] = families! {
    OFFICIAL "num_q" Topics Cutoffs::Whole, "topics", |_, _| 1.0;
    OFFICIAL "num_ret" Sum Cutoffs::Whole, "documents found", |r, _| r.retrieved() as f64;
    OFFICIAL "num_rel" Sum Cutoffs::Whole, "relevant documents", |r, _| r.relevant() as f64;
    OFFICIAL "num_rel_ret" Sum Cutoffs::Whole, "relevant documents found", |r, _| r.relevant_retrieved() as f64;
    OFFICIAL "map" Mean Cutoffs::Whole, "average precision", |r, _| r.average_precision(usize::MAX);
    OFFICIAL "gm_map" GeometricMean Cutoffs::Whole, "average precision, geometric mean of topics",
        |r, _| r.average_precision(usize::MAX);
    OFFICIAL "Rprec" Mean Cutoffs::Whole, "precision at rank R, the number of relevant documents",
        |r, _| r.precision(r.relevant());
    OFFICIAL "bpref" Mean Cutoffs::Whole, "relevant documents ranked above those judged not relevant",
        |r, _| r.binary_preference();
    OFFICIAL "recip_rank" Mean Cutoffs::Whole, "1 / rank of the first relevant document",
        |r, _| r.reciprocal_rank();
    OFFICIAL "iprec_at_recall" Mean Cutoffs::Shares(RECALLS), "highest precision at a recall or above",
        |r, recall| r.interpolated_precision(recall);
    OFFICIAL "P" Mean PLACES, "precision in the first k ranks", |r, k| r.precision(k as usize);
    ASKED "recall" Mean PLACES, "recall in the first k ranks", |r, k| r.recall(k as usize);
    ASKED "gm_bpref" GeometricMean Cutoffs::Whole, "bpref, geometric mean of topics", |r, _| r.binary_preference();
    ASKED "Rprec_mult" Mean Cutoffs::Shares(MULTIPLES), "precision at multiples of the number of relevant documents",
        |r, multiple| r.precision_at_multiple(multiple);
    ASKED "11pt_avg" Mean Cutoffs::Whole, "interpolated precision, mean of eleven recalls",
        |r, _| RECALLS.iter().map(|recall| r.interpolated_precision(*recall)).sum::<f64>() / RECALLS.len() as f64;
    ASKED "ndcg" Mean Cutoffs::Whole, "normalised discounted cumulative gain", |r, _| r.ndcg(usize::MAX);
    ASKED "ndcg_cut" Mean PLACES, "the same in the first k ranks", |r, k| r.ndcg(k as usize);
    ASKED "map_cut" Mean PLACES, "average precision in the first k ranks", |r, k| r.average_precision(k as usize);
    ASKED "relative_P" Mean PLACES, "precision as a share of its maximum",
        |r, k| r.relative_precision(k as usize);
    ASKED "success" Mean Cutoffs::Places(&[1, 5, 10]), "whether a relevant document is in the first k ranks",
        |r, k| r.success(k as usize);
    ASKED "set_P" Mean Cutoffs::Whole, "precision of all documents found", |r, _| r.precision(r.retrieved());
    ASKED "set_relative_P" Mean Cutoffs::Whole, "the same as a share of its maximum",
        |r, _| r.relative_precision(r.retrieved());
    ASKED "set_recall" Mean Cutoffs::Whole, "recall of all documents found", |r, _| r.recall(r.retrieved());
    ASKED "set_map" Mean Cutoffs::Whole, "set_P times set_recall",
        |r, _| r.precision(r.retrieved()) * r.recall(r.retrieved());
    ASKED "set_F" Mean Cutoffs::Whole, "harmonic mean of set_P and set_recall", |r, _| r.set_f();
    ASKED "num_nonrel_judged_ret" Sum Cutoffs::Whole, "documents found that are judged not relevant",
        |r, _| r.judged_not_relevant() as f64;
    ASKED "unj" Mean Cutoffs::Places(&[5, 10, 20]), "share of the first k ranks that is unjudged",
        |r, k| r.unjudged_within(k as usize);
};

/// One measure, with its cutoff.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    pub family: &'static Family,
    cutoff: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasureError {
    Unknown(String),
    BadCutoff { name: &'static str, cutoff: String },
}

/// The measures that are shown when nothing is asked for.
pub fn official() -> Vec<Measure> {
    FAMILIES.iter().filter(|family| family.official).flat_map(Family::usual).collect()
}

impl Family {
    /// At its default cutoffs.
    pub fn usual(&'static self) -> Vec<Measure> {
        let cutoffs: Vec<Option<f64>> = match self.cutoffs {
            Cutoffs::Whole => vec![None],
            Cutoffs::Places(places) => places.iter().map(|place| Some(f64::from(*place))).collect(),
            Cutoffs::Shares(shares) => shares.iter().copied().map(Some).collect(),
        };
        cutoffs.into_iter().map(|cutoff| Measure { family: self, cutoff }).collect()
    }

    pub fn is_count(&self) -> bool {
        matches!(self.total, Total::Topics | Total::Sum)
    }

    fn cutoff(&'static self, text: &str) -> Result<Measure, MeasureError> {
        let cutoff = match self.cutoffs {
            Cutoffs::Whole => None,
            Cutoffs::Places(_) => text.parse::<u32>().ok().filter(|place| *place > 0).map(f64::from),
            // The range keeps products with any number of documents within what a place can be.
            Cutoffs::Shares(_) => text.parse::<f64>().ok().filter(|share| (0.0..=1e6).contains(share)),
        };
        let measure = cutoff.map(|cutoff| Measure { family: self, cutoff: Some(cutoff) });
        measure.ok_or_else(|| MeasureError::BadCutoff { name: self.name, cutoff: text.to_owned() })
    }
}

impl Measure {
    /// The measures that a text asks for: `official`, `all`, a family at its usual cutoffs (`P`), at others (`P.3,7`), or one as it is
    /// printed (`P_5`).
    pub fn parse(text: &str) -> Result<Vec<Self>, MeasureError> {
        let find = |name: &str| FAMILIES.iter().find(|family| family.name == name);
        match text {
            "official" => return Ok(official()),
            "all" => return Ok(FAMILIES.iter().flat_map(Family::usual).collect()),
            _ => {}
        }
        if let Some(family) = find(text) {
            return Ok(family.usual());
        }
        if let Some((family, cutoffs)) = text.split_once('.').and_then(|(name, rest)| Some((find(name)?, rest))) {
            return cutoffs.split(',').map(|cutoff| family.cutoff(cutoff)).collect();
        }
        if let Some((family, cutoff)) = text.rsplit_once('_').and_then(|(name, rest)| Some((find(name)?, rest))) {
            return Ok(vec![family.cutoff(cutoff)?]);
        }
        Err(MeasureError::Unknown(text.to_owned()))
    }

    /// Each measure once, in the order in which they are shown.
    pub fn in_order(mut measures: Vec<Self>) -> Vec<Self> {
        let place = |measure: &Self| FAMILIES.iter().position(|family| family.name == measure.family.name);
        let cutoff = |measure: &Self| measure.cutoff.unwrap_or_default();
        measures.sort_by(|a, b| place(a).cmp(&place(b)).then(cutoff(a).total_cmp(&cutoff(b))));
        measures.dedup_by(|a, b| place(a) == place(b) && cutoff(a) == cutoff(b));
        measures
    }

    pub fn name(self) -> String {
        match (self.family.cutoffs, self.cutoff) {
            (Cutoffs::Shares(_), Some(share)) => format!("{}_{share:.2}", self.family.name),
            (_, Some(place)) => format!("{}_{place}", self.family.name),
            (_, None) => self.family.name.to_owned(),
        }
    }

    /// Its value for one topic, where a single topic has one.
    pub fn value_for(self, ranking: &Ranking) -> Option<f64> {
        match self.family.total {
            Total::Topics | Total::GeometricMean => None,
            Total::Sum | Total::Mean => Some(self.value(ranking)),
        }
    }

    /// Its value over topics; `missing` topics were not found at all.
    pub(super) fn over<'r>(self, rankings: impl Iterator<Item = &'r Ranking>, missing: usize) -> f64 {
        let values: Vec<f64> = rankings.map(|ranking| self.value(ranking)).collect();
        let topics = (values.len() + missing) as f64;
        let mean = |sum: f64| if topics > 0.0 { sum / topics } else { 0.0 };
        match self.family.total {
            Total::Topics => topics,
            Total::Sum => values.iter().sum(),
            Total::Mean => mean(values.iter().sum()),
            Total::GeometricMean => {
                let logs: f64 = values.iter().map(|value| libm::log(value.max(LEAST))).sum();
                libm::exp(mean(logs + missing as f64 * libm::log(LEAST)))
            }
        }
    }

    fn value(self, ranking: &Ranking) -> f64 {
        (self.family.value)(ranking, self.cutoff.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
