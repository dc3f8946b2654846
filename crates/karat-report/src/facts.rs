//! What several formats state about a report: clusters of cases, judges, pooled counts and the variation over trials.

use super::number::{decimals, headline, or_dash, rank_metric, ranked, three, title};
use karat_core::profile::Method;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{
    AuditAgreementV1, ChangeV1, ClustersV1, FieldAgreementV1, JudgeV1, MeasuredAgreementV1, ReportV1, SamplingV1,
    ToolV1,
};
use std::collections::BTreeMap;

/// How cases are clustered and how intervals account for it.
pub(super) fn clusters_sentence(report: &ReportV1) -> Option<String> {
    let clusters = report.intervals.clusters.as_ref()?;
    let cases = count(clusters.shared_cases, "case");
    let groups = match (clusters.field.as_str(), clusters.groups) {
        ("repo", 1) => "1 repository".to_owned(),
        ("repo", n) => format!("{n} repositories"),
        (field, n) => format!("{} of {field}", count(n, "value")),
    };
    let shares = if clusters.shared_cases == 1 { "shares" } else { "share" };
    let done = if clusters.used { "which are resampled as a whole" } else { "but are treated as independent" };
    let effect = effect(clusters).map(|effect| format!("; design effect of {}: {effect}", title(&clusters.metric)));
    Some(format!("{cases} {shares} {groups}, {done}{}", effect.unwrap_or_default()))
}

fn effect(clusters: &ClustersV1) -> Option<String> {
    let all = || clusters.design_effect.values().copied();
    let shown = |effect: f64| decimals(effect, 2);
    let (least, most) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let (least, most) = (shown(least), shown(most));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// A line per judge that was asked: questions, savings, cost and effect.
pub(super) fn judge_lines(report: &ReportV1) -> Vec<String> {
    report.judges.iter().filter(|judge| judge.asked > 0).map(|judge| judge_line(report, judge)).collect()
}

fn judge_line(report: &ReportV1, judge: &JudgeV1) -> String {
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
    if let Some(agreement) = judge.agreement.as_ref().filter(|agreement| agreement.n > 0 && agreement.on.is_none()) {
        // Of audits, a table has the agreement on each decision.
        let figure = |name: &str, value: Option<f64>| value.map(|_| format!("{name} {}", three(value)));
        let figures =
            [figure("agree", agreement.percent), figure("α", agreement.krippendorff), figure("AC1", agreement.ac1)];
        let known: Vec<String> = figures.into_iter().flatten().collect();
        parts.push(format!("{} on {}", known.join(", "), agreement.items()));
    }
    if let Some(probe) = &judge.probe {
        parts.push(probe.describe());
    }
    let agreement = agreement_words(judge).map(|words| format!(" ({words})")).unwrap_or_default();
    format!("{}{agreement}: {}", harmless(&judge.judge), parts.join(" · "))
}

/// The columns of the table of agreement on audits.
pub(super) const AUDIT_AGREEMENT_CELLS: [&str; 5] = ["decision", "n", "agree", "Krippendorff α", "Cohen κ"];

/// Why decisions have no alpha, those with the same reason together.
pub(super) fn undefined_agreements(agreement: &AuditAgreementV1) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for field in &agreement.fields {
        if let Some(why) = &field.undefined {
            reasons.entry(why).or_default().push(field.field.as_str());
        }
    }
    reasons.into_iter().map(|(why, fields)| format!("no α for {}: {why}", fields.join(", "))).collect()
}

/// The row of one decision.
pub(super) fn audit_agreement_cells(own: &FieldAgreementV1) -> [String; 5] {
    let with_interval = |value: Option<f64>, ends: Option<[f64; 2]>| match ends {
        Some([low, high]) => format!("{} ({} to {})", three(value), decimals(low, 2), decimals(high, 2)),
        None => three(value),
    };
    let (alpha, kappa) = (with_interval(own.alpha, own.alpha_ci), with_interval(own.kappa, own.kappa_ci));
    [own.field.as_str().to_owned(), own.n.to_string(), three(own.percent), alpha, kappa]
}

