//! Renders a report for a terminal.

mod leaderboard;
mod sections;
mod sparkline;

use super::facts::{
    POOLED_CELLS, POOLED_TITLE, SPREAD_CELLS, SPREAD_TITLE, ToolTable, clusters_sentence, judge_lines, pooled_table,
    sensitivity_sentence, trial_spread, untouched_sentence,
};
use super::grid::{self, Cell};
use super::number::{failed_sentence, rank_metric, ranked, statement, three, threshold, title, too_few_cases};
use super::terminal::{BOLD, DIM, GOOD, RED, TerminalStyle, WARNING, beside, folded, heading, indented, more, paint};
use anstyle::Style;
use karat_core::golden::Acceptance;
use karat_core::matching::outcome::Flag;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::Method;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{CaseResultV1, JudgeV1, ReportV1, ToolV1, TrialResultV1};
use karat_format::run::NOTHING_EXECUTED;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

const MOST_CASES: usize = 24;

/// Renders the leaderboard, the cases, the misses and the warnings.
pub fn draw(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut out = head(report, terminal);
    if let Some(sentence) = failed_sentence(report) {
        out.push_str(&folded("", &format!("FAILED: {sentence}"), RED.bold(), terminal));
    }
    if let Some(statement) = statement(report) {
        out.push_str(&folded("", &harmless(statement), BOLD, terminal));
    }
    out.push('\n');
    let (board, remarks) = leaderboard::draw(report, terminal);
    out.push_str(&board);
    out.push_str(&footnotes(report, remarks, terminal));
    let sections = [judges, isolation, pooled, sections::composites, sections::corrected, spread];
    out.extend(sections.map(|section| section(report, terminal)));
    if report.profile.method == Method::Recorded {
        out.push_str(&one_to_one(report, terminal));
    }
    if report.profile.method != Method::Verdict {
        out.extend([cases, missed, flaky].map(|section| section(report, terminal)));
        // Exact suites list all other findings below; recorded decisions are taken as they are.
        if report.profile.method == Method::Score && !report.profile.expect_pass {
            out.push_str(&sections::extras(report, terminal));
        }
        out.push_str(&thresholds(report, terminal));
    }
    out.push_str(&lucky(report, terminal));
    if report.profile.expect_pass {
        out.push_str(&expectations(report, terminal));
    }
    out.push_str(&warnings(report, terminal));
    out
}

fn head(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let sits = |name: &String| {
        let members = report.judges.iter().filter_map(|judge| judge.agreement.as_ref()).flat_map(|a| &a.judges);
        members.into_iter().any(|member| member == name)
    };
    let decided = |judge: &&JudgeV1| judge.asked + judge.cached > 0 && !sits(&judge.judge);
    let judges: Vec<&str> = report.judges.iter().filter(decided).map(|j| j.judge.as_str()).collect();
    let judge = if judges.is_empty() { "none".to_owned() } else { judges.join(", ") };
    let (cases, goldens) = (count(report.suite.cases, "case"), count(report.suite.issues, "golden"));
    let (profile, judge) = (harmless(&report.profile.name), harmless(&judge));
    let facts = format!("{cases}, {goldens} · profile {profile} · judge {judge}");
    beside(&harmless(&report.suite.name), "  ", &facts, terminal)
}

/// Indents a sentence by two blanks, its further lines by four.
fn hanging(text: &str, terminal: &TerminalStyle) -> String {
    let text = harmless(text);
    if text.width() + 2 <= terminal.width {
        return format!("  {text}\n");
    }
    let lines = grid::fold(&text, terminal.width.saturating_sub(4));
    let indent = |number: usize| if number == 0 { "  " } else { "    " };
    lines.iter().enumerate().map(|(number, line)| format!("{}{line}\n", indent(number))).collect()
}

fn footnotes(report: &ReportV1, remarks: Vec<String>, terminal: &TerminalStyle) -> String {
    let mut notes = Vec::new();
    if report.tools.iter().filter(|tool| tool.has_reported()).count() > 1 {
        notes.push("* best".to_owned());
    }
    notes.push(format!("mean over {}", report.profile.headline_macro_by.as_deref().unwrap_or("cases")));
    let percent = report.intervals.level * 100.0;
    notes.push(match &report.intervals.cluster {
        Some(field) => format!("{percent} % intervals beneath, clustered by {field}"),
        None => format!("{percent} % intervals beneath"),
    });
    if let Some(n) = too_few_cases(report) {
        let what = if report.profile.headline_macro_by.is_some() { "value" } else { "case" };
        notes.push(format!("n = {}: too few to rely on ({RELIABLE_N} wanted)", count(n, what)));
    }
    notes.extend(remarks);
    let sentences = clusters_sentence(report).into_iter().chain(untouched_sentence(report));
    let sentences: String = sentences.map(|sentence| indented(&sentence, DIM, terminal)).collect();
    let sensitivity = sensitivity_sentence(report).map(|sentence| indented(&sentence, WARNING, terminal));
    indented(&notes.join(" · "), DIM, terminal) + &sentences + &sensitivity.unwrap_or_default()
}

