//! The table of judges: questions, cost and reliability.

use super::{section, table};
use crate::facts::{AUDIT_AGREEMENT_CELLS, agreement_words, audit_agreement_cells, undefined_agreements};
use crate::judge_licence::{MAX_ERROR_RATE, licence};
use crate::number::{decimals, three};
use karat_format::gate::DemandOutcomeV1;
use karat_format::probe::ProbeV1;
use karat_format::report::{AgreementV1, AuditAgreementV1, JudgeV1, ReportV1};
use maud::{Markup, html};

pub(super) fn draw(report: &ReportV1) -> Markup {
    if report.judges.is_empty() {
        return Markup::default();
    }
    let head = html! { th scope="col" { "judge" } @for column in COLUMNS { th.n scope="col" { (column) } } };
    let rows = html! { @for judge in &report.judges { (row(report, judge)) } };
    let content = html! {
        (table(&head, &rows))
        @for judge in &report.judges {
            @if let Some(agreement) = judge.agreement.as_ref().filter(|agreement| agreement.on.is_none()) {
                (agree(&judge.judge, agreement))
            }
            @if let Some(probe) = &judge.probe { (probed(&judge.judge, probe)) }
        }
        @if let Some(agreement) = &report.audit_agreement { (audits(agreement)) }
        @if report.judges.iter().all(|judge| judge.probe.is_none()) {
            p.dim {
                "No judge was probed; " code { "karat judge probe" } " measures how easily a judge is fooled."
            }
        }
    };
    section("judges", "Judges", &content)
}

const COLUMNS: [&str; 8] =
    ["asked", "cached", "saved", "no answer", "matches that location and words miss", "tokens", "USD", "requests now"];

fn row(report: &ReportV1, judge: &JudgeV1) -> Markup {
    let now = report.measured.judges.get(&judge.judge);
    html! {
        tr {
            th scope="row" {
                (judge.judge)
                @if let Some(words) = agreement_words(judge) { br; span.dim.small { (words) } }
            }
            @for number in [judge.asked, judge.cached, judge.saved] { td.n { (number) } }
            td.n.warn[judge.unjudged > 0] {
                (judge.unjudged) @if judge.refused > 0 { " (" (judge.refused) " refused)" }
            }
            td.n { (judge.beyond) }
            td.n { (judge.tokens) }
            td.n { (judge.usd.map_or_else(|| "–".to_owned(), |usd| format!("{usd:.4}"))) }
            td.n { (now.map_or_else(|| "–".to_owned(), |now| now.requests.to_string())) }
        }
    }
}

fn agree(judge: &str, agreement: &AgreementV1) -> Markup {
    let share = agreement.percent.map_or_else(|| "–".to_owned(), |share| format!("in {:.1} %", 100.0 * share));
    html! {
        h3 { (judge) ": agreement of its members" }
        p {
            "On " (agreement.items()) ": " (agreement.judges.join(", ")) " agree " (share)
            ", Krippendorff α " (three(agreement.krippendorff))
            @if let Some([low, high]) = agreement.krippendorff_ci {
                " (" (decimals(low, 2)) "–" (decimals(high, 2)) ")"
            }
            ", Fleiss κ " (three(agreement.fleiss)) ", Gwet AC1 " (three(agreement.ac1)) "."
        }
    }
}

/// How far the judges agree on each decision of their audits.
fn audits(agreement: &AuditAgreementV1) -> Markup {
    let [first, others @ ..] = AUDIT_AGREEMENT_CELLS;
    let head = html! { th scope="col" { (first) } @for column in others { th.n scope="col" { (column) } } };
    let rows = html! {
        @for field in &agreement.fields {
            @let [name, cells @ ..] = audit_agreement_cells(field);
            tr { th scope="row" { (name) } @for cell in cells { td.n { (cell) } } }
        }
    };
    html! {
        h3 { "Agreement on audits" }
        p { (agreement.judges.join(", ")) ", on what at least two of them decided." }
        (table(&head, &rows))
        @for reason in undefined_agreements(agreement) { p.dim { (reason) "." } }
    }
}

fn probed(judge: &str, probe: &ProbeV1) -> Markup {
    let outcome = licence(judge, probe, MAX_ERROR_RATE).iter().map(|demand| demand.outcome).max();
    let outcome = outcome.unwrap_or(DemandOutcomeV1::Inconclusive);
    let class = match outcome {
        DemandOutcomeV1::Fails => "bad",
        DemandOutcomeV1::LeftOut | DemandOutcomeV1::Inconclusive => "warn",
        DemandOutcomeV1::Holds => "good",
    };
    html! {
        h3 { (judge) ": probe" }
        p {
            "With pairs from " (probe.suite) ": " (probe.describe()) ". Errors at most " (100.0 * MAX_ERROR_RATE) " %: "
            span class=(class) { (outcome.word()) } "."
        }
    }
}
