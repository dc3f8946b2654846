//! Properties of every kind of plot.

use super::*;
use crate::report_view::{EarlierReport, ReportView};
use karat::comparison::ranking;
use karat_format::report::ReportV1;
use resvg::usvg::roxmltree::Document;
use serde_json::{Value, json};

/// A tool by name and F1; its other metrics follow from these.
struct TestTool<'a> {
    name: &'a str,
    f1: Option<f64>,
}

fn estimate(value: Option<f64>) -> Value {
    let ci = value.map(|v| [(v - 0.1).max(0.0), (v + 0.08).min(1.0)]);
    json!({ "value": value, "undefined": value.is_none().then_some("no golden"), "ci": ci, "n": 4, "direction": "up" })
}

fn tool(tool: &TestTool<'_>) -> Value {
    let share = |by: f64| tool.f1.map(|v| (v * by).clamp(0.0, 1.0));
    let metrics = |by: f64| {
        json!({ "f1": estimate(share(by)), "precision": estimate(share(1.1 * by)), "recall": estimate(share(0.9 * by)),
                "ece": { "value": 0.1, "n": 4, "direction": "down" } })
    };
    // The mean over cases is the tool's value, as in every report.
    let own = |n: usize| tool.f1.map(|v| v + (0.2 * n as f64 - 0.3) * v.min(1.0 - v));
    let case = |n: usize| json!({ "case": format!("c{n}"), "pass": false, "metrics": { "f1": estimate(own(n)) }, "trials": [] });
    let slice = |by: f64| json!({ "metrics": metrics(by), "cases": 2 });
    json!({
        "tool": tool.name, "trials": 8, "outcomes": { "reported": 8 }, "pass": false,
        "counts": { "tp": 3, "fp": 2, "fn": 1 }, "verdicts": { "tp": 1.0, "fp": 0.0, "tn": 1.0, "fn": 0.0 },
        "metrics": metrics(1.0), "micro": metrics(1.0), "macro_by": {},
        "by": { "severity": { "high": slice(1.1), "low": slice(0.8) }, "language": { "rust": slice(1.0), "c": slice(0.9) } },
        "reliability": [
            { "low": 0.2, "high": 0.4, "confidence": 0.3, "accuracy": 0.25, "weight": 2.0, "ci": [0.05, 0.75] },
            { "low": 0.8, "high": 1.0, "confidence": 1.0, "accuracy": 1.0, "weight": 6.0 }],
        "sweeps": [{ "by": "confidence", "average_precision": 0.6,
            "best": { "threshold": 0.5, "precision": 0.7, "recall": 0.6, "f1": 0.646 },
            "points": [{ "threshold": 0.9, "precision": 1.0, "recall": 0.2, "f1": 0.333 },
                       { "threshold": 0.5, "precision": 0.7, "recall": 0.6, "f1": 0.646 },
                       { "threshold": null, "precision": 0.4, "recall": 0.7, "f1": 0.509 }] }],
        "cases": (0..4).map(case).collect::<Vec<_>>(),
    })
}

fn report(tools: &[TestTool<'_>]) -> ReportV1 {
    let cases = (0..4).map(|n| json!({ "case": format!("c{n}"), "verdict": "vulnerable", "issues": [] }));
    let cost = tools.iter().enumerate().map(|(at, tool)| {
        let usd = if at == 0 { 0.0 } else { 0.002 * (at + 1) as f64 };
        (tool.name.to_owned(), json!({ "usd": 8.0 * usd, "usd_per_case": usd, "usd_per_tp": null, "tokens_in": 1, "tokens_out": 1, "n": 8 }))
    });
    let value = json!({
        "schema": "karat.report/1",
        "suite": { "name": "made", "digest": "d", "cases": 4, "issues": 8 },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["precision", "recall", "f1"] },
        "intervals": { "level": 0.95, "resamples": 1000, "bootstrap": "bca", "proportions": "wilson" },
        "seed": 1, "cases": cases.collect::<Vec<_>>(),
        "tools": tools.iter().map(tool).collect::<Vec<_>>(),
        "judges": [],
        "measured": { "latency": {}, "cost": cost.collect::<serde_json::Map<_, _>>() },
        "warnings": [],
    });
    let mut report: ReportV1 = serde_json::from_value(value).unwrap();
    report.ranking = ranking(&report);
    report
}

