//! Experts' rankings of tools, combined with the tools of reports.

mod read;

pub use read::read;

use karat_core::calibrate::sui::{Expert, Parts};
use karat_core::metric::composite::SuiParts;
use karat_core::metric::{Undefined, Value};
use karat_format::report::{MetricsV1, ReportV1};
use std::collections::BTreeMap;

/// Rankings by expert and tool.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Rankings {
    /// More is better, and only the order counts.
    pub experts: BTreeMap<String, BTreeMap<String, f64>>,
    pub notes: Vec<String>,
}

/// Rankings of the tools that can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Ranked {
    /// The ranked tools that have all parts, with these parts.
    pub tools: Vec<(String, Parts)>,
    /// What the experts think of them, by index.
    pub experts: Vec<Expert>,
    pub left_out: Vec<LeftOut>,
}

/// A tool that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct LeftOut {
    pub tool: String,
    pub why: String,
}

/// Why reports cannot be combined.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RankingError {
    #[error("{0} and {1} were scored against different suites; score all tools against the same one")]
    Suites(String, String),
    #[error("{0} and {1} were scored by different rules; score all tools by the same profile")]
    Rules(String, String),
    #[error("{0} and {1} both have the tool `{2}`; give each tool once")]
    Twice(String, String, String),
}

/// Checks that named reports can be combined: one suite, one set of rules, every tool once.
pub fn fit_together(reports: &[(String, ReportV1)]) -> Result<(), RankingError> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, report) in reports {
        if let Some((first, other)) = reports.first() {
            if other.suite.digest != report.suite.digest {
                return Err(RankingError::Suites(first.clone(), name.clone()));
            }
            if other.profile != report.profile {
                return Err(RankingError::Rules(first.clone(), name.clone()));
            }
        }
        for tool in &report.tools {
            if let Some(earlier) = seen.insert(&tool.tool, name) {
                return Err(RankingError::Twice(earlier.to_owned(), name.clone(), tool.tool.clone()));
            }
        }
    }
    Ok(())
}

/// Combines rankings with the tools of reports. With `fill`, missing parts are filled in as `sui` does.
pub fn put(rankings: &Rankings, reports: &[(String, ReportV1)], fill: bool) -> Ranked {
    let mut ranked = Ranked::default();
    for tool in reports.iter().flat_map(|(_, report)| &report.tools) {
        let known = rankings.experts.values().any(|order| order.contains_key(&tool.tool));
        let parts = if known { parts(&tool.metrics, fill) } else { Err("it was not ranked".to_owned()) };
        match parts {
            Ok(parts) => ranked.tools.push((tool.tool.clone(), parts)),
            Err(why) => ranked.left_out.push(LeftOut { tool: tool.tool.clone(), why }),
        }
    }
    for (name, order) in &rankings.experts {
        let own = ranked.tools.iter().enumerate().filter_map(|(at, (tool, _))| Some((at, *order.get(tool)?)));
        ranked.experts.push(Expert { name: name.clone(), order: own.collect() });
    }
    ranked
}

/// The parts of a tool's index, or which is missing and why.
fn parts(metrics: &MetricsV1, fill: bool) -> Result<Parts, String> {
    let why = |id: &str| {
        let reason = metrics.get(id).and_then(|estimate| estimate.undefined.as_deref());
        format!("it has no `{id}`: {}", reason.unwrap_or("the report does not have it"))
    };
    let value = |id: &str| -> Value {
        metrics.get(id).and_then(|estimate| estimate.value).ok_or(Undefined("the report does not have it"))
    };
    // A tool without an index, even with missing parts filled in, was never audited.
    if fill && value("sui").is_err() {
        return Err(why("sui"));
    }
    let [verdict_f2, target_detection_rate, finding_precision, reasoning, ece] = SuiParts::IDS.map(value);
    let parts = SuiParts { verdict_f2, target_detection_rate, finding_precision, reasoning, ece };
    parts.known(fill).map_err(why)
}
