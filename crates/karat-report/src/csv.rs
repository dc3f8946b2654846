//! Renders a report as CSV: one row per tool, slice and metric.

use super::TerminalStyle;
use karat_core::metric::table::direction;
use karat_format::report::{EstimateV1, MetricsV1, ReportV1};

const HEADER: &str = "tool,scope,dimension,value_of,metric,value,ci_low,ci_high,n,std_trials,std_cases,unreliable,rank_low,\
    rank_high";

/// Renders all metrics in long form.
pub fn draw(report: &ReportV1, _: &TerminalStyle) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and a row always has the header's length.
    let _ = writer.write_record(HEADER.split(','));
    // Tools are ranked by the whole suite, or by means over a dimension.
    let headline = report.profile.headline_macro_by.as_deref().map_or(("suite", ""), |dimension| ("macro", dimension));
    let mut rows = |tool: &str, scope: &str, dimension: &str, value_of: &str, metrics: &MetricsV1| {
        let is_headline = (scope, dimension) == headline;
        for (id, e) in metrics {
            let ranked = report.ranking.as_ref().filter(|ranking| is_headline && ranking.metric == *id);
            let own = ranked.and_then(|ranking| ranking.tools.iter().find(|own| own.tool == tool));
            let _ = writer.write_record([
                harmless(tool).as_str(),
                scope,
                &harmless(dimension),
                &harmless(value_of),
                &harmless(id),
                &number(e.value),
                &number(e.ci.map(|ci| ci[0])),
                &number(e.ci.map(|ci| ci[1])),
                &e.n.to_string(),
                &number(e.std_trials),
                &number(e.std_cases),
                if e.unreliable { "true" } else { "" },
                &number(own.and_then(|own| own.rank_low)),
                &number(own.and_then(|own| own.rank_high)),
            ]);
        }
    };
    for tool in &report.tools {
        rows(&tool.tool, "suite", "", "", &tool.metrics);
        rows(&tool.tool, "micro", "", "", &tool.micro);
        for (dimension, values) in &tool.by {
            for (value, slice) in values {
                rows(&tool.tool, "slice", dimension, value, &slice.metrics);
            }
        }
        for (dimension, metrics) in &tool.macro_by {
            rows(&tool.tool, "macro", dimension, "", metrics);
        }
        for case in &tool.cases {
            let n = case.counted().count();
            let bare = case.values.iter().map(|(id, value)| {
                (id.to_owned(), EstimateV1 { value: Some(value), n, direction: direction(id), ..EstimateV1::default() })
            });
            rows(&tool.tool, "case", "case", &case.case, &case.metrics);
            rows(&tool.tool, "case", "case", &case.case, &bare.collect());
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

pub(super) fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

pub(super) fn harmless(field: &str) -> String {
    let field = karat_format::diagnostic::harmless(field);
    if field.starts_with(['=', '+', '-', '@']) { format!("'{field}") } else { field.into_owned() }
}
