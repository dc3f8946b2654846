//! Whether the judges can be trusted: each must have been probed, be right about pairs whose answer is known, and not be fooled.
//!
//! Being fooled is counted among pairs that were answered rightly before anything was added to them. A judge that always gives
//! the same answer cannot be fooled, so the plain pairs are demanded on as well, right ones and wrong ones apart; and each way
//! of disturbing pairs apart, as a judge that gives in to one of them may withstand all others.

use super::unsettled;
use crate::format::gate::{DemandV1, HeldV1};
use crate::format::probe::{ProbeV1, RateV1};
use crate::format::report::{JudgeV1, ReportV1};
use karat_core::probe::Kind;

/// The demands on every judge that decided something.
pub(super) fn licences(report: &ReportV1, most: f64) -> Vec<DemandV1> {
    let of_panels: Vec<&String> =
        report.judges.iter().filter_map(|j| j.agreement.as_ref()).flat_map(|a| &a.judges).collect();
    // A panel is as good as its members, who are probed one by one.
    let members = |judge: &JudgeV1| {
        judge.agreement.as_ref().is_some_and(|a| a.judges.iter().all(|m| report.judges.iter().any(|j| j.judge == *m)))
    };
    let decided = |judge: &&JudgeV1| judge.asked + judge.cached > 0 || of_panels.contains(&&judge.judge);
    let judges: Vec<&JudgeV1> = report.judges.iter().filter(decided).filter(|judge| !members(judge)).collect();
    if judges.is_empty() {
        let none = unsettled(None, format!("judges wrong or fooled in ≤ {}", percent(most)), None);
        return vec![DemandV1 { outcome: HeldV1::Holds, why: "no judge decided anything".to_owned(), ..none }];
    }
    let of_judge = |judge: &JudgeV1| match &judge.probe {
        Some(probe) => licence(&judge.judge, probe, most),
        None => {
            let why = format!("it was never probed; do so with: karat judge probe --judge {}", judge.judge);
            let demand = format!("judge {}: wrong or fooled in ≤ {}", judge.judge, percent(most));
            vec![DemandV1 { why, ..unsettled(None, demand, None) }]
        }
    };
    judges.into_iter().flat_map(of_judge).collect()
}

/// What a licence demands of a judge that was probed: that each rate of errors be at most `most`.
pub fn licence(judge: &str, probe: &ProbeV1, most: f64) -> Vec<DemandV1> {
    let one = |what: &str, rate: Option<&RateV1>| {
        let demand = format!("judge {judge}: {what} in ≤ {}", percent(most));
        match rate {
            Some(rate) => hold(demand, rate, &probe.suite, most),
            None => {
                let why = format!(
                    "the probe made of {} has no such pairs; run `karat judge probe --judge {judge}` again",
                    probe.suite
                );
                DemandV1 { why, ..unsettled(None, demand, None) }
            }
        }
    };
    let mut demands = Vec::new();
    for kind in Kind::ALL {
        let rate = probe.kinds.get(kind.name());
        match kind {
            Kind::KnownRight => demands.push(one("wrong about known-right pairs", rate)),
            Kind::KnownWrong => demands.push(one("wrong about known-wrong pairs", rate)),
            // One that does not apply to a judge was not tried on it.
            _ => demands
                .extend(rate.map(|rate| one(&format!("fooled by {}", kind.name().replace('_', " ")), Some(rate)))),
        }
    }
    demands.push(one("fooled by any of these", Some(&probe.fooled)));
    demands
}

/// A rate of errors against the most that is allowed, by its interval.
fn hold(demand: String, rate: &RateV1, suite: &str, most: f64) -> DemandV1 {
    let none = DemandV1 { value: rate.rate, ci: rate.ci, n: Some(rate.n), ..unsettled(None, demand, None) };
    let unanswered = if rate.unjudged > 0 { format!(", {} unanswered", rate.unjudged) } else { String::new() };
    let (Some(value), Some([low, high])) = (rate.rate, rate.ci) else {
        let why = format!("it answered none of these pairs{unanswered}, or none rightly before they were disturbed");
        return DemandV1 { why, ..none };
    };
    let counted = format!(
        "{} of {} made of {suite}{unanswered}: {}, interval {} … {}",
        rate.wrong,
        rate.n,
        percent(value),
        percent(low),
        percent(high)
    );
    let (outcome, why) = if low > most {
        (HeldV1::Fails, counted)
    } else if high <= most {
        (HeldV1::Holds, counted)
    } else {
        (HeldV1::Inconclusive, format!("{counted}: n = {} cannot tell{}", rate.n, wanted(value, most, rate.n)))
    };
    DemandV1 { outcome, why, ..none }
}

/// The quantile of the normal distribution for intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// About how many pairs would settle it at the same rate: an end of Wilson's interval is where the score test meets the bound.
fn wanted(rate: f64, most: f64, n: usize) -> String {
    let pairs = (Z * Z * most * (1.0 - most) / (most - rate).powi(2)).ceil();
    if pairs.is_finite() && pairs > n as f64 && pairs < 1e6 {
        format!("; about {pairs} such pairs would do")
    } else {
        String::new()
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (1000.0 * share).round() / 10.0)
}
