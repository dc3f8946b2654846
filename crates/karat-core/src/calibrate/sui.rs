//! Fits the weights of `sui` to rankings by experts.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use super::simplex::{Slope, descend, readable, scaled};
use crate::metric::composite::weighted_mean;
use crate::profile::{CompositeMean, SuiWeights};
use crate::stats::logistic::{log_loss, probability};
use crate::stats::rank::{kendall, ranks, spearman};
use crate::stats::summary::mean;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

const LEAST_TOOLS: usize = 4;

/// Every tool is held out in turn over all pairs, so far more would take hours.
pub const MOST_TOOLS: usize = 100;

/// A tool that is ahead by a twentieth of the index is taken to be preferred with odds of e to 1; of a geometric index, by a
/// twentieth of its logarithm.
const STEEPNESS: f64 = 20.0;

/// The logarithm of a part that is less counts as that of this one, since that of 0 has no end.
const LEAST_PART: f64 = 0.01;

/// Ridge penalty towards the present weights; a few pairs outweigh it.
const RIDGE: f64 = 2.0;

/// The five parts of a tool's index, from 0 to 1, in the order of the weights; the last is 1 less the calibration error.
pub type Parts = [f64; 5];

/// What one expert thinks of the tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Expert {
    pub name: String,
    /// By index of the tool: how good it is. More is better, only the order counts, and equals are ties.
    pub order: BTreeMap<usize, f64>,
}

/// How far an index orders tools as experts do: the mean over the experts who order any. Absent where no expert does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    #[serde(rename = "spearman")]
    pub rho: Option<f64>,
    #[serde(rename = "kendall")]
    pub tau: Option<f64>,
}

/// Where a tool stands, 1 being the best; ties share the mean of their places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ToolStanding {
    pub experts: f64,
    pub present: f64,
    pub fitted: f64,
    pub held_out: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SuiFit {
    /// Scaled to a sum of 1, as the fitted ones.
    pub present: SuiWeights,
    pub fitted: SuiWeights,
    pub preferences: usize,
    pub with_present: Agreement,
    pub in_sample: Agreement,
    /// Each tool placed among the others by weights that were fitted without it.
    pub tools_held_out: Agreement,
    /// Each expert's ranking against weights that were fitted to the others'; absent where there is one expert only.
    pub experts_held_out: Option<Agreement>,
    pub standings: Vec<ToolStanding>,
}

impl SuiFit {
    /// Whether the fitted weights do better than the present ones on everything that was held out.
    pub fn is_better(&self) -> bool {
        let is_ahead = |own: f64| self.with_present.rho.is_none_or(|present| own > present + 1e-9);
        let ahead = |held_out: &Agreement| held_out.rho.is_some_and(is_ahead);
        ahead(&self.tools_held_out) && self.experts_held_out.as_ref().is_none_or(ahead)
    }
}

/// Finds the weights of an index with that mean that make the experts' preferences likeliest, and measures them on what was held out.
///
/// Unranked tools must be left out. The same values in another order give the same weights. The error says why there are none.
pub fn fit(tools: &[Parts], experts: &[Expert], present: &SuiWeights, mean: CompositeMean) -> Result<SuiFit, String> {
    let n = tools.len();
    let tools = RankedTools { parts: tools, mean };
    if n < LEAST_TOOLS {
        let ranked = crate::wording::count(n, "ranked tool");
        return Err(format!(
            "{ranked} with all five parts: five weights need at least {LEAST_TOOLS}; score and rank more"
        ));
    }
    if n > MOST_TOOLS {
        return Err(format!("{n} ranked tools are too many to hold out one by one; rank at most {MOST_TOOLS}"));
    }
    let today = scaled(present.list(), [true; 5]);
    let all = preferences(&tools, experts.iter());
    if all.is_empty() {
        let tied = "every ranking is a single tie, so there is no order to fit; rank some tools above others";
        return Err(tied.to_owned());
    }
    let fitted = readable(most_likely_weights(all.iter(), today));
    let others = |own: usize| all.iter().filter(move |row| row.better != own && row.worse != own);
    let without: Vec<[f64; 5]> = (0..n).into_par_iter().map(|own| most_likely_weights(others(own), today)).collect();
    let held_out = |expert: &Expert| -> Vec<f64> {
        let others = |own: usize| expert.order.keys().copied().filter(move |other| *other != own);
        expert.order.keys().map(|&own| tools.beaten(own, others(own), &without[own])).collect()
    };
    let by = |weights: [f64; 5]| {
        move |expert: &Expert| -> Vec<f64> { expert.order.keys().map(|&tool| tools.index(tool, &weights)).collect() }
    };
    let without_expert = |own: usize| {
        let others = experts.iter().enumerate().filter(|(other, _)| *other != own).map(|(_, expert)| expert);
        agreement(&experts[own..=own], by(most_likely_weights(preferences(&tools, others).iter(), today)))
    };
    let experts_held_out = (experts.len() > 1).then(|| {
        let each: Vec<Agreement> = (0..experts.len()).into_par_iter().map(without_expert).collect();
        averaged(&each)
    });
    Ok(SuiFit {
        present: listed(today),
        fitted: listed(fitted),
        preferences: all.iter().map(|row| row.times).sum(),
        with_present: agreement(experts, by(today)),
        in_sample: agreement(experts, by(fitted)),
        tools_held_out: agreement(experts, held_out),
        experts_held_out,
        standings: standings(&tools, experts, [today, fitted], &without),
    })
}

