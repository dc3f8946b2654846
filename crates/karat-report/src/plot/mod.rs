//! SVG plots of reports, for pages, files and PNG. Colours come from style sheets, so that plots follow the page's theme.

mod axes;
mod cost_quality;
mod intervals;
mod picture;
mod precision_recall;
mod ranks;
mod reliability;
pub(super) mod scale;
mod significance;
mod slices;
mod subject;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod trend;
mod variance;
mod words;

pub use picture::{Plot, RasterError, Theme};
pub use svg::{column, interval};

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
    pub draw: fn(&ReportView<'_>, &PlotOptions) -> Result<Vec<Plot>, NothingToDraw>,
}

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

/// Why there is nothing to draw, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NothingToDraw(pub String);

/// All kinds, in listing order.
pub static KINDS: &[PlotKind] = &[
    PlotKind {
        name: "intervals",
        title: "Leaderboard",
        description: "a metric of every tool with its interval, best first",
        derived: false,
        draw: intervals::draw,
    },
    PlotKind {
        name: "precision-recall",
        title: "Precision and recall",
        description: "precision against recall of every tool, with the curve over confidence thresholds",
        derived: false,
        draw: precision_recall::draw,
    },
    PlotKind {
        name: "cost-quality",
        title: "Cost and quality",
        description: "a metric against USD per case, or against time if more tools report it, with the Pareto front",
        derived: false,
        draw: cost_quality::draw,
    },
    PlotKind {
        name: "reliability",
        title: "Reliability of confidence",
        description: "accuracy of verdicts against their confidence, one diagram per tool",
        derived: false,
        draw: reliability::draw,
    },
    PlotKind {
        name: "ranks",
        title: "Ranks",
        description: "the range of ranks of every tool, by tests of all pairs",
        derived: false,
        draw: ranks::draw,
    },
    PlotKind {
        name: "significance",
        title: "Pairwise comparison",
        description: "every pair of tools: significantly better, worse, equal, or tied",
        derived: false,
        draw: significance::draw,
    },
    PlotKind {
        name: "trend",
        title: "Trend",
        description: "a metric of every tool over several reports, with intervals",
        derived: false,
        draw: trend::draw,
    },
    PlotKind {
        name: "variance",
        title: "Variance",
        description: "how much cases, trials and judges contribute to the width of a tool's interval",
        derived: true,
        draw: variance::draw,
    },
    PlotKind {
        name: "slices",
        title: "Parts of the suite",
        description: "a metric of every tool by severity, category, language or any other dimension",
        derived: false,
        draw: slices::draw,
    },
    PlotKind {
        name: "sweep",
        title: "Thresholds",
        description: "precision, recall and F1 by threshold on confidence or severity, one diagram per tool",
        derived: false,
        draw: sweep::draw,
    },
];

/// Finds a kind by name.
pub fn kind(name: &str) -> Option<&'static PlotKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The style sheet of plots and table bars, for pages; it uses the shell's variables.
pub const STYLE: &str =
    concat!(include_str!("palette.css"), include_str!("plot.css"), include_str!("figure.css"), include_str!("bar.css"));

const RULES: &str = include_str!("plot.css");
