//! `karat assess`, `logs`, `ingest` and `trec`.

use crate::args::{AssessArgs, ExplainArgs, IngestArgs, LogsCommand, OutputArgs, TrecArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::{add_to_summary, check_extensions, json, save_drawn};
use crate::progress::JudgeProgress;
use crate::terminal::{
    look, most_shown, note, note_problem, notes, print, print_json, print_next, print_stderr, show, word,
};
use karat::assess::{AssessRequest, NamedLog, SearchRequest, assess, find_log, ingest_into_session, named_logs};
use karat::explain::{explain_assessment, keep_assessor, worst_requirement};
use karat::judge::run::JudgeObserver;
use karat::submissions::{open_lines, refuse_repeated_stdin};
use karat::suggestion;
use karat::trec::draw as draw_trec;
use karat::trec::{Evaluated, read_qrels, read_run};
use karat_core::trec::{Cutoffs, Evaluation, FAMILIES, Measure, MeasureError, official};
use karat_core::wording::{count, first_few};
use karat_documents::assess::bundle::content_hash;
use karat_documents::assess::log::summarize;
use karat_documents::ingest::ingest as ingest_document;
use karat_documents::ingest::{Document, IngestLimits, Section};
use karat_format::assessment::AssessmentReportV1;
use karat_format::diagnostic::harmless;
use karat_format::retrieval::SearchV1;
use karat_report::assessment::{csv, draw, explain as explain_requirements, html, markdown};
use karat_report::report_view::AssessmentView;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 4] = ["json", "md", "csv", "html"];

pub(crate) fn run(args: &AssessArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &EXTENSIONS)?;
    let search = &args.search;
    let request = AssessRequest {
        paths: args.paths.clone(),
        recursive: args.recursive,
        name: args.name.clone(),
        stage: args.stage,
        assessors: args.evaluation.clone(),
        requirements: args.requirement.clone(),
        search: SearchRequest {
            embedding: search.embedding.clone(),
            reranking: search.reranking.clone(),
            options: SearchV1 {
                search_limit: search.search_limit,
                bm25_weight: search.bm25_weight,
                rerank_top_n: search.rerank_top_n,
                min_candidate_length: search.min_candidate_length,
                ..SearchV1::default()
            },
            no_rerank: search.no_rerank,
        },
        session: args.session.clone(),
        cache: args.judge_cache,
        intervals: args.intervals.options(args.seed),
        margin: args.margin,
        strict: args.strict,
        trec_folder: args.trec.clone(),
        store: args.store.location()?,
    };
    let mut progress = JudgeProgress::new(false);
    let result = assess(&request, &mut progress);
    progress.end();
    let result = result?;
    // Standard output may be closed; the files are written all the same.
    let printed = match args.json {
        true => print(&json(&result.report)),
        false => print(&draw(&result.report, &look())),
    };
    let view = AssessmentView { name: args.name.clone(), ..AssessmentView::new(&result.report) };
    write(&view, &args.outputs)?;
    add_to_summary(&|| markdown::draw(&result.report))?;
    printed?;
    if let Some(fault) = &result.log_fault {
        note_problem(&format!("the log is incomplete: {fault}"));
    }
    if let Some(id) = result.id.as_ref().filter(|_| !args.json) {
        let short = args.name.as_deref().map_or_else(|| id[..13.min(id.len())].to_owned(), word);
        let flag = args.store.flag();
        let explain = |worst: String| format!("karat explain {} --run {short}{flag}", word(&worst));
        let mut steps = Vec::from_iter(worst_requirement(&result.report).map(explain));
        steps.push(format!("karat report {short} -o report.html{flag}"));
        steps.push(format!("karat logs summarize --run {short}{flag}"));
        print_next(&steps);
    }
    Ok(match (result.has_silent_assessor(), result.lacks_documents()) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::BadInput,
        (false, false) => Exit::Ok,
    })
}

/// Explains the requirements of an assessment that a name stands for.
pub(super) fn explain(mut report: AssessmentReportV1, args: &ExplainArgs) -> Result<Exit> {
    refuse_idle_flags([
        (args.trial.iter().map(|_| "--trial").collect(), "each assessor is asked once; select one with --tool"),
        (args.ask.set_flags(), "there is no judge"),
        (args.rules.set_flags(), "its template has the rules of scoring"),
        (args.trials.set_flags(), "it has no submissions"),
        (args.suite.iter().map(|_| "--suite").collect(), "it is explained with its own golden records"),
    ])?;
    if let Some(name) = &args.tool {
        keep_assessor(&mut report, name)?;
    }
    let explained = explain_assessment(&report, &args.case)?;
    show(args.json, &explained, |look| explain_requirements(&report, &explained.ranked, look))
}

