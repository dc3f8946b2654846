//! Demands that tools be no worse than an earlier result.
//!
//! What became of a metric is what `karat compare` says of the same two results: the same pairs, interval, p value and rule for
//! few cases. A gate only decides what follows from it.

use super::{Evidence, GateRequest, NEAR, settle};
use crate::compare::pair_tools;
use crate::comparison::{PairBy, Request, Side, compare};
use crate::failure::Result;
use crate::report_source::select_sides;
use karat_core::comparison::{MARGIN, Rules};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::metric::table::Direction;
use karat_format::comparison::{ComparisonV1, ConclusionV1, DifferenceV1, OtherJudgesV1, PairV1};
use karat_format::gate::{DemandOutcomeV1, DemandV1, DemandsV1};
use karat_report::number::{signed, three, title, unseen};

/// A tool of the report with its earlier result, if there is one.
type WithEarlier = (Side, Option<Side>);

/// The tools to check, and each with its earlier result. [`pair_tools`] takes the names, as it does for a comparison; a tool
/// that the earlier result lacks is checked all the same.
pub(super) fn pair_with_earlier(
    all: Vec<Side>,
    earlier: Option<&[Side]>,
    names: &[String],
    place: &str,
) -> Result<(Vec<Side>, Vec<WithEarlier>)> {
    let Some(earlier) = earlier else { return Ok((select_sides(all, names, place)?, Vec::new())) };
    let pairs = pair_tools(&tool_names(earlier), &tool_names(&all), names);
    let selected = if names.is_empty() {
        select_sides(all, names, place)?
    } else {
        let wanted: Vec<String> = pairs.iter().map(|(_, new)| new.clone()).collect();
        select_sides(all, &wanted, place)?
    };
    let earlier_of = |tool: &Side| {
        let (old, _) = pairs.iter().find(|(_, new)| *new == tool.tool)?;
        earlier.iter().find(|side| side.tool == *old).cloned()
    };
    let with_earlier = selected.iter().map(|tool| (tool.clone(), earlier_of(tool))).collect();
    Ok((selected, with_earlier))
}

fn tool_names(sides: &[Side]) -> Vec<&str> {
    sides.iter().map(|side| side.tool.as_str()).collect()
}

/// What became of tools since an earlier result.
pub(super) struct NoWorse {
    label: String,
    comparison: ComparisonV1,
    /// Why a tool could not be compared.
    missing: Vec<(String, String)>,
    /// The metrics that were demanded by name.
    named: Vec<String>,
    margin: f64,
    allow_small_n: bool,
}

impl NoWorse {
    pub(super) fn compare(
        label: &str,
        tools: &[WithEarlier],
        earlier: &[Side],
        demands: &DemandsV1,
        request: &GateRequest,
    ) -> Result<Self> {
        let labelled = |side: &Side, of: &str| Side { label: format!("{} ({of})", side.tool), ..side.clone() };
        let pair = |(new, old): &WithEarlier| Some((labelled(old.as_ref()?, label), labelled(new, &request.report)));
        let pairs: Vec<(Side, Side)> = tools.iter().filter_map(pair).collect();
        let pairs: Vec<(&Side, &Side)> = pairs.iter().map(|(old, new)| (old, new)).collect();
        let margin = demands.margin.unwrap_or(MARGIN);
        let asked = Request {
            metrics: &demands.metrics,
            cluster: None,
            rules: Rules { margin, seed: request.seed, ..Rules::default() },
            pair_by: PairBy::intersection(request.intersection),
            across_judges: request.across_judges,
        };
        let is_new = tools.iter().filter(|(_, old)| old.is_none());
        let there = tool_names(earlier).join(", ");
        let why = |(new, _): &WithEarlier| (new.tool.clone(), format!("{label} has no such tool; available: {there}"));
        let bounds = demands.rules.iter().map(|bound| &bound.metric);
        Ok(Self {
            label: label.to_owned(),
            comparison: compare(&pairs, &asked)?,
            missing: is_new.map(why).collect(),
            named: demands.metrics.iter().chain(bounds).cloned().collect(),
            margin,
            allow_small_n: demands.allow_small_n,
        })
    }

    pub(super) fn other_judges(&self) -> Option<OtherJudgesV1> {
        self.comparison.other_judges().first().copied().cloned()
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.comparison.warnings.clone()
    }

