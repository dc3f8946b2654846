//! The page that compares two runs.

mod verdict;

use super::markup::{AGO, code_spans, note, percent_encode, time};
use super::reply::{Fault, Reply, as_sentence};
use super::run_lookup::{display_name, find_run, stored_result, trial_counts};
use super::state::{LIST_LIFETIME, State, current_period};
use axum::extract::{Query, State as Shared};
use axum::http::StatusCode;
use karat::compare::pair_tools;
use karat::comparison::{PairBy, Refusal, Request, Side, compare, refusals};
use karat::report_source::AnyReport;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::{count, plural};
use karat_format::comparison::{ComparisonV1, DifferenceV1, GoldenMovedV1, OtherJudgesV1, PairV1};
use karat_format::config::SuiteKind;
use karat_report::number::{p_value, signed, three, title, unseen};
use karat_store::{RunInfo, Store};
use maud::{Markup, html};
use verdict::{PairVerdict, overall, ranking_metric};

const MOST_MOVED: usize = 100;

/// Minimum range of the difference bar, so that tiny differences look tiny.
const NARROWEST: f64 = 0.1;

/// The runs of a request, and how to compare them.
struct Asked {
    runs: Vec<String>,
    how: How,
}

/// How to compare runs that are not alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct How {
    /// Whether to compare the cases with the same goldens if the suites differ.
    intersection: bool,
    /// Whether to give verdicts although other judges decided for one run than for the other.
    across_judges: bool,
}

impl Asked {
    /// Reads `a=RUN&b=RUN`, or `run=RUN` once for each run, in any order.
    fn new(query: Vec<(String, String)>) -> Self {
        let (mut from, mut to, mut ticked, mut how) = (None, None, Vec::new(), How::default());
        for (name, value) in query.into_iter().filter(|(_, value)| !value.is_empty()) {
            match name.as_str() {
                "a" => from = Some(value),
                "b" => to = Some(value),
                "run" => ticked.push(value),
                "intersection" => how.intersection = value != "0",
                "across-judges" => how.across_judges = value != "0",
                _ => {}
            }
        }
        let runs = if ticked.is_empty() { from.into_iter().chain(to).collect() } else { ticked };
        Self { runs, how }
    }
}

