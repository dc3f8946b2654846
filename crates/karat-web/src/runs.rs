//! The list of runs, newest first, grouped by suite.

use super::markup::{AGO, percent_encode, time};
use super::reply::{Fault, Reply};
use super::run_lookup::{Best, BestFigure, Summaries, Summary, display_name, trial_counts};
use super::state::{LIST_LIFETIME, State, current_period, stamp};
use axum::extract::{Query, State as Shared};
use karat::comparison::Side;
use karat_core::wording::count;
use karat_format::assessment::AssessmentReportV1;
use karat_format::config::SuiteKind;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::{EstimateV1, ReportV1};
use karat_report::number::{headline, rank_metric, rank_of, ranked, span, three, title};
use karat_report::page::drawing;
use karat_report::plot;
use karat_store::{RunId, RunInfo, RunState, Store};
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;

const ON_A_PAGE: usize = 50;

const SUITES: usize = 40;

/// Maximum number of runs in a trend, and of runs read for all trends of a page that are not on the page.
const TREND: usize = 20;
const MORE_READ: usize = 100;

/// Minimum range of a trend, so that tiny changes look tiny.
const NARROWEST: f64 = 0.1;

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct PageQuery {
    suite: Option<String>,
    /// Words to search for.
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: usize,
}

impl PageQuery {
    /// The address of a page of this list.
    fn address(&self, page: usize) -> String {
        let suite = self.suite.as_deref().map(|suite| format!("&suite={}", percent_encode(suite)));
        let words = (!self.q.is_empty()).then(|| format!("&q={}", percent_encode(&self.q)));
        format!("/?page={page}{}{}", suite.unwrap_or_default(), words.unwrap_or_default())
    }
}

pub(super) async fn list(Shared(state): Shared<State>, Query(mut asked): Query<PageQuery>) -> Result<Reply, Fault> {
    asked.q = asked.q.trim().to_owned();
    asked.suite = asked.suite.filter(|suite| !suite.is_empty());
    let period = current_period(LIST_LIFETIME);
    let key = format!("{:?} {asked:?} {period}", stamp(&state.store));
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
    let words: Vec<String> = asked.q.split_whitespace().map(str::to_lowercase).collect();
    let of_suite = all.iter().filter(|run| asked.suite.as_ref().is_none_or(|suite| run.suite == *suite));
    let wanted: Vec<&RunInfo> = of_suite.filter(|run| has_words(state, store, run, &words)).collect();
    let last = wanted.len().div_ceil(ON_A_PAGE).max(1);
    let page = asked.page.clamp(1, last);
    let groups = by_suite(wanted.iter().copied().skip((page - 1) * ON_A_PAGE).take(ON_A_PAGE));
    let more_read = MORE_READ / groups.len().max(1);
    let comparable = groups.iter().flatten().filter(|run| run.has_report).count();
    let groups: Vec<Markup> = groups.iter().map(|listed| group(state, store, listed, &all, more_read)).collect();
    let body = html! {
        div.headline {
            h1 { "Runs" }
            p.dim {
                @if wanted.len() < all.len() { (wanted.len()) " of " } (count(all.len(), "run")) " in " (state.store)
            }
        }
        @if all.is_empty() {
            div.empty {
                p { "No runs yet. This one takes a few seconds:" }
                pre { "karat run code-review" }
                p.dim { "This page shows it as soon as it has started." }
            }
        } @else {
            (search(asked))
            (pills(&suites, asked))
            @if !wanted.is_empty() {
                form #choose action="/compare" method="get" {
                    @for group in groups { (group) }
                    @if comparable > 1 {
                        div.compare-bar {
                            button { "Compare" }
                            span #chosen role="status" { "Tick two runs to compare them." }
                        }
                    }
                }
            } @else if asked.q.is_empty() {
                p.empty { "No runs of this suite." }
            } @else {
                p.empty { "No run has " strong { (asked.q) } " in its name, id, suite or tools." }
            }
            (more(asked, page, last))
        }
    };
    let frame = state.part_frame("Runs", "Karat: runs");
    let scripts = [AGO, include_str!("runs.js")];
    Ok(state.reloading_page(frame, "Karat: runs", body, &[plot::STYLE], &scripts))
}

