//! The page that compares two runs.

use super::markup::{code_spans, note, percent_encode, time};
use super::reply::{Fault, Reply};
use super::run_lookup::{display_name, find_run, stored_result, trial_counts};
use super::state::{LIST_LIFETIME, State, current_period};
use axum::extract::{Query, State as Shared};
use axum::http::StatusCode;
use karat::comparison::{Request, Side, compare, pair_tools};
use karat::report_source::AnyReport;
use karat_core::clusters::ClusterBy;
use karat_core::comparison::Rules;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::count;
use karat_format::comparison::{ComparisonV1, DifferenceV1, GoldenMovedV1, PairV1};
use karat_format::config::SuiteKind;
use karat_report::number::{p_value, signed, three, title};
use karat_store::{RunInfo, Store};
use maud::{Markup, html};
use serde::Deserialize;

const MOST_MOVED: usize = 100;

/// The end of a refusal on the command line, replaced by a link here.
const BY_FLAG: &str = ", or give --intersection to compare the cases whose goldens are the same";

/// Minimum range of the difference bar, so that tiny differences look tiny.
const NARROWEST: f64 = 0.1;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct PageQuery {
    a: Option<String>,
    b: Option<String>,
    /// If the suites differ, compare the cases with the same goldens.
    #[serde(default)]
    intersection: u8,
}

pub(super) async fn page(Shared(state): Shared<State>, Query(asked): Query<PageQuery>) -> Result<Reply, Fault> {
    let (Some(a), Some(b)) = (asked.a.filter(|a| !a.is_empty()), asked.b.filter(|b| !b.is_empty())) else {
        let said = "A comparison needs two runs, as in `/compare?a=RUN&b=RUN`.";
        let more = html! { p { "Choose them from " a href="/" { "all runs" } "." } };
        return Err(Fault { more, ..Fault::new(StatusCode::BAD_REQUEST, said) });
    };
    let intersection = asked.intersection > 0;
    let (a, b) = state.read(move |store| Ok((find_run(store, &a)?.0, find_run(store, &b)?.0))).await?;
    let key = format!("compare {} {:?} {} {:?} {intersection}", a.id, a.ended_ms, b.id, b.ended_ms);
    // The error for an unfinished run changes with its progress.
    let key = if a.has_report && b.has_report { key } else { format!("{key} {}", current_period(LIST_LIFETIME)) };
    let runs = [a, b];
    state.render_cached(&state.reports, key, move |state, store| draw(state, store, &runs, intersection)).await
}

fn draw(state: &State, store: &mut Store, runs: &[RunInfo; 2], intersection: bool) -> Result<Reply, Fault> {
    let compared = compare_runs(store, runs, intersection)?;
    let status = if compared.is_ok() { StatusCode::OK } else { StatusCode::CONFLICT };
    let body = html! {
        (head(runs, intersection))
        @match compared {
            Ok(comparison) => {
                @if !comparison.warnings.is_empty() {
                    (note("Warnings", &html! { ul { @for warning in &comparison.warnings { li { (warning) } } } }))
                }
                @for pair in &comparison.comparisons { (section(&comparison, pair, runs)) }
            }
            Err(refusal) => { (note("These runs cannot be compared", &refusal)) }
        }
    };
    Ok(state.page("", "Karat: comparison", body, &[], &[]).status(status))
}

/// The comparison, or why there is none and what to do instead.
fn compare_runs(
    store: &mut Store,
    [a, b]: &[RunInfo; 2],
    intersection: bool,
) -> Result<Result<ComparisonV1, Markup>, Fault> {
    let (a_report, b_report) = match (finished(store, a)?, finished(store, b)?) {
        (Ok(a_report), Ok(b_report)) => (a_report, b_report),
        (a_report, b_report) => {
            let reasons = [a_report.err(), b_report.err()];
            return Ok(Err(html! { @for reason in reasons.iter().flatten() { p { (code_spans(reason)) } } }));
        }
    };
    let sides = match sides((a, &a_report.sides()), (b, &b_report.sides())) {
        Ok(sides) => sides,
        Err(reason) => return Ok(Err(html! { p { (code_spans(&reason)) } })),
    };
    let pairs: Vec<(&Side, &Side)> = sides.iter().map(|(a, b)| (a, b)).collect();
    // Use the same clusters in the comparison as in the reports.
    let [asked, other] = [a_report, b_report].map(|report| report.cluster_by());
    let cluster = if asked == other { asked } else { ClusterBy::Default };
    let request = Request { metrics: &[], cluster: &cluster, rules: Rules::default(), intersection };
    Ok(compare(&pairs, &request).map_err(|failure| {
        // Offer a link instead of the command line's flag, if it helps.
        let said = failure.text();
        let same_rules = pairs.iter().all(|(a, b)| a.profile_digest == b.profile_digest);
        html! {
            p { (code_spans(&said.replace(BY_FLAG, ""))) }
            @if same_rules && said.contains(BY_FLAG) {
                p { a href=(address(a, b, true)) { "Compare the cases with the same goldens" } }
            }
        }
    }))
}

