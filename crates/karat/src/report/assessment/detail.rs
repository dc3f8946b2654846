//! Every golden part of every requirement: where it was found, what it was cited as, and where it was lost.

use super::super::Look;
use super::super::grid;
use super::{BOLD, CATEGORIES, DIM, STAGES, indented, paint, two, verdict};
use crate::diagnostic::harmless;
use crate::format::assessment::{AssessedV1, AssessmentReportV1, FoundV1, PartV1, RetrievedV1};
use anstyle::Style;
use karat_core::assessment::part_match::Category;
use karat_core::assessment::record::Role;

/// So many parts that were retrieved are listed.
const MOST_RANKED: usize = 10;

/// Requirement by requirement.
pub(super) fn draw(report: &AssessmentReportV1, look: &Look) -> String {
    let mut out = String::new();
    for (bundle, template, requirement) in requirements(report) {
        let head = grid::fit(&harmless(&format!("{bundle} / {requirement}")), look.width);
        out.push_str(&format!("\n{}\n", paint(&head, BOLD, look)));
        let retrieved = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
        if let Some(found) = retrieved
            .into_iter()
            .find(|one| (&*one.bundle_id, &*one.template_id, &*one.requirement_id) == (bundle, template, requirement))
        {
            out.push_str(&retrieved_part(found, look));
        }
        for (name, assessment) in report.assessments.iter() {
            let own = |one: &&AssessedV1| {
                (&*one.bundle_id, &*one.template_id, &*one.requirement_id) == (bundle, template, requirement)
            };
            if let Some(one) = assessment.requirements.iter().find(own) {
                out.push_str(&assessed(name, one, look));
            }
        }
    }
    out
}

/// Bundle, template and requirement, in order.
fn requirements(report: &AssessmentReportV1) -> Vec<(&str, &str, &str)> {
    match report.assessments.0.first() {
        Some((_, first)) => {
            first.requirements.iter().map(|one| (&*one.bundle_id, &*one.template_id, &*one.requirement_id)).collect()
        }
        None => {
            let all = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
            all.map(|one| (&*one.bundle_id, &*one.template_id, &*one.requirement_id)).collect()
        }
    }
}

fn retrieved_part(found: &RetrievedV1, look: &Look) -> String {
    let mut out = String::new();
    for part in &found.parts {
        out.push_str(&indented(&golden(part), Style::new(), look));
    }
    for one in found.ranked.iter().take(MOST_RANKED) {
        let of = |place: &Option<crate::format::assessment::ScoredV1>| {
            place.map_or("–".to_owned(), |place| place.rank.to_string())
        };
        let golden: Vec<String> =
            one.golden.iter().map(|(part, category)| format!("{} {part}", word(*category))).collect();
        let golden = if golden.is_empty() { String::new() } else { format!("  = {}", golden.join(", ")) };
        let line = format!(
            "{:>2}  {} · {} (words {}, vectors {}){golden}",
            one.rank,
            one.heading,
            one.document,
            of(&one.bm25),
            of(&one.embedding)
        );
        let line = grid::fit(&harmless(&line), look.width.saturating_sub(4));
        out.push_str(&format!("    {}\n", paint(&line, DIM, look)));
    }
    out
}

fn golden(part: &FoundV1) -> String {
    let place = part.rank.map_or_else(String::new, |rank| format!(" at place {rank}"));
    format!(
        "{} {}: {}{place}, golden covered {}, part covered {} · {} · {}",
        role(part.role),
        part.part,
        word(part.category),
        two(Some(part.golden_coverage)),
        two(Some(part.part_coverage)),
        part.title,
        part.document
    )
}

fn assessed(name: &str, one: &AssessedV1, look: &Look) -> String {
    let scores = format!(
        "{name}: {} (golden {}), compliance {}, evidence {}, combined {}",
        verdict(one.said),
        verdict(Some(one.golden)),
        two(Some(one.compliance)),
        two(one.evidence),
        two(Some(one.combined))
    );
    let mut out = indented(&scores, Style::new(), look);
    if let Some(why) = &one.unanswered {
        out.push_str(&deeper(&format!("no answer to {}: {} ({})", why.step.name(), why.why, why.kind), look));
    }
    if !one.rationale.is_empty() {
        out.push_str(&deeper(&one.rationale, look));
    }
    for part in &one.parts {
        out.push_str(&deeper(&became(part), look));
    }
    for cited in one.citations.iter().filter(|cited| cited.golden.is_empty()) {
        let what = if cited.part.is_some() { "holds no golden part" } else { "is no part that it was to go by" };
        out.push_str(&deeper(&format!("{} {}: {what}", role(cited.role), cited.name), look));
    }
    out
}

fn became(part: &PartV1) -> String {
    let cited = part.cited.map_or("not cited".to_owned(), |cited| format!("cited as {}", role(cited)));
    let lost = part.lost.and_then(|lost| STAGES.iter().find(|(stage, _)| *stage == lost));
    let lost = lost.map(|(_, words)| format!(", lost: {words}")).unwrap_or_default();
    format!("{} {}: {cited}, credit {} × {}{lost}", role(part.role), part.part, part.credit, part.weight)
}

fn deeper(text: &str, look: &Look) -> String {
    let lines = grid::wrap(&harmless(text), look.width.saturating_sub(4));
    lines.iter().map(|line| format!("    {}\n", paint(line, DIM, look))).collect()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Primary => "primary",
        Role::Supporting => "supporting",
    }
}

fn word(category: Category) -> &'static str {
    CATEGORIES.iter().find(|(own, _)| *own == category).map_or("MISS", |(_, word)| word)
}
