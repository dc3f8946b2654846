//! `karat judge probe`.

use super::{are_exchanges_stored, short_key};
use crate::args::ProbeArgs;
use crate::exit::{Exit, Result};
use crate::progress::JudgeProgress;
use crate::terminal::{draw_table, look, note, print_stderr, show};
use karat::judge::probing::{ProbeRequest, ProbedJudge, probe_judge};
use karat_core::probe::ProbeKind;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::gate::DemandOutcomeV1;
use karat_format::probe::{ProbeV1, RateV1};
use karat_report::grid::{self, Cell};
use karat_report::judge_licence::{MAX_ERROR_RATE, licence};
use serde_json::{Value, json};

const MOST_WRONG: usize = 5;
const MOST_REASONS: usize = 3;

pub(crate) fn run(args: &ProbeArgs) -> Result<Exit> {
    let request = ProbeRequest {
        suite: args.suite.clone(),
        pairs: args.pairs as usize,
        judge: args.who.request(),
        store_folder: args.who.store.path(),
    };
    let probed = probe_judge(&request, &mut JudgeProgress::new(args.json))?;
    let flag = are_exchanges_stored(request.judge.cache).then(|| args.who.store.flag());
    show(args.json, &as_json(&probed), |_| summary(&probed, flag.as_deref()))?;
    if !args.json {
        what_it_took(&probed);
    }
    let probing = &probed.probing;
    for (why, times) in probing.failures.iter().take(MOST_REASONS) {
        note(&format!("{} without an answer: {why}", count(*times, "probe")));
    }
    if !probing.scorecard.kinds.contains_key(ProbeKind::KnownWrong.name()) {
        note("no known-wrong pair could be made: the suite has no two goldens that are clearly different");
    }
    Ok(Exit::Ok)
}

fn as_json(ProbedJudge { judge, identity, probing, .. }: &ProbedJudge) -> Value {
    let mut value = json!(probing.scorecard);
    value["judge"] = json!(judge);
    value["identity"] = json!(identity);
    value["key"] = json!(identity.key().as_str());
    value["licence"] = json!(licence(judge.as_str(), &probing.scorecard, MAX_ERROR_RATE));
    value["left_out"] = json!(probing.left_out);
    value["wrong"] = json!(probing.wrong);
    value["unjudged"] = json!(probing.failures);
    value
}

fn summary(ProbedJudge { judge, probing, .. }: &ProbedJudge, flag: Option<&str>) -> String {
    let card = &probing.scorecard;
    let (name, suite) = (harmless(judge.as_str()), harmless(&card.suite));
    let mut text = format!("{name} probed with {} made from {suite}\n\n", count(card.pairs, "pair"));
    text.push_str(&table(card));
    for kind in &probing.left_out {
        text.push_str(&format!("  {} does not apply: this judge's input has no order\n", words(*kind)));
    }
    text.push_str(&format!("\n{}", verdict(judge.as_str(), card)));
    let worth = probing.wrong.iter().filter(|wrong| wrong.fooled || wrong.kind == ProbeKind::KnownWrong);
    for wrong in worth.take(MOST_WRONG) {
        let said = if wrong.said { "yes" } else { "no" };
        let exchange = wrong.exchange.as_deref().zip(flag);
        let exchange = exchange.map(|(key, flag)| format!(": karat judge show {}{flag}", short_key(key)));
        let exchange = exchange.unwrap_or_default();
        let about = format!("{} {}", wrong.case, wrong.golden);
        text.push_str(&format!("  {}, {}, answered {said}{exchange}\n", words(wrong.kind), harmless(&about)));
    }
    text
}

fn table(card: &ProbeV1) -> String {
    let titles = ["n", "wrong", "rate", "95 % interval", "unjudged"].map(Cell::right);
    let mut rows = vec![std::iter::once(Cell::left("probe")).chain(titles).collect::<Vec<_>>()];
    let mut add = |name: &str, rate: &RateV1| {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let dash = || "–".to_owned();
        rows.push(vec![
            Cell::left(name),
            Cell::right(rate.n.to_string()),
            Cell::right(rate.wrong.to_string()),
            Cell::right(rate.rate.map_or_else(dash, percent)),
            Cell::right(rate.ci.map_or_else(dash, |[low, high]| format!("{} – {}", percent(low), percent(high)))),
            Cell::right(rate.unjudged.to_string()),
        ]);
    };
    for kind in ProbeKind::ALL {
        if let Some(rate) = card.kinds.get(kind.name()) {
            add(&words(kind), rate);
        }
    }
    add("fooled, total", &card.fooled);
    draw_table(&rows)
}

fn words(kind: ProbeKind) -> String {
    kind.name().replace('_', " ")
}

/// The result, and whether a gate would grant this judge a licence.
fn verdict(judge: &str, card: &ProbeV1) -> String {
    let demands = licence(judge, card, MAX_ERROR_RATE);
    let outcome = demands.iter().map(|demand| demand.outcome).max().unwrap_or(DemandOutcomeV1::Inconclusive);
    let mut text: String = grid::fold(&card.describe(), look().width).iter().map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("licence, every error rate ≤ {} %: {}\n", 100.0 * MAX_ERROR_RATE, outcome.word()));
    for demand in demands.iter().filter(|demand| demand.outcome == outcome && outcome != DemandOutcomeV1::Holds) {
        let what = demand.demand.split_once(": ").map_or(demand.demand.as_str(), |(_, what)| what);
        text.push_str(&format!("  {}\n", harmless(what)));
    }
    text
}

fn what_it_took(ProbedJudge { probing, stored_in, .. }: &ProbedJudge) {
    for judge in &probing.asked.judges {
        let mut told = count(judge.asked, "question");
        if let Some(spent) = probing.asked.spent.get(&judge.judge) {
            let usd = spent.usd.map(|usd| format!(", ${usd:.4}")).unwrap_or_default();
            let tokens = spent.tokens_in.saturating_add(spent.tokens_out);
            told.push_str(&format!(", {} from the ledger, {tokens} tokens now{usd}", spent.from_ledger));
        }
        print_stderr(&format!("\n{told}; stored in {}; reports that use this judge show it", stored_in.display()));
    }
}
