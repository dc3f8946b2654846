//! Unlabelled extras and their effect on precision.

use super::{BOLD, DIM, TerminalStyle, hanging, paint};
use crate::grid;
use crate::number::{ranked, three};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{PooledExtraV1, ReportV1, ToolV1};

const MOST_POOLS: usize = 3;

pub(super) fn draw(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let tools: Vec<&ToolV1> = ranked(report).into_iter().filter(|tool| tool.unlabelled_extras > 0).collect();
    if tools.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint("Unlabelled extras", BOLD, terminal));
    for tool in tools {
        let bound = |id: &str| tool.metrics.get(id).and_then(|estimate| estimate.value);
        let bounds = match (bound("precision_lower"), bound("precision_upper")) {
            (Some(low), Some(high)) => {
                format!("; precision is between {} and {} until labelled", three(Some(low)), three(Some(high)))
            }
            _ => String::new(),
        };
        out.push_str(&hanging(&format!("{}: {}{bounds}", tool.tool, tool.unlabelled_extras), terminal));
    }
    for pool in report.pooled_extras.iter().take(MOST_POOLS) {
        out.push_str(&grid::fit(&format!("  {}", harmless(&pooled(pool))), terminal.width));
        out.push('\n');
    }
    let next = "`karat label extras` shows them, those that affect precision most first";
    for line in grid::fold(next, terminal.width.saturating_sub(2)) {
        out.push_str(&format!("  {}\n", paint(&line, DIM, terminal)));
    }
    out
}

fn pooled(pool: &PooledExtraV1) -> String {
    let place = match (&pool.file, pool.line_start) {
        (Some(file), Some(line)) => format!("{file}:{line} "),
        (Some(file), None) => format!("{file} "),
        _ => String::new(),
    };
    format!("{} on {}: {place}{}", count(pool.tools.len(), "tool"), pool.case, pool.title)
}
