//! Plots pairwise tests of tools as a matrix.

use super::axes::finish;
use super::subject::{self, DrawnTool};
use super::svg::{Anchor, SIZE, Svg};
use super::{DrawnPlots, PlotOptions, rows, words};
use crate::number::{p_value, signed, title};
use crate::report_view::ReportView;
use karat_format::comparison::RankTestV1;
use std::collections::BTreeMap;

pub(super) fn draw<'a>(view: &ReportView<'a>, options: &PlotOptions) -> DrawnPlots {
    let report = view.report;
    let mut tools = subject::tools(view, options)?;
    let ranking = rows::ranking(view, options)?;
    let both = |test: &'a RankTestV1| [((&*test.a, &*test.b), test), ((&*test.b, &*test.a), test)];
    let tests: BTreeMap<(&str, &str), &RankTestV1> = ranking.pairs.iter().flat_map(both).collect();
    tools.retain(|drawn| ranking.pairs.iter().any(|test| test.a == drawn.name() || test.b == drawn.name()));
    if tools.len() < 2 {
        return Err("tests need two tools with a value".to_owned());
    }
    let cell = (400.0 / tools.len() as f64).clamp(15.0, 56.0);
    let names = words::widest(tools.iter().map(DrawnTool::name), SIZE).clamp(40.0, 170.0);
    // Names of columns read upwards, and pages may use a wider font.
    let above = (1.1 * names).min(140.0);
    let (left, top) = (10.0 + names + 12.0, above + 14.0);
    let side = cell * tools.len() as f64;
    let width = (left + side + 12.0).max(400.0);
    let has_numbers = cell >= 44.0;
    let metric = title(&ranking.metric);
    let mut svg = Svg::default();
    for (row, drawn) in tools.iter().enumerate() {
        let y = top + row as f64 * cell;
        svg.name((10.0, y + cell / 2.0 + 4.5), Anchor::Start, drawn.name(), names);
        svg.name_upwards((left + row as f64 * cell + cell / 2.0 + 4.5, top - 6.0), drawn.name(), above);
        for (column, other) in tools.iter().enumerate().filter(|(column, _)| *column != row) {
            let test = tests.get(&(drawn.name(), other.name())).copied();
            let [sign, class, sign_class, verb] = relation(test, drawn.name());
            let (own, difference) = (drawn.name(), difference(test, drawn.name()));
            let words = format!("{own} {verb} {}: {metric} {}", other.name(), numbers(test, difference));
            let x = left + column as f64 * cell;
            svg.about(&words, |svg| {
                svg.rect(class, (x + 0.75, y + 0.75), (cell - 1.5, cell - 1.5));
                let middle = (x + cell / 2.0, y + cell / 2.0 + if has_numbers { -2.0 } else { 4.5 });
                svg.words(sign_class, middle, Anchor::Middle, sign);
                if let Some(difference) = difference.filter(|_| has_numbers) {
                    svg.words("small", (middle.0, middle.1 + 16.0), Anchor::Middle, &short(difference));
                }
            });
            if column > row {
                svg.sentences.push(words);
            }
        }
    }
    let percent = 100.0 * ranking.level;
    let notes = [
        format!(
            "Each row compared with each column by {metric}: + significantly better, − significantly worse, = equal in every \
             case, ? statistically tied."
        ),
        format!("All pairs are tested together at {percent:.0} % (Holm)."),
    ];
    let title = format!("Pairwise comparison by {metric}");
    Ok(vec![finish(svg, report, (width, top + side + 8.0), &notes, title)])
}

/// The sign of a relation, the classes of its cell and of its sign, and its verb.
fn relation(test: Option<&RankTestV1>, own: &str) -> [&'static str; 4] {
    let is_same = test.is_some_and(|test| test.p.is_some() && test.differing == 0);
    match test.and_then(|test| test.better.as_deref()) {
        Some(better) if better == own => ["+", "better", "is-better", "is better than"],
        Some(_) => ["−", "worse", "is-worse", "is worse than"],
        None if is_same => ["=", "same", "is-same", "equals"],
        None => ["?", "open", "dim", "is statistically tied with"],
    }
}

/// How much better the tool is than the other of the pair.
fn difference(test: Option<&RankTestV1>, own: &str) -> Option<f64> {
    let test = test.filter(|test| test.p.is_some())?;
    let turned = |difference: f64| if test.b == own { difference } else { -difference };
    test.difference.filter(|v| subject::is_drawable(*v)).map(turned)
}

fn numbers(test: Option<&RankTestV1>, difference: Option<f64>) -> String {
    match test.filter(|test| test.p.is_some()) {
        Some(test) => format!("{}, p {}", signed(difference), p_value(test.p_holm)),
        None => "was not tested".to_owned(),
    }
}

/// A difference that fits into a cell: `+.40`, `−12`.
fn short(difference: f64) -> String {
    match difference.abs() {
        size if size < 0.005 => "0".to_owned(),
        size if size < 1.0 => format!("{difference:+.2}").replacen("0.", ".", 1).replacen('-', "−", 1),
        size if size < 1e4 => format!("{difference:+.0}").replacen('-', "−", 1),
        _ => String::new(),
    }
}