/// A view of the report with all optional data.
fn view(report: &ReportV1) -> ReportView<'_> {
    let earlier = ["monday", "a-run-with-a-rather-long-name"]
        .map(|label| EarlierReport { label: label.to_owned(), report: report.clone() });
    let mut view = ReportView { earlier: earlier.into(), ..ReportView::new(report) };
    let shares = json!({ "cases": 0.7, "trials": 0.25, "judges": 0.05, "case_count": 4, "trials_per_case": 2.0, "judges_per_trial": 2.0,
        "halved_by_cases": 16, "halved_by_trials": null, "halved_by_judges": null });
    view.variance =
        report.tools.iter().map(|tool| (tool.tool.clone(), serde_json::from_value(shares.clone()).unwrap())).collect();
    view
}

/// The plot with its notes, as a page has it.
fn with_notes(plot: &Plot) -> String {
    format!("{} {}", plot.inline(), plot.notes.join(" "))
}

fn draw_all(tools: &[TestTool<'_>]) -> Vec<(&'static str, Plot)> {
    let report = report(tools);
    let view = view(&report);
    let all = KINDS.iter().filter_map(|kind| Some((kind.name, (kind.draw)(&view, &PlotOptions::default()).ok()?)));
    all.flat_map(|(name, plots)| plots.into_iter().map(move |plot| (name, plot))).collect()
}

fn two_tools() -> [TestTool<'static>; 2] {
    [TestTool { name: "careful", f1: Some(0.8) }, TestTool { name: "noisy", f1: Some(0.4) }]
}

#[test]
fn every_kind_draws_an_example_with_a_description() {
    let all = draw_all(&two_tools());
    for kind in KINDS {
        assert!(kind.description.len() > 30 && !kind.title.is_empty(), "{} has too short a description", kind.name);
        let own: Vec<&Plot> = all.iter().filter(|(name, _)| *name == kind.name).map(|(_, plot)| plot).collect();
        assert!(!own.is_empty(), "{} draws nothing", kind.name);
        for plot in own {
            assert!(plot.description.contains("careful") || plot.description.contains("noisy"), "{}", plot.description);
            let inline = plot.inline();
            assert!(inline.starts_with("<svg class=\"plot") && inline.contains("role=\"img\""), "{inline}");
            assert!(!inline.contains("style") && !inline.contains("xmlns"), "{} has a style of its own", kind.name);
        }
    }
}

/// Every coordinate of a drawing, and whether it is horizontal.
fn coordinates(svg: &str) -> Vec<(bool, f64)> {
    let document = Document::parse(svg).unwrap();
    let mut out = Vec::new();
    for node in document.descendants().filter(|node| node.is_element()) {
        // Several plots as one are moved as groups, which this does not follow.
        for attribute in node.attributes() {
            let number = || attribute.value().parse::<f64>().unwrap();
            match attribute.name() {
                "x" | "x1" | "x2" | "cx" => out.push((true, number())),
                "y" | "y1" | "y2" | "cy" => out.push((false, number())),
                "width" | "height" | "r" => assert!(number() >= 0.0, "{svg}"),
                "points" => {
                    for pair in attribute.value().split(' ') {
                        let (x, y) = pair.split_once(',').unwrap();
                        out.extend([(true, x.parse().unwrap()), (false, y.parse().unwrap())]);
                    }
                }
                _ => {}
            }
        }
        if node.has_tag_name("text") && node.attribute("transform").is_none() {
            let size = if node.attribute("class").is_some_and(|class| class.contains("small")) { 12.0 } else { 13.0 };
            let wide = words::width(node.text().unwrap_or_default(), size);
            let x: f64 = node.attribute("x").unwrap().parse().unwrap();
            let (from, to) = match node.attribute("text-anchor") {
                Some("end") => (x - wide, x),
                Some(_) => (x - wide / 2.0, x + wide / 2.0),
                None => (x, x + wide),
            };
            out.extend([(true, from), (true, to)]);
        }
    }
    out
}

#[track_caller]
fn check_inside(tools: &[TestTool<'_>]) {
    for (name, plot) in draw_all(tools) {
        let svg = plot.inline();
        for (horizontal, coordinate) in coordinates(&svg) {
            let end = if horizontal { plot.size.0 } else { plot.size.1 };
            assert!(
                coordinate.is_finite() && (-0.5..=end + 0.5).contains(&coordinate),
                "{name}: {coordinate} is outside of 0 to {end}\n{svg}"
            );
        }
    }
}

#[test]
fn all_marks_are_inside_the_picture() {
    check_inside(&two_tools());
    check_inside(&[TestTool { name: "one", f1: Some(0.5) }]);
    check_inside(&[
        TestTool { name: "zero", f1: Some(0.0) },
        TestTool { name: "one", f1: Some(1.0) },
        TestTool { name: "none", f1: None },
    ]);
    check_inside(&[TestTool { name: "equal", f1: Some(0.3) }, TestTool { name: "same", f1: Some(0.3) }]);
    check_inside(&[TestTool { name: "nothing", f1: None }, TestTool { name: "nowhere", f1: None }]);
    check_inside(&[
        TestTool { name: "below", f1: Some(-7.5) },
        TestTool { name: "vast", f1: Some(1e300) },
        TestTool { name: "W".repeat(300).leak(), f1: Some(41.0) },
    ]);
    let names: Vec<String> = (0..50).map(|n| format!("tool-{n}-審査員-of-the-{}", "long ".repeat(n % 7))).collect();
    let fifty: Vec<TestTool<'_>> =
        names.iter().enumerate().map(|(n, name)| TestTool { name, f1: Some(n as f64 / 49.0) }).collect();
    check_inside(&fifty);
}

#[test]
fn tool_names_are_escaped() {
    let hostile = "</title><script>alert(1)</script>\"'&\u{202e}";
    let tools = [TestTool { name: hostile, f1: Some(0.4) }, TestTool { name: "<b>", f1: Some(0.6) }];
    let mut checked = 0;
    for (name, plot) in draw_all(&tools) {
        for svg in [plot.inline(), plot.standalone(Theme::Dark)] {
            assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains('\u{202e}'), "{name}: {svg}");
            Document::parse(&svg).unwrap();
            checked += 1;
        }
    }
    assert!(checked >= 2 * KINDS.len(), "{checked}");
}

#[test]
fn ids_are_unique_per_plot_and_deterministic() {
    let id = |plot: &Plot| plot.inline().split("aria-labelledby=\"").nth(1).unwrap()[..20].to_owned();
    let (first, again) = (draw_all(&two_tools()), draw_all(&two_tools()));
    let ids: std::collections::BTreeSet<String> = first.iter().map(|(_, plot)| id(plot)).collect();
    assert_eq!(ids.len(), first.len());
    assert!(first.iter().zip(&again).all(|((_, a), (_, b))| a == b && id(a) == id(b)));
}

#[test]
fn missing_data_is_reported() {
    let mut report = report(&[TestTool { name: "lonely", f1: None }]);
    report.measured.cost.clear();
    for tool in &mut report.tools {
        (tool.reliability, tool.sweeps, tool.by) = Default::default();
    }
    let view = ReportView::new(&report);
    let why = |options: &PlotOptions| -> String {
        let line = |kind: &PlotKind| format!("{}: {}\n", kind.name, (kind.draw)(&view, options).unwrap_err());
        KINDS.iter().map(line).collect()
    };
    insta::assert_snapshot!("nothing_to_draw", why(&PlotOptions::default()));
    let unknown = PlotOptions { tools: vec!["nobody".to_owned()], ..PlotOptions::default() };
    assert_eq!(why(&unknown).matches("the report has no tool `nobody`; available: lonely").count(), KINDS.len());
    let unknown = PlotOptions { metric: Some("beauty".to_owned()), ..PlotOptions::default() };
    assert!(why(&unknown).contains("intervals: no tool of the report has the metric `beauty`"), "{}", why(&unknown));
}

#[test]
fn tool_keeps_its_colour_when_drawn_alone() {
    let report = report(&two_tools());
    let view = view(&report);
    let alone = PlotOptions { tools: vec!["noisy".to_owned()], ..PlotOptions::default() };
    let plots = (kind("intervals").unwrap().draw)(&view, &alone).unwrap();
    let drawn = plots[0].inline();
    assert!(drawn.contains("class=\"s2\"") && !drawn.contains("class=\"s1\"") && !drawn.contains("careful"), "{drawn}");
}

#[test]
fn matrices_are_consistent_in_both_directions() {
    let mut report = report(&two_tools());
    let pair = &report.ranking.as_ref().unwrap().pairs[0];
    assert_eq!((pair.a.as_str(), pair.b.as_str(), pair.better.as_ref()), ("careful", "noisy", None));
    for (better, differing, row, column) in [
        (Some("careful"), 4, "is better than", "is worse than"),
        (Some("noisy"), 4, "is worse than", "is better than"),
        (None, 4, "is statistically tied with", "is statistically tied with"),
        (None, 0, "equals", "equals"),
    ] {
        let pair = &mut report.ranking.as_mut().unwrap().pairs[0];
        (pair.better, pair.differing) = (better.map(str::to_owned), differing);
        let view = view(&report);
        let drawn = (kind("significance").unwrap().draw)(&view, &PlotOptions::default()).unwrap()[0].inline();
        let says = |a: &str, verb: &str, b: &str| drawn.contains(&format!("<title>{a} {verb} {b}: F1 "));
        assert!(says("careful", row, "noisy") && says("noisy", column, "careful"), "{drawn}");
        assert!(
            drawn.contains("noisy: F1 +0.400, p 0.125") && drawn.contains("careful: F1 −0.400, p 0.125"),
            "{drawn}"
        );
    }
}

#[test]
fn matrix_has_every_one_of_many_tools() {
    let names: Vec<String> = (0..50).map(|at| format!("t{at:02}")).collect();
    let tools: Vec<TestTool<'_>> =
        names.iter().enumerate().map(|(at, name)| TestTool { name, f1: Some(0.99 - 0.015 * at as f64) }).collect();
    let report = report(&tools);
    let drawn = (kind("significance").unwrap().draw)(&view(&report), &PlotOptions::default()).unwrap()[0].inline();
    assert!(names.iter().all(|name| drawn.contains(&format!(">{name}<"))), "{drawn}");
    assert_eq!(drawn.matches("<title>").count(), 50 * 49);
}

#[test]
fn matrix_names_its_columns() {
    let names = ["a-reviewer-with-a-rather-long-name-1", "a-reviewer-with-a-rather-long-name-2", "short"];
    let tools = names.map(|name| TestTool { name, f1: Some(0.5 + 0.01 * name.len() as f64) });
    let report = report(&tools);
    let drawn = (kind("significance").unwrap().draw)(&view(&report), &PlotOptions::default()).unwrap()[0].inline();
    let document = Document::parse(&drawn).unwrap();
    let columns: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("text") && node.attribute("transform").is_some())
        .filter_map(|node| node.text())
        .collect();
    assert_eq!(columns.len(), 3, "{drawn}");
    assert!(columns.contains(&"short"), "{columns:?}");
    // Long names keep their ends, by which they differ.
    assert!(columns.iter().any(|name| name.ends_with("-1")) && columns.iter().any(|name| name.ends_with("-2")));
}