/// The report of a finished run, or why there is none: missing trials would count as missed.
fn finished(store: &mut Store, run: &RunInfo) -> Result<Result<AnyReport, String>, Fault> {
    let done = trial_counts(store, &run.id)?.done;
    let report = stored_result(store, run)?.filter(|_| done >= run.planned);
    Ok(report.ok_or_else(|| {
        let word = store.state_word(run);
        let short = &run.short_id;
        if run.kind == SuiteKind::Assessment {
            return format!("The assessment {short} is {word} and has no report; run `karat assess` again.");
        }
        let todo = if word == "running" {
            "wait until it has finished".to_owned()
        } else {
            format!("resume it with `karat run --resume {short}`")
        };
        format!(
            "Run {short} is {word}: {done} of {} trials are done, and missing trials would count as missed; {todo}.",
            run.planned
        )
    }))
}

fn sides(a: (&RunInfo, &[Side]), b: (&RunInfo, &[Side])) -> Result<Vec<(Side, Side)>, String> {
    fn names(sides: &[Side]) -> Vec<&str> {
        sides.iter().map(|side| side.tool.as_str()).collect()
    }
    let side = |(run, sides): (&RunInfo, &[Side]), name: &str| {
        let found = sides.iter().find(|side| side.tool == name)?;
        Some(Side { label: format!("{name} ({})", display_name(run)), ..found.clone() })
    };
    let shared = pair_tools(&names(a.1), &names(b.1), &[]);
    let pairs: Vec<(Side, Side)> =
        shared.iter().filter_map(|(ours, theirs)| Some((side(a, ours)?, side(b, theirs)?))).collect();
    if pairs.is_empty() {
        return Err(format!(
            "The runs have no tool in common: the first has {}, the second {}. Compare tools of different names with `karat compare {} {} --tools x,y`.",
            names(a.1).join(", "),
            names(b.1).join(", "),
            a.0.short_id,
            b.0.short_id
        ));
    }
    Ok(pairs)
}

fn address(a: &RunInfo, b: &RunInfo, intersection: bool) -> String {
    format!("/compare?a={}&b={}{}", a.id, b.id, if intersection { "&intersection=1" } else { "" })
}

fn head([a, b]: &[RunInfo; 2], intersection: bool) -> Markup {
    let card = |run: &RunInfo, word: &str| {
        html! {
            div {
                span.dim { (word) }
                br;
                a href={ "/runs/" (run.id) } { strong { (display_name(run)) } }
                br;
                (run.suite)
                br;
                span.dim { (time(run.created_ms)) " UTC" }
            }
        }
    };
    html! {
        h1 { "Comparison" }
        div.sides {
            (card(a, "from"))
            a href=(address(b, a, intersection)) title="swap the runs" { "⇄ swap" }
            (card(b, "to"))
        }
    }
}

fn section(comparison: &ComparisonV1, pair: &PairV1, runs: &[RunInfo; 2]) -> Markup {
    let (same, differ): (Vec<&DifferenceV1>, Vec<&DifferenceV1>) =
        pair.metrics.iter().partition(|one| one.ci == Some([0.0, 0.0]));
    let few: Vec<&DifferenceV1> = differ.iter().copied().filter(|one| one.unreliable).collect();
    let titles = |all: &[&DifferenceV1]| all.iter().map(|one| title(&one.metric)).collect::<Vec<_>>().join(", ");
    html! {
        section {
            h2 { (pair.a.tool) @if pair.a.tool != pair.b.tool { " → " (pair.b.tool) } }
            p.dim {
                (count(pair.cases, "case")) " · profile " (comparison.profile) " · differences within ± "
                (comparison.margin) " are equivalent"
                @if comparison.comparisons.len() != 1 {
                    " · p adjusted for " (comparison.comparisons.len()) " comparisons (Holm)"
                }
            }
            @if !differ.is_empty() { (differences(comparison, pair, &differ)) }
            @if !same.is_empty() { p { "Identical in every case: " (titles(&same)) "." } }
            @if let Some(n) = few.iter().map(|one| one.n).min() {
                p.warn { "Too few cases for a reliable comparison (" (n) " of " (RELIABLE_N) "): " (titles(&few)) "." }
            }
            (goldens(pair, runs))
            @if let Some(first) = pair.moved.first() {
                h3 { "Largest changes by case, in " (title(&first.metric)) }
                ul {
                    @for one in &pair.moved {
                        li {
                            (one.case) " " (signed(Some(one.difference))) " (" (three(Some(one.a))) " → "
                            (three(Some(one.b))) ") · " (views(&one.case, pair, runs))
                        }
                    }
                }
            }
        }
    }
}

