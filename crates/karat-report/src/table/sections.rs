//! Sections of the report that not every suite has: composites, corrected figures and unlabelled extras.

use super::{BOLD, DIM, Detail, TerminalStyle, folded, hanging, heading, indented, paint};
use crate::facts::{AUDIT_AGREEMENT_CELLS, audit_agreement_cells, undefined_agreements};
use crate::grid::{self, Cell};
use crate::number::{ranked, span, three, title};
use karat_core::profile::Method;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{AuditAgreementV1, CorrectedV1, PooledExtraV1, ReportV1, ToolV1};
use std::collections::BTreeMap;

const COMPOSITES: [&str; 5] =
    ["sui", "sui_rank_stability", "true_understanding_score", "true_understanding_geometric", "lucky_guess_indicator"];

pub(super) fn composites(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let value = |tool: &ToolV1, id: &str| tool.metrics.get(id).and_then(|e| e.value);
    let tools: Vec<&ToolV1> = ranked(report).into_iter().filter(|tool| value(tool, "sui").is_some()).collect();
    if tools.is_empty() {
        return None;
    }
    // A figure that no tool has gets no column.
    let ids: Vec<&str> =
        COMPOSITES.into_iter().filter(|id| tools.iter().any(|tool| value(tool, id).is_some())).collect();
    let mut rows = vec![grid::header("tool", ids.iter().map(|id| short(id)))];
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
    let caveat = "A composite hides its components, and its weights are not measured: read the numbers above first. \
                  Stability is the share of other weightings that leave a tool its rank by SUI.";
    let table = grid::draw(&rows, terminal.width, terminal.colour);
    Detail::new("composites", heading("Composites", terminal) + &table + &indented(caveat, DIM, terminal))
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

/// What `karat fix` adds to a report, if it did.
pub(super) fn fix_through(report: &ReportV1, terminal: &TerminalStyle) -> String {
    const IDS: [&str; 2] = ["fix_through", "fix_through_found"];
    // Without a fixer, the metrics are there and have no value.
    let value = |tool: &ToolV1, id: &str| tool.metrics.get(id).and_then(|own| own.value);
    let has_any = |tool: &&ToolV1| IDS.iter().any(|id| value(tool, id).is_some());
    let tools: Vec<&ToolV1> = ranked(report).into_iter().filter(has_any).collect();
    if tools.is_empty() {
        return String::new();
    }
    let mut rows = vec![grid::header("tool", [title(IDS[0]), "", "of found", ""])];
    for tool in tools {
        let mut row = vec![Cell::left(&tool.tool)];
        for id in IDS {
            row.push(Cell::right(three(value(tool, id))));
            let ci = tool.metrics.get(id).and_then(|own| own.ci);
            row.push(Cell::left(ci.map_or_else(String::new, |ci| span(Some(ci)))).styled(DIM));
        }
        rows.push(row);
    }
    format!("\n{}", grid::draw(&rows, terminal.width, terminal.colour))
}

pub(super) fn corrected(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut rows = vec![grid::header("tool", ["", "judge says", "Rogan–Gladen", "", "PPI++", ""])];
    // By method and reason, the tools and their metrics.
    let mut refused: BTreeMap<(&str, &str), BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    let mut labels = Vec::new();
    for tool in ranked(report) {
        let Some(own) = &tool.corrected else { continue };
        let metrics = [("precision", &own.precision), ("recall", &own.recall), ("F1", &own.f1)];
        for (number, (name, metric)) in metrics.into_iter().enumerate() {
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
    out.extend(labels.into_iter().chain(reasons).map(|line| indented(&line, DIM, terminal)));
    out
}

/// How many findings of each tool audits judged, and as what.
pub(super) fn audited_findings(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut rows = vec![grid::header("tool", ["findings", "valid", "invalid", "hallucinated"])];
    for (tool, own) in ranked(report).into_iter().filter_map(|tool| Some((tool, tool.audited_findings?))) {
        let counts = [own.total, own.valid, own.invalid, own.hallucinated];
        let mut row = vec![Cell::left(&tool.tool)];
        row.extend(counts.map(|count| Cell::right(count.to_string())));
        rows.push(row);
    }
    if rows.len() == 1 {
        return String::new();
    }
    let heading = paint("Audited findings", BOLD, terminal);
    format!("\n{heading}\n{}", grid::draw(&rows, terminal.width, terminal.colour))
}

/// How far the judges agree on each decision of their audits.
pub(super) fn audit_agreement(agreement: &AuditAgreementV1, terminal: &TerminalStyle) -> String {
    let [first, others @ ..] = AUDIT_AGREEMENT_CELLS;
    let mut rows = vec![grid::header(first, others)];
    for field in &agreement.fields {
        let [name, cells @ ..] = audit_agreement_cells(field);
        let mut row = vec![Cell::left(name)];
        row.extend(cells.into_iter().map(Cell::right));
        rows.push(row);
    }
    let heading = paint("Agreement on audits", BOLD, terminal);
    let judges = harmless(&agreement.judges.join(", ")).into_owned();
    let mut out = format!("{heading} {}\n", paint(&format!("({judges})"), DIM, terminal));
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out.extend(undefined_agreements(agreement).iter().map(|line| indented(line, DIM, terminal)));
    out
}

const MOST_POOLS: usize = 3;

pub(super) fn extras(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    // Exact suites list all other findings below; recorded decisions are taken as they are.
    if report.profile.method != Method::Score || report.profile.expect_pass {
        return None;
    }
    let tools: Vec<&ToolV1> = ranked(report).into_iter().filter(|tool| tool.unlabelled_extras > 0).collect();
    if tools.is_empty() {
        return None;
    }
    let all: usize = tools.iter().map(|tool| tool.unlabelled_extras).sum();
    let mut out = heading("Unlabelled extras", terminal);
    for tool in tools {
        let bound = |id: &str| tool.metrics.get(id).and_then(|estimate| estimate.value);
        let bounds = match (bound("precision_lower"), bound("precision_upper")) {
            (Some(low), Some(high)) if three(Some(low)) != three(Some(high)) => {
                format!("; mean precision is between {} and {} until labelled", three(Some(low)), three(Some(high)))
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
    out.push_str(&folded("  ", next, DIM, terminal));
    Detail::new(count(all, "unlabelled extra"), out)
}

fn pooled(pool: &PooledExtraV1) -> String {
    let place = match (&pool.file, pool.line_start) {
        (Some(file), Some(line)) => format!("{file}:{line} "),
        (Some(file), None) => format!("{file} "),
        _ => String::new(),
    };
    format!("{} on {}: {place}{}", count(pool.tools.len(), "tool"), pool.case, pool.title)
}
