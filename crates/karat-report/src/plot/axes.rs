//! Axes, legend and notes of a plot.

use super::Plot;
use super::subject::DrawnTool;
use super::svg::{Anchor, SIZE, Scale, Svg, ticks};
use super::words;
use karat_core::wording::{count, first_few};
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

/// Names beside marks. Those that would cover another mark or name, or leave the frame, are returned for a legend.
pub(super) fn labels<'a>(svg: &mut Svg, frame: &Frame, marks: &[(DrawnTool<'a>, (f64, f64))]) -> Vec<DrawnTool<'a>> {
    if marks.len() > MANY {
        return marks.iter().map(|(drawn, _)| *drawn).collect();
    }
    const AROUND: f64 = 7.0;
    const AWAY: f64 = 9.0;
    const HIGH: f64 = 14.0;
    const ROOM: f64 = 160.0;
    let around = |(x, y): (f64, f64)| [x - AROUND, y - AROUND, x + AROUND, y + AROUND];
    let mut taken: Vec<[f64; 4]> = marks.iter().map(|(_, at)| around(*at)).collect();
    let mut unnamed = Vec::new();
    for (drawn, (x, y)) in marks {
        let wide = words::width(drawn.name(), SIZE).min(ROOM);
        // First those between the lines of the intervals, which are upright and level.
        let places = [
            (Anchor::Start, (x + AWAY, y - AWAY), x + AWAY),
            (Anchor::Start, (x + AWAY, y + AWAY + 9.0), x + AWAY),
            (Anchor::End, (x - AWAY, y - AWAY), x - AWAY - wide),
            (Anchor::End, (x - AWAY, y + AWAY + 9.0), x - AWAY - wide),
            (Anchor::Start, (x + AWAY, y + 4.5), x + AWAY),
            (Anchor::End, (x - AWAY, y + 4.5), x - AWAY - wide),
        ];
        let free = places.into_iter().find_map(|(anchor, at, left)| {
            let area = [left, at.1 - HIGH + 3.0, left + wide, at.1 + 3.0];
            let is_inside = area[0] > frame.left + 2.0
                && area[2] < frame.right - 2.0
                && area[1] > frame.top
                && area[3] < frame.bottom - 2.0;
            let covers =
                |other: &[f64; 4]| area[0] < other[2] && other[0] < area[2] && area[1] < other[3] && other[1] < area[3];
            (is_inside && !taken.iter().any(covers)).then_some((anchor, at, area))
        });
        match free {
            Some((anchor, at, area)) => {
                svg.name(at, anchor, drawn.name(), ROOM);
                taken.push(area);
            }
            None => unnamed.push(*drawn),
        }
    }
    unnamed
}

/// Names to the right of lines, each at the height where its line ends, moved apart so that none covers another.
pub(super) fn end_labels(svg: &mut Svg, frame: &Frame, room: f64, mut ends: Vec<(DrawnTool<'_>, f64)>) {
    const APART: f64 = 15.0;
    ends.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut places = Vec::with_capacity(ends.len());
    let mut least = frame.top;
    for (_, end) in &ends {
        places.push(end.max(least));
        least = end.max(least) + APART;
    }
    let mut most = frame.bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - APART;
    }
    for ((drawn, _), y) in ends.iter().zip(places) {
        svg.series(drawn.series, |svg| svg.marker(drawn.series, (frame.right + 9.0, y), 4.5));
        svg.name((frame.right + 18.0, y + 4.5), Anchor::Start, drawn.name(), room);
    }
}

/// Finishes a plot whose marks end at the height of `size`. Pages show notes as text, pictures below the marks.
pub(super) fn finish(svg: Svg, report: &ReportV1, size: (f64, f64), notes: &[String], title: String) -> Plot {
    let cases = count(report.suite.cases, "case");
    let about = format!("{} · {cases} · profile {}", report.suite.name, report.profile.name);
    let notes = notes.iter().filter(|note| !note.is_empty()).cloned().collect();
    Plot { title, description: svg.description(), about, size, marks: svg.out, notes }
}

pub(super) fn list_names(names: &[&str]) -> String {
    first_few(names, 4)
}