fn pooled(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let Some(ToolTable { columns, rows }) = pooled_table(report) else { return String::new() };
    let mut cells = vec![grid::header("tool", columns)];
    for (tool, values) in rows {
        cells.push(std::iter::once(Cell::left(tool)).chain(values.into_iter().map(Cell::right)).collect());
    }
    let heading = beside(POOLED_TITLE, " ", &format!("({POOLED_CELLS})"), terminal);
    format!("\n{heading}{}", grid::draw(&cells, terminal.width, terminal.colour))
}

fn spread(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let Some(ToolTable { columns, rows }) = trial_spread(report) else { return String::new() };
    let mut cells = vec![grid::header("tool", columns)];
    for (tool, values) in rows {
        cells.push(std::iter::once(Cell::left(tool)).chain(values.into_iter().map(Cell::right)).collect());
    }
    // The ranking metric comes first; of the others, those that fit.
    let columns =
        (2..=cells[0].len()).rev().find(|columns| grid::width(&cells, *columns) <= terminal.width).unwrap_or(2);
    cells.iter_mut().for_each(|row| row.truncate(columns));
    let heading = beside(SPREAD_TITLE, " ", &format!("({SPREAD_CELLS})"), terminal);
    format!("\n{heading}{}", grid::draw(&cells, terminal.width, terminal.colour))
}

fn one_to_one(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let tools = ranked(report).into_iter();
    let changed: Vec<_> = tools.filter_map(|t| Some((t, t.one_to_one.filter(|own| *own != t.counts)?))).collect();
    let mut out = heading("If every finding could match only one golden", terminal);
    if changed.is_empty() {
        out.push_str("  nothing would change: the recorded matches are one to one\n");
        return out;
    }
    let mut rows = vec![grid::header("tool", ["TP", "FP", "FN", "recall"])];
    for (tool, own) in changed {
        let change = |was: usize, is: usize| if was == is { is.to_string() } else { format!("{was} → {is}") };
        let recall = |tp: usize, missed: usize| three((tp + missed > 0).then(|| tp as f64 / (tp + missed) as f64));
        rows.push(vec![
            Cell::left(&tool.tool),
            Cell::right(change(tool.counts.tp, own.tp)),
            Cell::right(change(tool.counts.fp, own.fp)),
            Cell::right(change(tool.counts.fn_, own.fn_)),
            Cell::right(format!("{} → {}", recall(tool.counts.tp, tool.counts.fn_), recall(own.tp, own.fn_))),
        ]);
    }
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out
}

fn judges(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let lines = judge_lines(report).into_iter();
    lines.map(|line| indented(&format!("judge {line}"), DIM, terminal)).collect()
}

fn isolation(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in ranked(report) {
        if let Some(words) = report.measured.isolation.get(&tool.tool) {
            by.entry(words).or_default().push(&tool.tool);
        }
    }
    // Recorded trials and built-in rules run nothing, which needs no line.
    if by.keys().all(|words| *words == NOTHING_EXECUTED) {
        return String::new();
    }
    let all: Vec<String> = by.iter().map(|(words, tools)| format!("{}: {words}", tools.join(", "))).collect();
    let line = format!("isolation · {}", all.join(" · "));
    folded("  ", &harmless(&line), DIM, terminal)
}

