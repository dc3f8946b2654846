//! Writes SVG elements, and bars for table cells. Classes say what an element is; colours come from style sheets.

use super::scale::Scale;
use super::words;
use crate::number::at_most;
use crate::page::text;

/// Must match the style sheet.
pub(super) const SIZE: f64 = 13.0;
pub(super) const SMALL: f64 = 11.0;

#[derive(Default)]
pub(super) struct Svg {
    out: String,
}

/// Which side of a text its coordinate is on.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = ((number(from.0), number(from.1)), (number(to.0), number(to.1)));
        self.out.push_str(&format!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let (x, y, width, height) = (number(x), number(y), number(width.max(0.0)), number(height.max(0.0)));
        self.out
            .push_str(&format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let (x, y, radius) = (number(x), number(y), number(radius));
        self.out.push_str(&format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// A polyline; a single point draws nothing.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.len() > 1 {
            self.out.push_str(&format!("<polyline class=\"{class}\" points=\"{}\"/>", join_points(points)));
        }
    }

    fn shape(&mut self, class: &str, points: &[(f64, f64)]) {
        self.out.push_str(&format!("<polygon class=\"{class}\" points=\"{}\"/>", join_points(points)));
    }

    pub(super) fn words(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let (x, y, words) = (number(x), number(y), text(words));
        self.out.push_str(&format!("<text{class} x=\"{x}\" y=\"{y}\"{anchor}>{words}</text>"));
    }

    pub(super) fn words_upwards(&mut self, class: &str, (x, y): (f64, f64), words: &str) {
        let (x, y, words) = (number(x), number(y), text(words));
        self.out.push_str(&format!(
            "<text class=\"{class}\" transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\">{words}</text>"
        ));
    }

    /// A name cut to the room; a cut name has a tooltip.
    pub(super) fn name(&mut self, place: (f64, f64), anchor: Anchor, name: &str, room: f64) {
        let shown = words::fit(name, room, SIZE);
        if shown == name {
            return self.words("", place, anchor, name);
        }
        self.about(name, |svg| svg.words("", place, anchor, &shown));
    }

    /// Adds a tooltip to marks.
    pub(super) fn about(&mut self, title: &str, marks: impl FnOnce(&mut Self)) {
        self.out.push_str(&format!("<g><title>{}</title>", text(title)));
        marks(self);
        self.out.push_str("</g>");
    }

    pub(super) fn series(&mut self, series: usize, marks: impl FnOnce(&mut Self)) {
        self.out.push_str(&format!("<g class=\"s{}\">", series % COLOURS + 1));
        marks(self);
        self.out.push_str("</g>");
    }

    pub(super) fn series_about(&mut self, series: usize, title: &str, marks: impl FnOnce(&mut Self)) {
        self.about(title, |svg| svg.series(series, marks));
    }

    pub(super) fn interval(&mut self, [from, to]: [f64; 2], y: f64) {
        self.line("ci", (from, y), (to, y));
        self.line("ci", (from, y - 4.0), (from, y + 4.0));
        self.line("ci", (to, y - 4.0), (to, y + 4.0));
    }

    /// The marker of a series. Colours repeat after eight, with other markers.
    pub(super) fn marker(&mut self, series: usize, at: (f64, f64), size: f64) {
        let shape = (series + series / COLOURS) % COLOURS;
        let around = |turns: &[(f64, f64)]| -> Vec<(f64, f64)> {
            turns.iter().map(|(x, y)| (at.0 + x * size, at.1 + y * size)).collect()
        };
        match shape {
            0 => self.circle("dot", at, size),
            1 => self.shape("dot", &around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)])),
            2 => self.shape("dot", &around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)])),
            3 => self.shape("dot", &around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)])),
            4 => self.shape("dot", &around(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)])),
            5 => self.shape("dot", &around(&PLUS)),
            6 => self.shape("dot", &around(&PLUS.map(|(x, y)| ((x - y) * 0.72, (x + y) * 0.72)))),
            _ => self.shape("dot", &around(&STAR)),
        }
    }
}

