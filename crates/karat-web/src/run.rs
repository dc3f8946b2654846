//! The report of a run as a page and as JSON.

use super::fault::Fault;
use super::markup::percent_encode;
use super::reply::Reply;
use super::run_lookup::{display_name, find_run, state_word, stored_report, trial_counts};
use super::state::{STYLE, State, UNFINISHED_LIFETIME, current_period};
use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::routing::get;
use karat::failure::Failure;
use karat::judge::run::{JudgeEnv, JudgeRequest, NoObserver, run_judge};
use karat::profile::request::ProfileRequest;
use karat::report_view::gather;
use karat::run_loader::{self, StoredRun};
use karat::scoring;
use karat::suite::LoadedSuite;
use karat_core::ids::JudgeName;
use karat_core::trial::Trial;
use karat_format::report::ReportV1;
use karat_llm::ledger::CacheMode;
use karat_report::page::Page;
use karat_report::report_view::{EarlierReport, ReportView, Sources};
use karat_store::label::labels_as_judgements;
use karat_store::{RunInfo, RunState, Store};
use maud::{Markup, html};

pub(super) fn routes() -> Router<State> {
    Router::new().route("/runs/{run}", get(page)).route("/runs/{run}/report.json", get(json))
}

/// Maximum number of earlier runs shown, and of runs searched for them.
const EARLIER: usize = 20;
const LOOKED_AT: usize = 60;

async fn page(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let (key, run) = state
        .read(move |store| {
            let (run, all) = find_run(store, &reference)?;
            let word = state_word(store, &run);
            let earlier = before(&run, &all);
            let newest = earlier.first().map(|run| run.id.to_string());
            let labelled = store.labels_changed_ms()?;
            let RunInfo { id, ended_ms, name, .. } = &run;
            Ok((format!("{id} {word} {ended_ms:?} {name:?} {} {newest:?} {labelled:?}", earlier.len()), run))
        })
        .await?;
    // A running run changes all the time and is redrawn periodically.
    let key = if run.has_report { key } else { format!("{key} {}", current_period(UNFINISHED_LIFETIME)) };
    state.render_cached(&state.reports, key, move |state, store| draw(state, store, run.id.as_str())).await
}

async fn json(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let report = state.read(move |store| {
        let (run, _) = find_run(store, &reference)?;
        store.report(&run.id)?.ok_or_else(|| {
            let RunInfo { short_id, id, .. } = run;
            let said = format!("The run {short_id} has not ended, so it has no report yet; see /runs/{id}/progress.json for its progress.");
            Fault::new(StatusCode::NOT_FOUND, said)
        })
    });
    Ok(Reply::json_text(report.await?))
}

/// Earlier finished runs of the same suite, newest first.
fn before<'r>(run: &RunInfo, all: &'r [RunInfo]) -> Vec<&'r RunInfo> {
    let fits = |other: &&RunInfo| {
        other.suite == run.suite
            && other.state == RunState::Complete
            && other.has_report
            && (other.created_ms, &other.id) < (run.created_ms, &run.id)
    };
    all.iter().filter(fits).take(LOOKED_AT).collect()
}

fn draw(state: &State, store: &mut Store, id: &str) -> Result<Reply, Fault> {
    let (run, all) = find_run(store, id)?;
    let (shown, labelled) = match stored_report(store, &run)? {
        Some(report) => match labelled_since(store, &run, &report) {
            Some(shown) => (shown, true),
            None => (LoadedReport { report, sources: sources(store, &run) }, false),
        },
        None => match unfinished(store, &run)? {
            Some(shown) => (shown, false),
            None => return Ok(Reply::redirect(&format!("/runs/{}/live", run.id))),
        },
    };
    let nav = nav(state, store, &run, labelled);
    let earlier = earlier(store, &shown.report, &before(&run, &all));
    let Some((loaded, trials)) = &shown.sources else {
        return Ok(reply(gather(&shown.report, earlier, None), &run, nav));
    };
    let code = |case: &_, path: &_| loaded.source(case, path);
    let sources = Sources { suite: &loaded.suite, trials, code: &code };
    Ok(reply(gather(&shown.report, earlier, Some(sources)), &run, nav))
}

/// A report, with texts and code if they can be read.
struct LoadedReport {
    report: ReportV1,
    sources: Option<(LoadedSuite, Vec<Trial>)>,
}

fn sources(store: &mut Store, run: &RunInfo) -> Option<(LoadedSuite, Vec<Trial>)> {
    // The report is shown without them and notes what is missing.
    let StoredRun { loaded, trials, .. } = run_loader::run(store, run.id.as_str()).ok()?;
    Some((loaded, trials.into_iter().map(|stored| stored.trial).collect()))
}

