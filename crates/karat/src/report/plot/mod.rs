//! Plots: what a report says, as pictures in SVG. One module draws them for pages, files and terminals without a page; colours
//! come from style sheets, so that a page and its plots are light or dark together.

mod axes;
mod bar;
mod cost_quality;
mod intervals;
mod picture;
mod precision_recall;
mod ranks;
mod raster;
mod reliability;
pub(super) mod scale;
mod significance;
mod slices;
mod subject;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod theme;
mod trend;
mod variance;
mod words;

pub use bar::{column, interval};
pub use picture::Plot;
pub use raster::Unpainted;
pub use theme::Theme;

use super::exhibit::Exhibit;

/// A kind of plot.
pub struct Kind {
    /// The name it is asked for by.
    pub name: &'static str,
    /// What stands above it.
    pub title: &'static str,
    /// What it shows.
    pub description: &'static str,
    /// Whether it draws what stands beside a report, shares of the spread, which take a while to gather.
    pub derived: bool,
    /// Draws it: one plot, or one for each tool or dimension.
    pub draw: fn(&Exhibit<'_>, &Choice) -> Result<Vec<Plot>, Nothing>,
}

/// What of an exhibit is drawn. What is not chosen is what most would choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The metric, by id; the one that ranks tools where absent.
    pub metric: Option<String>,
    /// The dimension of slices, such as `severity`; all where absent.
    pub dimension: Option<String>,
    /// The tools; all where empty.
    pub tools: Vec<String>,
}

/// Why there is nothing to draw, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Nothing(pub String);

/// All kinds, in the order in which they are listed.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "intervals",
        title: "Leaderboard",
        description: "a metric of every tool with its interval, best first",
        derived: false,
        draw: intervals::draw,
    },
    Kind {
        name: "precision-recall",
        title: "Precision and recall",
        description: "how much of what is reported is true against how much of what is true is reported, with what thresholds would leave",
        derived: false,
        draw: precision_recall::draw,
    },
    Kind {
        name: "cost-quality",
        title: "Cost and quality",
        description: "a metric against USD per case, or against time where that is known of more tools, and the tools that none beats in both",
        derived: false,
        draw: cost_quality::draw,
    },
    Kind {
        name: "reliability",
        title: "Reliability of confidence",
        description: "how often verdicts are right against how sure tools are of them, one diagram for each tool",
        derived: false,
        draw: reliability::draw,
    },
    Kind {
        name: "ranks",
        title: "Ranks",
        description: "the ranks that every tool may have, by tests of all pairs",
        derived: false,
        draw: ranks::draw,
    },
    Kind {
        name: "significance",
        title: "Who is better than whom",
        description: "every two tools: significantly better, worse, the same, or no significant difference",
        derived: false,
        draw: significance::draw,
    },
    Kind {
        name: "trend",
        title: "Trend",
        description: "a metric of every tool over several reports, with intervals",
        derived: false,
        draw: trend::draw,
    },
    Kind {
        name: "variance",
        title: "Where the spread comes from",
        description: "shares of cases, trials and judges in the width of a tool's interval",
        derived: true,
        draw: variance::draw,
    },
    Kind {
        name: "slices",
        title: "Parts of the suite",
        description: "a metric of every tool by severity, category, language or any other dimension",
        derived: false,
        draw: slices::draw,
    },
    Kind {
        name: "sweep",
        title: "Thresholds",
        description: "precision, recall and F1 of what a threshold on confidence or severity would leave, one diagram for each tool",
        derived: false,
        draw: sweep::draw,
    },
];

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The style sheet of plots and of bars in tables, for pages: it needs the variables of the shell.
pub const STYLE: &str =
    concat!(include_str!("palette.css"), include_str!("plot.css"), include_str!("figure.css"), include_str!("bar.css"));

/// What of it pictures that stand alone need.
const RULES: &str = include_str!("plot.css");
