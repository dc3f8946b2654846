//! Renders what a fixer made of findings, for a terminal and as Markdown.

use super::grid::{self, Cell};
use super::markdown::escape;
use super::number::{span, three};
use super::terminal::{BOLD, DIM, TerminalStyle, beside, heading, indented, more, paint};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::{count, plural};
use karat_format::diagnostic::harmless;
use karat_format::fix::{FixReportV1, FixV1, FixVerdictV1, FixedToolV1};
use karat_format::report::EstimateV1;

/// Findings that are listed unless everything is wanted.
const MOST_LISTED: usize = 12;

struct Column {
    title: &'static str,
    value: fn(&FixedToolV1) -> String,
    estimate: fn(&FixedToolV1) -> Option<&EstimateV1>,
    /// Whether it is left out where every tool has 0.
    is_rare: bool,
}

impl Column {
    const fn count(title: &'static str, value: fn(&FixedToolV1) -> String, is_rare: bool) -> Self {
        Self { title, value, estimate: |_| None, is_rare }
    }

    fn interval(&self, tool: &FixedToolV1) -> Option<String> {
        (self.estimate)(tool)?.ci.map(|ci| span(Some(ci)))
    }
}

static COLUMNS: [Column; 8] = [
    Column::count("goldens", |tool| tool.trials.to_string(), false),
    Column::count("found", |tool| tool.found.to_string(), false),
    Column::count("repaired", |tool| tool.repaired.to_string(), false),
    Column::count("not repaired", |tool| tool.not_repaired.to_string(), false),
    Column::count("broken", |tool| tool.broken.to_string(), true),
    Column::count("fixer failed", |tool| tool.failed.to_string(), true),
    Column {
        title: "fix-through",
        value: |tool| three(tool.fix_through.value),
        estimate: |tool| Some(&tool.fix_through),
        is_rare: false,
    },
    Column {
        title: "of found",
        value: |tool| three(tool.fix_through_found.value),
        estimate: |tool| Some(&tool.fix_through_found),
        is_rare: false,
    },
];

/// Renders the figures of every tool, and the findings that were not repaired.
pub fn draw(report: &FixReportV1, terminal: &TerminalStyle) -> String {
    let fixer = &report.fixer;
    let version = fixer.version.iter().chain(&fixer.model).map(|own| format!(" · {}", harmless(own)));
    let facts = format!("fixer {}{}", harmless(&fixer.name), version.collect::<String>());
    let mut out = format!("{}\n", beside(&harmless(&report.suite), "  ", &facts, terminal));
    let columns = columns(report);
    let mut rows = vec![grid::header("tool", columns.iter().map(|column| column.title))];
    for tool in &report.tools {
        let mut row = vec![Cell::left(&tool.tool)];
        row.extend(columns.iter().map(|column| Cell::right((column.value)(tool))));
        rows.push(row);
        let mut beneath = vec![Cell::left("")];
        beneath.extend(columns.iter().map(|column| Cell::right(column.interval(tool).unwrap_or_default()).styled(DIM)));
        rows.push(beneath);
    }
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out.extend(notes(report).iter().map(|note| indented(note, DIM, terminal)));
    out + &unrepaired(report, terminal) + &left_out(report, terminal)
}

/// Renders the same as Markdown.
pub fn markdown(report: &FixReportV1) -> String {
    let mut out = format!("## Karat: {}, fixer {}\n\n", escape(&report.suite), escape(&report.fixer.name));
    let columns = columns(report);
    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    out.push_str(&format!("| tool | {} |\n|---|{}\n", titles.join(" | "), "---:|".repeat(titles.len())));
    for tool in &report.tools {
        let cells = columns.iter().map(|column| {
            let interval = column.interval(tool).map(|interval| format!(" ({interval})")).unwrap_or_default();
            format!("{}{interval}", (column.value)(tool))
        });
        out.push_str(&format!("| {} | {} |\n", escape(&tool.tool), cells.collect::<Vec<_>>().join(" | ")));
    }
    out.push('\n');
    for note in notes(report) {
        out.push_str(&format!("- {}\n", escape(&note)));
    }
    let open: Vec<&FixV1> = report.fixes.iter().filter(|fix| fix.verdict != FixVerdictV1::Repaired).collect();
    if !open.is_empty() {
        out.push_str(&format!("\n<details><summary>Not repaired ({})</summary>\n\n", open.len()));
        for fix in open {
            let reason = fix.reason.as_deref().map(|reason| format!(", {}", escape(reason))).unwrap_or_default();
            let (tool, case, golden) = (escape(&fix.tool), escape(&fix.case), escape(&fix.golden));
            out.push_str(&format!(
                "- {tool}, {case} {golden}, trial {}: {}{reason}\n",
                fix.trial,
                fix.verdict.describe()
            ));
        }
        out.push_str("\n</details>\n");
    }
    for golden in &report.left_out {
        let (case, id) = (escape(&golden.case), escape(&golden.golden));
        out.push_str(&format!("- left out: {case} {id}, its proof: {}\n", golden.verdict.describe()));
    }
    out
}

