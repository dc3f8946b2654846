//! The label page, and what its script asks for: what comes next, an answer, and taking one back.
//!
//! Nothing that leaves here tells who reported a finding, what a judge thinks of it, or what anybody else said of it.

mod adopt;
mod pages;

use super::fault::Fault;
use super::named::found;
use super::reply::Reply;
use super::sheet::Sheet;
use super::state::State;
use axum::extract::{Path, Query, State as Shared};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use karat::label::session::{Desk, Item, Reply as Said};
use karat_core::wording::count;
use karat_store::label::{Annotator, LabelKind, Labels, Source};
use karat_store::{OnExisting, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn routes() -> Router<State> {
    Router::new()
        .route("/label", get(pages::start))
        .route("/label/go", get(pages::go))
        .route("/label/{run}/confirmed", get(pages::confirmed))
        .route("/label/{run}/{kind}", get(pages::desk))
        .route("/api/label/{run}/confirmed", get(adopt::list).post(adopt::add))
        .route("/api/label/{run}/{kind}", get(list).post(answer))
        .route("/api/label/{run}/{kind}/undo", post(undo))
        .route("/api/label/{run}/{kind}/item/{id}", get(item))
}

/// So many items come with the list, so that the first is there at once.
const AT_ONCE: usize = 4;

/// A longer note is an essay, and belongs elsewhere.
const LONGEST_NOTE: usize = 2_000;

/// Who asks.
#[derive(Deserialize)]
struct Who {
    #[serde(rename = "as")]
    name: Option<String>,
}

/// What somebody says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    #[serde(rename = "as")]
    name: String,
    id: String,
    answer: String,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    note: Option<String>,
}

/// Somebody who takes back what they said last.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Undoing {
    #[serde(rename = "as")]
    name: String,
}

/// What is left for somebody, in order, and the first of it.
async fn list(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Query(who): Query<Who>,
) -> Result<Reply, Fault> {
    let annotator = annotator(who.name.as_deref().unwrap_or_default())?;
    let sheet = sheet(&state, run, kind_of(&kind)?).await?;
    let labels = labels(&state).await?;
    let told = state.blocking(move || {
        let desk = Desk::new(&sheet.queue, &labels, annotator);
        let open = desk.open();
        let mut told = progress(&desk);
        told["open"] = json!(open.iter().map(|item| item.id()).collect::<Vec<_>>());
        told["items"] = json!(open.iter().take(AT_ONCE).map(|item| sheet.shown(item)).collect::<Vec<_>>());
        Ok(told)
    });
    Ok(Reply::json(&told.await?))
}

async fn item(
    Shared(state): Shared<State>,
    Path((run, kind, id)): Path<(String, String, String)>,
) -> Result<Reply, Fault> {
    let sheet = sheet(&state, run, kind_of(&kind)?).await?;
    let shown = state.blocking(move || Ok(sheet.shown(find(&sheet, &id)?)));
    Ok(Reply::json(&shown.await?))
}

/// Keeps an answer; when the reply comes it is durable. The same answer again changes nothing, so that it may be sent until a
/// reply comes.
async fn answer(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Json(sent): Json<Answered>,
) -> Result<Reply, Fault> {
    let (annotator, kind) = (annotator(&sent.name)?, kind_of(&kind)?);
    let sheet = sheet(&state, run, kind).await?;
    let item = find(&sheet, &sent.id)?;
    let said = said(kind, &sent)?;
    let note = sent.note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
    if note.as_ref().is_some_and(|note| note.chars().count() > LONGEST_NOTE) {
        return Err(refused(format!("A note has {LONGEST_NOTE} characters at most.")));
    }
    let (own, key) = (Arc::clone(&sheet), item.key.clone());
    let told = state.write(move |store| {
        let mut desk = Desk::new(&own.queue, &store.all_labels()?, annotator);
        let item = own.queue.holds(&key).ok_or_else(gone)?;
        let labels = desk.labels(item, said, note, Source::Asked);
        let labels = labels.ok_or_else(|| refused("This is no answer to such a question."))?;
        store.add_all_labels(&labels, OnExisting::Refuse).map_err(said_before)?;
        desk.kept(&labels);
        Ok(progress(&desk))
    });
    let mut told = told.await?;
    told["kept"] = json!(item.id());
    // The answer is given, so the number cannot sway it any more.
    let (tools, trials) = (count(item.tools, "tool"), count(item.trials, "trial"));
    told["told"] = json!(format!("reported by {tools} in {trials}"));
    Ok(Reply::json(&told))
}

