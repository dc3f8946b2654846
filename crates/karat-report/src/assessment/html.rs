//! Renders an assessment report as a self-contained HTML page. Everything is plain markup; a script only filters it.

mod map;
mod unit;

use super::detail::{role, word};
use super::{CATEGORIES, STAGES, facts, searched, templates, two, verdict};
use crate::html::{self, Tab, brief, chips, section};
use crate::number::{interval, p_value, signed, span, three, title};
use crate::page::{Frame, PRINT, Page, drawing};
use crate::plot;
use crate::report_view::AssessmentView;
use karat_core::assessment::record::Compliance;
use karat_core::assessment::scores::Stage;
use karat_core::wording::count;
use karat_format::assessment::{
    AssessedV1, AssessmentReportV1, AssessmentV1, PartV1, RetrievalV1, RetrievedV1, ScoredV1, SideBySideV1,
};
use karat_format::comparison::{ConclusionV1, DifferenceV1};
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;
use maud::{Markup, html};
use unit::{Unit, all_units};

/// Renders the page on its own.
pub fn draw(view: &AssessmentView<'_>) -> String {
    page(view, &format!("{} · Karat assessment", view.title())).draw()
}

/// The page of an assessment, standalone or one of several.
pub fn page<'a>(view: &AssessmentView<'_>, title: &'a str) -> Page<'a> {
    let report = view.report;
    let has_answers = !report.assessments.is_empty();
    let part = |id: &str, title: &str, content: Option<Markup>| {
        content.map(|content| section(id, title, &content)).unwrap_or_default()
    };
    let overview = [
        part("assessors", "Assessors", has_answers.then(|| assessors(report))),
        part("stages", "Stages", has_answers.then(|| stages(report))),
    ];
    let requirements = [
        part("map", "Requirements and bundles", Some(map::draw(report))),
        part("requirements", "Requirements", Some(all_requirements(report))),
    ];
    let retrieval = report.retrieval.as_ref().map(|retrieval| retrieved(report, retrieval));
    let compared = [
        part("side-by-side", "Side by side", report.comparison.as_ref().map(side_by_side)),
        part("trend", "Trend", (!view.earlier.is_empty()).then(|| trend(view))),
    ];
    let compared_target = if report.comparison.is_some() { "side-by-side" } else { "trend" };
    let tabs = [
        Tab::new("Overview", "assessors", &overview),
        Tab::new("Requirements", "map", &requirements),
        Tab::new("Retrieval", "retrieval", &[part("retrieval", "Retrieval", retrieval)]),
        Tab::new("Compared", compared_target, &compared),
    ];
    let tabs: Vec<Tab> = tabs.into_iter().flatten().collect();
    let warnings: Vec<(String, String)> =
        report.warnings.iter().map(|warning| (brief(warning).to_owned(), warning.clone())).collect();
    let label = view.label();
    let body = html! {
        header.about {
            h1 { (headline(report).or_else(|| view.name.clone()).unwrap_or_else(|| templates(report))) }
            p.dim {
                @if let Some(name) = &view.name { (name) " · " }
                (templates(report)) " · " (facts(report))
                @if let Some(run) = &view.run { " · " (run.began) " · run " code { (run.id) } }
            }
        }
        (chips(&warnings))
        @for tab in &tabs { (tab.draw()) }
    };
    let frame =
        Frame { breadcrumb: vec![(label, None)], tabs: tabs.iter().map(Tab::link).collect(), ..Frame::default() };
    Page { title, frame: Some(frame), body, styles: &STYLES, scripts: &SCRIPTS, ..Page::default() }
}

/// The result in words: the assessor with the best value of the first metric.
fn headline(report: &AssessmentReportV1) -> Option<String> {
    let values = report.assessments.iter().filter_map(|(name, one)| {
        let (id, estimate) = one.metrics.iter().next()?;
        Some((name, one, id, estimate.value?))
    });
    // Of equal ones, the first.
    let (name, one, id, value) = values.reduce(|best, other| if other.3 > best.3 { other } else { best })?;
    let right = one.requirements.iter().filter(|own| own.said == Some(own.golden)).count();
    let of = match report.assessments.names().count() {
        1 => String::new(),
        assessors => format!(" is best of {assessors} assessors"),
    };
    let (title, requirements) = (title(id), one.requirements.len());
    Some(format!("{name}{of}: {title} {}, {right} of {requirements} verdicts right", two(Some(value))))
}

