//! `karat compare`, `gate`, `baseline` and `power`.

use crate::args::{BaselineCommand, CompareArgs, GateArgs, PowerArgs};
use crate::exit::{Exit, Result};
use crate::outputs::{PLAIN, add_to_summary, check_extensions, json, save, save_drawn};
use crate::progress::JudgeProgress;
use crate::terminal::{print, print_done, show};
use karat::baseline::{BaselineRequest, take_baseline, text};
use karat::comparison::{CompareRequest, compare_reports};
use karat::gate::{GateRequest, gate};
use karat::power::{PowerRequest, estimate};
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandsV1};
use karat_report::junit::draw_gate;
use karat_report::{compare, gate as gate_report, power};
use serde_json::json;

pub(crate) fn run(args: &CompareArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &["json", "md", "txt"])?;
    let request = CompareRequest {
        reports: args.reports.clone(),
        tools: args.tools.clone(),
        metrics: args.metrics.clone(),
        cluster: args.cluster.clone(),
        margin: args.margin,
        intersection: args.intersection,
        all_pairs: args.all_pairs,
        ranks: args.ranks,
        seed: args.seed,
        store_folder: args.store.path(),
    };
    let comparison = compare_reports(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &comparison, |look| compare::draw(&comparison, look))?;
    save_drawn(&args.outputs, false, |extension| match extension {
        "json" => json(&comparison),
        "md" => compare::markdown::draw(&comparison),
        _ => compare::draw(&comparison, &PLAIN),
    })?;
    Ok(Exit::Ok)
}

pub(crate) fn run_gate(args: &GateArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &["json", "md", "xml", "txt"])?;
    let bound = |id: &String, min, max| BoundV1 { metric: id.clone(), min, max, tool: None };
    let min = args.min.iter().map(|(id, least)| bound(id, Some(*least), None));
    let max = args.max.iter().map(|(id, most)| bound(id, None, Some(*most)));
    let demands = DemandsV1 {
        rules: min.chain(max).collect(),
        no_worse_than: args.no_worse_than.clone(),
        metrics: args.metrics.clone(),
        margin: args.margin,
        max_cost: args.max_cost,
        judge_licence: args.require_judge_licence,
        allow_small_n: args.allow_small_n,
    };
    let request = GateRequest {
        report: args.report.clone(),
        tools: args.tools.clone(),
        demands,
        intersection: args.intersection,
        digest: args.digest.clone(),
        rules: args.rules.clone(),
        seed: args.seed,
        store_folder: args.store.path(),
    };
    let gate = gate(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &gate, |look| gate_report::draw(&gate, look))?;
    save_drawn(&args.outputs, false, |extension| match extension {
        "json" => json(&gate),
        "md" => gate_report::markdown(&gate),
        "xml" => draw_gate(&gate),
        _ => gate_report::draw(&gate, &PLAIN),
    })?;
    add_to_summary(&|| gate_report::markdown(&gate))?;
    Ok(match gate.outcome {
        DemandOutcomeV1::Holds => Exit::Ok,
        DemandOutcomeV1::Inconclusive => Exit::Inconclusive,
        DemandOutcomeV1::Fails => Exit::NotMet,
    })
}

pub(crate) fn run_baseline(command: &BaselineCommand) -> Result<Exit> {
    let BaselineCommand::Write { report, tools, metrics, store, output, json } = command;
    let (report, tools, metrics) = (report.clone(), tools.clone(), metrics.clone());
    let request = BaselineRequest { report, tools, metrics, store_folder: store.path() };
    let baseline = take_baseline(&request, &mut JudgeProgress::new(false))?;
    let Some(path) = output else { return print(&text(&baseline)) };
    save(path, text(&baseline).as_bytes())?;
    let first = baseline.tools.first();
    let summary = json!({
        "written": path.display().to_string(),
        "tools": baseline.tools.iter().map(|tool| tool.tool.as_str()).collect::<Vec<_>>(),
        "metrics": first.map(|tool| tool.metrics.keys().collect::<Vec<_>>()),
        "cases": first.map_or(0, |tool| tool.cases.len()),
    });
    print_done(*json, &summary, &format!("wrote {}", path.display()))
}

pub(crate) fn run_power(args: &PowerArgs) -> Result<Exit> {
    let request = PowerRequest {
        reports: args.reports.clone(),
        effect: args.effect,
        power: args.power,
        metric: args.metric.clone(),
        tools: args.tool.iter().chain(&args.tools).cloned().collect(),
        std: args.std,
        cluster: args.cluster.clone(),
        store_folder: args.store.path(),
    };
    let answer = estimate(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &answer, |look| power::draw(&answer, look))
}
