//! Adds confirmed extras to the suite as goldens.

use super::super::reply::{Fault, Reply};
use super::super::run_lookup::find_run;
use super::super::state::State;
use super::{annotator, check_enabled};
use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use karat::label::context::LabelContext;
use karat::suite::adopt::{Proposal, adopt, as_yaml, origin};
use karat::suite::write::write_below;
use karat_store::label::Subject;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::PoisonError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdoptRequest {
    #[serde(rename = "as")]
    name: String,
    case: String,
    golden: String,
}

pub(super) async fn list(Shared(state): Shared<State>, Path(run): Path<String>) -> Result<Reply, Fault> {
    check_enabled(&state)?;
    let response = state.render(move |store| {
        let (run, _) = find_run(store, &run)?;
        let (extras, root) = LabelContext::with_current_suite(store, &run)?;
        let found = extras.proposals(&store.labels()?);
        let goldens: Vec<Value> = found.goldens.iter().map(proposal_json).collect();
        Ok(json!({
            "suite": extras.loaded.suite.name, "refused": root.err(), "goldens": goldens,
            "named_already": found.named_already, "left_out": found.left_out,
        }))
    });
    Ok(Reply::json(&response.await?))
}

pub(super) async fn add(
    Shared(state): Shared<State>,
    Path(run): Path<String>,
    Json(wanted): Json<AdoptRequest>,
) -> Result<Reply, Fault> {
    check_enabled(&state)?;
    annotator(&wanted.name)?;
    let own = state.clone();
    let response = state.render(move |store| {
        // The lock prevents lost updates: one request at a time reads, changes and writes the file.
        let _turn = own.suite_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let (run, _) = find_run(store, &run)?;
        let (extras, root) = LabelContext::with_current_suite(store, &run)?;
        let root = root.map_err(conflict)?;
        let found = extras.proposals(&store.labels()?);
        let is_wanted =
            |golden: &&Proposal<'_>| golden.case.id.as_str() == wanted.case && golden.issue.id == wanted.golden;
        let Some(golden) = found.goldens.iter().find(is_wanted) else {
            return Err(conflict(
                "This finding can no longer be added: it was already added, or the labels have changed.",
            ));
        };
        let changed = adopt(&extras.loaded, std::slice::from_ref(golden));
        let changed = changed.map_err(|error| conflict(format!("{}.", error.to_string().trim_end_matches('.'))))?;
        let mut files = Vec::new();
        for (path, text) in &changed {
            write_below(&root, path, text.as_bytes())
                .map_err(|error| conflict(format!("Could not write {path} ({error}); nothing was changed.")))?;
            files.push(path);
        }
        Ok(json!({ "case": wanted.case, "golden": wanted.golden, "files": files }))
    });
    Ok(Reply::json(&response.await?))
}

fn proposal_json(golden: &Proposal<'_>) -> Value {
    let keys = golden.pool.members.iter().map(|member| Subject::extra(&golden.case.id, member.finding).key());
    let ids: BTreeSet<String> = keys.map(|key| key.short().to_owned()).collect();
    let issue = &golden.issue;
    json!({
        "case": golden.case.id, "golden": issue.id, "title": issue.title, "file": issue.file, "line": issue.line_start,
        "yaml": as_yaml(issue, &origin(&golden.pool), ""), "ids": ids,
    })
}

fn conflict(message: impl Into<String>) -> Fault {
    Fault::new(StatusCode::CONFLICT, message)
}
