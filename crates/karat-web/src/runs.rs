//! The list of all runs, newest first.

use super::markup::{percent_encode, time};
use super::reply::{Fault, Reply};
use super::run_lookup::{TrialCounts, display_name, trial_counts};
use super::state::{LIST_LIFETIME, State, current_period, stamp};
use axum::extract::{Query, State as Shared};
use karat_core::wording::count;
use karat_format::assessment::AssessmentReportV1;
use karat_format::config::SuiteKind;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::{EstimateV1, ReportV1};
use karat_report::number::{headline, rank_metric, rank_of, ranked, span, three, title};
use karat_report::page::drawing;
use karat_report::plot;
use karat_store::timestamp::format_utc;
use karat_store::{RunId, RunInfo, RunState, Store};
use maud::{Markup, html};
use quick_cache::sync::Cache;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;

const ON_A_PAGE: usize = 50;

const TO_CHOOSE: usize = 200;

const TOOLS: usize = 4;

const SUITES: usize = 40;

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct PageQuery {
    suite: Option<String>,
    #[serde(default)]
    page: usize,
}

pub(super) async fn list(Shared(state): Shared<State>, Query(asked): Query<PageQuery>) -> Result<Reply, Fault> {
    let period = current_period(LIST_LIFETIME);
    let key = format!("{:?} {:?} {} {period}", stamp(&state.folder), asked.suite, asked.page);
    let own = state.clone();
    let made = async move {
        let reader = own.clone();
        own.read(move |store| draw(&reader, store, &asked)).await
    };
    state.lists.get(key, made).await
}

fn draw(state: &State, store: &mut Store, asked: &PageQuery) -> Result<Reply, Fault> {
    let all = store.overview()?;
    let suites: BTreeSet<&str> = all.iter().map(|run| run.suite.as_str()).collect();
    let wanted: Vec<&RunInfo> =
        all.iter().filter(|run| asked.suite.as_ref().is_none_or(|suite| run.suite == *suite)).collect();
    let last = wanted.len().div_ceil(ON_A_PAGE).max(1);
    let page = asked.page.clamp(1, last);
    let shown = wanted.iter().skip((page - 1) * ON_A_PAGE).take(ON_A_PAGE);
    let rows: Vec<Markup> = shown.map(|run| row(state, store, run)).collect();
    let body = html! {
        div.headline {
            h1 { "Runs" }
            p.dim { (count(wanted.len(), "run")) " in " (state.folder.display()) }
        }
        @if all.is_empty() {
            div.empty {
                p { "No runs yet. This one takes a few seconds:" }
                pre { "karat run starter" }
                p.dim { "Reload the page when it has started." }
            }
        } @else {
            (pills(&suites, asked.suite.as_deref()))
            @if wanted.is_empty() {
                p.empty { "No runs of this suite." }
            } @else {
                table.runs.cards {
                    thead { tr { @for column in COLUMNS { th scope="col" { (column) } } } }
                    tbody { @for row in rows { (row) } }
                }
            }
            (more(asked, page, last))
            (choose(&wanted))
        }
    };
    Ok(state.page("Runs", "Karat: runs", body, &[plot::STYLE], &[]))
}

const COLUMNS: [&str; 7] = ["Run", "Suite", "State", "Best tool", "Trials", "Started (UTC)", "Show"];

fn row(state: &State, store: &mut Store, run: &RunInfo) -> Markup {
    let summary = summary(&state.summaries, store, run);
    let is_failed =
        run.state == RunState::Complete && summary.trials.is_some_and(|trials| trials.done > 0 && trials.reported == 0);
    let word = if is_failed { "failed" } else { store.state_word(run) };
    let link = format!("/runs/{}", run.id);
    html! {
        tr {
            td.whole data-label="Run" {
                a href=(link) {
                    @if let Some(name) = &run.name { span.name { (name) } br; }
                    span.id { (run.short_id) }
                }
            }
            td data-label="Suite" {
                span {
                    (run.suite)
                    @if run.kind == SuiteKind::Assessment { " " span.dim { (run.kind.as_str()) } }
                    (tools(&summary))
                }
            }
            td data-label="State" {
                span {
                    span class={ "state " (word) } { (word) }
                    @if word == "running" && run.kind == SuiteKind::Findings { br; a href={ (link) "/live" } { "live" } }
                }
            }
            td.best data-label="Best tool" { @match &summary.best { Ok(best) | Err(best) => { (best) } } }
            td.trials data-label="Trials" { (trials(run, &summary)) }
            td.when data-label="Started" { (time(run.created_ms)) }
            td data-label="Show" {
                span.links { a href=(link) { "report" } " · " a href={ (link) "/report.json" } { "json" } }
            }
        }
    }
}

