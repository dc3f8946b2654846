//! Experts' rankings of tools: read whole or refused whole, and put to the tools of reports.

mod read;

pub use read::read;

use karat_core::calibrate::sui::{Expert, Parts};
use karat_core::metric::composite::SuiParts;
use karat_core::metric::{Undefined, Value};
use karat_format::report::{MetricsV1, ReportV1};
use std::collections::BTreeMap;

/// What experts think of tools: by expert, then by tool, how good it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rankings {
    /// More is better, and only the order counts.
    pub experts: BTreeMap<String, BTreeMap<String, f64>>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
}

/// Rankings put to the tools that can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The tools that somebody ranked and that have all parts, with these parts.
    pub tools: Vec<(String, Parts)>,
    /// What the experts think of them, by index.
    pub experts: Vec<Expert>,
    /// Tools that are not among them, and why.
    pub left_out: Vec<LeftOut>,
}

/// A tool that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// The tool.
    pub tool: String,
    /// The reason.
    pub why: String,
}

/// Why reports cannot be taken together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RankingError {
    /// They were scored against different suites, whose figures cannot be compared.
    #[error("{0} and {1} were scored against different suites; score all tools against the same one")]
    Suites(String, String),
    /// They were scored by different rules.
    #[error("{0} and {1} were scored by different rules; score all tools by the same profile")]
    Rules(String, String),
    /// A tool stands in two of them.
    #[error("{0} and {1} both have the tool `{2}`; give each tool once")]
    Twice(String, String, String),
}

/// Whether reports, each with the name it goes by, can be taken together: one suite, one set of rules, every tool once.
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

/// Puts rankings to the tools of reports. With `fill`, what a tool lacks is filled in as `sui` does.
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

/// The parts of a tool's index, or what it lacks and why.
fn parts(metrics: &MetricsV1, fill: bool) -> Result<Parts, String> {
    let why = |id: &str| {
        let reason = metrics.get(id).and_then(|estimate| estimate.undefined.as_deref());
        format!("it has no `{id}`: {}", reason.unwrap_or("the report does not have it"))
    };
    let value = |id: &str| -> Value {
        metrics.get(id).and_then(|estimate| estimate.value).ok_or(Undefined("the report does not have it"))
    };
    // What has no index even with gaps filled was never audited.
    if fill && value("sui").is_err() {
        return Err(why("sui"));
    }
    let [verdict_f2, target_detection_rate, finding_precision, reasoning, ece] = SuiParts::IDS.map(value);
    let parts = SuiParts { verdict_f2, target_detection_rate, finding_precision, reasoning, ece };
    parts.known(fill).map_err(why)
}