/// Whether each word is part of the run's name, id, suite or tools.
fn has_words(state: &State, store: &mut Store, run: &RunInfo, words: &[String]) -> bool {
    let fields = [run.name.as_deref().unwrap_or_default(), run.id.as_str(), run.suite.as_str()].map(str::to_lowercase);
    let mut others = words.iter().filter(|word| !fields.iter().any(|field| field.contains(word.as_str()))).peekable();
    // Plans are read only for words that are found nowhere else.
    if others.peek().is_none() {
        return true;
    }
    let tools: Vec<String> = tool_names(state, store, &run.id).iter().map(|tool| tool.to_lowercase()).collect();
    others.all(|word| tools.iter().any(|tool| tool.contains(word.as_str())))
}

/// The names of a run's tools; none if its plan cannot be read.
fn tool_names(state: &State, store: &mut Store, run: &RunId) -> Arc<[String]> {
    let read = || store.plan(run).map(|plan| plan.tools.into_iter().map(|tool| tool.name).collect());
    state.tool_names.get_or_insert_with(run, read).unwrap_or_default()
}

/// Runs by suite and kind, in the order in which suites come first.
fn by_suite<'r>(runs: impl Iterator<Item = &'r RunInfo>) -> Vec<Vec<&'r RunInfo>> {
    let mut groups: Vec<Vec<&RunInfo>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| is_related(group[0], run)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

fn is_related(a: &RunInfo, b: &RunInfo) -> bool {
    a.suite == b.suite && a.kind == b.kind
}

const COLUMNS: [(&str, &str); 7] = [
    ("tick", "Select"),
    ("run", "Run"),
    ("word", "State"),
    ("best", "Best tool"),
    ("tools", "Tools"),
    ("trials", "Trials"),
    ("when", "Started"),
];