/// The ranking metric and the goldens found by case; for a large suite the worst cases.
fn cases(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let tools = ranked(report);
    let fitting = |cell: usize| (terminal.width.saturating_sub(30) / cell).max(1);
    // If full cells do not fit for all tools, short cells for more tools are better.
    let short = tools.len() > fitting(20);
    let shown = &tools[..tools.len().min(if short { fitting(16) } else { fitting(20) })];
    let mut order: Vec<usize> = (0..report.cases.len()).collect();
    let large = order.len() > MOST_CASES;
    if large {
        let mean = |case: usize| {
            let values: Vec<f64> = shown.iter().filter_map(|t| value(&t.cases[case], rank_metric(report))).collect();
            karat_core::stats::summary::mean(&values)
        };
        // Perfect cases are not listed.
        order.retain(|&case| mean(case).is_some_and(|figure| figure < 1.0));
        order.sort_by(|&a, &b| mean(a).unwrap_or(1.0).total_cmp(&mean(b).unwrap_or(1.0)).then(a.cmp(&b)));
        order.truncate(10);
    }
    if order.is_empty() {
        return String::new();
    }
    let heading = if large { "The ten worst cases" } else { "Case by case" };
    // F1 is the default; any other metric is named.
    let heading = match rank_metric(report) {
        "f1" => heading.to_owned(),
        id => format!("{heading}, by {}", title(id)),
    };
    let mut header = vec![Cell::left("case").styled(DIM)];
    let widest = if short { 14 } else { 18 };
    header.extend(shown.iter().map(|t| Cell::left(grid::fit(&harmless(&t.tool), widest)).styled(DIM)));
    let mut rows = vec![header];
    for &case in &order {
        let mut row = vec![Cell::left(&report.cases[case].case)];
        row.extend(shown.iter().map(|tool| case_cell(report, tool, case, short)));
        rows.push(row);
    }
    let repeated = shown.iter().flat_map(|tool| &tool.cases).any(|case| case.trials.len() > 1);
    let heading = match repeated {
        true => format!("\n{}", beside(&heading, " ", "(mean over trials; goldens found over all trials)", terminal)),
        false => self::heading(&heading, terminal),
    };
    let mut out = heading + &grid::draw(&rows, terminal.width, terminal.colour);
    if shown.len() < tools.len() {
        let note = format!("{} in the JSON report", count(tools.len() - shown.len(), "more tool"));
        out.push_str(&format!("  {}\n", paint(&note, DIM, terminal)));
    }
    out
}

fn value(case: &CaseResultV1, id: &str) -> Option<f64> {
    case.metrics.get(id).and_then(|e| e.value)
}