fn tools(summary: &Summary) -> Markup {
    let (named, others) = summary.tools.split_at(summary.tools.len().min(TOOLS));
    html! {
        @if !named.is_empty() {
            br;
            span.dim.tools { (named.join(", ")) @if !others.is_empty() { " and " (others.len()) " more" } }
        }
    }
}

/// What the list shows of a run, in addition to its row in the store.
pub(crate) struct Summary {
    /// `None` if they could not be read.
    trials: Option<TrialCounts>,
    /// Empty if they could not be read.
    tools: Vec<String>,
    /// The best tool; `Err` shows why there is none.
    best: Result<Markup, Markup>,
}

/// Summaries of finished runs, by id and end time.
pub(crate) type Summaries = Cache<(RunId, i64), Arc<Summary>>;

/// The summary of a run. Damage is shown in its place, so that other runs are still listed.
fn summary(cache: &Summaries, store: &mut Store, run: &RunInfo) -> Arc<Summary> {
    let key = (run.id.clone(), run.ended_ms.unwrap_or_default());
    if let Some(cached) = cache.get(&key) {
        return cached;
    }
    let tools = store.plan(&run.id).map(|plan| plan.tools.into_iter().map(|tool| tool.name).collect());
    let trials = trial_counts(store, &run.id).ok();
    let summary = Arc::new(Summary { trials, tools: tools.unwrap_or_default(), best: best(store, run) });
    // Do not cache a running run, or one that could not be read and may be repaired.
    if run.state != RunState::Running && summary.trials.is_some() && summary.best.is_ok() {
        cache.insert(key, Arc::clone(&summary));
    }
    summary
}

/// The best tool with its range of ranks and the ranking metric, or why there is none.
fn best(store: &mut Store, run: &RunInfo) -> Result<Markup, Markup> {
    let no_report = || html! { span.dim { "–" } };
    let unread = |why: &str| html! { span.warn { (why) } };
    let bytes = store.report(&run.id).map_err(|_| unread("its report is damaged"))?.ok_or_else(no_report)?;
    if run.kind == SuiteKind::Assessment {
        let report: AssessmentReportV1 =
            serde_json::from_slice(&bytes).map_err(|_| unread("its report is not readable by this version"))?;
        return best_assessor(&report).ok_or_else(no_report);
    }
    let report: ReportV1 =
        serde_json::from_slice(&bytes).map_err(|_| unread("its report is not readable by this version"))?;
    if report.is_failed() {
        return Ok(html! { span.bad { "no trial came to a report" } });
    }
    let tool = ranked(&report).into_iter().find(|tool| tool.has_reported()).ok_or_else(no_report)?;
    let metric = rank_metric(&report);
    let estimate = headline(&report, tool).get(metric);
    let value = estimate.and_then(|estimate| estimate.value);
    let ci = estimate.and_then(|estimate| estimate.ci);
    let bar = plot::interval(value, ci, plot::column([(value, ci)]));
    let tools = report.tools.len();
    Ok(html! {
        span {
            (tool.tool)
            @if let Some(rank) = rank_of(&report, &tool.tool) { " " span.dim { "rank " (rank) " of " (tools) } }
            @else if tools > 1 { " " span.dim { "of " (tools) } }
            br;
            span title=(title(metric)) { (title(metric)) " " (three(value)) } " " span.dim { (span(ci)) } " "
            (drawing(bar))
        }
    })
}

