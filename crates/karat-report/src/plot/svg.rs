//! Writes SVG elements. Classes say what an element is; colours come from style sheets.

use super::words;
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
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
            self.out.push_str(&format!("<polyline class=\"{class}\" points=\"{}\"/>", points.join(" ")));
        }
    }

    fn shape(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        self.out.push_str(&format!("<polygon class=\"{class}\" points=\"{}\"/>", points.join(" ")));
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
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_short_and_always_numbers() {
        assert_eq!([1.0, 0.125, -0.001, f64::NAN].map(number).join(" "), "1 0.12 0 0");
    }

    #[test]
    fn sixty_four_series_look_different() {
        let terminal = |series: usize| {
            let mut svg = Svg::default();
            svg.series(series, |svg| svg.marker(series, (0.0, 0.0), 4.0));
            svg.finish()
        };
        let looks: std::collections::BTreeSet<String> = (0..64).map(terminal).collect();
        assert_eq!(looks.len(), 64);
    }

    #[test]
    fn a_name_is_never_markup() {
        let mut svg = Svg::default();
        svg.name((0.0, 0.0), Anchor::Start, "<script>alert(1)</script>", 60.0);
        let drawn = svg.finish();
        assert!(!drawn.contains("<script") && drawn.contains("<title>&lt;script&gt;alert(1)"), "{drawn}");
    }
}
