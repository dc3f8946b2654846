//! Time, tokens and money that trials took.

use karat_core::scorecard::Scorecard;
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
            cost.usd = (cost.usd + cost_usd.unwrap_or_default()).min(f64::MAX);
            cost.tokens_in = cost.tokens_in.saturating_add(tokens_in.unwrap_or_default());
            cost.tokens_out = cost.tokens_out.saturating_add(tokens_out.unwrap_or_default());
            cost.n += 1;
        }
    }

    /// States them, each also for every golden found.
    pub(super) fn state(&self, scorecard: &Scorecard, measured: &mut MeasuredV1) {
        let found: HashMap<&str, usize> = scorecard.tools.iter().map(|t| (t.tool.as_str(), t.counts.tp)).collect();
        for (tool, own) in &self.by_tool {
            let tp = found.get(tool.as_str()).copied().unwrap_or_default();
            measured.outages_usd.extend(own.outages_usd.map(|usd| (tool.clone(), usd)));
            if let Some(cost) = &own.cost {
                let tokens = cost.tokens_in.saturating_add(cost.tokens_out) as f64;
                let per_tp = |sum: f64| (tp > 0).then(|| sum / tp as f64);
                let cost = CostV1 {
                    usd_per_case: cost.usd / cost.n as f64,
                    usd_per_tp: per_tp(cost.usd),
                    tokens_per_case: tokens / cost.n as f64,
                    tokens_per_tp: per_tp(tokens),
                    ..*cost
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
