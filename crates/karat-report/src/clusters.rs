//! One sentence about clustered cases.

use super::number::{decimals, title};
use karat_core::wording::count;
use karat_format::report::{ClustersV1, ReportV1};

/// How cases are clustered and how intervals account for it; `None` without clusters.
pub fn sentence(report: &ReportV1) -> Option<String> {
    let clusters = report.intervals.clusters.as_ref()?;
    let cases = count(clusters.shared_cases, "case");
    let groups = match (clusters.field.as_str(), clusters.groups) {
        ("repo", 1) => "1 repository".to_owned(),
        ("repo", n) => format!("{n} repositories"),
        (field, n) => format!("{} of {field}", count(n, "value")),
    };
    let shares = if clusters.shared_cases == 1 { "shares" } else { "share" };
    let done = if clusters.used { "which are resampled as a whole" } else { "but are treated as independent" };
    let effect = effect(clusters).map(|effect| format!("; design effect of {}: {effect}", title(&clusters.metric)));
    Some(format!("{cases} {shares} {groups}, {done}{}", effect.unwrap_or_default()))
}

fn effect(clusters: &ClustersV1) -> Option<String> {
    let all = || clusters.design_effect.values().copied();
    let shown = |effect: f64| decimals(effect, 2);
    let (least, most) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let (least, most) = (shown(least), shown(most));
    Some(if least == most { least } else { format!("{least} to {most}") })
}
