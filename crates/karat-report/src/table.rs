//! Renders a report for a terminal.

mod leaderboard;
mod sections;
mod sparkline;

use super::facts::{
    POOLED_CELLS, POOLED_TITLE, SPREAD_CELLS, SPREAD_TITLE, ToolTable, agreement_words, averaged_values,
    clusters_sentence, derived_sentence, judge_lines, pooled_table, sensitivity, sensitivity_sentence, trial_spread,
    untouched_sentence,
};
use super::grid::{self, Cell};
use super::number::{
    failed_sentence, rank_metric, ranked, recorded_sentence, statement, three, threshold, title, too_few_cases,
};
use super::terminal::{BOLD, DIM, GOOD, RED, TerminalStyle, WARNING, beside, folded, heading, indented, more, paint};
use anstyle::Style;
use karat_core::golden::Acceptance;
use karat_core::matching::outcome::Flag;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::Method;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{AuditAgreementV1, CaseResultV1, DetailV1, JudgeV1, ReportV1, ToolV1, TrialResultV1};
use karat_format::run::NOTHING_EXECUTED;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// A section that only `--verbose` shows.
struct Detail {
    /// What it is, for the line that names what is not shown.
    summary: String,
    text: String,
}

impl Detail {
    fn new(summary: impl Into<String>, text: String) -> Option<Self> {
        (!text.is_empty()).then(|| Self { summary: summary.into(), text })
    }
}

/// The table of agreement on each decision of audits.
pub fn audit_agreement(agreement: &AuditAgreementV1, terminal: &TerminalStyle) -> String {
    sections::audit_agreement(agreement, terminal)
}

type DetailFn = fn(&ReportV1, &TerminalStyle) -> Option<Detail>;

/// Renders the warnings, the leaderboard and the cases; with `--verbose` everything, otherwise a line names the rest.
pub fn draw(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut out = head(report, terminal);
    if let Some(sentence) = failed_sentence(report) {
        out.push_str(&folded("", &format!("FAILED: {sentence}"), RED.bold(), terminal));
    }
    if let Some(statement) = statement(report) {
        out.push_str(&folded("", &harmless(statement), BOLD, terminal));
    }
    out.push_str(&warnings(report, terminal));
    out.push('\n');
    let (board, remarks) = leaderboard::draw(report, terminal);
    out.push_str(&board);
    out.push_str(&footnotes(report, remarks, terminal));
    out.push_str(&sections::fix_through(report, terminal));
    let mut hidden = Vec::new();
    let mut add_details = |details: &[DetailFn], out: &mut String| {
        for detail in details.iter().filter_map(|draw| draw(report, terminal)) {
            match terminal.verbosity.verbose {
                true => out.push_str(&detail.text),
                false => hidden.push(detail.summary),
            }
        }
    };
    out.push_str(&sections::audited_findings(report, terminal));
    if let Some(agreement) = &report.audit_agreement {
        out.push('\n');
        out.push_str(&audit_agreement(agreement, terminal));
    }
    add_details(&[judges, isolation, pooled, sections::composites], &mut out);
    // Nobody gives labels but to see the figures corrected by them.
    out.push_str(&sections::corrected(report, terminal));
    add_details(&[spread, one_to_one], &mut out);
    if report.profile.method != Method::Verdict {
        out.push_str(&cases(report, terminal));
        add_details(&[missed, flaky, sections::extras, thresholds], &mut out);
    }
    add_details(&[lucky], &mut out);
    if report.profile.expect_pass {
        out.push_str(&expectations(report, terminal));
    }
    if !hidden.is_empty() && !terminal.verbosity.quiet {
        out.push('\n');
        out.push_str(&folded("", &format!("-v adds {}", hidden.join(", ")), DIM, terminal));
    }
    out
}