const STYLES: [&str; 3] = [html::STYLES[0], html::STYLES[1], include_str!("assessment.css")];

const SCRIPTS: [&str; 2] = [PRINT, include_str!("assessment.js")];

fn assessors(report: &AssessmentReportV1) -> Markup {
    let sets: Vec<_> = report.assessments.iter().map(|(name, one)| (name, &one.metrics)).collect();
    figures(&sets, "Quality of the answers, with 95 % intervals")
}

/// How many golden parts, and how many requirements, are left after each stage.
fn stages(report: &AssessmentReportV1) -> Markup {
    let head = html! { th scope="col" { "stage" } th.n scope="col" { "left" } th scope="col" { "share" } };
    html! {
        div.figures {
            @for (name, one) in report.assessments.iter() {
                @for (caption, steps) in funnels(report, one) {
                    @let all = steps.first().map_or(0, |(_, n)| *n);
                    @let rows = html! {
                        @for (stage, n) in &steps {
                            tr {
                                th scope="row" { (stage) }
                                td.n { (n) }
                                td { (share(*n, all, stage)) }
                            }
                        }
                    };
                    (table(&format!("{name}: {caption}"), &head, &rows))
                }
            }
        }
        (lost(report))
    }
}

/// The stages that golden parts and requirements pass. Of what a reranker dropped, reports only have what it left.
fn funnels(report: &AssessmentReportV1, one: &AssessmentV1) -> [(&'static str, Vec<(&'static str, usize)>); 2] {
    let lost = |stage: Stage| one.lost.get(&stage).copied().unwrap_or_default();
    let cited = one.kept + lost(Stage::WrongRole);
    let shown = cited + lost(Stage::NotCited);
    let read = shown + lost(Stage::NotRetrieved);
    // The others are not lost: nobody knows what would have become of them.
    let asked = if one.left_out > 0 { "golden parts that were asked about" } else { "golden parts" };
    let parts = vec![
        (asked, read + lost(Stage::NotIngested)),
        ("in a section that was read", read),
        (
            if report.search.reranking.is_some() { "retrieved, reranked and shown" } else { "retrieved and shown" },
            shown,
        ),
        ("cited", cited),
        ("cited in the right role", one.kept),
    ];
    let right = one.requirements.iter().filter(|own| own.said == Some(own.golden)).count();
    let requirements =
        vec![("requirements", one.requirements.len()), ("answered", one.answered), ("right verdict", right)];
    [("golden parts left after each stage", parts), ("requirements left after each stage", requirements)]
}

fn share(n: usize, all: usize, what: &str) -> Markup {
    if all == 0 {
        return html! { span.dim { "–" } };
    }
    let share = n as f64 / all as f64;
    html! {
        meter min="0" max=(all) value=(n) aria-label={ (what) ": " (n) " of " (all) } {} " " (format!("{:.0} %", 100.0 * share))
    }
}

/// The metrics of the same assessors over several assessments, oldest first.
fn trend(view: &AssessmentView<'_>) -> Markup {
    let now = (view.trend_label(), view.report);
    let stops = view.earlier.iter().map(|earlier| (earlier.label.as_str(), &earlier.report)).chain([now]);
    let stops: Vec<(&str, &AssessmentReportV1)> = stops.collect();
    let sets = |of: &dyn Fn(&'_ AssessmentReportV1) -> Option<OrderedMap<EstimateV1>>| {
        stops.iter().map(|(label, report)| (*label, of(report).unwrap_or_default())).collect::<Vec<_>>()
    };
    let drawn = |name: &str, sets: &[(&str, OrderedMap<EstimateV1>)]| {
        let newest = sets.last().map(|(_, metrics)| metrics.names().map(str::to_owned).collect::<Vec<_>>());
        let head = html! {
            th scope="col" { "assessment" }
            @for id in newest.iter().flatten() { th scope="colgroup" colspan="3" { (title(id)) } }
        };
        let rows = html! {
            @for (label, metrics) in sets {
                tr {
                    th scope="row" { (label) }
                    @for id in newest.iter().flatten() { (figure(metrics.get(id))) }
                }
            }
        };
        table(&format!("{name}, oldest first, with 95 % intervals"), &head, &rows)
    };
    let names: Vec<&str> = view.report.assessments.names().collect();
    let others = view.earlier.iter().filter(|earlier| templates(&earlier.report) != templates(view.report)).count();
    html! {
        @for name in &names {
            @let own = sets(&|report| report.assessments.get(name).map(|one| one.metrics.clone()));
            (drawn(name, &own))
        }
        @if view.report.retrieval.is_some() {
            @let own = sets(&|report| report.retrieval.as_ref().map(|retrieval| retrieval.metrics.clone()));
            (drawn("retrieval", &own))
        }
        @if others > 0 { p.warn { (count(others, "assessment")) " used other templates, and cannot be compared." } }
    }
}

