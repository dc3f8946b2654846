//! The list of all runs, newest first.

use super::fault::Fault;
use super::markup::{percent_encode, time};
use super::reply::Reply;
use super::state::State;
use super::summary::{Best, Summary, state_word};
use axum::Router;
use axum::extract::{Query, State as Shared};
use axum::routing::get;
use karat_report::number::{span, three};
use karat_report::page::{Page, THEME, text};
use karat_report::plot::{self, column, interval};
use karat_store::{RunInfo, Store};
use serde::Deserialize;
use std::collections::BTreeSet;

pub(super) fn routes() -> Router<State> {
    Router::new().route("/", get(list))
}

/// Runs per page.
const ON_A_PAGE: usize = 50;

/// Maximum number of runs offered for a comparison.
const TO_CHOOSE: usize = 200;

/// Maximum number of tools named per run.
const TOOLS: usize = 4;

/// Maximum number of suites offered as filters.
const SUITES: usize = 40;

#[derive(Clone, Debug, Default, Deserialize)]
struct PageQuery {
    suite: Option<String>,
    #[serde(default)]
    page: usize,
}

async fn list(Shared(state): Shared<State>, Query(asked): Query<PageQuery>) -> Result<Reply, Fault> {
    let key = format!("{:?} {:?} {} {:?}", state.stamp(), asked.suite, asked.page, state.moment());
    let own = state.clone();
    let made = async move {
        let reader = own.clone();
        own.read(move |store| draw(&reader, store, &asked)).await
    };
    state.lists().get(key, made).await
}

fn draw(state: &State, store: &mut Store, asked: &PageQuery) -> Result<Reply, Fault> {
    let all = store.overview()?;
    let suites: BTreeSet<String> = all.iter().map(|run| run.suite.clone()).collect();
    let wanted: Vec<&RunInfo> =
        all.iter().filter(|run| asked.suite.as_ref().is_none_or(|suite| run.suite == *suite)).collect();
    let last = wanted.len().div_ceil(ON_A_PAGE).max(1);
    let page = asked.page.clamp(1, last);
    let mut rows = String::new();
    for run in wanted.iter().skip((page - 1) * ON_A_PAGE).take(ON_A_PAGE) {
        rows.push_str(&row(state, store, run));
    }
    let mut body = format!(
        "<div class=\"headline\"><h1>Runs</h1><p class=\"dim\">{} in {}</p></div>\n",
        karat_core::wording::count(wanted.len(), "run"),
        text(&state.folder().display().to_string())
    );
    if all.is_empty() {
        body.push_str(NONE_YET);
    } else {
        body.push_str(&pills(&suites, asked.suite.as_deref()));
        if wanted.is_empty() {
            body.push_str("<p class=\"empty\">No runs of this suite.</p>\n");
        } else {
            body.push_str(&format!(
                "<table class=\"runs cards\">\n<thead><tr><th scope=\"col\">Run</th><th scope=\"col\">Suite</th>\
                 <th scope=\"col\">State</th><th scope=\"col\">Best tool</th><th scope=\"col\">Trials</th>\
                 <th scope=\"col\">Started (UTC)</th><th scope=\"col\">Show</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
            ));
        }
        body.push_str(&more(asked, page, last));
        body.push_str(&choose(&wanted));
    }
    let nav = state.nav("Runs");
    Ok(Reply::page(&Page {
        title: "Karat: runs",
        nav: &nav,
        body: &body,
        styles: &[plot::STYLE, super::STYLE],
        scripts: &[THEME],
        connects: true,
        ..Page::default()
    }))
}

const NONE_YET: &str = "<div class=\"empty\"><p>No runs yet. This one takes a few seconds:</p>\
    <pre>karat run starter</pre><p class=\"dim\">Reload the page when it has started.</p></div>\n";

fn row(state: &State, store: &mut Store, run: &RunInfo) -> String {
    let summary = state.summaries().get(store, run);
    let word = state_word(store, run);
    let link = format!("/runs/{}", run.id);
    let name = run.name.as_deref().map(|name| format!("<span class=\"name\">{}</span><br>", text(name)));
    let live = if word == "running" { format!("<br><a href=\"{link}/live\">live</a>") } else { String::new() };
    format!(
        "<tr><td data-label=\"Run\" class=\"whole\"><a href=\"{link}\">{}<span class=\"id\">{}</span></a></td>\
         <td data-label=\"Suite\"><span>{}{}</span></td>\
         <td data-label=\"State\"><span><span class=\"state {word}\">{word}</span>{live}</span></td>\
         <td data-label=\"Best tool\" class=\"best\">{}</td>\
         <td data-label=\"Trials\" class=\"trials\">{}</td>\
         <td data-label=\"Started\" class=\"when\">{}</td>\
         <td data-label=\"Show\"><span class=\"links\"><a href=\"{link}\">report</a> · <a href=\"{link}/report.json\">json</a></span></td></tr>\n",
        name.unwrap_or_default(),
        text(&run.short_id),
        text(&run.suite),
        tools(&summary),
        best(&summary),
        trials(run, &summary),
        time(run.created_ms),
    )
}

