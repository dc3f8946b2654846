//! Plots a metric against cost per case, with the Pareto front.

use super::axes::{BELOW, Frame, legend, list_names, notes};
use super::scale::{Scale, domain, factors, log_ticks, ticks};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, Svg};
use super::{NothingToDraw, Plot, PlotOptions};
use crate::number::title;
use crate::report_view::ReportView;
use karat_format::report::ReportV1;

const WIDTH: f64 = 520.0;

struct Point<'a> {
    drawn: DrawnTool<'a>,
    price: f64,
    figure: Figure,
}

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
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
        let why = format!("no tool has both {} and {}", title(id), prices.noun());
        return Err(NothingToDraw(format!("{why}; choose a metric that has a value with --metric")));
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
    frame.x_axis(&mut svg, &x, &log_ticks(paid), prices.axis());
    if is_free {
        svg.words("dim small", (frame.left + 20.0, frame.bottom + 15.0), Anchor::Middle, "0");
    }
    frame.y_axis(&mut svg, &y, &ticks(ends, 5), &subject::axis_title(report, id));
    let front = front(&points, down);
    let steps: Vec<(f64, f64)> = front.iter().map(|point| (place(point.price), y.at(point.figure.value))).collect();
    svg.path("front", &stairs(&steps));
    let mut sentences = Vec::new();
    for point in &points {
        let at = (place(point.price), y.at(point.figure.value));
        let words = format!(
            "{}: {} {}, {} {}",
            point.drawn.name(),
            title(id),
            point.figure.to_text(),
            prices.amount(point.price),
            if front.iter().any(|best| std::ptr::eq(*best, point)) { "(none beats it in both)" } else { "" }
        );
        let words = words.trim_end();
        svg.about(words, |svg| {
            svg.series(point.drawn.series, |svg| {
                if let Some([low, high]) = point.figure.ci {
                    svg.line("ci", (at.0, y.at(low)), (at.0, y.at(high)));
                }
                svg.marker(point.drawn.series, at, 5.0);
            });
            if front.iter().any(|best| std::ptr::eq(*best, point)) {
                svg.circle("ring", at, 8.5);
            }
        });
        sentences.push(words.to_owned());
    }
    let mut foot = frame.bottom + BELOW + 4.0;
    let shown: Vec<DrawnTool<'_>> = points.iter().map(|point| point.drawn).collect();
    foot += legend(&mut svg, &shown, (10.0, foot), WIDTH - 20.0) + 4.0;
    let mut remarks = vec![format!("Lines: {}. {}", subject::level(report), prices.rings())];
    if prices == Prices::Latency {
        let costs = tools.iter().filter(|drawn| Prices::Cost.price(report, drawn.name()).is_some());
        let costs: Vec<&str> = costs.map(DrawnTool::name).collect();
        remarks.push(match costs.first() {
            None => "No tool reports a cost.".to_owned(),
            Some(only) => format!("Only {only} reports a cost, so time is shown."),
        });
    }
    if !lacking.is_empty() {
        remarks.push(format!("Not shown, without {} or a value: {}.", prices.noun(), list_names(&lacking)));
    }
    foot += notes(&mut svg, &[remarks.join(" ")], (10.0, foot), WIDTH - 20.0);
    Ok(vec![Plot {
        title: format!("{} against {}", title(id), prices.noun().trim_start_matches("a ")),
        description: format!("{}.", sentences.join("; ")),
        about: subject::about(report),
        size: (WIDTH, foot + 6.0),
        marks: svg.finish(),
    }])
}

/// Money, or time if fewer than two tools state money.
#[derive(Clone, Copy, PartialEq)]
enum Prices {
    Cost,
    Latency,
}

impl Prices {
    fn choose(report: &ReportV1, tools: &[DrawnTool<'_>]) -> Result<Self, NothingToDraw> {
        let known = |prices: &Self| tools.iter().filter(|drawn| prices.price(report, drawn.name()).is_some()).count();
        // A single tool is neither cheap nor expensive.
        [Self::Cost, Self::Latency].into_iter().find(|prices| known(prices) > 1).ok_or_else(|| {
            NothingToDraw(
                "this plot needs two tools that report the cost or time of their trials; `karat run` measures time, and \
                 submissions may state `cost_usd` and `latency_ms`"
                    .to_owned(),
            )
        })
    }

    fn price(self, report: &ReportV1, tool: &str) -> Option<f64> {
        let price = match self {
            Self::Cost => report.measured.cost.get(tool).filter(|cost| cost.n > 0).map(|cost| cost.usd_per_case),
            Self::Latency => report.measured.latency.get(tool).filter(|l| l.n > 0).map(|l| l.mean_ms / 1000.0),
        };
        // Prices below a millionth are drawn as zero, to bound the axis.
        price.filter(|price| subject::is_drawable(*price)).map(|price| if price < 1e-6 { 0.0 } else { price })
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Cost => "a cost",
            Self::Latency => "a time",
        }
    }

    fn rings(self) -> &'static str {
        match self {
            Self::Cost => "Rings: no other tool is both cheaper and better.",
            Self::Latency => "Rings: no other tool is both faster and better.",
        }
    }

    fn axis(self) -> &'static str {
        match self {
            Self::Cost => "USD per case",
            Self::Latency => "seconds per trial",
        }
    }

    fn amount(self, price: f64) -> String {
        match self {
            Self::Cost if price < 0.01 => format!("USD {price:.5} per case"),
            Self::Cost => format!("USD {price:.3} per case"),
            Self::Latency => format!("{price:.2} s per trial"),
        }
    }
}

/// The Pareto front, cheapest first.
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
