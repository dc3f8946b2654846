//! A run as it goes.

use super::fault::Fault;
use super::named::{called, found};
use super::reply::Reply;
use super::state::State;
use super::summary::state_of;
use super::tally::Tally;
use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::routing::get;
use karat_report::page::{PLAIN, Page, THEME, text};
use karat_store::{RunInfo, Store};
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::time::SystemTime;

pub(super) fn routes() -> Router<State> {
    Router::new().route("/runs/{run}/live", get(page)).route("/runs/{run}/progress.json", get(progress))
}

async fn page(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let run = state.read(move |store| Ok(found(store, &reference)?.0)).await?;
    let link = format!("/runs/{}", run.id);
    let title = format!("Karat: {} live", called(&run));
    let body = format!(
        "<div id=\"live\" data-progress=\"{link}/progress.json\" data-report=\"{link}\">\n\
         <div class=\"headline\"><h1>{}</h1><span id=\"state\" class=\"state\">…</span></div>\n\
         <p class=\"dim\">{} · begun {} UTC · <a href=\"{link}\">the report</a></p>\n\
         <noscript><p class=\"careful\">Scripts are off, so nothing moves here; \
         <a href=\"{link}/progress.json\">the same as JSON</a> is always the latest.</p></noscript>\n\
         <p id=\"lost\" class=\"careful\" role=\"alert\" hidden></p>\n<p id=\"over\" role=\"status\" hidden></p>\n\
         <p class=\"sum\"><progress id=\"bar\" value=\"0\" max=\"1\"></progress><span id=\"sum\"></span></p>\n\
         <dl id=\"figures\" class=\"figures\"></dl>\n<h2>Tools</h2>\n<div id=\"tools\"></div>\n\
         <section id=\"failed\" hidden><h2>Failures</h2><div id=\"failures\"></div></section>\n\
         <h2>Finished last</h2>\n<div id=\"last\"></div>\n</div>\n",
        text(called(&run)),
        text(&run.suite),
        text(&karat_store::timestamp::format_utc(run.created_ms)),
    );
    Ok(Reply::page(&Page {
        title: &title,
        nav: &state.nav(""),
        body: &body,
        styles: &[super::STYLE, include_str!("live.css")],
        scripts: &[THEME, PLAIN, include_str!("live.js")],
        connects: true,
        ..Page::default()
    }))
}

async fn progress(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let own = state.clone();
    let told = state.read(move |store| {
        let (run, _) = found(store, &reference)?;
        told(&own, store, &run)
    });
    Ok(Reply::json(&told.await?))
}

fn told(state: &State, store: &mut Store, run: &RunInfo) -> Result<Value, Fault> {
    // Read before the trials: if the run has ended by now, all of them are stored.
    let word = state_of(store, run);
    let tally = state.followed().tally(&run.id);
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = match tally.as_mut() {
        Some(counted) => counted,
        None => tally.insert(Tally::of(&store.plan(&run.id)?)),
    };
    counted.follow(store, &run.id)?;
    let now_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now_ms = i64::try_from(now_ms.as_millis()).unwrap_or(i64::MAX);
    let mut value = json!({
        "run": run.id, "short_id": run.short_id, "name": run.name, "suite": run.suite, "state": word,
        "begun_ms": run.created_ms, "ended_ms": run.ended_ms, "now_ms": now_ms, "planned": run.planned,
        "report": run.has_report,
    });
    let progress = json!(counted.progress(run.planned, word == "running", now_ms));
    if let (Value::Object(value), Value::Object(progress)) = (&mut value, progress) {
        value.extend(progress);
    }
    Ok(value)
}
