//! `karat power`.

use super::compare::refused;
use crate::args::PowerArgs;
use crate::exit::{Exit, Failure};
use crate::report_source;
use crate::terminal::{look, print, print_json};
use karat::power::{Question, Taken, of_pair, of_tool, stated};
use karat_core::clusters::ClusterBy;
use karat_format::power::PowerV1;
use karat_format::report::{ReportV1, ToolV1};
use karat_report::number::rank_metric;
use karat_report::power::draw;

pub(crate) fn run(args: &PowerArgs) -> Result<Exit, Failure> {
    if let Some(id) = &args.metric {
        super::metrics::named(id)?;
    }
    let answer = answer(args)?;
    if args.json {
        print_json(&answer)?;
    } else {
        print(&draw(&answer, &look()))?;
    }
    Ok(Exit::Ok)
}

fn answer(args: &PowerArgs) -> Result<PowerV1, Failure> {
    let mut reports = Vec::new();
    for reference in &args.reports {
        reports.push((reference.as_str(), report_source::report(reference, &args.store)?));
    }
    let Some((place, first)) = reports.first() else {
        let spread = args.std.ok_or_else(|| {
            Failure::usage("no report or run given to estimate the variance from; name one, or use --std 0.3")
        })?;
        return Ok(stated(spread, args.effect, args.power));
    };
    let metric = args.metric.as_deref().unwrap_or_else(|| rank_metric(first));
    let cluster = ClusterBy::parse(args.cluster.as_deref());
    let question = Question { metric, effect: args.effect, power: args.power, cluster: &cluster };
    let names: Vec<String> = args.tool.iter().chain(&args.tools).cloned().collect();
    let chosen = report_source::tools(first, &names, place)?;
    match chosen.as_slice() {
        [tool] => {
            let taken = judged(&reports, tool)?;
            let found = of_tool(&taken, &question).map_err(refused)?;
            found.ok_or_else(|| Failure::usage("no report or run given"))
        }
        [a, b] if reports.len() == 1 => {
            let of = |tool| Taken { report: first, tool };
            of_pair(of(a), of(b), &question).map_err(refused)
        }
        _ if reports.len() > 1 => {
            Err(Failure::usage("several reports must be of one tool with several judges; select the tool with --tool"))
        }
        several => {
            let there: Vec<&str> = several.iter().map(|tool| tool.tool.as_str()).collect();
            let there = there.join(", ");
            Err(Failure::usage(format!("select one tool with --tool, or two with --tools a,b; available: {there}")))
        }
    }
}

/// The same tool in every report; the reports must have the same cases and different judges.
fn judged<'r>(reports: &'r [(&str, ReportV1)], tool: &ToolV1) -> Result<Vec<Taken<'r>>, Failure> {
    let mut taken: Vec<Taken<'r>> = Vec::new();
    let mut judges: Vec<Vec<&str>> = Vec::new();
    for (place, report) in reports {
        let found = report.tools.iter().find(|own| own.tool == tool.tool);
        let there: Vec<&str> = report.tools.iter().map(|tool| tool.tool.as_str()).collect();
        let tool = found.ok_or_else(|| report_source::no_tool(place, &tool.tool, &there))?;
        if report.cases.iter().map(|case| &case.case).ne(reports[0].1.cases.iter().map(|case| &case.case)) {
            let message =
                format!("{} and {place} have different cases; score both against the same suite", reports[0].0);
            return Err(Failure::bad_input(message));
        }
        let own: Vec<&str> = report.judges.iter().map(|judge| judge.judge.as_str()).collect();
        if judges.contains(&own) {
            let message =
                format!("{place} has the same judge as another report; judge variance needs different judges");
            return Err(Failure::bad_input(message));
        }
        judges.push(own);
        taken.push(Taken { report, tool });
    }
    Ok(taken)
}
