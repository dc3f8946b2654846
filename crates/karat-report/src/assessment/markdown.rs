//! Renders an assessment report as Markdown.

use super::{facts, searched, stages, templates, two, verdict};
use crate::compare::markdown_cells;
use crate::markdown::{escape, warnings};
use crate::number::{span, three, title};
use karat_format::assessment::{AssessmentReportV1, StageV1};
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;

/// Renders the report.
pub fn draw(report: &AssessmentReportV1) -> String {
    let mut out = format!("## Karat: {}\n\n{}\n", escape(&templates(report)), escape(&facts(report)));
    let has_answers = report.stage != StageV1::Retrieve;
    if has_answers {
        let assessors: Vec<(&str, &OrderedMap<EstimateV1>)> =
            report.assessments.iter().map(|(name, one)| (name, &one.metrics)).collect();
        out.push_str(&figures(&assessors));
        for (name, one) in report.assessments.iter().filter(|(_, one)| one.kept + one.lost.len() > 0) {
            out.push_str(&format!("- {}: {}\n", escape(name), escape(&stages(one))));
        }
    }
    if let Some(retrieval) = &report.retrieval {
        out.push_str(&figures(&[("retrieval", &retrieval.metrics)]));
        out.push_str(&format!("- {} · k = {}\n", escape(&searched(report)), retrieval.k));
    }
    for pair in report.comparison.iter().flat_map(|comparison| &comparison.pairs) {
        out.push_str(&format!("\n### {} → {}\n\n", escape(&pair.a), escape(&pair.b)));
        out.push_str("| metric | change | 95 % interval | p | verdict |\n|---|---:|---|---:|---|\n");
        for row in &pair.metrics {
            out.push_str(&format!("| {} {}", escape(title(&row.metric)), markdown_cells(row)));
        }
    }
    if has_answers {
        out.push_str(&requirements(report));
    }
    out + &warnings(&report.warnings)
}

fn figures(sets: &[(&str, &OrderedMap<EstimateV1>)]) -> String {
    let heads: Vec<String> = sets.iter().map(|(name, _)| format!(" {} |", escape(name))).collect();
    let mut out = format!("\n| metric |{}\n|---|{}\n", heads.concat(), "---:|".repeat(sets.len()));
    let ids: Vec<&str> = sets.first().map(|(_, metrics)| metrics.names().collect()).unwrap_or_default();
    for id in ids {
        let value = |(_, metrics): &(&str, &OrderedMap<EstimateV1>)| {
            let estimate = metrics.get(id);
            let ci = estimate.and_then(|e| e.ci).map(|ci| format!(" ({})", span(Some(ci)))).unwrap_or_default();
            format!(" {}{ci} |", three(estimate.and_then(|e| e.value)))
        };
        out.push_str(&format!("| {} |{}\n", escape(title(id)), sets.iter().map(value).collect::<String>()));
    }
    out.push('\n');
    out
}

fn requirements(report: &AssessmentReportV1) -> String {
    let heads: Vec<String> = report.assessments.names().map(|name| format!(" {} | combined |", escape(name))).collect();
    let mut out = String::from("\n<details><summary>Requirements</summary>\n\n");
    out.push_str(&format!("| bundle | requirement | golden |{}\n", heads.concat()));
    out.push_str(&format!("|---|---|---|{}\n", "---|---:|".repeat(heads.len())));
    let Some((_, first)) = report.assessments.0.first() else { return String::new() };
    for (at, one) in first.requirements.iter().enumerate() {
        let cells = report.assessments.iter().map(|(_, assessment)| {
            let own = &assessment.requirements[at];
            let mark = if own.said == Some(own.golden) { "" } else { "**" };
            format!(" {mark}{}{mark} | {} |", verdict(own.said), two(own.combined))
        });
        let (bundle, requirement, golden) =
            (escape(&one.bundle_id), escape(&one.requirement_id), verdict(Some(one.golden)));
        out.push_str(&format!("| {bundle} | {requirement} | {golden} |{}\n", cells.collect::<String>()));
    }
    out.push_str("\n</details>\n");
    out
}
