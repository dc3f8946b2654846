//! Pooled figures, before and after correcting for judge errors.

use super::{BOLD, DIM, TerminalStyle, paint};
use crate::grid::{self, Cell};
use crate::number::{ranked, span, three};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{CorrectedToolV1, CorrectedV1, ReportV1};
use std::collections::BTreeMap;

pub(super) fn draw(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let head = ["tool", "", "judge says", "Rogan–Gladen", "", "PPI++", ""];
    let mut rows = vec![head.map(|name| Cell::right(name).styled(DIM)).to_vec()];
    rows[0][0] = Cell::left("tool").styled(DIM);
    // By method and reason, the tools and their metrics.
    let mut refused: BTreeMap<(&str, &str), BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    let mut labels = Vec::new();
    for tool in ranked(report) {
        let Some(own) = &tool.corrected else { continue };
        let CorrectedToolV1 { precision, recall, f1, .. } = own;
        for (number, (name, metric)) in
            [("precision", precision), ("recall", recall), ("F1", f1)].into_iter().enumerate()
        {
            let mut row = vec![Cell::left(if number == 0 { tool.tool.as_str() } else { "" }), Cell::left(name)];
            row.push(Cell::right(three(metric.raw)));
            for (method, figure) in [("Rogan–Gladen", &metric.rogan_gladen), ("PPI++", &metric.ppi)] {
                let (value, ci) = match figure {
                    CorrectedV1::Value { value, ci, .. } => (Some(*value), Some(*ci)),
                    CorrectedV1::Refused { refused: why } => {
                        let tools = refused.entry((method, why.as_str())).or_default();
                        tools.entry(harmless(&tool.tool).to_string()).or_default().push(name);
                        (None, None)
                    }
                };
                row.push(Cell::right(three(value)));
                row.push(Cell::left(ci.map_or_else(String::new, |ci| span(Some(ci)))).styled(DIM));
            }
            rows.push(row);
        }
        let (findings, goldens) = (count(own.labelled_findings, "finding"), count(own.labelled_goldens, "golden"));
        labels.push(format!("{}: labels of {findings} and {goldens}", harmless(&tool.tool)));
    }
    if rows.len() == 1 {
        return String::new();
    }
    let heading = paint("Corrected for judge errors", BOLD, terminal);
    let mut out = format!("\n{heading} {}\n", paint("(pooled over cases)", DIM, terminal));
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    let subject = |(tool, metrics): (&String, &Vec<&str>)| {
        if metrics.len() == 3 { tool.clone() } else { format!("{tool} ({})", metrics.join(", ")) }
    };
    let reasons = refused.iter().map(|((method, why), tools)| {
        let tools: Vec<String> = tools.iter().map(subject).collect();
        format!("no {method} for {}: {why}", tools.join(", "))
    });
    let reasons: Vec<String> = reasons.collect();
    for line in labels.iter().chain(&reasons) {
        for line in grid::wrap(line, terminal.width.saturating_sub(2)) {
            out.push_str(&format!("  {}\n", paint(&line, DIM, terminal)));
        }
    }
    out
}
