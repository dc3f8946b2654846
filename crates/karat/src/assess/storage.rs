//! Stores assessments beside runs of tools, and finds their logs by the names of runs.

use super::AssessRequest;
use crate::comparison::assessment_digest;
use crate::failure::{Failure, Result};
use karat_core::profile::Method;
use karat_documents::assess::Bundle;
use karat_documents::assess::evaluate::Assessor;
use karat_documents::assess::log::{LogFile, find, logs};
use karat_format::assessment::{AssessmentReportV1, StageV1};
use karat_format::config::SuiteKind;
use karat_format::report::ProfileV1;
use karat_format::run::{NOTHING_EXECUTED, PLAN_SCHEMA, PlanV1, PlannedSuiteV1, PlannedToolV1};
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_store::{NewRun, RunId, RunLock, RunState, Store, StoreLocation};
use std::collections::{BTreeMap, BTreeSet};

/// An assessment that is stored and in progress.
pub(super) struct StoredAssessment {
    id: RunId,
    _lock: RunLock,
}

impl StoredAssessment {
    /// Stores that an assessment begins, under the id of its log.
    pub(super) fn begin(
        store: &mut Store,
        id: RunId,
        request: &AssessRequest,
        bundles: &[Bundle],
        assessors: &[Assessor],
    ) -> Result<Self> {
        let plan = plan(request, bundles, assessors);
        let new = NewRun { name: request.name.clone(), plan, suite_snapshot: Vec::new(), scratch: None };
        store.begin_as(&id, &new)?;
        let lock = store.lock(&id)?;
        Ok(Self { id, _lock: lock })
    }

    /// Stores the report, or that there is none. Where an assessor could not be asked about everything, it is incomplete.
    pub(super) fn end(self, store: &mut Store, report: Option<&AssessmentReportV1>) -> Result<()> {
        let encoded = |report| serde_json::to_vec(report).map_err(|error| Failure::io("the report", error.into()));
        let bytes = report.map(encoded).transpose()?;
        let is_whole = |report: &AssessmentReportV1| report.assessments.iter().all(|(_, one)| one.left_out == 0);
        let state = if report.is_some_and(is_whole) { RunState::Complete } else { RunState::Stopped };
        Ok(store.finish(&self.id, state, bytes.as_deref())?)
    }
}

fn plan(request: &AssessRequest, bundles: &[Bundle], assessors: &[Assessor]) -> PlanV1 {
    let described = bundles.iter().map(|bundle| {
        let documents = bundle.documents.iter().zip(&bundle.hashes);
        let documents = documents.map(|(document, hash)| (document.name.as_str(), hash.as_str()));
        (bundle.template.id.as_str(), bundle.record.bundle.as_str(), documents.collect())
    });
    let rules = bundles.iter().map(|bundle| (bundle.template.id.clone(), &bundle.template.config.scoring));
    let mut selected_by = Vec::new();
    if request.stage != StageV1::Full {
        selected_by.push(format!("--stage {}", request.stage.name()));
    }
    selected_by.extend(request.requirements.iter().map(|id| format!("--requirement {id}")));
    PlanV1 {
        schema: PLAN_SCHEMA.to_owned(),
        kind: SuiteKind::Assessment,
        suite: PlannedSuiteV1 {
            name: template_names(bundles),
            place: request.paths.join(" "),
            digest: assessment_digest(described),
            cases: wanted_requirements(request, bundles),
        },
        profile: ProfileV1 {
            name: SuiteKind::Assessment.as_str().to_owned(),
            method: Method::Verdict,
            expect_pass: false,
            headline: Vec::new(),
            headline_macro_by: None,
            others: rules.map(|(id, rules)| (id, serde_json::to_value(rules).unwrap_or_default())).collect(),
        },
        consensus: None,
        seed: request.intervals.seed.unwrap_or_default(),
        model: None,
        model_cutoff: None,
        isolation: None,
        require_isolation: None,
        tools: assessors.iter().map(planned).collect(),
        cases: Vec::new(),
        selected_by,
    }
}

/// The templates of bundles, as the name of what is assessed.
pub(super) fn template_names(bundles: &[Bundle]) -> String {
    let names: BTreeSet<&str> = bundles.iter().map(|bundle| bundle.template.id.as_str()).collect();
    Vec::from_iter(names).join(", ")
}

pub(super) fn wanted_requirements(request: &AssessRequest, bundles: &[Bundle]) -> usize {
    let is_wanted = |id: &str| request.requirements.is_empty() || request.requirements.iter().any(|own| own == id);
    let all = bundles.iter().flat_map(|bundle| &bundle.record.requirements);
    all.filter(|one| is_wanted(one.id.as_str())).count()
}

fn planned(assessor: &Assessor) -> PlannedToolV1 {
    let (_, model) = assessor.provider_and_model();
    let kind = if assessor.asks_model() { ToolKindV1::Llm } else { ToolKindV1::Patterns };
    PlannedToolV1 {
        name: assessor.name.clone(),
        kind,
        trials: 1,
        model: Some(model.to_owned()).filter(|model| !model.is_empty()),
        llm: None,
        isolation: NOTHING_EXECUTED.to_owned(),
        manifest_dir: None,
        manifest: ToolManifestV1 { kind, ..ToolManifestV1::default() },
    }
}

/// A log, and the name of its assessment if it has one.
#[expect(missing_docs, reason = "field names say it")]
pub struct NamedLog {
    pub log: LogFile,
    pub name: Option<String>,
}

/// All logs of a store, oldest first.
pub fn named_logs(store: &StoreLocation) -> Result<Vec<NamedLog>> {
    // The logs of a store that cannot be read are listed without names.
    let runs = match Store::is_at(store) {
        true => Store::open(store).and_then(|mut store| store.overview()).unwrap_or_default(),
        false => Vec::new(),
    };
    let mut names: BTreeMap<String, String> =
        runs.into_iter().filter_map(|run| Some((run.id.as_str().to_owned(), run.name?))).collect();
    let named = |log: LogFile| NamedLog { name: names.remove(&log.batch_run_id), log };
    Ok(logs(&store.local_folder())?.into_iter().map(named).collect())
}

/// Finds a log by the name of its assessment, by id, unique prefix or `latest`.
pub fn find_log(store: &StoreLocation, wanted: &str) -> Result<LogFile> {
    let by_name = named_logs(store)?.into_iter().find(|own| own.name.as_deref() == Some(wanted));
    Ok(match by_name {
        Some(named) => named.log,
        None => find(&store.local_folder(), wanted)?,
    })
}