#[test]
fn points_have_their_names_beside_them() {
    let plots = draw_all(&two_tools());
    for kind in ["precision-recall", "cost-quality", "trend"] {
        let (_, plot) = plots.iter().find(|(name, _)| *name == kind).unwrap();
        for name in ["careful", "noisy"] {
            assert_eq!(plot.inline().matches(&format!(">{name}</text>")).count(), 1, "{kind} names {name} once");
        }
    }
    // Two tools at the same place: the second is named in the legend.
    let twins = [TestTool { name: "one", f1: Some(0.5) }, TestTool { name: "two", f1: Some(0.5) }];
    let plots = draw_all(&twins);
    let (_, plot) = plots.iter().find(|(name, _)| *name == "precision-recall").unwrap();
    assert!(plot.inline().contains(">one</text>") && plot.inline().contains(">two</text>"), "{}", plot.inline());
}

#[test]
fn ranks_are_drawn_for_tools_with_a_value() {
    let mut report = report(&[
        TestTool { name: "first", f1: Some(0.9) },
        TestTool { name: "second", f1: Some(0.5) },
        TestTool { name: "silent", f1: None },
    ]);
    let draw = |report: &ReportV1, options: &PlotOptions| (kind("ranks").unwrap().draw)(&view(report), options);
    let drawn = with_notes(&draw(&report, &PlotOptions::default()).unwrap()[0]);
    for part in ["<title>first: rank 1–2</title>", "<title>second: rank 1–2</title>", "no value, no rank"] {
        assert!(drawn.contains(part), "{part} in {drawn}");
    }
    assert!(drawn.contains("By F1, first and second are tied."), "{drawn}");
    // A report may have an impossible rank.
    report.ranking.as_mut().unwrap().tools[0].rank_high = Some(usize::MAX);
    draw(&report, &PlotOptions::default()).unwrap();
    let recall = PlotOptions { metric: Some("recall".to_owned()), ..PlotOptions::default() };
    assert!(draw(&report, &recall).unwrap_err().to_string().contains("karat compare --ranks --metric recall"));
    report.ranking = None;
    assert!(draw(&report, &PlotOptions::default()).unwrap_err().to_string().contains("no tests of pairs"));
}

