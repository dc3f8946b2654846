//! Renders a report as one self-contained HTML page. The overview is plain markup that needs no script; cases are compressed
//! inside the page and shown by a script.

mod detail;
mod excerpt;
mod index;
mod judges;
mod leaderboard;
mod pack;
mod slices;
#[cfg(test)]
mod tests;

use super::TerminalStyle;
use super::facts::{
    POOLED_CELLS, POOLED_TITLE, SPREAD_CELLS, SPREAD_TITLE, ToolTable, clusters_sentence, pooled_table, trial_spread,
};
use super::number::{failed_sentence, headline_sentence, rank_metric, ranked, three, title, too_few_cases};
use super::page::{Frame, FrameLink, PLAIN, PRINT, Page, drawing};
use super::plot::{self, Plot, PlotOptions, Theme};
use super::report_view::ReportView;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::Method;
use karat_core::wording::count;
use karat_format::report::{EstimateV1, MetricsV1, ReportV1, ToolV1};
use maud::{Markup, html};
use pack::{compressed, pack};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;

/// Renders the page on its own.
pub fn draw(view: &ReportView<'_>, _: &TerminalStyle) -> String {
    page(view, &format!("{} · Karat report", view.title())).draw()
}

/// A report's page, standalone or one of several.
pub fn page<'a>(view: &ReportView<'_>, title: &'a str) -> Page<'a> {
    let report = view.report;
    let (index, portions, left_out) = pack(view);
    let tabs = tabs(view, left_out);
    let body = html! {
        div #overview {
            (head(view))
            (warnings(report))
            @for tab in &tabs { (tab.draw()) }
        }
        article #case hidden {}
        (index)
    };
    let frame = Frame {
        breadcrumb: vec![(view.label(), None)],
        tabs: tabs.iter().map(Tab::link).collect(),
        ..Frame::default()
    };
    // The portions are last in the page, so that the browser shows everything else first.
    Page { title, frame: Some(frame), body, styles: &PAGE_STYLES, scripts: &SCRIPTS, data: portions, ..Page::default() }
}

/// Sections that are shown together.
pub(crate) struct Tab {
    title: &'static str,
    /// An element of the tab, or one around all tabs for the first.
    target: &'static str,
    content: Markup,
}

impl Tab {
    /// A tab of those sections that have any content; none without.
    pub(crate) fn new(title: &'static str, target: &'static str, sections: &[Markup]) -> Option<Self> {
        let content = html! { @for section in sections { (section) } };
        (!content.0.is_empty()).then_some(Self { title, target, content })
    }

    pub(crate) fn link(&self) -> FrameLink {
        FrameLink::new(self.title, format!("#{}", self.target))
    }

    pub(crate) fn draw(&self) -> Markup {
        html! { div.panel { (self.content) } }
    }
}

fn tabs(view: &ReportView<'_>, left_out: Option<&str>) -> Vec<Tab> {
    let report = view.report;
    let trend = if view.earlier.is_empty() { Markup::default() } else { figures("trend", "Trend", view, &["trend"]) };
    let overview = [
        leaderboard::forest(view),
        leaderboard::draw(report),
        hardest(report),
        figures("significance", "Pairwise comparison", view, &["ranks", "significance"]),
        figures("quality", "Quality and cost", view, &["precision-recall", "cost-quality"]),
        trend,
    ];
    let method = [
        method(view),
        tool_table("pooled", POOLED_TITLE, POOLED_CELLS, pooled_table(report)),
        tool_table("trials", SPREAD_TITLE, SPREAD_CELLS, trial_spread(report)),
        figures("confidence", "Confidence", view, &["reliability", "sweep"]),
        figures("variance", "Variance", view, &["variance"]),
        all_metrics(report),
    ];
    let tabs = [
        Tab::new("Overview", "overview", &overview),
        Tab::new("Cases", "cases", &[cases(report, left_out), notable(report)]),
        Tab::new("Slices", "slices", &[slices::draw(view)]),
        Tab::new("Judges", "judges", &[judges::draw(report)]),
        Tab::new("Method", "method", &method),
    ];
    tabs.into_iter().flatten().collect()
}