    /// Checks a tool metric by metric.
    pub(super) fn check(&self, tool: &str) -> Vec<DemandV1> {
        let whole = |why: String| DemandV1 {
            tool: Some(tool.to_owned()),
            demand: format!("no worse than {}", self.label),
            why,
            ..DemandV1::default()
        };
        let Some(pair) = self.comparison.comparisons.iter().find(|pair| pair.b.tool == tool) else {
            return self.missing.iter().filter(|(name, _)| name == tool).map(|(_, why)| whole(why.clone())).collect();
        };
        if let Some(own) = pair.other_judges.as_ref().filter(|own| !own.compared) {
            return vec![whole(own.sentence.clone())];
        }
        let mut demands: Vec<DemandV1> = pair.metrics.iter().map(|one| self.check_difference(pair, one)).collect();
        let is_left_out = |demand: &DemandV1| demand.outcome == DemandOutcomeV1::LeftOut;
        let decides = |(demand, one): (&DemandV1, &DifferenceV1)| {
            let is_certain = matches!(one.verdict, ConclusionV1::Better | ConclusionV1::Worse);
            !is_left_out(demand) && (is_certain || !one.unreliable || self.allow_small_n)
        };
        let is_moved =
            |(demand, one): (&DemandV1, &DifferenceV1)| is_left_out(demand) && (one.units > 0 || one.a != one.b);
        let both = || demands.iter().zip(&pair.metrics);
        if demands.iter().all(is_left_out) && !both().any(is_moved) {
            demands.push(whole("no metric has a value".to_owned()));
        } else if both().any(is_moved) && !both().any(decides) {
            // Figures of a few cases that did not move say nothing of those that did.
            let cases = format!("no metric that changed has {RELIABLE_N} {}s", self.unit());
            demands.push(whole(format!("{cases} or more; --allow-small-n decides by fewer, --metric ID demands one")));
        }
        demands
    }

    fn check_difference(&self, pair: &PairV1, one: &DifferenceV1) -> DemandV1 {
        let name = title(&one.metric);
        let demand = DemandV1 {
            tool: Some(pair.b.tool.clone()),
            demand: format!("{name} no worse than {} by {}", self.label, self.margin),
            metric: Some(one.metric.clone()),
            value: one.difference,
            ci: one.ci,
            n: Some(one.units),
            unchanged: one.verdict == ConclusionV1::Identical,
            unseen: one.unseen,
            ..DemandV1::default()
        };
        let figures = match (one.a, one.b) {
            (None, None) => String::new(),
            (a, b) => format!("{} → {}, ", three(a), three(b)),
        };
        let n = format!("n = {}", one.units);
        // That few cases are allowed makes no interval where there is none.
        let is_few = one.units == 0 || one.unreliable && (!self.allow_small_n || one.ci.is_none());
        let upward = self.upward(one);
        let is_within = upward.is_some_and(|([low, _], _)| low > -self.margin);
        match one.verdict {
            ConclusionV1::Identical => {
                let why = format!("{figures}identical, {}", unseen(one, self.unit()).unwrap_or(n));
                return DemandV1 { outcome: DemandOutcomeV1::Holds, why, ..demand };
            }
            ConclusionV1::Inconclusive if is_few && !one.lacks_data && !self.named.contains(&one.metric) => {
                let because = if one.units == 0 { &one.because } else { "too few to decide" };
                let why = format!("{figures}{name}: {n}, {because}; left out, --metric {} demands it", one.metric);
                return DemandV1 { outcome: DemandOutcomeV1::LeftOut, why, ..demand };
            }
            _ => {}
        }
        let (Some(_), Some(([low, high], value))) = (one.difference, upward) else {
            return DemandV1 { why: format!("{figures}{n}: {}", one.because), ..demand };
        };
        let interval = |[low, high]: [f64; 2]| format!(", interval {} … {}", signed(Some(low)), signed(Some(high)));
        let moved = format!("{figures}{}{}", signed(one.difference), one.ci.map(interval).unwrap_or_default());
        let decided = |outcome, why: String| DemandV1 { outcome, why: format!("{moved}{why}"), ..demand.clone() };
        match one.verdict {
            ConclusionV1::Better | ConclusionV1::Equivalent => decided(DemandOutcomeV1::Holds, format!(", {n}")),
            ConclusionV1::Worse if high < -self.margin => decided(DemandOutcomeV1::Fails, format!(", {n}")),
            ConclusionV1::Worse => decided(
                DemandOutcomeV1::Inconclusive,
                format!(", {n}: worse, but perhaps by no more than {}", self.margin),
            ),
            _ if is_within && !is_few => decided(DemandOutcomeV1::Holds, format!(", {n}")),
            _ if high < -self.margin - NEAR => {
                let p = one.p_holm.map_or_else(|| "no p value".to_owned(), |p| format!("p = {}", three(Some(p))));
                decided(DemandOutcomeV1::Inconclusive, format!(": {n}, and {p} does not tell this from chance"))
            }
            _ => {
                let wanted = Evidence { n: one.units, cases: one.n, few: is_few };
                let (outcome, why, cases_wanted) = settle(value, [low, high], -self.margin, is_within, &wanted);
                DemandV1 { cases_wanted, ..decided(outcome, why) }
            }
        }
    }

    /// The interval and the difference where more is better. Where all cases moved by the same amount, that is all there is.
    fn upward(&self, one: &DifferenceV1) -> Option<([f64; 2], f64)> {
        let value = one.difference?;
        let is_decided = matches!(one.verdict, ConclusionV1::Better | ConclusionV1::Worse);
        let [low, high] = one.ci.or(is_decided.then_some([value, value]))?;
        Some(match one.direction {
            Direction::Up => ([low, high], value),
            Direction::Down => ([-high, -low], -value),
        })
    }

    fn unit(&self) -> &'static str {
        if self.comparison.cluster.is_some() { "cluster" } else { "case" }
    }
}
