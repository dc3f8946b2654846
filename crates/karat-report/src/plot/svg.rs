//! Scales from values to coordinates, SVG elements, and bars for table cells. Classes say what an element is; colours come from style sheets.

use super::words;
use crate::number::at_most;
use crate::page::text;

/// Must match the style sheet.
pub(super) const SIZE: f64 = 13.0;
pub(super) const SMALL: f64 = 12.0;

#[derive(Default)]
pub(super) struct Svg {
    pub(super) out: String,
    /// The text alternative: one sentence per mark.
    pub(super) sentences: Vec<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
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

    /// A name that reads upwards from its place, cut to the room; a cut name has a tooltip.
    pub(super) fn name_upwards(&mut self, (x, y): (f64, f64), name: &str, room: f64) {
        let shown = words::fit_middle(name, room, SIZE);
        let words = |svg: &mut Self| {
            let (x, y, shown) = (number(x), number(y), text(&shown));
            svg.out.push_str(&format!("<text transform=\"translate({x} {y}) rotate(-90)\">{shown}</text>"));
        };
        if shown == name { words(self) } else { self.about(name, words) }
    }

    /// A name cut to the room; a cut name has a tooltip.
    pub(super) fn name(&mut self, place: (f64, f64), anchor: Anchor, name: &str, room: f64) {
        let shown = words::fit_middle(name, room, SIZE);
        if shown == name {
            return self.words("", place, anchor, name);
        }
        self.about(name, |svg| svg.words("", place, anchor, &shown));
    }

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

    /// Like [`Self::series_about`], with the title as a sentence of the description.
    pub(super) fn mark(&mut self, series: usize, words: String, marks: impl FnOnce(&mut Self)) {
        self.series_about(series, &words, marks);
        self.sentences.push(words);
    }

    pub(super) fn description(&self) -> String {
        format!("{}.", self.sentences.join("; "))
    }

    pub(super) fn interval(&mut self, [from, to]: [f64; 2], y: f64) {
        self.line("ci", (from, y), (to, y));
        self.line("ci", (from, y - 4.0), (from, y + 4.0));
        self.line("ci", (to, y - 4.0), (to, y + 4.0));
    }

    /// The marker of a series. Colours repeat after eight, with other markers.
    pub(super) fn marker(&mut self, series: usize, at: (f64, f64), size: f64) {
        let shape = (series + series / COLOURS) % COLOURS;
        let around = |turns: &[f64]| -> Vec<(f64, f64)> {
            let (points, _) = turns.as_chunks::<2>();
            points.iter().map(|[x, y]| (at.0 + x * size, at.1 + y * size)).collect()
        };
        match shape {
            0 => self.circle("dot", at, size),
            1 => self.shape("dot", &around(&[-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9])),
            2 => self.shape("dot", &around(&[0.0, -1.2, 1.1, 0.8, -1.1, 0.8])),
            3 => self.shape("dot", &around(&[0.0, -1.3, 1.3, 0.0, 0.0, 1.3, -1.3, 0.0])),
            4 => self.shape("dot", &around(&[0.0, 1.2, 1.1, -0.8, -1.1, -0.8])),
            5 => self.shape("dot", &around(&PLUS)),
            6 => {
                let turned = PLUS.as_chunks::<2>().0.iter().flat_map(|[x, y]| [(x - y) * 0.72, (x + y) * 0.72]);
                self.shape("dot", &around(&turned.collect::<Vec<f64>>()));
            }
            _ => self.shape("dot", &around(&STAR)),
        }
    }
}

