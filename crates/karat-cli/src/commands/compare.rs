//! `karat compare`: two runs, two reports, or two tools of one, side by side.

use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{look, print, print_json};
use crate::{inputs, store_place, stored};
use karat::format::report::{ReportV1, ToolV1};
use karat::report::compare::{Comparison, Side, compare, draw};

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    for id in &args.metrics {
        super::metrics::named(id)?;
    }
    let mut reports = Vec::new();
    for reference in &args.reports {
        reports.push((reference.as_str(), report(reference, args.store.folder.as_deref())?));
    }
    let sides = sides(&reports, &args.tools)?;
    let mut comparisons = Vec::new();
    for (a, b) in &sides {
        let compared = compare(a.side(), b.side(), &args.metrics);
        comparisons.push(compared.map_err(|error| Failure::bad_input(error.to_string()))?);
    }
    if args.json {
        print_json(&comparisons)?;
    } else {
        let drawn: Vec<String> = comparisons.iter().map(|c: &Comparison| draw(c, &look())).collect();
        print(&drawn.join("\n"))?;
    }
    Ok(Exit::Ok)
}

/// A report by file or by run.
pub(super) fn report(reference: &str, folder: Option<&std::path::Path>) -> Result<ReportV1, Failure> {
    if std::path::Path::new(reference).is_file() {
        return inputs::report(std::path::Path::new(reference));
    }
    let mut store = store_place::open(folder)?;
    let (info, report) = stored::report(&mut store, reference)?;
    let done: u64 = info.outcomes.values().sum();
    if done < info.planned {
        return Err(Failure::bad_input(format!(
            "run {} is not finished: {done} of {} trials are done, and those that never ran would count as missed; go on with: karat run --resume {}",
            info.short_id, info.planned, info.short_id
        )));
    }
    Ok(report)
}

/// One side, and what it is called.
struct Named<'a> {
    label: String,
    report: &'a ReportV1,
    tool: &'a ToolV1,
}

impl Named<'_> {
    fn side(&self) -> Side<'_> {
        Side { label: &self.label, report: self.report, tool: self.tool }
    }
}

/// Which tool is held against which: two of one report, or each tool of the first against its namesake in every other.
fn sides<'a>(reports: &'a [(&str, ReportV1)], tools: &[String]) -> Result<Vec<(Named<'a>, Named<'a>)>, Failure> {
    let pick = |report: &'a (&str, ReportV1), name: &str, label: String| {
        let found = report.1.tools.iter().find(|tool| tool.tool == name);
        let tool = found.ok_or_else(|| {
            let there: Vec<&str> = report.1.tools.iter().map(|tool| tool.tool.as_str()).collect();
            Failure::usage(format!("{} has no tool `{name}`; there are {}", report.0, there.join(", ")))
        })?;
        Ok::<_, Failure>(Named { label, report: &report.1, tool })
    };
    match reports {
        [only] => {
            let names: Vec<&str> = match tools {
                [] => only.1.tools.iter().map(|tool| tool.tool.as_str()).collect(),
                some => some.iter().map(String::as_str).collect(),
            };
            let [first, others @ ..] = names.as_slice() else { return Err(nothing_to_compare()) };
            if others.is_empty() {
                return Err(nothing_to_compare());
            }
            let pair =
                |other: &&str| Ok((pick(only, first, (*first).to_owned())?, pick(only, other, (*other).to_owned())?));
            others.iter().map(pair).collect()
        }
        [first, others @ ..] => {
            let mut pairs = Vec::new();
            for other in others {
                let shared = first.1.tools.iter().filter(|tool| other.1.tools.iter().any(|o| o.tool == tool.tool));
                let mut names: Vec<(&str, &str)> = match tools {
                    [] => shared.map(|tool| (tool.tool.as_str(), tool.tool.as_str())).collect(),
                    some => some.iter().map(|name| (name.as_str(), name.as_str())).collect(),
                };
                if let ([], [a], [b]) = (names.as_slice(), first.1.tools.as_slice(), other.1.tools.as_slice()) {
                    names.push((&a.tool, &b.tool));
                }
                if names.is_empty() {
                    return Err(Failure::usage(format!("{} and {} have no tool in common", first.0, other.0)));
                }
                for (a, b) in names {
                    let label = |report: &(&str, ReportV1), tool: &str| format!("{tool} ({})", report.0);
                    pairs.push((pick(first, a, label(first, a))?, pick(other, b, label(other, b))?));
                }
            }
            Ok(pairs)
        }
        [] => Err(nothing_to_compare()),
    }
}

fn nothing_to_compare() -> Failure {
    Failure::usage("there is only one tool; name a second run or report, or two tools with --tools x,y")
}
