//! The live page of a run.

use super::reply::{Fault, Reply};
use super::run::frame as run_frame;
use super::run_lookup::{find_run, page_title};
use super::run_progress::RunProgress;
use super::state::State;
use axum::extract::{Path, State as Shared};
use karat_format::config::SuiteKind;
use karat_report::page::{FrameLink, PLAIN};
use karat_store::{RunInfo, Store};
use maud::html;
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::time::SystemTime;

pub(super) async fn page(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let (run, all) = state.read(move |store| Ok(find_run(store, &reference)?)).await?;
    let link = format!("/runs/{}", run.id);
    // An assessment has no trials to watch.
    if run.kind == SuiteKind::Assessment {
        return Ok(Reply::redirect(&link));
    }
    let data = format!("{link}/progress.json");
    let body = html! {
        div #live data-progress=(data) data-report=(link) {
            div.headline { h1 { (run.name.as_ref().unwrap_or(&run.suite)) } span #state.state { "…" } }
            p.dim {
                (run.suite) " · started " (run.began()) " · " a href=(link) { "report" }
            }
            noscript {
                p.careful {
                    "This page needs JavaScript; " a href=(data) { "progress.json" } " has the same data."
                }
            }
            p #lost.careful role="alert" hidden {}
            p #over role="status" hidden {}
            section #warning.careful role="alert" hidden {}
            p.sum { progress #bar value="0" max="1" {} span #sum {} }
            dl #figures.figures {}
            h2 { "Tools" }
            div #tools {}
            section #failed hidden { h2 { "Failures" } div #failures {} }
            h2 { "Recently finished" }
            div #last {}
        }
    };
    let title = format!("Karat: {} live", page_title(&run));
    let mut frame = run_frame(&state, &run, &all);
    let progress = frame.links.extract_if(.., |part| part.href.ends_with("/live"));
    let progress: Vec<FrameLink> = progress.map(|part| FrameLink { is_current: true, ..part }).collect();
    frame.tabs = [vec![FrameLink::new("Report", link)], progress].concat();
    Ok(state.page_in(frame, &title, body, &[include_str!("live.css")], &[PLAIN, include_str!("live.js")]))
}

pub(super) async fn progress(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let own = state.clone();
    let progress = state.read(move |store| {
        let (run, _) = find_run(store, &reference)?;
        progress_json(&own, store, &run)
    });
    Ok(Reply::json(&progress.await?))
}

fn progress_json(state: &State, store: &mut Store, run: &RunInfo) -> Result<Value, Fault> {
    // Read before the trials: if the run has ended by now, all of them are stored.
    let word = store.state_word(run);
    let cached = state.progress(&run.id);
    let mut cached = cached.lock().unwrap_or_else(PoisonError::into_inner);
    let progress = match cached.as_mut() {
        Some(progress) => progress,
        None => cached.insert(RunProgress::new(&store.plan(&run.id)?)),
    };
    progress.update(store, &run.id)?;
    let now_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now_ms = i64::try_from(now_ms.as_millis()).unwrap_or(i64::MAX);
    let mut value = json!({
        "run": run.id, "short_id": run.short_id, "name": run.name, "suite": run.suite, "state": word,
        "begun_ms": run.created_ms, "ended_ms": run.ended_ms, "now_ms": now_ms, "planned": run.planned,
        "report": run.has_report,
    });
    let progress = progress.snapshot(run.planned, word == "running", now_ms);
    if let (Value::Object(value), Value::Object(progress)) = (&mut value, progress) {
        value.extend(progress);
    }
    Ok(value)
}
