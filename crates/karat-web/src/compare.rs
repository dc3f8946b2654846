//! The page that compares two runs.

use super::fault::Fault;
use super::markup::{code_spans, percent_encode, time};
use super::reply::Reply;
use super::run_lookup::{display_name, find_run, stored_report};
use super::state::State;
use super::summary::{state_word, trial_counts};
use axum::Router;
use axum::extract::{Query, State as Shared};
use axum::http::StatusCode;
use axum::routing::get;
use karat::comparison::{Request, Side, compare};
use karat_core::clusters::ClusterBy;
use karat_core::comparison::Rules;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::count;
use karat_format::comparison::{ComparisonV1, DifferenceV1, GoldenMovedV1, PairV1};
use karat_format::report::ReportV1;
use karat_report::number::{p_value, signed, three, title};
use karat_report::page::{Page, THEME, text};
use karat_store::{RunInfo, Store};
use serde::Deserialize;

pub(super) fn routes() -> Router<State> {
    Router::new().route("/compare", get(page))
}

/// Maximum number of gained or lost goldens listed.
const MOST_MOVED: usize = 100;

/// The end of a refusal on the command line, replaced by a link here.
const BY_FLAG: &str = ", or give --intersection to compare the cases whose goldens are the same";

/// Minimum range of the difference bar, so that tiny differences look tiny.
const NARROWEST: f64 = 0.1;

#[derive(Clone, Debug, Deserialize)]
struct PageQuery {
    a: Option<String>,
    b: Option<String>,
    /// If the suites differ, compare the cases with the same goldens.
    #[serde(default)]
    intersection: u8,
}

async fn page(Shared(state): Shared<State>, Query(asked): Query<PageQuery>) -> Result<Reply, Fault> {
    let (Some(a), Some(b)) = (asked.a.filter(|a| !a.is_empty()), asked.b.filter(|b| !b.is_empty())) else {
        let said = "A comparison needs two runs, as in `/compare?a=RUN&b=RUN`.";
        let more = "<p>Choose them from <a href=\"/\">all runs</a>.</p>\n".to_owned();
        return Err(Fault::new(StatusCode::BAD_REQUEST, said).with(more));
    };
    let intersection = asked.intersection > 0;
    let (a, b) = state.read(move |store| Ok((find_run(store, &a)?.0, find_run(store, &b)?.0))).await?;
    let key = format!("compare {} {:?} {} {:?} {intersection}", a.id, a.ended_ms, b.id, b.ended_ms);
    // The error for an unfinished run changes with its progress.
    let key = if a.has_report && b.has_report { key } else { format!("{key} {}", state.moment()) };
    let own = state.clone();
    let made = async move {
        let drawer = own.clone();
        own.render(move |store| draw(&drawer, store, &[a.clone(), b.clone()], intersection)).await
    };
    state.reports().get(key, made).await
}

fn draw(state: &State, store: &mut Store, runs: &[RunInfo; 2], intersection: bool) -> Result<Reply, Fault> {
    let body = head(runs, intersection);
    let [a, b] = runs;
    let reports = (finished(store, a)?, finished(store, b)?);
    let (Ok(a_report), Ok(b_report)) = &reports else {
        let reasons = [reports.0.err(), reports.1.err()];
        return Ok(refused(state, body, &reasons.into_iter().flatten().collect::<Vec<_>>(), None));
    };
    let sides = match sides((a, a_report), (b, b_report)) {
        Ok(sides) => sides,
        Err(reason) => return Ok(refused(state, body, &[reason], None)),
    };
    let pairs: Vec<(&Side, &Side)> = sides.iter().map(|(a, b)| (a, b)).collect();
    // Use the same clusters in the comparison as in the reports.
    let [asked, other] = [a_report, b_report].map(|report| report.intervals.cluster_by());
    let cluster = if asked == other { asked } else { ClusterBy::Default };
    let request = Request { metrics: &[], cluster: &cluster, rules: Rules::default(), intersection };
    match compare(&pairs, &request) {
        Ok(comparison) => Ok(reply(state, &(body + &compared(&comparison, runs)), StatusCode::OK)),
        Err(refusal) => {
            // Offer a link instead of the command line's flag, if it helps.
            let said = refusal.to_string();
            let same_rules = pairs.iter().all(|(a, b)| a.profile_digest == b.profile_digest);
            let again = (same_rules && said.contains(BY_FLAG)).then(|| address(a, b, true));
            let said = said.replace(BY_FLAG, "");
            Ok(refused(state, body, &[said], again))
        }
    }
}

