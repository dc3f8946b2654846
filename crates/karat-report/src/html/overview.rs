//! The sections of the page from top to bottom.

use super::{figures, judges, leaderboard, slices};
use crate::clusters;
use crate::number::{headline, rank_metric, ranked, statement, three, title};
use crate::page::text;
use crate::report_view::ReportView;
use crate::trial_spread::{CELLS, TITLE, TrialSpread, trial_spread};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::Method;
use karat_core::wording::count;
use karat_format::report::{EstimateV1, ReportV1, ToolV1};
use std::collections::BTreeMap;

pub(super) fn draw(view: &ReportView<'_>, left_out: Option<&str>, out: &mut String) {
    let report = view.report;
    head(view, out);
    warnings(report, out);
    leaderboard::draw(report, out);
    spread(report, out);
    figures::quality(view, out);
    figures::ranks(view, out);
    cases(report, left_out, out);
    slices::draw(view, out);
    figures::confidence(view, out);
    figures::trend(view, out);
    figures::variance(view, out);
    notable(report, out);
    judges::draw(report, out);
    all_metrics(report, out);
    method(report, out);
}

fn head(view: &ReportView<'_>, out: &mut String) {
    let report = view.report;
    let (title, suite) = match &view.name {
        Some(name) => (text(name), format!("{} · ", text(&report.suite.name))),
        None => (text(&report.suite.name), String::new()),
    };
    let known =
        statement(report).map_or_else(String::new, |sentence| format!("<p><strong>{}</strong></p>\n", text(sentence)));
    out.push_str(&format!(
        "<header class=\"about\">\n<h1>{title}</h1>\n{known}<p class=\"dim\">{suite}{}, {} · {} · profile {}</p>\n\
         <nav class=\"toc\" aria-label=\"On this page\"></nav>\n\
         <button type=\"button\" class=\"theme\" hidden>Theme</button>\n</header>\n\
         <noscript><p class=\"careful\">JavaScript is off: the leaderboard, figures and slices are shown; the cases need JavaScript.</p></noscript>\n",
        count(report.suite.cases, "case"),
        count(report.suite.issues, "golden"),
        count(report.tools.len(), "tool"),
        text(&report.profile.name),
    ));
}

/// Warnings, above all numbers.
fn warnings(report: &ReportV1, out: &mut String) {
    let mut notes: Vec<String> = Vec::new();
    let estimates = report.tools.iter().filter_map(|tool| headline(report, tool).get(rank_metric(report)));
    if let Some(n) = estimates.map(|estimate: &EstimateV1| estimate.n).min().filter(|n| *n < RELIABLE_N) {
        notes.push(format!("<strong>n = {n}</strong>: too few to rely on ({RELIABLE_N} wanted)"));
    }
    // Judges that were not asked are mentioned in the warnings.
    for judge in report.judges.iter().filter(|judge| judge.unjudged > 0 && judge.asked > 0) {
        let (name, asked) = (text(&judge.judge), judge.asked);
        notes.push(format!("<strong>{name}</strong>: {} of {asked} questions got no answer", judge.unjudged));
    }
    notes.extend(report.warnings.iter().map(|warning| text(warning)));
    if notes.is_empty() {
        return;
    }
    out.push_str("<section class=\"careful\" id=\"careful\" aria-labelledby=\"careful-title\">\n<h2 id=\"careful-title\">Warnings</h2>\n<ul>\n");
    // Many warnings must not push the result off the first screen.
    let (first, rest) = notes.split_at(notes.len().min(6));
    first.iter().for_each(|note| out.push_str(&format!("<li>{note}</li>\n")));
    out.push_str("</ul>\n");
    if !rest.is_empty() {
        out.push_str(&format!("<details><summary>{} more</summary><ul>\n", rest.len()));
        rest.iter().for_each(|note| out.push_str(&format!("<li>{note}</li>\n")));
        out.push_str("</ul></details>\n");
    }
    out.push_str("</section>\n");
}