/// Runs of one suite, with the trend of their ranking metric.
fn group(state: &State, store: &mut Store, listed: &[&RunInfo], all: &[RunInfo], more_read: usize) -> Markup {
    let newest = listed[0];
    let related: Vec<&RunInfo> = all.iter().filter(|run| is_related(run, newest)).collect();
    let since = related.iter().skip_while(|run| run.id != newest.id);
    let earlier: Vec<&RunInfo> = since.copied().take((listed.len() + more_read).min(TREND)).collect();
    let trend = trend(state, store, &earlier);
    let mut finished = related.iter().filter(|run| run.has_report && run.state == RunState::Complete);
    let latest = finished.next().zip(finished.next());
    let rows: Vec<Markup> = listed.iter().map(|run| row(state, store, run)).collect();
    html! {
        section.suite-runs {
            div.headline {
                h2 {
                    a href={ "/?suite=" (percent_encode(&newest.suite)) } { (newest.suite) }
                    @if newest.kind == SuiteKind::Assessment { " " span.dim { (newest.kind.as_str()) } }
                }
                (trend)
                p.dim {
                    (count(related.len(), "run"))
                    @if let Some((newest, before)) = latest {
                        " · " a href={ "/compare?a=" (before.id) "&b=" (newest.id) } { "compare the latest two" }
                    }
                }
            }
            table.runs.cards {
                thead { tr { @for (class, column) in COLUMNS { th class=(class) scope="col" { (column) } } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

/// The ranking metric of the best tool over runs, which come newest first; empty with fewer than two values. Only runs on the same
/// cases and by the same rules are connected.
fn trend(state: &State, store: &mut Store, runs: &[&RunInfo]) -> Markup {
    let best = |run: &&RunInfo| summary(&state.summaries, store, run).best.as_ref().ok()?.figure.clone();
    let mut figures: Vec<BestFigure> = runs.iter().filter_map(best).collect();
    let Some(metric) = figures.first().map(|newest| newest.metric.clone()) else { return Markup::default() };
    // Runs by another profile may rank by another metric.
    figures.retain(|figure| figure.metric == metric);
    figures.reverse();
    if figures.len() < 2 {
        return Markup::default();
    }
    let values = figures.iter().map(|figure| figure.value);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (value.min(low), value.max(high)));
    let range = (high - low).max(NARROWEST);
    let (middle, step) = ((low + high) / 2.0, 92.0 / (figures.len() - 1) as f64);
    let point = |(at, figure): (usize, &BestFigure)| TrendPoint {
        shown: three(Some(figure.value)),
        basis: figure.basis.clone(),
        x: format!("{:.1}", 4.0 + at as f64 * step),
        y: format!("{:.1}", 12.0 - (figure.value - middle) / range * 16.0),
    };
    let points: Vec<TrendPoint> = figures.iter().enumerate().map(point).collect();
    let stretches: Vec<&[TrendPoint]> = points.chunk_by(|a, b| a.basis == b.basis).collect();
    let joined = |stretch: &[TrendPoint], separator: &str, text: fn(&TrendPoint) -> String| {
        stretch.iter().map(text).collect::<Vec<_>>().join(separator)
    };
    let values: Vec<String> = stretches.iter().map(|own| joined(own, ", ", |point| point.shown.clone())).collect();
    let broken = match values.len() {
        1 => "",
        _ => {
            ". The line breaks where the suite, its selected cases or the profile changed: such values cannot be compared"
        }
    };
    let runs = count(figures.len(), "run");
    let words = format!("Best {} of the last {runs}, oldest first: {}{broken}", title(&metric), values.join(" | "));
    html! {
        span.trend {
            svg viewBox="0 0 100 24" role="img" aria-label=(words) {
                title { (words) }
                @for stretch in stretches {
                    @match stretch {
                        [only] => { circle cx=(only.x) cy=(only.y) r="1.5" {} }
                        line => { polyline points=(joined(line, " ", |point| format!("{},{}", point.x, point.y))) {} }
                    }
                }
                @if let Some(newest) = points.last() { circle cx=(newest.x) cy=(newest.y) r="3" {} }
            }
            " " span.dim { "best " (title(&metric)) }
        }
    }
}

/// A value of a trend, in words and at its place.
struct TrendPoint {
    shown: String,
    basis: String,
    x: String,
    y: String,
}

fn row(state: &State, store: &mut Store, run: &RunInfo) -> Markup {
    let summary = summary(&state.summaries, store, run);
    let is_failed =
        run.state == RunState::Complete && summary.trials.is_some_and(|trials| trials.done > 0 && trials.reported == 0);
    let word = if is_failed { "failed" } else { store.state_word(run) };
    let link = format!("/runs/{}", run.id);
    let tools = tool_names(state, store, &run.id).join(", ");
    html! {
        tr {
            td.tick data-label="Select" {
                // A run that has not ended cannot be compared.
                @if run.has_report {
                    input type="checkbox" name="run" value=(run.id) aria-label={ "Compare " (display_name(run)) };
                }
            }
            td.run.whole data-label="Run" {
                a href=(link) title=(display_name(run)) {
                    @if let Some(name) = &run.name { span.name { (name) } " " }
                    span.id { (run.short_id) }
                }
            }
            td.word data-label="State" {
                span {
                    span class={ "state " (word) } { (word) }
                    @if word == "running" && run.kind == SuiteKind::Findings { " " a href={ (link) "/live" } { "live" } }
                }
            }
            td.best data-label="Best tool" {
                @match &summary.best { Ok(best) => { (best.shown) } Err(reason) => { (reason) } }
            }
            td.tools data-label="Tools" { span.dim title=(tools) { (tools) } }
            td.trials data-label="Trials" { (trials(run, &summary)) }
            td.when data-label="Started" { (time(run.created_ms)) }
        }
    }
}

/// The summary of a run. Damage is shown in its place, so that other runs are still listed.
fn summary(cache: &Summaries, store: &mut Store, run: &RunInfo) -> Arc<Summary> {
    let key = (run.id.clone(), run.ended_ms.unwrap_or_default());
    if let Some(cached) = cache.get(&key) {
        return cached;
    }
    let trials = trial_counts(store, &run.id).ok();
    let summary = Arc::new(Summary { trials, best: best(store, run) });
    // Do not cache a running run, or one that could not be read and may be repaired.
    if run.state != RunState::Running && summary.trials.is_some() && summary.best.is_ok() {
        cache.insert(key, Arc::clone(&summary));
    }
    summary
}

/// The best tool with its range of ranks and the ranking metric, or why there is none.
fn best(store: &mut Store, run: &RunInfo) -> Result<Best, Markup> {
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
        return Ok(Best { shown: html! { span.bad { "no trial came to a report" } }, figure: None });
    }
    let tool = ranked(&report).into_iter().find(|tool| tool.has_reported()).ok_or_else(no_report)?;
    let metric = rank_metric(&report);
    let estimate = headline(&report, tool).get(metric);
    let (value, ci) = (estimate.and_then(|estimate| estimate.value), estimate.and_then(|estimate| estimate.ci));
    let tools = report.tools.len();
    let rank = match rank_of(&report, &tool.tool) {
        Some(rank) => format!("rank {rank} of {tools}"),
        None if tools > 1 => format!("of {tools}"),
        None => String::new(),
    };
    Ok(shown_best(&Side::of_report(&report, tool, &tool.tool), &rank, metric, value, ci))
}

fn shown_best(side: &Side, rank: &str, metric: &str, value: Option<f64>, ci: Option<[f64; 2]>) -> Best {
    let name = &side.tool;
    let bar = plot::interval(value, ci, plot::column([(value, ci)]));
    let shown = html! {
        span {
            span.name title=(name) { (name) } " "
            span.figure title={ (span(ci)) @if !rank.is_empty() { ", " (rank) } } {
                (title(metric)) " " strong { (three(value)) } " " (drawing(bar))
            }
        }
    };
    let figure = |value| BestFigure { metric: metric.to_owned(), value, basis: side.basis() };
    Best { shown, figure: value.map(figure) }
}

/// The best assessor by its first metric; without assessors, the search.
fn best_assessor(report: &AssessmentReportV1) -> Option<Best> {
    let first = |metrics: &OrderedMap<EstimateV1>| metrics.0.first().cloned();
    let all = report.assessments.iter().filter_map(|(name, own)| Some((name, first(&own.metrics)?)));
    let value = |(_, (_, estimate)): &(&str, (String, EstimateV1))| estimate.value.unwrap_or(f64::NEG_INFINITY);
    let search = || Some(("search", first(&report.retrieval.as_ref()?.metrics)?));
    // Of equal ones, the first.
    let best = all.reduce(|best, other| if value(&other) > value(&best) { other } else { best });
    let (name, (id, estimate)) = best.or_else(search)?;
    let assessors = report.assessments.0.len();
    let rank = if assessors > 1 { format!("of {assessors}") } else { String::new() };
    let side = Side::of_assessment(report).into_iter().find(|side| side.tool == name)?;
    Some(shown_best(&side, &rank, &id, estimate.value, estimate.ci))
}

fn trials(run: &RunInfo, summary: &Summary) -> Markup {
    if run.kind == SuiteKind::Assessment {
        return html! { span.dim { "–" } };
    }
    let Some(made) = &summary.trials else { return html! { span.warn { "unreadable" } } };
    html! {
        span {
            (made.done) " of " (run.planned)
            @if made.failed > 0 { ", " span.bad { (made.failed) " failed" } }
            @if made.unavailable > 0 { ", " span.warn { (made.unavailable) " unavailable" } }
            @if made.done < run.planned { " " progress value=(made.done) max=(run.planned) aria-label="Finished trials" {} }
        }
    }
}

fn search(asked: &PageQuery) -> Markup {
    html! {
        form.search role="search" action="/" method="get" {
            input type="search" name="q" value=(asked.q) aria-label="Search runs" placeholder="Name, id, suite or tool"
                title="/" maxlength="200" autocomplete="off" spellcheck="false";
            @if let Some(suite) = &asked.suite { input type="hidden" name="suite" value=(suite); }
            button { "Search" }
            @if !asked.q.is_empty() { a href=(PageQuery { q: String::new(), ..asked.clone() }.address(1)) { "show all" } }
        }
    }
}

fn pills(suites: &BTreeSet<&str>, asked: &PageQuery) -> Markup {
    let current = |here: bool| here.then_some("true");
    let address = |suite: Option<&str>| PageQuery { suite: suite.map(str::to_owned), ..asked.clone() }.address(1);
    let chosen = asked.suite.as_deref();
    html! {
        @if suites.len() > 1 || chosen.is_some() {
            ul.pills aria-label="Suites" {
                li { a href=(address(None)) aria-current=[current(chosen.is_none())] { "all suites" } }
                @for suite in suites.iter().take(SUITES) {
                    li { a href=(address(Some(suite))) aria-current=[current(chosen == Some(suite))] { (suite) } }
                }
            }
        }
    }
}

fn more(asked: &PageQuery, page: usize, last: usize) -> Markup {
    html! {
        @if last > 1 {
            p.paging {
                @if page > 1 { a href=(asked.address(page - 1)) { "← newer" } } @else { span {} }
                span.dim { (page) " of " (last) }
                @if page < last { a href=(asked.address(page + 1)) { "older →" } } @else { span {} }
            }
        }
    }
}
