//! The composite indices, with the figures they are made of.

use super::{BOLD, DIM, TerminalStyle, paint};
use crate::grid::{self, Cell};
use crate::number::{ranked, span, three, title};
use karat_format::report::{ReportV1, ToolV1};

const IDS: [&str; 5] =
    ["sui", "sui_rank_stability", "true_understanding_score", "true_understanding_geometric", "lucky_guess_indicator"];

pub(super) fn draw(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let value = |tool: &ToolV1, id: &str| tool.metrics.get(id).and_then(|e| e.value);
    let tools: Vec<&ToolV1> = ranked(report).into_iter().filter(|tool| value(tool, "sui").is_some()).collect();
    if tools.is_empty() {
        return String::new();
    }
    // A figure that no tool has gets no column.
    let ids: Vec<&str> = IDS.into_iter().filter(|id| tools.iter().any(|tool| value(tool, id).is_some())).collect();
    let mut header = vec![Cell::left("tool").styled(DIM)];
    header.extend(ids.iter().map(|id| Cell::right(short(id)).styled(DIM)));
    let mut rows = vec![header];
    for tool in tools {
        let mut row = vec![Cell::left(&tool.tool)];
        row.extend(ids.iter().map(|id| Cell::right(three(value(tool, id)))));
        rows.push(row);
        let mut beneath = vec![Cell::left("")];
        let ci = |id: &&str| tool.metrics.get(*id).and_then(|e| e.ci);
        beneath
            .extend(ids.iter().map(|id| Cell::right(ci(id).map_or_else(String::new, |ci| span(Some(ci)))).styled(DIM)));
        rows.push(beneath);
    }
    let mut out =
        format!("\n{}\n{}", paint("Composites", BOLD, terminal), grid::draw(&rows, terminal.width, terminal.colour));
    let caveat = "A composite hides its components, and its weights are not measured: read the numbers above first. \
                  Stability is the share of other weightings that leave a tool its rank by SUI.";
    for line in grid::wrap(caveat, terminal.width.saturating_sub(2)) {
        out.push_str(&format!("  {}\n", paint(&line, DIM, terminal)));
    }
    out
}

fn short(id: &str) -> &str {
    match id {
        "sui_rank_stability" => "stability",
        "true_understanding_score" => "understanding",
        "true_understanding_geometric" => "geometric",
        "lucky_guess_indicator" => "luck",
        id => title(id),
    }
}