pub(crate) const STYLES: [&str; 2] = [plot::STYLE, include_str!("html/report.css")];
const PAGE_STYLES: [&str; 3] = [STYLES[0], STYLES[1], include_str!("html/case.css")];

const SCRIPTS: [&str; 10] = [
    PLAIN,
    PRINT,
    include_str!("html/text.js"),
    include_str!("html/data.js"),
    include_str!("html/save.js"),
    include_str!("html/leaderboard.js"),
    include_str!("html/grid.js"),
    include_str!("html/diff.js"),
    include_str!("html/case.js"),
    include_str!("html/route.js"),
];

const MOST_WARNINGS: usize = 6;
const MOST_FIGURES: usize = 6;
const MOST_NOTABLE: usize = 200;
const MOST_HARDEST: usize = 5;

pub(crate) fn section(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}

fn head(view: &ReportView<'_>) -> Markup {
    let report = view.report;
    let judges: Vec<&str> =
        report.judges.iter().filter(|judge| judge.asked > 0).map(|judge| judge.judge.as_str()).collect();
    html! {
        header.about {
            h1 {
                @match headline_sentence(report) {
                    Some(sentence) => { (sentence) }
                    None => { (view.label()) }
                }
                @if report.is_failed() { " " span.badge.failed { "failed" } }
            }
            @if let Some(sentence) = failed_sentence(report) { p { strong.bad { (sentence) } } }
            p.dim {
                @if let Some(name) = view.name.as_ref().filter(|name| **name != report.suite.name) { (name) " · " }
                b { (report.suite.name) } ", " (count(report.suite.cases, "case")) ", "
                (report.goldens()) " · " (count(report.tools.len(), "tool"))
                @if let Some(run) = &view.run { " · " (run.began) }
                @if !judges.is_empty() { " · judged by " (judges.join(", ")) }
                " · profile " (report.profile.name)
            }
        }
        noscript {
            p.careful {
                "JavaScript is off: the leaderboard, figures and slices are shown; the cases need JavaScript."
            }
        }
    }
}

fn warnings(report: &ReportV1) -> Markup {
    let mut notes: Vec<(String, String)> = Vec::new();
    if let Some(n) = too_few_cases(report) {
        notes.push((format!("too few cases: n = {n}"), format!("n = {n}: too few to rely on ({RELIABLE_N} wanted)")));
    }
    // Judges that were not asked are mentioned in the warnings.
    for judge in report.judges.iter().filter(|judge| judge.unjudged > 0 && judge.asked > 0) {
        let (name, unjudged) = (&judge.judge, judge.unjudged);
        let all = format!("{name}: {unjudged} of {} questions got no answer", judge.asked);
        notes.push((format!("{name}: {unjudged} unanswered"), all));
    }
    notes.extend(report.warnings.iter().map(|warning| (brief(warning).to_owned(), warning.clone())));
    chips(&notes)
}

/// Warnings in a row, each in a few words that unfold to the whole. Many must not push the result off the first screen.
pub(crate) fn chips(notes: &[(String, String)]) -> Markup {
    if notes.is_empty() {
        return Markup::default();
    }
    let (first, rest) = notes.split_at(notes.len().min(MOST_WARNINGS));
    html! {
        section.warnings #careful aria-label="Warnings" {
            h2 { "Warnings" }
            ul.chips {
                @for (brief, all) in first {
                    li {
                        @if brief == all { span.chip { (all) } } @else {
                            details.chip { summary { (brief) } p { (all) } }
                        }
                    }
                }
                @if !rest.is_empty() {
                    li {
                        details.chip {
                            summary { (rest.len()) " more" }
                            ul { @for (_, all) in rest { li { (all) } } }
                        }
                    }
                }
            }
        }
    }
}

