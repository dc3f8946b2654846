//! A finished plot: inline in a page, as an SVG file, or as a PNG.

use super::svg::{Anchor, SIZE, SMALL, Svg, number};
use super::theme::Theme;
use super::{raster, words};
use crate::page::text;
use sha2::{Digest, Sha256};

/// A finished plot.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Plot {
    pub title: String,
    /// Text alternative for readers who cannot see the plot.
    pub description: String,
    /// Subtitle of a standalone plot: the suite and the number of cases.
    pub about: String,
    pub(super) size: (f64, f64),
    pub(super) marks: String,
}

impl Plot {
    /// The plot as part of a page with [`super::STYLE`], at most as wide as drawn.
    pub fn inline(&self) -> String {
        let (width, height) = (number(self.size.0), number(self.size.1));
        let class = if self.size.0 > WIDE { "plot wide" } else { "plot" };
        format!(
            "<svg class=\"{class}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" {}>{}{}</svg>",
            self.named(),
            self.words(),
            self.marks
        )
    }

    /// The plot as an SVG file with its title and a theme's colours.
    pub fn standalone(&self, theme: Theme) -> String {
        let room = self.size.0 - 2.0 * MARGIN;
        let mut head = Svg::default();
        head.words("strong", (MARGIN, MARGIN + 10.0), Anchor::Start, &words::fit(&self.title, room, SIZE * 1.1));
        head.words("dim small", (MARGIN, MARGIN + 28.0), Anchor::Start, &words::fit(&self.about, room, SMALL));
        let (width, height) = (self.size.0, self.size.1 + HEAD + MARGIN);
        let size = format!("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"", number(width), number(height));
        let mut ground = Svg::default();
        ground.rect("paper", (0.0, 0.0), (width, height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" {size} {}>{}<style>{}</style>{}{}<g transform=\"translate(0 {})\">{}</g></svg>\n",
            self.named(),
            self.words(),
            theme.style(),
            ground.finish(),
            head.finish(),
            number(HEAD),
            self.marks
        )
    }

    /// The plot as a PNG with `scale` pixels per unit. System fonts are not used, so the bytes are the same everywhere.
    pub fn png(&self, theme: Theme, scale: f64) -> Result<Vec<u8>, raster::RasterError> {
        raster::png(&self.standalone(theme), scale)
    }

    /// Combines several plots side by side, in rows if there are many.
    pub fn beside(title: &str, plots: Vec<Self>) -> Option<Self> {
        let mut plots = plots;
        if plots.len() < 2 {
            return plots.pop();
        }
        let widest = plots.iter().map(|plot| plot.size.0).fold(0.0, f64::max);
        let columns = (((WIDEST + GAP) / (widest + GAP)).floor().max(1.0) as usize).min(plots.len());
        let (mut marks, mut top) = (String::new(), 0.0);
        for row in plots.chunks(columns) {
            for (column, plot) in row.iter().enumerate() {
                // A single plot already has a title above or below it.
                let mut name = Svg::default();
                let shown = words::fit(&plot.title, widest - 20.0, SIZE);
                name.words("strong", (10.0, 15.0), Anchor::Start, &shown);
                let (x, y, below) = (number(column as f64 * (widest + GAP)), number(top), number(NAME));
                marks.push_str(&format!(
                    "<g transform=\"translate({x} {y})\">{}<g transform=\"translate(0 {below})\">{}</g></g>",
                    name.finish(),
                    plot.marks
                ));
            }
            top += NAME + row.iter().map(|plot| plot.size.1).fold(0.0, f64::max) + GAP;
        }
        let size = (columns as f64 * (widest + GAP) - GAP, top - GAP);
        let description: Vec<&str> = plots.iter().map(|plot| plot.description.as_str()).collect();
        let about = plots.first().map(|plot| plot.about.clone()).unwrap_or_default();
        Some(Self { title: title.to_owned(), description: description.join(" "), about, size, marks })
    }

    /// Unique within a page and stable.
    fn id(&self) -> String {
        let mut hash = Sha256::new();
        [&self.title, &self.description, &self.marks].iter().for_each(|part| {
            hash.update(part.as_bytes());
            hash.update([0]);
        });
        hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    fn named(&self) -> String {
        let id = self.id();
        format!("role=\"img\" aria-labelledby=\"plot-{id} plot-{id}-says\"")
    }

    fn words(&self) -> String {
        let id = self.id();
        let (title, description) = (text(&self.title), text(&self.description));
        format!("<title id=\"plot-{id}\">{title}</title><desc id=\"plot-{id}-says\">{description}</desc>")
    }
}

const MARGIN: f64 = 10.0;
const HEAD: f64 = 52.0;
const NAME: f64 = 24.0;
const GAP: f64 = 18.0;
/// Plots wider than the minimum width of figures in the style sheet (32rem) are not shrunk below it.
const WIDE: f64 = 512.0;
/// Plots are put side by side up to this width.
const WIDEST: f64 = 1120.0;