/// Such as `κ 0.81 on review comments`; says so if most findings are of a kind that was not measured.
pub(super) fn agreement_words(judge: &JudgeV1) -> Option<String> {
    let MeasuredAgreementV1 { kappa, on, most_findings } = judge.measured_agreement?;
    let figure = format!("κ {} on {}", decimals(kappa, 2), on.words());
    Some(if on == most_findings { figure } else { format!("{figure}, not measured on {}", most_findings.words()) })
}

/// What of the ranking or the verdicts rests on the judge, and the command that shows the pairs in question.
pub(super) fn sensitivity_sentence(report: &ReportV1) -> Option<String> {
    let command = label_command(report).map(|command| format!(": `{command}`")).unwrap_or_default();
    Some(sensitivity(report)? + &command)
}

/// The command that shows the pairs on which the ranking or the verdicts rest, with NAME for the person; `None` if there are none.
pub fn label_command(report: &ReportV1) -> Option<String> {
    let found = report.sensitivity.as_ref()?;
    let flag = match (&found.without_judge, &found.if_unsure_flip) {
        (Some(_), _) => "--disputed",
        (None, Some(_)) => "--unsure",
        (None, None) => return None,
    };
    let source = report.measured.label_source.as_ref()?;
    Some(format!("karat label next {} {flag} --as NAME", harmless(source)))
}

/// What of the ranking or the verdicts rests on the judge.
pub(super) fn sensitivity(report: &ReportV1) -> Option<String> {
    let found = report.sensitivity.as_ref()?;
    let judges = format!("the judge {}", harmless(&found.judges.join(", ")));
    let unsure = format!("{} that {judges} is unsure of", count(found.unsure, "pair"));
    if let Some(change) = &found.without_judge {
        let refused = match (found.refused, found.refused_on_same_lines) {
            (0, _) => "none refused".to_owned(),
            (refused, 0) => format!("{refused} refused"),
            (refused, same) => format!("{refused} refused, {same} of them on the same lines"),
        };
        let pairs = count(found.disputed, "pair");
        let also = found.if_unsure_flip.as_ref().map(|_| format!("; so may {unsure}")).unwrap_or_default();
        let change = change_words(change, "would");
        let also = also.replacen(&judges, "it", 1);
        return Some(format!(
            "{judges} and the rules alone disagree on {pairs} ({refused}); without it {change}{also}"
        ));
    }
    let change = found.if_unsure_flip.as_ref()?;
    Some(format!("{} if {unsure} were decided otherwise", change_words(change, "could")))
}

/// Such as `ruff would lead`.
fn change_words(change: &ChangeV1, would: &str) -> String {
    let list = |names: &[String]| match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    };
    let leads = change.leader.as_ref().map(|tool| format!("{tool} {would} lead"));
    let moved =
        (leads.is_none() && !change.moved.is_empty()).then(|| format!("{} {would} change places", list(&change.moved)));
    let verdicts = (!change.verdicts.is_empty()).then(|| {
        let verdicts = if change.verdicts.len() == 1 { "verdict on" } else { "verdicts on" };
        format!("the {verdicts} {} {would} change", list(&change.verdicts))
    });
    let all: Vec<String> = [leads, moved, verdicts].into_iter().flatten().collect();
    harmless(&all.join(" and ")).into_owned()
}

pub(super) const SPREAD_TITLE: &str = "Variation over trials";
pub(super) const SPREAD_CELLS: &str = "mean ± standard deviation of the suite's figure";

/// A table with a row of numbers for each tool.
pub(super) struct ToolTable {
    pub(super) columns: Vec<String>,
    /// Each tool with its cells.
    pub(super) rows: Vec<(String, Vec<String>)>,
}

pub(super) const POOLED_TITLE: &str = "Pooled";
pub(super) const POOLED_CELLS: &str = "sums over cases and trials, and the figures they give";

/// Counts beside the figures that follow from them, because those of the leaderboard are means over cases. `None` if findings
/// are not counted.
pub(super) fn pooled_table(report: &ReportV1) -> Option<ToolTable> {
    if report.profile.method == Method::Verdict || report.tools.is_empty() {
        return None;
    }
    let figures = ["precision", "recall", "f1"];
    let row = |tool: &ToolV1| {
        let counts = [tool.counts.tp, tool.counts.fp, tool.counts.fn_].map(|count| count.to_string());
        let figure = |id: &str| three(tool.micro.get(id).and_then(|estimate| estimate.value));
        (tool.tool.clone(), counts.into_iter().chain(figures.map(figure)).collect())
    };
    Some(ToolTable {
        columns: ["TP", "FP", "FN"].into_iter().chain(figures.map(title)).map(str::to_owned).collect(),
        rows: ranked(report).into_iter().map(row).collect(),
    })
}

