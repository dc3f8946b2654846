//! A comparison for people at a terminal.

pub mod markdown;

use super::Look;
use super::grid::{self, Cell};
use super::number::{count, p_value, rank_set, signed, three, title};
use crate::diagnostic::harmless;
use crate::format::comparison::{
    CaseMovedV1, ComparisonV1, ConclusionV1, DifferenceV1, GoldenMovedV1, PairV1, RankTestV1, RanksV1,
};
use anstyle::{AnsiColor, Style};
use karat_core::metric::estimate::RELIABLE_N;
use unicode_width::UnicodeWidthStr;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const CAREFUL: Style = AnsiColor::Yellow.on_default();

/// So many moved goldens are listed.
const MOST_MOVED: usize = 8;

/// Every two sides, or the ranks, and what to be careful of.
pub fn draw(comparison: &ComparisonV1, look: &Look) -> String {
    let parts: Vec<String> = match &comparison.ranks {
        Some(ranks) => vec![draw_ranks(comparison, ranks, look)],
        None => comparison.comparisons.iter().map(|pair| draw_pair(comparison, pair, look)).collect(),
    };
    let mut out = parts.join("\n");
    if !comparison.warnings.is_empty() {
        out.push_str(&format!("\n{}\n", paint("Be careful", CAREFUL.bold(), look)));
        for warning in &comparison.warnings {
            out.push_str(&indented(warning, Style::new(), look));
        }
    }
    out
}

fn paint(text: &str, style: Style, look: &Look) -> String {
    let plain = !look.colour || style == Style::new();
    if plain { text.to_owned() } else { format!("{}{text}{}", style.render(), style.render_reset()) }
}

/// Text within the width, two blanks in.
fn indented(text: &str, style: Style, look: &Look) -> String {
    let lines = grid::wrap(&harmless(text), look.width.saturating_sub(2));
    lines.iter().map(|line| format!("  {}\n", paint(line, style, look))).collect()
}

/// A heading with facts behind it, or beneath it where there is no room.
fn beside(head: &str, facts: &str, look: &Look) -> String {
    if head.width() + 2 + facts.width() <= look.width {
        return format!("{}  {}\n", paint(head, BOLD, look), paint(facts, DIM, look));
    }
    let painted = |text: &str, style: Style| -> String {
        grid::fold(text, look.width).iter().map(|line| format!("{}\n", paint(line, style, look))).collect()
    };
    painted(head, BOLD) + &painted(facts, DIM)
}

fn draw_pair(comparison: &ComparisonV1, pair: &PairV1, look: &Look) -> String {
    let head = format!("{} → {}", harmless(&pair.a.label), harmless(&pair.b.label));
    let facts = format!("{} · profile {}", count(pair.cases, "case"), harmless(&comparison.profile));
    let mut out = format!("{}\n", beside(&head, &facts, look));
    let heads = ["from", "to", "change"].map(|head| Cell::right(head).styled(DIM));
    let level = format!("{:.0} % interval", 100.0 * comparison.level);
    let mut rows = vec![vec![Cell::left("metric").styled(DIM)]];
    rows[0].extend(heads);
    rows[0].extend([Cell::left(level).styled(DIM), Cell::right("p").styled(DIM), Cell::left("verdict").styled(DIM)]);
    for row in &pair.metrics {
        rows.push(vec![
            Cell::left(title(&row.metric)),
            Cell::right(three(row.a)),
            Cell::right(three(row.b)),
            Cell::right(signed(row.difference)),
            Cell::left(interval(row.ci)),
            Cell::right(p_value(row.p_holm)),
            Cell::left(row.verdict.word()).styled(style(row.verdict)),
        ]);
    }
    out.push_str(&grid::draw(&rows, look.width, look.colour));
    for line in footnotes(comparison, pair) {
        out.push_str(&indented(&line, DIM, look));
    }
    out.push_str(&goldens(pair, look));
    out.push_str(&moved(pair, look));
    out
}