fn head(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let sits = |name: &String| {
        let members = report.judges.iter().filter_map(|judge| judge.agreement.as_ref()).flat_map(|a| &a.judges);
        members.into_iter().any(|member| member == name)
    };
    let decided = |judge: &&JudgeV1| judge.asked + judge.cached > 0 && !sits(&judge.judge);
    let with_agreement = |judge: &JudgeV1| match agreement_words(judge) {
        Some(words) => format!("{} ({words})", judge.judge),
        None => judge.judge.clone(),
    };
    let judges: Vec<String> = report.judges.iter().filter(decided).map(with_agreement).collect();
    let judge = if judges.is_empty() { "none".to_owned() } else { judges.join(", ") };
    let (cases, goldens) = (count(report.suite.cases, "case"), report.goldens());
    let (profile, judge) = (harmless(&report.profile.name), harmless(&judge));
    let (name, parts) =
        (harmless(&report.suite.name), [format!("{cases}, {goldens}"), format!("profile {profile} · judge {judge}")]);
    let facts = parts.join(" · ");
    if facts.width() <= terminal.width {
        return beside(&name, "  ", &facts, terminal);
    }
    let lines: String = parts.iter().map(|part| folded("", part, DIM, terminal)).collect();
    folded("", &name, BOLD, terminal) + &lines
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
    let verbose = terminal.verbosity.verbose;
    let mut notes = Vec::new();
    if report.tools.iter().filter(|tool| tool.has_reported()).count() > 1 {
        notes.push("* best".to_owned());
    }
    notes.push(format!("mean over {}", report.profile.headline_macro_by.as_deref().unwrap_or("cases")));
    if leaderboard::has_intervals(report) {
        let percent = report.intervals.level * 100.0;
        let clustered = report.intervals.cluster.as_ref().map(|field| format!(", clustered by {field}"));
        notes.push(format!("{percent} % intervals{}", clustered.unwrap_or_default()));
    }
    if let Some(n) = too_few_cases(report) {
        let what = if report.profile.headline_macro_by.is_some() { "value" } else { "case" };
        notes.push(format!("n = {}: too few to rely on ({RELIABLE_N} wanted)", count(n, what)));
    }
    notes.extend(remarks);
    let untouched: usize = report.tools.iter().map(|tool| tool.untouched_extras).sum();
    if untouched > 0 && !verbose {
        notes.push(format!("{} on untouched lines not counted", count(untouched, "extra")));
    }
    let mut out = indented(&notes.join(" · "), DIM, terminal);
    let sentences = [averaged_values(report), derived_sentence(report, verbose), recorded_sentence(report)];
    out.extend(sentences.into_iter().flatten().map(|sentence| indented(&sentence, DIM, terminal)));
    // Clusters that are not used make intervals too narrow, which nobody should miss.
    let is_ignored = report.intervals.clusters.as_ref().is_some_and(|clusters| !clusters.used);
    let clusters = clusters_sentence(report).filter(|_| verbose || is_ignored);
    let untouched = untouched_sentence(report).filter(|_| verbose);
    out.extend(clusters.into_iter().chain(untouched).map(|sentence| indented(&sentence, DIM, terminal)));
    // Without `--verbose` the command is among the next steps.
    let sentence = if verbose { sensitivity_sentence(report) } else { sensitivity(report) };
    out.extend(sentence.map(|sentence| indented(&sentence, WARNING, terminal)));
    out
}

fn pooled(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let ToolTable { columns, rows } = pooled_table(report)?;
    let mut cells = vec![grid::header("tool", columns)];
    for (tool, values) in rows {
        cells.push(std::iter::once(Cell::left(tool)).chain(values.into_iter().map(Cell::right)).collect());
    }
    let heading = beside(POOLED_TITLE, " ", &format!("({POOLED_CELLS})"), terminal);
    Detail::new("pooled counts", format!("\n{heading}{}", grid::draw(&cells, terminal.width, terminal.colour)))
}

