//! The plot sections of the page. A section without data is left out, or says what it needs.

use crate::page::text;
use crate::plot::{PlotOptions, kind};
use crate::report_view::ReportView;

pub(super) fn quality(view: &ReportView<'_>, out: &mut String) {
    section("quality", "Quality and cost", view, &["precision-recall", "cost-quality"], out);
}

pub(super) fn ranks(view: &ReportView<'_>, out: &mut String) {
    section("significance", "Pairwise comparison", view, &["ranks", "significance"], out);
}

/// Calibration of confidence, and the effect of thresholds on it.
pub(super) fn confidence(view: &ReportView<'_>, out: &mut String) {
    section("confidence", "Confidence", view, &["reliability", "sweep"], out);
}

pub(super) fn trend(view: &ReportView<'_>, out: &mut String) {
    if !view.earlier.is_empty() {
        section("trend", "Trend", view, &["trend"], out);
    }
}

pub(super) fn variance(view: &ReportView<'_>, out: &mut String) {
    section("variance", "Variance", view, &["variance"], out);
}

pub(super) fn slices(view: &ReportView<'_>, dimension: &str, metric: &str, out: &mut String) {
    let options = PlotOptions {
        metric: Some(metric.to_owned()),
        dimension: Some(dimension.to_owned()),
        ..PlotOptions::default()
    };
    out.push_str(&figures("slices", view, &options).unwrap_or_default());
}

const MOST_OPEN: usize = 6;

fn section(id: &str, title: &str, view: &ReportView<'_>, kinds: &[&str], out: &mut String) {
    let drawn: String = kinds.iter().filter_map(|name| figures(name, view, &PlotOptions::default())).collect();
    if drawn.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n<div class=\"figures\">\n{drawn}</div>\n</section>\n"
    ));
}

fn figures(name: &str, view: &ReportView<'_>, options: &PlotOptions) -> Option<String> {
    let plots = (kind(name)?.draw)(view, options).ok()?;
    let figure = |plot: &crate::plot::Plot| {
        format!("<figure tabindex=\"0\">{}<figcaption>{}</figcaption></figure>\n", plot.inline(), text(&plot.title))
    };
    let (first, rest) = plots.split_at(plots.len().min(MOST_OPEN));
    let mut out: String = first.iter().map(figure).collect();
    if !rest.is_empty() {
        let more: String = rest.iter().map(figure).collect();
        out.push_str(&format!("<details><summary>{} more</summary>{more}</details>\n", rest.len()));
    }
    Some(out)
}
