//! The label page and its API: the next items, an answer, and undo.
//!
//! No response shows which tool reported a finding, what a judge decided, or other people's labels.

mod adopt;
mod pages;

use super::reply::{Fault, Reply};
use super::run_lookup::find_run;
use super::state::{State, UNFINISHED_LIFETIME, current_period};
use axum::extract::{Path, Query, State as Shared};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use karat::label::LabelItems;
use karat::label::question::{audit_fields, shown_question};
use karat::label::session::AnnotationSession;
use karat_core::panel::AuditField;
use karat_core::wording::count;
use karat_store::label::{Annotator, LabelAnswer, LabelKind, LabelQuestion, Source};
use karat_store::{OnExisting, Store, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
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

const LONGEST_NOTE: usize = 2_000;

#[derive(Deserialize)]
struct ListQuery {
    #[serde(rename = "as")]
    name: Option<String>,
    /// The decisions of audits that are asked for, separated by commas.
    on: Option<String>,
}

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
    #[serde(default)]
    on: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoRequest {
    #[serde(rename = "as")]
    name: String,
    #[serde(default)]
    on: Option<String>,
}

async fn list(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    let annotator = annotator(who.name.as_deref().unwrap_or_default())?;
    let queue = queue(&state, run, kind_of(&kind)?.kind, who.on.as_deref()).await?;
    let labels = state.read(|store| Ok(store.labels()?)).await?;
    let response = state.blocking(move || {
        let session = AnnotationSession::new(&queue.queue, &labels, annotator);
        let open = session.open();
        let mut response = progress(&session);
        response["open"] = json!(open.iter().map(|item| item.id()).collect::<Vec<_>>());
        response["items"] = json!(open.iter().take(AT_ONCE).map(|item| queue.item_json(item)).collect::<Vec<_>>());
        Ok(response)
    });
    Ok(Reply::json(&response.await?))
}

async fn item(
    Shared(state): Shared<State>,
    Path((run, kind, id)): Path<(String, String, String)>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    let queue = queue(&state, run, kind_of(&kind)?.kind, who.on.as_deref()).await?;
    let shown = state.blocking(move || Ok(queue.item_json(queue.queue.find(&id).ok_or_else(gone)?)));
    Ok(Reply::json(&shown.await?))
}

/// Stores an answer, durable when the response arrives. Clients may retry: repeating an answer changes nothing.
async fn answer(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Json(sent): Json<AnswerRequest>,
) -> Result<Reply, Fault> {
    let annotator = annotator(&sent.name)?;
    let kind = kind_of(&kind)?;
    let queue = queue(&state, run, kind.kind, sent.on.as_deref()).await?;
    let item = queue.queue.find(&sent.id).ok_or_else(gone)?;
    let answer = parse_answer(item.shown.question(), &sent)?;
    let note = sent.note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
    if note.as_ref().is_some_and(|note| note.chars().count() > LONGEST_NOTE) {
        return Err(refused(format!("The note is too long: at most {LONGEST_NOTE} characters.")));
    }
    let (own, key) = (Arc::clone(&queue), item.key.clone());
    let response = state.write(move |store| {
        let mut session = AnnotationSession::new(&own.queue, &store.labels()?, annotator);
        let item = own.queue.holds(&key).ok_or_else(gone)?;
        let labels = session.labels(item, answer, note, Source::Asked);
        let labels = labels.ok_or_else(|| refused("Invalid answer to this question."))?;
        store.add_labels(&labels, OnExisting::Refuse).map_err(already_labelled)?;
        session.record(&labels);
        Ok(progress(&session))
    });
    let mut response = response.await?;
    response["kept"] = json!(item.id());
    // Shown only after the answer, to keep labelling blind.
    let (tools, trials) = (count(item.tools, "tool"), count(item.trials, "trial"));
    response["message"] = json!(format!("reported by {tools} in {trials}"));
    Ok(Reply::json(&response))
}

async fn undo(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Json(sent): Json<UndoRequest>,
) -> Result<Reply, Fault> {
    let annotator = annotator(&sent.name)?;
    let kind = kind_of(&kind)?.kind;
    let queue = queue(&state, run, kind, sent.on.as_deref()).await?;
    let own = Arc::clone(&queue);
    let response = state.write(move |store| {
        let undone = store.undo_label(&annotator, Some(kind), &|key| own.queue.holds(key).is_some())?;
        let session = AnnotationSession::new(&own.queue, &store.labels()?, annotator);
        let item = undone.as_ref().and_then(|undone| own.queue.holds(undone.keys.first()?));
        let mut response = progress(&session);
        response["undone"] = json!(item.map(|item| own.item_json(item)));
        response["said"] = json!(undone.map(|undone| undone.said));
        Ok(response)
    });
    Ok(Reply::json(&response.await?))
}

/// The items of a run to label. Labels do not change it.
async fn queue(state: &State, reference: String, kind: LabelKind, on: Option<&str>) -> Result<Arc<LabelItems>, Fault> {
    check_enabled(state)?;
    let fields = decisions(on)?;
    let run = state.read(move |store| Ok(find_run(store, &reference)?.0)).await?;
    // A running run has new items over time.
    let period = (!run.has_report).then(|| current_period(UNFINISHED_LIFETIME));
    let key = format!("{} {kind:?} {fields:?} {:?} {period:?}", run.id, run.ended_ms);
    let load = move |_: &State, store: &mut Store| Ok(Arc::new(LabelItems::load_run(store, &run, kind, &fields)?));
    state.render_cached(&state.label_queues, key, load).await
}

/// The decisions of audits that are asked for.
fn decisions(on: Option<&str>) -> Result<BTreeSet<AuditField>, Fault> {
    audit_fields(on.as_slice()).map_err(|error| refused(format!("{error}.")))
}

fn progress(session: &AnnotationSession<'_>) -> Value {
    let progress = session.progress();
    json!({
        "headline": progress.headline(),
        "advice": progress.advice(),
        "remarks": progress.remarks(),
        "progress": progress,
    })
}

fn parse_answer(question: LabelQuestion, sent: &AnswerRequest) -> Result<LabelAnswer, Fault> {
    let answer = LabelAnswer::parse(question, &sent.answer)
        .ok_or_else(|| refused(format!("Invalid answer: expected {}.", shown_question(question).expected())))?;
    match (answer, sent.confidence) {
        (answer, None) => Ok(answer),
        (LabelAnswer::Pair { answer, .. }, confidence @ Some(0.0..=1.0)) => {
            Ok(LabelAnswer::Pair { answer, confidence })
        }
        _ => Err(refused("Invalid confidence: expected a number from 0 to 1, only for pairs.")),
    }
}

/// The error for a label that contradicts an earlier one, with advice for the page instead of the terminal.
fn already_labelled(error: StoreError) -> Fault {
    match error {
        StoreError::Labelled { annotator, kind, answer, when, .. } => Fault::new(
            StatusCode::CONFLICT,
            format!(
                "{annotator} already labelled this {kind} {answer} on {when} UTC; undo that label first to change it."
            ),
        ),
        other => other.into(),
    }
}

fn gone() -> Fault {
    Fault::new(StatusCode::NOT_FOUND, "This item cannot be labelled here; reload the page.")
}

fn refused(message: impl Into<String>) -> Fault {
    Fault::new(StatusCode::UNPROCESSABLE_ENTITY, message)
}

fn annotator(name: &str) -> Result<Annotator, Fault> {
    if name.is_empty() {
        return Err(Fault::new(StatusCode::BAD_REQUEST, "The annotator is missing, such as ?as=anna."));
    }
    Annotator::new(name).map_err(|error| Fault::new(StatusCode::BAD_REQUEST, format!("{error}.")))
}

struct PageKind {
    kind: LabelKind,
    word: &'static str,
    title: &'static str,
    description: &'static str,
}

const KINDS: [PageKind; 3] = [
    PageKind {
        kind: LabelKind::Pair,
        word: "pairs",
        title: "Pairs:",
        description: "Does a report describe a known problem?",
    },
    PageKind {
        kind: LabelKind::Extra,
        word: "extras",
        title: "Extras:",
        description: "A finding that matches no golden. Is it a real problem?",
    },
    PageKind {
        kind: LabelKind::Audit,
        word: "audits",
        title: "Audits:",
        description: "Which of nine classes does a finding belong to? Or other decisions of audits:",
    },
];

fn kind_of(word: &str) -> Result<&'static PageKind, Fault> {
    let found = KINDS.iter().find(|kind| kind.word == word);
    found.ok_or_else(|| Fault::new(StatusCode::NOT_FOUND, "Unknown kind of label: expected pairs, extras or audits."))
}

fn check_enabled(state: &State) -> Result<(), Fault> {
    if state.labels() {
        return Ok(());
    }
    let message = "This server is read-only. To label, start it with --label and open the address that it prints.";
    Err(Fault::new(StatusCode::FORBIDDEN, message))
}
