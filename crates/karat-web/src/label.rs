//! The label page and its API: the next items, an answer, and undo.
//!
//! No response shows which tool reported a finding, what a judge decided, or other people's labels.

mod adopt;
mod pages;

use super::fault::Fault;
use super::label_queue::LabelQueue;
use super::reply::Reply;
use super::run_lookup::find_run;
use super::state::State;
use axum::extract::{Path, Query, State as Shared};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use karat::label::session::{AnnotationSession, Item, Reply as Answer};
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
        .route("/label/{run}/{kind}", get(pages::session))
        .route("/api/label/{run}/confirmed", get(adopt::list).post(adopt::add))
        .route("/api/label/{run}/{kind}", get(list).post(answer))
        .route("/api/label/{run}/{kind}/undo", post(undo))
        .route("/api/label/{run}/{kind}/item/{id}", get(item))
}

/// Number of items sent with the list, so that the first is available at once.
const AT_ONCE: usize = 4;

/// Maximum length of a note.
const LONGEST_NOTE: usize = 2_000;

/// The annotator.
#[derive(Deserialize)]
struct ListQuery {
    #[serde(rename = "as")]
    name: Option<String>,
}

/// An answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerRequest {
    #[serde(rename = "as")]
    name: String,
    id: String,
    answer: String,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    note: Option<String>,
}

/// A request to undo the last answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoRequest {
    #[serde(rename = "as")]
    name: String,
}

/// The open items of an annotator in order, and the first of them.
async fn list(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    let annotator = annotator(who.name.as_deref().unwrap_or_default())?;
    let queue = queue(&state, run, kind_of(&kind)?).await?;
    let labels = labels(&state).await?;
    let told = state.blocking(move || {
        let session = AnnotationSession::new(&queue.items, &labels, annotator);
        let open = session.open();
        let mut told = progress(&session);
        told["open"] = json!(open.iter().map(|item| item.id()).collect::<Vec<_>>());
        told["items"] = json!(open.iter().take(AT_ONCE).map(|item| queue.item_json(item)).collect::<Vec<_>>());
        Ok(told)
    });
    Ok(Reply::json(&told.await?))
}

async fn item(
    Shared(state): Shared<State>,
    Path((run, kind, id)): Path<(String, String, String)>,
) -> Result<Reply, Fault> {
    let queue = queue(&state, run, kind_of(&kind)?).await?;
    let shown = state.blocking(move || Ok(queue.item_json(find(&queue, &id)?)));
    Ok(Reply::json(&shown.await?))
}

/// Stores an answer; it is durable when the response arrives. Repeating the same answer changes nothing, so that clients may
/// retry.
async fn answer(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Json(sent): Json<AnswerRequest>,
) -> Result<Reply, Fault> {
    let (annotator, kind) = (annotator(&sent.name)?, kind_of(&kind)?);
    let queue = queue(&state, run, kind).await?;
    let item = find(&queue, &sent.id)?;
    let said = parse_answer(kind, &sent)?;
    let note = sent.note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
    if note.as_ref().is_some_and(|note| note.chars().count() > LONGEST_NOTE) {
        return Err(refused(format!("The note is too long: at most {LONGEST_NOTE} characters.")));
    }
    let (own, key) = (Arc::clone(&queue), item.key.clone());
    let told = state.write(move |store| {
        let mut session = AnnotationSession::new(&own.items, &store.all_labels()?, annotator);
        let item = own.items.holds(&key).ok_or_else(gone)?;
        let labels = session.labels(item, said, note, Source::Asked);
        let labels = labels.ok_or_else(|| refused("Invalid answer to this question."))?;
        store.add_all_labels(&labels, OnExisting::Refuse).map_err(already_labelled)?;
        session.record(&labels);
        Ok(progress(&session))
    });
    let mut told = told.await?;
    told["kept"] = json!(item.id());
    // Shown only after the answer, to keep labelling blind.
    let (tools, trials) = (count(item.tools, "tool"), count(item.trials, "trial"));
    told["told"] = json!(format!("reported by {tools} in {trials}"));
    Ok(Reply::json(&told))
}

