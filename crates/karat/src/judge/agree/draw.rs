//! Agreement for people at a terminal.

use super::opinions::Item;
use super::{Agreement, Alpha, Confusion, Disagreement, Figure, RaterPair, Sureness};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::TerminalStyle;
use karat_report::grid::{self, Cell};
use karat_report::number::{or_dash, three};
use karat_report::table::audit_agreement;

const WIDEST: usize = 12;

/// The figures, the confusion table and the disagreements.
pub fn draw(agreement: &Agreement, look: &TerminalStyle) -> String {
    let Agreement { on, raters, items, percent, .. } = agreement;
    let shared = match percent.sure.n {
        n if n == *items => String::new(),
        n => format!(", {n} of them rated by two or more"),
    };
    let raters_count = count(raters.len(), "rater");
    let mut out = String::new();
    if let Some(audits) = &agreement.audits {
        out = format!("{}\n", audit_agreement(audits, look));
    }
    out.push_str(&format!("Agreement on {on}: {raters_count}, {}{shared}\n\n", count(*items, "item")));
    out.push_str(&figures(agreement, look));
    if !agreement.cohen.is_empty() {
        out.push('\n');
        out.push_str(&pairs(&agreement.cohen, look));
    }
    if let Some(confusion) = agreement.confusion.as_ref().filter(|c| c.values.len() <= WIDEST) {
        out.push_str(&confused(confusion, agreement.cohen.len() > 1, look));
    }
    out.push_str(&divided(agreement, look));
    out.push_str(&format!(
        "\nIntervals at 95 %: bootstrap over items (BCa, {} resamples, seed {}){}.\n",
        agreement.resamples,
        agreement.seed,
        if percent.sure.method == Some("wilson") { "; of the percentage, Wilson" } else { "" },
    ));
    out
}

fn figures(agreement: &Agreement, look: &TerminalStyle) -> String {
    let mut rows = vec![grid::header("figure", ["value", "95 % interval", "items"])];
    let mut row = |name: &str, figure: &Figure, show: fn(f64) -> String| {
        let interval = figure.sure.ci.map(|[low, high]| format!("{} to {}", show(low), show(high)));
        rows.push(vec![
            Cell::left(name),
            Cell::right(or_dash(figure.value.map(show))),
            Cell::right(or_dash(interval)),
            Cell::right(figure.sure.n.to_string()),
        ]);
    };
    let plain = |value: f64| three(Some(value));
    row("percent", &agreement.percent, |value| format!("{:.1} %", value * 100.0));
    row("Fleiss' kappa", &agreement.fleiss, plain);
    let Alpha { nominal, ordinal, interval, .. } = &agreement.krippendorff;
    for (name, figure) in [("nominal", Some(nominal)), ("ordinal", ordinal.as_ref()), ("interval", interval.as_ref())] {
        if let Some(figure) = figure {
            row(&format!("Krippendorff's alpha, {name}"), figure, plain);
        }
    }
    row("Gwet's AC1", &agreement.ac1, plain);
    let mut out = grid::draw(&rows, look.width, look.colour);
    out.push_str(&reasons(agreement));
    out
}

/// Why figures or intervals are missing, each reason once.
fn reasons(agreement: &Agreement) -> String {
    let Alpha { nominal, ordinal, interval, .. } = &agreement.krippendorff;
    let figures = [&agreement.percent, &agreement.fleiss, nominal, &agreement.ac1].into_iter();
    let mut all: Vec<&Sureness> = figures.chain(ordinal).chain(interval).map(|figure| &figure.sure).collect();
    all.extend(agreement.cohen.iter().map(|pair| &pair.sure));
    let mut lines: Vec<String> = Vec::new();
    for sure in all {
        let undefined = sure.undefined.map(|reason| format!("  – no value: {reason}\n"));
        for line in undefined.into_iter().chain(sure.no_ci.map(|reason| format!("  – no interval: {reason}\n"))) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if agreement.percent.sure.unreliable {
        lines.push(format!("  – fewer than {RELIABLE_N} items: too few to rely on\n"));
    }
    lines.concat()
}

fn pairs(pairs: &[RaterPair], look: &TerminalStyle) -> String {
    let weighted = pairs.iter().any(|pair| pair.linear.is_some());
    let mut heads = vec!["kappa", "95 % interval"];
    heads.extend(["linear", "quadratic"].iter().filter(|_| weighted));
    heads.push("items");
    // Both names are cut alike, so that of long ones the second does not vanish.
    let room = look.width.saturating_sub(if weighted { 62 } else { 44 }).max(32) / 2;
    let label = |pair: &RaterPair| format!("{} × {}", grid::fit(&pair.a, room), grid::fit(&pair.b, room));
    let mut rows = vec![grid::header("Cohen's kappa", heads)];
    for pair in pairs {
        let interval = pair.sure.ci.map(|[low, high]| format!("{} to {}", three(Some(low)), three(Some(high))));
        let mut row = vec![Cell::left(label(pair)), Cell::right(three(pair.kappa)), Cell::right(or_dash(interval))];
        row.extend(pair.linear.iter().chain(&pair.quadratic).map(|figure| Cell::right(three(figure.value))));
        row.push(Cell::right(pair.sure.n.to_string()));
        rows.push(row);
    }
    grid::draw(&rows, look.width, look.colour)
}

fn confused(confusion: &Confusion, several: bool, look: &TerminalStyle) -> String {
    let Confusion { a, b, values, counts } = confusion;
    let least = if several { ", the pair that agrees least" } else { "" };
    let mut out = format!("\n{} (down) and {} (across){least}\n", harmless(a), harmless(b));
    let mut rows = vec![grid::header("", values.iter().map(|value| grid::fit(value, 16)))];
    for (value, row) in values.iter().zip(counts) {
        let cells = row.iter().map(|n| Cell::right(n.to_string()));
        rows.push([Cell::left(grid::fit(value, 24))].into_iter().chain(cells).collect());
    }
    out.push_str(&grid::draw(&rows, look.width, look.colour));
    out
}

fn divided(agreement: &Agreement, look: &TerminalStyle) -> String {
    let (total, shown) = (agreement.disagreements_total, &agreement.disagreements);
    if total == 0 {
        return "\nAll raters agree on every item.\n".to_owned();
    }
    let most =
        if shown.len() < total { format!("the {} most divided of {total}", shown.len()) } else { total.to_string() };
    let mut out = format!("\nDisagreements ({most})\n");
    for Disagreement { item, ratings } in shown {
        out.push_str(&grid::fit(&format!("  {}", harmless(&name(item))), look.width));
        out.push('\n');
        for rating in ratings {
            let why = rating.explanation.as_deref().map(|text| format!("  {}", one_line(text))).unwrap_or_default();
            let line = format!("    {}: {}{why}", one_line(&rating.rater), one_line(&rating.value));
            out.push_str(&grid::fit(&harmless(&line), look.width));
            out.push('\n');
        }
    }
    out
}

fn name(item: &Item) -> String {
    let trial = item.trial.map(|number| format!("trial {number}"));
    let parts =
        [item.item.clone(), item.case.clone(), item.tool.clone(), trial, item.golden.clone(), item.finding.clone()];
    parts.into_iter().flatten().map(|part| one_line(&part)).collect::<Vec<_>>().join(" · ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
