//! Renders a comparison for a terminal and as Markdown.

use super::grid::{self, Cell};
use super::markdown::{self, escape};
use super::number::{at_most, interval, or_dash, p_value, rank_set, signed, three, title, unseen};
use super::terminal::{
    BAD, BOLD, DIM, GOOD, TerminalStyle, WARNING, beside, folded, heading, indented, paint, warnings,
};
use anstyle::Style;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::count;
use karat_format::comparison::{
    CaseMovedV1, ComparisonV1, ConclusionV1, DifferenceV1, OtherJudgesV1, PairV1, RankTestV1, RanksV1,
};
use karat_format::diagnostic::harmless;

const MOST_MOVED: usize = 8;

/// Renders every pair of tools, or the ranks, and the warnings.
pub fn draw(comparison: &ComparisonV1, terminal: &TerminalStyle) -> String {
    let parts: Vec<String> = match &comparison.ranks {
        Some(ranks) => vec![draw_ranks(comparison, ranks, terminal)],
        None => comparison.comparisons.iter().map(|pair| draw_pair(comparison, pair, terminal)).collect(),
    };
    let judges: String = comparison.other_judges().into_iter().map(|own| draw_other_judges(own, terminal)).collect();
    judges + &parts.join("\n") + &warnings(&comparison.warnings, terminal)
}

/// That other judges decided, and what to do about it: before any figure.
pub(crate) fn draw_other_judges(own: &OtherJudgesV1, terminal: &TerminalStyle) -> String {
    let style = if own.compared { WARNING } else { WARNING.bold() };
    let lines = |text: &str, style| folded("", &harmless(text), style, terminal);
    lines(&format!("{}.", capitalised_start(&own.sentence)), style) + &lines(&advice(own), DIM) + "\n"
}

fn advice(own: &OtherJudgesV1) -> String {
    match own.compared {
        true => format!("Compared all the same (--across-judges); to {}.", own.advice),
        false => format!("No verdict; {}, or compare anyway with --across-judges.", own.advice),
    }
}

/// The same in Markdown.
pub(crate) fn markdown_other_judges(own: &OtherJudgesV1) -> String {
    format!("\n**{}.** {}\n", escape(&capitalised_start(&own.sentence)), escape(&advice(own)))
}

fn draw_pair(comparison: &ComparisonV1, pair: &PairV1, terminal: &TerminalStyle) -> String {
    let head = format!("{} → {}", harmless(&pair.a.label), harmless(&pair.b.label));
    let facts = format!("{} · profile {}", count(pair.cases, "case"), harmless(&comparison.profile));
    let mut out = format!("{}\n", beside(&head, "  ", &facts, terminal));
    if let Some(twisted) = &pair.twisted {
        out.push_str(&folded("", &harmless(&capitalised(&twisted.statement)), BOLD, terminal));
        out.push('\n');
    }
    let level = format!("{:.0} % interval", 100.0 * comparison.level);
    let mut rows = vec![grid::header("metric", ["from", "to", "change", "", "p", ""])];
    rows[0][4] = Cell::left(level).styled(DIM);
    rows[0][6] = Cell::left("verdict").styled(DIM);
    for row in &pair.metrics {
        let values = [Cell::left(title(&row.metric)), Cell::right(three(row.a)), Cell::right(three(row.b))];
        rows.push(values.into_iter().chain(difference_cells(row)).collect());
    }
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out.extend(footnotes(comparison, pair).iter().map(|line| indented(line, DIM, terminal)));
    out.push_str(&goldens(pair, terminal));
    out.push_str(&moved(pair, terminal));
    out
}

fn capitalised(statement: &str) -> String {
    capitalised_start(statement) + "."
}

