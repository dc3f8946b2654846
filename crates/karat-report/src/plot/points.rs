//! Plots with a point per tool: precision against recall, and a metric against cost or time.

use super::axes::{BELOW, Frame, MANY, finish, labels, legend, list_names};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, Scale, Svg, domain, factors, log_ticks, ticks};
use super::{DrawnPlots, PlotOptions};
use crate::number::title;
use crate::report_view::ReportView;
use karat_format::report::ReportV1;

const WIDTH: f64 = 520.0;

/// Precision against recall, with intervals in both directions and the effect of thresholds.
pub(super) fn precision_recall(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let report = view.report;
    subject::no_metric(options, "precision and recall")?;
    let tools = subject::tools(view, options)?;
    let both = |id: &str| tools.iter().map(|drawn| subject::figure(report, drawn.tool, id).ok()).collect::<Vec<_>>();
    let points: Vec<Option<(Figure, Figure)>> =
        both("recall").into_iter().zip(both("precision")).map(|(x, y)| x.zip(y)).collect();
    if points.iter().all(Option::is_none) {
        let why = "no tool has both precision and recall; they need findings that were compared with goldens";
        return Err(why.to_owned());
    }
    let frame = Frame { left: 56.0, top: 10.0, right: WIDTH - 16.0, bottom: 390.0 };
    let mut svg = Svg::default();
    let (x, y) = frame.share_axes(&mut svg, "recall", "precision");
    equal_f1(&mut svg, &x, &y);
    let mut swept = false;
    for drawn in tools.iter().filter(|_| tools.len() <= MANY) {
        for sweep in drawn.tool.sweeps.iter().filter(|sweep| sweep.by == "confidence") {
            let points: Vec<(f64, f64)> = sweep.points.iter().map(|p| (x.at(p.recall), y.at(p.precision))).collect();
            swept |= points.len() > 1;
            svg.series(drawn.series, |svg| svg.path("thin", &points));
        }
    }
    for (drawn, point) in tools.iter().zip(&points) {
        let Some((recall, precision)) = point else { continue };
        let at = (x.at(recall.value), y.at(precision.value));
        let words = format!("{}: precision {}, recall {}", drawn.name(), precision.to_text(), recall.to_text());
        svg.mark(drawn.series, words, |svg| {
            if let Some([low, high]) = recall.ci {
                svg.line("ci", (x.at(low), at.1), (x.at(high), at.1));
            }
            if let Some([low, high]) = precision.ci {
                svg.line("ci", (at.0, y.at(low)), (at.0, y.at(high)));
            }
            svg.marker(drawn.series, at, 5.0);
        });
    }
    let drawn = tools.iter().zip(&points);
    let lacking: Vec<&str> = drawn.clone().filter(|(_, point)| point.is_none()).map(|(own, _)| own.name()).collect();
    let place = |(recall, precision): &(Figure, Figure)| (x.at(recall.value), y.at(precision.value));
    let marks: Vec<_> = drawn.filter_map(|(own, point)| Some((*own, place(point.as_ref()?)))).collect();
    let unnamed = labels(&mut svg, &frame, &marks);
    let foot = legend(&mut svg, &unnamed, frame.bottom + BELOW + 4.0, WIDTH);
    let mut remarks = vec![format!("Crosses: {}. Dotted: equal F1.", subject::level(report))];
    if swept {
        remarks.push("Thin lines: thresholds on confidence, pooled over cases.".to_owned());
    }
    if !lacking.is_empty() {
        remarks.push(format!("Not shown, without precision or recall: {}.", list_names(&lacking)));
    }
    let title = "Precision and recall".to_owned();
    Ok(vec![finish(svg, report, (WIDTH, foot), &[remarks.join(" ")], title)])
}

fn equal_f1(svg: &mut Svg, x: &Scale, y: &Scale) {
    const STEPS: usize = 24;
    for f1 in [0.2, 0.4, 0.6, 0.8] {
        let first: f64 = f1 / (2.0 - f1);
        let recall = |step: usize| first + (1.0 - first) * (step as f64 / STEPS as f64).powi(2);
        let points: Vec<(f64, f64)> =
            (0..=STEPS).map(recall).map(|r| (x.at(r), y.at(f1 * r / (2.0 * r - f1)))).collect();
        svg.path("faint", &points);
        // Above the curve, which falls to the right.
        let above = y.at(f1 * 0.92 / (2.0 * 0.92 - f1)) - 4.0;
        svg.words("dim small", (x.at(1.0) - 4.0, above), Anchor::End, &format!("F1 {f1}"));
    }
}

struct Point<'a> {
    drawn: DrawnTool<'a>,
    price: f64,
    figure: Figure,
}