fn side_by_side(comparison: &SideBySideV1) -> Markup {
    html! {
        @for pair in &comparison.pairs {
            @let head = heads(&["metric", "change", "95 % interval", "p", "verdict"]);
            @let rows = html! { @for row in &pair.metrics { (difference(row)) } };
            (table(&format!("{} → {}", pair.a, pair.b), &head, &rows))
        }
    }
}

fn all_requirements(report: &AssessmentReportV1) -> Markup {
    let units = all_units(report);
    html! {
        @for (at, bundle) in report.bundles.iter().enumerate() {
            @let documents: Vec<&str> = bundle.documents.iter().map(|document| document.name.as_str()).collect();
            @let own: Vec<&Unit<'_>> = units
                .iter()
                .filter(|unit| unit.bundle == bundle.bundle_id && unit.template == bundle.template_id)
                .collect();
            @let wrong = own.iter().filter(|unit| unit.is_wrong()).count();
            // The list is long, so all but the first are folded.
            details.bundle open[at == 0] {
                summary {
                    h3 { (bundle.bundle_id) }
                    " " (count(own.len(), "requirement"))
                    @if wrong > 0 { ", " span.bad { (wrong) " wrong" } }
                    " " span.dim { (bundle.language) " · " (documents.join(", ")) }
                }
                (requirements(&own))
            }
        }
    }
}

/// On small screens the table scrolls within its frame; the frame is focusable and named so that keyboards can scroll it.
fn table(caption: &str, head: &Markup, rows: &Markup) -> Markup {
    framed(caption, &html! { table { caption { (caption) } thead { tr { (head) } } tbody { (rows) } } })
}

fn framed(caption: &str, table: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(caption) { (table) } }
}

fn heads(names: &[&str]) -> Markup {
    html! { @for name in names { th scope="col" { (name) } } }
}

fn figures(sets: &[(&str, &OrderedMap<EstimateV1>)], caption: &str) -> Markup {
    let head = html! {
        th scope="col" { "metric" }
        @for (name, _) in sets { th scope="colgroup" colspan="3" { (name) } }
    };
    let ids = sets.first().into_iter().flat_map(|(_, metrics)| metrics.names());
    let rows = html! {
        @for (at, id) in ids.enumerate() {
            tr class=[(at == 0).then_some("head")] {
                th scope="row" { (title(id)) }
                @for (_, metrics) in sets { (figure(metrics.get(id))) }
            }
        }
    };
    table(caption, &head, &rows)
}

fn figure(estimate: Option<&EstimateV1>) -> Markup {
    let value = estimate.and_then(|estimate| estimate.value);
    let ci = estimate.and_then(|estimate| estimate.ci);
    let undefined = estimate.and_then(|estimate| estimate.undefined.clone());
    html! {
        td.n { (three(value)) }
        td.dim.i { (undefined.unwrap_or_else(|| span(ci))) }
        td { (drawing(plot::interval(value, ci, (0.0, 1.0)))) }
    }
}

fn lost(report: &AssessmentReportV1) -> Markup {
    let head = html! {
        th scope="col" { "assessor" }
        th.n scope="col" { "cited in the right role" }
        @for (_, words) in STAGES { th.n scope="col" { (words) } }
        th.n scope="col" { "requirements unanswered" }
    };
    let rows = html! {
        @for (name, one) in report.assessments.iter() {
            tr {
                th scope="row" { (name) }
                td.n { (one.kept) }
                @for (stage, _) in STAGES { td.n { (one.lost.get(&stage).copied().unwrap_or_default()) } }
                td.n { (one.unanswered.values().sum::<usize>()) }
            }
        }
    };
    table("Where golden parts were lost", &head, &rows)
}