fn tools(summary: &Summary) -> String {
    if summary.tools.is_empty() {
        return String::new();
    }
    let some: Vec<&str> = summary.tools.iter().take(TOOLS).map(String::as_str).collect();
    let more = summary.tools.len() - some.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("<br><span class=\"dim tools\">{}{more}</span>", text(&some.join(", ")))
}

fn best(summary: &Summary) -> String {
    match &summary.best {
        Best::Tool { tool, tools, rank, metric, value, ci } => {
            let others = match rank {
                Some(rank) => format!(" <span class=\"dim\">rank {} of {tools}</span>", text(rank)),
                None if *tools > 1 => format!(" <span class=\"dim\">of {tools}</span>"),
                None => String::new(),
            };
            format!(
                "<span>{}{others}<br><span title=\"{}\">{} {}</span> <span class=\"dim\">{}</span> {}</span>",
                text(tool),
                text(metric),
                text(metric),
                three(*value),
                span(*ci),
                interval(*value, *ci, column([(*value, *ci)]))
            )
        }
        Best::None => "<span class=\"dim\">–</span>".to_owned(),
        Best::Unread(why) => format!("<span class=\"warn\">{}</span>", text(why)),
    }
}

fn trials(run: &RunInfo, summary: &Summary) -> String {
    let Some(made) = &summary.trials else { return "<span class=\"warn\">unreadable</span>".to_owned() };
    let failed = match made.failed {
        0 => String::new(),
        n => format!("<br><span class=\"bad\">{n} failed</span>"),
    };
    let bar = if made.done < run.planned {
        format!("<br><progress value=\"{}\" max=\"{}\"></progress>", made.done, run.planned)
    } else {
        String::new()
    };
    format!("<span>{} of {}{failed}{bar}</span>", made.done, run.planned)
}

fn pills(suites: &BTreeSet<String>, chosen: Option<&str>) -> String {
    if suites.len() < 2 && chosen.is_none() {
        return String::new();
    }
    let pill = |address: String, name: &str, here: bool| {
        let current = if here { " aria-current=\"true\"" } else { "" };
        format!("<li><a href=\"{address}\"{current}>{}</a></li>", text(name))
    };
    let mut out = pill("/".to_owned(), "all suites", chosen.is_none());
    for suite in suites.iter().take(SUITES) {
        out.push_str(&pill(format!("/?suite={}", percent_encode(suite)), suite, chosen == Some(suite)));
    }
    format!("<ul class=\"pills\" aria-label=\"Suites\">{out}</ul>\n")
}

fn more(asked: &PageQuery, page: usize, last: usize) -> String {
    let suite = asked.suite.as_ref().map(|suite| format!("&amp;suite={}", percent_encode(suite))).unwrap_or_default();
    let link = |to: usize, word: &str| format!("<a href=\"/?page={to}{suite}\">{word}</a>");
    let newer = if page > 1 { link(page - 1, "← newer") } else { "<span></span>".to_owned() };
    let older = if page < last { link(page + 1, "older →") } else { "<span></span>".to_owned() };
    if last == 1 {
        String::new()
    } else {
        format!("<p class=\"more\">{newer}<span class=\"dim\">{page} of {last}</span>{older}</p>\n")
    }
}

/// The form to compare two runs; default: the newest with the previous one of the same suite.
fn choose(runs: &[&RunInfo]) -> String {
    if runs.len() < 2 {
        return String::new();
    }
    // A run that has not ended cannot be compared.
    let ended: Vec<&RunInfo> = runs.iter().copied().filter(|run| run.has_report).collect();
    let newest = ended.first().copied().unwrap_or(runs[0]);
    let others = || runs.iter().copied().filter(|run| run.id != newest.id);
    let fits = |run: &&RunInfo| run.has_report && run.suite == newest.suite;
    let before = others().find(fits).or_else(|| others().next()).unwrap_or(newest);
    let options = |chosen: &RunInfo| -> String {
        let option = |run: &&RunInfo| {
            let selected = if run.id == chosen.id { " selected" } else { "" };
            let name = run.name.as_deref().unwrap_or(&run.short_id);
            let told = format!("{name} · {} · {}", run.suite, karat_store::timestamp::format_utc(run.created_ms));
            format!("<option value=\"{}\"{selected}>{}</option>\n", run.id, text(&told))
        };
        runs.iter().take(TO_CHOOSE).map(option).collect()
    };
    format!(
        "<h2>Compare two runs</h2>\n<form class=\"row\" action=\"/compare\" method=\"get\">\n\
         <label>from <select name=\"a\">\n{}</select></label>\n<label>to <select name=\"b\">\n{}</select></label>\n\
         <button>Compare</button></form>\n",
        options(before),
        options(newest)
    )
}