const BRIEF: usize = 40;
/// A shorter clause says too little.
const SHORTEST: usize = 12;

/// The first clause of a warning, or its first words.
pub(crate) fn brief(warning: &str) -> &str {
    if warning.chars().count() <= BRIEF {
        return warning;
    }
    let clause =
        [": ", "; ", " (", ", ", ". "].iter().filter_map(|end| warning.find(end)).filter(|at| *at >= SHORTEST).min();
    let end = warning.char_indices().nth(BRIEF).map_or(warning.len(), |(at, _)| at);
    let end = clause.map_or(end, |clause| clause.min(end));
    match warning[..end].rfind(' ').filter(|_| clause != Some(end)) {
        Some(word) => &warning[..word],
        None => &warning[..end],
    }
}

fn tool_table(id: &str, title: &str, cells: &str, content: Option<ToolTable>) -> Markup {
    let Some(content) = content else { return Markup::default() };
    let head = html! { th { "tool" } @for column in content.columns { th.n { (column) } } };
    let rows = html! {
        @for (tool, values) in content.rows {
            tr { th scope="row" { (tool) } @for value in values { td.n { (value) } } }
        }
    };
    section(id, title, &html! { p.dim { (cells) } (table(&head, &rows)) })
}

/// A table that scrolls sideways on small screens.
fn table(head: &Markup, rows: &Markup) -> Markup {
    html! { div.scroll tabindex="0" { table { thead { tr { (head) } } tbody { (rows) } } } }
}

/// A section of plots. Without data it is left out.
fn figures(id: &str, title: &str, view: &ReportView<'_>, kinds: &[&str]) -> Markup {
    let drawn = html! { @for kind in kinds { (plots(kind, view, &PlotOptions::default())) } };
    if drawn.0.is_empty() {
        return drawn;
    }
    section(id, title, &html! { div.figures { (drawn) } })
}

fn plots(kind: &str, view: &ReportView<'_>, options: &PlotOptions) -> Markup {
    let plots = plot::kind(kind).and_then(|kind| (kind.draw)(view, options).ok()).unwrap_or_default();
    let (first, rest) = plots.split_at(plots.len().min(MOST_FIGURES));
    let figure = |plot: &Plot| {
        html! {
            figure tabindex="0" {
                figcaption { span { (plot.title) } (save(plot)) }
                (drawing(plot.inline()))
                @if !plot.notes.is_empty() { div.notes { @for note in &plot.notes { p.dim.small { (note) } } } }
            }
        }
    };
    html! {
        @for plot in first { (figure(plot)) }
        @if !rest.is_empty() {
            details { summary { (rest.len()) " more" } @for plot in rest { (figure(plot)) } }
        }
    }
}

/// The place of the buttons that save a plot as a file. It holds the file, compressed.
fn save(plot: &Plot) -> Markup {
    let svg = compressed(&plot.standalone(Theme::Light));
    html! { span.save data-title=(plot.title) data-svg=(svg) {} }
}

/// The address of a case, with the results of one tool or of the first that is wrong.
fn case_address(case: &str, tool: Option<&str>) -> String {
    let encode = |name| utf8_percent_encode(name, NON_ALPHANUMERIC);
    let tool = tool.map(|tool| format!("?tool={}", encode(tool)));
    format!("#/case/{}{}", encode(case), tool.unwrap_or_default())
}