fn spread(report: &ReportV1, out: &mut String) {
    let Some(TrialSpread { columns, rows }) = trial_spread(report) else { return };
    out.push_str(&format!(
        "<section id=\"trials\" aria-labelledby=\"trials-title\"><h2 id=\"trials-title\">{TITLE}</h2>\n<p class=\"dim\">{CELLS}</p>\n\
         <div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>tool</th>"
    ));
    columns.iter().for_each(|column| out.push_str(&format!("<th class=\"n\">{}</th>", text(column))));
    out.push_str("</tr></thead><tbody>\n");
    for (tool, values) in rows {
        let cells: String = values.iter().map(|value| format!("<td class=\"n\">{value}</td>")).collect();
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", text(&tool)));
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

fn cases(report: &ReportV1, left_out: Option<&str>, out: &mut String) {
    out.push_str("<section id=\"cases\" aria-labelledby=\"cases-title\">\n<h2 id=\"cases-title\">Case by case</h2>\n");
    let metric = text(title(rank_metric(report)));
    let shown = match report.profile.method {
        Method::Verdict => "The share of correct verdicts on each case, over all trials.".to_owned(),
        _ => format!(
            "{metric} of each case, and how many of its required goldens were found over all trials. A case without goldens counts \
             false alarms. Open a cell to see the code."
        ),
    };
    out.push_str(&format!("<p class=\"dim\">{shown}</p>\n"));
    if let Some(note) = left_out {
        out.push_str(&format!("<p class=\"dim\">{}</p>\n", text(note)));
    }
    out.push_str("<div id=\"grid\"></div>\n</section>\n");
}

/// Flaky goldens, lucky guesses, and extras that several tools report.
fn notable(report: &ReportV1, out: &mut String) {
    let mut parts = String::new();
    let link = |case: &str, tool: &str| {
        let id = in_link(case);
        format!("<a href=\"#/case/{id}?tool={}\">{}</a>", in_link(tool), text(case))
    };
    let list = |parts: &mut String, summary: String, items: Vec<String>| {
        if items.is_empty() {
            return;
        }
        let (shown, all) = (items.len().min(200), items.len());
        parts.push_str(&format!("<details><summary>{summary}</summary><ul>{}</ul>", items[..shown].concat()));
        if shown < all {
            parts.push_str(&format!("<p class=\"dim\">and {} more</p>", all - shown));
        }
        parts.push_str("</details>\n");
    };
    for tool in ranked(report) {
        let name = text(&tool.tool);
        let flaky = tool.flaky.iter().map(|one| {
            format!(
                "<li>{} in {}: {} of {} trials</li>",
                text(&one.golden),
                link(&one.case, &tool.tool),
                one.found,
                one.trials
            )
        });
        let summary = format!("{name}: {} found in some trials only", count(tool.flaky.len(), "golden"));
        list(&mut parts, summary, flaky.collect());
        let lucky =
            tool.lucky.iter().map(|one| format!("<li>{}, trial {}</li>", link(&one.case, &tool.tool), one.trial));
        let summary = format!("{name}: {} called vulnerable without the target", count(tool.lucky.len(), "trial"));
        list(&mut parts, summary, lucky.collect());
    }
    let pooled = report.pooled_extras.iter().map(|extra| {
        let first = extra.tools.first().map_or("", String::as_str);
        format!("<li>{}: {} ({})</li>", link(&extra.case, first), text(&extra.title), text(&extra.tools.join(", ")))
    });
    let summary = format!(
        "{} reported by several tools, matching no golden and unlabelled",
        count(report.pooled_extras.len(), "extra")
    );
    list(&mut parts, summary, pooled.collect());
    if !parts.is_empty() {
        out.push_str(
            "<section id=\"notable\" aria-labelledby=\"notable-title\"><h2 id=\"notable-title\">Notable</h2>\n",
        );
        out.push_str(&parts);
        out.push_str("</section>\n");
    }
}

pub(super) fn in_link(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn all_metrics(report: &ReportV1, out: &mut String) {
    out.push_str(
        "<section id=\"metrics\" aria-labelledby=\"metrics-title\"><h2 id=\"metrics-title\">All metrics</h2>\n",
    );
    for tool in ranked(report) {
        out.push_str(&format!(
            "<details><summary>{}</summary><div class=\"scroll\" tabindex=\"0\"><table>\n",
            text(&tool.tool)
        ));
        out.push_str("<thead><tr><th>metric</th><th class=\"n\">value</th><th>95 % interval</th><th class=\"n\">std over trials</th><th class=\"n\">n</th><th>remark</th></tr></thead><tbody>\n");
        let scopes = [("", &tool.metrics), ("pooled ", &tool.micro)];
        for (scope, metrics) in scopes {
            let mut defined: Vec<_> = metrics.iter().filter(|(_, estimate)| estimate.value.is_some()).collect();
            defined.sort_by_key(|(id, _)| title(id).to_lowercase());
            for (id, estimate) in defined {
                let remark = estimate.no_ci.clone().or_else(|| estimate.method.as_deref().map(method_name));
                let span = estimate.ci.map_or_else(
                    || "–".to_owned(),
                    |[low, high]| format!("{} to {}", three(Some(low)), three(Some(high))),
                );
                out.push_str(&format!(
                    "<tr><th scope=\"row\">{scope}{}</th><td class=\"n\">{}</td><td class=\"i\">{span}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"dim\">{}</td></tr>\n",
                    text(title(id)), three(estimate.value), three(estimate.std_trials), estimate.n, text(&remark.unwrap_or_default())
                ));
            }
        }
        out.push_str("</tbody></table></div>\n");
        out.push_str(&not_measured(tool));
        out.push_str("</details>\n");
    }
    out.push_str("</section>\n");
}

fn not_measured(tool: &ToolV1) -> String {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, estimate) in tool.metrics.iter().filter(|(_, estimate)| estimate.value.is_none()) {
        by_reason.entry(estimate.undefined.as_deref().unwrap_or("undefined")).or_default().push(title(id));
    }
    let line = |(reason, mut names): (&str, Vec<&str>)| {
        names.sort_by_key(|name| name.to_lowercase());
        format!("<li>{} ({}): {}</li>", text(reason), names.len(), text(&names.join(", ")))
    };
    let lines: String = by_reason.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("<p class=\"dim\">Not measured:</p><ul class=\"dim\">{lines}</ul>\n") }
}

fn method_name(method: &str) -> String {
    let words = method.split('-').map(|word| match word {
        "bca" => "BCa",
        "wilson" => "Wilson",
        plain => plain,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn method(report: &ReportV1, out: &mut String) {
    let how = &report.intervals;
    let cluster = how.cluster.as_deref().map_or_else(String::new, |field| format!(", clustered by {}", text(field)));
    let alike = clusters::sentence(report).map_or_else(String::new, |sentence| format!("{}. ", text(&sentence)));
    out.push_str(&format!(
        "<section id=\"method\" aria-labelledby=\"method-title\"><h2 id=\"method-title\">Method</h2>\n\
         <p>{} % intervals by {} resamples ({}), proportions by {}{cluster}. {alike}Seed {}. Suite digest <code>{}</code>.</p>\n\
         <p class=\"dim\">The same input gives the same report; <code>karat report</code> draws it again, and the JSON report has every number unrounded.</p></section>\n",
        how.level * 100.0, how.resamples, text(&method_name(&how.bootstrap)), text(&method_name(&how.proportions)), report.seed, text(&report.suite.digest),
    ));
}
