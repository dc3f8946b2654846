//! Extras that people confirmed, added to the suite as goldens.

use super::super::fault::Fault;
use super::super::named::found;
use super::super::reply::Reply;
use super::super::sheet::bench;
use super::super::state::State;
use super::{annotator, open_for_labels};
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
use karat_store::label::ExtraSubject;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The golden that somebody wants to add.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    #[serde(rename = "as")]
    name: String,
    case: String,
    golden: String,
}

/// What people confirmed and the suite does not name yet.
pub(super) async fn list(Shared(state): Shared<State>, Path(run): Path<String>) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let told = state.draw(move |store| {
        let place = Place::of(store, &run)?;
        let found = place.proposals(store)?;
        let goldens: Vec<Value> = found.goldens.iter().map(shown).collect();
        Ok(json!({
            "suite": place.bench.loaded.suite.name, "refused": place.root.as_ref().err(), "goldens": goldens,
            "named_already": found.named_already, "left_out": found.left_out,
        }))
    });
    Ok(Reply::json(&told.await?))
}

/// Adds one of them to its case's file, and tells which file changed.
pub(super) async fn add(
    Shared(state): Shared<State>,
    Path(run): Path<String>,
    Json(wanted): Json<Wanted>,
) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    annotator(&wanted.name)?;
    let own = state.clone();
    let told = state.draw(move |store| {
        // Read, changed and written by one at a time, so that nobody writes over what another has just written.
        let _turn = own.adopting();
        let place = Place::of(store, &run)?;
        let root = place.root.as_ref().map_err(|why| conflict(why.clone()))?;
        let found = place.proposals(store)?;
        let is_wanted =
            |golden: &&Proposal<'_>| golden.case.id.as_str() == wanted.case && golden.issue.id == wanted.golden;
        let Some(golden) = found.goldens.iter().find(is_wanted) else {
            return Err(conflict(
                "This is no longer among what could be added: it was added already, or people think otherwise now.",
            ));
        };
        let changed = adopt(&place.bench.loaded, std::slice::from_ref(golden));
        let changed = changed.map_err(|error| conflict(format!("{}.", error.to_string().trim_end_matches('.'))))?;
        let mut files = Vec::new();
        for (path, text) in &changed {
            atomic_write::write(&root.join(path), &mut |out| out.write_all(text.as_bytes()))
                .map_err(|error| conflict(format!("{path} cannot be written ({error}); nothing was changed.")))?;
            files.push(path);
        }
        Ok(json!({ "case": wanted.case, "golden": wanted.golden, "files": files }))
    });
    Ok(Reply::json(&told.await?))
}

/// A run's trials, held against its suite as it is now.
struct Place {
    bench: LabelContext,
    /// Where the suite lies, or why it cannot be changed.
    root: Result<PathBuf, String>,
}

impl Place {
    fn of(store: &mut Store, reference: &str) -> Result<Self, Fault> {
        let (run, _) = found(store, reference)?;
        let place = store.plan(&run.id)?.suite.place;
        let mut root =
            Err("The suite is not where it was when the run was made, so nothing can be added to it.".to_owned());
        let bench = bench(store, &run, |remembered| match load(locate(&place)) {
            Ok(now) => {
                root = match &now.files {
                    Files::Disk(root) => Ok(root.clone()),
                    Files::Embedded(..) => Err("A built-in suite cannot be changed; copy it first.".to_owned()),
                };
                now
            }
            Err(_) => remembered,
        })?;
        Ok(Self { bench, root })
    }

    fn proposals(&self, store: &mut Store) -> Result<Proposals<'_>, Fault> {
        let scorecard = self.bench.with_extras(&store.extra_labels()?);
        Ok(proposals(&self.bench.loaded, &self.bench.trials, &scorecard, &self.bench.profile))
    }
}

fn shown(golden: &Proposal<'_>) -> Value {
    let keys = golden.pool.members.iter().map(|member| ExtraSubject::new(&golden.case.id, member.finding).key());
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
