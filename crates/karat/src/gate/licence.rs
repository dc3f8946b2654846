//! Whether the judges can be trusted.

use super::unsettled;
use crate::format::gate::{DemandV1, HeldV1};
use crate::format::report::{JudgeV1, ReportV1};

/// Every judge that decided, and how often it was fooled when it was probed.
pub(super) fn licences(report: &ReportV1, most: f64) -> Vec<DemandV1> {
    let of_panels: Vec<&String> =
        report.judges.iter().filter_map(|j| j.agreement.as_ref()).flat_map(|a| &a.judges).collect();
    // A panel is as good as its members, who are probed one by one.
    let members = |judge: &JudgeV1| {
        judge.agreement.as_ref().is_some_and(|a| a.judges.iter().all(|m| report.judges.iter().any(|j| j.judge == *m)))
    };
    let decided = |judge: &&JudgeV1| judge.asked + judge.cached > 0 || of_panels.contains(&&judge.judge);
    let judges: Vec<&JudgeV1> = report.judges.iter().filter(decided).filter(|judge| !members(judge)).collect();
    let share = format!("fooled in ≤ {} %", (100.0 * most * 100.0).round() / 100.0);
    if judges.is_empty() {
        let none = unsettled(None, format!("judges {share}"), None);
        return vec![DemandV1 { outcome: HeldV1::Holds, why: "no judge decided anything".to_owned(), ..none }];
    }
    judges.into_iter().map(|judge| licence(judge, most, format!("judge {} {share}", judge.judge))).collect()
}

fn licence(judge: &JudgeV1, most: f64, demand: String) -> DemandV1 {
    let none = unsettled(None, demand, None);
    let Some(probe) = &judge.probe else {
        let why = format!("it was never probed; do so with: karat judge probe --judge {}", judge.judge);
        return DemandV1 { why, ..none };
    };
    let fooled = &probe.fooled;
    let none = DemandV1 { value: fooled.rate, ci: fooled.ci, n: Some(fooled.n), ..none };
    let Some(rate) = fooled.rate else {
        return DemandV1 { why: "no probe that it answered says so; probe it on more goldens".to_owned(), ..none };
    };
    let why = format!("fooled in {} of {} probes made of {}", fooled.wrong, fooled.n, probe.suite);
    DemandV1 { outcome: if rate <= most { HeldV1::Holds } else { HeldV1::Fails }, why, ..none }
}
