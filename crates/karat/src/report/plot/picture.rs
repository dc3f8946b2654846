//! A finished plot: part of a page, a file of its own, or pixels.

use super::svg::{Anchor, SIZE, SMALL, Svg, number};
use super::theme::Theme;
use super::{raster, words};
use crate::report::page::text;
use sha2::{Digest, Sha256};

/// A plot that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows, in a few words.
    pub title: String,
    /// What can be read from it, in sentences, for those who do not see it.
    pub description: String,
    /// What it is about, where it stands alone: the suite, and how many cases.
    pub about: String,
    pub(super) size: (f64, f64),
    pub(super) marks: String,
}

impl Plot {
    /// The plot as part of a page, which has [`super::STYLE`]. It is as wide as it was drawn, or as the page has room for.
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

    /// The plot as an SVG file, with its title above it, and with colours that need no page around them.
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
            ground.done(),
            head.done(),
            number(HEAD),
            self.marks
        )
    }

    /// The plot as a PNG, so many pixels for each unit of its size. No font of the system is used, so that the bytes are the
    /// same everywhere.
    pub fn png(&self, theme: Theme, scale: f64) -> Result<Vec<u8>, raster::Unpainted> {
        raster::png(&self.standalone(theme), scale)
    }

    /// Several plots as one: side by side, and in rows where there are many.
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
                // Each says what it is; alone, its title stands above it or beneath it already.
                let mut name = Svg::default();
                let shown = words::fit(&plot.title, widest - 20.0, SIZE);
                name.words("strong", (10.0, 15.0), Anchor::Start, &shown);
                let (x, y, below) = (number(column as f64 * (widest + GAP)), number(top), number(NAME));
                marks.push_str(&format!(
                    "<g transform=\"translate({x} {y})\">{}<g transform=\"translate(0 {below})\">{}</g></g>",
                    name.done(),
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

    /// Ids must differ between the plots of a page, and be the same each time it is drawn.
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

/// Where the title begins, which is where marks begin.
const MARGIN: f64 = 10.0;
/// Room for the title.
const HEAD: f64 = 52.0;
/// Room for the name of one of several plots.
const NAME: f64 = 24.0;
/// Between two plots.
const GAP: f64 = 18.0;
/// A plot that is wider than the least width of figures in the style sheet, 32rem, is not shrunk below it.
const WIDE: f64 = 512.0;
/// Plots are put side by side up to this width.
const WIDEST: f64 = 1120.0;
