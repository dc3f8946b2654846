//! `karat label`: human labels of pairs, extras and audited findings.

mod ask;

use crate::args::{
    AnnotatorArgs, AskArgs, LabelAddArgs, LabelExportArgs, LabelImportArgs, LabelListArgs, LabelUndoArgs,
    LabellingArgs, LabellingCommand, QueueArgs, RuleArgs, SampleArgs, StorePlace, SuiteSourceArgs,
};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::progress::JudgeProgress;
use crate::terminal::{draw_table, flags, note, notes, print, print_done, print_json, print_stderr};
use ask::LabelPrompt;
use karat::label::question::audit_fields;
use karat::label::session::ShownPairs;
use karat::label::{
    AddLabelRequest, AddedLabel, LabelItems, LabelRequest, QueueRequest, add_label, export_labels, import_labels,
    label_queue,
};
use karat_core::panel::AuditField;
use karat_core::scorecard::PairSelection;
use karat_core::wording::count;
use karat_format::recorded::write_judgements;
use karat_report::grid::Cell;
use karat_store::label::{Annotator, Label, LabelKind, NewLabel, Sample};
use karat_store::timestamp::format_utc;
use serde_json::json;
use std::collections::BTreeSet;

pub(crate) fn run(args: LabellingArgs) -> Result<Exit> {
    let store = &StorePlace { location: args.store };
    match args.command {
        LabellingCommand::Next(args) => {
            let only = match (args.disputed, args.unsure) {
                (true, _) => Some(PairSelection::Disputed),
                (false, true) => Some(PairSelection::Unsure),
                (false, false) => None,
            };
            let items = QueueRequest::Pairs(ShownPairs { sample: sample(&args.sample)?, only });
            let drawn = args.sample.probability.map(|share| format!(" --sample {share} --seed {}", args.sample.seed));
            let ask = only.map(|_| &args.ask);
            prompt(&args.source, ask, &items, &drawn.unwrap_or_default(), (args.skip, args.json), store)
        }
        LabellingCommand::Extras(args) => {
            let items = QueueRequest::Extras { min_tools: args.min_tools };
            let rules: Vec<_> = args.source.rules.flags().into_iter().chain(args.ask.flags()).collect();
            prompt(&args.source, Some(&args.ask), &items, &flags(&rules), (args.skip, args.json), store)
        }
        LabellingCommand::Audits(args) => {
            let fields = audit_fields(&args.on).map_err(Failure::usage)?;
            prompt(&args.source, None, &QueueRequest::Audits(fields), "", (args.skip, args.json), store)
        }
        LabellingCommand::Undo(args) => undo(&args, store),
        LabellingCommand::Add(args) => add(args, store),
        LabellingCommand::List(args) => list(&args, store),
        LabellingCommand::Export(args) => export(&args, store),
        LabellingCommand::Import(args) => import(&args, store),
    }
}

/// Shows the next item of a queue. `more` are flags with which `karat label add` finds the same items, beside the source.
fn prompt(
    args: &QueueArgs,
    ask: Option<&AskArgs>,
    items: &QueueRequest,
    more: &str,
    (skip, json): (usize, bool),
    store: &StorePlace,
) -> Result<Exit> {
    let annotator = annotator(&args.annotator)?;
    let request = label_request(&args.run, &args.source, &args.rules, ask, store)?;
    let LabelItems { loaded, queue, run } = label_queue(&request, items, &mut JudgeProgress::new(false))?;
    let source = match (&run, &request.suite) {
        (Some(run), _) => {
            notes(&loaded.notes);
            format!(" --run {run}")
        }
        (None, suite) => {
            let suite = suite.iter().map(|suite| ("--suite", suite.clone()));
            let files = request.submissions.iter().map(|path| ("--submission", path.display().to_string()));
            flags(&suite.chain(files).collect::<Vec<_>>())
        }
    };
    let noun = match items {
        QueueRequest::Pairs(_) => "pairs",
        QueueRequest::Extras { .. } => "extras",
        QueueRequest::Audits(fields) if fields.iter().eq([&AuditField::Classification]) => "findings",
        QueueRequest::Audits(_) => "questions",
    };
    let (location, flags) = (&request.store, source + &store.flag() + more);
    LabelPrompt { queue: &queue, loaded: &loaded, location, flags, noun, skip, json }.serve(annotator)
}

