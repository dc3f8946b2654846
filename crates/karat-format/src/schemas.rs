//! The table of published JSON Schemas.

use crate::{
    assessment, baseline, case, comparison, config, fix, gate, golden_record, judgement, models, patterns, power,
    proofs, ranking, report, run, submission, template, tool,
};
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
    published::<config::ConfigV1>("config.json", "karat.toml"),
    published::<case::CaseV1>("case.json", "case.yaml, a line of cases.jsonl, and challenge.yaml"),
    published::<submission::TrialV1>("submission.json", "a line of a submission"),
    published::<judgement::JudgementV1>("judgement.json", "a line of recorded judgements"),
    published::<Profile>("profile.json", "a fully resolved profile"),
    published::<report::ReportV1>("report.json", "a report"),
    published::<tool::ToolManifestV1>("tool.json", "a tool's manifest"),
    published::<patterns::RulesV1>("patterns.json", "rules of the built-in baseline"),
    published::<run::PlanV1>("plan.json", "the plan of a run"),
    published::<comparison::ComparisonV1>("comparison.json", "a comparison"),
    published::<baseline::BaselineV1>("baseline.json", "a baseline"),
    published::<fix::FixReportV1>("fix.json", "what a fixer made of findings"),
    published::<gate::DemandsV1>("gate-rules.json", "demands for `karat gate --rules`"),
    published::<gate::GateV1>("gate.json", "the result of a gate"),
    published::<power::PowerV1>("power.json", "a power analysis"),
    published::<proofs::ProofsV1>("proofs.json", "proofs.json, what running the proofs of a suite has shown"),
    published::<ranking::RankedV1>("ranking.json", "a line of an expert's ranking of tools"),
    published::<assessment::AssessmentReportV1>("assessment.json", "the report of an assessment"),
    published::<golden_record::GoldenRecordV0_4>("golden-record.json", "a golden record, *.golden-assessment.yml"),
    published::<template::TemplateV1>("template.json", "config.yml of a template of requirements"),
    published::<models::ModelsV1>("models.json", "models.toml, what is known of language models"),
];

const fn published<T: JsonSchema>(file: &'static str, describes: &'static str) -> PublishedSchema {
    PublishedSchema { file, describes, make: || schemars::schema_for!(T) }
}

impl PublishedSchema {
    /// Its name on the command line: that of the file, without the ending.
    pub fn name(&self) -> &'static str {
        self.file.strip_suffix(".json").unwrap_or(self.file)
    }

    /// The file's content.
    pub fn text(&self) -> String {
        let value = (self.make)().to_value();
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        text
    }
}
