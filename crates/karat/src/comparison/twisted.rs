//! What a tool finds on the original and not on a variant that means the same.

use super::RECALL;
use karat_core::stats::interval::wilson;
use karat_core::wording::count;
use karat_format::comparison::{PairV1, TwistedV1};
use karat_report::number::{p_value, signed_points};

/// What was lost and gained, from the goldens and metrics of a pair.
pub(super) fn summary(pair: &PairV1, level: f64) -> TwistedV1 {
    let goldens = &pair.goldens;
    let (lost, gained) = (goldens.lost.len(), goldens.gained.len());
    let found = goldens.both + lost;
    let lost_ci = wilson(lost, found, level).ok().map(|interval| [interval.low, interval.high]);
    let recall = pair.metrics.iter().find(|metric| metric.metric == RECALL);
    let summary = TwistedV1 {
        found,
        still_found: goldens.both,
        lost,
        gained,
        neither: goldens.neither,
        lost_share: (found > 0).then(|| lost as f64 / found as f64),
        lost_ci,
        recall_difference: recall.and_then(|metric| metric.difference),
        recall_ci: recall.and_then(|metric| metric.ci),
        p: goldens.p,
        statement: String::new(),
    };
    TwistedV1 { statement: statement(&summary, level), ..summary }
}

fn statement(summary: &TwistedV1, level: f64) -> String {
    let TwistedV1 { found, still_found, lost, gained, .. } = summary;
    let percent = 100.0 * level;
    let mut text = match (summary.lost_share, summary.lost_ci) {
        (Some(share), Some([low, high])) => format!(
            "of {} found on the original, {still_found} {} found on the twisted cases; {lost} {} lost ({:.1} %, {percent:.0} % \
             interval {:.1} to {:.1} %)",
            count(*found, "golden"),
            if *still_found == 1 { "is" } else { "are" },
            if *lost == 1 { "was" } else { "were" },
            100.0 * share,
            100.0 * low,
            100.0 * high,
        ),
        _ => "no golden was found on the original, so nothing could be lost".to_owned(),
    };
    if *gained > 0 {
        text.push_str(&format!("; {gained} {} gained", if *gained == 1 { "was" } else { "were" }));
    }
    if let Some(difference) = summary.recall_difference {
        let interval = summary.recall_ci.map_or_else(String::new, |[low, high]| {
            format!(" ({percent:.0} % interval {} to {})", signed_points(low), signed_points(high))
        });
        text.push_str(&format!("; recall changes by {} points{interval}", signed_points(difference)));
    }
    let p = match p_value(Some(summary.p)) {
        p if p.starts_with('<') => p.replacen('<', "< ", 1),
        p => format!("= {p}"),
    };
    if lost + gained > 0 {
        text.push_str(&format!("; McNemar p {p}"));
    }
    text
}