/// Two ends with signs, or a dash.
pub(super) fn interval(ci: Option<[f64; 2]>) -> String {
    ci.map_or_else(|| "–".to_owned(), |[low, high]| format!("{} … {}", signed(Some(low)), signed(Some(high))))
}

fn style(verdict: ConclusionV1) -> Style {
    match verdict {
        ConclusionV1::Better => GOOD,
        ConclusionV1::Worse => BAD,
        ConclusionV1::Equivalent => Style::new(),
        ConclusionV1::Inconclusive => CAREFUL,
    }
}

/// What the numbers rest on: how p was adjusted, what could have been seen, and what was left out.
pub(super) fn footnotes(comparison: &ComparisonV1, pair: &PairV1) -> Vec<String> {
    let mut lines = Vec::new();
    let families = comparison.comparisons.len();
    let margin = format!("differences within ±{} do not matter", three_short(comparison.margin));
    let adjusted =
        if families > 1 { format!("p adjusted for {families} comparisons (Holm) · ") } else { String::new() };
    lines.push(format!("{adjusted}{margin}"));
    // Metrics that share a reason share its line.
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
        lines.push(format!("{} left out, as trials of only one side count", count(cases, "case")));
    }
    let Some(first) = pair.metrics.first() else { return lines };
    let noun = if comparison.cluster.is_some() { "cluster" } else { "case" };
    if let Some(least) = first.detectable {
        let units = count(first.units, noun);
        let metric = title(&first.metric);
        lines.push(format!("{metric}: with {units} a difference of {least:.3} would be seen 4 times out of 5"));
    }
    let few = || pair.metrics.iter().filter(|row| row.unreliable && row.n > 0).map(|row| row.units);
    if let (Some(least), Some(most)) = (few().min(), few().max()) {
        let n = if least < most { format!("{least} to {most} {noun}s") } else { count(most, noun) };
        lines.push(format!("n = {n}: too few to rely on ({RELIABLE_N} wanted)"));
    }
    lines
}

/// Why, where the numbers of the line do not say so by themselves.
fn reason(row: &DifferenceV1) -> Option<&str> {
    let open = row.verdict == ConclusionV1::Inconclusive && row.p_holm.is_some_and(|p| p > 0.05) && row.ci.is_some();
    let holds_zero = row.ci.is_some_and(|[low, high]| low <= 0.0 && high >= 0.0);
    let plain = row.ci.is_some_and(|[low, high]| low != high) && row.verdict != ConclusionV1::Inconclusive;
    (!(plain || open && holds_zero && !row.unreliable)).then_some(row.because.as_str())
}

fn three_short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn goldens(pair: &PairV1, look: &Look) -> String {
    let goldens = &pair.goldens;
    if goldens.gained.is_empty() && goldens.lost.is_empty() {
        if goldens.both + goldens.neither == 0 {
            return String::new();
        }
        return "\nBoth find the same goldens in most of their trials.\n".to_owned();
    }
    let mut out = format!("\n{}\n", paint("Goldens that moved", BOLD, look));
    out.push_str(&indented(&mcnemar(pair), DIM, look));
    for (side, moved) in [(&pair.b, &goldens.gained), (&pair.a, &goldens.lost)] {
        if moved.is_empty() {
            continue;
        }
        let head = format!("Only {} finds ({})", side.label, moved.len());
        out.push_str(&grid::fit(&format!("  {}", harmless(&head)), look.width));
        out.push('\n');
        for one in moved.iter().take(MOST_MOVED) {
            let found = found(one);
            let line = format!("    {}: {}", harmless(&one.case), harmless(&one.title));
            let line = grid::fit(&line, look.width.saturating_sub(found.chars().count() + 2));
            out.push_str(&format!("{line}  {}\n", paint(&found, DIM, look)));
        }
        if moved.len() > MOST_MOVED {
            let more = format!("and {} more in the JSON", moved.len() - MOST_MOVED);
            out.push_str(&format!("    {}\n", paint(&more, DIM, look)));
        }
    }
    out
}