pub(super) async fn page(
    Shared(state): Shared<State>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Reply, Fault> {
    let is_ticked = query.iter().any(|(name, _)| name == "run");
    let Asked { runs, how } = Asked::new(query);
    let [a, b] = <[String; 2]>::try_from(runs).map_err(|runs| {
        let chosen = if is_ticked { format!(" {} chosen.", plural(runs.len(), "is", "are")) } else { String::new() };
        let message = format!("A comparison needs two runs, as in `/compare?a=RUN&b=RUN`.{chosen}");
        let more = html! { p { "Tick two runs in the list of " a href="/" { "all runs" } "." } };
        Fault { more, ..Fault::new(StatusCode::BAD_REQUEST, message) }
    })?;
    let (a, b) = state.read(move |store| Ok((find_run(store, &a)?.0, find_run(store, &b)?.0))).await?;
    if is_ticked {
        let (earlier, later) = if (a.created_ms, &a.id) <= (b.created_ms, &b.id) { (a, b) } else { (b, a) };
        return Ok(Reply::redirect(&address(&earlier, &later, how)));
    }
    let key = format!("compare {} {:?} {} {:?} {how:?}", a.id, a.ended_ms, b.id, b.ended_ms);
    // The error for an unfinished run changes with its progress.
    let key = if a.has_report && b.has_report { key } else { format!("{key} {}", current_period(LIST_LIFETIME)) };
    let runs = [a, b];
    state.render_cached(&state.reports, key, move |state, store| draw(state, store, &runs, how)).await
}

fn draw(state: &State, store: &mut Store, runs: &[RunInfo; 2], how: How) -> Result<Reply, Fault> {
    let compared = compare_runs(store, runs, how)?;
    let status = if compared.is_ok() { StatusCode::OK } else { StatusCode::CONFLICT };
    let body = match &compared {
        Ok(compared) => draw_comparison(compared, runs, how),
        Err(refusals) => html! {
            h1 { "These runs cannot be compared" }
            (cards(runs, how))
            ul.refusals { @for refusal in refusals { li { (refusal) } } }
        },
    };
    let [a, b] = runs;
    let suite = format!("/?suite={}", percent_encode(&b.suite));
    let names = format!("{} → {}", display_name(a), display_name(b));
    let frame = state.frame(vec![(b.suite.clone(), Some(suite)), (names, None)]);
    Ok(state.reloading_page(frame, "Karat: comparison", body, &[], &[AGO]).status(status))
}

/// The tools of two runs.
struct Compared {
    comparison: ComparisonV1,
    /// Tools that only the first run has, and those that only the second has.
    only: [Vec<String>; 2],
}

/// The comparison, or each reason why there is none with what to do about it.
fn compare_runs(store: &mut Store, [a, b]: &[RunInfo; 2], how: How) -> Result<Result<Compared, Vec<Markup>>, Fault> {
    let (a_report, b_report) = match (finished(store, a)?, finished(store, b)?) {
        (Ok(a_report), Ok(b_report)) => (a_report, b_report),
        (a_report, b_report) => return Ok(Err([a_report.err(), b_report.err()].into_iter().flatten().collect())),
    };
    let (a_sides, b_sides) = (a_report.sides(&a.short_id), b_report.sides(&b.short_id));
    let (pairs, only) = match pair_sides((a, &a_sides), (b, &b_sides)) {
        Ok(paired) => paired,
        Err(reason) => return Ok(Err(vec![code_spans(&reason)])),
    };
    let pairs: Vec<(&Side, &Side)> = pairs.iter().map(|(a, b)| (a, b)).collect();
    let mut refused: Vec<Refusal> = Vec::new();
    for refusal in pairs.iter().flat_map(|(a, b)| refusals(a, b, PairBy::intersection(how.intersection))) {
        if !refused.contains(&refusal) {
            refused.push(refusal);
        }
    }
    if !refused.is_empty() {
        let helps = refused.iter().all(|refusal| refusal.intersection);
        return Ok(Err(refused.iter().map(|refusal| bullet(refusal, [a, b], helps)).collect()));
    }
    let pair_by = PairBy::intersection(how.intersection);
    let request = Request { pair_by, across_judges: how.across_judges, ..Request::default() };
    let compared = compare(&pairs, &request).map(|comparison| Compared { comparison, only });
    Ok(compared.map_err(|failure| vec![code_spans(&as_sentence(&failure.text()))]))
}

/// A reason, with a link or the commands that help; `intersection` says whether comparing fewer cases does.
fn bullet(refusal: &Refusal, [a, b]: [&RunInfo; 2], intersection: bool) -> Markup {
    let Refusal { reason, details, advice, intersection: of_cases } = refusal;
    html! {
        strong { (as_sentence(reason)) }
        " " (code_spans(&as_sentence(advice)))
        @if *of_cases && intersection {
            " Or " a href=(address(a, b, How { intersection: true, ..How::default() })) { "compare the cases with the same goldens" } "."
        } @else if !of_cases {
            " For example:"
            pre {
                "karat score " (a.short_id) " --profile NAME -o a.json\n"
                "karat score " (b.short_id) " --profile NAME -o b.json\n"
                "karat compare a.json b.json"
            }
        }
        @if !details.is_empty() { details { summary { "What differs" } p { code { (details) } } } }
    }
}

/// The report of a finished run, or why there is none: missing trials would count as missed.
fn finished(store: &mut Store, run: &RunInfo) -> Result<Result<AnyReport, Markup>, Fault> {
    let done = trial_counts(store, &run.id)?.done;
    let report = stored_result(store, run)?.filter(|_| done >= run.planned);
    Ok(report.ok_or_else(|| {
        let word = store.state_word(run);
        let short = &run.short_id;
        if run.kind == SuiteKind::Assessment {
            return code_spans(&format!(
                "The assessment {short} is {word} and has no report; run `karat assess` again."
            ));
        }
        let planned = run.planned;
        html! {
            strong { "Run " (display_name(run)) " is " (word) ": " (done) " of " (planned) " trials are done." }
            " Missing trials would count as missed. "
            @if word == "running" {
                "Wait until it has finished; " a href={ "/runs/" (run.id) "/live" } { "watch it live" } "."
            } @else {
                "Resume it with " code { "karat run --resume " (short) } "."
            }
        }
    }))
}

type SidePairs = (Vec<(Side, Side)>, [Vec<String>; 2]);

/// The tools to compare with each other, and those that only one run has.
fn pair_sides(a: (&RunInfo, &[Side]), b: (&RunInfo, &[Side])) -> Result<SidePairs, String> {
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
    let alone = |sides: &[Side], paired: &dyn Fn(&str) -> bool| -> Vec<String> {
        names(sides).into_iter().filter(|name| !paired(name)).map(str::to_owned).collect()
    };
    let only = [
        alone(a.1, &|name| shared.iter().any(|(ours, _)| ours == name)),
        alone(b.1, &|name| shared.iter().any(|(_, theirs)| theirs == name)),
    ];
    Ok((pairs, only))
}

fn address(a: &RunInfo, b: &RunInfo, how: How) -> String {
    let flags = [(how.intersection, "&intersection=1"), (how.across_judges, "&across-judges=1")];
    let flags: String = flags.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag).collect();
    format!("/compare?a={}&b={}{flags}", a.id, b.id)
}

