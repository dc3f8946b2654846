//! `karat assess`.

use crate::args::{AssessArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::output_files::{self, Drawing};
use crate::outputs;
use crate::progress::AssessProgress;
use crate::terminal::{look, note, print, tell};
use karat::assess::{AssessRequest, SearchRequest, assess};
use karat_format::assessment::AssessmentReportV1;
use karat_report::assessment::{csv, draw, html, markdown};
use std::path::PathBuf;

/// The output formats of an assessment report.
const EXTENSIONS: [&str; 4] = ["json", "md", "csv", "html"];

pub(crate) fn run(args: &AssessArgs) -> Result<Exit, Failure> {
    output_files::check(&args.outputs, &EXTENSIONS)?;
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
        true => print(&output_files::json(&result.report)),
        false => print(&draw(&result.report, args.verbose, &look())),
    };
    write(&result.report, &args.outputs, args.quiet)?;
    outputs::add_to_summary(&|| markdown::draw(&result.report))?;
    printed?;
    if let Some(fault) = &result.log_fault {
        note(&format!("the log is incomplete: {fault}"));
    }
    if let Some(id) = result.log_id.as_ref().filter(|_| !args.quiet && !args.json) {
        let short = &id[..13.min(id.len())];
        tell(&format!("\nRun {short}: karat logs summarize --run {short}"));
    }
    Ok(if result.has_silent_assessor() { Exit::Failed } else { Exit::Ok })
}

/// Renders a stored assessment report as it was first rendered.
pub(super) fn redraw(report: &AssessmentReportV1, args: &OutputArgs) -> Result<(), Failure> {
    output_files::check(&args.outputs, &EXTENSIONS)?;
    let format = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    print(&match format {
        "table" => draw(report, false, &look()),
        "json" => output_files::json(report),
        "markdown" => markdown::draw(report),
        "csv" => csv::draw(report),
        "html" => html::draw(report),
        other => {
            let message =
                format!("unsupported format `{other}` of an assessment: expected table, json, markdown, csv or html");
            return Err(Failure::usage(message));
        }
    })?;
    write(report, &args.outputs, false)
}

fn write(report: &AssessmentReportV1, outputs: &[PathBuf], quiet: bool) -> Result<(), Failure> {
    let all = [
        Drawing { extension: "json", draw: &|| output_files::json(report) },
        Drawing { extension: "md", draw: &|| markdown::draw(report) },
        Drawing { extension: "html", draw: &|| html::draw(report) },
        Drawing { extension: "csv", draw: &|| csv::draw(report) },
    ];
    output_files::write(outputs, &all, quiet)
}
