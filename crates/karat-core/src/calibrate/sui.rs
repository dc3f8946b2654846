//! Fits the weights of `sui` to rankings by experts.

#![expect(missing_docs, reason = "names of fields and variants say it")]

mod held_out;

use super::gain::Gain;
use super::simplex::{Slope, descend, readable, scaled};
use crate::metric::composite::weighted_mean;
use crate::profile::{CompositeMean, SuiWeights};
use crate::stats::logistic::log_loss_and_probability;
use crate::stats::rank::{kendall, ranks, spearman};
use crate::stats::summary::mean;
use held_out::{Fits, Ranking};
use serde::Serialize;
use std::collections::BTreeMap;

const LEAST_TOOLS: usize = 4;

/// All pairs of tools are fitted anew in every permutation, so far more would take hours.
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
    /// In Spearman's rho over the present weights, on held-out tools or on held-out experts, whichever is less.
    pub gain: Gain,
    pub standings: Vec<ToolStanding>,
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
        return Err(format!("{n} ranked tools are too many to fit again and again; rank at most {MOST_TOOLS}"));
    }
    let today = scaled(present.list(), [true; 5]);
    let fits = Fits::make(&tools, experts, today);
    let preferences: usize = preferences(&tools, experts.iter()).iter().map(|row| row.times).sum();
    if preferences == 0 {
        let tied = "every ranking is a single tie, so there is no order to fit; rank some tools above others";
        return Err(tied.to_owned());
    }
    let fitted = readable(fits.all);
    let rankings = fits.rankings(&tools, experts);
    let by = |weights: [f64; 5]| {
        let order = |own: &Ranking| own.tools.iter().map(|&tool| tools.index(tool, &weights)).collect::<Vec<_>>();
        agreement(&rankings, order)
    };
    Ok(SuiFit {
        present: listed(today),
        fitted: listed(fitted),
        preferences,
        with_present: by(today),
        in_sample: by(fitted),
        tools_held_out: agreement(&rankings, |own| own.tools_held_out.clone()),
        experts_held_out: (experts.len() > 1).then(|| agreement(&rankings, |own| own.expert_held_out.clone())),
        gain: held_out::gain(&tools, experts, today, &rankings),
        standings: standings(&tools, experts, [today, fitted], &fits),
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

/// The ridge makes the loss strictly convex, so that there is one answer, wherever the search starts.
fn most_likely_weights<'p>(
    rows: impl Iterator<Item = &'p Preference> + Clone,
    today: [f64; 5],
    start: [f64; 5],
) -> [f64; 5] {
    let slope = |weights: &[f64; 5]| {
        let mut loss = 0.0;
        let (mut gradient, mut curvature) = ([0.0; 5], [[0.0; 5]; 5]);
        for row in rows.clone() {
            let odds = STEEPNESS * row.ahead.iter().zip(weights).map(|(ahead, weight)| ahead * weight).sum::<f64>();
            let times = row.times as f64;
            let (one, p) = log_loss_and_probability(odds);
            loss += times * one;
            let (push, bend) = (times * STEEPNESS * (1.0 - p), times * STEEPNESS * STEEPNESS * p * (1.0 - p));
            for (part, ahead) in row.ahead.iter().enumerate() {
                gradient[part] -= push * ahead;
                curvature[part].iter_mut().zip(&row.ahead).for_each(|(sum, other)| *sum += bend * ahead * other);
            }
        }
        for (part, (weight, today)) in weights.iter().zip(&today).enumerate() {
            loss += RIDGE * (weight - today) * (weight - today);
            gradient[part] += 2.0 * RIDGE * (weight - today);
            curvature[part][part] += 2.0 * RIDGE;
        }
        Slope { loss, gradient, curvature }
    };
    descend(start, [true; 5], slope).0
}

fn agreement(rankings: &[Ranking], order: impl Fn(&Ranking) -> Vec<f64>) -> Agreement {
    let each = rankings.iter().map(|own| {
        let found = order(own);
        Agreement { rho: spearman(&found, &own.wanted), tau: kendall(&found, &own.wanted) }
    });
    averaged(&each.collect::<Vec<_>>())
}

fn averaged(each: &[Agreement]) -> Agreement {
    let of = |value: fn(&Agreement) -> Option<f64>| mean(&each.iter().filter_map(value).collect::<Vec<_>>());
    Agreement { rho: of(|own| own.rho), tau: of(|own| own.tau) }
}

fn standings(tools: &RankedTools<'_>, experts: &[Expert], weights: [[f64; 5]; 2], fits: &Fits) -> Vec<ToolStanding> {
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
    let place = |own: usize| n as f64 - tools.beaten(own, (0..n).filter(|other| *other != own), fits.without_tool(own));
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