/// The cases on which tools did worst, so that the first step into the cases is one click.
fn hardest(report: &ReportV1) -> Markup {
    let cases = index::hardest(report, MOST_HARDEST);
    if cases.is_empty() || report.cases.len() < 2 {
        return Markup::default();
    }
    let is_verdict = report.profile.method == Method::Verdict;
    let value = if is_verdict { "Correct verdicts" } else { title(rank_metric(report)) };
    let has_goldens = cases.iter().any(|one| one.required > 0);
    let content = html! {
        p.dim {
            "Means over tools; sums over tools and trials. A case opens with what was missed and why. "
            a href="#/cases?order=hard" { "All cases, hardest first" }
        }
        div.scroll tabindex="0" role="group" aria-label="Hardest cases" {
            table {
                thead {
                    tr {
                        th scope="col" { "Case" }
                        th.n scope="col" { (value) }
                        @if has_goldens { th.n scope="col" { "Goldens found" } }
                        th.n scope="col" { "False alarms" }
                    }
                }
                tbody {
                    @for one in &cases {
                        @let id = one.case.case.as_str();
                        tr {
                            th scope="row" {
                                a href=(case_address(id, None)) { (id) }
                                @if let Some(name) = one.case.name.as_deref().filter(|name| *name != id) {
                                    " " span.dim { (name) }
                                }
                            }
                            td.n { (three(one.mean)) }
                            @if has_goldens {
                                td.n { @if one.required > 0 { (one.found) " of " (one.required) } @else { "–" } }
                            }
                            td.n { (one.false_alarms) }
                        }
                    }
                }
            }
        }
    };
    section("hardest", "Hardest cases", &content)
}

fn cases(report: &ReportV1, left_out: Option<&str>) -> Markup {
    let content = html! {
        p.dim {
            @if report.profile.method == Method::Verdict {
                "The share of correct verdicts on each case, over all trials."
            } @else {
                (title(rank_metric(report)))
                " of each case, a mean over trials, and how many of its required goldens were found over all trials. A \
                 case without goldens counts false alarms. The head of a column has the mean of the cases shown. Open a \
                 cell to see the code."
            }
        }
        @if let Some(note) = left_out { p.dim { (note) } }
        div #grid {}
    };
    section("cases", "Case by case", &content)
}

fn notable(report: &ReportV1) -> Markup {
    let link = |case: &str, tool: &str| html! { a href=(case_address(case, Some(tool))) { (case) } };
    let mut lists: Vec<(String, Vec<Markup>)> = Vec::new();
    for tool in ranked(report) {
        let name = &tool.tool;
        let flaky = tool.flaky.iter().map(|one| {
            let case = link(one.case.as_str(), name);
            html! { (one.golden.as_str()) " in " (case) ": " (one.found) " of " (one.trials) " trials" }
        });
        let goldens = count(tool.flaky.len(), "golden");
        lists.push((format!("{name}: {goldens} found in some trials only"), flaky.collect()));
        let lucky = tool.lucky.iter().map(|one| html! { (link(one.case.as_str(), name)) ", trial " (one.trial) });
        let trials = count(tool.lucky.len(), "trial");
        lists.push((format!("{name}: {trials} called vulnerable without the target"), lucky.collect()));
    }
    let pooled = report.pooled_extras.iter().map(|extra| {
        let first = extra.tools.first().map_or("", String::as_str);
        html! { (link(&extra.case, first)) ": " (extra.title) " (" (extra.tools.join(", ")) ")" }
    });
    let extras = count(report.pooled_extras.len(), "extra");
    let summary = format!("{extras} reported by several tools, matching no golden and unlabelled");
    lists.push((summary, pooled.collect()));
    lists.retain(|(_, items)| !items.is_empty());
    if lists.is_empty() {
        return Markup::default();
    }
    let content = html! {
        @for (summary, items) in lists {
            details {
                summary { (summary) }
                ul { @for item in items.iter().take(MOST_NOTABLE) { li { (item) } } }
                @if items.len() > MOST_NOTABLE { p.dim { "and " (items.len() - MOST_NOTABLE) " more" } }
            }
        }
    };
    section("notable", "Notable", &content)
}

