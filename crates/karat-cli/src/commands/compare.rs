//! `karat compare`.

use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{self, Drawing};
use crate::report_source::{self, Source};
use crate::terminal::{look, print, print_json};
use karat::comparison::{Refusal, Request, Side, compare, ranks};
use karat_core::clusters::ClusterBy;
use karat_core::comparison::Rules;
use karat_format::comparison::ComparisonV1;
use karat_report::TerminalStyle;
use karat_report::compare::{draw, markdown};
use karat_report::number::rank_metric;

/// The output formats of a comparison.
const EXTENSIONS: [&str; 3] = ["json", "md", "txt"];

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    output_files::check(&args.outputs, &EXTENSIONS)?;
    for id in &args.metrics {
        super::metrics::named(id)?;
    }
    let comparison = if args.ranks { ranked(args)? } else { compared(args)? };
    if args.json {
        print_json(&comparison)?;
    } else {
        print(&draw(&comparison, &look()))?;
    }
    let drawn = [
        Drawing { extension: "json", draw: &|| output_files::json(&comparison) },
        Drawing { extension: "md", draw: &|| markdown::draw(&comparison) },
        Drawing { extension: "txt", draw: &|| draw(&comparison, &TerminalStyle { width: 100, colour: false }) },
    ];
    output_files::write(&args.outputs, &drawn, false)?;
    Ok(Exit::Ok)
}

fn request<'a>(args: &'a CompareArgs, cluster: &'a ClusterBy) -> Request<'a> {
    Request {
        metrics: &args.metrics,
        cluster,
        rules: Rules { margin: args.margin, seed: args.seed, ..Rules::default() },
        intersection: args.intersection,
    }
}

fn compared(args: &CompareArgs) -> Result<ComparisonV1, Failure> {
    let mut results = Vec::new();
    for reference in &args.reports {
        results.push((reference.as_str(), report_source::source(reference, &args.store)?));
    }
    let sides = sides(&results, args)?;
    let pairs: Vec<(&Side, &Side)> = sides.iter().map(|(a, b)| (a, b)).collect();
    compare(&pairs, &request(args, &ClusterBy::parse(args.cluster.as_deref()))).map_err(refused)
}

fn ranked(args: &CompareArgs) -> Result<ComparisonV1, Failure> {
    let [reference] = args.reports.as_slice() else {
        return Err(Failure::usage("--ranks ranks the tools of one report; use one run or report"));
    };
    let report = report_source::report(reference, &args.store)?;
    let tools = report_source::tools(&report, &args.tools, reference)?;
    if tools.len() < 2 {
        return Err(nothing_to_compare());
    }
    let id = match args.metrics.as_slice() {
        [] => rank_metric(&report),
        [id] => id,
        _ => return Err(Failure::usage("--ranks uses one metric; use --metric once")),
    };
    // Default: the metric by which the report ranks its tools.
    let cluster =
        args.cluster.as_deref().map_or_else(|| report.intervals.cluster_by(), |field| ClusterBy::parse(Some(field)));
    let typed = request(args, &cluster);
    let request = Request { rules: Rules { seed: Some(args.seed.unwrap_or(report.seed)), ..typed.rules }, ..typed };
    ranks(&report, &tools, id, &request).map_err(refused)
}

/// An error in arguments is a usage error; an error in reports is bad input.
pub(crate) fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::NoField { .. } => Failure::usage(refusal.to_string()),
        _ => Failure::bad_input(refusal.to_string()),
    }
}

/// The pairs of tools to compare: tools of one report, or each tool of the others with its namesake in the first.
fn sides(results: &[(&str, Source)], args: &CompareArgs) -> Result<Vec<(Side, Side)>, Failure> {
    match results {
        [only] => within(only, args),
        [first, others @ ..] => {
            if args.all_pairs {
                return Err(Failure::usage("--all-pairs compares the tools of one report; use one run or report"));
            }
            let mut pairs = Vec::new();
            for other in others {
                for (a, b) in between(first, other, &args.tools)? {
                    let label = |result: &(&str, Source), tool: &str| format!("{tool} ({})", result.0);
                    pairs.push((side(first, a, label(first, a))?, side(other, b, label(other, b))?));
                }
            }
            Ok(pairs)
        }
        [] => Err(nothing_to_compare()),
    }
}

/// Pairs the first tool of one result with each of the others, or all with all.
fn within(only: &(&str, Source), args: &CompareArgs) -> Result<Vec<(Side, Side)>, Failure> {
    let names: Vec<&str> = match args.tools.as_slice() {
        [] => only.1.tools(),
        some => some.iter().map(String::as_str).collect(),
    };
    let firsts = if args.all_pairs { names.len() } else { 1 };
    let mut pairs = Vec::new();
    for (at, a) in names.iter().enumerate().take(firsts) {
        for b in &names[at + 1..] {
            pairs.push((side(only, a, (*a).to_owned())?, side(only, b, (*b).to_owned())?));
        }
    }
    if pairs.is_empty() { Err(nothing_to_compare()) } else { Ok(pairs) }
}

/// Pairs the tools of two results: those named, those of the same name, or the only ones.
fn between<'n>(
    first: &'n (&str, Source),
    other: &'n (&str, Source),
    tools: &'n [String],
) -> Result<Vec<(&'n str, &'n str)>, Failure> {
    let (ours, theirs) = (first.1.tools(), other.1.tools());
    if let [a, b] = tools
        && ours.contains(&a.as_str())
        && theirs.contains(&b.as_str())
        && !(ours.contains(&b.as_str()) && theirs.contains(&a.as_str()))
    {
        return Ok(vec![(a, b)]);
    }
    let shared: Vec<(&str, &str)> = match tools {
        [] => ours.iter().filter(|tool| theirs.contains(tool)).map(|tool| (*tool, *tool)).collect(),
        some => some.iter().map(|name| (name.as_str(), name.as_str())).collect(),
    };
    match (shared.is_empty(), ours.as_slice(), theirs.as_slice()) {
        (false, ..) => Ok(shared),
        (true, [a], [b]) => Ok(vec![(a, b)]),
        (true, ..) => Err(Failure::usage(format!(
            "{} and {} have no tool in common; select one of each with --tools x,y",
            first.0, other.0
        ))),
    }
}

fn side(result: &(&str, Source), tool: &str, label: String) -> Result<Side, Failure> {
    result.1.side(tool, label).ok_or_else(|| report_source::no_tool(result.0, tool, &result.1.tools()))
}

fn nothing_to_compare() -> Failure {
    Failure::usage("only one tool; add a second run or report, or select two tools with --tools x,y")
}