/// The report of a run with labels made since it ended; `None` if there are none, or if it cannot be scored again without
/// asking a judge.
fn labelled_since(store: &mut Store, run: &RunInfo, report: &ReportV1) -> Option<LoadedReport> {
    let changed = store.labels_changed_ms().ok()??;
    if run.ended_ms.is_some_and(|ended| changed <= ended) {
        return None;
    }
    let mut stored = run_loader::run(store, run.id.as_str()).ok()?;
    let mut work = stored.work(stored.profile(&ProfileRequest::default()).ok()?, None);
    let heard_before = report.judges.iter().any(|judge| JudgeName::new(judge.judge.as_str()).is_human());
    if !heard_before && labels_as_judgements(&store.labels().ok()?, &stored.loaded.suite, &work.trials).is_empty() {
        return None;
    }
    let recorded = JudgeRequest { cache: CacheMode::Only, ..stored.judge_request(&JudgeRequest::default()) };
    judge(store, &stored, &recorded, &mut work).ok()?;
    Some(score(stored.loaded, work))
}

/// The preliminary report of a running run, on the finished cases; `None` if there are none. No judge is asked: recorded answers
/// come from the ledger.
fn unfinished(store: &mut Store, run: &RunInfo) -> Result<Option<LoadedReport>, Fault> {
    let mut stored = run_loader::run(store, run.id.as_str())?;
    let profile = stored.profile(&ProfileRequest::default())?;
    let all = stored.plan.cases.len();
    let done = stored.keep_what_is_done();
    if done == 0 {
        return Ok(None);
    }
    let mut work = stored.work(profile, None);
    work.notes
        .push(format!("{done} of {all} cases are finished by every tool that has started; the others are excluded"));
    let recorded = JudgeRequest { cache: CacheMode::Only, ..stored.judge_request(&JudgeRequest::default()) };
    if let Err(failure) = judge(store, &stored, &recorded, &mut work) {
        work.notes.push(format!("no judge is used before the run has ended: {}", failure.text()));
        judge(store, &stored, &JudgeRequest { judge: Some("none".to_owned()), ..recorded }, &mut work)?;
    }
    Ok(Some(score(stored.loaded, work)))
}

fn judge(store: &mut Store, run: &StoredRun, request: &JudgeRequest, work: &mut scoring::Work) -> Result<(), Failure> {
    let folder = store.folder().to_owned();
    let env = JudgeEnv { request, store_folder: &folder, store: Some(store), observer: &mut NoObserver };
    run_judge(env, &run.loaded, &run.models(), work)
}

fn score(loaded: LoadedSuite, work: scoring::Work) -> LoadedReport {
    let scoring = scoring::run(&loaded, work);
    LoadedReport { report: scoring.report, sources: Some((loaded, scoring.trials)) }
}

/// The reports of earlier runs by the same profile, oldest first. Unreadable ones are skipped.
fn earlier(store: &mut Store, report: &ReportV1, candidates: &[&RunInfo]) -> Vec<EarlierReport> {
    let same_profile = candidates.iter().filter_map(|run| {
        let other = stored_report(store, run).ok()??;
        let label = display_name(run).to_owned();
        (other.profile.name == report.profile.name).then_some(EarlierReport { label, report: other })
    });
    let mut found: Vec<EarlierReport> = same_profile.take(EARLIER).collect();
    found.reverse();
    found
}

/// The header above the report: navigation, the state of the run, and whether labels were added since.
fn nav(state: &State, store: &mut Store, run: &RunInfo, labelled: bool) -> Markup {
    let link = format!("/runs/{}", percent_encode(run.id.as_str()));
    let json = format!("{link}/report.json");
    let live = format!("{link}/live");
    let done = trial_counts(store, &run.id).map_or_else(|_| "some".to_owned(), |made| made.done.to_string());
    let done = format!("{done} of {} trials are done.", run.planned);
    let status = match state_word(store, run) {
        "running" => html! {
            "This run is in progress: " (done) " " a href=(live) { "Watch it live" } "; this page shows the results so far."
        },
        "interrupted" => html! {
            "This run was interrupted: " (done) " Resume it with " kbd { "karat run --resume " (run.short_id) }
            "; this page shows the results so far."
        },
        "stopped" => html! { "This run was stopped: " (done) },
        _ if labelled => html! {
            "This page includes labels made since the run ended. " a href=(json) { "JSON" }
            ", the list of runs and comparisons do not; " kbd { "karat score " (run.short_id) } " includes them too."
        },
        _ => Markup::default(),
    };
    html! {
        (state.links(""))
        a href=(json) { "JSON" }
        a href=(live) { "Progress" }
        @if !status.0.is_empty() { p.going role="status" { (status) } }
    }
}

fn reply(view: ReportView<'_>, run: &RunInfo, nav: Markup) -> Reply {
    let view = ReportView { name: Some(display_name(run).to_owned()), ..view };
    let title = format!("{} · {}", display_name(run), view.report.suite.name);
    let page = karat_report::html::page(&view, &title);
    let styles = [page.styles, &[STYLE]].concat();
    Reply::page(&Page { nav, styles: &styles, connects: true, ..page })
}