fn differences(comparison: &ComparisonV1, pair: &PairV1, differ: &[&DifferenceV1]) -> Markup {
    let ends = pair.metrics.iter().flat_map(|one| one.ci.into_iter().flatten().chain(one.difference)).map(f64::abs);
    let reach = ends.filter(|end| end.is_finite()).fold(NARROWEST, f64::max);
    // Round up to 0.05 for a readable scale.
    let reach = (reach / 0.05 - 1e-9).ceil() * 0.05;
    let level = 100.0 * comparison.level;
    html! {
        table.cards {
            thead {
                tr {
                    th scope="col" { "Metric" }
                    @for column in ["From", "To", "Change"] { th.n scope="col" { (column) } }
                    th scope="col" { (format!("{level:.0} % interval, − {reach:.2} to + {reach:.2}")) }
                    th.n scope="col" { "p" }
                    th.n scope="col" {
                        abbr title="Cohen's dz: the mean difference of cases in their standard deviations" { "Effect" }
                    }
                    th scope="col" { "Verdict" }
                }
            }
            tbody { @for one in differ { (row(one, reach, comparison.margin)) } }
        }
    }
}

fn goldens(pair: &PairV1, runs: &[RunInfo; 2]) -> Markup {
    let goldens = &pair.goldens;
    let both = count(goldens.both, "golden");
    if goldens.gained.is_empty() && goldens.lost.is_empty() {
        return html! { p { "Both find the same " (both) ", and neither finds " (goldens.neither) "." } };
    }
    html! {
        p {
            "Both find " (both) ", neither finds " (goldens.neither) "; "
            span.good { (goldens.gained.len()) " gained" } ", " span.bad { (goldens.lost.len()) " lost" }
            " (p " (p_value(Some(goldens.p))) "). "
            span.dim { "A golden is found if most trials report it." }
        }
        div.moves {
            @for (word, moved) in [("Gained", &goldens.gained), ("Lost", &goldens.lost)] {
                @if !moved.is_empty() { (moves(word, moved, pair, runs)) }
            }
        }
    }
}

fn row(one: &DifferenceV1, reach: f64, margin: f64) -> Markup {
    let word = one.verdict.as_str();
    let effect = match one.effect {
        None => "–".to_owned(),
        Some(effect) if effect.abs() < 0.005 => "0.00".to_owned(),
        Some(effect) => format!("{effect:+.2}").replacen('-', "−", 1),
    };
    html! {
        tr class=(word) {
            td.whole data-label="Metric" { strong { (title(&one.metric)) } }
            td.n data-label="From" { (three(one.a)) }
            td.n data-label="To" { (three(one.b)) }
            td.n data-label="Change" { (signed(one.difference)) }
            td data-label="Interval" { (bar(one, reach, margin)) }
            td.n data-label="p" { (p_value(one.p_holm.or(one.p))) }
            td.n data-label="Effect" { (effect) }
            td data-label="Verdict" {
                span { span.verdict { (word) } br; span.dim { (one.because) } }
            }
        }
    }
}

/// The difference and its interval around zero; the margin of equivalence is shaded.
fn bar(one: &DifferenceV1, reach: f64, margin: f64) -> Markup {
    let place = |value: f64| ((value / reach).clamp(-1.0, 1.0) + 1.0) * 50.0;
    let width = |from: f64, to: f64| (place(to) - place(from)).max(0.0);
    let number = |value: f64| format!("{value:.2}");
    let shown = match one.ci {
        Some([low, high]) => format!("{} to {}", signed(Some(low)), signed(Some(high))),
        None => "no interval".to_owned(),
    };
    html! {
        span {
            svg.diff viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=(shown) {
                title { (shown) }
                rect.same x=(number(place(-margin))) width=(number(width(-margin, margin))) height="12" {}
                line.zero x1="50" x2="50" y1="0" y2="12" {}
                @if let Some([low, high]) = one.ci {
                    rect.ci x=(number(place(low))) y="3" width=(number(width(low, high).max(0.5))) height="6" {}
                }
                @if let Some(value) = one.difference {
                    rect.at x=(number((place(value) - 0.6).clamp(0.0, 98.8))) y="1" width="1.2" height="10" {}
                }
            }
            " " span.dim.ends { (shown) }
        }
    }
}

fn moves(word: &str, goldens: &[GoldenMovedV1], pair: &PairV1, runs: &[RunInfo; 2]) -> Markup {
    let share = |[found, trials]: [usize; 2]| format!("{found}/{trials}");
    html! {
        div {
            h3 { (word) }
            ul {
                @for one in goldens.iter().take(MOST_MOVED) {
                    li {
                        (one.title) " "
                        span.dim { (one.case) " · found " (share(one.a)) " → " (share(one.b)) }
                        " · " (views(&one.case, pair, runs))
                    }
                }
            }
            @if goldens.len() > MOST_MOVED { p.dim { "and " (goldens.len() - MOST_MOVED) " more" } }
        }
    }
}

fn views(case: &str, pair: &PairV1, [a, b]: &[RunInfo; 2]) -> Markup {
    let view = |run: &RunInfo, tool: &str, word: &str| {
        let case = percent_encode(case);
        html! { a href={ "/runs/" (run.id) "#/case/" (case) "?tool=" (percent_encode(tool)) } { (word) } }
    };
    html! { (view(a, &pair.a.tool, "before")) " · " (view(b, &pair.b.tool, "after")) }
}
