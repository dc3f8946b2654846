//! SVG plots of reports, for pages, files and PNG. Colours come from style sheets, so that plots follow the page's theme.

mod axes;
mod diagrams;
mod outline;
mod picture;
mod points;
mod rows;
mod significance;
pub(super) mod slices;
mod subject;
pub(super) mod svg;
#[cfg(test)]
mod tests;
mod trend;
mod words;

pub use outline::built_in_fonts;
pub use picture::{Plot, RasterError, Theme};
pub use svg::{column, forest, forest_scale, interval};

use super::report_view::ReportView;

/// A kind of plot.
#[expect(missing_docs, reason = "field names say it")]
pub struct PlotKind {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Whether it needs variance components, which take a while to compute.
    pub derived: bool,
    /// Draws one plot, or one per tool or dimension.
    pub draw: DrawPlot,
}

type DrawPlot = fn(&ReportView<'_>, &PlotOptions) -> DrawnPlots;

/// The plots, or why there is nothing to draw and what would change that.
type DrawnPlots = Result<Vec<Plot>, String>;

/// What to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PlotOptions {
    /// Metric id; default: the ranking metric.
    pub metric: Option<String>,
    /// Dimension of slices, such as `severity`; default: all.
    pub dimension: Option<String>,
    pub tools: Vec<String>,
}

/// All kinds, in listing order.
pub static KINDS: &[PlotKind] = &[
    PlotKind::new("intervals", "Leaderboard", "a metric of every tool with its interval, best first", rows::intervals),
    PlotKind::new(
        "precision-recall",
        "Precision and recall",
        "precision against recall of every tool, with the curve over confidence thresholds",
        points::precision_recall,
    ),
    PlotKind::new(
        "cost-quality",
        "Cost and quality",
        "a metric against USD per case, or against time if more tools report it, with the Pareto front",
        points::cost_quality,
    ),
    PlotKind::new(
        "reliability",
        "Reliability of confidence",
        "accuracy of verdicts against their confidence, one diagram per tool",
        diagrams::reliability,
    ),
    PlotKind::new("ranks", "Ranks", "the range of ranks of every tool, by tests of all pairs", rows::ranks),
    PlotKind::new(
        "significance",
        "Pairwise comparison",
        "every pair of tools: significantly better, worse, equal, or tied",
        significance::draw,
    ),
    PlotKind::new("trend", "Trend", "a metric of every tool over several reports, with intervals", trend::draw),
    PlotKind {
        derived: true,
        ..PlotKind::new(
            "variance",
            "Variance",
            "how much cases, trials and judges contribute to the width of a tool's interval",
            rows::variance,
        )
    },
    PlotKind::new(
        "slices",
        "Parts of the suite",
        "a metric of every tool by severity, category, language or any other dimension",
        slices::draw,
    ),
    PlotKind::new(
        "sweep",
        "Thresholds",
        "precision, recall and F1 by threshold on confidence or severity, one diagram per tool",
        diagrams::sweep,
    ),
];

impl PlotKind {
    const fn new(name: &'static str, title: &'static str, description: &'static str, draw: DrawPlot) -> Self {
        Self { name, title, description, derived: false, draw }
    }
}

/// Finds a kind by name.
pub fn kind(name: &str) -> Option<&'static PlotKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The style sheet of plots and table bars, for pages; it uses the shell's variables.
pub const STYLE: &str =
    concat!(include_str!("palette.css"), include_str!("plot.css"), include_str!("figure.css"), include_str!("bar.css"));

const RULES: &str = include_str!("plot.css");
