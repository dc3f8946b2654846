//! Renders an assessment report as CSV: one row per assessor, requirement and metric.

use crate::csv::{harmless, number};
use karat_format::assessment::AssessmentReportV1;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;

const HEADER: &str = "assessor,scope,template,bundle,requirement,golden,said,metric,value,ci_low,ci_high";

/// Renders all figures in long form.
pub fn draw(report: &AssessmentReportV1) -> String {
    let mut rows: Vec<[String; 11]> = Vec::new();
    if let Some(retrieval) = &report.retrieval {
        push_metrics(&mut rows, "", &retrieval.metrics);
        for one in &retrieval.requirements {
            let mut row = blank("", "requirement", [&one.template_id, &one.bundle_id, &one.requirement_id]);
            (row[7], row[8]) = ("retrieval_recall".to_owned(), number(one.recall));
            rows.push(row);
        }
    }
    for (name, assessment) in report.assessments.iter() {
        push_metrics(&mut rows, name, &assessment.metrics);
        for one in &assessment.requirements {
            let values = [
                ("mean_combined_score", Some(one.combined)),
                ("mean_compliance_score", Some(one.compliance)),
                ("mean_evidence_score", one.evidence),
            ];
            for (metric, value) in values {
                let mut row = blank(name, "requirement", [&one.template_id, &one.bundle_id, &one.requirement_id]);
                row[5] = one.golden.name().to_owned();
                row[6] = one.said.map_or("unanswered", |said| said.name()).to_owned();
                (row[7], row[8]) = (metric.to_owned(), number(value));
                rows.push(row);
            }
        }
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and a row always has the header's length.
    let _ = writer.write_record(HEADER.split(','));
    for row in rows {
        let _ = writer.write_record(row.iter().map(|field| harmless(field)));
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn push_metrics(rows: &mut Vec<[String; 11]>, name: &str, metrics: &OrderedMap<EstimateV1>) {
    for (id, estimate) in metrics.iter() {
        let mut row = blank(name, "all", ["", "", ""]);
        (row[7], row[8]) = (id.to_owned(), number(estimate.value));
        (row[9], row[10]) = (number(estimate.ci.map(|ci| ci[0])), number(estimate.ci.map(|ci| ci[1])));
        rows.push(row);
    }
}

fn blank(name: &str, scope: &str, [template, bundle, requirement]: [&str; 3]) -> [String; 11] {
    let mut row: [String; 11] = Default::default();
    for (field, text) in row.iter_mut().zip([name, scope, template, bundle, requirement]) {
        *field = text.to_owned();
    }
    row
}
