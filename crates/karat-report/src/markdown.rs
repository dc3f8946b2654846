//! Renders a report as Markdown.

use super::TerminalStyle;
use super::facts::{
    POOLED_CELLS, POOLED_TITLE, SPREAD_CELLS, SPREAD_TITLE, ToolTable, averaged_values, clusters_sentence,
    derived_sentence, judge_lines, pooled_table, sensitivity_sentence, trial_spread, untouched_sentence,
};
use super::number::{
    failed_sentence, failed_trials, headline, is_best, or_dash, rank_of, ranked, span, statement, three, title,
    too_few_cases, tried,
};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::count;
use karat_format::report::ReportV1;

/// Renders a heading, the leaderboard and the warnings.
pub fn draw(report: &ReportV1, _: &TerminalStyle) -> String {
    let ids = &report.profile.headline;
    let (suite, profile) = (escape(&report.suite.name), escape(&report.profile.name));
    let (cases, goldens) = (count(report.suite.cases, "case"), report.goldens());
    let mut out = format!("## Karat: {suite}\n\n{cases}, {goldens}, profile {profile}\n\n");
    if let Some(sentence) = failed_sentence(report) {
        out.push_str(&format!("**FAILED**: {sentence}\n\n"));
    }
    if let Some(sentence) = statement(report) {
        out.push_str(&format!("**{}**\n\n", escape(sentence)));
    }
    let has_ranks = report.tools.iter().any(|tool| rank_of(report, &tool.tool).is_some());
    let (rank_head, rank_rule) = if has_ranks { (" rank |", "---:|") } else { ("", "") };
    let expected = if report.profile.expect_pass { " result |" } else { "" };
    let heads: Vec<String> = ids.iter().map(|id| format!(" {} |", escape(title(id)))).collect();
    let any_outage = report.tools.iter().any(|tool| tool.unavailable() > 0);
    let (outage_head, outage_rule) = if any_outage { (" unavailable |", "---:|") } else { ("", "") };
    out.push_str(&format!("| tool |{rank_head}{}{expected} failed trials |{outage_head}\n", heads.concat()));
    let rules = "---:|".repeat(ids.len() + usize::from(!expected.is_empty()));
    out.push_str(&format!("|---|{rank_rule}{rules}---:|{outage_rule}\n"));
    for tool in ranked(report) {
        let recorded = tool.recorded.as_ref().map(|recorded| format!(" ({})", recorded.words())).unwrap_or_default();
        out.push_str(&format!("| {}{} |", escape(&tool.tool), escape(&recorded)));
        if has_ranks {
            out.push_str(&format!(" {} |", or_dash(rank_of(report, &tool.tool))));
        }
        for id in ids {
            let estimate = headline(report, tool).get(id);
            let value = three(estimate.and_then(|e| e.value));
            let value = if is_best(report, tool, id) { format!("**{value}**") } else { value };
            let ci = estimate.and_then(|e| e.ci).map(|ci| format!(" ({})", span(Some(ci))));
            out.push_str(&format!(" {value}{} |", ci.unwrap_or_default()));
        }
        if report.profile.expect_pass {
            out.push_str(match tool.pass {
                _ if !tool.has_reported() => " **failed** |",
                true => " pass |",
                false => " **FAIL** |",
            });
        }
        out.push_str(&format!(" {}/{} |", failed_trials(tool), tried(tool)));
        if any_outage {
            out.push_str(&format!(" {}/{} |", tool.unavailable(), tool.trials));
        }
        out.push('\n');
    }
    let percent = report.intervals.level * 100.0;
    let alike = clusters_sentence(report).map_or_else(String::new, |sentence| format!(" {}.", escape(&sentence)));
    let over = report.profile.headline_macro_by.as_deref().unwrap_or("cases");
    out.push_str(&format!("\nMeans over {}. In brackets: {percent} % intervals.{alike}\n", escape(over)));
    for sentence in
        [averaged_values(report), derived_sentence(report, true), untouched_sentence(report)].into_iter().flatten()
    {
        out.push_str(&format!("\n{}.\n", escape(&sentence)));
    }
    if let Some(sentence) = sensitivity_sentence(report) {
        out.push_str(&format!("\n{}\n", escape(&sentence)));
    }
    if let Some(table) = pooled_table(report) {
        out.push_str(&format!("\n{POOLED_TITLE}: {POOLED_CELLS}.\n\n{}", tool_table(&table)));
    }
    if let Some(table) = trial_spread(report) {
        let summary = format!("{SPREAD_TITLE} ({SPREAD_CELLS})");
        out.push_str(&format!("\n<details><summary>{summary}</summary>\n\n{}\n</details>\n", tool_table(&table)));
    }
    if let Some(n) = too_few_cases(report) {
        out.push_str(&format!("\nn = {n}: too few cases to rely on ({RELIABLE_N} wanted).\n"));
    }
    for line in judge_lines(report) {
        out.push_str(&format!("\nJudge {}.\n", escape(&line)));
    }
    let isolation: Vec<String> =
        report.measured.isolation.iter().map(|(tool, words)| format!("{}: {}", escape(tool), escape(words))).collect();
    if !isolation.is_empty() {
        out.push_str(&format!("\nIsolation: {}.\n", isolation.join("; ")));
    }
    if !report.warnings.is_empty() {
        out.push_str("\n<details><summary>Warnings</summary>\n\n");
        for warning in &report.warnings {
            out.push_str(&format!("- {}\n", escape(warning)));
        }
        out.push_str("\n</details>\n");
    }
    out
}

fn tool_table(table: &ToolTable) -> String {
    let heads: String = table.columns.iter().map(|column| format!(" {} |", escape(column))).collect();
    let mut out = format!("| tool |{heads}\n|---|{}\n", "---:|".repeat(table.columns.len()));
    for (tool, values) in &table.rows {
        out.push_str(&format!("| {} | {} |\n", escape(tool), values.join(" | ")));
    }
    out
}

pub(crate) fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    warnings.iter().fold("\n**Warnings**\n\n".to_owned(), |out, warning| out + &format!("- {}\n", escape(warning)))
}

/// Escapes Markdown, HTML, table cells and line breaks.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
