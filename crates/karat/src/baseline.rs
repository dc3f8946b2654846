//! A baseline: results of tools or assessors, taken from a report and written so that a diff shows which case changed.

use crate::comparison::{CaseSide, MetricFormula, Side};
use crate::failure::Result;
use crate::judge::run::JudgeObserver;
use crate::report_source::{ReportLoader, find_metric, refuse_failed, refuse_foreign_metrics, select_sides};
use karat_core::clusters::DEFAULT_FIELD;
use karat_format::baseline::{BaselineCaseV1, BaselineMetricV1, BaselineToolV1, BaselineV1, NamedDigestV1, SCHEMA};
use karat_format::report::FiguresV1;
use karat_store::StoreLocation;

/// The result to keep.
pub struct BaselineRequest {
    /// A run, or a report file.
    pub report: String,
    /// Default: all.
    pub tools: Vec<String>,
    /// Default: those of the profile.
    pub metrics: Vec<String>,
    /// The store with the runs.
    pub store: StoreLocation,
}

/// Takes the baseline of a finished result.
pub fn take_baseline(request: &BaselineRequest, observer: &mut dyn JudgeObserver) -> Result<BaselineV1> {
    for id in &request.metrics {
        find_metric(id)?;
    }
    let (report, _) = ReportLoader { store: &request.store, observer }.load(&request.report)?;
    let sides = select_sides(report.sides(&request.report), &request.tools, &request.report)?;
    refuse_failed(&report, &sides, &request.report)?;
    refuse_foreign_metrics(&request.metrics, &sides, &request.report)?;
    Ok(baseline(&sides, &request.metrics))
}

/// The baseline of some metrics of the tools or assessors of a report; without metrics, those that the report puts first.
pub fn baseline(sides: &[Side], metrics: &[String]) -> BaselineV1 {
    let named = |of: fn(&Side) -> [&String; 2]| {
        let [name, digest] = sides.first().map(|side| of(side).map(String::clone)).unwrap_or_default();
        NamedDigestV1 { name, digest }
    };
    BaselineV1 {
        schema: SCHEMA.to_owned(),
        suite: named(|side| [&side.suite, &side.digest]),
        profile: named(|side| [&side.profile, &side.profile_digest]),
        judges: sides.first().map(|side| side.judges.clone()).unwrap_or_default(),
        judge_identities: sides.first().map(|side| side.judge_identities.clone()).unwrap_or_default(),
        tools: sides.iter().map(|side| of_side(side, metrics)).collect(),
    }
}

fn of_side(side: &Side, metrics: &[String]) -> BaselineToolV1 {
    let ids = if metrics.is_empty() { &side.headline } else { metrics };
    let formulas: Vec<MetricFormula> = ids.iter().filter_map(|id| MetricFormula::new(&[side], id).ok()).collect();
    let over_parts = ids.iter().any(|id| side.over_parts.contains(id));
    let metric = |id: &String| {
        let estimate = side.stated.get(id)?;
        let ci = estimate.ci.map(|ends| ends.map(rounded));
        Some((id.clone(), BaselineMetricV1 { value: estimate.value.map(rounded), ci, n: estimate.n }))
    };
    let case = |(id, case): (&String, &CaseSide)| {
        let kept = |all: &FiguresV1, reads: &dyn Fn(&MetricFormula, &str) -> bool| {
            let wanted = |(name, _): &(&str, f64)| formulas.iter().any(|formula| reads(formula, name));
            all.iter().filter(wanted).map(|(name, value)| (name.to_owned(), rounded(value))).collect()
        };
        BaselineCaseV1 {
            case: id.clone(),
            goldens: case.goldens.clone(),
            counted: case.counted,
            repo: case.fields.get(DEFAULT_FIELD).cloned(),
            parts: if over_parts { case.parts.clone() } else { Vec::new() },
            values: kept(&case.values, &MetricFormula::reads_value),
            sums: kept(&case.sums, &MetricFormula::reads_sum),
            found: case.found.iter().map(|(golden, tally)| (golden.clone(), [tally.found, tally.trials])).collect(),
        }
    };
    BaselineToolV1 {
        tool: side.tool.clone(),
        metrics: ids.iter().filter_map(metric).collect(),
        cases: side.cases.iter().map(case).collect(),
    }
}

/// Rounds to twelve decimals, since the last digits depend on the order of a sum and would show up in diffs.
fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12 + 0.0
}

/// Formats a baseline as JSON, with a line for every metric and every case.
pub fn text(baseline: &BaselineV1) -> String {
    let tool = |tool: &BaselineToolV1| {
        let metrics: Vec<String> =
            tool.metrics.iter().map(|(id, metric)| format!("        {}: {}", json(id), json(metric))).collect();
        let cases: Vec<String> = tool.cases.iter().map(|case| format!("        {}", json(case))).collect();
        format!(
            "    {{\n      \"tool\": {},\n      \"metrics\": {{\n{}\n      }},\n      \"cases\": [\n{}\n      ]\n    }}",
            json(&tool.tool),
            metrics.join(",\n"),
            cases.join(",\n")
        )
    };
    let tools: Vec<String> = baseline.tools.iter().map(tool).collect();
    let identities = match baseline.judge_identities.is_empty() {
        true => String::new(),
        false => format!("\n  \"judge_identities\": {},", json(&baseline.judge_identities)),
    };
    format!(
        "{{\n  \"schema\": {},\n  \"suite\": {},\n  \"profile\": {},\n  \"judges\": {},{identities}\n  \"tools\": [\n{}\n  ]\n}}\n",
        json(&baseline.schema),
        json(&baseline.suite),
        json(&baseline.profile),
        json(&baseline.judges),
        tools.join(",\n")
    )
}

/// A value on one line; the parts of a baseline always serialise.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::report::JudgeIdentityV1;
    use std::collections::BTreeMap;

    #[test]
    fn the_file_holds_what_the_value_does() {
        let case = |name: &str| BaselineCaseV1 {
            case: name.to_owned(),
            goldens: "1f".to_owned(),
            counted: name == "x",
            repo: (name == "x").then(|| "r".to_owned()),
            parts: vec![name.to_owned()],
            values: [("f1".to_owned(), 0.333_333)].into(),
            sums: BTreeMap::new(),
            found: [("g \"1\"".to_owned(), [1, 3])].into(),
        };
        let named = |name: &str| NamedDigestV1 { name: name.to_owned(), digest: "d".to_owned() };
        let metric = BaselineMetricV1 { value: Some(0.5), ci: None, n: 2 };
        let tools = ["a", "b"].map(|tool| BaselineToolV1 {
            tool: tool.to_owned(),
            metrics: [("f1".to_owned(), metric.clone())].into(),
            cases: vec![case("x"), case("y\n")],
        });
        for tools in [Vec::new(), tools.to_vec()] {
            let (schema, judges) = (SCHEMA.to_owned(), vec!["local".to_owned()]);
            let identity = JudgeIdentityV1 { provider: "local".to_owned(), ..JudgeIdentityV1::default() };
            let judge_identities =
                judges.iter().filter(|_| !tools.is_empty()).map(|name| (name.clone(), identity.clone()));
            let judge_identities = judge_identities.collect();
            let whole = BaselineV1 { schema, suite: named("s"), profile: named("p"), judges, judge_identities, tools };
            let read: BaselineV1 = serde_json::from_str(&text(&whole)).unwrap();
            assert_eq!(read, whole);
        }
    }
}
