//! Selects the tools and figures to plot.

use super::{DrawnPlots, Plot, PlotOptions};
use crate::number::{best_first, goodness, rank_metric, ranked, span, stated, three, title};
use crate::report_view::ReportView;
use karat_core::metric::table::Direction;
use karat_format::report::{EstimateV1, ReportV1, ToolV1};

#[derive(Clone, Copy)]
pub(super) struct DrawnTool<'a> {
    pub(super) tool: &'a ToolV1,
    pub(super) series: usize,
}

impl<'a> DrawnTool<'a> {
    pub(super) fn name(&self) -> &'a str {
        &self.tool.tool
    }
}

pub(super) fn tools<'a>(view: &ReportView<'a>, options: &PlotOptions) -> Result<Vec<DrawnTool<'a>>, String> {
    let all: Vec<DrawnTool<'a>> =
        ranked(view.report).into_iter().enumerate().map(|(series, tool)| DrawnTool { tool, series }).collect();
    if all.is_empty() {
        return Err("the report contains no tool; score a submission first".to_owned());
    }
    if let Some(name) = options.tools.iter().find(|name| !all.iter().any(|drawn| drawn.name() == *name)) {
        let there: Vec<&str> = all.iter().map(DrawnTool::name).collect();
        return Err(format!("the report has no tool `{name}`; available: {}", there.join(", ")));
    }
    let chosen =
        |drawn: &DrawnTool<'_>| options.tools.is_empty() || options.tools.iter().any(|name| name == drawn.name());
    Ok(all.into_iter().filter(chosen).collect())
}

pub(super) fn metric<'a>(view: &'a ReportView<'_>, options: &'a PlotOptions) -> Result<&'a str, String> {
    let id = options.metric.as_deref().unwrap_or_else(|| rank_metric(view.report));
    if !view.report.tools.iter().any(|tool| stated(view.report, tool, id).is_some()) {
        return Err(format!("no tool of the report has the metric `{id}`; `karat metrics list` lists all metrics"));
    }
    Ok(id)
}

pub(super) fn no_metric(options: &PlotOptions, figures: &str) -> Result<(), String> {
    match &options.metric {
        None => Ok(()),
        Some(_) => Err(format!("this plot always shows {figures}; omit the metric")),
    }
}

pub(super) fn not_empty(plots: Vec<Plot>, why: impl FnOnce() -> String) -> DrawnPlots {
    if plots.is_empty() { Err(why()) } else { Ok(plots) }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) ci: Option<[f64; 2]>,
}

impl Figure {
    pub(super) fn all(&self) -> impl Iterator<Item = f64> + use<> {
        [self.value].into_iter().chain(self.ci.into_iter().flatten())
    }

    /// Such as `0.818 (.66–.88)`.
    pub(super) fn to_text(self) -> String {
        let value = three(Some(self.value));
        self.ci.map_or(value.clone(), |ci| format!("{value} ({})", span(Some(ci))))
    }
}

pub(super) fn figure(report: &ReportV1, tool: &ToolV1, id: &str) -> Result<Figure, String> {
    stated(report, tool, id).map_or_else(|| Err("not measured".to_owned()), figure_from)
}

pub(super) fn figure_from(estimate: &EstimateV1) -> Result<Figure, String> {
    let Some(value) = estimate.value else {
        return Err(estimate.undefined.clone().unwrap_or_else(|| "undefined".to_owned()));
    };
    if !is_drawable(value) {
        return Err("too large to draw".to_owned());
    }
    // A file may have the ends in the wrong order.
    let ci = estimate.ci.filter(|ci| ci.iter().all(|end| is_drawable(*end)));
    Ok(Figure { value, ci: ci.map(|[a, b]| [a.min(b), a.max(b)]) })
}

pub(super) fn is_share(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

pub(super) fn is_drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e9
}

pub(super) fn by_metric<'a>(report: &ReportV1, mut tools: Vec<DrawnTool<'a>>, id: &str) -> Vec<DrawnTool<'a>> {
    let key = |drawn: &DrawnTool<'_>| stated(report, drawn.tool, id).and_then(goodness).filter(|v| v.is_finite());
    tools.sort_by(|a, b| best_first(key(a), key(b)));
    tools
}

pub(super) fn is_down(report: &ReportV1, id: &str) -> bool {
    let estimate = report.tools.iter().find_map(|tool| stated(report, tool, id));
    estimate.is_some_and(|estimate| estimate.direction == Direction::Down)
}

pub(super) fn axis_title(report: &ReportV1, id: &str) -> String {
    format!("{}{}", title(id), if is_down(report, id) { " (less is better)" } else { "" })
}

pub(super) fn level(report: &ReportV1) -> String {
    format!("{} % intervals", report.intervals.level * 100.0)
}
