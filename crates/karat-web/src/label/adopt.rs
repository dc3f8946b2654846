//! Adds confirmed extras to the suite as goldens.

use super::super::fault::Fault;
use super::super::label_queue::label_context;
use super::super::reply::Reply;
use super::super::run_lookup::find_run;
use super::super::state::State;
use super::{annotator, check_enabled};
use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use karat::label::context::LabelContext;
use karat::suite::adopt::{Proposal, Proposals, adopt, as_yaml, origin, proposals};
use karat::suite::load;
use karat_format::shipped_suites::locate;
use karat_io::atomic_write;
use karat_io::files::Files;
use karat_store::Store;
use karat_store::label::Subject;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::PoisonError;

/// The golden to add.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdoptRequest {
    #[serde(rename = "as")]
    name: String,
    case: String,
    golden: String,
}

/// The confirmed extras that are not in the suite yet.
pub(super) async fn list(Shared(state): Shared<State>, Path(run): Path<String>) -> Result<Reply, Fault> {
    check_enabled(&state)?;
    let response = state.render(move |store| {
        let place = Place::load(store, &run)?;
        let found = place.proposals(store)?;
        let goldens: Vec<Value> = found.goldens.iter().map(proposal_json).collect();
        Ok(json!({
            "suite": place.context.loaded.suite.name, "refused": place.root.as_ref().err(), "goldens": goldens,
            "named_already": found.named_already, "left_out": found.left_out,
        }))
    });
    Ok(Reply::json(&response.await?))
}

/// Adds one of them to its case's file, and returns the changed file.
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
        let place = Place::load(store, &run)?;
        let root = place.root.as_ref().map_err(|why| conflict(why.clone()))?;
        let found = place.proposals(store)?;
        let is_wanted =
            |golden: &&Proposal<'_>| golden.case.id.as_str() == wanted.case && golden.issue.id == wanted.golden;
        let Some(golden) = found.goldens.iter().find(is_wanted) else {
            return Err(conflict(
                "This finding can no longer be added: it was already added, or the labels have changed.",
            ));
        };
        let changed = adopt(&place.context.loaded, std::slice::from_ref(golden));
        let changed = changed.map_err(|error| conflict(format!("{}.", error.to_string().trim_end_matches('.'))))?;
        let mut files = Vec::new();
        for (path, text) in &changed {
            atomic_write::write(&root.join(path), &mut |out| out.write_all(text.as_bytes()))
                .map_err(|error| conflict(format!("Could not write {path} ({error}); nothing was changed.")))?;
            files.push(path);
        }
        Ok(json!({ "case": wanted.case, "golden": wanted.golden, "files": files }))
    });
    Ok(Reply::json(&response.await?))
}

/// A run's trials, compared with its suite as it is now.
struct Place {
    context: LabelContext,
    /// The suite's folder, or why it cannot be changed.
    root: Result<PathBuf, String>,
}

impl Place {
    fn load(store: &mut Store, reference: &str) -> Result<Self, Fault> {
        let (run, _) = find_run(store, reference)?;
        let place = store.plan(&run.id)?.suite.place;
        let mut root =
            Err("The suite's folder is missing or has moved since the run, so nothing can be added to it.".to_owned());
        let context = label_context(store, &run, |remembered| match load(locate(&place)) {
            Ok(now) => {
                root = match &now.files {
                    Files::Disk(root) => Ok(root.clone()),
                    Files::Embedded(..) => Err("A built-in suite is read-only; copy it first.".to_owned()),
                };
                now
            }
            Err(_) => remembered,
        })?;
        Ok(Self { context, root })
    }

    fn proposals(&self, store: &mut Store) -> Result<Proposals<'_>, Fault> {
        let scorecard = self.context.with_extras(&store.labels()?);
        Ok(proposals(&self.context.loaded, &self.context.trials, &scorecard, &self.context.profile))
    }
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

fn conflict(said: impl Into<String>) -> Fault {
    Fault::new(StatusCode::CONFLICT, said)
}
