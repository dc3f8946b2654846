//! The label pages: start, labelling, and confirmed extras.

use super::super::fault::Fault;
use super::super::markup::percent_encode;
use super::super::reply::Reply;
use super::super::run_lookup::{display_name, find_run};
use super::super::state::State;
use super::super::{STYLE, TOKEN};
use super::{KINDS, ListQuery, annotator, kind_of, labels, open_for_labels};
use axum::extract::{Path, Query, State as Shared};
use karat_core::judgement::Classification;
use karat_report::page::{PLAIN, Page, THEME, text};
use karat_store::RunInfo;
use karat_store::label::LabelKind;
use serde::Deserialize;
use std::collections::BTreeMap;

const LABEL_STYLE: &str = include_str!("../label.css");
const START: &str = include_str!("../label_start.js");
const LABEL_SCRIPT: &str = include_str!("../label.js");
const CONFIRMED: &str = include_str!("../label_confirmed.js");

/// The choices of the start page.
#[derive(Deserialize)]
pub(super) struct Chosen {
    run: String,
    kind: String,
    #[serde(rename = "as")]
    name: String,
}

/// The start page: who labels what.
pub(super) async fn start(Shared(state): Shared<State>) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let (runs, labels) = (state.read(|store| Ok(store.overview()?)).await?, labels(&state).await?);
    let mut people: BTreeMap<String, usize> = BTreeMap::new();
    let named = labels.pairs.iter().map(|label| &label.annotator);
    let named = named.chain(labels.extras.iter().map(|label| &label.annotator));
    for name in named.chain(labels.audits.iter().map(|label| &label.annotator)) {
        *people.entry(name.to_string()).or_default() += 1;
    }
    let body = if runs.is_empty() {
        "<h1>Label</h1>\n<p class=\"empty\">No runs yet. <code>karat run</code> creates one.</p>\n".to_owned()
    } else {
        format!("<h1>Label</h1>\n{}{}", form(&runs), annotators_text(&people))
    };
    Ok(page(&state, "Label", &body, START))
}

fn form(runs: &[RunInfo]) -> String {
    let option = |run: &RunInfo| {
        let name = match &run.name {
            Some(name) => format!("{name} ({})", run.short_id),
            None => run.short_id.clone(),
        };
        let going = if run.has_report { "" } else { ", running" };
        format!("<option value=\"{}\">{} · {}{going}</option>\n", text(run.id.as_str()), text(&name), text(&run.suite))
    };
    let options: String = runs.iter().map(option).collect();
    let what = |word: &str| match word {
        "pairs" => ("Pairs:", "Does a report describe a known problem?"),
        "extras" => ("Extras:", "A finding that matches no golden. Is it a real problem?"),
        _ => ("Audits:", "Which of nine classes does a finding belong to?"),
    };
    let kind = |(at, (word, ..)): (usize, &(&str, LabelKind, &str))| {
        let ((name, asks), checked) = (what(word), if at == 0 { " checked" } else { "" });
        format!(
            "<label class=\"choice\"><input type=\"radio\" name=\"kind\" value=\"{word}\"{checked}> <strong>{name}</strong> \
             <span class=\"dim\">{asks}</span></label>\n"
        )
    };
    let kinds: String = KINDS.iter().enumerate().map(kind).collect();
    format!(
        "<form id=\"start\" class=\"start\" action=\"/label/go\" method=\"get\">\n\
         <label>Your name <input name=\"as\" id=\"name\" required maxlength=\"100\" autocomplete=\"username\" \
         autocapitalize=\"none\" spellcheck=\"false\"></label>\n\
         <label>Run <select name=\"run\" id=\"run\">\n{options}</select></label>\n\
         <fieldset><legend>Kind</legend>\n{kinds}</fieldset>\n\
         <button class=\"go\" id=\"go\">Start</button>\n</form>\n\
         <p class=\"dim\">Labelling is blind: no page shows which tool reported a finding, what a judge decided, or other \
         people's labels.</p>\n"
    )
}

fn annotators_text(people: &BTreeMap<String, usize>) -> String {
    if people.is_empty() {
        return String::new();
    }
    let row =
        |(name, count): (&String, &usize)| format!("<tr><td>{}</td><td class=\"n\">{count}</td></tr>\n", text(name));
    let rows: String = people.iter().map(row).collect();
    format!(
        "<h2>Labels so far</h2>\n<table class=\"small\"><tr><th>annotator</th><th class=\"n\">labels</th></tr>\n{rows}</table>\n"
    )
}

/// Redirects from the choices to the labelling page.
pub(super) async fn go(Shared(state): Shared<State>, Query(chosen): Query<Chosen>) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let name = annotator(chosen.name.trim())?;
    kind_of(&chosen.kind)?;
    let (run, kind) = (percent_encode(&chosen.run), percent_encode(&chosen.kind));
    Ok(Reply::redirect(&format!("/label/{run}/{kind}?as={}", percent_encode(name.as_str()))))
}