fn label_request(
    run: &Option<String>,
    source: &SuiteSourceArgs,
    rules: &RuleArgs,
    ask: Option<&AskArgs>,
    store: &StorePlace,
) -> Result<LabelRequest> {
    Ok(LabelRequest {
        run: run.clone(),
        suite: source.suite.clone(),
        submissions: source.submissions.clone(),
        profile: rules.into(),
        judge: ask.map(AskArgs::request).unwrap_or_default(),
        store: store.location()?,
    })
}

fn add(args: LabelAddArgs, store: &StorePlace) -> Result<Exit> {
    let (annotator, sample) = (annotator(&args.annotator)?, sample(&args.sample)?);
    let source = label_request(&args.run, &args.source, &args.rules, Some(&args.ask), store)?;
    let LabelAddArgs { id, answer, note, change, .. } = args;
    let request = AddLabelRequest { annotator, source, id, answer, note, change, sample };
    let AddedLabel { first, others, added } = add_label(&request, &mut JudgeProgress::new(false))?;
    let NewLabel { subject, annotator, answer, note, .. } = first;
    let (kind, noun, key, answer) = (subject.kind, subject.question().noun(), subject.key(), answer.word());
    let id = key.short();
    let mut value = json!({ kind.as_str(): key, "id": id, "case": subject.case });
    if kind == LabelKind::Pair {
        value["golden"] = json!(subject.golden.map(|golden| golden.golden));
    }
    (value["annotator"], value["answer"], value["note"]) = (json!(annotator), json!(answer), json!(note));
    if kind == LabelKind::Extra {
        let others = others.iter().map(|label| label.subject.key());
        value["texts"] = json!(std::iter::once(key.clone()).chain(others).collect::<Vec<_>>());
    }
    if kind != LabelKind::Pair {
        (value["added"], value["corrected"]) = (json!(added.added), json!(added.corrected));
    }
    let text = match (kind, others.len()) {
        (LabelKind::Extra, 0) => format!("{annotator} answered {answer} for the extra {id}"),
        (LabelKind::Extra, others) => {
            format!(
                "{annotator} answered {answer} for the extra {id}, and {} that report the same",
                count(others, "text")
            )
        }
        _ => format!("{annotator} labelled the {noun} {id} {answer}"),
    };
    print_done(args.json, &value, &text)
}

fn undo(args: &LabelUndoArgs, store: &StorePlace) -> Result<Exit> {
    let annotator = annotator(&args.annotator)?;
    let undone = store.open()?.undo_label(&annotator, None, &|_| true)?;
    let text = undone.as_ref().map(|undone| {
        let first = undone.keys.first().map(|key| key.get(..12).unwrap_or(key)).unwrap_or_default();
        let more = match undone.keys.len().saturating_sub(1) {
            0 => String::new(),
            others => format!(" and {} that report the same", count(others, "text")),
        };
        let (answer, noun, when) = (&undone.said, undone.question.noun(), format_utc(undone.made_ms));
        format!("undid the label {answer} by {annotator} on the {noun} {first}{more}, made {when} UTC")
    });
    print_done(args.json, &undone, &text.unwrap_or_else(|| format!("{annotator} has no label to undo")))
}

fn export(args: &LabelExportArgs, store: &StorePlace) -> Result<Exit> {
    let only = args.name.as_deref().map(checked).transpose()?;
    let request = label_request(&args.run, &args.source, &RuleArgs::default(), None, store)?;
    let exported = export_labels(&request, only.as_ref())?;
    let mut lines = Vec::new();
    write_judgements(&mut lines, &exported.judgements).map_err(|error| Failure::unwritten("the export", error))?;
    match &args.output {
        None => print(&String::from_utf8_lossy(&lines))?,
        Some(path) => {
            save(path, &lines)?;
            let value = json!({
                "file": path, "judgements": exported.judgements.len(), "labels": exported.labels,
                "labels_of_other_findings": exported.skipped,
            });
            let (judgements, labels) = (count(exported.judgements.len(), "judgement"), count(exported.labels, "label"));
            print_done(args.json, &value, &format!("wrote {}, {judgements} from {labels}", path.display()))?
        }
    };
    if exported.skipped > 0 {
        let skipped = count(exported.skipped, "label");
        note(&format!("{skipped} skipped: the labelled finding is not in this run or submission"));
    }
    Ok(Exit::Ok)
}