fn spread(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let ToolTable { columns, rows } = trial_spread(report)?;
    let mut cells = vec![grid::header("tool", columns)];
    for (tool, values) in rows {
        cells.push(std::iter::once(Cell::left(tool)).chain(values.into_iter().map(Cell::right)).collect());
    }
    // The ranking metric comes first; of the others, those that fit.
    let columns =
        (2..=cells[0].len()).rev().find(|columns| grid::width(&cells, *columns) <= terminal.width).unwrap_or(2);
    cells.iter_mut().for_each(|row| row.truncate(columns));
    let heading = beside(SPREAD_TITLE, " ", &format!("({SPREAD_CELLS})"), terminal);
    Detail::new("variation over trials", format!("\n{heading}{}", grid::draw(&cells, terminal.width, terminal.colour)))
}

fn one_to_one(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    if report.profile.method != Method::Recorded {
        return None;
    }
    let summary = "counts if matched one to one";
    let tools = ranked(report).into_iter();
    let changed: Vec<_> = tools.filter_map(|t| Some((t, t.one_to_one.filter(|own| *own != t.counts)?))).collect();
    let mut out = heading("If every finding could match only one golden", terminal);
    if changed.is_empty() {
        out.push_str("  nothing would change: the recorded matches are one to one\n");
        return Detail::new(summary, out);
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
    Detail::new(summary, out)
}

fn judges(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let lines = judge_lines(report);
    let summary = if lines.len() == 1 { "judge" } else { "judges" };
    Detail::new(summary, lines.iter().map(|line| indented(&format!("judge {line}"), DIM, terminal)).collect())
}

fn isolation(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let mut by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in ranked(report) {
        if let Some(words) = report.measured.isolation.get(&tool.tool) {
            by.entry(words).or_default().push(&tool.tool);
        }
    }
    // Recorded trials and built-in rules run nothing, which needs no line.
    if by.keys().all(|words| *words == NOTHING_EXECUTED) {
        return None;
    }
    let all: Vec<String> = by.iter().map(|(words, tools)| format!("{}: {words}", tools.join(", "))).collect();
    let line = format!("isolation · {}", all.join(" · "));
    Detail::new("isolation", folded("  ", &harmless(&line), DIM, terminal))
}

/// Without `--verbose`, this many cases are shown; fewer if the tools need several tables.
const MOST_CASES: usize = 20;
const MOST_CASES_OF_MANY_TOOLS: usize = 10;
/// Case names may be shortened to this to make room for a tool.
const CASE_NAME: usize = 24;

/// The ranking metric and the goldens found by case; of a large suite the worst cases.
fn cases(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let tools = ranked(report);
    if tools.is_empty() || report.cases.is_empty() {
        return String::new();
    }
    let blocks = CaseColumns::arrange(report, &tools, terminal);
    let most = if blocks.len() > 1 { MOST_CASES_OF_MANY_TOOLS } else { MOST_CASES };
    let mut order: Vec<usize> = (0..report.cases.len()).collect();
    let is_cut = order.len() > most && !terminal.verbosity.verbose;
    if is_cut {
        let mean = |case: usize| {
            let values: Vec<f64> = tools.iter().filter_map(|tool| case_value(report, &tool.cases[case])).collect();
            karat_core::stats::summary::mean(&values).unwrap_or(1.0)
        };
        order.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
        order.truncate(most);
    }
    let heading = if is_cut { format!("The {most} worst cases") } else { "Case by case".to_owned() };
    // F1 is the default; any other metric is named.
    let heading = match rank_metric(report) {
        "f1" => heading,
        id => format!("{heading}, by {}", title(id)),
    };
    let is_repeated = tools.iter().flat_map(|tool| &tool.cases).any(|case| case.trials.len() > 1);
    let mut out = match is_repeated {
        true => format!("\n{}", beside(&heading, " ", "(mean over trials; goldens found over all trials)", terminal)),
        false => self::heading(&heading, terminal),
    };
    let tables: Vec<String> = blocks.iter().map(|block| block.draw(report, &order, terminal)).collect();
    out.push_str(&tables.join("\n"));
    if is_cut {
        let rest = format!("{} with -v", count(report.cases.len() - most, "more case"));
        out.push_str(&format!("  {}\n", paint(&rest, DIM, terminal)));
    }
    out
}

/// Tools whose columns stand in one table.
struct CaseColumns<'r> {
    tools: Vec<CaseColumn<'r>>,
    is_short: bool,
    /// Several tables have the same names of cases.
    case_name: usize,
}