fn capitalised_start(statement: &str) -> String {
    let mut letters = statement.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

pub(super) fn difference_cells(row: &DifferenceV1) -> [Cell; 4] {
    let style = match row.verdict {
        ConclusionV1::Better => GOOD,
        ConclusionV1::Worse => BAD,
        ConclusionV1::Equivalent | ConclusionV1::Identical => Style::new(),
        ConclusionV1::Inconclusive => WARNING,
    };
    let verdict = Cell::left(row.verdict.as_str()).styled(style);
    [
        Cell::right(signed(row.difference)),
        Cell::left(interval(row.ci, signed)),
        Cell::right(p_value(row.p_holm)),
        verdict,
    ]
}

/// How p was adjusted, what differences were detectable, and what was left out.
fn footnotes(comparison: &ComparisonV1, pair: &PairV1) -> Vec<String> {
    let mut lines = Vec::new();
    let families = comparison.comparisons.len();
    let margin = format!("differences within ±{} count as equivalent", at_most(comparison.margin, 3));
    let adjusted =
        if families > 1 { format!("p adjusted for {families} comparisons (Holm) · ") } else { String::new() };
    lines.push(format!("{adjusted}{margin}"));
    // Metrics with the same reason share a line.
    let mut shared: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &pair.metrics {
        let Some(why) = reason(row) else { continue };
        match shared.iter_mut().find(|(own, _)| *own == why) {
            Some((_, metrics)) => metrics.push(title(&row.metric)),
            None => shared.push((why, vec![title(&row.metric)])),
        }
    }
    lines.extend(shared.iter().map(|(why, metrics)| format!("{}: {why}", metrics.join(", "))));
    if let Some(cases) = pair.metrics.iter().map(|row| row.left_out).max().filter(|cases| *cases > 0) {
        lines.push(format!("{} excluded: only one side has trials that count", count(cases, "case")));
    }
    let Some(first) = pair.metrics.first() else { return lines };
    let noun = if comparison.cluster.is_some() { "cluster" } else { "case" };
    let mut same: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &pair.metrics {
        let Some(text) = unseen(row, noun) else { continue };
        match same.iter_mut().find(|(own, _)| *own == text) {
            Some((_, metrics)) => metrics.push(title(&row.metric)),
            None => same.push((text, vec![title(&row.metric)])),
        }
    }
    lines.extend(same.iter().map(|(text, metrics)| format!("{}: identical, {text}", metrics.join(", "))));
    if let Some(least) = first.detectable {
        let units = count(first.units, noun);
        let metric = title(&first.metric);
        lines.push(format!("{metric}: with {units} a difference of {least:.3} would be detected 4 times out of 5"));
    }
    let few =
        || pair.metrics.iter().filter(|row| row.unreliable && row.n > 0 && row.unseen.is_none()).map(|row| row.units);
    if let (Some(least), Some(most)) = (few().min(), few().max()) {
        let n = if least < most { format!("{least} to {most} {noun}s") } else { count(most, noun) };
        lines.push(format!("n = {n}: too few to rely on ({RELIABLE_N} wanted)"));
    }
    lines
}

/// The reason, unless the numbers of the row already show it.
fn reason(row: &DifferenceV1) -> Option<&str> {
    if row.verdict == ConclusionV1::Identical {
        return None;
    }
    let open = row.verdict == ConclusionV1::Inconclusive && row.p_holm.is_some_and(|p| p > 0.05) && row.ci.is_some();
    let holds_zero = row.ci.is_some_and(|[low, high]| low <= 0.0 && high >= 0.0);
    let plain = row.ci.is_some_and(|[low, high]| low != high) && row.verdict != ConclusionV1::Inconclusive;
    (!(plain || open && holds_zero && !row.unreliable)).then_some(row.because.as_str())
}

fn goldens(pair: &PairV1, terminal: &TerminalStyle) -> String {
    let goldens = &pair.goldens;
    if goldens.gained.is_empty() && goldens.lost.is_empty() {
        if goldens.both + goldens.neither == 0 {
            return String::new();
        }
        return "\nBoth find the same goldens in most of their trials.\n".to_owned();
    }
    let mut out = heading("Changed goldens", terminal) + &indented(&mcnemar(pair), DIM, terminal);
    for (side, moved) in [(&pair.b, &goldens.gained), (&pair.a, &goldens.lost)] {
        if moved.is_empty() {
            continue;
        }
        let head = format!("Only {} finds ({})", side.label, moved.len());
        out.push_str(&grid::fit(&format!("  {}", harmless(&head)), terminal.width));
        out.push('\n');
        let most = if terminal.verbosity.verbose { usize::MAX } else { MOST_MOVED };
        for one in moved.iter().take(most) {
            let ([a, a_of], [b, b_of]) = (one.a, one.b);
            let found = format!("{a}/{a_of} → {b}/{b_of}");
            let line = format!("    {}: {}", harmless(&one.case), harmless(&one.title));
            let line = grid::fit(&line, terminal.width.saturating_sub(found.chars().count() + 2));
            out.push_str(&format!("{line}  {}\n", paint(&found, DIM, terminal)));
        }
        if moved.len() > most {
            let more = format!("and {} more with -v", moved.len() - most);
            out.push_str(&format!("    {}\n", paint(&more, DIM, terminal)));
        }
    }
    out
}

fn mcnemar(pair: &PairV1) -> String {
    let goldens = &pair.goldens;
    let flaky = match goldens.flaky {
        0 => String::new(),
        n => format!("; {n} of them in some trials only"),
    };
    let p = match p_value(Some(goldens.p)) {
        p if p.starts_with('<') => p.replacen('<', "< ", 1),
        p => format!("= {p}"),
    };
    let (gained, lost) = (goldens.gained.len(), goldens.lost.len());
    let (both, neither) = (goldens.both, goldens.neither);
    format!("{gained} gained, {lost} lost, {both} found by both, {neither} by neither{flaky}: McNemar p {p}")
}

fn moved(pair: &PairV1, terminal: &TerminalStyle) -> String {
    let Some(first) = pair.moved.first() else { return String::new() };
    let row = |one: &CaseMovedV1| {
        vec![
            Cell::left(&one.case),
            Cell::right(three(Some(one.a))),
            Cell::left("→"),
            Cell::left(three(Some(one.b))),
            Cell::right(signed(Some(one.difference))),
        ]
    };
    let rows: Vec<Vec<Cell>> = pair.moved.iter().map(row).collect();
    let table = grid::draw(&rows, terminal.width, terminal.colour);
    heading(&format!("Most changed cases ({})", title(&first.metric)), terminal) + &table
}

fn draw_ranks(comparison: &ComparisonV1, ranks: &RanksV1, terminal: &TerminalStyle) -> String {
    let head = format!("{} ranked by {}", harmless(&comparison.suite), title(&ranks.metric));
    let facts = format!("{} · profile {}", count(ranks.tools.len(), "tool"), harmless(&comparison.profile));
    let mut out = beside(&head, "  ", &facts, terminal);
    out.push_str(&folded("", &harmless(&ranks.statement), BOLD, terminal));
    out.push('\n');
    let heads = ["rank", title(&ranks.metric), "", "better than", "worse than"];
    let mut rows = vec![grid::header("tool", heads)];
    rows[0][3] = Cell::left("interval").styled(DIM);
    for tool in &ranks.tools {
        let [better, worse] = wins_and_losses(ranks, &tool.tool);
        rows.push(vec![
            Cell::left(&tool.tool).styled(BOLD),
            Cell::right(or_dash(rank_set(tool))),
            Cell::right(three(tool.value)),
            Cell::left(interval(tool.ci, three)),
            Cell::right(better.to_string()).styled(if better > 0 { GOOD } else { DIM }),
            Cell::right(worse.to_string()).styled(if worse > 0 { BAD } else { DIM }),
        ]);
    }
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out.push_str(&indented(&rank_method(ranks), DIM, terminal));
    out
}

fn wins_and_losses(ranks: &RanksV1, tool: &str) -> [usize; 2] {
    let is_own = |pair: &&RankTestV1| pair.a == tool || pair.b == tool;
    let winners = || ranks.pairs.iter().filter(is_own).filter_map(|pair| pair.better.as_deref());
    [winners().filter(|better| *better == tool).count(), winners().filter(|better| *better != tool).count()]
}

fn rank_method(ranks: &RanksV1) -> String {
    let tests = ranks.pairs.iter().filter(|pair| pair.p.is_some()).count();
    let percent = 100.0 * ranks.level;
    format!("{percent:.0} % simultaneous confidence sets of ranks: {} of all pairs (Holm)", count(tests, "test"))
}

/// Renders every pair of tools, or the ranks, and the warnings as Markdown.
pub fn markdown(comparison: &ComparisonV1) -> String {
    let mut out = format!("## Karat: {}\n", escape(&comparison.suite));
    out.extend(comparison.other_judges().into_iter().map(markdown_other_judges));
    match &comparison.ranks {
        Some(ranks) => out.push_str(&markdown_ranks(ranks)),
        None => comparison.comparisons.iter().for_each(|pair| out.push_str(&markdown_pair(comparison, pair))),
    }
    out + &markdown::warnings(&comparison.warnings)
}

fn markdown_pair(comparison: &ComparisonV1, pair: &PairV1) -> String {
    let (a, b, profile) = (escape(&pair.a.label), escape(&pair.b.label), escape(&comparison.profile));
    let mut out = format!("\n### {a} → {b}\n\n{}, profile {profile}\n\n", count(pair.cases, "case"));
    if let Some(twisted) = &pair.twisted {
        out.push_str(&format!("**{}**\n\n", escape(&capitalised(&twisted.statement))));
    }
    let level = 100.0 * comparison.level;
    out.push_str(&format!("| metric | from | to | change | {level:.0} % interval | p | verdict |\n"));
    out.push_str("|---|---:|---:|---:|---|---:|---|\n");
    for row in &pair.metrics {
        let (metric, from, to) = (escape(title(&row.metric)), three(row.a), three(row.b));
        out.push_str(&format!("| {metric} | {from} | {to} {}", markdown_cells(row)));
    }
    out.push('\n');
    for line in footnotes(comparison, pair) {
        out.push_str(&format!("- {}\n", escape(&line)));
    }
    let goldens = &pair.goldens;
    if goldens.gained.is_empty() && goldens.lost.is_empty() {
        return out;
    }
    out.push_str(&format!("- {}\n", escape(&mcnemar(pair))));
    for (side, moved) in [(&pair.b, &goldens.gained), (&pair.a, &goldens.lost)] {
        if moved.is_empty() {
            continue;
        }
        let head = format!("Only {} finds ({})", escape(&side.label), moved.len());
        out.push_str(&format!("\n<details><summary>{head}</summary>\n\n"));
        for one in moved {
            let ([a, a_of], [b, b_of]) = (one.a, one.b);
            let (case, title) = (escape(&one.case), escape(&one.title));
            out.push_str(&format!("- {case}: {title} ({a}/{a_of} → {b}/{b_of})\n"));
        }
        out.push_str("\n</details>\n");
    }
    out
}

pub(crate) fn markdown_cells(row: &DifferenceV1) -> String {
    let (change, p, verdict) = (signed(row.difference), escape(&p_value(row.p_holm)), row.verdict.as_str());
    format!("| {change} | {} | {p} | **{verdict}** |\n", interval(row.ci, signed))
}

fn markdown_ranks(ranks: &RanksV1) -> String {
    let metric = escape(title(&ranks.metric));
    let mut out = format!("\n**{}**\n\n", escape(&ranks.statement));
    out.push_str(&format!("| rank | tool | {metric} | interval | better than | worse than |\n"));
    out.push_str("|---:|---|---:|---|---:|---:|\n");
    for tool in &ranks.tools {
        let [better, worse] = wins_and_losses(ranks, &tool.tool);
        let (rank, name, value) = (or_dash(rank_set(tool)), escape(&tool.tool), three(tool.value));
        let ci = interval(tool.ci, three);
        out.push_str(&format!("| {rank} | {name} | {value} | {ci} | {better} | {worse} |\n"));
    }
    out.push_str(&format!("\n{}\n", escape(&rank_method(ranks))));
    out
}
