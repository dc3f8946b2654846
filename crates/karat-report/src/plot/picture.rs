//! A finished plot: inline in a page, as an SVG file, or as a PNG.

use super::outline::outline_texts;
use super::svg::{Anchor, SIZE, SMALL, Svg, number};
use super::{RULES, words};
use crate::page::text;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use sha2::{Digest, Sha256};

/// A finished plot.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Plot {
    pub title: String,
    pub description: String,
    /// Subtitle of a standalone plot: the suite and the number of cases.
    pub about: String,
    /// What the marks mean, and what is not shown.
    pub notes: Vec<String>,
    pub(super) size: (f64, f64),
    pub(super) marks: String,
}

impl Plot {
    /// The plot as part of a page with [`super::STYLE`], without its notes and somewhat larger if there is room.
    pub fn inline(&self) -> String {
        let (width, height) = (number(self.size.0), number(self.size.1));
        let (widest, highest) = (number(self.size.0 * ENLARGED), number(self.size.1 * ENLARGED));
        let class = if self.size.0 > WIDE { "plot wide" } else { "plot" };
        let ((named, words), marks) = (self.labels(), &self.marks);
        format!(
            "<svg class=\"{class}\" width=\"{widest}\" height=\"{highest}\" viewBox=\"0 0 {width} {height}\" {named}>{words}{marks}</svg>"
        )
    }

    /// The marks with the notes below them, and the size of both.
    pub(super) fn with_notes(&self) -> (String, (f64, f64)) {
        const ROW: f64 = 16.0;
        let (width, mut foot) = self.size;
        let mut svg = Svg::default();
        // Viewers of SVG files use system fonts, which may be wider than the font measured here.
        let lines = self.notes.iter().flat_map(|note| words::wrap(note, 0.85 * (width - 2.0 * MARGIN), SMALL));
        for line in lines {
            foot += ROW;
            svg.words("dim small", (MARGIN, foot - 3.0), Anchor::Start, &line);
        }
        (format!("{}{}", self.marks, svg.out), (width, foot + 6.0))
    }

    /// The plot as an SVG file with its title, its notes and a theme's colours.
    pub fn standalone(&self, theme: Theme) -> String {
        let room = self.size.0 - 2.0 * MARGIN;
        let mut head = Svg::default();
        head.words("strong", (MARGIN, MARGIN + 10.0), Anchor::Start, &words::fit(&self.title, room, SIZE * 1.1));
        head.words("dim small", (MARGIN, MARGIN + 28.0), Anchor::Start, &words::fit(&self.about, room, SMALL));
        let (marks, (width, height)) = self.with_notes();
        let height = height + HEAD + MARGIN;
        let size = format!("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"", number(width), number(height));
        let mut ground = Svg::default();
        ground.rect("paper", (0.0, 0.0), (width, height));
        let (named, words) = self.labels();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" {size} {named}>{words}<style>{}</style>{}{}<g transform=\"translate(0 {})\">{}</g></svg>\n",
            theme.style(),
            ground.out,
            head.out,
            number(HEAD),
            marks
        )
    }

    /// The plot as a PNG with `scale` pixels per unit. System fonts are not used, so the bytes are the same everywhere.
    pub fn png(&self, theme: Theme, scale: f64) -> Result<Vec<u8>, RasterError> {
        rasterise(&self.standalone(theme), scale)
    }

    /// Combines several plots side by side, in rows if there are many.
    pub fn beside(title: &str, mut plots: Vec<Self>) -> Option<Self> {
        if plots.len() < 2 {
            return plots.pop();
        }
        let widest = plots.iter().map(|plot| plot.size.0).fold(0.0, f64::max);
        let columns = (((WIDEST + GAP) / (widest + GAP)).floor().max(1.0) as usize).min(plots.len());
        let (mut marks, mut top) = (String::new(), 0.0);
        for row in plots.chunks(columns) {
            let mut highest = 0.0_f64;
            for (column, plot) in row.iter().enumerate() {
                let (own, (_, height)) = plot.with_notes();
                highest = highest.max(height);
                // A single plot already has a title above it.
                let mut name = Svg::default();
                let shown = words::fit(&plot.title, widest - 20.0, SIZE);
                name.words("strong", (10.0, 15.0), Anchor::Start, &shown);
                let (x, y, below) = (number(column as f64 * (widest + GAP)), number(top), number(NAME));
                marks.push_str(&format!(
                    "<g transform=\"translate({x} {y})\">{}<g transform=\"translate(0 {below})\">{}</g></g>",
                    name.out, own
                ));
            }
            top += NAME + highest + GAP;
        }
        let size = (columns as f64 * (widest + GAP) - GAP, top - GAP);
        let description: Vec<&str> = plots.iter().map(|plot| plot.description.as_str()).collect();
        let about = plots.first().map(|plot| plot.about.clone()).unwrap_or_default();
        let (title, description) = (title.to_owned(), description.join(" "));
        Some(Self { title, description, about, notes: Vec::new(), size, marks })
    }

