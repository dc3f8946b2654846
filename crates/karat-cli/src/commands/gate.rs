//! `karat gate`.

use super::compare::refused;
use crate::args::GateArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{self, Drawing};
use crate::report_source::{self, Source};
use crate::terminal::{look, print, print_json};
use crate::{outputs, store_path};
use karat::comparison::Side;
use karat::gate::{self, Demands, NoWorse};
use karat_core::comparison::{MARGIN, Rules};
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandsV1};
use karat_format::report::ReportV1;
use karat_report::TerminalStyle;
use karat_report::gate::{draw, junit, markdown};
use std::path::Path;

/// The output formats of a gate.
const EXTENSIONS: [&str; 4] = ["json", "md", "xml", "txt"];

pub(crate) fn run(args: &GateArgs) -> Result<Exit, Failure> {
    output_files::check(&args.outputs, &EXTENSIONS)?;
    let typed = args.min.iter().chain(&args.max).map(|(id, _)| id);
    for id in typed.chain(&args.metrics) {
        super::metrics::named(id)?;
    }
    let stated = stated(args)?;
    let (report, digest) = report_source::report_and_digest(&args.report, &args.store)?;
    if let Some(expected) = args.digest.as_ref().filter(|expected| **expected != digest) {
        return Err(Failure::bad_input(format!(
            "{} has the digest {digest}, but --digest is {expected}: it is not the pinned file; find out who \
             changed it, or pin the new one",
            args.report
        )));
    }
    let tools = report_source::tools(&report, &args.tools, &args.report)?;
    let demands = demands(args, stated, &report)?;
    let mut gate = gate::hold(&report, &tools, &demands).map_err(refused)?;
    gate.digest = Some(digest);
    if args.json {
        print_json(&gate)?;
    } else {
        print(&draw(&gate, &look()))?;
    }
    let drawn = [
        Drawing { extension: "json", draw: &|| output_files::json(&gate) },
        Drawing { extension: "md", draw: &|| markdown(&gate) },
        Drawing { extension: "xml", draw: &|| junit::draw(&gate) },
        Drawing { extension: "txt", draw: &|| draw(&gate, &TerminalStyle { width: 100, colour: false }) },
    ];
    output_files::write(&args.outputs, &drawn, false)?;
    outputs::add_to_summary(&|| markdown(&gate))?;
    Ok(match gate.outcome {
        DemandOutcomeV1::Holds => Exit::Ok,
        DemandOutcomeV1::Inconclusive => Exit::Inconclusive,
        DemandOutcomeV1::Fails => Exit::NotMet,
    })
}

/// The demands of the `--rules` file, if any.
fn stated(args: &GateArgs) -> Result<DemandsV1, Failure> {
    let Some(path) = &args.rules else { return Ok(DemandsV1::default()) };
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io(&shown, error))?;
    Ok(gate::read(&text, &shown)?)
}

/// All demands: those of the file and of the flags; flags take precedence.
fn demands(args: &GateArgs, stated: DemandsV1, report: &ReportV1) -> Result<Demands, Failure> {
    let there: Vec<&str> = report.tools.iter().map(|tool| tool.tool.as_str()).collect();
    let unknown =
        stated.rules.iter().filter_map(|rule| rule.tool.as_ref()).find(|tool| !there.contains(&tool.as_str()));
    if let (Some(tool), Some(file)) = (unknown, &args.rules) {
        let message =
            format!("{}: {} has no tool `{tool}`; available: {}", file.display(), args.report, there.join(", "));
        return Err(Failure::bad_input(message));
    }
    let typed = |id: &String| BoundV1 { metric: id.clone(), min: None, max: None, tool: None };
    let min = args.min.iter().map(|(id, least)| BoundV1 { min: Some(*least), ..typed(id) });
    let max = args.max.iter().map(|(id, most)| BoundV1 { max: Some(*most), ..typed(id) });
    let margin = args.margin.or(stated.margin).unwrap_or(MARGIN);
    let metrics = if args.metrics.is_empty() { stated.metrics } else { args.metrics.clone() };
    let beside = |name: &String| match args.rules.as_deref().and_then(Path::parent) {
        // A run's name does not depend on the location of the rules file.
        Some(folder) if folder.join(name).is_file() => folder.join(name).display().to_string(),
        _ => name.clone(),
    };
    let no_worse = match args.no_worse_than.clone().or_else(|| stated.no_worse_than.as_ref().map(beside)) {
        None => None,
        Some(reference) => {
            let sides = sides(&reference, args)?;
            let rules = Rules { margin, seed: args.seed, ..Rules::default() };
            Some(NoWorse { label: reference, sides, metrics, rules, intersection: args.intersection })
        }
    };
    let demands = Demands {
        bounds: min.chain(max).chain(stated.rules).collect(),
        no_worse,
        max_cost: args.max_cost.or(stated.max_cost),
        licence: args.require_judge_licence.or(stated.judge_licence),
        allow_small_n: args.allow_small_n || stated.allow_small_n,
    };
    let nothing = demands.bounds.is_empty() && demands.no_worse.is_none();
    if nothing && demands.max_cost.is_none() && demands.licence.is_none() {
        return Err(Failure::usage("no demands; use --min f1=0.6, --no-worse-than BASELINE or --rules FILE"));
    }
    Ok(demands)
}

/// Every tool of the `--no-worse-than` baseline.
fn sides(reference: &str, args: &GateArgs) -> Result<Vec<Side>, Failure> {
    if !store_path::names_run(reference, args.store.folder.as_deref()) && !Path::new(reference).exists() {
        let message = format!("{reference} is missing; write it with: karat baseline write RUN -o {reference}");
        return Err(Failure::bad_input(message));
    }
    let old: Source = report_source::source(reference, &args.store)?;
    let side = |tool: &str| old.side(tool, format!("{tool} ({reference})"));
    Ok(old.tools().into_iter().filter_map(side).collect())
}
