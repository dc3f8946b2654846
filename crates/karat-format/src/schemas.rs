//! The table of published JSON Schemas.

use super::assessment::AssessmentReportV1;
use super::baseline::BaselineV1;
use super::case::CaseV1;
use super::comparison::ComparisonV1;
use super::config::ConfigV1;
use super::gate::{DemandsV1, GateV1};
use super::golden_record::GoldenRecordV0_4;
use super::judgement::JudgementV1;
use super::patterns::RulesV1;
use super::power::PowerV1;
use super::ranking::RankedV1;
use super::report::ReportV1;
use super::run::PlanV1;
use super::submission::TrialV1;
use super::template::TemplateV1;
use super::tool::ToolManifestV1;
use karat_core::profile::Profile;
use schemars::{JsonSchema, Schema};

/// A published schema.
#[expect(missing_docs, reason = "field names say it")]
pub struct PublishedSchema {
    /// Its file under `schemas/`.
    pub file: &'static str,
    pub describes: &'static str,
    pub make: fn() -> Schema,
}

/// All published schemas.
pub static SCHEMAS: &[PublishedSchema] = &[
    published::<ConfigV1>("config.json", "karat.toml"),
    published::<CaseV1>("case.json", "case.yaml, a line of cases.jsonl, and challenge.yaml"),
    published::<TrialV1>("submission.json", "a line of a submission"),
    published::<JudgementV1>("judgement.json", "a line of recorded judgements"),
    published::<Profile>("profile.json", "a fully resolved profile"),
    published::<ReportV1>("report.json", "a report"),
    published::<ToolManifestV1>("tool.json", "a tool's manifest"),
    published::<RulesV1>("patterns.json", "rules of the built-in baseline"),
    published::<PlanV1>("plan.json", "the plan of a run"),
    published::<ComparisonV1>("comparison.json", "a comparison"),
    published::<BaselineV1>("baseline.json", "a baseline"),
    published::<DemandsV1>("gate-rules.json", "demands for `karat gate --rules`"),
    published::<GateV1>("gate.json", "the result of a gate"),
    published::<PowerV1>("power.json", "a power analysis"),
    published::<RankedV1>("ranking.json", "a line of an expert's ranking of tools"),
    published::<AssessmentReportV1>("assessment.json", "the report of an assessment"),
    published::<GoldenRecordV0_4>("golden-record.json", "a golden record, *.golden-assessment.yml"),
    published::<TemplateV1>("template.json", "config.yml of a template of requirements"),
];

const fn published<T: JsonSchema>(file: &'static str, describes: &'static str) -> PublishedSchema {
    PublishedSchema { file, describes, make: || schemars::schema_for!(T) }
}

impl PublishedSchema {
    /// The file's content.
    pub fn text(&self) -> String {
        let value = (self.make)().to_value();
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        text
    }
}
