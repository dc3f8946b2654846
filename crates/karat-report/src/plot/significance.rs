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
    let cell = (640.0 / tools.len() as f64).clamp(15.0, 30.0);
    let names = words::widest(tools.iter().map(DrawnTool::name), SIZE).clamp(60.0, 190.0);
    let (left, top) = (10.0 + names + 34.0, 26.0);
    let side = cell * tools.len() as f64;
    let width = (left + side + 12.0).max(400.0);
    let metric = title(&ranking.metric);
    let mut svg = Svg::default();
    for (row, drawn) in tools.iter().enumerate() {
        let y = top + row as f64 * cell;
        svg.name((10.0, y + cell / 2.0 + 4.5), Anchor::Start, drawn.name(), names);
        let number = (row + 1).to_string();
        svg.words("dim small", (left - 8.0, y + cell / 2.0 + 4.0), Anchor::End, &number);
        // In small cells, neighbouring labels would touch.
        if cell >= 18.0 || row % 2 == 0 {
            svg.words("dim small", (left + row as f64 * cell + cell / 2.0, top - 8.0), Anchor::Middle, &number);
        }
        for (column, other) in tools.iter().enumerate().filter(|(column, _)| *column != row) {
            let test = tests.get(&(drawn.name(), other.name())).copied();
            let [sign, class, sign_class, verb] = relation(test, drawn.name());
            let (own, numbers) = (drawn.name(), numbers(test, drawn.name()));
            let words = format!("{own} {verb} {}: {metric} {numbers}", other.name());
            let x = left + column as f64 * cell;
            svg.about(&words, |svg| {
                svg.rect(class, (x + 0.75, y + 0.75), (cell - 1.5, cell - 1.5));
                svg.words(sign_class, (x + cell / 2.0, y + cell / 2.0 + 4.5), Anchor::Middle, sign);
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
        format!("All pairs are tested together at {percent:.0} % (Holm). Columns are numbered like rows."),
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

fn numbers(test: Option<&RankTestV1>, own: &str) -> String {
    let Some(test) = test.filter(|test| test.p.is_some()) else { return "was not tested".to_owned() };
    let turned = |difference: f64| if test.b == own { difference } else { -difference };
    let difference = test.difference.filter(|v| subject::is_drawable(*v)).map(turned);
    format!("{}, p {}", signed(difference), p_value(test.p_holm))
}
