//! The map of an assessment: requirements down, bundles across, and in each cell whether the verdict is right.

use super::super::{hits, verdict};
use super::framed;
use super::unit::{UNANSWERED, Unit, all_units};
use karat_core::assessment::record::Compliance;
use karat_format::assessment::{AssessedV1, AssessmentReportV1};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The cells, with the filters of the whole page above them.
pub(super) fn draw(report: &AssessmentReportV1) -> Markup {
    let units = all_units(report);
    let templates: BTreeSet<&str> = units.iter().map(|unit| unit.template).collect();
    let names: Vec<Option<&str>> = match report.assessments.is_empty() {
        true => vec![None],
        false => report.assessments.names().map(Some).collect(),
    };
    html! {
        (filters(report, &units))
        (key(report))
        @for template in &templates {
            @for name in &names {
                @let own: Vec<&Unit<'_>> = units.iter().filter(|unit| unit.template == *template).collect();
                (table(template, *name, templates.len() > 1, &own))
            }
        }
    }
}

/// The filters work by script, which shows them.
fn filters(report: &AssessmentReportV1, units: &[Unit<'_>]) -> Markup {
    let mut seen = BTreeSet::new();
    let requirements = units.iter().map(|unit| unit.requirement).filter(|id| seen.insert(*id));
    let verdicts = Compliance::ALL.map(Compliance::as_str).into_iter().chain([UNANSWERED]);
    let wrong = if report.assessments.is_empty() { "only with misses" } else { "only wrong verdicts" };
    html! {
        form.filters #filters hidden role="search" aria-label="Filter requirements" {
            label {
                span { "Requirement" }
                select name="requirement" {
                    option value="" { "all requirements" }
                    @for id in requirements { option value=(id) { (id) } }
                }
            }
            @if !report.assessments.is_empty() {
                label {
                    span { "Verdict given" }
                    select name="verdict" {
                        option value="" { "any verdict" }
                        @for word in verdicts { option value=(word) { (word.replace('_', " ")) } }
                    }
                }
            }
            label.check { input type="checkbox" name="wrong"; span { (wrong) } }
            button.quiet type="reset" { "Reset" }
        }
        p.dim #filter-status role="status" {}
    }
}

fn key(report: &AssessmentReportV1) -> Markup {
    html! {
        p.dim.small {
            @if report.assessments.is_empty() {
                "Golden parts that the search found, of all. A dash: there are none."
            } @else {
                @for (class, mark, words) in AnswerQuality::ALL.map(AnswerQuality::class_mark_and_words) {
                    span class={ "mark " (class) } { (mark) } " " (words) " "
                }
                "· Each cell has the verdict given, and the right one if it differs."
            }
            " Open a cell for the details."
        }
    }
}

fn table(template: &str, assessor: Option<&str>, several: bool, units: &[&Unit<'_>]) -> Markup {
    let (mut bundles, mut requirements): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for unit in units {
        if seen.insert((true, unit.bundle)) {
            bundles.push(unit.bundle);
        }
        if seen.insert((false, unit.requirement)) {
            requirements.push(unit.requirement);
        }
    }
    let cells: BTreeMap<(&str, &str), &Unit<'_>> =
        units.iter().map(|unit| ((unit.requirement, unit.bundle), *unit)).collect();
    let caption = match (assessor, several) {
        (Some(name), true) => format!("{template}: verdicts of {name}"),
        (Some(name), false) => format!("Verdicts of {name}"),
        (None, true) => format!("{template}: golden parts found"),
        (None, false) => "Golden parts found".to_owned(),
    };
    let drawn = html! {
        table.map {
            caption { (caption) }
            thead { tr { th scope="col" { "requirement" } @for bundle in &bundles { th scope="col" { (bundle) } } } }
            tbody {
                @for requirement in &requirements {
                    tr data-requirement=(requirement) {
                        th scope="row" { (requirement) }
                        @for bundle in &bundles { (cell(cells.get(&(requirement, bundle)).copied(), assessor)) }
                    }
                }
            }
        }
    };
    framed(&caption, &drawn)
}

fn cell(unit: Option<&Unit<'_>>, assessor: Option<&str>) -> Markup {
    let Some(unit) = unit else { return html! { td.dim { "–" } } };
    let answer = assessor.and_then(|name| unit.answers.iter().find(|(own, _)| *own == name));
    let link = format!("#{}", unit.anchor());
    match answer {
        Some((_, one)) => {
            let (class, mark, words) = AnswerQuality::new(one).class_mark_and_words();
            let word = one.said.map_or(UNANSWERED, Compliance::as_str);
            html! {
                td class=(class) data-verdicts=(word) data-wrong=(one.said != Some(one.golden)) {
                    a href=(link) title=(words) {
                        span aria-hidden="true" { (mark) } " " (verdict(one.said))
                        @if one.said != Some(one.golden) { " " span.small { "(" (verdict(Some(one.golden))) ")" } }
                    }
                }
            }
        }
        None => {
            let recall = unit.retrieved.and_then(|one| one.recall);
            let class = recall.map(|recall| match recall {
                1.0.. => "right",
                0.0 => "wrong",
                _ => "near",
            });
            html! {
                td class=[class] data-verdicts="" data-wrong=(unit.is_wrong()) {
                    a href=(link) { (unit.retrieved.map_or_else(|| "–".to_owned(), hits)) }
                }
            }
        }
    }
}

/// How a verdict stands to the right one.
#[derive(Clone, Copy)]
enum AnswerQuality {
    Right,
    Near,
    Wrong,
    Unanswered,
}

impl AnswerQuality {
    const ALL: [Self; 4] = [Self::Right, Self::Near, Self::Wrong, Self::Unanswered];

    fn new(one: &AssessedV1) -> Self {
        match one.said {
            None => Self::Unanswered,
            Some(answer) if answer == one.golden => Self::Right,
            Some(_) if one.compliance.is_some_and(|near| near > 0.0) => Self::Near,
            Some(_) => Self::Wrong,
        }
    }

    fn class_mark_and_words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Right => ("right", "✓", "right"),
            Self::Near => ("near", "≈", "a step away"),
            Self::Wrong => ("wrong", "✗", "wrong"),
            Self::Unanswered => ("unanswered", "∅", "unanswered"),
        }
    }
}