/// That other judges decided, before any figure, with a way to compare anyway.
fn other_judges(own: &OtherJudgesV1, [a, b]: &[RunInfo; 2], how: How) -> Markup {
    html! {
        p.warn {
            strong { (as_sentence(&own.sentence)) } " "
            @if own.compared {
                "Compared anyway; to " (code_spans(&own.advice)) "."
            } @else {
                "No verdict; " (code_spans(&own.advice)) ", or "
                a href=(address(a, b, How { across_judges: true, ..how })) { "compare anyway" } "."
            }
        }
    }
}

fn draw_comparison(compared: &Compared, runs: &[RunInfo; 2], how: How) -> Markup {
    let Compared { comparison, only } = compared;
    let (word, sentence) = overall(&comparison.comparisons);
    let figure = match comparison.comparisons.as_slice() {
        [pair] => ranking_metric(pair),
        _ => None,
    };
    html! {
        @for own in comparison.other_judges() { (other_judges(own, runs, how)) }
        h1 {
            span class={ "conclusion " (word) } { (word) }
            " " (sentence)
            @if let Some(one) = figure { ": " (title(&one.metric)) " " (three(one.a)) " → " (three(one.b)) }
        }
        (cards(runs, how))
        (by_tool(comparison, only, runs))
        @if !comparison.warnings.is_empty() {
            (note("Warnings", &html! { ul { @for warning in &comparison.warnings { li { (warning) } } } }))
        }
        @for (at, pair) in comparison.comparisons.iter().enumerate() { (section(comparison, pair, runs, at)) }
    }
}

fn cards([a, b]: &[RunInfo; 2], how: How) -> Markup {
    let card = |run: &RunInfo, word: &str| {
        html! {
            div {
                span.dim { (word) " " }
                a href={ "/runs/" (run.id) } { strong { (display_name(run)) } }
                " " span.dim { (run.suite) " · " (time(run.created_ms)) }
            }
        }
    };
    html! {
        div.sides {
            (card(a, "from"))
            a href=(address(b, a, how)) title="swap the runs" { "⇄ swap" }
            (card(b, "to"))
        }
    }
}

/// The range of the difference bars: that of all intervals, rounded up to 0.05 for a readable scale.
fn reach<'a>(metrics: impl Iterator<Item = &'a DifferenceV1>) -> f64 {
    let ends = metrics.flat_map(|one| one.ci.into_iter().flatten().chain(one.difference)).map(f64::abs);
    let reach = ends.filter(|end| end.is_finite()).fold(NARROWEST, f64::max);
    (reach / 0.05 - 1e-9).ceil() * 0.05
}

/// One row for each tool: what the ranking metric says about it.
fn by_tool(comparison: &ComparisonV1, only: &[Vec<String>; 2], runs: &[RunInfo; 2]) -> Markup {
    let reach = reach(comparison.comparisons.iter().filter_map(ranking_metric));
    let row = |(at, pair): (usize, &PairV1)| {
        let verdict = PairVerdict::of_pair(pair);
        let one = ranking_metric(pair);
        let (gained, lost) = (pair.goldens.gained.len(), pair.goldens.lost.len());
        html! {
            tr class=(verdict.word()) {
                td.whole data-label="Tool" {
                    a href={ "#tool-" (at + 1) } { strong { (tool_names(pair)) } }
                }
                td data-label="Verdict" { span { (verdict.badge()) } }
                td.n data-label="From" { (three(one.and_then(|one| one.a))) }
                td.n data-label="To" { (three(one.and_then(|one| one.b))) }
                td.n data-label="Change" { (signed(one.and_then(|one| one.difference))) }
                td data-label="Interval" { @if let Some(one) = one { (bar(one, reach, comparison.margin)) } @else { "–" } }
                td.n data-label="p" { (p_value(one.and_then(|one| one.p_holm.or(one.p)))) }
                td.n data-label="Goldens" {
                    @if gained + lost == 0 { "–" } @else {
                        span { span.good { "+" (gained) } " " span.bad { "−" (lost) } }
                    }
                }
            }
        }
    };
    let metric = comparison.comparisons.first().and_then(ranking_metric).map_or("", |one| title(&one.metric));
    html! {
        table.by-tool.cards {
            thead {
                tr {
                    th scope="col" { "Tool" }
                    th scope="col" { "Verdict" }
                    th.n scope="col" { (metric) ", from" }
                    th.n scope="col" { "to" }
                    th.n scope="col" { "Change" }
                    th scope="col" { (interval_title(comparison, reach)) }
                    th.n scope="col" { "p" }
                    th.n scope="col" { abbr title="Goldens gained and lost" { "Goldens" } }
                }
            }
            tbody {
                @for line in comparison.comparisons.iter().enumerate().map(row) { (line) }
                @for (tools, run) in only.iter().zip(runs) {
                    @for tool in tools {
                        tr.alone {
                            td.whole data-label="Tool" { strong { (tool) } }
                            td data-label="Verdict" colspan="7" { span.dim { "only in " (display_name(run)) } }
                        }
                    }
                }
            }
        }
    }
}

