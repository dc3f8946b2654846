//! Renders an assessment report as a self-contained HTML page.

use super::detail::{role, word};
use super::{CATEGORIES, STAGES, facts, searched, templates, two, verdict};
use crate::number::{interval, p_value, signed, span, three, title};
use crate::page::{Page, drawing};
use crate::plot;
use karat_core::assessment::record::Compliance;
use karat_format::assessment::{AssessedV1, AssessmentReportV1, BundleV1, RetrievalV1, RetrievedV1, ScoredV1};
use karat_format::comparison::{ConclusionV1, DifferenceV1};
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;
use maud::{Markup, html};

/// Renders the page.
pub fn draw(report: &AssessmentReportV1) -> String {
    let name = templates(report);
    let body = html! {
        h1 { (name) }
        p.dim { (facts(report)) }
        @if !report.warnings.is_empty() {
            div.careful role="note" { h2 { "Warnings" } ul { @for warning in &report.warnings { li { (warning) } } } }
        }
        @if !report.assessments.is_empty() {
            h2 { "Assessors" }
            @let sets: Vec<_> = report.assessments.iter().map(|(name, one)| (name, &one.metrics)).collect();
            (figures(&sets, "Quality of the answers, with 95 % intervals"))
            (lost(report))
        }
        @if let Some(retrieval) = &report.retrieval { (retrieved(report, retrieval)) }
        @if let Some(comparison) = &report.comparison {
            h2 { "Side by side" }
            @for pair in &comparison.pairs {
                @let head = heads(&["metric", "change", "95 % interval", "p", "verdict"]);
                @let rows = html! { @for row in &pair.metrics { (difference(row)) } };
                (table(&format!("{} → {}", pair.a, pair.b), &head, &rows))
            }
        }
        h2 { "Requirements" }
        @for bundle in &report.bundles {
            @let documents: Vec<&str> = bundle.documents.iter().map(|document| document.name.as_str()).collect();
            h3 { (bundle.bundle_id) }
            p.dim { (bundle.language) " · " (documents.join(", ")) }
            (requirements(report, bundle))
        }
    };
    Page { title: &format!("Karat: {name}"), body, styles: &[plot::STYLE], ..Page::default() }.draw()
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
        h2 { "Retrieval" }
        p.dim { (searched(report)) " · k = " (retrieval.k) }
        (figures(&[("retrieval", &retrieval.metrics)], "Quality of retrieval, with 95 % intervals"))
        (framed(caption, &overlaps))
    }
}

fn difference(row: &DifferenceV1) -> Markup {
    let class = match row.verdict {
        ConclusionV1::Better => "good",
        ConclusionV1::Worse => "bad",
        ConclusionV1::Equivalent | ConclusionV1::Inconclusive => "warn",
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

fn requirements(report: &AssessmentReportV1, bundle: &BundleV1) -> Markup {
    let is_own =
        |bundle_id: &str, template_id: &str| bundle_id == bundle.bundle_id && template_id == bundle.template_id;
    let retrieved = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
    let retrieved: Vec<&RetrievedV1> = retrieved.filter(|one| is_own(&one.bundle_id, &one.template_id)).collect();
    let Some((_, first)) = report.assessments.0.first() else {
        return html! { @for one in retrieved { details { summary { (one.requirement_id) } (found(one)) } } };
    };
    let own = first.requirements.iter().enumerate().filter(|(_, one)| is_own(&one.bundle_id, &one.template_id));
    html! {
        @for (at, one) in own {
            details {
                summary {
                    b { (one.requirement_id) } " golden " (verdict(Some(one.golden)))
                    @for (name, assessment) in report.assessments.iter() {
                        @let own = &assessment.requirements[at];
                        @let class = if own.said == Some(own.golden) { "good" } else { "bad" };
                        " · " (name) " " span class=(class) { (verdict(own.said)) } " " (two(Some(own.combined)))
                    }
                }
                @for (name, assessment) in report.assessments.iter() { (assessed(name, &assessment.requirements[at])) }
                @if let Some(retrieved) = retrieved.iter().find(|other| other.requirement_id == one.requirement_id) {
                    (found(retrieved))
                }
            }
        }
    }
}

fn assessed(name: &str, one: &AssessedV1) -> Markup {
    let rows = html! {
        @for part in &one.parts {
            @let lost = STAGES.iter().find(|(stage, _)| part.lost == Some(*stage)).map_or("", |(_, words)| words);
            tr {
                th scope="row" { (part.part) }
                td { (role(part.role)) }
                td { (part.cited.map_or("–", role)) }
                td.n { (part.credit) " × " (part.weight) }
                td.bad { (lost) }
            }
        }
    };
    html! {
        p {
            b { (name) } ": " (one.said.map_or("no answer", Compliance::as_str)) " (compliance " (two(Some(one.compliance)))
            ", evidence " (two(one.evidence)) ", combined " (two(Some(one.combined))) ")"
        }
        @if let Some(why) = &one.unanswered { p.bad { "No answer to " (why.step.name()) ": " (why.why) } }
        @if !one.rationale.is_empty() { p.dim { (one.rationale) } }
        @if !one.parts.is_empty() {
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