#[derive(Clone)]
struct CaseColumn<'r> {
    tool: &'r ToolV1,
    head: String,
    width: usize,
}

impl<'r> CaseColumns<'r> {
    /// All tools in one table if they fit, at last with short cells and names; otherwise in as few tables as possible.
    fn arrange(report: &ReportV1, tools: &[&'r ToolV1], terminal: &TerminalStyle) -> Vec<Self> {
        let longest = report.cases.iter().map(|case| harmless(&case.case).width()).max().unwrap_or_default();
        let fits = |columns: &[CaseColumn<'_>], case_name: usize| {
            let cells: usize = columns.iter().map(|column| column.width + 2).sum();
            longest.min(case_name) + 2 + cells <= terminal.width
        };
        // Names of cases are shortened only after the cells and names of tools.
        let looks = [(false, 24, longest), (false, 18, longest), (true, 18, longest), (true, 14, CASE_NAME)];
        for (is_short, head, case_name) in looks {
            let tools = columns(report, tools, is_short, head);
            if fits(&tools, case_name) {
                return vec![Self { tools, is_short, case_name: longest }];
            }
        }
        let mut blocks: Vec<Self> = Vec::new();
        for column in columns(report, tools, true, 11) {
            let has_room = |block: &&mut Self| {
                let wider: Vec<_> = block.tools.iter().chain([&column]).cloned().collect();
                fits(&wider, CASE_NAME)
            };
            match blocks.last_mut().filter(has_room) {
                Some(last) => last.tools.push(column),
                None => blocks.push(Self { tools: vec![column], is_short: true, case_name: CASE_NAME }),
            }
        }
        blocks
    }

    fn draw(&self, report: &ReportV1, cases: &[usize], terminal: &TerminalStyle) -> String {
        let heads = self.tools.iter().map(|column| Cell::left(&column.head).styled(DIM));
        let mut rows: Vec<Vec<Cell>> = vec![std::iter::once(Cell::left("case").styled(DIM)).chain(heads).collect()];
        let names: Vec<String> = cases.iter().map(|case| harmless(&report.cases[*case].case).into_owned()).collect();
        let short = grid::shorten_names(names.iter().map(String::as_str), self.case_name);
        for (&case, name) in cases.iter().zip(&names) {
            let cells = self.tools.iter().map(|column| case_cell(report, column.tool, case, self.is_short));
            rows.push(std::iter::once(Cell::left(&short[name.as_str()])).chain(cells).collect());
        }
        grid::draw(&rows, terminal.width, terminal.colour)
    }
}

/// The columns of tools, their names in at most this width.
fn columns<'r>(report: &ReportV1, tools: &[&'r ToolV1], is_short: bool, head: usize) -> Vec<CaseColumn<'r>> {
    let names: Vec<String> = tools.iter().map(|tool| harmless(&tool.tool).into_owned()).collect();
    let short = grid::shorten_names(names.iter().map(String::as_str), head);
    let column = |(&tool, name): (&&'r ToolV1, &String)| {
        let head = short[name.as_str()].clone();
        let cells = (0..report.cases.len()).map(|case| case_cell(report, tool, case, is_short).width());
        CaseColumn { tool, width: cells.chain([head.width()]).max().unwrap_or_default(), head }
    };
    tools.iter().zip(&names).map(column).collect()
}

/// The ranking metric of a case; a clean case has none, and `clean_pass` takes its place.
fn case_value(report: &ReportV1, case: &CaseResultV1) -> Option<f64> {
    value(case, rank_metric(report)).or_else(|| value(case, "clean_pass"))
}

fn value(case: &CaseResultV1, id: &str) -> Option<f64> {
    case.value(id)
}