fn join_points(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

pub(super) const COLOURS: usize = 8;

// The x and y of each corner.
const PLUS: [f64; 24] = [
    -0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4, -1.2, 0.4, -1.2,
    -0.4, -0.4, -0.4,
];
const STAR: [f64; 20] = [
    0.0, -1.35, 0.35, -0.45, 1.28, -0.42, 0.55, 0.18, 0.79, 1.09, 0.0, 0.55, -0.79, 1.09, -0.55, 0.18, -1.28, -0.42,
    -0.35, -0.45,
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

/// Draws a bar on the scale of its [`column()`], with a line at 0 or 1 if that lies within; empty if undefined.
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

/// A row of a forest plot: a value with its interval, stretched over the scale of all rows, whose ticks it has as lines.
pub fn forest(about: &str, value: f64, ci: Option<[f64; 2]>, ends: (f64, f64)) -> String {
    let scale = Scale::linear(ends, (0.0, 100.0));
    let mut svg = Svg::default();
    for (tick, _) in even_ticks(ends) {
        svg.line("grid", (scale.at(tick), 0.0), (scale.at(tick), 20.0));
    }
    svg.about(about, |svg| {
        // The whole row shows the value when it is pointed at.
        svg.rect("all", (0.0, 0.0), (100.0, 20.0));
        if let Some(ci) = ci {
            let [low, high] = ci.map(|end| scale.at(end));
            svg.line("ci", (low, 10.0), (high, 10.0));
        }
        // A line without length and with round ends is a dot, however the picture is stretched.
        svg.line("at", (scale.at(value), 10.0), (scale.at(value), 10.0));
    });
    let marks = svg.out;
    format!(
        "<svg class=\"forest\" viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{marks}</svg>"
    )
}

/// The ends of the scale of a forest plot, and the labels of its ticks, which are evenly spread from end to end.
pub fn forest_scale(figures: impl IntoIterator<Item = (Option<f64>, Option<[f64; 2]>)>) -> ((f64, f64), Vec<String>) {
    let ends = domain(figures.into_iter().flat_map(|(value, ci)| value.into_iter().chain(ci.into_iter().flatten())));
    (ends, even_ticks(ends).into_iter().map(|(_, label)| label).collect())
}

/// Ticks of which the first and the last are the ends of a [`domain`].
fn even_ticks((low, high): (f64, f64)) -> Vec<(f64, String)> {
    let widest = step(low, high, 5);
    let is_multiple = |end: f64, step: f64| (end / step - (end / step).round()).abs() < 1e-6;
    let fits = |step: &f64| is_multiple(low, *step) && is_multiple(high, *step);
    let step = [1.0, 0.5, 0.4, 0.2, 0.1].map(|part| part * widest).into_iter().find(fits).unwrap_or(high - low);
    let digits = (-(step + step * 1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    let count = ((high - low) / step).round().clamp(1.0, 60.0) as usize;
    let label = |v: f64| format!("{:.digits$}", if v.abs() < step * 1e-6 { 0.0 } else { v }).replacen('-', "−", 1);
    (0..=count).map(|n| low + (high - low) * n as f64 / count as f64).map(|v| (v, label(v))).collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    values: (f64, f64),
    places: (f64, f64),
    log: bool,
}

impl Scale {
    pub(super) fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places, log: false }
    }

    /// Logarithmic; both ends must be positive.
    pub(super) fn log(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places, log: true }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let turn = |v: f64| if self.log { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let (from, to) = (turn(self.values.0), turn(self.values.1));
        let share = ((turn(value) - from) / (to - from)).clamp(0.0, 1.0);
        let share = if share.is_finite() { share } else { 0.5 };
        self.places.0 + share * (self.places.1 - self.places.0)
    }
}

/// The ends of an axis: 0 and 1 if all values lie between them, else round numbers around them.
pub(crate) fn domain(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = values.into_iter().filter(|v| v.is_finite()).map(|v| (v, v));
    let Some((low, high)) = ends.reduce(|(low, high), (a, b)| (low.min(a), high.max(b))) else { return (0.0, 1.0) };
    if low >= 0.0 && high <= 1.0 {
        return (0.0, 1.0);
    }
    let (low, high) =
        if low < high { (low, high) } else { (low - low.abs().max(1.0) / 2.0, low + low.abs().max(1.0) / 2.0) };
    let step = step(low, high, 5);
    ((low / step).floor() * step, (high / step).ceil() * step)
}

pub(super) fn ticks((low, high): (f64, f64), about: usize) -> Vec<(f64, String)> {
    let step = step(low, high, about);
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let first = (low / step - 1e-9).ceil();
    let all = (0..=about * 3).map(|n| (first + n as f64) * step).take_while(|v| *v <= high + step * 1e-9);
    all.map(|v| (v, format!("{:.digits$}", if v.abs() < step * 1e-9 { 0.0 } else { v }).replacen('-', "−", 1)))
        .collect()
}

fn step(low: f64, high: f64, about: usize) -> f64 {
    let rough = ((high - low) / about as f64).clamp(1e-9, 1e12);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

pub(super) fn factors(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = values.into_iter().map(|v| (v, v)).reduce(|(low, high), (a, b)| (low.min(a), high.max(b)));
    let (low, high) = ends.unwrap_or((0.1, 1.0));
    (low / 2.0, high * 2.0)
}

/// Powers of ten, with 2 and 5 in between if there is room.
pub(super) fn log_ticks((low, high): (f64, f64)) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let span = high.log10() - low.log10();
    let factors: &[f64] = if span <= 2.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (span / 8.0).ceil().max(1.0) as i32;
    let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
    let all = powers.flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power), power)));
    let label = |v: f64, power: i32| match power {
        -4..6 => format!("{v:.*}", (-power).max(0) as usize),
        _ => format!("{v:.0e}"),
    };
    all.filter(|(v, _)| (low..=high).contains(v)).map(|(v, power)| (v, label(v, power))).collect()
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
            svg.out
        };
        let looks: std::collections::BTreeSet<String> = (0..64).map(terminal).collect();
        assert_eq!(looks.len(), 64);
    }

    #[test]
    fn names_are_escaped() {
        let mut svg = Svg::default();
        svg.name((0.0, 0.0), Anchor::Start, "<script>alert(1)</script>", 60.0);
        let drawn = svg.out;
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
    fn forest_plots_have_ticks_from_end_to_end() {
        let cases =
            [(0.2, [0.1, 0.4]), (-0.3, [-0.5, 0.1]), (41.0, [7.0, 93.0]), (4.0, [1.5, 11.4]), (8.0, [-7.5, 41.0])];
        for figures in cases {
            let (ends, labels) = forest_scale([(Some(figures.0), Some(figures.1))]);
            let number = |label: Option<&String>| label.unwrap().replace('−', "-").parse::<f64>().unwrap();
            let are_equal = |a: f64, b: f64| (a - b).abs() < 1e-9;
            let (first, last) = (number(labels.first()), number(labels.last()));
            assert!(are_equal(first, ends.0) && are_equal(last, ends.1), "{labels:?} {ends:?}");
            let drawn = forest("a <b>", figures.0, Some(figures.1), ends);
            assert_eq!(drawn.matches("class=\"grid\"").count(), labels.len(), "{drawn}");
            assert!(drawn.contains("<title>a &lt;b&gt;</title>") && drawn.contains("class=\"at\""), "{drawn}");
        }
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

    fn tick_labels(values: (f64, f64)) -> String {
        let labels: Vec<String> = ticks(values, 5).into_iter().map(|(_, label)| label).collect();
        labels.join(" ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(tick_labels((0.0, 1.0)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(tick_labels((-1.0, 1.0)), "−1.0 −0.5 0.0 0.5 1.0");
        assert_eq!(tick_labels((0.0, 4000.0)), "0 1000 2000 3000 4000");
        let log_labels = |ends| log_ticks(ends).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ");
        assert_eq!(log_labels((0.0011, 0.09)), "0.002 0.005 0.01 0.02 0.05");
        assert_eq!(log_labels((0.00005, 4.2)), "0.0001 0.001 0.01 0.1 1");
        assert_eq!(log_labels((3.0, 12.0)), "5 10");
    }

    #[test]
    fn axis_has_two_ends_for_any_values() {
        assert_eq!(domain([]), (0.0, 1.0));
        assert_eq!(domain([0.3, 0.3]), (0.0, 1.0));
        assert_eq!(domain([7.0]), (2.0, 12.0));
        assert_eq!(domain([-0.2, 0.9]), (-0.5, 1.0));
        assert_eq!(factors([0.01]), (0.005, 0.02));
    }

    #[test]
    fn positions_are_between_the_ends() {
        for scale in [Scale::linear((0.0, 1.0), (10.0, 20.0)), Scale::log((0.01, 1.0), (10.0, 20.0))] {
            for value in [f64::NAN, f64::INFINITY, -5.0, 0.0, 0.5, 9e300] {
                assert!((10.0..=20.0).contains(&scale.at(value)), "{scale:?} {value}");
            }
        }
        assert_eq!(Scale::linear((2.0, 2.0), (0.0, 10.0)).at(2.0), 5.0);
    }
}
