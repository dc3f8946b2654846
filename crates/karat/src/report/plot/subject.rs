//! What plots are about: the chosen tools, and figures that can be drawn.

use super::{Choice, Nothing};
use crate::format::report::{EstimateV1, ReportV1, ToolV1};
use crate::report::exhibit::Exhibit;
use crate::report::number::{count, goodness, headline, rank_metric, ranked, span, three, title};
use karat_core::metric::table::Direction;

/// A tool, and the number of its look. A tool looks the same on all plots of a report.
#[derive(Clone, Copy)]
pub(super) struct Drawn<'a> {
    pub(super) tool: &'a ToolV1,
    pub(super) series: usize,
}

impl<'a> Drawn<'a> {
    pub(super) fn name(&self) -> &'a str {
        &self.tool.tool
    }
}

/// The chosen tools, best first.
pub(super) fn tools<'a>(exhibit: &Exhibit<'a>, choice: &Choice) -> Result<Vec<Drawn<'a>>, Nothing> {
    let all: Vec<Drawn<'a>> =
        ranked(exhibit.report).into_iter().enumerate().map(|(series, tool)| Drawn { tool, series }).collect();
    if all.is_empty() {
        return Err(Nothing("the report holds no tool; score a submission first".to_owned()));
    }
    if let Some(name) = choice.tools.iter().find(|name| !all.iter().any(|drawn| drawn.name() == *name)) {
        let there: Vec<&str> = all.iter().map(Drawn::name).collect();
        return Err(Nothing(format!("the report has no tool `{name}`; there are {}", there.join(", "))));
    }
    let chosen = |drawn: &Drawn<'_>| choice.tools.is_empty() || choice.tools.iter().any(|name| name == drawn.name());
    Ok(all.into_iter().filter(chosen).collect())
}

/// The chosen metric, or the one that ranks tools.
pub(super) fn metric<'a>(exhibit: &'a Exhibit<'_>, choice: &'a Choice) -> Result<&'a str, Nothing> {
    let id = choice.metric.as_deref().unwrap_or_else(|| rank_metric(exhibit.report));
    match exhibit.report.tools.iter().any(|tool| estimate(exhibit.report, tool, id).is_some()) {
        true => Ok(id),
        false => Err(Nothing(format!(
            "no tool of the report has the metric `{id}`; `karat metrics list` has those that there are"
        ))),
    }
}

/// Refuses a metric where a plot has its own figures.
pub(super) fn no_metric(choice: &Choice, figures: &str) -> Result<(), Nothing> {
    match &choice.metric {
        None => Ok(()),
        Some(_) => Err(Nothing(format!("this plot shows {figures} and no other metric; leave the metric out"))),
    }
}

/// A number that can be drawn, and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) ci: Option<[f64; 2]>,
}

impl Figure {
    /// The value with the ends of its interval.
    pub(super) fn all(&self) -> impl Iterator<Item = f64> + use<> {
        [self.value].into_iter().chain(self.ci.into_iter().flatten())
    }

    /// `0.818 (.66–.88)`.
    pub(super) fn said(&self) -> String {
        let value = three(Some(self.value));
        self.ci.map_or(value.clone(), |ci| format!("{value} ({})", span(Some(ci))))
    }
}

/// A tool's figure, or why it has none.
pub(super) fn figure(report: &ReportV1, tool: &ToolV1, id: &str) -> Result<Figure, String> {
    let Some(estimate) = estimate(report, tool, id) else { return Err("not measured".to_owned()) };
    of(estimate)
}

/// The figure of an estimate, or why it is none.
pub(super) fn of(estimate: &EstimateV1) -> Result<Figure, String> {
    let Some(value) = estimate.value else {
        return Err(estimate.undefined.clone().unwrap_or_else(|| "undefined".to_owned()));
    };
    if !is_drawable(value) {
        return Err("too large to draw".to_owned());
    }
    // Ends of an interval come in order, but a file may say otherwise.
    let ci = estimate.ci.filter(|ci| ci.iter().all(|end| is_drawable(*end)));
    Ok(Figure { value, ci: ci.map(|[a, b]| [a.min(b), a.max(b)]) })
}

/// Whether a number is one, and of a size that an axis can state.
pub(super) fn is_drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e9
}

fn estimate<'r>(report: &ReportV1, tool: &'r ToolV1, id: &str) -> Option<&'r EstimateV1> {
    headline(report, tool).get(id).or_else(|| tool.metrics.get(id))
}

/// Tools from best to worst by any metric; those without a value last.
pub(super) fn by_metric<'a>(report: &ReportV1, mut tools: Vec<Drawn<'a>>, id: &str) -> Vec<Drawn<'a>> {
    let key = |drawn: &Drawn<'_>| estimate(report, drawn.tool, id).and_then(goodness).filter(|v| v.is_finite());
    tools.sort_by(|a, b| match (key(a), key(b)) {
        (Some(x), Some(y)) => y.total_cmp(&x),
        (x, y) => y.is_some().cmp(&x.is_some()),
    });
    tools
}

/// Whether less of a metric is better.
pub(super) fn is_down(report: &ReportV1, id: &str) -> bool {
    let stated = report.tools.iter().find_map(|tool| estimate(report, tool, id)).map(|e| e.direction);
    stated == Some(Direction::Down)
}

/// A metric's title for an axis.
pub(super) fn axis_title(report: &ReportV1, id: &str) -> String {
    format!("{}{}", title(id), if is_down(report, id) { " (less is better)" } else { "" })
}

/// What a plot is about, in a line.
pub(super) fn about(report: &ReportV1) -> String {
    format!("{} · {} · profile {}", report.suite.name, count(report.suite.cases, "case"), report.profile.name)
}

/// How intervals were made, in a few words.
pub(super) fn level(report: &ReportV1) -> String {
    format!("{} % intervals", report.intervals.level * 100.0)
}
