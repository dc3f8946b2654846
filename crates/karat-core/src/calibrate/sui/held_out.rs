//! Weights that are fitted without some tools or an expert, and what they gain over the present ones on these.

use super::{Expert, RankedTools, most_likely_weights, preferences};
use crate::calibrate::gain::{Gain, MOST_FOLDS, Units};
use crate::metric::estimate::RELIABLE_N;
use crate::stats::permutation::sequential_p;
use crate::stats::random::{Random, seed_of};
use crate::stats::rank::{ranks, spearman};
use crate::stats::summary::mean;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Weights that are fitted to all that experts prefer, and to what is left without some of it.
pub(super) struct Fits {
    today: [f64; 5],
    pub(super) all: [f64; 5],
    /// The fold of each tool, and weights without each fold.
    folds: Vec<usize>,
    without_fold: Vec<[f64; 5]>,
    /// Empty where there is one expert only.
    without_expert: Vec<[f64; 5]>,
}

impl Fits {
    pub(super) fn make(tools: &RankedTools<'_>, experts: &[Expert], today: [f64; 5]) -> Self {
        let rows = preferences(tools, experts.iter());
        let all = most_likely_weights(rows.iter(), today, today);
        let mut folds = vec![0; tools.parts.len()];
        order(tools).into_iter().enumerate().for_each(|(place, tool)| folds[tool] = place % MOST_FOLDS);
        let without_fold = |own: usize| {
            let others = rows.iter().filter(|row| folds[row.better] != own && folds[row.worse] != own);
            most_likely_weights(others, today, all)
        };
        let without_fold = (0..folds.len().min(MOST_FOLDS)).into_par_iter().map(without_fold).collect();
        let without_expert = |own: usize| {
            let others = experts.iter().enumerate().filter(|(other, _)| *other != own).map(|(_, expert)| expert);
            most_likely_weights(preferences(tools, others).iter(), today, all)
        };
        let several = if experts.len() > 1 { experts.len() } else { 0 };
        let without_expert = (0..several).into_par_iter().map(without_expert).collect();
        Self { today, all, folds, without_fold, without_expert }
    }

    pub(super) fn without_tool(&self, own: usize) -> &[f64; 5] {
        &self.without_fold[self.folds[own]]
    }

    pub(super) fn rankings(&self, tools: &RankedTools<'_>, experts: &[Expert]) -> Vec<Ranking> {
        let ranking = |(at, expert): (usize, &Expert)| {
            let own: Vec<usize> = expert.order.keys().copied().collect();
            let place = |&tool: &usize| {
                tools.beaten(tool, own.iter().copied().filter(|other| *other != tool), self.without_tool(tool))
            };
            let without = self.without_expert.get(at);
            Ranking {
                wanted: expert.order.values().copied().collect(),
                present: own.iter().map(|&tool| tools.index(tool, &self.today)).collect(),
                tools_held_out: own.iter().map(place).collect(),
                expert_held_out: without
                    .map_or_else(Vec::new, |weights| own.iter().map(|&tool| tools.index(tool, weights)).collect()),
                tools: own,
            }
        };
        experts.iter().enumerate().map(ranking).collect()
    }
}

/// The tools that an expert ranks, and how good they are to the expert and by weights; more is better.
pub(super) struct Ranking {
    pub(super) tools: Vec<usize>,
    pub(super) wanted: Vec<f64>,
    present: Vec<f64>,
    /// How many others each tool is ahead of, by weights that were fitted without it.
    pub(super) tools_held_out: Vec<f64>,
    /// By weights that were fitted without the expert; empty where there is no other.
    pub(super) expert_held_out: Vec<f64>,
}

