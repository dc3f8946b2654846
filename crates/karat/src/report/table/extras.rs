//! Findings that no golden names and nobody has looked at, and what that leaves open.

use super::{BOLD, DIM, Look, paint, told};
use crate::diagnostic::harmless;
use crate::format::report::{PooledExtraV1, ReportV1, ToolV1};
use crate::report::grid;
use crate::report::number::{count, ranked, three};

/// So many things that several tools report are named.
const MOST_POOLS: usize = 3;

/// How many extras each tool has that nobody has labelled, and what most tools report of them.
pub(super) fn draw(report: &ReportV1, look: &Look) -> String {
    let tools: Vec<&ToolV1> = ranked(report).into_iter().filter(|tool| tool.unlabelled_extras > 0).collect();
    if tools.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint("Extras nobody has labelled", BOLD, look));
    for tool in tools {
        let bound = |id: &str| tool.metrics.get(id).and_then(|estimate| estimate.value);
        let bounds = match (bound("precision_lower"), bound("precision_upper")) {
            (Some(low), Some(high)) => {
                format!("; precision is between {} and {} meanwhile", three(Some(low)), three(Some(high)))
            }
            _ => String::new(),
        };
        out.push_str(&told(&format!("{}: {}{bounds}", tool.tool, tool.unlabelled_extras), look));
    }
    for pool in report.pooled_extras.iter().take(MOST_POOLS) {
        out.push_str(&grid::fit(&format!("  {}", harmless(&pooled(pool))), look.width));
        out.push('\n');
    }
    let next = "`karat label extras` shows them, first what leaves precision most open";
    for line in grid::fold(next, look.width.saturating_sub(2)) {
        out.push_str(&format!("  {}\n", paint(&line, DIM, look)));
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