fn all_metrics(report: &ReportV1) -> Markup {
    let head = html! {
        th { "metric" } th.n { "value" } th { "95 % interval" } th.n { "std over trials" } th.n { "n" } th { "remark" }
    };
    let rows = |tool: &ToolV1| {
        html! {
            @for (scope, metrics) in [("", &tool.metrics), ("pooled ", &tool.micro)] {
                @for (id, estimate) in defined(metrics) { (metric_row(scope, id, estimate)) }
            }
        }
    };
    let reasons: Vec<BTreeMap<&str, &str>> = report.tools.iter().map(reasons).collect();
    let shared: BTreeMap<&str, &str> = reasons.first().cloned().unwrap_or_default();
    let shared: BTreeMap<&str, &str> =
        shared.into_iter().filter(|(id, why)| reasons.iter().all(|own| own.get(id) == Some(why))).collect();
    let content = html! {
        @for tool in ranked(report) {
            details {
                summary { (tool.tool) }
                (table(&head, &rows(tool)))
                (not_measured("Not measured:", self::reasons(tool).into_iter().filter(|(id, _)| !shared.contains_key(id))))
            }
        }
        (not_measured("Not measured for any tool:", shared.iter().map(|(id, why)| (*id, *why))))
    };
    section("metrics", "All metrics", &content)
}

/// Why metrics of a tool have no value, by their ids.
fn reasons(tool: &ToolV1) -> BTreeMap<&str, &str> {
    let missing = tool.metrics.iter().filter(|(_, estimate)| estimate.value.is_none());
    missing.map(|(id, estimate)| (id.as_str(), estimate.undefined.as_deref().unwrap_or("undefined"))).collect()
}

fn defined(metrics: &MetricsV1) -> Vec<(&String, &EstimateV1)> {
    let mut defined: Vec<_> = metrics.iter().filter(|(_, estimate)| estimate.value.is_some()).collect();
    defined.sort_by_key(|(id, _)| title(id).to_lowercase());
    defined
}

fn metric_row(scope: &str, id: &str, estimate: &EstimateV1) -> Markup {
    html! {
        tr {
            th scope="row" { (scope) (title(id)) }
            td.n { (three(estimate.value)) }
            td.i {
                @match estimate.ci {
                    Some([low, high]) => { (three(Some(low))) " to " (three(Some(high))) }
                    None => { "–" }
                }
            }
            td.n { (three(estimate.std_trials)) }
            td.n { (estimate.n) }
            td.dim {
                @if let Some(why) = &estimate.no_ci { (why) }
                @else if let Some(method) = &estimate.method { (method_name(method)) }
            }
        }
    }
}

fn not_measured<'t>(lead: &str, missing: impl Iterator<Item = (&'t str, &'t str)>) -> Markup {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, why) in missing {
        by_reason.entry(why).or_default().push(title(id));
    }
    by_reason.values_mut().for_each(|names| names.sort_by_key(|name| name.to_lowercase()));
    html! {
        @if !by_reason.is_empty() {
            p.dim { (lead) }
            ul.dim {
                @for (reason, names) in by_reason { li { (reason) " (" (names.len()) "): " (names.join(", ")) } }
            }
        }
    }
}

fn method_name(method: &str) -> String {
    let words = method.split('-').map(|word| match word {
        "bca" => "BCa",
        "wilson" => "Wilson",
        plain => plain,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn method(view: &ReportView<'_>) -> Markup {
    let report = view.report;
    let how = &report.intervals;
    let content = html! {
        p {
            (how.level * 100.0) " % intervals by " (how.resamples) " resamples (" (method_name(&how.bootstrap))
            "), proportions by " (method_name(&how.proportions))
            @if let Some(field) = &how.cluster { ", clustered by " (field) }
            ". "
            @if let Some(sentence) = clusters_sentence(report) { (sentence) ". " }
            "Seed " (report.seed) ". Suite digest " code { (report.suite.digest) } "."
            @if let Some(run) = &view.run { " Run " code { (run.id) } "." }
        }
        p.dim {
            "The same input gives the same report; " code { "karat report" }
            " draws it again, and the JSON report has every number unrounded."
        }
    };
    section("method", "Method", &content)
}
