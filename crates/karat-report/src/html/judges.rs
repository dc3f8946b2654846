//! The table of judges: questions, cost and reliability.

use crate::judge_licence::{MAX_ERROR_RATE, licence};
use crate::number::{decimals, three};
use crate::page::text;
use karat_core::wording::count;
use karat_format::gate::DemandOutcomeV1;
use karat_format::probe::ProbeV1;
use karat_format::report::{AgreementV1, JudgeV1, ReportV1};

pub(super) fn draw(report: &ReportV1, out: &mut String) {
    if report.judges.is_empty() {
        return;
    }
    out.push_str("<section id=\"judges\" aria-labelledby=\"judges-title\">\n<h2 id=\"judges-title\">Judges</h2>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
    let heads = [
        "judge",
        "asked",
        "cached",
        "saved",
        "no answer",
        "matches that location and words miss",
        "tokens",
        "USD",
        "requests now",
    ];
    for (at, head) in heads.iter().enumerate() {
        out.push_str(&format!("<th scope=\"col\"{}>{head}</th>", if at == 0 { "" } else { " class=\"n\"" }));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    report.judges.iter().for_each(|judge| out.push_str(&row(report, judge)));
    out.push_str("</tbody></table></div>\n");
    for judge in &report.judges {
        judge.agreement.iter().for_each(|agreement| out.push_str(&agree(&judge.judge, agreement)));
        if let Some(probe) = &judge.probe {
            out.push_str(&probed(&judge.judge, probe));
        }
    }
    if report.judges.iter().all(|judge| judge.probe.is_none()) {
        out.push_str("<p class=\"dim\">No judge was probed; <code>karat judge probe</code> measures how easily a judge is fooled.</p>\n");
    }
    out.push_str("</section>\n");
}

fn row(report: &ReportV1, judge: &JudgeV1) -> String {
    let now = report.measured.judges.get(&judge.judge);
    let usd = judge.usd.map_or_else(|| "–".to_owned(), |usd| format!("{usd:.4}"));
    let warn = if judge.unjudged > 0 { "n warn" } else { "n" };
    let refused = if judge.refused > 0 { format!(" ({} refused)", judge.refused) } else { String::new() };
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"{warn}\">{}{refused}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{usd}</td><td class=\"n\">{}</td></tr>\n",
        text(&judge.judge),
        judge.asked,
        judge.cached,
        judge.saved,
        judge.unjudged,
        judge.beyond,
        judge.tokens,
        now.map_or_else(|| "–".to_owned(), |now| now.requests.to_string()),
    )
}

fn agree(judge: &str, agreement: &AgreementV1) -> String {
    let ci = agreement
        .krippendorff_ci
        .map_or_else(String::new, |[low, high]| format!(" ({}–{})", decimals(low, 2), decimals(high, 2)));
    format!(
        "<h3>{}: agreement of its members</h3>\n<p>On {}: {} agree {}, Krippendorff α {}{ci}, Fleiss κ {}, Gwet AC1 {}.</p>\n",
        text(judge),
        count(agreement.n, "pair"),
        text(&agreement.judges.join(", ")),
        agreement.percent.map_or_else(|| "–".to_owned(), |share| format!("in {:.1} %", 100.0 * share)),
        three(agreement.krippendorff),
        three(agreement.fleiss),
        three(agreement.ac1),
    )
}

fn probed(judge: &str, probe: &ProbeV1) -> String {
    let outcome = licence(judge, probe, MAX_ERROR_RATE).iter().map(|demand| demand.outcome).max();
    let class = match outcome {
        Some(DemandOutcomeV1::Fails) => "bad",
        Some(DemandOutcomeV1::Inconclusive) | None => "warn",
        Some(DemandOutcomeV1::Holds) => "good",
    };
    let share = 100.0 * MAX_ERROR_RATE;
    let word = outcome.unwrap_or(DemandOutcomeV1::Inconclusive).word();
    format!(
        "<h3>{}: probe</h3>\n<p>With pairs from {}: {}. Errors at most {share} %: <span class=\"{class}\">{word}</span>.</p>\n",
        text(judge),
        text(&probe.suite),
        text(&probe.describe()),
    )
}