/// Refuses the flags that were given and have no effect on an assessment, each with the reason.
pub(super) fn refuse_idle_flags<const N: usize>(flags: [(Vec<&str>, &str); N]) -> Result<()> {
    match flags.iter().find_map(|(flags, why)| Some((flags.first()?, why))) {
        Some((flag, why)) => Err(Failure::usage(format!("{flag} has no effect on an assessment: {why}"))),
        None => Ok(()),
    }
}

pub(super) fn redraw(view: &AssessmentView<'_>, args: &OutputArgs) -> Result<Exit> {
    let report = view.report;
    check_extensions(&args.outputs, &EXTENSIONS)?;
    let format = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    print(&match format {
        "table" => draw(report, &look()),
        "json" => json(report),
        "markdown" => markdown::draw(report),
        "csv" => csv::draw(report),
        "html" => html::draw(view),
        other => {
            let message =
                format!("unsupported format `{other}` of an assessment: expected table, json, markdown, csv or html");
            return Err(Failure::usage(message));
        }
    })?;
    write(view, &args.outputs)?;
    Ok(Exit::Ok)
}

fn write(view: &AssessmentView<'_>, outputs: &[PathBuf]) -> Result<()> {
    save_drawn(outputs, |extension| match extension {
        "json" => json(view.report),
        "md" => markdown::draw(view.report),
        "html" => html::draw(view),
        _ => csv::draw(view.report),
    })
}

pub(crate) fn logs(command: &LogsCommand) -> Result<Exit> {
    match command {
        LogsCommand::Summarize { run, store, json } => {
            let summary = summarize(&find_log(&store.location()?, run)?)?;
            show(*json, &summary, |look| karat_report::logs::draw(&summary, look))
        }
        LogsCommand::List { store, json } => {
            let location = store.location()?;
            let all = named_logs(&location)?;
            if all.is_empty() && !*json {
                print_stderr(&format!("no logs in {}; `karat assess` writes one", location.local_folder().display()));
            }
            let entries = all
                .iter()
                .map(|NamedLog { log, name }| json!({ "run": log.batch_run_id, "name": name, "file": log.path }));
            let line = |NamedLog { log, name }: &NamedLog| {
                let name = name.as_ref().map(|name| format!("  {name}")).unwrap_or_default();
                format!("{}\n", harmless(&format!("{}{name}", log.batch_run_id)))
            };
            let lines = all.iter().map(line);
            show(*json, &entries.collect::<Vec<_>>(), |_| lines.collect())
        }
    }
}

