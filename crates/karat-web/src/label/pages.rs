//! The label pages: start, labelling, and confirmed extras.

use super::super::markup::percent_encode;
use super::super::reply::{Fault, Reply};
use super::super::run_lookup::{display_name, find_run};
use super::super::state::State;
use super::{KINDS, ListQuery, annotator, check_enabled, decisions, kind_of};
use axum::extract::{Path, Query, State as Shared};
use karat::label::question::{Choice, ShownQuestion, audit_field, short_name, shown_question};
use karat_core::panel::AuditField;
use karat_format::config::SuiteKind;
use karat_report::page::PLAIN;
use karat_store::RunInfo;
use karat_store::label::{Annotator, LabelKind, LabelQuestion};
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// `asJson(address, value)` sends a request with the label token.
const TOKEN: &str = include_str!("../token.js");
const STYLE: &str = include_str!("../label.css");
const START: &str = include_str!("../label_start.js");
const LABEL: &str = include_str!("../label.js");
const CONFIRMED: &str = include_str!("../label_confirmed.js");

#[derive(Deserialize)]
pub(super) struct Chosen {
    run: String,
    kind: String,
    #[serde(rename = "as")]
    name: String,
    /// A ticked decision of audits is a parameter of its name.
    #[serde(flatten)]
    others: BTreeMap<String, String>,
}

pub(super) async fn start(Shared(state): Shared<State>) -> Result<Reply, Fault> {
    check_enabled(&state)?;
    let (mut runs, labels) = state.read(|store| Ok((store.overview()?, store.labels()?))).await?;
    // Assessments have no findings to label.
    runs.retain(|run| run.kind == SuiteKind::Findings);
    let mut people: BTreeMap<String, usize> = BTreeMap::new();
    for name in labels.iter().map(|label| &label.annotator) {
        *people.entry(name.to_string()).or_default() += 1;
    }
    let body = html! {
        h1 { "Label" }
        @if runs.is_empty() {
            p.empty { "No runs yet. " code { "karat run" } " creates one." }
        } @else {
            (form(&runs))
            @if !people.is_empty() {
                h2 { "Labels so far" }
                table.small {
                    tr { th { "annotator" } th.n { "labels" } }
                    @for (name, count) in people { tr { td { (name) } td.n { (count) } } }
                }
            }
        }
    };
    Ok(page(&state, "Label", body, START))
}

fn form(runs: &[RunInfo]) -> Markup {
    html! {
        form #start.start action="/label/go" method="get" {
            label {
                "Your name "
                input #name name="as" required maxlength="100" autocomplete="username" autocapitalize="none"
                    spellcheck="false";
            }
            label {
                "Run "
                select #run name="run" {
                    @for run in runs {
                        option value=(run.id) {
                            @match &run.name {
                                Some(name) => { (name) " (" (run.short_id) ")" }
                                None => { (run.short_id) }
                            }
                            " · " (run.suite) @if !run.has_report { ", running" }
                        }
                    }
                }
            }
            fieldset {
                legend { "Kind" }
                @for (at, kind) in KINDS.iter().enumerate() {
                    label.choice {
                        input type="radio" name="kind" value=(kind.word) checked[at == 0];
                        " " strong { (kind.title) } " " span.dim { (kind.description) }
                    }
                    " "
                }
                div.decisions {
                    @for field in AuditField::ALL {
                        label {
                            input type="checkbox" name=(short_name(field)) value="on"
                                checked[field == AuditField::Classification];
                            " " (short_name(field))
                        }
                        " "
                    }
                }
            }
            button #go.go { "Start" }
        }
        p.dim {
            "Labelling is blind: no page shows which tool reported a finding, what a judge decided, or other people's labels."
        }
    }
}

pub(super) async fn go(Shared(state): Shared<State>, Query(chosen): Query<Chosen>) -> Result<Reply, Fault> {
    check_enabled(&state)?;
    let name = annotator(chosen.name.trim())?;
    let kind = kind_of(&chosen.kind)?;
    let ticked: Vec<&String> = chosen.others.keys().filter(|name| audit_field(name).is_some()).collect();
    let fields = decisions(None)?.into_iter().filter(|_| ticked.is_empty());
    let fields = ticked.iter().filter_map(|name| audit_field(name)).chain(fields).collect();
    Ok(Reply::redirect(&address(&chosen.run, kind.word, &name, &fields)))
}

