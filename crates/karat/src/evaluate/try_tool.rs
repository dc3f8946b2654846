//! Tries a tool: one trial on one case, in the sandbox of a run and with its limits. Nothing is stored.

use super::observer::EvaluateObserver;
use super::prepare::prepare;
use super::request::EvaluateRequest;
use super::run_and_score::{PreparedTools, new_context, prepare_tools};
use crate::failure::{Failure, Result};
use crate::judge::run::JudgeRequest;
use crate::run::plan::remaining_tasks;
use crate::run::selection::{CasePattern, Selection};
use crate::run::workers::Workers;
use crate::scratch::make_scratch;
use crate::tool::{Blocked, OutputObserver};
use karat_core::suite::{Case, Suite};
use karat_core::wording::count;
use karat_format::run::ToolFactsV1;
use karat_store::record::TrialRecord;
use std::collections::BTreeMap;

/// A trial that was tried.
#[expect(missing_docs, reason = "field names say it")]
pub struct Tried {
    pub record: TrialRecord,
    pub facts: ToolFactsV1,
    /// What the sandbox kept from the tool, as far as that is known.
    pub blocked: Vec<Blocked>,
}

/// Runs the request's only tool once on a case; default: the first with something to find. `output` gets the lines that the tool
/// prints, as it prints them.
pub fn try_tool(
    request: EvaluateRequest,
    case: Option<&str>,
    observer: &mut dyn EvaluateObserver,
    output: &OutputObserver,
) -> Result<Tried> {
    let request = EvaluateRequest {
        trials: Some(1),
        selection: Selection {
            only: case.map(CasePattern::parse).transpose()?.into_iter().collect(),
            ..Selection::default()
        },
        // Findings are not scored.
        judge: JudgeRequest { judge: Some("none".to_owned()), ..JudgeRequest::default() },
        ..request
    };
    let prepared = prepare(&request, observer)?;
    let (loaded, mut plan) = (prepared.loaded, prepared.plan);
    if case.is_none()
        && let Some(first) = first_case(&loaded.suite)
    {
        plan.cases = vec![first.id.to_string()];
        let which = if first.is_clean() { "" } else { " with something to find" };
        observer.note(&format!(
            "trying it on {}, the first case of {}{which}; choose another with --case ID",
            first.id, loaded.suite.name
        ));
    }
    if plan.tools.len() != 1 || plan.cases.len() != 1 {
        let (tools, cases) = (count(plan.tools.len(), "tool"), count(plan.cases.len(), "case"));
        return Err(Failure::usage(format!("name one tool and one case; these are {tools} and {cases}")));
    }
    let scratch = make_scratch()?;
    let mut context = new_context(&request, &loaded, &plan, &scratch, observer.cancel()?);
    context.output = Some(output);
    let tasks = remaining_tasks(&plan, &BTreeMap::new(), false);
    let PreparedTools { runners, facts, .. } =
        prepare_tools(&plan, prepared.tools, &tasks, &BTreeMap::new(), prepared.isolation, &context, observer)?;
    let workers = Workers::new(runners, &tasks, &context, None);
    let task = tasks.first().ok_or_else(|| Failure::failed("the tool has no trial on this case"))?;
    let record = workers.execute_once(task).map_err(|error| Failure::failed(error.to_string()))?;
    let record = record.ok_or_else(|| Failure::failed("stopped before the trial was done"))?;
    let blocked = workers.blocked(&record);
    Ok(Tried { record, facts: facts.into_values().next().unwrap_or_default(), blocked })
}

/// The first case in which a tool can find something; else the first.
fn first_case(suite: &Suite) -> Option<&Case> {
    suite.cases.iter().find(|case| !case.is_clean()).or(suite.cases.first())
}
