//! The pages themselves: where somebody chooses what to label, the desk, and what was confirmed.

use super::super::fault::Fault;
use super::super::markup::escaped;
use super::super::named::{called, found};
use super::super::reply::Reply;
use super::super::state::State;
use super::super::{STYLE, TOKEN};
use super::{KINDS, Who, annotator, kind_of, labels, open_for_labels};
use axum::extract::{Path, Query, State as Shared};
use karat_core::judgement::Classification;
use karat_report::page::{PLAIN, Page, THEME, text};
use karat_store::RunInfo;
use karat_store::label::LabelKind;
use serde::Deserialize;
use std::collections::BTreeMap;

const LABEL_STYLE: &str = include_str!("../label.css");
const START: &str = include_str!("../label_start.js");
const DESK: &str = include_str!("../label.js");
const CONFIRMED: &str = include_str!("../label_confirmed.js");

/// What somebody chose.
#[derive(Deserialize)]
pub(super) struct Chosen {
    run: String,
    kind: String,
    #[serde(rename = "as")]
    name: String,
}

/// Where somebody says what to label, and who they are.
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
        "<h1>Label</h1>\n<p class=\"empty\">There is no run yet. <code>karat run</code> makes one.</p>\n".to_owned()
    } else {
        format!("<h1>Label</h1>\n{}{}", form(&runs), told(&people))
    };
    Ok(page(&state, "Label", &body, START))
}

fn form(runs: &[RunInfo]) -> String {
    let option = |run: &RunInfo| {
        let name = match &run.name {
            Some(name) => format!("{name} ({})", run.short_id),
            None => run.short_id.clone(),
        };
        let going = if run.has_report { "" } else { ", going on" };
        format!("<option value=\"{}\">{} · {}{going}</option>\n", text(run.id.as_str()), text(&name), text(&run.suite))
    };
    let options: String = runs.iter().map(option).collect();
    let what = |word: &str| match word {
        "pairs" => ("Pairs:", "Does a report describe a known problem?"),
        "extras" => ("Extras:", "A finding that no golden names. Is it a real problem?"),
        _ => ("Audits:", "Which of nine things is a finding?"),
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
         <fieldset><legend>What</legend>\n{kinds}</fieldset>\n\
         <button class=\"go\" id=\"go\">Begin</button>\n</form>\n\
         <p class=\"dim\">You label blind: no page tells which tool reported something, what a judge thinks of it, or what \
         anybody else said.</p>\n"
    )
}

fn told(people: &BTreeMap<String, usize>) -> String {
    if people.is_empty() {
        return String::new();
    }
    let row =
        |(name, count): (&String, &usize)| format!("<tr><td>{}</td><td class=\"n\">{count}</td></tr>\n", text(name));
    let rows: String = people.iter().map(row).collect();
    format!(
        "<h2>So far</h2>\n<table class=\"small\"><tr><th>who</th><th class=\"n\">labels</th></tr>\n{rows}</table>\n"
    )
}

/// From what was chosen to its address.
pub(super) async fn go(Shared(state): Shared<State>, Query(chosen): Query<Chosen>) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let name = annotator(chosen.name.trim())?;
    kind_of(&chosen.kind)?;
    let (run, kind) = (escaped(&chosen.run), escaped(&chosen.kind));
    Ok(Reply::see(&format!("/label/{run}/{kind}?as={}", escaped(name.as_str()))))
}