/// The best assessor by its first metric; without assessors, the search.
fn best_assessor(report: &AssessmentReportV1) -> Option<Markup> {
    let first = |metrics: &OrderedMap<EstimateV1>| metrics.0.first().cloned();
    let all = report.assessments.iter().filter_map(|(name, own)| Some((name, first(&own.metrics)?)));
    let value = |(_, (_, estimate)): &(&str, (String, EstimateV1))| estimate.value.unwrap_or(f64::NEG_INFINITY);
    let search = || Some(("search", first(&report.retrieval.as_ref()?.metrics)?));
    // Of equal ones, the first.
    let best = all.reduce(|best, other| if value(&other) > value(&best) { other } else { best });
    let (name, (id, estimate)) = best.or_else(search)?;
    let (value, ci) = (estimate.value, estimate.ci);
    let bar = plot::interval(value, ci, plot::column([(value, ci)]));
    Some(html! {
        span {
            (name)
            @if report.assessments.0.len() > 1 { " " span.dim { "of " (report.assessments.0.len()) } }
            br;
            span title=(title(&id)) { (title(&id)) " " (three(value)) } " " span.dim { (span(ci)) } " " (drawing(bar))
        }
    })
}

fn trials(run: &RunInfo, summary: &Summary) -> Markup {
    if run.kind == SuiteKind::Assessment {
        return html! { span.dim { "–" } };
    }
    let Some(made) = &summary.trials else { return html! { span.warn { "unreadable" } } };
    html! {
        span {
            (made.done) " of " (run.planned)
            @if made.failed > 0 { br; span.bad { (made.failed) " failed" } }
            @if made.unavailable > 0 { br; span.warn { (made.unavailable) " unavailable" } }
            @if made.done < run.planned { br; progress value=(made.done) max=(run.planned) {} }
        }
    }
}

fn pills(suites: &BTreeSet<&str>, chosen: Option<&str>) -> Markup {
    let current = |here: bool| here.then_some("true");
    html! {
        @if suites.len() > 1 || chosen.is_some() {
            ul.pills aria-label="Suites" {
                li { a href="/" aria-current=[current(chosen.is_none())] { "all suites" } }
                @for suite in suites.iter().take(SUITES) {
                    li {
                        a href={ "/?suite=" (percent_encode(suite)) } aria-current=[current(chosen == Some(suite))] {
                            (suite)
                        }
                    }
                }
            }
        }
    }
}

fn more(asked: &PageQuery, page: usize, last: usize) -> Markup {
    let address = |to: usize| match &asked.suite {
        Some(suite) => format!("/?page={to}&suite={}", percent_encode(suite)),
        None => format!("/?page={to}"),
    };
    html! {
        @if last > 1 {
            p.more {
                @if page > 1 { a href=(address(page - 1)) { "← newer" } } @else { span {} }
                span.dim { (page) " of " (last) }
                @if page < last { a href=(address(page + 1)) { "older →" } } @else { span {} }
            }
        }
    }
}

/// The form to compare two runs; default: the newest with the previous one of the same suite.
fn choose(runs: &[&RunInfo]) -> Markup {
    if runs.len() < 2 {
        return Markup::default();
    }
    // A run that has not ended cannot be compared.
    let newest = runs.iter().copied().find(|run| run.has_report).unwrap_or(runs[0]);
    let others = || runs.iter().copied().filter(|run| run.id != newest.id);
    let fits = |run: &&RunInfo| run.has_report && run.suite == newest.suite && run.kind == newest.kind;
    let before = others().find(fits).or_else(|| others().next()).unwrap_or(newest);
    let options = |chosen: &RunInfo| {
        html! {
            @for run in runs.iter().take(TO_CHOOSE) {
                option value=(run.id) selected[run.id == chosen.id] {
                    (display_name(run)) " · " (run.suite) " · " (format_utc(run.created_ms))
                }
            }
        }
    };
    html! {
        h2 { "Compare two runs" }
        form.row action="/compare" method="get" {
            label { "from " select name="a" { (options(before)) } }
            label { "to " select name="b" { (options(newest)) } }
            button { "Compare" }
        }
    }
}
