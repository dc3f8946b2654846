//! `karat label`: human labels of pairs, extras and audited findings.

mod add;
mod ask;

use crate::args::{
    AnnotatorArgs, AskArgs, LabelExportArgs, LabelImportArgs, LabelListArgs, LabelUndoArgs, LabellingArgs,
    LabellingCommand, QueueArgs, RuleArgs, SampleArgs, SeenArgs,
};
use crate::exit::{Exit, Failure};
use crate::hints::flags;
use crate::output_files::save;
use crate::progress::JudgeProgress;
use crate::store_path;
use crate::terminal::{look, note, notes, print, print_json, tell};
use ask::LabelPrompt;
use karat::label::{LabelItems, LabelRequest, QueueRequest, export_labels, import_labels, label_queue};
use karat_core::wording::count;
use karat_format::recorded::write_judgements;
use karat_report::grid::{Cell, draw};
use karat_store::Store;
use karat_store::label::{Annotator, Label, LabelKind, Sample};
use karat_store::timestamp::format_utc;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(args: &LabellingArgs) -> Result<Exit, Failure> {
    let stated = args.store.as_deref();
    match &args.command {
        LabellingCommand::Next(args) => {
            let sample = sample(&args.sample)?;
            let request = queue_request(&args.source, None, stated);
            let drawn = args.sample.probability.map(|share| format!(" --sample {share} --seed {}", args.sample.seed));
            let prompt = Prompt { annotator: &args.source.annotator, noun: "pairs", skip: args.skip, json: args.json };
            prompt.run(&request, &QueueRequest::Pairs { sample }, &drawn.unwrap_or_default(), stated)
        }
        LabellingCommand::Extras(args) => {
            let request = queue_request(&args.source, Some(&args.ask), stated);
            let rules: Vec<_> = args.source.rules.flags().into_iter().chain(args.ask.flags()).collect();
            let prompt = Prompt { annotator: &args.source.annotator, noun: "extras", skip: args.skip, json: args.json };
            prompt.run(&request, &QueueRequest::Extras { min_tools: args.min_tools }, &flags(&rules), stated)
        }
        LabellingCommand::Audits(args) => {
            let request = queue_request(&args.source, None, stated);
            let prompt =
                Prompt { annotator: &args.source.annotator, noun: "findings", skip: args.skip, json: args.json };
            prompt.run(&request, &QueueRequest::Audits, "", stated)
        }
        LabellingCommand::Undo(args) => undo(args, stated),
        LabellingCommand::Add(args) => add::run(args, stated),
        LabellingCommand::List(args) => list(args, stated),
        LabellingCommand::Export(args) => export(args, stated),
        LabellingCommand::Import(args) => import(args, stated),
    }
}

/// How items are shown.
struct Prompt<'a> {
    annotator: &'a AnnotatorArgs,
    noun: &'static str,
    skip: usize,
    json: bool,
}

impl Prompt<'_> {
    /// Shows the next item of a queue. `more` are flags with which `karat label add` finds the same items, beside the source.
    fn run(
        &self,
        request: &LabelRequest,
        items: &QueueRequest,
        more: &str,
        stated: Option<&Path>,
    ) -> Result<Exit, Failure> {
        let annotator = annotator(self.annotator)?;
        let LabelItems { loaded, queue, run } = label_queue(request, items, &mut JudgeProgress::new(false))?;
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
        let flags = format!("{source}{}{more}", store_path::flag(stated));
        let folder = request.store_folder.as_path();
        let (noun, skip, json) = (self.noun, self.skip, self.json);
        LabelPrompt { queue: &queue, loaded: &loaded, folder, flags, noun, skip, json }.serve(annotator)?;
        Ok(Exit::Ok)
    }
}

fn queue_request(args: &QueueArgs, ask: Option<&AskArgs>, stated: Option<&Path>) -> LabelRequest {
    label_request(&args.run, &args.seen, &args.rules, ask, stated)
}

fn label_request(
    run: &Option<String>,
    seen: &SeenArgs,
    rules: &RuleArgs,
    ask: Option<&AskArgs>,
    stated: Option<&Path>,
) -> LabelRequest {
    LabelRequest {
        run: run.clone(),
        suite: seen.suite.clone(),
        submissions: seen.submissions.clone(),
        profile: rules.into(),
        judge: ask.map(AskArgs::request).unwrap_or_default(),
        store_folder: store_path::folder(stated),
    }
}

fn undo(args: &LabelUndoArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let undone = Store::open(&store_path::folder(stated))?.undo_label(&annotator, None, &|_| true)?;
    if args.json {
        print_json(&undone)?;
    }
    match undone {
        None => tell(&format!("{annotator} has no label to undo")),
        Some(undone) => {
            let first: String = undone.keys.first().map(|key| key.chars().take(12).collect()).unwrap_or_default();
            let more = match undone.keys.len().saturating_sub(1) {
                0 => String::new(),
                others => format!(" and {} that report the same", count(others, "text")),
            };
            let (said, noun, when) = (undone.said, undone.kind.noun(), format_utc(undone.made_ms));
            tell(&format!("undid the label {said} by {annotator} on the {noun} {first}{more}, made {when} UTC"));
        }
    }
    Ok(Exit::Ok)
}

fn export(args: &LabelExportArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let only = args.name.as_deref().map(checked).transpose()?;
    let request = label_request(&args.run, &args.seen, &RuleArgs::default(), None, stated);
    let exported = export_labels(&request, only.as_ref())?;
    let mut lines = Vec::new();
    write_judgements(&mut lines, &exported.judgements).map_err(|error| Failure::unwritten("the export", error))?;
    match &args.output {
        None => print(&String::from_utf8_lossy(&lines))?,
        Some(path) => {
            save(path, &lines)?;
            if args.json {
                print_json(&json!({
                    "file": path, "judgements": exported.judgements.len(), "labels": exported.labels,
                    "labels_of_other_findings": exported.skipped,
                }))?;
            }
            let judgements = count(exported.judgements.len(), "judgement");
            tell(&format!("wrote {}, {judgements} from {}", path.display(), count(exported.labels, "label")));
        }
    }
    if exported.skipped > 0 {
        let skipped = count(exported.skipped, "label");
        note(&format!("{skipped} skipped: the labelled finding is not in this run or submission"));
    }
    Ok(Exit::Ok)
}

fn import(args: &LabelImportArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let request = label_request(&args.run, &args.seen, &RuleArgs::default(), None, stated);
    let added = import_labels(&request, &args.files, args.change)?;
    if args.json {
        print_json(&added)?;
    }
    let corrected = if added.corrected > 0 { format!(", {} corrected", added.corrected) } else { String::new() };
    tell(&format!("{} added{corrected}, {} already present", count(added.added, "label"), added.were_here));
    Ok(Exit::Ok)
}

fn list(args: &LabelListArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    // If the annotator is known, others' labels are shown only on request, to keep labelling blind.
    let own = match (args.all, named(&args.annotator)) {
        (false, Some(name)) => Some(checked(&name)?),
        _ => None,
    };
    let mut store = Store::open(&store_path::folder(stated))?;
    let mut labels = if args.history { store.label_history()? } else { store.labels()? };
    labels.retain(|label| own.as_ref().is_none_or(|own| label.annotator == *own));
    labels.sort_by_key(Label::kind);
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
            row.insert(4, Cell::left(state(label.counts, label.withdrawn_ms)));
        }
        rows.push(row);
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