/// The desk: empty, until its script has asked what comes first.
pub(super) async fn desk(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Query(who): Query<Who>,
) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let kind = kind_of(&kind)?;
    let Some(name) = who.name.filter(|name| !name.trim().is_empty()) else { return Ok(Reply::see("/label")) };
    let name = annotator(name.trim())?;
    let run = state.read(move |store| Ok(found(store, &run)?.0)).await?;
    let Some((word, _, question)) = KINDS.iter().find(|(_, own, _)| *own == kind) else {
        return Ok(Reply::see("/label"));
    };
    let others = KINDS.iter().map(|(other, ..)| {
        let current = if other == word { " aria-current=\"page\"" } else { "" };
        let link = format!("/label/{}/{other}?as={}", escaped(run.id.as_str()), escaped(name.as_str()));
        format!("<li><a href=\"{}\"{current}>{other}</a></li>", text(&link))
    });
    let others: String = others.collect();
    let confirmed = match kind {
        LabelKind::Extra => {
            let link = format!("/label/{}/confirmed?as={}", escaped(run.id.as_str()), escaped(name.as_str()));
            format!("<li><a href=\"{}\">confirmed</a></li>", text(&link))
        }
        _ => String::new(),
    };
    let body = format!(
        "<section id=\"desk\" class=\"desk {word}\" data-run=\"{run}\" data-kind=\"{word}\" data-as=\"{name}\" data-state=\"loading\">\n\
         <header class=\"far\"><h1 id=\"headline\">Labels</h1><p id=\"who\"><strong>{name}</strong> · {called} · {suite}</p>\
         <ul class=\"pills\">{others}{confirmed}</ul>\
         <p id=\"count\" class=\"dim\"></p>\
         <progress id=\"bar\" max=\"1\" value=\"0\" aria-label=\"How much is labelled\"></progress>\
         <ul id=\"remarks\" class=\"dim\"></ul></header>\n\
         <div class=\"told\"><p id=\"status\" role=\"status\" aria-live=\"polite\"></p>{offer}</div>\n\
         <article id=\"item\" tabindex=\"-1\" aria-label=\"What is asked about\" hidden>\n\
         <div class=\"texts\"><section id=\"golden\" class=\"card\"><h2></h2><div class=\"words\"></div></section>\n\
         <section id=\"finding\" class=\"card\"><h2>Report</h2><div class=\"words\"></div></section></div>\n\
         <section id=\"code\" class=\"card\"><h2>Code</h2><div class=\"lines\" tabindex=\"0\" role=\"group\" \
         aria-label=\"Lines of code\"></div></section></article>\n\
         <div id=\"done\" class=\"empty\" hidden><p class=\"big\">Everything here is labelled.</p><p>Thank you!</p></div>\n\
         <footer id=\"answers\" hidden><p id=\"question\">{question}</p><div class=\"buttons\">{buttons}</div>\
         <div class=\"tools\">{tools}<p id=\"said\" class=\"dim\"></p></div>\
         <form id=\"noting\" hidden><label>Your note <input id=\"note\" maxlength=\"2000\" autocomplete=\"off\"></label>\
         <span class=\"dim\"><kbd>Enter</kbd> keeps it, <kbd>Esc</kbd> leaves it</span></form></footer>\n</section>\n{help}{adopting}",
        run = text(run.id.as_str()),
        name = text(name.as_str()),
        called = text(called(&run)),
        suite = text(&run.suite),
        buttons = buttons(kind),
        tools = tools(),
        offer = if kind == LabelKind::Extra { OFFER } else { "" },
        help = help(kind),
        adopting = ADOPTING,
    );
    Ok(page(&state, "Label", &body, DESK))
}

/// The buttons that answer, each with its key.
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