    /// The attributes that name the plot, and the elements with its title and description.
    fn labels(&self) -> (String, String) {
        let mut hash = Sha256::new();
        for part in [&self.title, &self.description, &self.marks] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        // Unique within a page and stable.
        let id: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let (title, description) = (text(&self.title), text(&self.description));
        (
            format!("role=\"img\" aria-labelledby=\"plot-{id} plot-{id}-says\""),
            format!("<title id=\"plot-{id}\">{title}</title><desc id=\"plot-{id}-says\">{description}</desc>"),
        )
    }
}

const MARGIN: f64 = 10.0;
/// How much larger than drawn a plot becomes on a wide page.
const ENLARGED: f64 = 1.3;
const HEAD: f64 = 52.0;
const NAME: f64 = 24.0;
const GAP: f64 = 18.0;
/// Plots wider than the minimum width of figures in the style sheet (32rem) are not shrunk below it.
const WIDE: f64 = 512.0;
const WIDEST: f64 = 1120.0;

/// An error of rasterising a plot.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RasterError {
    #[error("an image of {width} × {height} pixels is too large; choose a smaller scale, fewer tools, or SVG")]
    TooLarge { width: u64, height: u64 },
    #[error("could not draw the PNG: {0}; use SVG")]
    Failed(String),
}

const MOST_PIXELS: u64 = 100_000_000;

fn rasterise(svg: &str, scale: f64) -> Result<Vec<u8>, RasterError> {
    let svg = outline_texts(svg).ok_or_else(|| RasterError::Failed("its texts could not be drawn".to_owned()))?;
    let tree = Tree::from_str(&svg, &Options::default()).map_err(|error| RasterError::Failed(error.to_string()))?;
    let side = |length: f32| (f64::from(length) * scale).ceil().clamp(1.0, 1e9) as u64;
    let (width, height) = (side(tree.size().width()), side(tree.size().height()));
    let pixels = match (u32::try_from(width), u32::try_from(height)) {
        (Ok(w), Ok(h)) if width * height <= MOST_PIXELS => Pixmap::new(w, h),
        _ => None,
    };
    let mut pixels = pixels.ok_or(RasterError::TooLarge { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| RasterError::Failed(error.to_string()))
}

/// The colours of a standalone picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Theme {
    #[default]
    Light,
    Dark,
}

impl Theme {
    /// The style sheet with colours written out, because renderers do not support CSS variables.
    fn style(self) -> String {
        let mut style = format!(
            "{RULES}.plot text{{font-family:'Noto Sans',system-ui,sans-serif}}\n.plot .paper{{fill:var(--paper)}}\n"
        );
        for (name, light, dark) in COLOURS {
            style = style.replace(&format!("var(--{name})"), if self == Self::Light { light } else { dark });
        }
        style
    }
}

const COLOURS: &[(&str, &str, &str)] = &[
    ("ink", "#1c2430", "#e8edf3"),
    ("dim", "#566170", "#a3afbd"),
    ("line", "#d5dbe3", "#37414e"),
    ("paper", "#fff", "#12171e"),
    ("soft", "#f4f6f9", "#1b222c"),
    ("accent", "#1d5bb8", "#7fb0ff"),
    ("good", "#146c2e", "#7fd897"),
    ("bad", "#a4161a", "#ff9a9c"),
    ("warn", "#7a4b00", "#f2c277"),
    ("t1", "#1d5bb8", "#7fb0ff"),
    ("t2", "#b35900", "#ffa94d"),
    ("t3", "#14803c", "#63d68b"),
    ("t4", "#a1308f", "#f08be0"),
    ("t5", "#7a4f2b", "#d9b08c"),
    ("t6", "#00798c", "#4fd5e6"),
    ("t7", "#c1272d", "#ff8a8a"),
    ("t8", "#6b6a00", "#d4d95a"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour as defined by WCAG, from 0 to 1.
    fn luminance(colour: &str) -> f64 {
        let digits = colour.trim_start_matches('#');
        let long: String =
            if digits.len() == 3 { digits.chars().flat_map(|c| [c, c]).collect() } else { digits.into() };
        let part = |at: usize| {
            let v = f64::from(u8::from_str_radix(&long[at..at + 2], 16).unwrap()) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
    }

    #[test]
    fn colours_have_enough_contrast() {
        let (_, light, dark) = COLOURS.iter().find(|(name, ..)| *name == "paper").unwrap();
        for (name, on_light, on_dark) in COLOURS.iter().filter(|(name, ..)| !["paper", "soft", "line"].contains(name)) {
            for (colour, paper) in [(on_light, light), (on_dark, dark)] {
                let (a, b) = (luminance(colour), luminance(paper));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "--{name}: {colour} on {paper} has a contrast of {contrast:.2}");
            }
        }
    }

    #[test]
    fn pictures_and_pages_have_the_same_colours() {
        let pages = format!("{}{}", include_str!("../page/page.css"), super::super::STYLE);
        for (name, light, dark) in COLOURS {
            assert!(pages.contains(&format!("--{name}:{light}")), "--{name} is not {light} on a light page");
            assert_eq!(pages.matches(&format!("--{name}:{dark}")).count(), 2, "--{name} is not {dark} on a dark page");
        }
        for theme in [Theme::Light, Theme::Dark] {
            assert!(!theme.style().contains("var("), "a colour has no value: {}", theme.style());
        }
    }
}