fn interval_title(comparison: &ComparisonV1, reach: f64) -> String {
    format!("{:.0} % interval, ± {reach:.2}", 100.0 * comparison.level)
}

fn tool_names(pair: &PairV1) -> String {
    if pair.a.tool == pair.b.tool { pair.a.tool.clone() } else { format!("{} → {}", pair.a.tool, pair.b.tool) }
}

fn section(comparison: &ComparisonV1, pair: &PairV1, runs: &[RunInfo; 2], at: usize) -> Markup {
    let few: Vec<&DifferenceV1> = pair.metrics.iter().filter(|one| one.unreliable && one.unseen.is_none()).collect();
    let titles = few.iter().map(|one| title(&one.metric)).collect::<Vec<_>>().join(", ");
    html! {
        section id={ "tool-" (at + 1) } {
            h2 { (tool_names(pair)) }
            p.dim {
                (count(pair.cases, "case")) " · profile " (comparison.profile) " · differences within ± "
                (comparison.margin) " count as tied"
                @if comparison.comparisons.len() != 1 {
                    " · p adjusted for " (comparison.comparisons.len()) " comparisons (Holm)"
                }
            }
            (differences(comparison, pair))
            @if let Some(n) = few.iter().map(|one| one.n).min() {
                p.warn { "Too few cases for a reliable comparison (" (n) " of " (RELIABLE_N) "): " (titles) "." }
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

fn differences(comparison: &ComparisonV1, pair: &PairV1) -> Markup {
    let reach = reach(pair.metrics.iter());
    let unit = if comparison.cluster.is_some() { "cluster" } else { "case" };
    let stated = pair.metrics.iter().filter(|one| one.a.is_some() || one.b.is_some());
    html! {
        table.cards {
            thead {
                tr {
                    th scope="col" { "Metric" }
                    @for column in ["From", "To", "Change"] { th.n scope="col" { (column) } }
                    th scope="col" { (interval_title(comparison, reach)) }
                    th.n scope="col" { "p" }
                    th.n scope="col" {
                        abbr title="Cohen's dz: the mean difference of cases in their standard deviations" { "Effect" }
                    }
                    th scope="col" { "Verdict" }
                }
            }
            tbody { @for one in stated { (row(one, reach, comparison.margin, unit)) } }
        }
    }
}

fn goldens(pair: &PairV1, runs: &[RunInfo; 2]) -> Markup {
    let goldens = &pair.goldens;
    let both = count(goldens.both, "golden");
    if goldens.both + goldens.neither + goldens.gained.len() + goldens.lost.len() == 0 {
        return Markup::default();
    }
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

fn row(one: &DifferenceV1, reach: f64, margin: f64, unit: &str) -> Markup {
    let verdict = PairVerdict::of_metric(one);
    let unseen = unseen(one, unit).map(|text| format!("; {text}"));
    let effect = match one.effect {
        None => "–".to_owned(),
        Some(effect) if effect.abs() < 0.005 => "0.00".to_owned(),
        Some(effect) => format!("{effect:+.2}").replacen('-', "−", 1),
    };
    html! {
        tr class=(verdict.word()) {
            td.whole data-label="Metric" { strong { (title(&one.metric)) } }
            td.n data-label="From" { (three(one.a)) }
            td.n data-label="To" { (three(one.b)) }
            td.n data-label="Change" { (signed(one.difference)) }
            td data-label="Interval" { (bar(one, reach, margin)) }
            td.n data-label="p" { (p_value(one.p_holm.or(one.p))) }
            td.n data-label="Effect" { (effect) }
            td data-label="Verdict" {
                span { (verdict.badge()) " " span.dim { (one.because) @if let Some(text) = unseen { (text) } } }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_from_both_forms_of_the_address() {
        let asked = |query: &[(&str, &str)]| {
            let Asked { runs, how } =
                Asked::new(query.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect());
            format!("{} {} {}", runs.join(" "), how.intersection, how.across_judges)
        };
        assert_eq!(asked(&[("b", "2"), ("a", "1"), ("intersection", "1")]), "1 2 true false");
        assert_eq!(
            asked(&[("run", "2"), ("run", "1"), ("intersection", "0"), ("across-judges", "1")]),
            "2 1 false true"
        );
        assert_eq!(asked(&[("a", "1"), ("b", "")]), "1 false false");
    }
}