fn case_cell(report: &ReportV1, tool: &ToolV1, case: usize, short: bool) -> Cell {
    let result = &tool.cases[case];
    if result.is_unavailable() {
        return Cell::left("unavailable").styled(DIM);
    }
    let required = report.cases[case].issues.iter().filter(|i| i.acceptance == Acceptance::Required).count();
    if required == 0 {
        let alarms: usize = result.counted().map(|t| t.fp).sum();
        return match value(result, "clean_pass") {
            // Only where the case allows them.
            Some(1.0) if alarms > 0 => Cell::left(format!("{} allowed", count(alarms, "extra"))).styled(GOOD),
            Some(1.0) => Cell::left("clean").styled(GOOD),
            Some(_) => {
                let words = if short { format!("{alarms} false") } else { count(alarms, "false alarm") };
                Cell::left(if alarms > 0 { words } else { "failed".to_owned() }).styled(RED)
            }
            None => Cell::left("–").styled(DIM),
        };
    }
    let found: usize = result.counted().map(|t| t.tp).sum();
    let all: usize = result.counted().map(|t| t.tp + t.r#fn).sum();
    let figure = value(result, rank_metric(report));
    // What was found is not known without a result, or without judgements.
    let is_unjudged = |trial: &TrialResultV1| {
        !trial.misses.is_empty() && trial.misses.iter().all(|miss| miss.flags.contains(&Flag::Unjudged))
    };
    let are_unjudged = result.counted().next().is_some() && result.counted().all(is_unjudged);
    let unknown = match figure {
        None if found == 0 && are_unjudged => Some("not judged"),
        None if all == 0 => Some("no result"),
        _ => None,
    };
    if let Some(why) = unknown {
        return Cell::left(if short { "–".to_owned() } else { format!("–  {why}") }).styled(DIM);
    }
    let style = match figure {
        Some(figure) if figure >= 0.8 => GOOD,
        Some(figure) if figure < 0.4 => RED,
        Some(_) => Style::new(),
        None => DIM,
    };
    let word = if short { "" } else { " found" };
    // People may say that the target was found, and not by which finding.
    let counts = if all > 0 { format!("  {found}/{all}{word}") } else { String::new() };
    Cell::left(format!("{}{counts}", three(figure))).styled(style)
}

fn missed(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    if let Some(left_out) = report.without(DetailV1::Misses, "which goldens were missed is") {
        return Detail::new("what was missed", folded("\n", &left_out, DIM, terminal));
    }
    let mut never: Vec<(&str, &str)> = Vec::new();
    for (index, case) in report.cases.iter().enumerate() {
        let trials = || report.tools.iter().flat_map(|tool| tool.cases[index].counted());
        // Without judgements it is not known what was found.
        let is_unjudged = |trial: &TrialResultV1, golden: &str| {
            trial.misses.iter().any(|miss| miss.golden == golden && miss.flags.contains(&Flag::Unjudged))
        };
        for issue in case.issues.iter().filter(|issue| issue.counts()) {
            let is_found = |trial: &TrialResultV1| trial.found(&issue.id) == Some(true);
            if !trials().any(is_found) && trials().any(|trial| !is_unjudged(trial, &issue.id)) {
                never.push((&case.case, &issue.title));
            }
        }
    }
    if never.is_empty() || report.tools.is_empty() {
        return None;
    }
    let who = if report.tools.len() == 1 { "never found" } else { "found by no tool" };
    let number = paint(&format!("({})", never.len()), DIM, terminal);
    let mut out = format!("\n{} {number}\n", paint(&capitalised(who), BOLD, terminal));
    for (case, title) in &never {
        out.push_str(&grid::fit(&format!("  {}: {}", harmless(case), harmless(title)), terminal.width));
        out.push('\n');
    }
    Detail::new(format!("{} {who}", count(never.len(), "golden")), out)
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A heading and the lines below it; empty without lines.
fn listed(heading: String, lines: impl Iterator<Item = String>, terminal: &TerminalStyle) -> String {
    let lines: String = lines.map(|line| hanging(&line, terminal)).collect();
    if lines.is_empty() { lines } else { heading + &lines }
}

fn flaky(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let lines = ranked(report).into_iter().filter_map(|tool| {
        // Closest to half of the trials; ties go to the earliest.
        let worst = tool.flaky.iter().min_by_key(|flaky| (2 * flaky.found).abs_diff(flaky.trials))?;
        let goldens = count(tool.flaky.len(), "golden");
        let example = format!("{} ({} of {} trials)", worst.golden, worst.found, worst.trials);
        Some(format!("{}: {goldens}, such as {example}", tool.tool))
    });
    let text = listed(heading("Found in some trials only", terminal), lines, terminal);
    let all = report.tools.iter().flat_map(|tool| &tool.flaky);
    let goldens: BTreeSet<(&str, &str)> = all.map(|flaky| (flaky.case.as_str(), flaky.golden.as_str())).collect();
    Detail::new(format!("{} found in some trials only", count(goldens.len(), "golden")), text)
}

fn lucky(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
    let lines = ranked(report).into_iter().filter(|tool| !tool.lucky.is_empty()).map(|tool| {
        let mut cases: BTreeMap<&str, usize> = BTreeMap::new();
        tool.lucky.iter().for_each(|guess| *cases.entry(guess.case.as_str()).or_default() += 1);
        let named: Vec<String> = cases.iter().map(|(case, n)| format!("{case} ({n}×)")).collect();
        format!("{}: {}", tool.tool, named.join(", "))
    });
    let text = listed(heading("Called vulnerable without the target", terminal), lines, terminal);
    let verdicts: usize = report.tools.iter().map(|tool| tool.lucky.len()).sum();
    Detail::new(format!("{} without the target", count(verdicts, "right verdict")), text)
}

fn thresholds(report: &ReportV1, terminal: &TerminalStyle) -> Option<Detail> {
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
    Detail::new("thresholds that would help", listed(heading, lines, terminal))
}

const WORTH_A_THRESHOLD: f64 = 0.01;

fn expectations(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let mut out = String::new();
    let most = if terminal.verbosity.verbose { usize::MAX } else { MOST_UNMET };
    for tool in &report.tools {
        let mut lines: Vec<(&str, Style, String)> = Vec::new();
        for (result, info) in tool.cases.iter().zip(&report.cases) {
            let titles: BTreeMap<&str, &str> = info.issues.iter().map(|i| (i.id.as_str(), i.title.as_str())).collect();
            if let (false, Some(left_out)) = (result.pass, report.without(DetailV1::Misses, "its findings are")) {
                lines.push(("failed    ", RED, format!("{} ({left_out})", info.case)));
            }
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
        for (word, style, line) in lines.iter().take(most) {
            let line = grid::fit(&harmless(line), terminal.width.saturating_sub(word.len() + 4));
            out.push_str(&format!("  {}  {line}\n", paint(word, *style, terminal)));
        }
        out.push_str(&more(lines.len(), most, " with -v", terminal));
    }
    out
}

const MOST_UNMET: usize = 20;

fn warnings(report: &ReportV1, terminal: &TerminalStyle) -> String {
    let most = if terminal.verbosity.verbose { usize::MAX } else { MOST_WARNINGS };
    let word = paint("warning:", WARNING.bold(), terminal);
    let mut out = String::new();
    for warning in report.warnings.iter().take(most) {
        let lines = grid::fold(&format!("warning: {}", harmless(warning)), terminal.width.saturating_sub(2));
        for (number, line) in lines.iter().enumerate() {
            out.push_str(&match line.strip_prefix("warning:").filter(|_| number == 0) {
                Some(rest) => format!("{word}{rest}\n"),
                None => format!("  {line}\n"),
            });
        }
    }
    out + &more(report.warnings.len(), most, " warnings with -v", terminal)
}

const MOST_WARNINGS: usize = 6;
