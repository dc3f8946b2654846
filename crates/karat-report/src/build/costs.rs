//! Time, tokens and money that trials took.

use karat_core::scorecard::{Scorecard, ToolScore};
use karat_core::stats::summary::mean;
use karat_core::trial::{Outcome, Trial};
use karat_format::report::{CostV1, LatencyV1, MeasuredV1};
use std::collections::{BTreeMap, HashMap};

/// What the trials of every tool took, added up in the order in which trials are given.
#[derive(Clone, Debug, Default)]
pub struct TrialCosts {
    by_tool: BTreeMap<String, ToolCosts>,
}

#[derive(Clone, Debug, Default)]
struct ToolCosts {
    latencies: Vec<f64>,
    cost: Option<CostV1>,
    /// How many trials state a price.
    priced: usize,
    /// The tokens of those that state both those sent and those received, and how many these are.
    tokens: u64,
    metered: usize,
    outages_usd: Option<f64>,
}

impl TrialCosts {
    /// The costs of these trials.
    pub fn new<'t>(trials: impl IntoIterator<Item = &'t Trial>) -> Self {
        let mut costs = Self::default();
        trials.into_iter().for_each(|trial| costs.add(trial));
        costs
    }

    /// Adds a trial.
    pub fn add(&mut self, trial: &Trial) {
        let Trial { outcome, latency_ms, cost_usd, tokens_in, tokens_out, .. } = trial;
        let states_cost = cost_usd.is_some() || tokens_in.is_some() || tokens_out.is_some();
        if latency_ms.is_none() && !states_cost {
            return;
        }
        let own = match self.by_tool.get_mut(trial.tool.as_str()) {
            Some(own) => own,
            None => self.by_tool.entry(trial.tool.to_string()).or_default(),
        };
        if *outcome == Outcome::Unavailable {
            // How long an outage took, and what it cost, says nothing about a tool; but it was paid.
            if let Some(usd) = cost_usd.filter(|usd| *usd > 0.0) {
                own.outages_usd = Some((own.outages_usd.unwrap_or_default() + usd).min(f64::MAX));
            }
            return;
        }
        own.latencies.extend(latency_ms);
        if states_cost {
            let cost = own.cost.get_or_insert_default();
            if let Some(usd) = cost_usd {
                cost.usd = Some((cost.usd.unwrap_or_default() + usd).min(f64::MAX));
                own.priced += 1;
            }
            for (sum, stated) in [(&mut cost.tokens_in, tokens_in), (&mut cost.tokens_out, tokens_out)] {
                if let Some(tokens) = stated {
                    *sum = Some(sum.unwrap_or_default().saturating_add(*tokens));
                }
            }
            if let (Some(sent), Some(received)) = (tokens_in, tokens_out) {
                own.tokens = own.tokens.saturating_add(*sent).saturating_add(*received);
                own.metered += 1;
            }
            cost.n += 1;
        }
    }

    /// States them, each also for every golden found.
    pub(super) fn state(&self, scorecard: &Scorecard, measured: &mut MeasuredV1) {
        let scores: HashMap<&str, &ToolScore> = scorecard.tools.iter().map(|tool| (tool.tool.as_str(), tool)).collect();
        for (tool, own) in &self.by_tool {
            let score = scores.get(tool.as_str());
            let tp = score.map_or(0, |score| score.counts.tp);
            measured.outages_usd.extend(own.outages_usd.map(|usd| (tool.clone(), usd)));
            if let Some(cost) = &own.cost {
                let tokens = (own.metered > 0).then_some(own.tokens as f64);
                let per_tp = |sum: f64| (tp > 0).then(|| sum / tp as f64);
                // What never ran cost nothing.
                let free = [Outcome::Unavailable, Outcome::Skipped];
                let ran = |score: &&ToolScore| -> usize {
                    score.outcomes.iter().filter(|(outcome, _)| !free.contains(outcome)).map(|(_, count)| count).sum()
                };
                let cost = CostV1 {
                    usd_is_lower_bound: cost.usd.is_some() && own.priced < score.map_or(cost.n, ran).max(cost.n),
                    usd_undefined: cost.usd.is_none().then(|| "its trials state tokens and no price".to_owned()),
                    usd_per_case: cost.usd.map(|usd| usd / own.priced as f64),
                    usd_per_tp: cost.usd.and_then(per_tp),
                    tokens_per_case: tokens.map(|sum| sum / own.metered as f64),
                    tokens_per_tp: tokens.filter(|_| own.metered == cost.n).and_then(per_tp),
                    ..cost.clone()
                };
                measured.cost.insert(tool.clone(), cost);
            }
            if !own.latencies.is_empty() {
                let n = own.latencies.len();
                let mean_ms = mean(&own.latencies).unwrap_or_default().min(f64::MAX);
                let ms_per_tp = (tp > 0).then(|| (mean_ms * n as f64 / tp as f64).min(f64::MAX));
                measured.latency.insert(tool.clone(), LatencyV1 { mean_ms, ms_per_tp, n });
            }
        }
    }
}
