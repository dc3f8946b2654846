//! Renders an assessment report as a self-contained HTML page.

use super::super::number::{p_value, signed, span, three, title};
use super::super::page::{Page, text};
use super::super::plot;
use super::detail::role;
use super::{CATEGORIES, STAGES, facts, searched, templates, two, verdict};
use crate::compare::interval;
use karat_core::assessment::record::Compliance;
use karat_format::assessment::{AssessedV1, AssessmentReportV1, AssessmentV1, BundleV1, RetrievedV1};
use karat_format::comparison::ConclusionV1;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;

/// Renders the page.
pub fn draw(report: &AssessmentReportV1) -> String {
    let name = templates(report);
    let mut body = format!("<h1>{}</h1>\n<p class=\"dim\">{}</p>\n", text(&name), text(&facts(report)));
    if !report.warnings.is_empty() {
        let items: String = report.warnings.iter().map(|warning| format!("<li>{}</li>\n", text(warning))).collect();
        body.push_str(&format!("<div class=\"careful\" role=\"note\"><h2>Warnings</h2>\n<ul>{items}</ul></div>\n"));
    }
    if !report.assessments.is_empty() {
        let sets: Vec<(&str, &OrderedMap<EstimateV1>)> =
            report.assessments.iter().map(|(name, one)| (name, &one.metrics)).collect();
        body.push_str(&format!(
            "<h2>Assessors</h2>\n{}",
            figures(&sets, "Quality of the answers, with 95 % intervals")
        ));
        body.push_str(&lost(report));
    }
    if let Some(retrieval) = &report.retrieval {
        body.push_str(&format!(
            "<h2>Retrieval</h2>\n<p class=\"dim\">{} · k = {}</p>\n",
            text(&searched(report)),
            retrieval.k
        ));
        body.push_str(&figures(&[("retrieval", &retrieval.metrics)], "Quality of retrieval, with 95 % intervals"));
        let rows = CATEGORIES.map(|(category, word)| {
            let n = retrieval.categories.get(&category).copied().unwrap_or_default();
            format!("<tr><th scope=\"row\">{word}</th><td class=\"n\">{n}</td></tr>\n")
        });
        let small = table("Best overlap of retrieved parts with golden parts", "", &rows.concat());
        body.push_str(&small.replacen("<table>", "<table class=\"small\">", 1));
    }
    body.push_str(&differences(report));
    body.push_str("<h2>Requirements</h2>\n");
    for bundle in &report.bundles {
        let documents: Vec<&str> = bundle.documents.iter().map(|document| document.name.as_str()).collect();
        body.push_str(&format!(
            "<h3>{}</h3>\n<p class=\"dim\">{} · {}</p>\n",
            text(&bundle.bundle_id),
            text(&bundle.language),
            text(&documents.join(", "))
        ));
        body.push_str(&requirements(report, bundle));
    }
    let title = format!("Karat: {name}");
    Page {
        title: &title,
        nav: "",
        body: &body,
        styles: &[plot::STYLE],
        scripts: &[],
        connects: false,
        ..Page::default()
    }
    .draw()
}

/// On small screens the table scrolls within its frame; the frame is focusable and named so that keyboards can scroll it.
fn table(caption: &str, head: &str, rows: &str) -> String {
    let head = if head.is_empty() { String::new() } else { format!("<thead><tr>{head}</tr></thead>\n") };
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\n\
         <caption>{caption}</caption>\n{head}<tbody>\n{rows}</tbody></table></div>\n",
        caption = text(caption)
    )
}

fn figures(sets: &[(&str, &OrderedMap<EstimateV1>)], caption: &str) -> String {
    let heads: String =
        sets.iter().map(|(name, _)| format!("<th scope=\"colgroup\" colspan=\"3\">{}</th>", text(name))).collect();
    let ids: Vec<&str> = sets.first().map(|(_, metrics)| metrics.names().collect()).unwrap_or_default();
    let row = |(at, id): (usize, &&str)| {
        let cell = |(_, metrics): &(&str, &OrderedMap<EstimateV1>)| {
            let estimate = metrics.get(id);
            let (value, ci) = (estimate.and_then(|e| e.value), estimate.and_then(|e| e.ci));
            let why = estimate.and_then(|e| e.undefined.as_deref()).unwrap_or_default();
            let shown = if why.is_empty() { span(ci) } else { text(why) };
            format!(
                "<td class=\"n\">{}</td><td class=\"dim i\">{shown}</td><td>{}</td>",
                three(value),
                plot::interval(value, ci, (0.0, 1.0))
            )
        };
        let class = if at == 0 { " class=\"head\"" } else { "" };
        let cells: String = sets.iter().map(cell).collect();
        format!("<tr{class}><th scope=\"row\">{}</th>{cells}</tr>\n", text(title(id)))
    };
    let rows: String = ids.iter().enumerate().map(row).collect();
    table(caption, &format!("<th scope=\"col\">metric</th>{heads}"), &rows)
}

fn lost(report: &AssessmentReportV1) -> String {
    let heads: String = STAGES.iter().map(|(_, words)| format!("<th scope=\"col\" class=\"n\">{words}</th>")).collect();
    let head = format!(
        "<th scope=\"col\">assessor</th><th scope=\"col\" class=\"n\">cited in the right role</th>{heads}<th scope=\"col\" class=\"n\">requirements unanswered</th>"
    );
    let row = |(name, one): (&str, &AssessmentV1)| {
        let stages: String = STAGES
            .iter()
            .map(|(stage, _)| format!("<td class=\"n\">{}</td>", one.lost.get(stage).copied().unwrap_or_default()))
            .collect();
        let missing: usize = one.unanswered.values().sum();
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td>{stages}<td class=\"n\">{missing}</td></tr>\n",
            text(name),
            one.kept
        )
    };
    let rows: String = report.assessments.iter().map(row).collect();
    table("Where golden parts were lost", &head, &rows)
}