fn import(args: &LabelImportArgs, store: &StorePlace) -> Result<Exit> {
    let request = label_request(&args.run, &args.source, &RuleArgs::default(), None, store)?;
    let added = import_labels(&request, &args.files, args.change)?;
    let corrected = if added.corrected > 0 { format!(", {} corrected", added.corrected) } else { String::new() };
    let text = format!("{} added{corrected}, {} already present", count(added.added, "label"), added.were_here);
    print_done(args.json, &added, &text)
}

fn list(args: &LabelListArgs, store: &StorePlace) -> Result<Exit> {
    // If the annotator is known, others' labels are shown only on request, to keep labelling blind.
    let own = named(&args.annotator).filter(|_| !args.all).map(|name| checked(&name)).transpose()?;
    let mut store = store.open()?;
    let mut labels = if args.history { store.label_history()? } else { store.labels()? };
    labels.retain(|label| own.as_ref().is_none_or(|own| label.annotator == *own));
    labels.sort_by_key(Label::kind);
    if args.json {
        return print_json(&labels);
    }
    let annotators: BTreeSet<&Annotator> = labels.iter().map(|label| &label.annotator).collect();
    if !labels.is_empty() {
        print(&table(&labels, args.history))?;
    }
    print_stderr(&format!("{} by {}", count(labels.len(), "label"), count(annotators.len(), "annotator")));
    Ok(Exit::Ok)
}

fn table(labels: &[Label], history: bool) -> String {
    let mut header = vec!["golden", "pair", "annotator", "answer", "made (UTC)", "note"];
    if history {
        header.insert(4, "counts");
    }
    let mut rows = vec![header.into_iter().map(Cell::left).collect::<Vec<_>>()];
    for label in labels {
        let about = match (label.kind(), &label.golden) {
            (LabelKind::Extra, _) => format!("{} (an extra)", label.case),
            (LabelKind::Audit, _) => format!("{} (audited)", label.case),
            (LabelKind::Pair, Some(golden)) => format!("{} {golden}", label.case),
            (LabelKind::Pair, None) => label.case.to_string(),
        };
        let mut row = vec![
            Cell::folded(about),
            Cell::left(label.key.short()),
            Cell::folded(label.annotator.as_str()),
            Cell::left(label.answer.word()),
            Cell::left(format_utc(label.made_ms)),
            Cell::folded(label.note.as_deref().unwrap_or("–")),
        ];
        if history {
            let state = match (label.counts, label.withdrawn_ms) {
                (true, _) => "yes",
                (false, None) => "corrected",
                (false, Some(_)) => "withdrawn",
            };
            row.insert(4, Cell::left(state));
        }
        rows.push(row);
    }
    draw_table(&rows)
}

fn annotator(args: &AnnotatorArgs) -> Result<Annotator> {
    let name = named(args);
    checked(&name.ok_or_else(|| Failure::usage("no annotator name: use --as NAME, or set KARAT_ANNOTATOR"))?)
}

fn named(args: &AnnotatorArgs) -> Option<String> {
    args.name.clone().or_else(|| std::env::var("KARAT_ANNOTATOR").ok().filter(|name| !name.is_empty()))
}

fn checked(name: &str) -> Result<Annotator> {
    Annotator::new(name).map_err(Failure::usage)
}

fn sample(args: &SampleArgs) -> Result<Option<Sample>> {
    let drawn = args.probability.map(|probability| Sample::new(probability, args.seed));
    drawn.transpose().map_err(Failure::usage)
}
