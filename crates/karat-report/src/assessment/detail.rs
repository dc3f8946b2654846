//! Every golden part of every requirement: where it was found, how it was cited, where it was lost.

use super::super::TerminalStyle;
use super::super::grid;
use super::super::screen::{Depth, Entry, Section, fit};
use super::{BOLD, CATEGORIES, DIM, STAGES, indented, paint, two, verdict};
use anstyle::Style;
use karat_core::assessment::part_match::Category;
use karat_core::assessment::record::Role;
use karat_core::wording::count;
use karat_format::assessment::{
    AssessedV1, AssessmentReportV1, FoundV1, PartV1, RequirementKey, RetrievedV1, ScoredV1,
};
use karat_format::diagnostic::harmless;

const MOST_RANKED: usize = 10;
const MOST_LOST: usize = 2;

pub(super) fn draw(report: &AssessmentReportV1, terminal: &TerminalStyle) -> String {
    requirements(report).iter().map(|one| format!("\n{}", requirement(report, *one, Depth::Full, terminal))).collect()
}

/// A requirement, and what was earned for it.
pub struct RankedRequirement<'r> {
    /// The requirement.
    pub key: RequirementKey<'r>,
    /// The least that an assessor earned; without assessors, what the search found of it.
    pub earned: Option<f64>,
}

impl RankedRequirement<'_> {
    /// Whether something of it was lost.
    pub fn is_wrong(&self) -> bool {
        self.earned.is_some_and(|earned| earned < 1.0)
    }
}

/// Sorts requirements: those first for which least was earned.
pub fn rank<'r>(report: &AssessmentReportV1, wanted: Vec<RequirementKey<'r>>) -> Vec<RankedRequirement<'r>> {
    let earned = |one: RequirementKey<'_>| {
        let own = report.assessments.iter().filter_map(|(_, all)| all.requirements.iter().find(|r| r.key() == one));
        let least = own.filter_map(|assessed| assessed.combined).reduce(f64::min);
        least.or_else(|| retrieved(report, one)?.recall)
    };
    let ranked = |key| RankedRequirement { key, earned: earned(key) };
    let mut ranked: Vec<RankedRequirement<'_>> = wanted.into_iter().map(ranked).collect();
    // What was not measured comes last.
    ranked.sort_by(|a, b| a.earned.unwrap_or(f64::INFINITY).total_cmp(&b.earned.unwrap_or(f64::INFINITY)));
    ranked
}

/// Explains ranked requirements: as much as a screen holds, or all of it with `--verbose`.
pub fn explain(report: &AssessmentReportV1, ranked: &[RankedRequirement<'_>], terminal: &TerminalStyle) -> String {
    let (measured, unmeasured): (Vec<_>, Vec<_>) = ranked.iter().partition(|one| one.earned.is_some());
    let (wrong, right): (Vec<_>, Vec<_>) = measured.into_iter().partition(|one| one.is_wrong());
    let section = |title: &str, noun: &'static str, counts: bool, list: &[&RankedRequirement<'_>]| {
        let entry = |(at, one): (usize, &&RankedRequirement<'_>)| {
            let blank = if at == 0 { "" } else { "\n" };
            let text = |depth: Depth| requirement(report, one.key, depth, terminal);
            Entry { brief: text(Depth::Brief), full: format!("{blank}{}", text(Depth::Full)) }
        };
        let title = format!("{title} ({})", count(list.len(), "requirement"));
        let entries = list.iter().enumerate().map(entry).collect();
        Section { title: format!("{}\n", paint(&title, BOLD, terminal)), entries, noun, counts }
    };
    let mut sections = vec![
        section("Wrong, or in part", "wrong requirement", true, &wrong),
        section("Not measured", "unmeasured requirement", true, &unmeasured),
        section("Right", "right requirement", false, &right),
    ];
    sections.retain(|section| !section.entries.is_empty());
    sections.iter_mut().skip(1).for_each(|section| section.title.insert(0, '\n'));
    fit(&sections, 0, terminal)
}

