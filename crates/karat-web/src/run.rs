//! The report of a run as a page and as JSON.

use super::markup::{percent_encode, time};
use super::reply::{Fault, Reply};
use super::run_lookup::{
    breadcrumb_name, display_name, find_run, page_title, stored_assessment, stored_report, trial_counts,
};
use super::state::{STYLE, State, UNFINISHED_LIFETIME, current_period};
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use karat::report_view::{gather, run_reference};
use karat::run_loader::current_report;
use karat_format::config::SuiteKind;
use karat_format::report::ReportV1;
use karat_report::page::{Frame, FrameLink, Page, switcher};
use karat_report::report_view::{AssessmentView, EarlierAssessment, EarlierReport, ReportView, Sources};
use karat_store::{RunInfo, RunState, Store};
use maud::{Markup, html};

/// Maximum number of earlier runs shown, and of runs searched for them.
const EARLIER: usize = 20;
const LOOKED_AT: usize = 60;

pub(super) async fn page(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let (key, run) = state
        .read(move |store| {
            let (run, all) = find_run(store, &reference)?;
            let word = store.state_word(&run);
            let earlier = before(&run, &all);
            let newest = earlier.first().map(|run| run.id.to_string());
            let labelled = store.labels_changed_ms()?;
            let others: Vec<_> = same_suite(&run, &all).map(|other| (&other.id, &other.name, &other.state)).collect();
            let RunInfo { id, ended_ms, name, .. } = &run;
            Ok((format!("{id} {word} {ended_ms:?} {name:?} {} {newest:?} {labelled:?} {others:?}", earlier.len()), run))
        })
        .await?;
    // A running run changes all the time and is redrawn periodically.
    let key = if run.has_report { key } else { format!("{key} {}", current_period(UNFINISHED_LIFETIME)) };
    state.render_cached(&state.reports, key, move |state, store| draw(state, store, run.id.as_str())).await
}

pub(super) async fn json(Shared(state): Shared<State>, Path(reference): Path<String>) -> Result<Reply, Fault> {
    let report = state.read(move |store| {
        let (run, _) = find_run(store, &reference)?;
        store.report(&run.id)?.ok_or_else(|| {
            let RunInfo { short_id, id, .. } = run;
            let message = format!("The run {short_id} has not ended, so it has no report yet; see /runs/{id}/progress.json for its progress.");
            Fault::new(StatusCode::NOT_FOUND, message)
        })
    });
    Ok(Reply::json_text(report.await?))
}

/// Earlier finished runs of the same suite, newest first.
fn before<'r>(run: &RunInfo, all: &'r [RunInfo]) -> Vec<&'r RunInfo> {
    let fits = |other: &&RunInfo| {
        other.suite == run.suite
            && other.kind == run.kind
            && other.state == RunState::Complete
            && other.has_report
            && (other.created_ms, &other.id) < (run.created_ms, &run.id)
    };
    all.iter().filter(fits).take(LOOKED_AT).collect()
}

/// Other runs of the same suite, newest first, as many as a menu can show.
fn same_suite<'r>(run: &'r RunInfo, all: &'r [RunInfo]) -> impl Iterator<Item = &'r RunInfo> {
    all.iter().filter(move |other| other.suite == run.suite && other.id != run.id).take(EARLIER)
}

fn draw(state: &State, store: &mut Store, id: &str) -> Result<Reply, Fault> {
    let (run, all) = find_run(store, id)?;
    if run.kind == SuiteKind::Assessment {
        return draw_assessment(state, store, &run, &all);
    }
    let stored = stored_report(store, &run)?;
    let Some(shown) = current_report(store, &run, stored)? else {
        return Ok(Reply::redirect(&format!("/runs/{}/live", run.id)));
    };
    let banner = banner(store, &run, shown.labelled);
    let frame = Frame { banner, ..frame(state, &run, &all) };
    let earlier = earlier(store, &shown.report, &before(&run, &all));
    let Some((loaded, trials)) = &shown.sources else {
        return Ok(reply(gather(&shown.report, earlier, None), &run, frame));
    };
    let sources = Sources { suite: &loaded.suite, trials, code: loaded };
    Ok(reply(gather(&shown.report, earlier, Some(sources)), &run, frame))
}

