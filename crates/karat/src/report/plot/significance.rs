//! Every two tools held against each other: a sign and a colour for what may be said of them.

use super::axes::notes;
use super::subject::{self, Drawn};
use super::svg::{Anchor, SIZE, Svg};
use super::{Choice, Nothing, Plot, words};
use crate::format::comparison::{ConclusionV1, DifferenceV1, PairV1};
use crate::report::exhibit::Exhibit;
use crate::report::number::{rank_metric, signed, title};

pub(super) fn draw(exhibit: &Exhibit<'_>, choice: &Choice) -> Result<Vec<Plot>, Nothing> {
    let (report, id) = (exhibit.report, subject::metric(exhibit, choice)?);
    if id != rank_metric(report) {
        let by = title(rank_metric(report));
        return Err(Nothing(format!(
            "tools are held against each other by {by} here; for another metric use `karat compare --all-pairs --metric {id}`"
        )));
    }
    let mut tools = subject::tools(exhibit, choice)?;
    let comparison = exhibit.comparison.as_ref().filter(|_| tools.len() > 1).ok_or_else(|| {
        Nothing("it takes two tools that were scored on the same cases to hold them against each other".to_owned())
    })?;
    let all = tools.len();
    let is_in = |drawn: &Drawn<'_>| {
        comparison.comparisons.iter().any(|pair| [&pair.a, &pair.b].iter().any(|side| side.tool == drawn.name()))
    };
    tools.retain(is_in);
    let left_out = all - tools.len();
    if tools.len() < 2 {
        return Err(Nothing(format!(
            "only the best of so many tools are held against each other here, and {left_out} of those chosen are not among \
             them; `karat compare --all-pairs` takes the time to compare all"
        )));
    }
    let cell = (640.0 / tools.len() as f64).clamp(15.0, 30.0);
    let widest = tools.iter().map(|drawn| words::width(drawn.name(), SIZE)).fold(0.0, f64::max);
    let names = widest.clamp(60.0, 190.0);
    let (left, top) = (10.0 + names + 34.0, 26.0);
    let side = cell * tools.len() as f64;
    let width = (left + side + 12.0).max(400.0);
    let mut svg = Svg::default();
    let mut said = Vec::new();
    for (row, drawn) in tools.iter().enumerate() {
        let y = top + row as f64 * cell;
        svg.name((10.0, y + cell / 2.0 + 4.5), Anchor::Start, drawn.name(), names);
        let number = (row + 1).to_string();
        svg.words("dim small", (left - 8.0, y + cell / 2.0 + 4.0), Anchor::End, &number);
        // Numbers of neighbours would touch each other where cells are small.
        if cell >= 18.0 || row % 2 == 0 {
            svg.words("dim small", (left + row as f64 * cell + cell / 2.0, top - 8.0), Anchor::Middle, &number);
        }
        for (column, other) in tools.iter().enumerate().filter(|(column, _)| *column != row) {
            let found = seen_from(&comparison.comparisons, drawn, other, id);
            let (sign, class, sign_class, verdict) = match found.as_ref().map(|found| found.verdict) {
                Some(ConclusionV1::Better) => ("+", "better", "is-better", "better than"),
                Some(ConclusionV1::Worse) => ("−", "worse", "is-worse", "worse than"),
                Some(ConclusionV1::Equivalent) => ("=", "same", "is-same", "equivalent to"),
                Some(ConclusionV1::Inconclusive) | None => ("?", "open", "dim", "not to be told apart from"),
            };
            let numbers = found.as_ref().map_or_else(
                || "they were not compared".to_owned(),
                |found| format!("{} {}{}", title(id), signed(found.difference), interval(found.ci)),
            );
            let words = format!("{} is {verdict} {}: {numbers}", drawn.name(), other.name());
            let x = left + column as f64 * cell;
            svg.about(&words, |svg| {
                svg.rect(class, (x + 0.75, y + 0.75), (cell - 1.5, cell - 1.5));
                svg.words(sign_class, (x + cell / 2.0, y + cell / 2.0 + 4.5), Anchor::Middle, sign);
            });
            if column > row {
                said.push(words);
            }
        }
    }
    let foot = top + side + 8.0;
    let mut remarks = vec![
        format!(
            "Each row against each column by {}: + better, − worse, = equivalent, ? the data cannot tell.",
            title(id)
        ),
        format!(
            "Differences within ± {} do not matter. Tools stand in order, so columns have the numbers of rows.",
            comparison.margin
        ),
    ];
    if left_out > 0 {
        remarks.push(format!(
            "The best {} of {all} tools: to tell so many pairs apart on so many cases takes long. `karat compare --all-pairs` \
             takes the time.",
            tools.len()
        ));
    }
    let height = foot + notes(&mut svg, &remarks, (10.0, foot), width - 20.0) + 6.0;
    Ok(vec![Plot {
        title: format!("Who is better than whom by {}", title(id)),
        description: format!("{}.", said.join("; ")),
        about: subject::about(report),
        size: (width, height),
        marks: svg.done(),
    }])
}

/// How one tool stands to another.
struct Seen {
    verdict: ConclusionV1,
    difference: Option<f64>,
    ci: Option<[f64; 2]>,
}

/// How the first tool stands to the second, whichever way they were compared.
fn seen_from(pairs: &[PairV1], own: &Drawn<'_>, other: &Drawn<'_>, id: &str) -> Option<Seen> {
    let of = |pair: &'_ PairV1| -> Option<Seen> {
        let found: &DifferenceV1 = pair.metrics.iter().find(|difference| difference.metric == id)?;
        let finite = |value: &f64| subject::is_drawable(*value);
        let difference = found.difference.filter(finite);
        let ci = found.ci.filter(|ci| ci.iter().all(finite));
        if pair.b.tool == own.name() {
            return Some(Seen { verdict: found.verdict, difference, ci });
        }
        let verdict = match found.verdict {
            ConclusionV1::Better => ConclusionV1::Worse,
            ConclusionV1::Worse => ConclusionV1::Better,
            same => same,
        };
        Some(Seen { verdict, difference: difference.map(|d| -d), ci: ci.map(|[low, high]| [-high, -low]) })
    };
    let is_these = |pair: &&PairV1| {
        (pair.a.tool == own.name() && pair.b.tool == other.name())
            || (pair.b.tool == own.name() && pair.a.tool == other.name())
    };
    pairs.iter().find(is_these).and_then(of)
}

fn interval(ci: Option<[f64; 2]>) -> String {
    ci.map_or_else(String::new, |[low, high]| format!(" ({} to {})", signed(Some(low)), signed(Some(high))))
}
