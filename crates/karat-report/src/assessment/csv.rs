//! Renders an assessment report as CSV: one row per assessor, requirement and metric.

use crate::csv::{harmless, number};
use karat_format::assessment::AssessmentReportV1;

const HEADER: &str = "assessor,scope,template,bundle,requirement,golden,said,metric,value,ci_low,ci_high";

/// Renders all figures in long form.
pub fn draw(report: &AssessmentReportV1) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and a row always has the header's length.
    let _ = writer.write_record(HEADER.split(','));
    let mut write = |texts: [&str; 8], value: Option<f64>, ci: Option<[f64; 2]>| {
        let numbers = [value, ci.map(|ci| ci[0]), ci.map(|ci| ci[1])].map(number);
        let _ = writer.write_record(texts.into_iter().chain(numbers.iter().map(String::as_str)).map(harmless));
    };
    if let Some(retrieval) = &report.retrieval {
        for (id, estimate) in retrieval.metrics.iter() {
            write(["", "all", "", "", "", "", "", id], estimate.value, estimate.ci);
        }
        for one in &retrieval.requirements {
            let [template, bundle, requirement] =
                [&one.template_id, &one.bundle_id, &one.requirement_id].map(String::as_str);
            let texts = ["", "requirement", template, bundle, requirement, "", "", "retrieval_recall"];
            write(texts, one.recall, None);
        }
    }
    for (name, assessment) in report.assessments.iter() {
        for (id, estimate) in assessment.metrics.iter() {
            write([name, "all", "", "", "", "", "", id], estimate.value, estimate.ci);
        }
        for one in &assessment.requirements {
            let [template, bundle, requirement] =
                [&one.template_id, &one.bundle_id, &one.requirement_id].map(String::as_str);
            let (golden, verdict) = (one.golden.as_str(), one.said.map_or("unanswered", |verdict| verdict.as_str()));
            for (metric, value) in [
                ("mean_combined_score", one.combined),
                ("mean_compliance_score", one.compliance),
                ("mean_evidence_score", one.evidence),
            ] {
                write([name, "requirement", template, bundle, requirement, golden, verdict, metric], value, None);
            }
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}
