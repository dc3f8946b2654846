//! Renders an assessment report for a terminal; submodules render the other formats.

pub mod csv;
mod detail;
pub mod html;
pub mod markdown;

pub use detail::{RankedRequirement, explain, rank, requirements, retrieved};

use super::compare::difference_cells;
use super::grid::{self, Cell};
use super::number::{span, three, title};
use super::terminal::{BOLD, DIM, GREEN, RED, TerminalStyle, WARNING, indented, paint, warnings};
use anstyle::Style;
use karat_core::assessment::part_match::Category;
use karat_core::assessment::record::Compliance;
use karat_core::assessment::scores::Stage;
use karat_core::wording::count;
use karat_format::assessment::{
    AssessedV1, AssessmentReportV1, AssessmentV1, BundleV1, FoundV1, RetrievalV1, RetrievedV1, SideBySideV1,
};
use karat_format::diagnostic::harmless;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;
use unicode_width::UnicodeWidthStr;

pub(super) const STAGES: [(Stage, &str); 4] = [
    (Stage::NotIngested, "not ingested"),
    (Stage::NotRetrieved, "not retrieved"),
    (Stage::NotCited, "not cited"),
    (Stage::WrongRole, "wrong role"),
];

pub(super) const CATEGORIES: [(Category, &str); 5] = [
    (Category::Exact, "EXACT"),
    (Category::Broad, "BROAD"),
    (Category::Narrow, "NARROW"),
    (Category::Weak, "WEAK"),
    (Category::Miss, "MISS"),
];

/// Renders the report: headline, lost evidence, every requirement; with `--verbose` every part.
pub fn draw(report: &AssessmentReportV1, terminal: &TerminalStyle) -> String {
    let name = paint(&harmless(&templates(report)), BOLD, terminal);
    let mut out = format!("{name}  {}\n", paint(&facts(report), DIM, terminal));
    for (name, assessment) in report.assessments.iter() {
        let model = if assessment.model.is_empty() { String::new() } else { format!(" {}", assessment.model) };
        out.push_str(&head(name, &format!("{}{model}", assessment.provider), terminal));
        out.push_str(&metrics(&assessment.metrics, terminal));
        out.push_str(&answered(assessment, terminal));
        out.push_str(&lost(report, assessment, terminal));
    }
    if let Some(retrieval) = &report.retrieval {
        out.push_str(&retrieval_block(report, retrieval, terminal));
    }
    match &report.comparison {
        Some(comparison) => out.push_str(&side_by_side(report, comparison, terminal)),
        None => out.push_str(&requirement_tables(report, terminal)),
    }
    if terminal.verbosity.verbose {
        out.push_str(&detail::draw(report, terminal));
    }
    out + &warnings(&report.warnings, terminal)
}

pub(super) fn facts(report: &AssessmentReportV1) -> String {
    let sum = |of: fn(&BundleV1) -> usize| report.bundles.iter().map(of).sum::<usize>();
    format!(
        "{} · {} · {} · {}",
        count(report.bundles.len(), "bundle"),
        count(sum(|bundle| bundle.documents.len()), "document"),
        count(sum(|bundle| bundle.requirements), "requirement"),
        count(golden_parts(report), "golden part"),
    )
}

fn golden_parts(report: &AssessmentReportV1) -> usize {
    report.bundles.iter().map(|bundle| bundle.golden_parts).sum()
}

