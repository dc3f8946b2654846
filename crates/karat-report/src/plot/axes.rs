//! Axes, legend and notes of a plot.

use super::scale::Scale;
use super::subject::DrawnTool;
use super::svg::{Anchor, SIZE, SMALL, Svg};
use super::words;

#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn x_axis(&self, svg: &mut Svg, scale: &Scale, ticks: &[(f64, String)], title: &str) {
        for (value, label) in ticks {
            let x = scale.at(*value);
            svg.line("grid", (x, self.top), (x, self.bottom));
            svg.words("dim small", (x, self.bottom + 15.0), Anchor::Middle, label);
        }
        svg.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        svg.words("dim", ((self.left + self.right) / 2.0, self.bottom + 33.0), Anchor::Middle, title);
    }

    pub(super) fn y_axis(&self, svg: &mut Svg, scale: &Scale, ticks: &[(f64, String)], title: &str) {
        for (value, label) in ticks {
            let y = scale.at(*value);
            svg.line("grid", (self.left, y), (self.right, y));
            svg.words("dim small", (self.left - 6.0, y + 4.0), Anchor::End, label);
        }
        svg.line("axis", (self.left, self.top), (self.left, self.bottom));
        svg.words_upwards("dim", (self.left - 36.0, (self.top + self.bottom) / 2.0), title);
    }
}

/// With more tools than this, per-tool extras are left out.
pub(super) const MANY: usize = 12;

/// Height of the labels and the title below a frame.
pub(super) const BELOW: f64 = 40.0;

/// Draws markers with names in columns; returns the height.
pub(super) fn legend(svg: &mut Svg, tools: &[DrawnTool<'_>], (left, top): (f64, f64), width: f64) -> f64 {
    const ROW: f64 = 19.0;
    let widest = tools.iter().map(|drawn| words::width(drawn.name(), SIZE)).fold(40.0, f64::max);
    // With many tools, long names are cut to keep several columns.
    let most = if tools.len() > MANY { width / 3.0 } else { width };
    let columns = (width / (widest + 30.0).clamp(width / 4.0, most)).floor().max(1.0) as usize;
    let cell = width / columns as f64;
    let rows = tools.len().div_ceil(columns);
    for (at, drawn) in tools.iter().enumerate() {
        let (x, y) = (left + (at / rows) as f64 * cell, top + (at % rows) as f64 * ROW + ROW / 2.0);
        svg.series(drawn.series, |svg| svg.marker(drawn.series, (x + 7.0, y), 4.5));
        svg.name((x + 18.0, y + 4.5), Anchor::Start, drawn.name(), cell - 26.0);
    }
    rows as f64 * ROW
}

/// Draws sentences below a plot; returns the height.
pub(super) fn notes(svg: &mut Svg, notes: &[String], (left, top): (f64, f64), width: f64) -> f64 {
    const ROW: f64 = 15.0;
    // Pages use system fonts, which may be wider than the font measured here.
    let lines = notes.iter().flat_map(|note| words::wrap(note, 0.85 * width, SMALL));
    let mut height = 0.0;
    for line in lines {
        height += ROW;
        svg.words("dim small", (left, top + height - 3.0), Anchor::Start, &line);
    }
    height
}

/// Lists names, the first few if there are many.
pub(super) fn list_names(names: &[&str]) -> String {
    const MOST: usize = 4;
    let more = names.len().saturating_sub(MOST);
    let shown: Vec<&str> = names.iter().take(MOST).copied().collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