/// The labelling page; its script loads the items.
pub(super) async fn session(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let kind = kind_of(&kind)?;
    let Some(name) = who.name.filter(|name| !name.trim().is_empty()) else { return Ok(Reply::redirect("/label")) };
    let name = annotator(name.trim())?;
    let run = state.read(move |store| Ok(find_run(store, &run)?.0)).await?;
    let Some((word, _, question)) = KINDS.iter().find(|(_, own, _)| *own == kind) else {
        return Ok(Reply::redirect("/label"));
    };
    let others = KINDS.iter().map(|(other, ..)| {
        let current = if other == word { " aria-current=\"page\"" } else { "" };
        let link = format!("/label/{}/{other}?as={}", percent_encode(run.id.as_str()), percent_encode(name.as_str()));
        format!("<li><a href=\"{}\"{current}>{other}</a></li>", text(&link))
    });
    let others: String = others.collect();
    let confirmed = match kind {
        LabelKind::Extra => {
            let link =
                format!("/label/{}/confirmed?as={}", percent_encode(run.id.as_str()), percent_encode(name.as_str()));
            format!("<li><a href=\"{}\">confirmed</a></li>", text(&link))
        }
        _ => String::new(),
    };
    let body = format!(
        "<section id=\"labelling\" class=\"labelling {word}\" data-run=\"{run}\" data-kind=\"{word}\" data-as=\"{name}\" data-state=\"loading\">\n\
         <header class=\"far\"><h1 id=\"headline\">Labels</h1><p id=\"who\"><strong>{name}</strong> · {called} · {suite}</p>\
         <ul class=\"pills\">{others}{confirmed}</ul>\
         <p id=\"count\" class=\"dim\"></p>\
         <progress id=\"bar\" max=\"1\" value=\"0\" aria-label=\"Labelling progress\"></progress>\
         <ul id=\"remarks\" class=\"dim\"></ul></header>\n\
         <div class=\"told\"><p id=\"status\" role=\"status\" aria-live=\"polite\"></p>{offer}</div>\n\
         <article id=\"item\" tabindex=\"-1\" aria-label=\"Item to label\" hidden>\n\
         <div class=\"texts\"><section id=\"golden\" class=\"card\"><h2></h2><div class=\"words\"></div></section>\n\
         <section id=\"finding\" class=\"card\"><h2>Report</h2><div class=\"words\"></div></section></div>\n\
         <section id=\"code\" class=\"card\"><h2>Code</h2><div class=\"lines\" tabindex=\"0\" role=\"group\" \
         aria-label=\"Lines of code\"></div></section></article>\n\
         <div id=\"done\" class=\"empty\" hidden><p class=\"big\">Everything is labelled.</p></div>\n\
         <footer id=\"answers\" hidden><p id=\"question\">{question}</p><div class=\"buttons\">{buttons}</div>\
         <div class=\"tools\">{tools}<p id=\"said\" class=\"dim\"></p></div>\
         <form id=\"noting\" hidden><label>Your note <input id=\"note\" maxlength=\"2000\" autocomplete=\"off\"></label>\
         <span class=\"dim\"><kbd>Enter</kbd> saves it, <kbd>Esc</kbd> cancels</span></form></footer>\n</section>\n{help}{adopting}",
        run = text(run.id.as_str()),
        name = text(name.as_str()),
        called = text(display_name(&run)),
        suite = text(&run.suite),
        buttons = buttons(kind),
        tools = tools(),
        offer = if kind == LabelKind::Extra { OFFER } else { "" },
        help = help(kind),
        adopting = ADOPTING,
    );
    Ok(page(&state, "Label", &body, LABEL_SCRIPT))
}

/// The answer buttons with their keys.
fn buttons(kind: LabelKind) -> String {
    let button = |key: &str, answer: &str, name: &str, class: &str| {
        format!(
            "<button type=\"button\" class=\"answer {class}\" data-answer=\"{answer}\" data-key=\"{key}\"><kbd>{key}</kbd> {name}</button>"
        )
    };
    match kind {
        LabelKind::Pair => [
            button("y", "yes", "Yes", "good"),
            button("n", "no", "No", "bad"),
            button("p", "partial", "Partial", "warn"),
        ]
        .concat(),
        LabelKind::Extra => [button("y", "yes", "Yes", "good"), button("n", "no", "No", "bad")].concat(),
        LabelKind::Audit => {
            let classes = Classification::ALL.iter().enumerate();
            let one = |(at, class): (usize, &Classification)| {
                let style = if class.is_valid() { "good" } else { "bad" };
                let key = (at + 1).to_string();
                button(&key, class.as_str(), &spoken(*class), style)
            };
            classes.map(one).collect()
        }
    }
}