fn trend(view: &ReportView<'_>) -> String {
    with_notes(&(kind("trend").unwrap().draw)(view, &PlotOptions::default()).unwrap()[0])
}

#[test]
fn trend_labels_reports_and_notes_other_suites() {
    let report = report(&two_tools());
    let mut view = view(&report);
    assert!(trend(&view).contains(">now</text>"));
    view.name = Some("tuesday".to_owned());
    let drawn = trend(&view);
    assert!(drawn.contains(">tuesday</text>") && !drawn.contains(">now</text>"), "{drawn}");
    assert!(drawn.contains("Lines at markers: 95 % intervals.") && !drawn.contains("another"), "{drawn}");
    view.earlier[0].report.suite.digest = "other".to_owned();
    assert!(trend(&view).contains("1 report rests on another state of the suite: "), "{}", trend(&view));
    view.earlier[1].report.suite.name = "other".to_owned();
    let notes = ["1 report rests on another state", "1 report rests on another suite, "];
    assert!(notes.iter().all(|note| trend(&view).contains(note)), "{}", trend(&view));
    view.earlier = (0..40).map(|at| EarlierReport { label: at.to_string(), report: report.clone() }).collect();
    let drawn = trend(&view);
    assert!(!drawn.contains("Lines at markers") && !drawn.contains("class=\"ci\""), "{drawn}");
}