/// The tools in an order that follows from their parts alone.
pub(super) fn order(tools: &RankedTools<'_>) -> Vec<usize> {
    let by_parts = |a: &usize, b: &usize| {
        let mut parts = tools.parts[*a].iter().zip(&tools.parts[*b]).map(|(a, b)| a.total_cmp(b));
        parts.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut order: Vec<usize> = (0..tools.parts.len()).collect();
    order.sort_by(by_parts);
    order
}

/// What the fitted weights gain over the present ones on held-out tools, or on held-out experts where that is less.
pub(super) fn gain(tools: &RankedTools<'_>, experts: &[Expert], today: [f64; 5], rankings: &[Ranking]) -> Gain {
    let order = order(tools);
    let said = |tool: usize| experts.iter().map(move |expert| expert.order.get(&tool).copied().unwrap_or(f64::MIN));
    let seed = seed_of(order.iter().flat_map(|&tool| tools.parts[tool].into_iter().chain(said(tool))));
    let units = Units { name: "tool", n: order.len(), least: RELIABLE_N };
    let figure = |times: &[u32]| {
        let mut of_tool = vec![0; times.len()];
        order.iter().zip(times).for_each(|(&tool, times)| of_tool[tool] = *times);
        gain_of(rankings, &of_tool)
    };
    let mut gain = Gain::estimate(units, figure, seed);
    if let Some(observed) = gain.estimate.value.filter(|_| gain.is_testable()) {
        let once = vec![1; order.len()];
        let unexplained = Unexplained::new(tools, experts, today, &order);
        let [p] = sequential_p([observed], |number| {
            let experts = unexplained.shuffled(experts, &mut Random::new(seed, number));
            [gain_of(&Fits::make(tools, &experts, today).rankings(tools, &experts), &once)]
        });
        gain.p = Some(p);
    }
    gain
}

/// The gain where each tool counts so many times.
fn gain_of(rankings: &[Ranking], times: &[u32]) -> Option<f64> {
    let agreement = |found: fn(&Ranking) -> &[f64]| -> Option<f64> {
        let rho = |own: &Ranking| {
            let drawn = |values: &[f64]| -> Vec<f64> {
                let repeated = own.tools.iter().zip(values);
                repeated.flat_map(|(&tool, value)| std::iter::repeat_n(*value, times[tool] as usize)).collect()
            };
            spearman(&drawn(found(own)), &drawn(&own.wanted))
        };
        mean(&rankings.iter().filter_map(rho).collect::<Vec<_>>())
    };
    let present = agreement(|own| &own.present)?;
    let on_tools = agreement(|own| &own.tools_held_out)? - present;
    if rankings.len() < 2 {
        return Some(on_tools);
    }
    Some(on_tools.min(agreement(|own| &own.expert_held_out)? - present))
}

/// What the present weights do not explain of experts' rankings: the rests of regressions of ranks on the ranks of the index.
///
/// The rests are shuffled, and what is explained stays (Freedman and Lane 1983). They move with the tool, for all experts
/// at once, since experts who agree are no independent witnesses; so only tools that the same experts rank change places.
pub(super) struct Unexplained {
    /// By expert and tool: what is explained and what is left; none where the expert does not rank the tool.
    experts: Vec<Vec<Option<(f64, f64)>>>,
    alike: BTreeMap<Vec<bool>, Vec<usize>>,
}

impl Unexplained {
    pub(super) fn new(tools: &RankedTools<'_>, experts: &[Expert], today: [f64; 5], order: &[usize]) -> Self {
        let of_expert = |expert: &Expert| {
            let index = expert.order.keys().map(|&tool| tools.index(tool, &today));
            let index = ranks(&index.collect::<Vec<_>>());
            let wanted = ranks(&expert.order.values().copied().collect::<Vec<_>>());
            // Both have the same mean, which changes no order.
            let middle = (index.len() + 1) as f64 / 2.0;
            let (mut both, mut squares) = (0.0, 0.0);
            for (index, wanted) in index.iter().zip(&wanted) {
                both += (index - middle) * (wanted - middle);
                squares += (index - middle) * (index - middle);
            }
            let slope = if squares > 0.0 { both / squares } else { 0.0 };
            let mut parts = vec![None; tools.parts.len()];
            for ((&tool, index), wanted) in expert.order.keys().zip(index).zip(wanted) {
                parts[tool] = Some((slope * index, wanted - slope * index));
            }
            parts
        };
        let mut alike: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
        for &tool in order {
            let by = experts.iter().map(|expert| expert.order.contains_key(&tool)).collect();
            alike.entry(by).or_default().push(tool);
        }
        Self { experts: experts.iter().map(of_expert).collect(), alike }
    }

    pub(super) fn shuffled(&self, experts: &[Expert], random: &mut Random) -> Vec<Expert> {
        let mut from: BTreeMap<usize, usize> = BTreeMap::new();
        for tools in self.alike.values() {
            let mut others = tools.clone();
            random.shuffle(&mut others);
            from.extend(tools.iter().copied().zip(others));
        }
        let ranked = |(expert, parts): (&Expert, &Vec<Option<(f64, f64)>>)| {
            let value = |(&tool, &other): (&usize, &usize)| {
                let ((explained, _), (_, rest)) = (parts[tool]?, parts[other]?);
                // Equal but for the last bits is equal.
                Some((tool, ((explained + rest) * 1e9).round()))
            };
            Expert { name: expert.name.clone(), order: from.iter().filter_map(value).collect() }
        };
        experts.iter().zip(&self.experts).map(ranked).collect()
    }
}