/// A metric against cost per case, with the Pareto front.
pub(super) fn cost_quality(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let (report, id) = (view.report, subject::metric(view, options)?);
    let tools = subject::tools(view, options)?;
    let prices = Prices::choose(report, &tools)?;
    let down = subject::is_down(report, id);
    let (mut points, mut lacking) = (Vec::new(), Vec::new());
    for drawn in &tools {
        match (prices.price(report, drawn.name()), subject::figure(report, drawn.tool, id)) {
            (Some(price), Ok(figure)) => points.push(Point { drawn: *drawn, price, figure }),
            _ => lacking.push(drawn.name()),
        }
    }
    if points.is_empty() {
        let both = format!("{} and {}", title(id), prices.noun);
        return Err(format!("no tool has both {both}; choose a metric that has a value with --metric"));
    }
    let is_free = points.iter().any(|point| point.price <= 0.0);
    let frame = Frame { left: 56.0, top: 10.0, right: WIDTH - 16.0, bottom: 340.0 };
    let first = if is_free { frame.left + 46.0 } else { frame.left };
    let paid = factors(points.iter().map(|point| point.price).filter(|price| *price > 0.0));
    let x = Scale::log(paid, (first, frame.right));
    let place = |price: f64| if price > 0.0 { x.at(price) } else { frame.left + 20.0 };
    let ends = domain(points.iter().flat_map(|point| point.figure.all()));
    let y = Scale::linear(ends, (frame.bottom, frame.top));
    let mut svg = Svg::default();
    frame.x_axis(&mut svg, &x, &log_ticks(paid), prices.axis);
    if is_free {
        svg.words("dim small", (frame.left + 20.0, frame.bottom + 15.0), Anchor::Middle, "0");
    }
    frame.y_axis(&mut svg, &y, &ticks(ends, 5), &subject::axis_title(report, id));
    let front = front(&points, down);
    let steps: Vec<(f64, f64)> = front.iter().map(|point| (place(point.price), y.at(point.figure.value))).collect();
    svg.path("front", &stairs(&steps));
    for point in &points {
        let at = (place(point.price), y.at(point.figure.value));
        let is_best = front.iter().any(|best| std::ptr::eq(*best, point));
        let (name, figure, price) = (point.drawn.name(), point.figure.to_text(), (prices.format)(point.price));
        let mut words = format!("{name}: {} {figure}, {price}", title(id));
        if is_best {
            words.push_str(" (none beats it in both)");
        }
        svg.about(&words, |svg| {
            svg.series(point.drawn.series, |svg| {
                if let Some([low, high]) = point.figure.ci {
                    svg.line("ci", (at.0, y.at(low)), (at.0, y.at(high)));
                }
                svg.marker(point.drawn.series, at, 5.0);
            });
            if is_best {
                svg.circle("ring", at, 8.5);
            }
        });
        svg.sentences.push(words);
    }
    let marks: Vec<_> =
        points.iter().map(|point| (point.drawn, (place(point.price), y.at(point.figure.value)))).collect();
    let unnamed = labels(&mut svg, &frame, &marks);
    let foot = legend(&mut svg, &unnamed, frame.bottom + BELOW + 4.0, WIDTH);
    let mut remarks = vec![format!("Lines: {}. {}", subject::level(report), prices.rings)];
    if prices.noun == LATENCY.noun {
        remarks.push(match COST.tools(report, &tools).first() {
            None => "No tool reports a cost.".to_owned(),
            Some(only) => format!("Only {only} reports a cost, so time is shown."),
        });
    }
    if !lacking.is_empty() {
        remarks.push(format!("Not shown, without {} or a value: {}.", prices.noun, list_names(&lacking)));
    }
    let title = format!("{} against {}", title(id), prices.noun.trim_start_matches("a "));
    Ok(vec![finish(svg, report, (WIDTH, foot), &[remarks.join(" ")], title)])
}

struct Prices {
    noun: &'static str,
    axis: &'static str,
    rings: &'static str,
    stated: fn(&ReportV1, &str) -> Option<f64>,
    format: fn(f64) -> String,
}

static COST: Prices = Prices {
    noun: "a cost",
    axis: "USD per case",
    rings: "Rings: no other tool is both cheaper and better.",
    stated: |report, tool| report.measured.cost.get(tool)?.usd_per_case,
    format: |price| format!("USD {price:.*} per case", if price < 0.01 { 5 } else { 3 }),
};

static LATENCY: Prices = Prices {
    noun: "a time",
    axis: "seconds per trial",
    rings: "Rings: no other tool is both faster and better.",
    stated: |report, tool| report.measured.latency.get(tool).filter(|l| l.n > 0).map(|l| l.mean_ms / 1000.0),
    format: |price| format!("{price:.2} s per trial"),
};

impl Prices {
    /// Money, or time if fewer than two tools state money.
    fn choose(report: &ReportV1, tools: &[DrawnTool<'_>]) -> Result<&'static Self, String> {
        // A single tool is neither cheap nor expensive.
        let is_known = |prices: &&Self| prices.tools(report, tools).len() > 1;
        let why = "this plot needs two tools that report the cost or time of their trials; `karat run` measures time, and \
                   submissions may state `cost_usd` and `latency_ms`";
        [&COST, &LATENCY].into_iter().find(is_known).ok_or_else(|| why.to_owned())
    }

    fn tools<'a>(&self, report: &ReportV1, tools: &[DrawnTool<'a>]) -> Vec<&'a str> {
        tools.iter().map(DrawnTool::name).filter(|name| self.price(report, name).is_some()).collect()
    }

    fn price(&self, report: &ReportV1, tool: &str) -> Option<f64> {
        let price = (self.stated)(report, tool).filter(|price| subject::is_drawable(*price));
        // Prices below a millionth are drawn as zero, to bound the axis.
        price.map(|price| if price < 1e-6 { 0.0 } else { price })
    }
}

fn front<'p, 'a>(points: &'p [Point<'a>], down: bool) -> Vec<&'p Point<'a>> {
    let good = |point: &Point<'_>| if down { -point.figure.value } else { point.figure.value };
    let beats = |a: &Point<'_>, b: &Point<'_>| {
        a.price <= b.price && good(a) >= good(b) && (a.price < b.price || good(a) > good(b))
    };
    let mut front: Vec<&Point<'_>> =
        points.iter().filter(|point| !points.iter().any(|other| beats(other, point))).collect();
    front.sort_by(|a, b| a.price.total_cmp(&b.price));
    front
}

/// The best value so far, as steps from each price to the next.
fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in points {
        if let Some(&(_, before)) = out.last() {
            out.push((x, before));
        }
        out.push((x, y));
    }
    out
}