/// A class as people read it.
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
            ("y".to_owned(), "Yes: whoever acts on the report mends the known problem."),
            ("n".to_owned(), "No: another defect, the same kind of defect elsewhere, or words that fit any code."),
            ("p".to_owned(), "Partial: it touches the known problem and misses what makes it one. This is no match."),
            (
                "1 … 9".to_owned(),
                "Before the letter, if you like: how sure you are, from 10 % to 90 %. 0 takes it back.",
            ),
        ],
        LabelKind::Extra => vec![
            ("y".to_owned(), "Yes: a real problem in this code."),
            ("n".to_owned(), "No: made up, wrong, or not worth a word."),
            ("g".to_owned(), "After a yes: look at the golden that it would make, and add it to the suite."),
        ],
        LabelKind::Audit => {
            let meaning = |class: &Classification| match class {
                Classification::TargetMatch => "It is the target.",
                Classification::PartialMatch => "It is near the target, and misses what makes it one.",
                Classification::BonusValid => "It is another true problem.",
                Classification::Hallucinated => "It is made up: the code does nothing of the kind.",
                Classification::Mischaracterized => "The code is real, and wrongly understood.",
                Classification::DesignChoice => "It is meant to be so.",
                Classification::OutOfScope => "It is true, and nobody asked for it.",
                Classification::SecurityTheater => "It sounds grave, and is not.",
                Classification::Informational => "It is a remark.",
            };
            let all = Classification::ALL.iter().enumerate();
            all.map(|(at, class)| (format!("{} {}", at + 1, spoken(*class)), meaning(class))).collect()
        }
    };
    for (key, what) in [
        ("s", "Skip: it comes again at the end."),
        ("u", "Undo: your last answer is taken back, and asked again. Nothing is ever removed from the history."),
        ("m", "A note, which becomes the explanation of your answer."),
        ("?", "This help. Esc closes it."),
    ] {
        keys.push((key.to_owned(), what));
    }
    let rows: String = keys
        .iter()
        .map(|(key, what)| format!("<tr><th><kbd>{}</kbd></th><td>{}</td></tr>\n", text(key), text(what)))
        .collect();
    format!(
        "<dialog id=\"help\"><h2>Keys</h2><table>{rows}</table><p class=\"dim\">In the code, <b class=\"bar-g\">g</b> marks the \
         known problem's lines and <b class=\"bar-r\">r</b> the report's. Every answer is kept at once.</p>\
         <form method=\"dialog\"><button>Close</button></form></dialog>\n"
    )
}

/// Shown when an extra was confirmed, with its name.
const OFFER: &str = "<button type=\"button\" id=\"offer\" data-do=\"golden\" data-key=\"g\" hidden>\
    <kbd>g</kbd> <span></span></button>";

const ADOPTING: &str = "<dialog id=\"adopting\"><h2>Add as golden</h2><p id=\"adopt-said\"></p><pre id=\"adopt-yaml\"></pre>\
    <p class=\"buttons\"><button type=\"button\" id=\"adopt-add\"><kbd>a</kbd> Add to the suite</button>\
    <button type=\"button\" id=\"adopt-leave\"><kbd>Esc</kbd> Leave it</button></p></dialog>\n";

/// What people confirmed, to be added to the suite.
pub(super) async fn confirmed(
    Shared(state): Shared<State>,
    Path(run): Path<String>,
    Query(who): Query<Who>,
) -> Result<Reply, Fault> {
    open_for_labels(&state)?;
    let Some(name) = who.name.filter(|name| !name.trim().is_empty()) else { return Ok(Reply::see("/label")) };
    let name = annotator(name.trim())?;
    let run = state.read(move |store| Ok(found(store, &run)?.0)).await?;
    let back = format!("/label/{}/extras?as={}", escaped(run.id.as_str()), escaped(name.as_str()));
    let body = format!(
        "<section id=\"confirmed\" data-run=\"{}\" data-as=\"{}\" data-state=\"loading\"><h1>Confirmed extras</h1>\n\
         <p>People confirmed these findings, and no golden of the suite names them yet. Adding one writes it into its case's \
         file as an <em>acceptable</em> golden: a tool that reports it is neither right nor wrong from then on.</p>\n\
         <p id=\"status\" role=\"status\" aria-live=\"polite\"></p><div id=\"goldens\"></div>\n\
         <p><a href=\"{}\">Back to the extras of {}</a></p></section>\n",
        text(run.id.as_str()),
        text(name.as_str()),
        text(&back),
        text(called(&run)),
    );
    Ok(page(&state, "Confirmed extras", &body, CONFIRMED))
}

fn page(state: &State, title: &str, body: &str, script: &str) -> Reply {
    let (styles, scripts) = ([STYLE, LABEL_STYLE], [THEME, TOKEN, PLAIN, script]);
    let nav = state.nav("Label");
    Reply::page(&Page { title, nav: &nav, body, styles: &styles, scripts: &scripts, connects: true, ..Page::default() })
}
