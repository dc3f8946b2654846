//! `karat label add`: labels an item by its id.

use super::{annotator, label_request, sample};
use crate::args::LabelAddArgs;
use crate::exit::{Exit, Failure};
use crate::progress::JudgeProgress;
use crate::terminal::{print_json, tell};
use karat::label::{AddLabelRequest, AddedLabel, add_label};
use karat_core::wording::count;
use karat_store::label::{LabelKey, LabelKind, NewLabel};
use serde_json::json;
use std::path::Path;

pub(super) fn run(args: &LabelAddArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let request = AddLabelRequest {
        annotator: annotator(&args.annotator)?,
        source: label_request(&args.run, &args.seen, &args.rules, Some(&args.ask), stated),
        id: args.id.clone(),
        answer: args.answer.word(),
        note: args.note.clone(),
        change: args.change,
        sample: sample(&args.sample)?,
    };
    let AddedLabel { first, others, added } = add_label(&request, &mut JudgeProgress::new(false))?;
    let NewLabel { subject, annotator, answer, note, .. } = first;
    let (key, answer) = (subject.key(), answer.word());
    let id = key.short();
    let (value, text) = match subject.kind {
        LabelKind::Pair => {
            let golden = subject.golden.map(|golden| golden.golden);
            let value = json!({ "pair": key, "id": id, "case": subject.case, "golden": golden, "annotator": annotator,
                "answer": answer, "note": note });
            (value, format!("{annotator} labelled the pair {id} {answer}"))
        }
        LabelKind::Extra => {
            let texts: Vec<LabelKey> =
                std::iter::once(key.clone()).chain(others.iter().map(|label| label.subject.key())).collect();
            let value = json!({ "extra": key, "id": id, "case": subject.case, "annotator": annotator, "answer": answer,
                "note": note, "texts": texts, "added": added.added, "corrected": added.corrected });
            let more = match others.len() {
                0 => String::new(),
                others => format!(", and {} that report the same", count(others, "text")),
            };
            (value, format!("{annotator} answered {answer} for the extra {id}{more}"))
        }
        LabelKind::Audit => {
            let value = json!({ "audit": key, "id": id, "case": subject.case, "annotator": annotator, "answer": answer,
                "note": note, "added": added.added, "corrected": added.corrected });
            (value, format!("{annotator} labelled the audited finding {id} {answer}"))
        }
    };
    if args.json {
        print_json(&value)?;
    }
    tell(&text);
    Ok(Exit::Ok)
}
