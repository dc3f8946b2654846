//! `karat label`: human labels of pairs, extras and audited findings.

mod add;
mod ask;
mod audits;
mod extras;
mod import_export;
mod label_source;
mod next;
mod undo;

use crate::args::{AnnotatorArgs, LabelListArgs, LabellingArgs, LabellingCommand, SampleArgs};
use crate::exit::{Exit, Failure};
use crate::store_path;
use crate::terminal::{look, print, print_json, tell};
use karat_core::wording::count;
use karat_report::grid::{Cell, draw};
use karat_store::label::{Annotator, AuditLabel, ExtraLabel, Label, Sample};
use karat_store::timestamp::format_utc;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(args: &LabellingArgs) -> Result<Exit, Failure> {
    let stated = args.store.as_deref();
    match &args.command {
        LabellingCommand::Next(args) => next::run(args, stated),
        LabellingCommand::Extras(args) => extras::run(args, stated),
        LabellingCommand::Audits(args) => audits::run(args, stated),
        LabellingCommand::Undo(args) => undo::run(args, stated),
        LabellingCommand::Add(args) => add::run(args, stated),
        LabellingCommand::List(args) => list(args, stated),
        LabellingCommand::Export(args) => import_export::export(args, stated),
        LabellingCommand::Import(args) => import_export::import(args, stated),
    }
}

fn list(args: &LabelListArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    // If the annotator is known, others' labels are shown only on request, to keep labelling blind.
    let own = match (args.all, named(&args.annotator)) {
        (false, Some(name)) => Some(checked(&name)?),
        _ => None,
    };
    let mut store = store_path::open(stated)?;
    let mut labels = if args.history { store.label_history()? } else { store.labels()? };
    let mut extras = if args.history { store.extra_label_history()? } else { store.extra_labels()? };
    let mut audits = if args.history { store.audit_label_history()? } else { store.audit_labels()? };
    let wanted = |annotator: &Annotator| own.as_ref().is_none_or(|own| annotator == own);
    labels.retain(|label| wanted(&label.annotator));
    extras.retain(|label| wanted(&label.annotator));
    audits.retain(|label| wanted(&label.annotator));
    if args.json {
        let pairs = labels.iter().map(serde_json::to_value);
        let extras = extras.iter().map(serde_json::to_value);
        let all: Result<Vec<_>, _> = pairs.chain(extras).chain(audits.iter().map(serde_json::to_value)).collect();
        print_json(&all.map_err(|error| Failure::bad_input(error.to_string()))?)?;
        return Ok(Exit::Ok);
    }
    let of_pairs = labels.iter().map(|label| &label.annotator);
    let of_extras = extras.iter().map(|label| &label.annotator);
    let of_audits = audits.iter().map(|label| &label.annotator);
    let annotators: BTreeSet<&Annotator> = of_pairs.chain(of_extras).chain(of_audits).collect();
    let all = labels.len() + extras.len() + audits.len();
    if all > 0 {
        print(&table(&labels, &extras, &audits, args.history))?;
    }
    tell(&format!("{} by {}", count(all, "label"), count(annotators.len(), "annotator")));
    Ok(Exit::Ok)
}

fn table(labels: &[Label], extras: &[ExtraLabel], audits: &[AuditLabel], history: bool) -> String {
    let mut header = vec!["golden", "pair", "annotator", "answer", "made (UTC)", "note"];
    if history {
        header.insert(4, "counts");
    }
    let mut rows = vec![header.into_iter().map(Cell::left).collect::<Vec<_>>()];
    let mut add =
        |about: String, id: &str, annotator: &Annotator, answer: &str, made_ms, note: &Option<String>, counts: &str| {
            let mut row = vec![
                Cell::folded(about),
                Cell::left(id),
                Cell::folded(annotator.as_str()),
                Cell::left(answer),
                Cell::left(format_utc(made_ms)),
                Cell::folded(note.as_deref().unwrap_or("–")),
            ];
            if history {
                row.insert(4, Cell::left(counts));
            }
            rows.push(row);
        };
    for l in labels {
        let about = format!("{} {}", l.case, l.golden);
        add(about, l.pair.short(), &l.annotator, l.answer.word(), l.made_ms, &l.note, state(l.counts, l.withdrawn_ms));
    }
    for l in extras {
        let about = format!("{} (an extra)", l.case);
        add(about, l.extra.short(), &l.annotator, l.word(), l.made_ms, &l.note, state(l.counts, l.withdrawn_ms));
    }
    for l in audits {
        let (about, word) = (format!("{} (audited)", l.case), l.classification.as_str());
        add(about, l.finding.short(), &l.annotator, word, l.made_ms, &l.note, state(l.counts, l.withdrawn_ms));
    }
    draw(&rows, look().width, look().colour)
}

/// The status of a label.
fn state(counts: bool, withdrawn_ms: Option<i64>) -> &'static str {
    match (counts, withdrawn_ms) {
        (true, _) => "yes",
        (false, None) => "corrected",
        (false, Some(_)) => "withdrawn",
    }
}

/// The annotator, from the flag or the environment.
fn annotator(args: &AnnotatorArgs) -> Result<Annotator, Failure> {
    let name = named(args);
    checked(&name.ok_or_else(|| Failure::usage("no annotator name: use --as NAME, or set KARAT_ANNOTATOR"))?)
}

fn named(args: &AnnotatorArgs) -> Option<String> {
    let variable = || std::env::var("KARAT_ANNOTATOR").ok().filter(|name| !name.is_empty());
    args.name.clone().or_else(variable)
}

fn checked(name: &str) -> Result<Annotator, Failure> {
    Annotator::new(name).map_err(|error| Failure::usage(error.to_string()))
}

/// The requested sample, if any.
fn sample(args: &SampleArgs) -> Result<Option<Sample>, Failure> {
    let drawn = args.probability.map(|probability| Sample::new(probability, args.seed));
    drawn.transpose().map_err(|error| Failure::usage(error.to_string()))
}
