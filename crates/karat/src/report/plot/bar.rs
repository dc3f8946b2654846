//! A value and its interval as a small bar, for the cell of a table.

use super::scale::Scale;
use super::svg::number;

/// The bar on a scale that all cells of a column share; what has no value is an empty track.
pub fn interval(value: Option<f64>, ci: Option<[f64; 2]>, scale: (f64, f64)) -> String {
    let scale = Scale::linear(scale, (2.0, 98.0));
    let mut marks = String::from(
        "<rect class=\"track\" width=\"100\" height=\"16\"/><rect class=\"end\" width=\"1\" height=\"16\"/>\
         <rect class=\"end\" x=\"99\" width=\"1\" height=\"16\"/>",
    );
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
}