/// Undoes the annotator's last answer in this queue.
async fn undo(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Json(sent): Json<UndoRequest>,
) -> Result<Reply, Fault> {
    let (annotator, kind) = (annotator(&sent.name)?, kind_of(&kind)?);
    let queue = queue(&state, run, kind).await?;
    let own = Arc::clone(&queue);
    let told = state.write(move |store| {
        let undone = store.undo_label(&annotator, Some(kind), &|key| own.items.holds(key).is_some())?;
        let session = AnnotationSession::new(&own.items, &store.all_labels()?, annotator);
        let item = undone.as_ref().and_then(|undone| own.items.holds(undone.keys.first()?));
        let mut told = progress(&session);
        told["undone"] = json!(item.map(|item| own.item_json(item)));
        told["said"] = json!(undone.map(|undone| undone.said));
        Ok(told)
    });
    Ok(Reply::json(&told.await?))
}

/// The items of a run to label. Labels do not change it.
async fn queue(state: &State, reference: String, kind: LabelKind) -> Result<Arc<LabelQueue>, Fault> {
    open_for_labels(state)?;
    let run = state.read(move |store| Ok(find_run(store, &reference)?.0)).await?;
    // A running run has new items over time.
    let moment = if run.has_report { None } else { Some(state.while_it_goes()) };
    let key = format!("{} {kind:?} {:?} {moment:?}", run.id, run.ended_ms);
    let own = state.clone();
    let made = async move { own.render(move |store| LabelQueue::load(store, &run, kind).map(Arc::new)).await };
    state.label_queues().get(key, made).await
}

/// An annotator's progress, shown at the top of the page.
fn progress(session: &AnnotationSession<'_>) -> Value {
    let progress = session.progress();
    json!({ "headline": progress.headline(), "remarks": progress.remarks(), "progress": progress })
}

fn parse_answer(kind: LabelKind, sent: &AnswerRequest) -> Result<Answer, Fault> {
    let said = Answer::parse(kind, &sent.answer).ok_or_else(|| {
        let words = match kind {
            LabelKind::Pair => "yes, no or partial",
            LabelKind::Extra => "yes or no",
            LabelKind::Audit => "the name of a class",
        };
        refused(format!("Invalid answer: expected {words}."))
    })?;
    match (said, sent.confidence) {
        (said, None) => Ok(said),
        (Answer::Pair(answer, _), Some(sure)) if (0.0..=1.0).contains(&sure) => Ok(Answer::Pair(answer, Some(sure))),
        _ => Err(refused("Invalid confidence: expected a number from 0 to 1, only for pairs.")),
    }
}

/// The error for a label that contradicts an earlier one, with advice for the page instead of the terminal.
fn already_labelled(error: StoreError) -> Fault {
    match error {
        StoreError::Labelled { annotator, kind, said, when, .. } => Fault::new(
            StatusCode::CONFLICT,
            format!(
                "{annotator} already labelled this {kind} {said} on {when} UTC; undo that label first to change it."
            ),
        ),
        other => other.into(),
    }
}

fn find<'s>(queue: &'s LabelQueue, id: &str) -> Result<&'s Item, Fault> {
    queue.items.find(id).ok_or_else(gone)
}

fn gone() -> Fault {
    Fault::new(StatusCode::NOT_FOUND, "This item cannot be labelled here; reload the page.")
}

fn refused(said: impl Into<String>) -> Fault {
    Fault::new(StatusCode::UNPROCESSABLE_ENTITY, said)
}

fn annotator(name: &str) -> Result<Annotator, Fault> {
    let unnamed = "The annotator is missing, such as ?as=anna.";
    if name.is_empty() {
        return Err(Fault::new(StatusCode::BAD_REQUEST, unnamed));
    }
    Annotator::new(name).map_err(|error| Fault::new(StatusCode::BAD_REQUEST, format!("{error}.")))
}

/// The kinds as named in addresses, with their questions.
const KINDS: [(&str, LabelKind, &str); 3] = [
    ("pairs", LabelKind::Pair, "Does the report describe the known problem?"),
    ("extras", LabelKind::Extra, "Is it a real problem?"),
    ("audits", LabelKind::Audit, "What is it?"),
];

fn kind_of(word: &str) -> Result<LabelKind, Fault> {
    let found = KINDS.iter().find(|(known, ..)| *known == word).map(|(_, kind, _)| *kind);
    found.ok_or_else(|| Fault::new(StatusCode::NOT_FOUND, "Unknown kind of label: expected pairs, extras or audits."))
}

/// Refuses requests if the server was not started with `--label`.
fn open_for_labels(state: &State) -> Result<(), Fault> {
    if state.labels() {
        return Ok(());
    }
    let said = "This server is read-only. To label, start it with --label and open the address that it prints.";
    Err(Fault::new(StatusCode::FORBIDDEN, said))
}

/// Reads all labels.
async fn labels(state: &State) -> Result<Labels, Fault> {
    state.read(|store| Ok(store.all_labels()?)).await
}
