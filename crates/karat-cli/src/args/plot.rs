//! Drawing plots.

use super::StorePlace;
use clap::{Args, ValueEnum};
use karat_report::plot::Theme;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// The kind of plot; `karat plot --list` shows them.
    #[arg(value_name = "KIND", required_unless_present = "list")]
    pub(crate) kind: Option<String>,
    /// Report JSON files or runs (ids, beginnings of ids, names, latest). The last is drawn; those before it are what came
    /// before it, oldest first.
    #[arg(value_name = "REPORT|RUN", required_unless_present = "list")]
    pub(crate) reports: Vec<String>,
    /// The metric; the one that tools are ranked by where absent.
    #[arg(long, value_name = "ID")]
    pub(crate) metric: Option<String>,
    /// The dimension of slices, such as severity; all where absent.
    #[arg(long = "by", value_name = "DIMENSION")]
    pub(crate) dimension: Option<String>,
    /// These tools only; may be given again. All where absent.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Write the picture to a file; the extension says the format (.svg .png); may be given again.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// What goes to standard output where no file is named.
    #[arg(long, value_enum, default_value_t = PlotFormat::Svg, conflicts_with = "outputs")]
    pub(crate) format: PlotFormat,
    /// Dark on light, or light on dark.
    #[arg(long, value_enum, default_value_t = PlotTheme::Light)]
    pub(crate) theme: PlotTheme,
    /// Pixels of a PNG for each unit of the picture.
    #[arg(long, value_name = "X", default_value = "2", value_parser = scale)]
    pub(crate) scale: f64,
    /// List the kinds of plots.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the list as JSON.
    #[arg(long, requires = "list")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StorePlace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    Svg,
    Png,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PlotTheme {
    Light,
    Dark,
}

impl From<PlotTheme> for Theme {
    fn from(theme: PlotTheme) -> Self {
        match theme {
            PlotTheme::Light => Self::Light,
            PlotTheme::Dark => Self::Dark,
        }
    }
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (0.1..=10.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.1 to 10".to_owned()),
    }
}