/// What the search found for a requirement.
pub fn retrieved<'r>(report: &'r AssessmentReportV1, one: RequirementKey<'_>) -> Option<&'r RetrievedV1> {
    report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements).find(|retrieved| retrieved.key() == one)
}

/// What was said of a requirement and what it cost; in full also what was found for it.
fn requirement(report: &AssessmentReportV1, one: RequirementKey<'_>, depth: Depth, terminal: &TerminalStyle) -> String {
    let (bundle, _, name) = one;
    let head = grid::fit(&harmless(&format!("{bundle} / {name}")), terminal.width);
    let mut out = format!("{}\n", paint(&head, BOLD, terminal));
    for (name, assessment) in report.assessments.iter() {
        let own = assessment.requirements.iter().find(|assessed| assessed.key() == one);
        out.extend(own.map(|one| assessed(name, one, depth, terminal)));
    }
    match retrieved(report, one) {
        Some(found) if depth == Depth::Full || report.assessments.is_empty() => {
            out.push_str(&retrieved_part(found, depth, terminal));
        }
        _ => {}
    }
    out
}

/// Every requirement by bundle, template and id.
pub fn requirements(report: &AssessmentReportV1) -> Vec<RequirementKey<'_>> {
    match report.assessments.0.first() {
        Some((_, first)) => first.requirements.iter().map(AssessedV1::key).collect(),
        None => {
            let all = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
            all.map(RetrievedV1::key).collect()
        }
    }
}

fn retrieved_part(found: &RetrievedV1, depth: Depth, terminal: &TerminalStyle) -> String {
    let mut out = String::new();
    for part in &found.parts {
        out.push_str(&indented(&golden(part), Style::new(), terminal));
    }
    let most = if depth == Depth::Full { MOST_RANKED } else { 0 };
    for one in found.ranked.iter().take(most) {
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

fn assessed(name: &str, one: &AssessedV1, depth: Depth, terminal: &TerminalStyle) -> String {
    let (answer, golden) = (verdict(one.said), verdict(Some(one.golden)));
    let [compliance, evidence, combined] = [one.compliance, one.evidence, one.combined].map(two);
    let scores = format!("compliance {compliance}, evidence {evidence}, combined {combined}");
    let mut out = indented(&format!("{name}: {answer} (golden {golden}), {scores}"), Style::new(), terminal);
    if let Some(why) = &one.unanswered {
        out.push_str(&deeper(&format!("no answer to {}: {} ({})", why.step.name(), why.why, why.kind), terminal));
    }
    if depth == Depth::Brief {
        let lost = one.parts.iter().filter(|part| part.lost.is_some()).take(MOST_LOST);
        return out + &lost.filter_map(outcome).map(|text| deeper(&text, terminal)).collect::<String>();
    }
    if !one.rationale.is_empty() {
        out.push_str(&deeper(&one.rationale, terminal));
    }
    for text in one.parts.iter().filter_map(outcome) {
        out.push_str(&deeper(&text, terminal));
    }
    for cited in one.citations.iter().filter(|cited| cited.golden.is_empty()) {
        let what = if cited.part.is_some() { "contains no golden part" } else { "is not one of the given parts" };
        out.push_str(&deeper(&format!("{} {}: {what}", role(cited.role), cited.name), terminal));
    }
    out
}

/// What became of a golden part; nothing where the assessor could not be asked.
fn outcome(part: &PartV1) -> Option<String> {
    let credit = part.credit?;
    let cited = part.cited.map_or("not cited".to_owned(), |cited| format!("cited as {}", role(cited)));
    let lost = part.lost.and_then(|lost| STAGES.iter().find(|(stage, _)| *stage == lost));
    let lost = lost.map(|(_, words)| format!(", lost: {words}")).unwrap_or_default();
    Some(format!("{} {}: {cited}, credit {credit} × {}{lost}", role(part.role), part.part, part.weight))
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