/// The address of a label page; `fields` are the decisions that are asked for of audits.
fn address(run: &str, page: &str, name: &Annotator, fields: &BTreeSet<AuditField>) -> String {
    let plain = format!("/label/{}/{page}?as={}", percent_encode(run), percent_encode(name.as_str()));
    match fields.iter().eq([&AuditField::Classification]) {
        true => plain,
        false => format!("{plain}&on={}", typed(fields)),
    }
}

/// Such as `found,rcir`.
fn typed(fields: &BTreeSet<AuditField>) -> String {
    fields.iter().map(|field| short_name(*field)).collect::<Vec<_>>().join(",")
}

/// The run and the annotator of a label page; `None` if the request names no annotator.
async fn run_and_name(state: &State, run: String, who: ListQuery) -> Result<Option<(RunInfo, Annotator)>, Fault> {
    check_enabled(state)?;
    let Some(name) = who.name.filter(|name| !name.trim().is_empty()) else { return Ok(None) };
    let name = annotator(name.trim())?;
    Ok(Some((state.read(move |store| Ok(find_run(store, &run)?.0)).await?, name)))
}

/// The labelling page; its script loads the items.
pub(super) async fn session(
    Shared(state): Shared<State>,
    Path((run, kind)): Path<(String, String)>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    check_enabled(&state)?;
    let kind = kind_of(&kind)?;
    let fields = decisions(who.on.as_deref())?;
    let Some((run, name)) = run_and_name(&state, run, who).await? else { return Ok(Reply::redirect("/label")) };
    let is_extra = kind.kind == LabelKind::Extra;
    let questions: Vec<LabelQuestion> = match kind.kind {
        LabelKind::Pair => vec![LabelQuestion::Pair],
        LabelKind::Extra => vec![LabelQuestion::Extra],
        LabelKind::Audit => fields.iter().copied().map(LabelQuestion::Audit).collect(),
    };
    let asked: Vec<ShownQuestion> = questions.into_iter().map(shown_question).collect();
    let first = asked.first().map_or("", |asked| asked.question);
    let body = html! {
        section #labelling class={ "labelling " (kind.word) } data-run=(run.id) data-kind=(kind.word)
            data-as=(name.as_str()) data-on=(typed(&fields)) data-state="loading" {
            header.far {
                h1 #question { (first) }
                p #who { strong { (name.as_str()) } " · " (display_name(&run)) " · " (run.suite) }
                ul.pills {
                    @for other in &KINDS {
                        @let current = (other.word == kind.word).then_some("page");
                        li {
                            a href=(address(run.id.as_str(), other.word, &name, &fields)) aria-current=[current] { (other.word) }
                        }
                    }
                    @if is_extra { li { a href=(address(run.id.as_str(), "confirmed", &name, &fields)) { "confirmed" } } }
                }
                p #count {}
                p #headline.dim {}
                progress #bar max="1" value="0" aria-label="Labelling progress" {}
                ul #remarks.dim {}
            }
            div.status {
                p #status role="status" aria-live="polite" {}
                // Shown after an extra was confirmed, with its name.
                @if is_extra {
                    button #offer type="button" data-do="golden" data-key="g" hidden { kbd { "g" } " " span {} }
                }
            }
            article #item tabindex="-1" aria-label="Item to label" hidden {
                div.texts {
                    section #golden.card { h2 {} div.words {} }
                    section #finding.card { h2 { "Report" } div.words {} }
                }
                section #code.card {
                    h2 { "Code" }
                    div.lines tabindex="0" role="group" aria-label="Lines of code" {}
                }
            }
            p #done.empty hidden { a href="/label" { "Label something else" } }
            footer #answers hidden {
                div.buttons role="group" aria-labelledby="question" {
                    // The script puts others here where the next question is another one.
                    @for asked in asked.iter().take(1) { (buttons(asked)) }
                }
                div.tools {
                    @for (key, action, name, _) in TOOLS {
                        button type="button" data-do=(action) data-key=(key) { kbd { (key) } " " (name) }
                    }
                    p #said.dim {}
                }
                form #numbering hidden {
                    label { "A number from 0 to 1, or in percent " input #number maxlength="20" autocomplete="off" inputmode="decimal"; }
                    span.dim { kbd { "Enter" } " saves it, " kbd { "Esc" } " cancels" }
                }
                form #noting hidden {
                    label { "Your note " input #note maxlength="2000" autocomplete="off"; }
                    span.dim { kbd { "Enter" } " saves it, " kbd { "Esc" } " cancels" }
                }
            }
        }
        (help(kind.kind, &asked))
        dialog #adopting {
            h2 { "Add as golden" }
            p #adopt-said {}
            pre #adopt-yaml {}
            p.buttons {
                button #adopt-add type="button" { kbd { "a" } " Add to the suite" }
                button #adopt-leave type="button" { kbd { "Esc" } " Cancel" }
            }
        }
    };
    Ok(page(&state, "Label", body, LABEL))
}