/// Documents that cannot be read do not prevent the others; the exit code is that of the first.
pub(crate) fn ingest(args: &IngestArgs) -> Result<Exit> {
    let limits = IngestLimits::default();
    let (mut documents, mut failures) = (Vec::new(), Vec::new());
    for path in &args.files {
        match ingest_file(path, &limits) {
            Ok(document) => documents.push(document),
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(session) = args.session.as_deref().filter(|_| !documents.is_empty()) {
        let new = ingest_into_session(&args.store.location()?, session, &documents)?;
        let known = documents.len() - new;
        print_stderr(&format!("session {session}: {} read and cached, {known} known", count(new, "document")));
    }
    let documents: Vec<Document> = documents.into_iter().map(|(document, _)| document).collect();
    if !documents.is_empty() || failures.is_empty() {
        let as_json: Vec<Value> = documents.iter().map(document_json).collect();
        show(args.json, &as_json, |look| {
            let drawn = documents.iter().map(|document| draw_document(document, look.width, look.verbosity.verbose));
            drawn.collect::<Vec<_>>().join("\n")
        })?;
    }
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(Exit::Ok) };
    failures.for_each(|failure| note_problem(&failure.text()));
    Err(first)
}

fn document_json(document: &Document) -> Value {
    let Document { name, format, sections, notes } = document;
    let section = |section: &Section| {
        let Section { id, heading, path, level, number, body, place } = section;
        json!({
            "id": id, "heading": heading, "path": path, "level": level, "number": number, "body": body, "place": place,
        })
    };
    let sections: Vec<Value> = sections.iter().map(section).collect();
    json!({ "name": name, "format": format, "sections": sections, "notes": notes })
}

/// A document and the hash of its file.
fn ingest_file(path: &Path, limits: &IngestLimits) -> Result<(Document, String)> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // Reading one byte past the limit is enough to detect a file that is too large.
    let most = u64::try_from(limits.file_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let file = File::open(path).map_err(|error| Failure::io(&name, error))?;
    file.take(most).read_to_end(&mut bytes).map_err(|error| Failure::io(&name, error))?;
    Ok((ingest_document(&name, &bytes, limits)?, content_hash(&bytes)))
}

/// The tree of headings with their location and size, then the notes.
fn draw_document(document: &Document, width: usize, verbose: bool) -> String {
    let words: usize = document.sections.iter().map(words_of).sum();
    let facts = [document.format, &count(document.sections.len(), "section"), &count(words, "word")].join(", ");
    let mut out = format!("{} ({facts})\n", harmless(&document.name));
    for section in &document.sections {
        out.push_str(&section_line(section, width));
        if verbose {
            let margin = " ".repeat(margin(section) + 2);
            out.push_str(&format!("{margin}id {}\n", section.id));
            let shown = |line: &str| format!("{margin}{}", harmless(&line.replace('\t', "    ")));
            out.extend(section.body.lines().map(|line| format!("{}\n", shown(line).trim_end())));
        }
    }
    out.extend(document.notes.iter().map(|note| format!("note: {}\n", harmless(note))));
    out
}

/// A heading on the left; its location and number of words on the right.
fn section_line(section: &Section, width: usize) -> String {
    let heading = if section.heading.is_empty() { "(before the first heading)" } else { &section.heading };
    let facts = format!("{}, {}", section.place, count(words_of(section), "word"));
    let margin = " ".repeat(margin(section));
    let room = width.saturating_sub(margin.len() + facts.chars().count() + 2).max(20);
    format!("{margin}{:<room$}  {facts}\n", cut(&harmless(&heading.replace(['\n', '\t'], " ")), room))
}

fn margin(section: &Section) -> usize {
    2 * section.path.len() + 2
}

fn words_of(section: &Section) -> usize {
    section.body.split_whitespace().count()
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Topics that are named in a message.
const MOST_TOPICS: usize = 5;

pub(crate) fn trec(args: &TrecArgs) -> Result<Exit> {
    let measures = measures(&args.measures)?;
    refuse_repeated_stdin([&args.qrels, &args.run])?;
    let qrels = read_qrels(open_lines(&args.qrels)?)?;
    let (run, run_notes) = read_run(open_lines(&args.run)?)?;
    let evaluation = Evaluation::new(&qrels, &run);
    if evaluation.topics.is_empty() {
        return Err(Failure::bad_input(format!(
            "{} and {} have no topic in common: the judgements have {}, the run has {}; use judgements and a run of the same topics",
            args.qrels.display(),
            args.run.display(),
            first_few(&evaluation.missing, most_shown(MOST_TOPICS)),
            first_few(&evaluation.unjudged, most_shown(MOST_TOPICS))
        )));
    }
    let evaluated = Evaluated::new(&evaluation, &measures, args.per_query, args.complete);
    if args.json {
        print_json(&evaluated)?;
    } else {
        // `trec_eval` prints the run's name with its official measures, but not with selected ones.
        let whole = |text: &String| text == "official" || text == "all";
        let run_name = args.measures.is_empty() || args.measures.iter().any(whole);
        print(&draw_trec(&evaluated, run_name))?;
        notes(&run_notes);
        print_topics(&evaluation, args.complete);
    }
    Ok(Exit::Ok)
}

fn measures(asked: &[String]) -> Result<Vec<Measure>> {
    if asked.is_empty() {
        return Ok(official());
    }
    let mut all = Vec::new();
    for text in asked {
        all.extend(Measure::parse(text).map_err(|fault| refused(&fault))?);
    }
    Ok(Measure::in_order(all))
}

fn refused(fault: &MeasureError) -> Failure {
    match fault {
        MeasureError::Unknown(name) => {
            let hint = suggestion(name, FAMILIES.iter().map(|family| family.name), ";");
            let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
            Failure::usage(format!("unknown measure `{name}`{hint} available: {}", names.join(", ")))
        }
        MeasureError::BadCutoff { name, cutoff } => {
            let family = FAMILIES.iter().find(|family| family.name == *name);
            let how = match family.map(|family| family.cutoffs) {
                Some(Cutoffs::Places(_)) => format!("expected ranks from 1, such as {name}.5,10"),
                Some(Cutoffs::Shares(_)) => format!("expected shares, such as {name}.0.2,0.5"),
                _ => format!("{name} has no cutoffs: it uses the whole ranking"),
            };
            Failure::usage(format!("invalid cutoff `{cutoff}` of `{name}`: {how}"))
        }
    }
}

fn print_topics(evaluation: &Evaluation, complete: bool) {
    if !evaluation.unjudged.is_empty() {
        note(&format!(
            "topics of the run without judgements are skipped: {}",
            first_few(&evaluation.unjudged, most_shown(MOST_TOPICS))
        ));
    }
    if !evaluation.missing.is_empty() && !complete {
        let missing = first_few(&evaluation.missing, most_shown(MOST_TOPICS));
        note(&format!("judged topics missing from the run are skipped: {missing}; --complete counts them as 0"));
    }
}
