//! One line per judge: questions, savings, cost and effect.

use super::number::three;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{JudgeV1, ReportV1, SamplingV1};

/// A line per judge that was asked.
pub fn lines(report: &ReportV1) -> Vec<String> {
    report.judges.iter().filter(|judge| judge.asked > 0).map(|judge| line(report, judge)).collect()
}

fn line(report: &ReportV1, judge: &JudgeV1) -> String {
    let spent = report.measured.judges.get(&judge.judge);
    let mut asked = count(judge.asked, "question");
    if judge.cached > 0 {
        asked.push_str(&format!(" ({} different)", judge.asked - judge.cached.min(judge.asked)));
    }
    if let Some(spent) = spent.filter(|spent| spent.from_ledger > 0) {
        asked.push_str(&format!(", {} from the ledger", spent.from_ledger));
    }
    if judge.saved > 0 {
        asked.push_str(&format!(", {} saved", judge.saved));
    }
    if judge.unjudged > 0 {
        asked.push_str(&format!(", {} unjudged", judge.unjudged));
    }
    let mut parts = vec![asked];
    if judge.beyond > 0 {
        let matches = if judge.beyond == 1 { "match" } else { "matches" };
        parts.push(format!("{} {matches} that location and words alone would miss", judge.beyond));
    }
    if let Some(spent) = spent {
        let usd = spent.usd.map(|usd| format!(", ${usd:.4}")).unwrap_or_default();
        parts.push(format!("{} tokens now{usd}", spent.tokens_in.saturating_add(spent.tokens_out)));
    }
    match judge.sampling {
        Some(SamplingV1::ProviderDefault) => parts.push("sampling: provider default".to_owned()),
        Some(SamplingV1::Mixed) => parts.push("sampling: provider default for some answers".to_owned()),
        None => {}
    }
    if let Some(agreement) = judge.agreement.as_ref().filter(|agreement| agreement.n > 0) {
        let figure = |name: &str, value: Option<f64>| value.map(|_| format!("{name} {}", three(value)));
        let figures =
            [figure("agree", agreement.percent), figure("α", agreement.krippendorff), figure("AC1", agreement.ac1)];
        let known: Vec<String> = figures.into_iter().flatten().collect();
        parts.push(format!("{} on {}", known.join(", "), count(agreement.n, "pair")));
    }
    if let Some(probe) = &judge.probe {
        parts.push(probe.describe());
    }
    format!("{}: {}", harmless(&judge.judge), parts.join(" · "))
}