fn draw_assessment(state: &State, store: &mut Store, run: &RunInfo, all: &[RunInfo]) -> Result<Reply, Fault> {
    let Some(report) = stored_assessment(store, run)? else {
        let word = store.state_word(run);
        let body = html! {
            h1 { (breadcrumb_name(run)) }
            p { "This assessment of " (run.suite) " is " (word) ", and has no report" @if word == "running" { " yet" } "." }
            @if word == "running" { p.dim { "This page shows the report when there is one." } } @else {
                p.dim { "Run " kbd { "karat assess" } " again; recorded answers of models are reused." }
            }
        };
        let title = format!("Karat: {}", page_title(run));
        return Ok(state.reloading_page(frame(state, run, all), &title, body, &[], &[]));
    };
    let before = before(run, all);
    let earlier = before.iter().filter_map(|run| {
        let label = display_name(run).to_owned();
        Some(EarlierAssessment { label, report: stored_assessment(store, run).ok()?? })
    });
    let mut earlier: Vec<EarlierAssessment> = earlier.take(EARLIER).collect();
    earlier.reverse();
    let title = page_title(run);
    let view = AssessmentView { name: run.name.clone(), run: Some(run_reference(run)), report: &report, earlier };
    let page = karat_report::assessment::html::page(&view, &title);
    Ok(framed(page, frame(state, run, all)))
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

/// The header above a report: the way to the other runs of its suite, and to other forms of this one.
pub(super) fn frame(state: &State, run: &RunInfo, all: &[RunInfo]) -> Frame {
    let link = |run: &RunInfo| format!("/runs/{}", percent_encode(run.id.as_str()));
    let suite = format!("/?suite={}", percent_encode(&run.suite));
    let mut frame = state.frame(vec![(run.suite.clone(), Some(suite))]);
    let others: Vec<(String, String, Markup)> = same_suite(run, all)
        .map(|other| match &other.name {
            Some(name) => (name.clone(), link(other), html! { (time(other.created_ms)) }),
            None => (breadcrumb_name(other), link(other), html! { (other.short_id) }),
        })
        .collect();
    match others.is_empty() {
        true => frame.breadcrumb.push((breadcrumb_name(run), None)),
        false => frame.switcher = switcher(&breadcrumb_name(run), "Other runs of this suite", &others),
    }
    let own = link(run);
    if run.kind == SuiteKind::Findings {
        frame.links.push(FrameLink::new("Progress", format!("{own}/live")));
    }
    frame.links.push(FrameLink::new("JSON", format!("{own}/report.json")));
    frame
}

/// The state of the run, and whether labels were added since it ended.
fn banner(store: &mut Store, run: &RunInfo, labelled: bool) -> Markup {
    let link = format!("/runs/{}", percent_encode(run.id.as_str()));
    let json = format!("{link}/report.json");
    let live = format!("{link}/live");
    let done = trial_counts(store, &run.id).map_or_else(|_| "some".to_owned(), |made| made.done.to_string());
    let done = format!("{done} of {} trials are done.", run.planned);
    match store.state_word(run) {
        "running" => html! {
            "This run is in progress: " (done) " " a href=(live) { "Watch it live" } "; this page shows the results so far."
        },
        "interrupted" => html! {
            "This run was interrupted: " (done) " Resume it with " kbd { "karat run --resume " (run.short_id) }
            "; this page shows the results so far."
        },
        "stopped" => html! { "This run was stopped: " (done) },
        "failed" => html! {
            span.state.failed { "failed" } " No trial of this run came to a report, so no tool has scores; "
            a href=(live) { "Progress" } " lists the reasons. Try again with "
            kbd { "karat run --resume " (run.short_id) " --retry-failed" } "."
        },
        _ if labelled => html! {
            "This page includes labels made since the run ended. " a href=(json) { "JSON" }
            ", the list of runs and comparisons do not; " kbd { "karat score " (run.short_id) } " includes them too."
        },
        _ => Markup::default(),
    }
}

fn reply(view: ReportView<'_>, run: &RunInfo, frame: Frame) -> Reply {
    let view = ReportView { name: run.name.clone(), run: Some(run_reference(run)), ..view };
    let title = page_title(run);
    framed(karat_report::html::page(&view, &title), frame)
}

/// A report's page with its own tabs in the header of the site.
fn framed(page: Page<'_>, frame: Frame) -> Reply {
    let tabs = page.frame.map(|own| own.tabs).unwrap_or_default();
    let styles = [page.styles, &[STYLE]].concat();
    Reply::reloading_page(Page { frame: Some(Frame { tabs, ..frame }), styles: &styles, connects: true, ..page })
}
