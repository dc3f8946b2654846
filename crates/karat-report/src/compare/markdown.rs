//! Renders a comparison as Markdown.

use super::{footnotes, interval, mcnemar, rank_method, wins_and_losses};
use crate::markdown::{escape, warnings};
use crate::number::{self, or_dash, p_value, rank_set, signed, three, title};
use karat_core::wording::count;
use karat_format::comparison::{ComparisonV1, DifferenceV1, PairV1, RanksV1};

/// Renders every pair of tools and the warnings.
pub fn draw(comparison: &ComparisonV1) -> String {
    let mut out = format!("## Karat: {}\n", escape(&comparison.suite));
    match &comparison.ranks {
        Some(ranks) => out.push_str(&draw_ranks(ranks)),
        None => comparison.comparisons.iter().for_each(|pair| out.push_str(&draw_pair(comparison, pair))),
    }
    out + &warnings(&comparison.warnings)
}

fn draw_pair(comparison: &ComparisonV1, pair: &PairV1) -> String {
    let (a, b, profile) = (escape(&pair.a.label), escape(&pair.b.label), escape(&comparison.profile));
    let mut out = format!("\n### {a} → {b}\n\n{}, profile {profile}\n\n", count(pair.cases, "case"));
    let level = 100.0 * comparison.level;
    out.push_str(&format!("| metric | from | to | change | {level:.0} % interval | p | verdict |\n"));
    out.push_str("|---|---:|---:|---:|---|---:|---|\n");
    for row in &pair.metrics {
        let (metric, from, to) = (escape(title(&row.metric)), three(row.a), three(row.b));
        out.push_str(&format!("| {metric} | {from} | {to} {}", difference_cells(row)));
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

pub(crate) fn difference_cells(row: &DifferenceV1) -> String {
    let (change, p, verdict) = (signed(row.difference), escape(&p_value(row.p_holm)), row.verdict.word());
    format!("| {change} | {} | {p} | **{verdict}** |\n", interval(row.ci))
}

fn draw_ranks(ranks: &RanksV1) -> String {
    let metric = escape(title(&ranks.metric));
    let mut out = format!("\n**{}**\n\n", escape(&ranks.statement));
    out.push_str(&format!("| rank | tool | {metric} | interval | better than | worse than |\n"));
    out.push_str("|---:|---|---:|---|---:|---:|\n");
    for tool in &ranks.tools {
        let [better, worse] = wins_and_losses(ranks, &tool.tool);
        let (rank, name, value) = (or_dash(rank_set(tool)), escape(&tool.tool), three(tool.value));
        let interval = number::interval(tool.ci, three);
        out.push_str(&format!("| {rank} | {name} | {value} | {interval} | {better} | {worse} |\n"));
    }
    out.push_str(&format!("\n{}\n", escape(&rank_method(ranks))));
    out
}