#[test]
fn time_is_drawn_when_costs_are_missing() {
    let mut report = report(&two_tools());
    let draw =
        |report: &ReportV1| (kind("cost-quality").unwrap().draw)(&ReportView::new(report), &PlotOptions::default());
    assert!(draw(&report).unwrap()[0].inline().contains(">USD per case<"));
    report.measured.cost.remove("noisy");
    assert!(draw(&report).unwrap_err().to_string().starts_with("this plot needs two tools"));
    for tool in ["careful", "noisy"] {
        let latency = json!({ "mean_ms": 1500.0, "n": 8 });
        report.measured.latency.insert(tool.to_owned(), serde_json::from_value(latency).unwrap());
    }
    let drawn = with_notes(&draw(&report).unwrap()[0]);
    assert!(
        drawn.contains(">seconds per trial<") && drawn.contains("Only careful reports a cost, so time is shown."),
        "{drawn}"
    );
}

#[test]
fn slices_without_a_value_suggest_other_metrics() {
    let mut report = report(&two_tools());
    for slice in report.tools.iter_mut().flat_map(|tool| tool.by.values_mut()).flat_map(|values| values.values_mut()) {
        slice.metrics.insert("f1".to_owned(), serde_json::from_value(estimate(None)).unwrap());
    }
    let options = PlotOptions { metric: Some("f1".to_owned()), ..PlotOptions::default() };
    let message = (kind("slices").unwrap().draw)(&ReportView::new(&report), &options).unwrap_err().to_string();
    assert_eq!(
        message,
        "no slice of the suite has a value of F1; choose another with --metric: precision, recall, ece"
    );
}