fn join_points(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

pub(super) const COLOURS: usize = 8;

const PLUS: [(f64, f64); 12] = [
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];

const STAR: [(f64, f64); 10] = [
    (0.0, -1.35),
    (0.35, -0.45),
    (1.28, -0.42),
    (0.55, 0.18),
    (0.79, 1.09),
    (0.0, 0.55),
    (-0.79, 1.09),
    (-0.55, 0.18),
    (-1.28, -0.42),
    (-0.35, -0.45),
];

/// A coordinate with two decimals; non-finite values become 0.
pub(super) fn number(value: f64) -> String {
    let text = at_most(if value.is_finite() { value } else { 0.0 }, 2);
    if text == "-0" { "0".to_owned() } else { text }
}

/// The common scale of a column of bars: 0 to 1, extended if a value lies beyond.
pub fn column(figures: impl IntoIterator<Item = (Option<f64>, Option<[f64; 2]>)>) -> (f64, f64) {
    let ends = figures.into_iter().flat_map(|(value, ci)| value.into_iter().chain(ci.into_iter().flatten()));
    ends.filter(|end| end.is_finite()).fold((0.0, 1.0), |(low, high), end| (end.min(low), end.max(high)))
}

/// Draws a bar on the scale of its [`column()`]; an undefined value gives an empty track. If the scale extends beyond 0 or 1,
/// a line marks that end.
pub fn interval(value: Option<f64>, ci: Option<[f64; 2]>, scale: (f64, f64)) -> String {
    let (low, high) = scale;
    let scale = Scale::linear(scale, (2.0, 98.0));
    let mut marks = String::from(
        "<rect class=\"track\" width=\"100\" height=\"16\"/><rect class=\"end\" width=\"1\" height=\"16\"/>\
         <rect class=\"end\" x=\"99\" width=\"1\" height=\"16\"/>",
    );
    for (end, is_within) in [(0.0, low < 0.0), (1.0, high > 1.0)] {
        if is_within {
            let x = number(scale.at(end) - 0.5);
            marks.push_str(&format!("<rect class=\"end\" x=\"{x}\" width=\"1\" height=\"16\"/>"));
        }
    }
    if let Some(value) = value.filter(|value| value.is_finite()) {
        if let Some([low, high]) = ci.filter(|ci| ci.iter().all(|end| end.is_finite())) {
            let (low, high) = (scale.at(low.min(high)), scale.at(high.max(low)));
            let (x, width) = (number(low), number((high - low).max(1.0)));
            marks.push_str(&format!("<rect class=\"ci\" x=\"{x}\" y=\"4\" width=\"{width}\" height=\"8\"/>"));
        }
        let x = number(scale.at(value) - 1.0);
        marks.push_str(&format!("<rect class=\"at\" x=\"{x}\" y=\"2\" width=\"2\" height=\"12\"/>"));
    }
    format!("<svg class=\"bar\" viewBox=\"0 0 100 16\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{marks}</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_finite() {
        assert_eq!([1.0, 0.125, -0.001, f64::NAN].map(number).join(" "), "1 0.12 0 0");
    }

    #[test]
    fn sixty_four_series_are_distinguishable() {
        let terminal = |series: usize| {
            let mut svg = Svg::default();
            svg.series(series, |svg| svg.marker(series, (0.0, 0.0), 4.0));
            svg.finish()
        };
        let looks: std::collections::BTreeSet<String> = (0..64).map(terminal).collect();
        assert_eq!(looks.len(), 64);
    }

    #[test]
    fn names_are_escaped() {
        let mut svg = Svg::default();
        svg.name((0.0, 0.0), Anchor::Start, "<script>alert(1)</script>", 60.0);
        let drawn = svg.finish();
        assert!(!drawn.contains("<script") && drawn.contains("<title>&lt;script&gt;alert(1)"), "{drawn}");
    }

    #[test]
    fn bars_stay_within_their_track() {
        assert!(!interval(None, Some([0.2, 0.4]), (0.0, 1.0)).contains("class=\"at\""));
        assert!(!interval(Some(f64::NAN), None, (0.0, 1.0)).contains("NaN"));
        let drawn = interval(Some(1.0), Some([0.5, 1.2]), (0.0, 1.0));
        assert!(drawn.contains("x=\"50\" y=\"4\" width=\"48\"") && drawn.contains("x=\"97\""), "{drawn}");
        let turned = interval(Some(-3.0), Some([0.6, 0.4]), (0.0, 1.0));
        assert!(turned.contains("width=\"19.2\"") && turned.contains("x=\"1\" y=\"2\""), "{turned}");
    }

    #[test]
    fn column_width_fits_its_content() {
        assert_eq!(column([]), (0.0, 1.0));
        assert_eq!(column([(Some(0.4), Some([0.2, 0.6])), (None, None)]), (0.0, 1.0));
        assert_eq!(column([(Some(-0.2), Some([-0.5, 0.1])), (Some(0.3), None)]), (-0.5, 1.0));
        assert_eq!(column([(Some(1.5), Some([0.9, 3.0])), (Some(f64::NAN), Some([0.0, f64::INFINITY]))]), (0.0, 3.0));
        let drawn = interval(Some(-1.0), None, column([(Some(-1.0), None)]));
        assert!(drawn.contains("class=\"end\" x=\"49.5\"") && drawn.contains("class=\"at\" x=\"1\""), "{drawn}");
    }
}
