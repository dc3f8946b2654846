//! Axes, legend and notes of a plot.

use super::Plot;
use super::subject::DrawnTool;
use super::svg::{Anchor, SIZE, SMALL, Scale, Svg, ticks};
use super::words;
use karat_core::wording::count;
use karat_format::report::ReportV1;

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

    pub(super) fn share_axes(&self, svg: &mut Svg, x_title: &str, y_title: &str) -> (Scale, Scale) {
        let x = Scale::linear((0.0, 1.0), (self.left, self.right));
        let y = Scale::linear((0.0, 1.0), (self.bottom, self.top));
        self.x_axis(svg, &x, &ticks((0.0, 1.0), 5), x_title);
        self.y_axis(svg, &y, &ticks((0.0, 1.0), 5), y_title);
        (x, y)
    }
}

/// With more tools than this, per-tool extras are left out.
pub(super) const MANY: usize = 12;

pub(super) const BELOW: f64 = 40.0;

const MARGIN: f64 = 10.0;

pub(super) fn legend(svg: &mut Svg, tools: &[DrawnTool<'_>], top: f64, plot_width: f64) -> f64 {
    const ROW: f64 = 19.0;
    let width = plot_width - 2.0 * MARGIN;
    let widest = words::widest(tools.iter().map(DrawnTool::name), SIZE).max(40.0);
    // With many tools, long names are cut to keep several columns.
    let most = if tools.len() > MANY { width / 3.0 } else { width };
    let columns = (width / (widest + 30.0).clamp(width / 4.0, most)).floor().max(1.0) as usize;
    let cell = width / columns as f64;
    let rows = tools.len().div_ceil(columns);
    for (at, drawn) in tools.iter().enumerate() {
        let (x, y) = (MARGIN + (at / rows) as f64 * cell, top + (at % rows) as f64 * ROW + ROW / 2.0);
        svg.series(drawn.series, |svg| svg.marker(drawn.series, (x + 7.0, y), 4.5));
        svg.name((x + 18.0, y + 4.5), Anchor::Start, drawn.name(), cell - 26.0);
    }
    top + rows as f64 * ROW + 4.0
}

/// Finishes a plot: draws notes below its marks, which end at `foot`.
pub(super) fn finish(
    mut svg: Svg,
    report: &ReportV1,
    (width, mut foot): (f64, f64),
    notes: &[String],
    title: String,
) -> Plot {
    const ROW: f64 = 15.0;
    // Pages use system fonts, which may be wider than the font measured here.
    let lines = notes.iter().flat_map(|note| words::wrap(note, 0.85 * (width - 2.0 * MARGIN), SMALL));
    for line in lines {
        foot += ROW;
        svg.words("dim small", (MARGIN, foot - 3.0), Anchor::Start, &line);
    }
    let cases = count(report.suite.cases, "case");
    let about = format!("{} · {cases} · profile {}", report.suite.name, report.profile.name);
    Plot { title, description: svg.description(), about, size: (width, foot + 6.0), marks: svg.out }
}

pub(super) fn list_names(names: &[&str]) -> String {
    const MOST: usize = 4;
    let more = names.len().saturating_sub(MOST);
    let shown: Vec<&str> = names.iter().take(MOST).copied().collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