#[test]
fn svg_snapshots() {
    let lines = |svg: String| svg.replace("><", ">\n<");
    for (name, plot) in
        draw_all(&two_tools()).into_iter().filter(|(name, _)| ["intervals", "cost-quality"].contains(name))
    {
        insta::assert_snapshot!(name, lines(plot.inline()));
    }
}

#[test]
fn png_is_deterministic() {
    let (_, plot) = draw_all(&two_tools()).remove(0);
    let png = plot.png(Theme::Light, 1.0).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png == plot.png(Theme::Light, 1.0).unwrap());
    assert_ne!(png, plot.png(Theme::Dark, 1.0).unwrap());
    let refused = plot.png(Theme::Light, 1e6).unwrap_err().to_string();
    assert!(refused.contains("too large; choose a smaller scale"), "{refused}");
}

#[test]
fn plots_are_combined_side_by_side() {
    let all: Vec<Plot> =
        draw_all(&two_tools()).into_iter().filter(|(name, _)| *name == "reliability").map(|(_, p)| p).collect();
    let (one, both) = (all[0].clone(), Plot::beside("Reliability", all.clone()).unwrap());
    let (_, (width, height)) = one.with_notes();
    assert_eq!(both.size, (width * 2.0 + 18.0, height + 24.0));
    assert!(height > one.size.1 && both.notes.is_empty(), "notes are drawn in a picture");
    // A single plot has its title above it.
    let names = |svg: &str| svg.matches(">Reliability of careful</text>").count();
    assert_eq!((names(&both.standalone(Theme::Light)), names(&one.standalone(Theme::Light))), (1, 1));
    assert!(all.iter().all(|plot| both.description.contains(&plot.description)));
    assert_eq!(Plot::beside("Reliability", vec![one.clone()]), Some(one));
    assert_eq!(Plot::beside("Reliability", Vec::new()), None);
}

#[test]
fn points_of_reliability_have_intervals_where_the_report_has_them() {
    let mut report = report(&[TestTool { name: "careful", f1: Some(0.8) }]);
    let draw = |report: &ReportV1| {
        let plot = (kind("reliability").unwrap().draw)(&view(report), &PlotOptions::default()).unwrap().remove(0);
        (with_notes(&plot), plot.description)
    };
    let (drawn, description) = draw(&report);
    assert_eq!(drawn.matches("<line class=\"ci\"").count(), 1, "{drawn}");
    assert!(drawn.contains("<title>confidence 0.30: 0.25 (.05–.75) correct, n = 2</title>"), "{drawn}");
    assert!(drawn.contains("ECE 0.100. The larger a point, the more cases. Vertical lines: 95 % intervals"), "{drawn}");
    assert!(description.contains("0.25 (.05–.75) correct"), "{description}");
    // As reports of older versions are.
    let tool = &mut report.tools[0];
    tool.reliability.iter_mut().for_each(|bin| bin.ci = None);
    let debiased = karat_format::report::EstimateV1 { value: Some(-0.0123), ..Default::default() };
    tool.metrics.insert("ece_debiased".to_owned(), debiased);
    let (drawn, description) = draw(&report);
    assert!(!drawn.contains("class=\"ci\"") && !drawn.contains("Vertical"), "{drawn}");
    assert!(description.contains("ECE 0.100, debiased -0.012"), "{description}");
}
