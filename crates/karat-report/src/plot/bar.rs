//! A value and its interval as a small bar for a table cell.

use super::scale::Scale;
use super::svg::number;

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
    fn bars_stay_within_their_track() {
        assert!(!interval(None, Some([0.2, 0.4]), (0.0, 1.0)).contains("class=\"at\""));
        assert!(!interval(Some(f64::NAN), None, (0.0, 1.0)).contains("NaN"));
        let drawn = interval(Some(1.0), Some([0.5, 1.2]), (0.0, 1.0));
        assert!(drawn.contains("x=\"50\" y=\"4\" width=\"48\"") && drawn.contains("x=\"97\""), "{drawn}");
        let turned = interval(Some(-3.0), Some([0.6, 0.4]), (0.0, 1.0));
        assert!(turned.contains("width=\"19.2\"") && turned.contains("x=\"1\" y=\"2\""), "{turned}");
    }

    #[test]
    fn a_column_is_as_wide_as_what_stands_in_it() {
        assert_eq!(column([]), (0.0, 1.0));
        assert_eq!(column([(Some(0.4), Some([0.2, 0.6])), (None, None)]), (0.0, 1.0));
        assert_eq!(column([(Some(-0.2), Some([-0.5, 0.1])), (Some(0.3), None)]), (-0.5, 1.0));
        assert_eq!(column([(Some(1.5), Some([0.9, 3.0])), (Some(f64::NAN), Some([0.0, f64::INFINITY]))]), (0.0, 3.0));
        let drawn = interval(Some(-1.0), None, column([(Some(-1.0), None)]));
        assert!(drawn.contains("class=\"end\" x=\"49.5\"") && drawn.contains("class=\"at\" x=\"1\""), "{drawn}");
    }
}
