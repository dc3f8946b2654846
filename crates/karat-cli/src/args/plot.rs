//! `karat plot`.

use super::StorePlace;
use super::choices::{PlotFormat, PlotTheme};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Kind of plot; `karat plot --list` shows them.
    #[arg(value_name = "KIND", required_unless_present = "list")]
    pub(crate) kind: Option<String>,
    /// Report JSON files or runs (id, id prefix, name, or latest), oldest first. The last is drawn; the earlier ones are
    /// its history.
    #[arg(value_name = "REPORT|RUN", required_unless_present = "list")]
    pub(crate) reports: Vec<String>,
    /// Metric; default: the one tools are ranked by.
    #[arg(long, value_name = "ID")]
    pub(crate) metric: Option<String>,
    /// Dimension of slices, such as severity; default: all.
    #[arg(long = "by", value_name = "DIMENSION")]
    pub(crate) dimension: Option<String>,
    /// Draw only this tool; repeatable; default: all.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Write the picture to a file; the extension selects the format (.svg .png); repeatable.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Format on standard output, if there is no -o.
    #[arg(long, value_enum, default_value_t = PlotFormat::Svg, conflicts_with = "outputs")]
    pub(crate) format: PlotFormat,
    /// Colour theme.
    #[arg(long, value_enum, default_value_t = PlotTheme::Light)]
    pub(crate) theme: PlotTheme,
    /// PNG pixels per unit of the picture.
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

fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (0.1..=10.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.1 to 10".to_owned()),
    }
}