/// Of which tools verdicts follow from findings, and how many in full; `None` if all verdicts are stated, or the profile
/// compares nothing else.
pub(super) fn derived_sentence(report: &ReportV1, in_full: bool) -> Option<String> {
    let from = report.profile.others.get("verdict_from")?.as_str()?;
    let tools =
        report.tools.iter().filter(|tool| tool.verdicts_derived > 0 && report.profile.method != Method::Verdict);
    let name = |tool: &ToolV1| match in_full {
        true => format!("{} ({})", tool.tool, count(tool.verdicts_derived, "trial")),
        false => tool.tool.clone(),
    };
    let names: Vec<String> = tools.map(name).collect();
    let of = if from == "cwe" { "CWE numbers of findings" } else { "findings" };
    let setting = if in_full { format!(", as verdict_from = {from} says") } else { String::new() };
    (!names.is_empty()).then(|| format!("verdicts of {} follow from {of}{setting}", names.join(", ")))
}

/// How many values of the headline's dimension have each metric, where they differ: a category without safe cases has no false
/// positive rate, so that the mean of a difference is not the difference of the means.
pub(super) fn averaged_values(report: &ReportV1) -> Option<String> {
    let by = report.profile.headline_macro_by.as_ref()?;
    let n = |id: &String| report.tools.iter().filter_map(|tool| Some(headline(report, tool).get(id)?.n)).max();
    let all: Vec<(&str, usize)> = report.profile.headline.iter().filter_map(|id| Some((title(id), n(id)?))).collect();
    let each = || all.iter().map(|(title, n)| format!("{title} {n}")).collect::<Vec<_>>().join(", ");
    let differ = all.iter().any(|(_, n)| Some(*n) != all.first().map(|(_, n)| *n));
    differ.then(|| format!("each is the mean over the values of {by} that have it: {}", each()))
}

/// How many extras of each tool are not counted because the change did not touch their lines; `None` if there are none.
pub(super) fn untouched_sentence(report: &ReportV1) -> Option<String> {
    let tools = ranked(report).into_iter().filter(|tool| tool.untouched_extras > 0);
    let parts: Vec<String> =
        tools.map(|tool| format!("{} of {} extras of {}", tool.untouched_extras, tool.extras, tool.tool)).collect();
    let why = "are on lines the change did not touch, and count as FP only with --count-untouched";
    (!parts.is_empty()).then(|| format!("{} {why}", parts.join(", ")))
}

/// Mean and standard deviation over trials of each tool, such as `0.812 ± 0.021`, for the headline metrics that have a
/// deviation, ranking metric first; `None` if no tool was tried more than once.
pub(super) fn trial_spread(report: &ReportV1) -> Option<ToolTable> {
    let tools = ranked(report);
    let deviates = |id: &&String| {
        tools.iter().any(|tool| headline(report, tool).get(*id).is_some_and(|estimate| estimate.std_trials.is_some()))
    };
    let mut ids: Vec<&String> = report.profile.headline.iter().filter(deviates).collect();
    ids.sort_by_key(|id| *id != rank_metric(report));
    if ids.is_empty() {
        return None;
    }
    let cell = |tool, id: &String| {
        let estimate = headline(report, tool).get(id);
        match estimate.and_then(|estimate| Some((estimate.value?, estimate.std_trials?))) {
            Some((mean, deviation)) => format!("{} ± {}", three(Some(mean)), three(Some(deviation))),
            None => or_dash(None),
        }
    };
    let row = |tool| ids.iter().map(|id| cell(tool, id)).collect();
    Some(ToolTable {
        columns: ids.iter().map(|id| title(id).to_owned()).collect(),
        rows: tools.iter().map(|tool| (tool.tool.clone(), row(*tool))).collect(),
    })
}
