//! `karat explain`.

use crate::args::ExplainArgs;
use crate::exit::{Exit, Result};
use crate::progress::JudgeProgress;
use crate::terminal::{notes, show};
use karat::explain::{ExplainRequest, Explained, explain};
use karat::score::{ScoreRequest, ScoreSource};
use karat_core::matching::outcome::Candidate;
use karat_report::explain::{CaseExplanation, candidate_json, draw};
use karat_store::Store;
use serde_json::{Value, json};
use std::path::Path;

const CANDIDATES: usize = 3;

pub(crate) fn run(args: &ExplainArgs) -> Result<Exit> {
    let store_folder = args.store.path();
    let score = ScoreRequest {
        submissions: (&args.trials).into(),
        judgements: args.trials.judgements.clone(),
        tools: args.tool.iter().cloned().collect(),
        judge: args.ask.request(),
        profile: (&args.rules).into(),
        ..ScoreRequest::new(source(args, &store_folder), store_folder)
    };
    let request = ExplainRequest { score, case: args.case.clone(), tool: args.tool.clone(), trial: args.trial };
    let explained = explain(&request, &mut JudgeProgress::new(false))?;
    notes(&explained.notes);
    let candidates = explained.candidates(CANDIDATES);
    let tool = &explained.scoring.report.tools[explained.tool_index].tool;
    show(args.json, &as_json(&explained, &candidates), |look| {
        let explanation = CaseExplanation {
            case: explained.case(),
            score: explained.score(),
            trial: explained.trial(),
            reported: explained.reported(),
            judgements: &explained.scoring.judgements,
            candidates: &candidates,
            profile: &explained.scoring.profile,
        };
        draw(&explanation, tool, look)
    })
}

/// The named run or suite; default: the current folder, or the latest run if the folder is not a suite.
fn source(args: &ExplainArgs, store_folder: &Path) -> ScoreSource {
    if let Some(run) = &args.run {
        return ScoreSource::Run(run.clone());
    }
    let nothing_named = args.suite.is_none() && args.trials.submissions.is_empty();
    let is_suite_here = || ["karat.toml", "cases.jsonl", "cases"].iter().any(|file| Path::new(file).exists());
    if nothing_named && !is_suite_here() && Store::is_at(store_folder) {
        return ScoreSource::Run("latest".to_owned());
    }
    ScoreSource::Suite(args.suite.clone().unwrap_or_else(|| ".".to_owned()))
}

fn as_json(explained: &Explained, candidates: &[Vec<Candidate>]) -> Value {
    let findings = explained.reported().map_or(&[][..], |trial| &trial.findings);
    let mut best = serde_json::Map::new();
    for (golden, candidates) in explained.case().goldens.iter().zip(candidates) {
        let list: Vec<_> = candidates.iter().map(|candidate| candidate_json(candidate, findings)).collect();
        best.insert(golden.id.to_string(), json!(list));
    }
    let report = &explained.scoring.report;
    let tool = &report.tools[explained.tool_index];
    json!({
        "case": report.cases[explained.case_index],
        "tool": tool.tool,
        "trial": explained.trial().number,
        "result": tool.cases[explained.case_index],
        "candidates": best,
    })
}
