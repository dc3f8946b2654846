//! `karat compare`, `gate`, `baseline` and `power`.

use crate::args::{BaselineCommand, CompareArgs, GateArgs, PowerArgs};
use crate::exit::{Exit, Result};
use crate::outputs::{PLAIN, add_to_summary, check_extensions, json, save, save_drawn};
use crate::progress::JudgeProgress;
use crate::terminal::{print, print_done, show};
use karat::baseline::{BaselineRequest, take_baseline, text};
use karat::compare::{CompareRequest, compare_reports};
use karat::gate::{GateRequest, gate};
use karat::power::{PowerRequest, estimate};
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandsV1};
use karat_report::junit::draw_gate;
use karat_report::{compare, gate as gate_report, power};
use serde_json::json;

pub(crate) fn run(args: CompareArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &["json", "md", "txt"])?;
    let store = args.store.location()?;
    let request = CompareRequest {
        reports: args.reports,
        tools: args.tools,
        metrics: args.metrics,
        cluster: args.cluster,
        margin: args.margin,
        intersection: args.intersection,
        twisted: args.twisted,
        all_pairs: args.all_pairs,
        ranks: args.ranks,
        across_judges: args.across_judges,
        seed: args.seed,
        store,
    };
    let comparison = compare_reports(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &comparison, |look| compare::draw(&comparison, look))?;
    save_drawn(&args.outputs, |extension| match extension {
        "json" => json(&comparison),
        "md" => compare::markdown(&comparison),
        _ => compare::draw(&comparison, &PLAIN),
    })?;
    Ok(Exit::Ok)
}

pub(crate) fn run_gate(args: GateArgs) -> Result<Exit> {
    check_extensions(&args.outputs, &["json", "md", "xml", "txt"])?;
    let bound = |metric, min, max| BoundV1 { metric, min, max, tool: None };
    let store = args.store.location()?;
    let GateArgs { min, max, no_worse_than, metrics, margin, max_cost, allow_small_n, min_coverage, .. } = args;
    let min = min.into_iter().map(|(id, least)| bound(id, Some(least), None));
    let max = max.into_iter().map(|(id, most)| bound(id, None, Some(most)));
    let (rules, judge_licence) = (min.chain(max).collect(), args.require_judge_licence);
    let demands =
        DemandsV1 { rules, no_worse_than, metrics, margin, max_cost, judge_licence, allow_small_n, min_coverage };
    let request = GateRequest {
        report: args.report,
        tools: args.tools,
        demands,
        intersection: args.intersection,
        across_judges: args.across_judges,
        baseline_missing: args.baseline_missing,
        digest: args.digest,
        rules: args.rules,
        seed: args.seed,
        store,
    };
    let gate = gate(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &gate, |look| match look.verbosity.verbose {
        true => gate_report::draw_demands(&gate, look),
        false => gate_report::draw(&gate, look),
    })?;
    save_drawn(&args.outputs, |extension| match extension {
        "json" => json(&gate),
        "md" => gate_report::markdown(&gate),
        "xml" => draw_gate(&gate),
        _ => gate_report::draw_demands(&gate, &PLAIN),
    })?;
    add_to_summary(&|| gate_report::markdown(&gate))?;
    Ok(match gate.outcome {
        DemandOutcomeV1::LeftOut | DemandOutcomeV1::Holds => Exit::Ok,
        DemandOutcomeV1::Inconclusive => Exit::Inconclusive,
        DemandOutcomeV1::Fails => Exit::NotMet,
    })
}

pub(crate) fn run_baseline(command: BaselineCommand) -> Result<Exit> {
    let BaselineCommand::Write { report, tools, metrics, store, output, json } = command;
    let request = BaselineRequest { report, tools, metrics, store: store.location()? };
    let baseline = take_baseline(&request, &mut JudgeProgress::new(false))?;
    let Some(path) = output else { return print(&text(&baseline)) };
    save(&path, text(&baseline).as_bytes())?;
    let first = baseline.tools.first();
    let summary = json!({
        "written": path.display().to_string(),
        "tools": baseline.tools.iter().map(|tool| tool.tool.as_str()).collect::<Vec<_>>(),
        "metrics": first.map(|tool| tool.metrics.keys().collect::<Vec<_>>()),
        "cases": first.map_or(0, |tool| tool.cases.len()),
    });
    print_done(json, &summary, &format!("wrote {}", path.display()))
}

pub(crate) fn run_power(args: PowerArgs) -> Result<Exit> {
    let store = args.store.location()?;
    let PowerArgs { reports, effect, power, metric, tool, tools, std, cluster, .. } = args;
    let tools = tool.into_iter().chain(tools).collect();
    let request = PowerRequest { reports, effect, power, metric, tools, std, cluster, store };
    let answer = estimate(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &answer, |look| power::draw(&answer, look))
}