fn columns(report: &FixReportV1) -> Vec<&'static Column> {
    let says_something =
        |column: &&Column| !column.is_rare || report.tools.iter().any(|tool| (column.value)(tool) != "0");
    COLUMNS.iter().filter(says_something).collect()
}

/// What to know of the figures.
fn notes(report: &FixReportV1) -> Vec<String> {
    let mut notes = Vec::new();
    if report.tools.iter().any(|tool| tool.trials > tool.goldens) {
        notes.push(
            "Goldens, found and what follows are counted in every trial; the shares weigh each golden once.".to_owned(),
        );
    }
    let least = report.tools.iter().map(|tool| tool.fix_through.n).min().unwrap_or_default();
    if least < RELIABLE_N {
        notes.push(format!("n = {least}: too few goldens to rely on."));
    }
    let failed: usize = report.tools.iter().map(|tool| tool.failed).sum();
    if failed > 0 {
        notes.push(format!("The fixer failed on {}: not repaired.", count(failed, "finding")));
    }
    let unavailable: usize = report.tools.iter().map(|tool| tool.unavailable).sum();
    if unavailable > 0 {
        notes.push(format!("The fixer met an outage on {}: in no figure.", count(unavailable, "finding")));
    }
    if !report.left_out.is_empty() {
        let (one, many) = ("golden has a proof that does", "goldens have proofs that do");
        notes.push(format!("{} not hold here: in no figure.", plural(report.left_out.len(), one, many)));
    }
    if report.without_proof > 0 {
        let (one, many) = ("required golden has no proof", "required goldens have no proof");
        notes.push(format!("{}: in no figure.", plural(report.without_proof, one, many)));
    }
    let kept = report.fixes.iter().filter(|fix| fix.is_kept).count();
    if kept > 0 {
        notes.push(format!("The fixer was not run again on {}.", count(kept, "finding")));
    }
    notes
}

fn unrepaired(report: &FixReportV1, terminal: &TerminalStyle) -> String {
    let open: Vec<&FixV1> = report.fixes.iter().filter(|fix| fix.verdict != FixVerdictV1::Repaired).collect();
    if open.is_empty() {
        return String::new();
    }
    let most = if terminal.verbosity.verbose { open.len() } else { MOST_LISTED };
    let row = |fix: &&FixV1| {
        let golden = format!("{} {}", fix.case, fix.golden);
        let reason = fix.reason.as_deref().unwrap_or_default();
        vec![Cell::left(&fix.tool), Cell::left(golden), Cell::left(fix.verdict.describe()), Cell::folded(reason)]
    };
    let rows: Vec<Vec<Cell>> = open.iter().take(most).map(row).collect();
    let mut out = heading("Not repaired", terminal) + &grid::draw(&rows, terminal.width, terminal.colour);
    out.push_str(&more(open.len(), most, " with -v", terminal));
    out
}

fn left_out(report: &FixReportV1, terminal: &TerminalStyle) -> String {
    if report.left_out.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<Cell>> = report
        .left_out
        .iter()
        .map(|golden| {
            let reason = golden.reason.as_deref().unwrap_or_default();
            let name = format!("{} {}", golden.case, golden.golden);
            vec![Cell::left(name), Cell::left(golden.verdict.describe()), Cell::folded(reason)]
        })
        .collect();
    let head = paint("Left out", BOLD, terminal);
    format!("\n{head}: their proofs decide nothing here\n{}", grid::draw(&rows, terminal.width, terminal.colour))
}