fn case_cell(report: &ReportV1, tool: &ToolV1, case: usize, short: bool) -> Cell {
    let result = &tool.cases[case];
    if result.is_unavailable() {
        return Cell::left("unavailable").styled(DIM);
    }
    let required = report.cases[case].issues.iter().filter(|i| i.acceptance == Acceptance::Required).count();
    if required == 0 {
        return match value(result, "clean_pass") {
            Some(1.0) => Cell::left("clean").styled(GOOD),
            Some(_) => {
                let alarms: usize = result.counted().map(|t| t.fp).sum();
                let words = if short { format!("{alarms} false") } else { count(alarms, "false alarm") };
                Cell::left(if alarms > 0 { words } else { "failed".to_owned() }).styled(RED)
            }
            None => Cell::left("–").styled(DIM),
        };
    }
    let found: usize = result.counted().map(|t| t.tp).sum();
    let all: usize = result.counted().map(|t| t.tp + t.r#fn).sum();
    let figure = value(result, rank_metric(report));
    let style = match figure {
        Some(figure) if figure >= 0.8 => GOOD,
        Some(figure) if figure < 0.4 => RED,
        Some(_) => Style::new(),
        None => DIM,
    };
    let word = if short { "" } else { " found" };
    Cell::left(format!("{}  {found}/{all}{word}", three(figure))).styled(style)
}

fn missed(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut never: Vec<(&str, &str)> = Vec::new();
    for (index, case) in report.cases.iter().enumerate() {
        let trials = || report.tools.iter().flat_map(|tool| tool.cases[index].counted());
        let found: BTreeSet<&str> = trials().flat_map(|trial| &trial.matches).map(|m| m.golden.as_str()).collect();
        // Without judgements it is not known what was found.
        let is_unjudged = |trial: &TrialResultV1, golden: &str| {
            trial.misses.iter().any(|miss| miss.golden == golden && miss.flags.contains(&Flag::Unjudged))
        };
        for issue in case.issues.iter().filter(|i| i.acceptance == Acceptance::Required) {
            if !found.contains(issue.id.as_str()) && trials().any(|trial| !is_unjudged(trial, &issue.id)) {
                never.push((&case.case, &issue.title));
            }
        }
    }
    if never.is_empty() || report.tools.is_empty() {
        return String::new();
    }
    let who = if report.tools.len() == 1 { "Never found" } else { "Found by no tool" };
    let mut out = format!("\n{} {}\n", paint(who, BOLD, terminal), paint(&format!("({})", never.len()), DIM, terminal));
    for (case, title) in never.iter().take(8) {
        out.push_str(&grid::fit(&format!("  {}: {}", harmless(case), harmless(title)), terminal.width));
        out.push('\n');
    }
    out + &more(never.len(), 8, "", terminal)
}

/// A heading and the lines below it; empty without lines.
fn listed(heading: String, lines: impl Iterator<Item = String>, terminal: &TerminalStyle) -> String {
    let lines: String = lines.map(|line| hanging(&line, terminal)).collect();
    if lines.is_empty() { lines } else { heading + &lines }
}

fn flaky(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let lines = ranked(report).into_iter().filter_map(|tool| {
        // Closest to half of the trials; ties go to the earliest.
        let worst = tool.flaky.iter().min_by_key(|flaky| (2 * flaky.found).abs_diff(flaky.trials))?;
        let goldens = count(tool.flaky.len(), "golden");
        let example = format!("{} ({} of {} trials)", worst.golden, worst.found, worst.trials);
        Some(format!("{}: {goldens}, such as {example}", tool.tool))
    });
    listed(heading("Found in some trials only", terminal), lines, terminal)
}

fn lucky(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let lines = ranked(report).into_iter().filter(|tool| !tool.lucky.is_empty()).map(|tool| {
        let mut cases: BTreeMap<&str, usize> = BTreeMap::new();
        tool.lucky.iter().for_each(|guess| *cases.entry(guess.case.as_str()).or_default() += 1);
        let named: Vec<String> = cases.iter().take(MOST_LUCKY).map(|(case, n)| format!("{case} ({n}×)")).collect();
        let more =
            if cases.len() > MOST_LUCKY { format!(", and {} more", cases.len() - MOST_LUCKY) } else { String::new() };
        format!("{}: {}{more}", tool.tool, named.join(", "))
    });
    listed(heading("Called vulnerable without the target", terminal), lines, terminal)
}

const MOST_LUCKY: usize = 3;

fn thresholds(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let lines = ranked(report).into_iter().filter_map(|tool| {
        let now = tool.micro.get("f1").and_then(|e| e.value)?;
        let points = tool.sweeps.iter().filter_map(|sweep| {
            let best = sweep.best?;
            Some((best, sweep.by.as_str(), best.threshold?))
        });
        let best = points.reduce(|best, next| if next.0.f1 > best.0.f1 { next } else { best });
        let (best, by, from) = best.filter(|(best, _, _)| best.f1 >= now + WORTH_A_THRESHOLD)?;
        let from = threshold(by, from);
        Some(format!(
            "{}: findings with {by} {from} and above have F1 {:.3} (precision {:.3}, recall {:.3}); all of them {now:.3}",
            tool.tool, best.f1, best.precision, best.recall
        ))
    });
    let aside = "(pooled; chosen on the same cases, so optimistic)";
    let heading = format!("\n{}", beside("A threshold would help", " ", aside, terminal));
    listed(heading, lines, terminal)
}

const WORTH_A_THRESHOLD: f64 = 0.01;

fn expectations(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut out = String::new();
    for tool in &report.tools {
        let mut lines: Vec<(&str, Style, String)> = Vec::new();
        for (result, info) in tool.cases.iter().zip(&report.cases) {
            let titles: BTreeMap<&str, &str> = info.issues.iter().map(|i| (i.id.as_str(), i.title.as_str())).collect();
            for trial in result.trials.iter().filter(|_| !result.pass) {
                for miss in &trial.misses {
                    let title = titles.get(miss.golden.as_str()).copied().unwrap_or(&miss.golden);
                    lines.push(("missing   ", RED, format!("{} · {title} ({})", info.case, miss.why)));
                }
                let titles: BTreeMap<&str, &str> =
                    trial.findings.iter().map(|f| (f.id.as_str(), f.title.as_str())).collect();
                for extra in trial.extras.iter().filter(|extra| !extra.left_out) {
                    let title = titles.get(extra.finding.as_str()).copied().unwrap_or(&extra.finding);
                    lines.push(("unexpected", WARNING, format!("{} · {title} ({})", info.case, extra.why)));
                }
            }
        }
        if lines.is_empty() {
            continue;
        }
        let head = format!("{} does not pass", harmless(&tool.tool));
        out.push_str(&format!("\n{}\n", paint(&grid::fit(&head, terminal.width), BOLD, terminal)));
        for (word, style, line) in lines.iter().take(20) {
            let line = grid::fit(&harmless(line), terminal.width.saturating_sub(word.len() + 4));
            out.push_str(&format!("  {}  {line}\n", paint(word, *style, terminal)));
        }
        out.push_str(&more(lines.len(), 20, "", terminal));
    }
    out
}

fn warnings(report: &ReportV1, terminal: &TerminalStyle) -> String {
    if report.warnings.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint("Warnings", WARNING.bold(), terminal));
    out.extend(report.warnings.iter().take(12).map(|warning| hanging(warning, terminal)));
    out + &more(report.warnings.len(), 12, " in the JSON report", terminal)
}
