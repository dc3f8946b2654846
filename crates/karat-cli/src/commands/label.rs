//! `karat label`: people say whether a finding reports a golden.

mod moving;
mod next;
mod seen;

use crate::args::{AnnotatorArgs, LabelAddArgs, LabelListArgs, LabellingArgs, LabellingCommand};
use crate::exit::{Exit, Failure};
use crate::store_place;
use crate::terminal::{look, print, print_json, tell};
use karat::judge::labels::{Annotator, Answer, Label, NewLabel, Pair, PairKey, Source};
use karat::report::grid::{Cell, draw, fit};
use karat::report::number::count;
use karat::store::moment::shown;
use karat::store::{Again, Store};
use seen::Seen;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Fewer signs of a pair's id than these are a slip of the finger.
const FEWEST_SIGNS: usize = 4;

pub(crate) fn run(args: &LabellingArgs) -> Result<Exit, Failure> {
    let stated = args.store.as_deref();
    match &args.command {
        LabellingCommand::Next(args) => next::run(args, stated),
        LabellingCommand::Add(args) => add(args, stated),
        LabellingCommand::List(args) => list(args, stated),
        LabellingCommand::Export(args) => moving::export(args, stated),
        LabellingCommand::Import(args) => moving::import(args, stated),
    }
}

fn add(args: &LabelAddArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let answer = Answer::parse(&args.answer).ok_or_else(|| Failure::usage("say yes, no or partial"))?;
    let pair = find(args, stated)?;
    let label = NewLabel {
        pair,
        annotator,
        answer,
        confidence: None,
        note: args.note.clone().filter(|note| !note.trim().is_empty()),
        picked_with_probability: None,
        source: Source::Added,
    };
    let again = if args.change { Again::Correct } else { Again::Refuse };
    Store::create(&store_place::folder(stated))?.add_label(&label, again)?;
    let key = label.pair.key();
    if args.json {
        let said = json!({ "pair": key, "id": key.short(), "case": label.pair.known.case, "golden": label.pair.known.golden,
            "annotator": label.annotator, "answer": answer.word(), "note": label.note });
        print_json(&said)?;
    }
    tell(&format!("{} says {} of the pair {}", label.annotator, answer.word(), key.short()));
    Ok(Exit::Ok)
}

/// The pair that a person means: one that was labelled before, or one of the run or submission.
fn find(args: &LabelAddArgs, stated: Option<&Path>) -> Result<Pair, Failure> {
    let id = args.pair.trim().to_lowercase();
    if id.len() < FEWEST_SIGNS || !id.chars().all(|c| c.is_ascii_hexdigit()) {
        let message =
            format!("`{}` is no id of a pair: that is {FEWEST_SIGNS} or more digits and letters up to f", args.pair);
        return Err(Failure::usage(format!("{message}, as `karat label next` shows them")));
    }
    let folder = store_place::folder(stated);
    let known = if Store::is_at(&folder) { Store::open(&folder)?.labelled_pairs(&id)? } else { Vec::new() };
    let mut found: BTreeMap<PairKey, Pair> = known.into_iter().map(|pair| (pair.key(), pair)).collect();
    // What was labelled before needs no run. All others are looked for where they were seen.
    let whole = found.len() == 1 && found.keys().all(|key| id.len() >= key.short().len());
    if !whole {
        match Seen::of(args.run.as_deref(), &args.seen, stated) {
            Ok(seen) => found.extend(seen.pairs_like(&id)),
            Err(failure) if found.is_empty() => return Err(failure),
            Err(_) => {}
        }
    }
    let keys: Vec<&str> = found.keys().take(10).map(PairKey::as_str).collect();
    match keys.as_slice() {
        [] => {
            let help = "name the run or the submission in which you saw it with --run, or --suite and --submission";
            Err(Failure::usage(format!("there is no pair `{id}`; {help}")))
        }
        [_] => found.into_values().next().ok_or_else(|| Failure::usage(format!("there is no pair `{id}`"))),
        several => Err(Failure::usage(format!("`{id}` may be any of {}; type more of the id", several.join(", ")))),
    }
}

fn list(args: &LabelListArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    // Where a person's own name is known, others' labels are shown only when they ask for them: they may be labelling still.
    let own = match (args.all, named(&args.annotator)) {
        (false, Some(name)) => Some(checked(&name)?),
        _ => None,
    };
    let mut store = store_place::open(stated)?;
    let mut labels = if args.history { store.label_history()? } else { store.labels()? };
    labels.retain(|label| own.as_ref().is_none_or(|own| label.annotator == *own));
    if args.json {
        print_json(&labels)?;
        return Ok(Exit::Ok);
    }
    let annotators: BTreeSet<&Annotator> = labels.iter().map(|label| &label.annotator).collect();
    if !labels.is_empty() {
        print(&table(&labels, args.history))?;
    }
    tell(&format!("{} by {}", count(labels.len(), "label"), count(annotators.len(), "annotator")));
    Ok(Exit::Ok)
}

fn table(labels: &[Label], history: bool) -> String {
    let mut header = vec!["golden", "pair", "annotator", "answer", "made (UTC)", "note"];
    if history {
        header.insert(4, "counts");
    }
    let mut rows = vec![header.into_iter().map(Cell::left).collect::<Vec<_>>()];
    for label in labels {
        let mut row = vec![
            Cell::left(format!("{} {}", label.case, label.golden)),
            Cell::left(label.pair.short()),
            Cell::left(fit(label.annotator.as_str(), 16)),
            Cell::left(label.answer.word()),
            Cell::left(shown(label.made_ms)),
            Cell::left(fit(label.note.as_deref().unwrap_or("–").trim(), 24)),
        ];
        if history {
            row.insert(4, Cell::left(if label.counts { "yes" } else { "corrected" }));
        }
        rows.push(row);
    }
    draw(&rows, look().width, look().colour)
}

/// Who labels: as a flag says, or the environment.
fn annotator(args: &AnnotatorArgs) -> Result<Annotator, Failure> {
    let name = named(args);
    checked(&name.ok_or_else(|| Failure::usage("who are you? Say so with --as NAME, or set KARAT_ANNOTATOR"))?)
}

fn named(args: &AnnotatorArgs) -> Option<String> {
    let variable = || std::env::var("KARAT_ANNOTATOR").ok().filter(|name| !name.is_empty());
    args.name.clone().or_else(variable)
}

fn checked(name: &str) -> Result<Annotator, Failure> {
    Annotator::new(name).map_err(|error| Failure::usage(error.to_string()))
}