fn retrieved(report: &AssessmentReportV1, retrieval: &RetrievalV1) -> Markup {
    let caption = "Best overlap of retrieved parts with golden parts";
    let overlaps = html! {
        table.small {
            caption { (caption) }
            tbody {
                @for (category, word) in CATEGORIES {
                    @let n = retrieval.categories.get(&category).copied().unwrap_or_default();
                    tr { th scope="row" { (word) } td.n { (n) } }
                }
            }
        }
    };
    html! {
        p.dim { (searched(report)) " · k = " (retrieval.k) }
        (figures(&[("retrieval", &retrieval.metrics)], "Quality of retrieval, with 95 % intervals"))
        (framed(caption, &overlaps))
    }
}

fn difference(row: &DifferenceV1) -> Markup {
    let class = match row.verdict {
        ConclusionV1::Better => "good",
        ConclusionV1::Worse => "bad",
        ConclusionV1::Equivalent | ConclusionV1::Identical | ConclusionV1::Inconclusive => "warn",
    };
    html! {
        tr {
            th scope="row" { (title(&row.metric)) }
            td.n { (signed(row.difference)) }
            td { (interval(row.ci, signed)) }
            td.n { (p_value(row.p_holm)) }
            td class=(class) { (row.verdict.as_str()) }
        }
    }
}

fn requirements(units: &[&Unit<'_>]) -> Markup {
    html! {
        @for unit in units {
            details.requirement id=(unit.anchor()) data-case=(unit.case) data-requirement=(unit.requirement)
                data-verdicts=(unit.verdicts()) data-wrong=(unit.is_wrong()) {
                summary {
                    b { (unit.requirement) }
                    @if let Some(golden) = unit.golden() { " golden " (verdict(Some(golden))) }
                    @for (name, own) in &unit.answers {
                        @let class = if own.said == Some(own.golden) { "good" } else { "bad" };
                        " · " (name) " " span class=(class) { (verdict(own.said)) } " " (two(own.combined))
                    }
                }
                @for (name, own) in &unit.answers { (assessed(name, own)) }
                @if let Some(retrieved) = unit.retrieved { (found(retrieved)) }
            }
        }
    }
}

fn assessed(name: &str, one: &AssessedV1) -> Markup {
    let measured: Vec<(&PartV1, f64)> = one.parts.iter().filter_map(|part| Some((part, part.credit?))).collect();
    let rows = html! {
        @for (part, credit) in &measured {
            @let lost = STAGES.iter().find(|(stage, _)| part.lost == Some(*stage)).map_or("", |(_, words)| words);
            tr {
                th scope="row" { (part.part) }
                td { (role(part.role)) }
                td { (part.cited.map_or("–", role)) }
                td.n { (credit) " × " (part.weight) }
                td.bad { (lost) }
            }
        }
    };
    html! {
        p {
            b { (name) } ": " (one.said.map_or("no answer", Compliance::as_str)) " (compliance " (two(one.compliance))
            ", evidence " (two(one.evidence)) ", combined " (two(one.combined)) ")"
        }
        @if let Some(why) = &one.unanswered { p.bad { "No answer to " (why.step.name()) ": " (why.why) } }
        @if !one.rationale.is_empty() { p.dim { (one.rationale) } }
        @if !measured.is_empty() {
            (table("Golden parts", &heads(&["golden part", "role", "cited as", "credit", "lost"]), &rows))
        }
    }
}

fn found(one: &RetrievedV1) -> Markup {
    let place = |place: Option<ScoredV1>| place.map_or("–".to_owned(), |place| place.rank.to_string());
    let rows = html! {
        @for ranked in &one.ranked {
            tr {
                td.n { (ranked.rank) }
                td { (ranked.heading) }
                td { (ranked.document) " · " (ranked.place) }
                td.n { (place(ranked.bm25)) }
                td.n { (place(ranked.embedding)) }
                td {
                    @for (at, (part, category)) in ranked.golden.iter().enumerate() {
                        @if at > 0 { br; }
                        (word(*category)) " " (part)
                    }
                }
            }
        }
    };
    let head = heads(&["place", "section", "document", "words", "vectors", "golden"]);
    table(&format!("Retrieved for: {}", one.query), &head, &rows)
}