/// The templates of an assessment, as the name of what was assessed.
pub fn templates(report: &AssessmentReportV1) -> String {
    let mut names: Vec<&str> = report.bundles.iter().map(|bundle| bundle.template_id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

fn head(name: &str, facts: &str, terminal: &TerminalStyle) -> String {
    let name = grid::fit(&harmless(name), terminal.width);
    let facts = grid::fit(&harmless(facts), terminal.width.saturating_sub(name.width() + 2));
    let head = format!("{}  {}", paint(&name, BOLD, terminal), paint(&facts, DIM, terminal));
    format!("\n{}\n", head.trim_end())
}

fn metrics(metrics: &OrderedMap<EstimateV1>, terminal: &TerminalStyle) -> String {
    let row = |(at, (id, estimate)): (usize, (&str, &EstimateV1))| {
        let style = if at == 0 { BOLD } else { Style::new() };
        let sample = match (&estimate.undefined, estimate.left_out) {
            (Some(why), _) => why.clone(),
            (None, 0) => format!("n = {}", estimate.n),
            (None, left_out) => format!("n = {}, {left_out} excluded", estimate.n),
        };
        vec![
            Cell::left(title(id)).styled(style),
            Cell::right(three(estimate.value)).styled(style),
            Cell::left(span(estimate.ci)),
            Cell::left(sample).styled(DIM),
        ]
    };
    grid::draw(&metrics.iter().enumerate().map(row).collect::<Vec<_>>(), terminal.width, terminal.colour)
}

fn answered(assessment: &AssessmentV1, terminal: &TerminalStyle) -> String {
    let missing: usize = assessment.unanswered.values().sum();
    if missing == 0 {
        return String::new();
    }
    let kinds: Vec<String> = assessment.unanswered.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let all = assessment.answered + missing;
    let (answered, kinds, treatment) = (assessment.answered, kinds.join(", "), assessment.treatment_of_unanswered());
    let mut text = format!("{answered} of {all} requirements answered, the others {treatment}: {kinds}");
    if let Some(combined) = assessment.answered_only.get("mean_combined_score") {
        text.push_str(&format!("; combined score of those answered {}", three(combined.value)));
    }
    indented(&text, WARNING, terminal)
}

fn lost(report: &AssessmentReportV1, assessment: &AssessmentV1, terminal: &TerminalStyle) -> String {
    if golden_parts(report) == 0 {
        return indented("the golden records contain no evidence", DIM, terminal);
    }
    let all = assessment.kept + assessment.lost.values().sum::<usize>();
    // Nothing became of the evidence where the assessor could not be asked.
    if all == 0 {
        return String::new();
    }
    indented(&format!("of {}: {}", count(all, "golden part"), stages(assessment)), Style::new(), terminal)
}

pub(super) fn stages(assessment: &AssessmentV1) -> String {
    let stage = |(stage, words): &(Stage, &str)| {
        let n = assessment.lost.get(stage).copied().unwrap_or_default();
        (n > 0).then(|| format!("{n} {words}"))
    };
    let mut parts = vec![format!("{} cited in the right role", assessment.kept)];
    parts.extend(STAGES.iter().filter_map(stage));
    parts.join(" · ")
}

pub(super) fn searched(report: &AssessmentReportV1) -> String {
    let search = &report.search;
    let by = match (&search.embedding, search.bm25_weight) {
        (None, _) => "words".to_owned(),
        (Some(embedding), 0.0) => embedding.clone(),
        (Some(embedding), weight) => format!("words {weight:.2} + {embedding} {:.2}", 1.0 - weight),
    };
    let rerank = search.reranking.as_ref().map_or("not reranked".to_owned(), |who| format!("reranked by {who}"));
    format!("{by} · {rerank} · first {} of {}", search.rerank_top_n, search.search_limit)
}

fn retrieval_block(report: &AssessmentReportV1, retrieval: &RetrievalV1, terminal: &TerminalStyle) -> String {
    let mut out = format!("\n{}\n{}", paint("retrieval", BOLD, terminal), indented(&searched(report), DIM, terminal));
    out.push_str(&metrics(&retrieval.metrics, terminal));
    let counted = |(category, word): &(Category, &str)| {
        retrieval.categories.get(category).filter(|n| **n > 0).map(|n| format!("{n} {word}"))
    };
    let counts: Vec<String> = CATEGORIES.iter().filter_map(counted).collect();
    if !counts.is_empty() {
        let k = retrieval.k;
        out.push_str(&indented(&format!("golden parts: {} · k = {k}", counts.join(" · ")), Style::new(), terminal));
    }
    out
}

fn requirement_tables(report: &AssessmentReportV1, terminal: &TerminalStyle) -> String {
    let mut out = String::new();
    let only = report.assessments.iter().next().map(|(_, assessment)| assessment);
    for bundle in &report.bundles {
        let language = if bundle.language == "none" { "unknown language" } else { &bundle.language };
        let documents: Vec<&str> = bundle.documents.iter().map(|document| document.name.as_str()).collect();
        out.push_str(&head(&bundle.bundle_id, &format!("{language} · {}", documents.join(", ")), terminal));
        let rows = match only {
            Some(assessment) => {
                let is_own =
                    |one: &&AssessedV1| one.bundle_id == bundle.bundle_id && one.template_id == bundle.template_id;
                let mut own = assessment.requirements.iter().filter(is_own);
                assessed_rows(report, &mut own)
            }
            None => retrieved_rows(report, bundle),
        };
        out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    }
    out
}

fn assessed_rows(report: &AssessmentReportV1, own: &mut dyn Iterator<Item = &AssessedV1>) -> Vec<Vec<Cell>> {
    let mut rows = vec![["requirement", "golden", "said"].map(|head| Cell::left(head).styled(DIM)).to_vec()];
    rows[0].extend(["compl.", "evid.", "comb.", "found"].map(|head| Cell::right(head).styled(DIM)));
    for one in own {
        let found = report.retrieval.as_ref().and_then(|retrieval| {
            let id = (&one.bundle_id, &one.template_id, &one.requirement_id);
            let same = |r: &&RetrievedV1| (&r.bundle_id, &r.template_id, &r.requirement_id) == id;
            retrieval.requirements.iter().find(same).map(hits)
        });
        rows.push(vec![
            Cell::left(&one.requirement_id),
            Cell::left(verdict(Some(one.golden))),
            Cell::left(verdict(one.said)).styled(style_of(one)),
            Cell::right(two(one.compliance)),
            Cell::right(two(one.evidence)),
            Cell::right(two(one.combined)),
            Cell::right(found.unwrap_or_else(|| "–".to_owned())).styled(DIM),
        ]);
    }
    rows
}

fn retrieved_rows(report: &AssessmentReportV1, bundle: &BundleV1) -> Vec<Vec<Cell>> {
    let mut rows = vec![grid::header("requirement", ["found", "recall", "first place"])];
    let all = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
    for one in all.filter(|one| one.bundle_id == bundle.bundle_id && one.template_id == bundle.template_id) {
        let is_hit = |part: &&FoundV1| part.category.is_hit();
        let first = one.parts.iter().filter(is_hit).filter_map(|part| part.rank).min();
        rows.push(vec![
            Cell::left(&one.requirement_id),
            Cell::right(hits(one)),
            Cell::right(two(one.recall)),
            Cell::right(first.map_or("–".to_owned(), |place| place.to_string())),
        ]);
    }
    rows
}

fn hits(one: &RetrievedV1) -> String {
    let found = one.parts.iter().filter(|part| part.category.is_hit()).count();
    if one.parts.is_empty() { "–".to_owned() } else { format!("{found}/{}", one.parts.len()) }
}

pub(super) fn verdict(verdict: Option<Compliance>) -> &'static str {
    verdict.map_or("no answer", |verdict| match verdict {
        Compliance::NotApplicable => "n/a",
        other => other.as_str(),
    })
}

fn style_of(one: &AssessedV1) -> Style {
    match one.said {
        Some(answer) if answer == one.golden => GREEN,
        Some(_) if one.compliance.is_some_and(|near| near > 0.0) => WARNING,
        _ => RED,
    }
}

pub(super) fn two(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}

fn side_by_side(report: &AssessmentReportV1, comparison: &SideBySideV1, terminal: &TerminalStyle) -> String {
    let names: Vec<&str> = report.assessments.names().collect();
    let mut out = format!("\n{}\n", paint("side by side", BOLD, terminal));
    let mut rows = vec![grid::header("metric", names.iter().map(|name| short(name, names.len(), terminal)))];
    let ids: Vec<&str> = report.assessments.0.first().map(|(_, one)| one.metrics.names().collect()).unwrap_or_default();
    for id in ids {
        let estimate = |name: &&str| report.assessments.get(name).and_then(|one| one.metrics.get(id));
        let mut values = vec![Cell::left(title(id))];
        values.extend(names.iter().map(|name| Cell::right(three(estimate(name).and_then(|one| one.value)))));
        rows.push(values);
        let mut ends = vec![Cell::left("")];
        ends.extend(names.iter().map(|name| Cell::right(span(estimate(name).and_then(|one| one.ci))).styled(DIM)));
        rows.push(ends);
    }
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    for pair in &comparison.pairs {
        let head = format!("{} → {}", pair.a, pair.b);
        let head = grid::fit(&harmless(&head), terminal.width.saturating_sub(2));
        out.push_str(&format!("\n  {}\n", paint(&head, BOLD, terminal)));
        let heads = ["metric", "change", "95 % interval", "p", "verdict"];
        let mut rows = vec![heads.map(|head| Cell::left(head).styled(DIM)).to_vec()];
        for row in &pair.metrics {
            rows.push([Cell::left(title(&row.metric))].into_iter().chain(difference_cells(row)).collect());
        }
        out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    }
    let mut rows = vec![["requirement", "golden"].map(|head| Cell::left(head).styled(DIM)).to_vec()];
    rows[0].extend(names.iter().map(|name| Cell::left(short(name, names.len(), terminal)).styled(DIM)));
    let mut bundle = "";
    for one in &comparison.requirements {
        if one.bundle_id != bundle {
            bundle = &one.bundle_id;
            rows.push(vec![Cell::left(bundle).styled(BOLD)]);
        }
        let mut row = vec![Cell::left(format!("  {}", one.requirement_id)), Cell::left(verdict(Some(one.golden)))];
        row.extend(one.said.iter().map(|(_, answer)| {
            Cell::left(verdict(*answer)).styled(if *answer == Some(one.golden) { GREEN } else { RED })
        }));
        rows.push(row);
    }
    out.push('\n');
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out
}

fn short(name: &str, names: usize, terminal: &TerminalStyle) -> String {
    let room = terminal.width.saturating_sub(34) / names.max(1);
    grid::fit(name, room.saturating_sub(2).max(8))
}
