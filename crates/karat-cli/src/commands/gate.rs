//! `karat gate`.

use crate::args::GateArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{self, Drawing, PLAIN, show};
use crate::outputs;
use crate::progress::JudgeProgress;
use karat::gate::{GateRequest, gate};
use karat_format::gate::{BoundV1, DemandOutcomeV1};
use karat_report::gate::{draw, markdown};
use karat_report::junit::draw_gate;

pub(crate) fn run(args: &GateArgs) -> Result<Exit, Failure> {
    output_files::check(&args.outputs, &["json", "md", "xml", "txt"])?;
    let bound = |(id, min, max): (&String, _, _)| BoundV1 { metric: id.clone(), min, max, tool: None };
    let min = args.min.iter().map(|(id, least)| (id, Some(*least), None));
    let max = args.max.iter().map(|(id, most)| (id, None, Some(*most)));
    let request = GateRequest {
        report: args.report.clone(),
        tools: args.tools.clone(),
        bounds: min.chain(max).map(bound).collect(),
        no_worse_than: args.no_worse_than.clone(),
        metrics: args.metrics.clone(),
        margin: args.margin,
        intersection: args.intersection,
        max_cost: args.max_cost,
        judge_licence: args.require_judge_licence,
        allow_small_n: args.allow_small_n,
        digest: args.digest.clone(),
        rules: args.rules.clone(),
        seed: args.seed,
        store_folder: args.store.path(),
    };
    let gate = gate(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &gate, |look| draw(&gate, look))?;
    let drawn = [
        Drawing { extension: "json", draw: &|| output_files::json(&gate) },
        Drawing { extension: "md", draw: &|| markdown(&gate) },
        Drawing { extension: "xml", draw: &|| draw_gate(&gate) },
        Drawing { extension: "txt", draw: &|| draw(&gate, &PLAIN) },
    ];
    output_files::write(&args.outputs, &drawn, false)?;
    outputs::add_to_summary(&|| markdown(&gate))?;
    Ok(match gate.outcome {
        DemandOutcomeV1::Holds => Exit::Ok,
        DemandOutcomeV1::Inconclusive => Exit::Inconclusive,
        DemandOutcomeV1::Fails => Exit::NotMet,
    })
}