/// The display name of a class.
fn spoken(class: Classification) -> String {
    let name = class.as_str().to_lowercase().replace('_', " ");
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn tools() -> String {
    let tool = |key: &str, what: &str, name: &str| {
        format!("<button type=\"button\" data-do=\"{what}\" data-key=\"{key}\"><kbd>{key}</kbd> {name}</button>")
    };
    let (skip, undo) = (tool("s", "skip", "Skip"), tool("u", "undo", "Undo"));
    [skip, undo, tool("m", "note", "Note"), tool("?", "help", "Help")].concat()
}

fn help(kind: LabelKind) -> String {
    let mut keys: Vec<(String, &str)> = match kind {
        LabelKind::Pair => vec![
            ("y".to_owned(), "Yes: acting on the report fixes the known problem."),
            ("n".to_owned(), "No: another defect, the same kind of defect elsewhere, or generic text."),
            ("p".to_owned(), "Partial: related to the known problem but missing its point. This is not a match."),
            ("1 … 9".to_owned(), "Optional confidence before the letter, from 10 % to 90 %. 0 clears it."),
        ],
        LabelKind::Extra => vec![
            ("y".to_owned(), "Yes: a real problem in this code."),
            ("n".to_owned(), "No: made up, wrong, or too minor to report."),
            ("g".to_owned(), "After a yes: preview the golden, and add it to the suite."),
        ],
        LabelKind::Audit => {
            let meaning = |class: &Classification| match class {
                Classification::TargetMatch => "Reports the target.",
                Classification::PartialMatch => "Related to the target but missing its point.",
                Classification::BonusValid => "Another real problem.",
                Classification::Hallucinated => "Made up: the code does nothing of the kind.",
                Classification::Mischaracterized => "The code is real but misunderstood.",
                Classification::DesignChoice => "Intended behaviour.",
                Classification::OutOfScope => "True, but out of scope.",
                Classification::SecurityTheater => "Sounds serious but is not.",
                Classification::Informational => "A remark.",
            };
            let all = Classification::ALL.iter().enumerate();
            all.map(|(at, class)| (format!("{} {}", at + 1, spoken(*class)), meaning(class))).collect()
        }
    };
    for (key, what) in [
        ("s", "Skip: it is shown again at the end."),
        ("u", "Undo: retracts your last answer and asks again. Nothing is ever removed from the history."),
        ("m", "Note: explains your answer."),
        ("?", "Help. Esc closes it."),
    ] {
        keys.push((key.to_owned(), what));
    }
    let rows: String = keys
        .iter()
        .map(|(key, what)| format!("<tr><th><kbd>{}</kbd></th><td>{}</td></tr>\n", text(key), text(what)))
        .collect();
    format!(
        "<dialog id=\"help\"><h2>Keys</h2><table>{rows}</table><p class=\"dim\">In the code, <b class=\"bar-g\">g</b> marks the \
         known problem's lines and <b class=\"bar-r\">r</b> the report's. Every answer is saved at once.</p>\
         <form method=\"dialog\"><button>Close</button></form></dialog>\n"
    )
}

/// Shown after an extra was confirmed, with its name.
const OFFER: &str = "<button type=\"button\" id=\"offer\" data-do=\"golden\" data-key=\"g\" hidden>\
    <kbd>g</kbd> <span></span></button>";

const ADOPTING: &str = "<dialog id=\"adopting\"><h2>Add as golden</h2><p id=\"adopt-said\"></p><pre id=\"adopt-yaml\"></pre>\
    <p class=\"buttons\"><button type=\"button\" id=\"adopt-add\"><kbd>a</kbd> Add to the suite</button>\
    <button type=\"button\" id=\"adopt-leave\"><kbd>Esc</kbd> Cancel</button></p></dialog>\n";

/// The page of confirmed extras to add to the suite.
pub(super) async fn confirmed(
    Shared(state): Shared<State>,
    Path(run): Path<String>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let Some(name) = who.name.filter(|name| !name.trim().is_empty()) else { return Ok(Reply::redirect("/label")) };
    let name = annotator(name.trim())?;
    let run = state.read(move |store| Ok(find_run(store, &run)?.0)).await?;
    let back = format!("/label/{}/extras?as={}", percent_encode(run.id.as_str()), percent_encode(name.as_str()));
    let body = format!(
        "<section id=\"confirmed\" data-run=\"{}\" data-as=\"{}\" data-state=\"loading\"><h1>Confirmed extras</h1>\n\
         <p>People confirmed these findings, and they match no golden of the suite yet. Adding one writes it to its case's \
         file as an <em>acceptable</em> golden: a tool that reports it is neither right nor wrong from then on.</p>\n\
         <p id=\"status\" role=\"status\" aria-live=\"polite\"></p><div id=\"goldens\"></div>\n\
         <p><a href=\"{}\">Back to the extras of {}</a></p></section>\n",
        text(run.id.as_str()),
        text(name.as_str()),
        text(&back),
        text(display_name(&run)),
    );
    Ok(page(&state, "Confirmed extras", &body, CONFIRMED))
}

fn page(state: &State, title: &str, body: &str, script: &str) -> Reply {
    let (styles, scripts) = ([STYLE, LABEL_STYLE], [THEME, TOKEN, PLAIN, script]);
    let nav = state.nav("Label");
    Reply::page(&Page { title, nav: &nav, body, styles: &styles, scripts: &scripts, connects: true, ..Page::default() })
}