fn differences(report: &AssessmentReportV1) -> String {
    let Some(comparison) = &report.comparison else { return String::new() };
    let mut out = String::from("<h2>Side by side</h2>\n");
    for pair in &comparison.pairs {
        let head =
            ["metric", "change", "95 % interval", "p", "verdict"].map(|head| format!("<th scope=\"col\">{head}</th>"));
        let row = |row: &karat_format::comparison::DifferenceV1| {
            let class = match row.verdict {
                ConclusionV1::Better => "good",
                ConclusionV1::Worse => "bad",
                ConclusionV1::Equivalent | ConclusionV1::Inconclusive => "warn",
            };
            format!(
                "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"{class}\">{}</td></tr>\n",
                text(title(&row.metric)),
                signed(row.difference),
                interval(row.ci),
                text(&p_value(row.p_holm)),
                row.verdict.word()
            )
        };
        let rows: String = pair.metrics.iter().map(row).collect();
        out.push_str(&table(&format!("{} → {}", pair.a, pair.b), &head.concat(), &rows));
    }
    out
}

fn requirements(report: &AssessmentReportV1, bundle: &BundleV1) -> String {
    let is_own =
        |bundle_id: &str, template_id: &str| bundle_id == bundle.bundle_id && template_id == bundle.template_id;
    let retrieved = |requirement: &str| {
        let all = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
        all.into_iter().find(|one| is_own(&one.bundle_id, &one.template_id) && one.requirement_id == requirement)
    };
    let Some((_, first)) = report.assessments.0.first() else {
        let all = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
        let own = all.filter(|one| is_own(&one.bundle_id, &one.template_id));
        return own.map(|one| details(&text(&one.requirement_id), &found(one))).collect();
    };
    let mut out = String::new();
    for (at, one) in first.requirements.iter().enumerate().filter(|(_, one)| is_own(&one.bundle_id, &one.template_id)) {
        let said = |(name, assessment): (&str, &AssessmentV1)| {
            let own = &assessment.requirements[at];
            let class = if own.said == Some(own.golden) { "good" } else { "bad" };
            format!(
                " · {} <span class=\"{class}\">{}</span> {}",
                text(name),
                verdict(own.said),
                two(Some(own.combined))
            )
        };
        let summary = format!(
            "<b>{}</b> golden {}{}",
            text(&one.requirement_id),
            verdict(Some(one.golden)),
            report.assessments.iter().map(said).collect::<String>()
        );
        let mut inside: String =
            report.assessments.iter().map(|(name, assessment)| assessed(name, &assessment.requirements[at])).collect();
        inside.push_str(&retrieved(&one.requirement_id).map(found).unwrap_or_default());
        out.push_str(&details(&summary, &inside));
    }
    out
}

fn details(summary: &str, inside: &str) -> String {
    format!("<details><summary>{summary}</summary>\n{inside}</details>\n")
}

fn assessed(name: &str, one: &AssessedV1) -> String {
    let mut out = format!(
        "<p><b>{}</b>: {} (compliance {}, evidence {}, combined {})</p>\n",
        text(name),
        one.said.map_or("no answer", Compliance::name),
        two(Some(one.compliance)),
        two(one.evidence),
        two(Some(one.combined))
    );
    if let Some(why) = &one.unanswered {
        out.push_str(&format!("<p class=\"bad\">No answer to {}: {}</p>\n", why.step.name(), text(&why.why)));
    }
    if !one.rationale.is_empty() {
        out.push_str(&format!("<p class=\"dim\">{}</p>\n", text(&one.rationale)));
    }
    if one.parts.is_empty() {
        return out;
    }
    let head =
        ["golden part", "role", "cited as", "credit", "lost"].map(|head| format!("<th scope=\"col\">{head}</th>"));
    let row = |part: &karat_format::assessment::PartV1| {
        let lost =
            part.lost.and_then(|lost| STAGES.iter().find(|(stage, _)| *stage == lost)).map_or("", |(_, words)| words);
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"n\">{} × {}</td><td class=\"bad\">{lost}</td></tr>\n",
            text(&part.part),
            role(part.role),
            part.cited.map_or("–", role),
            part.credit,
            part.weight
        )
    };
    let rows: String = one.parts.iter().map(row).collect();
    out.push_str(&table("Golden parts", &head.concat(), &rows));
    out
}

fn found(one: &RetrievedV1) -> String {
    let head = ["place", "section", "document", "words", "vectors", "golden"]
        .map(|head| format!("<th scope=\"col\">{head}</th>"));
    let place = |place: Option<karat_format::assessment::ScoredV1>| {
        place.map_or("–".to_owned(), |place| place.rank.to_string())
    };
    let row = |ranked: &karat_format::assessment::RankedV1| {
        let word = |category| CATEGORIES.iter().find(|(own, _)| *own == category).map_or("", |(_, word)| word);
        let golden: Vec<String> =
            ranked.golden.iter().map(|(part, category)| format!("{} {}", word(*category), text(part))).collect();
        format!(
            "<tr><td class=\"n\">{}</td><td>{}</td><td>{} · {}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
            ranked.rank,
            text(&ranked.heading),
            text(&ranked.document),
            text(&ranked.place),
            place(ranked.bm25),
            place(ranked.embedding),
            golden.join("<br>")
        )
    };
    let rows: String = one.ranked.iter().map(row).collect();
    table(&format!("Retrieved for: {}", one.query), &head.concat(), &rows)
}