fn found(one: &GoldenMovedV1) -> String {
    let side = |[found, trials]: [usize; 2]| format!("{found}/{trials}");
    format!("{} → {}", side(one.a), side(one.b))
}

/// The test of goldens, in a sentence.
pub(super) fn mcnemar(pair: &PairV1) -> String {
    let goldens = &pair.goldens;
    let flaky = match goldens.flaky {
        0 => String::new(),
        n => format!("; {n} of them in some trials only"),
    };
    format!(
        "{} gained, {} lost, {} found by both, {} by neither{flaky}: McNemar p {}",
        goldens.gained.len(),
        goldens.lost.len(),
        goldens.both,
        goldens.neither,
        equals(Some(goldens.p))
    )
}

fn equals(p: Option<f64>) -> String {
    let text = p_value(p);
    if text.starts_with('<') { text.replacen('<', "< ", 1) } else { format!("= {text}") }
}

fn moved(pair: &PairV1, look: &Look) -> String {
    let Some(first) = pair.moved.first() else { return String::new() };
    let heading = format!("Cases that moved most ({})", title(&first.metric));
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
    format!("\n{}\n{}", paint(&heading, BOLD, look), grid::draw(&rows, look.width, look.colour))
}

fn draw_ranks(comparison: &ComparisonV1, ranks: &RanksV1, look: &Look) -> String {
    let head = format!("{} ranked by {}", harmless(&comparison.suite), title(&ranks.metric));
    let facts = format!("{} · profile {}", count(ranks.tools.len(), "tool"), harmless(&comparison.profile));
    let mut out = beside(&head, &facts, look);
    for line in grid::fold(&harmless(&ranks.statement), look.width) {
        out.push_str(&format!("{}\n", paint(&line, BOLD, look)));
    }
    out.push('\n');
    let heads = ["tool", "rank", title(&ranks.metric), "interval", "better than", "worse than"];
    let mut rows = vec![heads.iter().map(|head| Cell::right(*head).styled(DIM)).collect::<Vec<_>>()];
    rows[0][0] = Cell::left("tool").styled(DIM);
    rows[0][3] = Cell::left("interval").styled(DIM);
    for tool in &ranks.tools {
        let ends = tool
            .ci
            .map_or_else(|| "–".to_owned(), |[low, high]| format!("{} … {}", three(Some(low)), three(Some(high))));
        let [better, worse] = told_apart(ranks, &tool.tool);
        rows.push(vec![
            Cell::left(&tool.tool).styled(BOLD),
            Cell::right(rank_set(tool).unwrap_or_else(|| "–".to_owned())),
            Cell::right(three(tool.value)),
            Cell::left(ends),
            Cell::right(better.to_string()).styled(if better > 0 { GOOD } else { DIM }),
            Cell::right(worse.to_string()).styled(if worse > 0 { BAD } else { DIM }),
        ]);
    }
    out.push_str(&grid::draw(&rows, look.width, look.colour));
    out.push_str(&indented(&how_ranked(ranks), DIM, look));
    out
}

/// How many tools a tool is significantly better than, and how many it is worse than.
pub(super) fn told_apart(ranks: &RanksV1, tool: &str) -> [usize; 2] {
    let is_own = |pair: &&RankTestV1| pair.a == tool || pair.b == tool;
    let winners = || ranks.pairs.iter().filter(is_own).filter_map(|pair| pair.better.as_deref());
    [winners().filter(|better| *better == tool).count(), winners().filter(|better| *better != tool).count()]
}

/// What the sets of ranks rest on.
pub(super) fn how_ranked(ranks: &RanksV1) -> String {
    let tests = ranks.pairs.iter().filter(|pair| pair.p.is_some()).count();
    let percent = 100.0 * ranks.level;
    format!("ranks hold all true ranks at once with {percent:.0} %: {} of all pairs (Holm)", count(tests, "test"))
}