/// Buttons below the answers: key, action, name and help.
const TOOLS: [(&str, &str, &str, &str); 4] = [
    ("s", "skip", "Skip", "Skip: it is shown again at the end."),
    ("u", "undo", "Undo", "Undo: retracts your last answer and asks again. Nothing is ever removed from the history."),
    ("m", "note", "Note", "Note: explains your answer."),
    ("?", "help", "Help", "Help. Esc closes it."),
];

fn buttons(asked: &ShownQuestion) -> Markup {
    html! {
        @for Choice { key, answer, name, tone, .. } in &asked.answers {
            button type="button" class={ "answer " (tone) } data-answer=(answer) data-key=(key) {
                kbd { (key) } " " (name)
            }
        }
    }
}

fn help(kind: LabelKind, asked: &[ShownQuestion]) -> Markup {
    let mut keys: Vec<(String, String)> = Vec::new();
    for question in asked {
        if asked.len() > 1 {
            keys.push((String::new(), question.question.to_owned()));
        }
        keys.extend(question.answers.iter().map(|choice| match choice.meaning {
            "" => (choice.key.clone(), choice.name.clone()),
            meaning if kind == LabelKind::Audit => (format!("{} {}", choice.key, choice.name), meaning.to_owned()),
            meaning => (choice.key.clone(), format!("{}: {meaning}", choice.name)),
        }));
        let number = || ("0 … 9".to_owned(), "Types a number. Enter saves it.".to_owned());
        keys.extend(question.number.then(number));
    }
    let more = match kind {
        LabelKind::Pair => Some(("1 … 9", "Optional confidence before the letter, from 10 % to 90 %. 0 clears it.")),
        LabelKind::Extra => Some(("g", "After a yes: preview the golden, and add it to the suite.")),
        LabelKind::Audit => None,
    };
    keys.extend(more.map(|(key, what)| (key.to_owned(), what.to_owned())));
    html! {
        dialog #help {
            h2 { "Keys" }
            table {
                @for (key, what) in &keys { tr { th { @if !key.is_empty() { kbd { (key) } } } td { (what) } } }
                @for (key, _, _, what) in TOOLS { tr { th { kbd { (key) } } td { (what) } } }
            }
            p.dim {
                "In the code, " b.bar-g { "g" } " marks the known problem's lines and " b.bar-r { "r" }
                " the report's. Every answer is saved at once."
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

pub(super) async fn confirmed(
    Shared(state): Shared<State>,
    Path(run): Path<String>,
    Query(who): Query<ListQuery>,
) -> Result<Reply, Fault> {
    let fields = decisions(who.on.as_deref())?;
    let Some((run, name)) = run_and_name(&state, run, who).await? else { return Ok(Reply::redirect("/label")) };
    let body = html! {
        section #confirmed data-run=(run.id) data-as=(name.as_str()) data-state="loading" {
            h1 { "Confirmed extras" }
            p {
                "People confirmed these findings, and they match no golden of the suite yet. Adding one writes it to its \
                 case's file as an " em { "acceptable" }
                " golden: a tool that reports it is neither right nor wrong from then on."
            }
            p #status role="status" aria-live="polite" {}
            div #goldens {}
            p { a href=(address(run.id.as_str(), "extras", &name, &fields)) { "Back to the extras of " (display_name(&run)) } }
        }
    };
    Ok(page(&state, "Confirmed extras", body, CONFIRMED))
}

fn page(state: &State, title: &str, body: Markup, script: &str) -> Reply {
    state.page("Label", title, body, &[STYLE], &[TOKEN, PLAIN, script])
}
