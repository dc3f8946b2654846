//! Renders a comparison as Markdown.

use super::{footnotes, interval, mcnemar, rank_method, wins_and_losses};
use crate::markdown::{escape, warnings};
use crate::number::{self, or_dash, p_value, rank_set, signed, three, title};
use karat_core::wording::count;
use karat_format::comparison::{ComparisonV1, PairV1, RanksV1};

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
    let mut out = format!(
        "\n### {} → {}\n\n{}, profile {}\n\n",
        escape(&pair.a.label),
        escape(&pair.b.label),
        count(pair.cases, "case"),
        escape(&comparison.profile)
    );
    let level = 100.0 * comparison.level;
    out.push_str(&format!("| metric | from | to | change | {level:.0} % interval | p | verdict |\n"));
    out.push_str("|---|---:|---:|---:|---|---:|---|\n");
    for row in &pair.metrics {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | **{}** |\n",
            escape(title(&row.metric)),
            three(row.a),
            three(row.b),
            signed(row.difference),
            interval(row.ci),
            escape(&p_value(row.p_holm)),
            row.verdict.word()
        ));
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

fn draw_ranks(ranks: &RanksV1) -> String {
    let metric = escape(title(&ranks.metric));
    let mut out = format!("\n**{}**\n\n", escape(&ranks.statement));
    out.push_str(&format!("| rank | tool | {metric} | interval | better than | worse than |\n"));
    out.push_str("|---:|---|---:|---|---:|---:|\n");
    for tool in &ranks.tools {
        let [better, worse] = wins_and_losses(ranks, &tool.tool);
        out.push_str(&format!(
            "| {} | {} | {} | {} | {better} | {worse} |\n",
            or_dash(rank_set(tool)),
            escape(&tool.tool),
            three(tool.value),
            number::interval(tool.ci, three),
        ));
    }
    out.push_str(&format!("\n{}\n", escape(&rank_method(ranks))));
    out
}
