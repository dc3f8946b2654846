//! `karat assess` and `logs`.

use crate::args::{AssessArgs, LogsCommand, OutputArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::{add_to_summary, check_extensions, json, save_drawn};
use crate::progress::AssessProgress;
use crate::terminal::{look, note, print, print_stderr, show};
use karat::assess::{AssessRequest, SearchRequest, assess};
use karat_documents::assess::log::{find, logs as all_logs, summarize};
use karat_format::assessment::AssessmentReportV1;
use karat_format::diagnostic::harmless;
use karat_report::assessment::{csv, draw, html, markdown};
use serde_json::json;
use std::path::PathBuf;

const EXTENSIONS: [&str; 4] = ["json", "md", "csv", "html"];

pub(crate) fn run(args: &AssessArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &EXTENSIONS)?;
    let search = &args.search;
    let request = AssessRequest {
        paths: args.paths.clone(),
        recursive: args.recursive,
        stage: args.stage.into(),
        assessors: args.evaluation.clone(),
        requirements: args.requirement.clone(),
        search: SearchRequest {
            embedding: search.embedding.clone(),
            reranking: search.reranking.clone(),
            search_limit: search.search_limit.map(|n| n as usize),
            bm25_weight: search.bm25_weight,
            rerank_top_n: search.rerank_top_n.map(|n| n as usize),
            min_candidate_length: search.min_candidate_length.map(|n| n as usize),
            no_rerank: search.no_rerank,
        },
        session: args.session.clone(),
        cache: args.judge_cache.into(),
        intervals: args.intervals.options(args.seed),
        margin: args.margin,
        trec_folder: args.trec.clone(),
        store_folder: args.store.path(),
    };
    let mut progress = AssessProgress::new(args.quiet);
    let result = assess(&request, &mut progress);
    progress.end();
    let result = result?;
    // Standard output may be closed; the files are written all the same.
    let printed = match args.json {
        true => print(&json(&result.report)),
        false => print(&draw(&result.report, args.verbose, &look())),
    };
    write(&result.report, &args.outputs, args.quiet)?;
    add_to_summary(&|| markdown::draw(&result.report))?;
    printed?;
    if let Some(fault) = &result.log_fault {
        note(&format!("the log is incomplete: {fault}"));
    }
    if let Some(id) = result.log_id.as_ref().filter(|_| !args.quiet && !args.json) {
        let short = &id[..13.min(id.len())];
        print_stderr(&format!("\nRun {short}: karat logs summarize --run {short}"));
    }
    Ok(if result.has_silent_assessor() { Exit::Failed } else { Exit::Ok })
}

pub(super) fn redraw(report: &AssessmentReportV1, args: &OutputArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &EXTENSIONS)?;
    let format = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    print(&match format {
        "table" => draw(report, false, &look()),
        "json" => json(report),
        "markdown" => markdown::draw(report),
        "csv" => csv::draw(report),
        "html" => html::draw(report),
        other => {
            let message =
                format!("unsupported format `{other}` of an assessment: expected table, json, markdown, csv or html");
            return Err(Failure::usage(message));
        }
    })?;
    write(report, &args.outputs, false)?;
    Ok(Exit::Ok)
}

fn write(report: &AssessmentReportV1, outputs: &[PathBuf], quiet: bool) -> Result<()> {
    save_drawn(outputs, quiet, |extension| match extension {
        "json" => json(report),
        "md" => markdown::draw(report),
        "html" => html::draw(report),
        _ => csv::draw(report),
    })
}

pub(crate) fn logs(command: &LogsCommand) -> Result<Exit> {
    match command {
        LogsCommand::Summarize { run, store, json } => {
            let summary = summarize(&find(&store.path(), run)?)?;
            show(*json, &summary, |look| karat_report::logs::draw(&summary, look))
        }
        LogsCommand::List { store, json } => {
            let folder = store.path();
            let all = all_logs(&folder)?;
            if all.is_empty() && !*json {
                print_stderr(&format!("no logs in {}; `karat assess` writes one", folder.display()));
            }
            let entries = all.iter().map(|log| json!({ "run": log.batch_run_id, "file": log.path }));
            let lines = all.iter().map(|log| format!("{}\n", harmless(&log.batch_run_id)));
            show(*json, &entries.collect::<Vec<_>>(), |_| lines.collect())
        }
    }
}