/// The parts of the tools that experts ranked, and how they become an index.
#[derive(Clone, Copy)]
struct RankedTools<'t> {
    parts: &'t [Parts],
    mean: CompositeMean,
}

impl RankedTools<'_> {
    /// How far a tool is ahead of another, part by part, on the scale on which the index is a sum.
    fn ahead(&self, better: usize, worse: usize) -> Parts {
        let scaled = |part: f64| match self.mean {
            CompositeMean::AsPublished => part,
            CompositeMean::Geometric => libm::log(part.max(LEAST_PART)),
        };
        std::array::from_fn(|part| scaled(self.parts[better][part]) - scaled(self.parts[worse][part]))
    }

    /// The index of a tool; equal but for the last bits is equal.
    fn index(&self, own: usize, weights: &[f64; 5]) -> f64 {
        let index = weighted_mean(&self.parts[own], weights, self.mean).unwrap_or_default();
        (index * 1e12).round() / 1e12
    }

    /// How many of the others a tool is ahead of; one that is level counts half.
    fn beaten(&self, own: usize, others: impl Iterator<Item = usize>, weights: &[f64; 5]) -> f64 {
        let mine = self.index(own, weights);
        let against = |theirs: f64| f64::from(u8::from(mine > theirs)) + 0.5 * f64::from(u8::from(mine == theirs));
        others.map(|other| against(self.index(other, weights))).sum()
    }
}

/// A pair of tools of which experts prefer one.
struct Preference {
    better: usize,
    worse: usize,
    times: usize,
    ahead: Parts,
}

fn preferences<'e>(tools: &RankedTools<'_>, experts: impl Iterator<Item = &'e Expert>) -> Vec<Preference> {
    let mut times: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for expert in experts {
        for (&better, high) in &expert.order {
            for (&worse, _) in expert.order.iter().filter(|(_, low)| high > *low) {
                *times.entry((better, worse)).or_default() += 1;
            }
        }
    }
    let row = |((better, worse), times): ((usize, usize), usize)| {
        let ahead = tools.ahead(better, worse);
        Preference { better, worse, times, ahead }
    };
    times.into_iter().map(row).collect()
}

/// The ridge makes the loss strictly convex, so that there is one answer.
fn most_likely_weights<'p>(rows: impl Iterator<Item = &'p Preference> + Clone, today: [f64; 5]) -> [f64; 5] {
    let slope = |weights: &[f64; 5]| {
        let mut loss = 0.0;
        let mut gradient = [0.0; 5];
        for row in rows.clone() {
            let odds = STEEPNESS * row.ahead.iter().zip(weights).map(|(ahead, weight)| ahead * weight).sum::<f64>();
            let times = row.times as f64;
            loss += times * log_loss(odds);
            let push = times * STEEPNESS * (1.0 - probability(odds));
            gradient.iter_mut().zip(&row.ahead).for_each(|(slope, ahead)| *slope -= push * ahead);
        }
        for (slope, (weight, today)) in gradient.iter_mut().zip(weights.iter().zip(&today)) {
            loss += RIDGE * (weight - today) * (weight - today);
            *slope += 2.0 * RIDGE * (weight - today);
        }
        Slope { loss, gradient }
    };
    descend(today, [true; 5], slope).0
}

fn agreement(experts: &[Expert], order: impl Fn(&Expert) -> Vec<f64>) -> Agreement {
    let each = experts.iter().map(|expert| {
        let wanted: Vec<f64> = expert.order.values().copied().collect();
        let found = order(expert);
        Agreement { rho: spearman(&found, &wanted), tau: kendall(&found, &wanted) }
    });
    averaged(&each.collect::<Vec<_>>())
}

fn averaged(each: &[Agreement]) -> Agreement {
    let of = |value: fn(&Agreement) -> Option<f64>| mean(&each.iter().filter_map(value).collect::<Vec<_>>());
    Agreement { rho: of(|own| own.rho), tau: of(|own| own.tau) }
}

fn standings(
    tools: &RankedTools<'_>,
    experts: &[Expert],
    weights: [[f64; 5]; 2],
    without: &[[f64; 5]],
) -> Vec<ToolStanding> {
    let n = tools.parts.len();
    let mut by_experts: Vec<Vec<f64>> = vec![Vec::new(); n];
    for expert in experts {
        let falling: Vec<f64> = expert.order.values().map(|value| -value).collect();
        for (&tool, place) in expert.order.keys().zip(ranks(&falling)) {
            by_experts[tool].push(place);
        }
    }
    let [present, fitted] =
        weights.map(|weights| ranks(&(0..n).map(|own| -tools.index(own, &weights)).collect::<Vec<_>>()));
    let place = |own: usize| n as f64 - tools.beaten(own, (0..n).filter(|other| *other != own), &without[own]);
    let standing = |own: usize| ToolStanding {
        experts: mean(&by_experts[own]).unwrap_or_default(),
        present: present[own],
        fitted: fitted[own],
        held_out: place(own),
    };
    (0..n).map(standing).collect()
}

fn listed([verdict_f2, target_detection_rate, finding_precision, reasoning, calibration]: [f64; 5]) -> SuiWeights {
    SuiWeights { verdict_f2, target_detection_rate, finding_precision, reasoning, calibration }
}

#[cfg(test)]
mod tests;