/// Takes back what somebody said last of what is here.
async fn undo(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Json(sent): Json<Undoing>,
) -> Result<Reply, Fault> {
    let (annotator, kind) = (annotator(&sent.name)?, kind_of(&kind)?);
    let sheet = sheet(&state, run, kind).await?;
    let own = Arc::clone(&sheet);
    let told = state.write(move |store| {
        let undone = store.undo_label(&annotator, Some(kind), &|key| own.queue.holds(key).is_some())?;
        let desk = Desk::new(&own.queue, &store.all_labels()?, annotator);
        let item = undone.as_ref().and_then(|undone| own.queue.holds(undone.keys.first()?));
        let mut told = progress(&desk);
        told["undone"] = json!(item.map(|item| own.shown(item)));
        told["said"] = json!(undone.map(|undone| undone.said));
        Ok(told)
    });
    Ok(Reply::json(&told.await?))
}

/// What can be labelled of a run. Whatever anybody says does not change it.
async fn sheet(state: &State, reference: String, kind: LabelKind) -> Result<Arc<Sheet>, Fault> {
    open_for_labels(state)?;
    let run = state.read(move |store| Ok(found(store, &reference)?.0)).await?;
    // Of a run that goes on there is more to label every while.
    let moment = if run.has_report { None } else { Some(state.while_it_goes()) };
    let key = format!("{} {kind:?} {:?} {moment:?}", run.id, run.ended_ms);
    let own = state.clone();
    let made = async move { own.draw(move |store| Sheet::of(store, &run, kind).map(Arc::new)).await };
    state.sheets().get(key, made).await
}

/// How far somebody has come, as the top of the page shows it.
fn progress(desk: &Desk<'_>) -> Value {
    let progress = desk.progress();
    json!({ "headline": progress.headline(), "remarks": progress.remarks(), "progress": progress })
}

fn said(kind: LabelKind, sent: &Answered) -> Result<Said, Fault> {
    let said = Said::parse(kind, &sent.answer).ok_or_else(|| {
        let words = match kind {
            LabelKind::Pair => "yes, no or partial",
            LabelKind::Extra => "yes or no",
            LabelKind::Audit => "the name of a class",
        };
        refused(format!("The answer to such a question is {words}."))
    })?;
    match (said, sent.confidence) {
        (said, None) => Ok(said),
        (Said::Pair(answer, _), Some(sure)) if (0.0..=1.0).contains(&sure) => Ok(Said::Pair(answer, Some(sure))),
        _ => Err(refused("How sure somebody is, is a number from 0 to 1, and is said of pairs alone.")),
    }
}

/// A label that contradicts another is refused, and what to do about it is another thing here than at a terminal.
fn said_before(error: StoreError) -> Fault {
    match error {
        StoreError::Labelled { annotator, kind, said, when, .. } => Fault::new(
            StatusCode::CONFLICT,
            format!(
                "{annotator} said {said} of this {kind} on {when} UTC, and that stays; take it back first to say something else."
            ),
        ),
        other => other.into(),
    }
}

fn find<'s>(sheet: &'s Sheet, id: &str) -> Result<&'s Item, Fault> {
    sheet.queue.find(id).ok_or_else(gone)
}

fn gone() -> Fault {
    Fault::new(StatusCode::NOT_FOUND, "This is not among what can be labelled here; reload the page.")
}

fn refused(said: impl Into<String>) -> Fault {
    Fault::new(StatusCode::UNPROCESSABLE_ENTITY, said)
}

fn annotator(name: &str) -> Result<Annotator, Fault> {
    let unnamed = "Say who you are, such as ?as=anna.";
    if name.is_empty() {
        return Err(Fault::new(StatusCode::BAD_REQUEST, unnamed));
    }
    Annotator::new(name).map_err(|error| Fault::new(StatusCode::BAD_REQUEST, format!("{error}.")))
}

/// The words for kinds in addresses, with what is asked.
const KINDS: [(&str, LabelKind, &str); 3] = [
    ("pairs", LabelKind::Pair, "Does the report describe the known problem?"),
    ("extras", LabelKind::Extra, "Is it a real problem?"),
    ("audits", LabelKind::Audit, "What is it?"),
];

fn kind_of(word: &str) -> Result<LabelKind, Fault> {
    let found = KINDS.iter().find(|(known, ..)| *known == word).map(|(_, kind, _)| *kind);
    found.ok_or_else(|| {
        Fault::new(StatusCode::NOT_FOUND, "There are labels of pairs, extras and audits, and no others.")
    })
}

/// Pages and answers are for servers on which labels can be given.
fn open_for_labels(state: &State) -> Result<(), Fault> {
    if state.labels() {
        return Ok(());
    }
    let said =
        "This server shows and changes nothing. To label, start it with --label, and open the address that it prints.";
    Err(Fault::new(StatusCode::FORBIDDEN, said))
}

/// All labels, read for a page.
async fn labels(state: &State) -> Result<Labels, Fault> {
    state.read(|store| Ok(store.all_labels()?)).await
}
