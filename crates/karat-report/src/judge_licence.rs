//! The judge licence: demands on the error rates of judges in probes.
//!
//! A judge must be right about plain pairs with known answers, matches and non-matches separately, since one that always
//! gives the same answer cannot be fooled. For each kind of disturbance separately, it must not be fooled on pairs that it
//! answered correctly without it.

use karat_core::probe::ProbeKind;
use karat_format::gate::{DemandOutcomeV1, DemandV1};
use karat_format::probe::{ProbeV1, RateV1};
use karat_format::report::{JudgeV1, ReportV1};

/// The default maximum rate of errors in each kind of probe.
pub const MAX_ERROR_RATE: f64 = 0.1;

/// The demands on every judge that decided something.
pub fn licences(report: &ReportV1, most: f64) -> Vec<DemandV1> {
    let of_panels: Vec<&String> =
        report.judges.iter().filter_map(|j| j.agreement.as_ref()).flat_map(|a| &a.judges).collect();
    // A panel is as good as its members, which are probed one by one.
    let members = |judge: &JudgeV1| {
        judge.agreement.as_ref().is_some_and(|a| a.judges.iter().all(|m| report.judges.iter().any(|j| j.judge == *m)))
    };
    let decided = |judge: &&JudgeV1| judge.asked + judge.cached > 0 || of_panels.contains(&&judge.judge);
    let judges: Vec<&JudgeV1> = report.judges.iter().filter(decided).filter(|judge| !members(judge)).collect();
    if judges.is_empty() {
        let demand = format!("judges wrong or fooled in ≤ {}", percent(most));
        let why = "no judge decided a pair".to_owned();
        return vec![DemandV1 { demand, outcome: DemandOutcomeV1::Holds, why, ..DemandV1::default() }];
    }
    let of_judge = |judge: &JudgeV1| match &judge.probe {
        Some(probe) => licence(&judge.judge, probe, most),
        None => {
            let why = format!("it was never probed; run: karat judge probe --judge {}", judge.judge);
            let demand = format!("judge {}: wrong or fooled in ≤ {}", judge.judge, percent(most));
            vec![DemandV1 { demand, why, ..DemandV1::default() }]
        }
    };
    judges.into_iter().flat_map(of_judge).collect()
}

/// The demands on a probed judge: each error rate must be at most `most`.
pub fn licence(judge: &str, probe: &ProbeV1, most: f64) -> Vec<DemandV1> {
    let one = |what: &str, rate: Option<&RateV1>| {
        let demand = format!("judge {judge}: {what} in ≤ {}", percent(most));
        match rate {
            Some(rate) => check_rate(demand, rate, &probe.suite, most),
            None => {
                let advice = format!("run `karat judge probe --judge {judge}` again");
                let why = format!("the probe from {} has no such pairs; {advice}", probe.suite);
                DemandV1 { demand, why, ..DemandV1::default() }
            }
        }
    };
    let mut demands = Vec::new();
    for kind in ProbeKind::ALL {
        let rate = probe.kinds.get(kind.as_str());
        match kind {
            ProbeKind::KnownRight => demands.push(one("wrong about known-right pairs", rate)),
            ProbeKind::KnownWrong => demands.push(one("wrong about known-wrong pairs", rate)),
            // A disturbance that does not apply to a judge was not tried.
            _ => demands
                .extend(rate.map(|rate| one(&format!("fooled by {}", kind.as_str().replace('_', " ")), Some(rate)))),
        }
    }
    demands.push(one("fooled by any of these", Some(&probe.fooled)));
    demands
}

fn check_rate(demand: String, rate: &RateV1, suite: &str, most: f64) -> DemandV1 {
    let none = DemandV1 { demand, value: rate.rate, ci: rate.ci, n: Some(rate.n), ..DemandV1::default() };
    let unanswered = if rate.unjudged > 0 { format!(", {} unanswered", rate.unjudged) } else { String::new() };
    let (Some(value), Some([low, high])) = (rate.rate, rate.ci) else {
        let why = format!("it answered none of these pairs{unanswered}, or none correctly before the disturbance");
        return DemandV1 { why, ..none };
    };
    let [share, from, to] = [value, low, high].map(percent);
    let RateV1 { wrong, n, .. } = rate;
    let counted = format!("{wrong} of {n} from {suite}{unanswered}: {share}, interval {from} … {to}");
    let (outcome, why) = if low > most {
        (DemandOutcomeV1::Fails, counted)
    } else if high <= most {
        (DemandOutcomeV1::Holds, counted)
    } else {
        let needed = pairs_needed(value, most, *n);
        (DemandOutcomeV1::Inconclusive, format!("{counted}: n = {n} is too small to decide{needed}"))
    };
    DemandV1 { outcome, why, ..none }
}

const Z: f64 = 1.959_963_984_540_054;

/// The approximate number of pairs that would settle it at the same rate: where the score test meets the bound.
fn pairs_needed(rate: f64, most: f64, n: usize) -> String {
    let pairs = (Z * Z * most * (1.0 - most) / (most - rate).powi(2)).ceil();
    if pairs.is_finite() && pairs > n as f64 && pairs < 1e6 {
        format!("; about {pairs} such pairs would be enough")
    } else {
        String::new()
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (1000.0 * share).round() / 10.0)
}