fn reply(state: &State, body: &str, status: StatusCode) -> Reply {
    let nav = state.nav("");
    let page = Page {
        title: "Karat: comparison",
        nav: &nav,
        body,
        styles: &[super::STYLE],
        scripts: &[THEME],
        connects: true,
        ..Page::default()
    };
    Reply::page(&page).status(status)
}

/// Why the runs cannot be compared, and an alternative.
fn refused(state: &State, body: String, reasons: &[String], again: Option<String>) -> Reply {
    let reasons: String = reasons.iter().map(|reason| format!("<p>{}</p>\n", code_spans(reason))).collect();
    let again =
        again.map(|link| format!("<p><a href=\"{}\">Compare the cases with the same goldens</a></p>\n", text(&link)));
    let body = format!(
        "{body}<div class=\"careful\" role=\"note\"><h2>These runs cannot be compared</h2>\n{reasons}{}</div>\n",
        again.unwrap_or_default()
    );
    reply(state, &body, StatusCode::CONFLICT)
}

/// The report of a finished run, or why there is none: missing trials would count as missed.
fn finished(store: &mut Store, run: &RunInfo) -> Result<Result<ReportV1, String>, Fault> {
    let done = trial_counts(store, &run.id)?.done;
    let report = stored_report(store, run)?.filter(|_| done >= run.planned);
    Ok(report.ok_or_else(|| {
        let word = state_word(store, run);
        let short = &run.short_id;
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

/// Pairs each tool with its namesake, or the only tools of both runs.
fn sides(a: (&RunInfo, &ReportV1), b: (&RunInfo, &ReportV1)) -> Result<Vec<(Side, Side)>, String> {
    let label = |tool: &str, run: &RunInfo| format!("{tool} ({})", display_name(run));
    let side = |(run, report): (&RunInfo, &ReportV1), tool| Side::of_report(report, tool, label(&tool.tool, run));
    let shared =
        a.1.tools.iter().filter_map(|tool| Some((tool, b.1.tools.iter().find(|other| other.tool == tool.tool)?)));
    let mut pairs: Vec<(Side, Side)> = shared.map(|(ours, theirs)| (side(a, ours), side(b, theirs))).collect();
    if let ([ours], [theirs], true) = (a.1.tools.as_slice(), b.1.tools.as_slice(), pairs.is_empty()) {
        pairs.push((side(a, ours), side(b, theirs)));
    }
    if pairs.is_empty() {
        let names =
            |report: &ReportV1| report.tools.iter().map(|tool| tool.tool.as_str()).collect::<Vec<_>>().join(", ");
        return Err(format!(
            "The runs have no tool in common: the first has {}, the second {}. Compare tools of different names with `karat compare {} {} --tools x,y`.",
            names(a.1),
            names(b.1),
            a.0.short_id,
            b.0.short_id
        ));
    }
    Ok(pairs)
}

fn address(a: &RunInfo, b: &RunInfo, intersection: bool) -> String {
    format!("/compare?a={}&b={}{}", a.id, b.id, if intersection { "&intersection=1" } else { "" })
}

fn head([a, b]: &[RunInfo; 2], intersection: bool) -> String {
    let card = |run: &RunInfo, word: &str| {
        format!(
            "<div><span class=\"dim\">{word}</span><br><a href=\"/runs/{}\"><strong>{}</strong></a><br>{}<br><span class=\"dim\">{} UTC</span></div>",
            run.id,
            text(display_name(run)),
            text(&run.suite),
            time(run.created_ms)
        )
    };
    format!(
        "<h1>Comparison</h1>\n<div class=\"sides\">{}<a href=\"{}\" title=\"swap the runs\">⇄ swap</a>{}</div>\n",
        card(a, "from"),
        text(&address(b, a, intersection)),
        card(b, "to")
    )
}

fn compared(comparison: &ComparisonV1, runs: &[RunInfo; 2]) -> String {
    let mut out = String::new();
    if !comparison.warnings.is_empty() {
        let items: String = comparison.warnings.iter().map(|warning| format!("<li>{}</li>\n", text(warning))).collect();
        out.push_str(&format!("<div class=\"careful\" role=\"note\"><h2>Warnings</h2>\n<ul>{items}</ul></div>\n"));
    }
    for pair in &comparison.comparisons {
        out.push_str(&drawn(comparison, pair, runs));
    }
    out
}

fn drawn(comparison: &ComparisonV1, pair: &PairV1, runs: &[RunInfo; 2]) -> String {
    let name =
        if pair.a.tool == pair.b.tool { pair.a.tool.clone() } else { format!("{} → {}", pair.a.tool, pair.b.tool) };
    let ends = pair.metrics.iter().flat_map(|one| one.ci.into_iter().flatten().chain(one.difference)).map(f64::abs);
    let reach = ends.filter(|end| end.is_finite()).fold(NARROWEST, f64::max);
    // Round up to 0.05 for a readable scale.
    let reach = (reach / 0.05 - 1e-9).ceil() * 0.05;
    let (same, differ): (Vec<&DifferenceV1>, Vec<&DifferenceV1>) =
        pair.metrics.iter().partition(|one| one.ci == Some([0.0, 0.0]));
    let rows: String = differ.iter().map(|one| row(one, reach, comparison.margin)).collect();
    let level = 100.0 * comparison.level;
    let adjusted = match comparison.comparisons.len() {
        1 => String::new(),
        n => format!(" · p adjusted for {n} comparisons (Holm)"),
    };
    let mut out = format!(
        "<section><h2>{}</h2>\n<p class=\"dim\">{} · profile {} · differences within ± {} are equivalent{adjusted}</p>\n",
        text(&name),
        count(pair.cases, "case"),
        text(&comparison.profile),
        comparison.margin,
    );
    if !differ.is_empty() {
        out.push_str(&format!(
        "<table class=\"cards\">\n<thead><tr><th scope=\"col\">Metric</th><th scope=\"col\" class=\"n\">From</th>\
         <th scope=\"col\" class=\"n\">To</th><th scope=\"col\" class=\"n\">Change</th><th scope=\"col\">{level:.0} % interval, − {reach:.2} to + {reach:.2}</th>\
         <th scope=\"col\" class=\"n\">p</th><th scope=\"col\" class=\"n\"><abbr title=\"Cohen's dz: the mean difference of cases in their standard deviations\">Effect</abbr></th><th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n",
        ));
    }
    let named = |all: &[&DifferenceV1]| all.iter().map(|one| text(title(&one.metric))).collect::<Vec<_>>().join(", ");
    if !same.is_empty() {
        out.push_str(&format!("<p>Identical in every case: {}.</p>\n", named(&same)));
    }
    let few: Vec<&DifferenceV1> = differ.into_iter().filter(|one| one.unreliable).collect();
    if let Some(n) = few.iter().map(|one| one.n).min() {
        out.push_str(&format!(
            "<p class=\"warn\">Too few cases for a reliable comparison ({n} of {RELIABLE_N}): {}.</p>\n",
            named(&few)
        ));
    }
    out.push_str(&goldens(pair, runs));
    if !pair.moved.is_empty() {
        let item = |one: &karat_format::comparison::CaseMovedV1| {
            format!(
                "<li>{} {} ({} → {}) · {}</li>\n",
                text(&one.case),
                signed(Some(one.difference)),
                three(Some(one.a)),
                three(Some(one.b)),
                views(&one.case, pair, runs)
            )
        };
        let metric = pair.moved.first().map_or("", |one| title(&one.metric));
        let items: String = pair.moved.iter().map(item).collect();
        out.push_str(&format!("<h3>Largest changes by case, in {}</h3>\n<ul>{items}</ul>\n", text(metric)));
    }
    out.push_str("</section>\n");
    out
}

/// Gained and lost goldens: a golden is found if most trials report it.
fn goldens(pair: &PairV1, runs: &[RunInfo; 2]) -> String {
    let goldens = &pair.goldens;
    let (both, neither) = (count(goldens.both, "golden"), goldens.neither);
    if goldens.gained.is_empty() && goldens.lost.is_empty() {
        return format!("<p>Both find the same {both}, and neither finds {neither}.</p>\n");
    }
    format!(
        "<p>Both find {both}, neither finds {neither}; <span class=\"good\">{} gained</span>, <span class=\"bad\">{} lost</span> (p {}). \
         <span class=\"dim\">A golden is found if most trials report it.</span></p>\n<div class=\"moves\">{}{}</div>\n",
        goldens.gained.len(),
        goldens.lost.len(),
        p_value(Some(goldens.p)),
        moved("Gained", &goldens.gained, pair, runs),
        moved("Lost", &goldens.lost, pair, runs)
    )
}

fn row(one: &DifferenceV1, reach: f64, margin: f64) -> String {
    let word = one.verdict.word();
    let effect = one.effect.map_or_else(
        || "–".to_owned(),
        |effect| if effect.abs() < 0.005 { "0.00".to_owned() } else { format!("{effect:+.2}").replacen('-', "−", 1) },
    );
    let p = if one.p_holm.is_some() { one.p_holm } else { one.p };
    format!(
        "<tr class=\"{word}\"><td data-label=\"Metric\" class=\"whole\"><strong>{}</strong></td><td data-label=\"From\" class=\"n\">{}</td>\
         <td data-label=\"To\" class=\"n\">{}</td><td data-label=\"Change\" class=\"n\">{}</td><td data-label=\"Interval\">{}</td>\
         <td data-label=\"p\" class=\"n\">{}</td><td data-label=\"Effect\" class=\"n\">{effect}</td>\
         <td data-label=\"Verdict\"><span><span class=\"verdict\">{word}</span><br><span class=\"dim\">{}</span></span></td></tr>\n",
        text(title(&one.metric)),
        three(one.a),
        three(one.b),
        signed(one.difference),
        bar(one, reach, margin),
        p_value(p),
        text(&one.because)
    )
}

/// The difference and its interval around zero; the margin of equivalence is shaded.
fn bar(one: &DifferenceV1, reach: f64, margin: f64) -> String {
    let place = |value: f64| ((value / reach).clamp(-1.0, 1.0) + 1.0) * 50.0;
    let width = |from: f64, to: f64| (place(to) - place(from)).max(0.0);
    let shown = one.ci.map_or_else(
        || "no interval".to_owned(),
        |[low, high]| format!("{} to {}", signed(Some(low)), signed(Some(high))),
    );
    let interval = one.ci.map_or_else(String::new, |[low, high]| {
        format!(
            "<rect class=\"ci\" x=\"{:.2}\" y=\"3\" width=\"{:.2}\" height=\"6\"/>",
            place(low),
            width(low, high).max(0.5)
        )
    });
    let at = one.difference.map_or_else(String::new, |value| {
        format!(
            "<rect class=\"at\" x=\"{:.2}\" y=\"1\" width=\"1.2\" height=\"10\"/>",
            (place(value) - 0.6).clamp(0.0, 98.8)
        )
    });
    format!(
        "<span><svg class=\"diff\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{shown}\"><title>{shown}</title>\
         <rect class=\"same\" x=\"{:.2}\" width=\"{:.2}\" height=\"12\"/><line class=\"zero\" x1=\"50\" x2=\"50\" y1=\"0\" y2=\"12\"/>{interval}{at}</svg> <span class=\"dim ends\">{shown}</span></span>",
        place(-margin),
        width(-margin, margin)
    )
}

fn moved(word: &str, goldens: &[GoldenMovedV1], pair: &PairV1, runs: &[RunInfo; 2]) -> String {
    if goldens.is_empty() {
        return String::new();
    }
    let item = |one: &GoldenMovedV1| {
        let share = |[found, trials]: [usize; 2]| format!("{found}/{trials}");
        format!(
            "<li>{} <span class=\"dim\">{} · found {} → {}</span> · {}</li>\n",
            text(&one.title),
            text(&one.case),
            share(one.a),
            share(one.b),
            views(&one.case, pair, runs)
        )
    };
    let items: String = goldens.iter().take(MOST_MOVED).map(item).collect();
    let more = goldens.len().saturating_sub(MOST_MOVED);
    let more = if more > 0 { format!("<p class=\"dim\">and {more} more</p>") } else { String::new() };
    format!("<div><h3>{word}</h3>\n<ul>{items}</ul>{more}</div>\n")
}

/// Links to the case in both runs' reports.
fn views(case: &str, pair: &PairV1, [a, b]: &[RunInfo; 2]) -> String {
    let view = |run: &RunInfo, tool: &str, word: &str| {
        format!("<a href=\"/runs/{}#/case/{}?tool={}\">{word}</a>", run.id, percent_encode(case), percent_encode(tool))
    };
    format!("{} · {}", view(a, &pair.a.tool, "before"), view(b, &pair.b.tool, "after"))
}
