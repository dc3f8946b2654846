//! Every golden part of every requirement: where it was found, how it was cited, where it was lost.

use super::super::TerminalStyle;
use super::super::grid;
use super::{BOLD, CATEGORIES, DIM, STAGES, indented, paint, two, verdict};
use anstyle::Style;
use karat_core::assessment::part_match::Category;
use karat_core::assessment::record::Role;
use karat_format::assessment::{AssessedV1, AssessmentReportV1, FoundV1, PartV1, RetrievedV1, ScoredV1};
use karat_format::diagnostic::harmless;

const MOST_RANKED: usize = 10;

pub(super) fn draw(report: &AssessmentReportV1, terminal: &TerminalStyle) -> String {
    let mut out = String::new();
    for (bundle, template, requirement) in requirements(report) {
        let head = grid::fit(&harmless(&format!("{bundle} / {requirement}")), terminal.width);
        out.push_str(&format!("\n{}\n", paint(&head, BOLD, terminal)));
        let own = |one: &&RetrievedV1| {
            (&*one.bundle_id, &*one.template_id, &*one.requirement_id) == (bundle, template, requirement)
        };
        let mut retrieved = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
        out.extend(retrieved.find(own).map(|found| retrieved_part(found, terminal)));
        for (name, assessment) in report.assessments.iter() {
            let own = |one: &&AssessedV1| {
                (&*one.bundle_id, &*one.template_id, &*one.requirement_id) == (bundle, template, requirement)
            };
            out.extend(assessment.requirements.iter().find(own).map(|one| assessed(name, one, terminal)));
        }
    }
    out
}

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

fn retrieved_part(found: &RetrievedV1, terminal: &TerminalStyle) -> String {
    let mut out = String::new();
    for part in &found.parts {
        out.push_str(&indented(&golden(part), Style::new(), terminal));
    }
    for one in found.ranked.iter().take(MOST_RANKED) {
        let of = |place: &Option<ScoredV1>| place.map_or("–".to_owned(), |place| place.rank.to_string());
        let golden: Vec<String> =
            one.golden.iter().map(|(part, category)| format!("{} {part}", word(*category))).collect();
        let golden = if golden.is_empty() { String::new() } else { format!("  = {}", golden.join(", ")) };
        let (words, vectors) = (of(&one.bm25), of(&one.embedding));
        let (rank, heading, document) = (one.rank, &one.heading, &one.document);
        let line = format!("{rank:>2}  {heading} · {document} (words {words}, vectors {vectors}){golden}");
        let line = grid::fit(&harmless(&line), terminal.width.saturating_sub(4));
        out.push_str(&format!("    {}\n", paint(&line, DIM, terminal)));
    }
    out
}

fn golden(part: &FoundV1) -> String {
    let place = part.rank.map_or_else(String::new, |rank| format!(" at rank {rank}"));
    let FoundV1 { part: name, title, document, .. } = part;
    let (role, word) = (role(part.role), word(part.category));
    let [golden, own] = [part.golden_coverage, part.part_coverage].map(|share| two(Some(share)));
    format!("{role} {name}: {word}{place}, golden covered {golden}, part covered {own} · {title} · {document}")
}

fn assessed(name: &str, one: &AssessedV1, terminal: &TerminalStyle) -> String {
    let (answer, golden) = (verdict(one.said), verdict(Some(one.golden)));
    let [compliance, evidence, combined] = [Some(one.compliance), one.evidence, Some(one.combined)].map(two);
    let scores = format!("compliance {compliance}, evidence {evidence}, combined {combined}");
    let mut out = indented(&format!("{name}: {answer} (golden {golden}), {scores}"), Style::new(), terminal);
    if let Some(why) = &one.unanswered {
        out.push_str(&deeper(&format!("no answer to {}: {} ({})", why.step.name(), why.why, why.kind), terminal));
    }
    if !one.rationale.is_empty() {
        out.push_str(&deeper(&one.rationale, terminal));
    }
    for part in &one.parts {
        out.push_str(&deeper(&outcome(part), terminal));
    }
    for cited in one.citations.iter().filter(|cited| cited.golden.is_empty()) {
        let what = if cited.part.is_some() { "contains no golden part" } else { "is not one of the given parts" };
        out.push_str(&deeper(&format!("{} {}: {what}", role(cited.role), cited.name), terminal));
    }
    out
}

fn outcome(part: &PartV1) -> String {
    let cited = part.cited.map_or("not cited".to_owned(), |cited| format!("cited as {}", role(cited)));
    let lost = part.lost.and_then(|lost| STAGES.iter().find(|(stage, _)| *stage == lost));
    let lost = lost.map(|(_, words)| format!(", lost: {words}")).unwrap_or_default();
    format!("{} {}: {cited}, credit {} × {}{lost}", role(part.role), part.part, part.credit, part.weight)
}

fn deeper(text: &str, terminal: &TerminalStyle) -> String {
    let lines = grid::wrap(&harmless(text), terminal.width.saturating_sub(4));
    lines.iter().map(|line| format!("    {}\n", paint(line, DIM, terminal))).collect()
}

pub(super) fn role(role: Role) -> &'static str {
    match role {
        Role::Primary => "primary",
        Role::Supporting => "supporting",
    }
}

pub(super) fn word(category: Category) -> &'static str {
    CATEGORIES.iter().find(|(own, _)| *own == category).map_or("MISS", |(_, word)| word)
}
