//! `karat judge probe`.

use super::SHORT_KEY;
use crate::args::ProbeArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::progress::JudgeProgress;
use crate::terminal::{look, note, tell};
use karat::judge::probing::{Probing, Wrong, probe};
use karat::judge::registry::Judge;
use karat::judge::run::{JudgeEnv, open_judge};
use karat::submissions::load_suite;
use karat_core::probe::ProbeKind;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::gate::DemandOutcomeV1;
use karat_format::probe::{ProbeV1, RateV1};
use karat_llm::judge_id::JudgeId;
use karat_llm::ledger::CacheMode;
use karat_report::grid::{self, Cell, draw};
use karat_report::judge_licence::{MAX_ERROR_RATE, licence};
use karat_store::Store;
use serde_json::{Value, json};

/// Maximum number of wrong answers shown; `--json` lists all.
const MOST_WRONG: usize = 5;
/// Maximum number of reasons for missing answers shown.
const MOST_REASONS: usize = 3;

pub(crate) fn run(args: &ProbeArgs) -> Result<Exit, Failure> {
    let loaded = load_suite(&args.suite)?;
    let ask = args.who.request();
    let judge = open_judge(&loaded, &ask)?;
    let identity = judge.identity().ok_or_else(|| refusal(&judge, args))?;
    // Open the store before asking, so that paid answers cannot be lost.
    let folder = args.who.store.path();
    let mut store = Store::create(&folder)?;
    let mut progress = JudgeProgress::new(args.json);
    let env = JudgeEnv { request: &ask, store_folder: &folder, store: Some(&mut store), observer: &mut progress };
    let probed = env.with(&judge, &loaded, &[], |context| probe(&judge, args.pairs as usize, context))?;
    let Some(probed) = probed else {
        let message = "has no golden with a title or a description, from which probes are made";
        return Err(Failure::bad_input(format!("the suite {} {message}", loaded.suite.name)));
    };
    store.add_probe(&identity, &probed.scorecard)?;
    let flag = args.who.store.flag();
    let kept = matches!(ask.cache, CacheMode::ReadWrite | CacheMode::Only);
    show(args.json, &value(&judge, &identity, &probed), |_| summary(&judge, &probed, kept.then_some(flag.as_str())))?;
    if !args.json {
        what_it_took(&probed, &store);
    }
    for (why, times) in probed.failures.iter().take(MOST_REASONS) {
        note(&format!("{} without an answer: {why}", count(*times, "probe")));
    }
    if !probed.scorecard.kinds.contains_key(ProbeKind::KnownWrong.name()) {
        note("no known-wrong pair could be made: the suite has no two goldens that are clearly different");
    }
    Ok(Exit::Ok)
}

/// The error for a judge that cannot be probed.
fn refusal(judge: &Judge, args: &ProbeArgs) -> Failure {
    let known = judge.members().iter().filter(|member| member.identity().is_some());
    let known: Vec<&str> = known.map(|member| member.name.as_str()).collect();
    match known.as_slice() {
        [first, ..] => Failure::usage(format!(
            "{} is a panel, and panels cannot be probed: probe its members {}, as in \
             `karat judge probe {} --judge {first}`",
            judge.name,
            known.join(" and "),
            args.suite
        )),
        _ => Failure::usage(format!(
            "{} decides by human labels, and probes have none; use the local judge or a model",
            judge.name
        )),
    }
}

fn value(judge: &Judge, identity: &JudgeId, probed: &Probing) -> Value {
    let wrong = |wrong: &Wrong| {
        json!({ "kind": wrong.kind, "case": wrong.case, "golden": wrong.golden, "said": wrong.said,
                "fooled": wrong.fooled, "exchange": wrong.exchange })
    };
    let mut value = json!(probed.scorecard);
    value["judge"] = json!(judge.name);
    value["identity"] = json!(identity);
    value["key"] = json!(identity.key().as_str());
    value["licence"] = json!(licence(judge.name.as_str(), &probed.scorecard, MAX_ERROR_RATE));
    value["left_out"] = json!(probed.left_out);
    value["wrong"] = probed.wrong.iter().map(wrong).collect();
    value["unjudged"] = json!(probed.failures);
    value
}

/// The scorecard and a few wrong answers, with the command that shows their stored exchanges.
fn summary(judge: &Judge, probed: &Probing, flag: Option<&str>) -> String {
    let card = &probed.scorecard;
    let (name, suite) = (harmless(judge.name.as_str()), harmless(&card.suite));
    let mut text = format!("{name} probed with {} made from {suite}\n\n", count(card.pairs, "pair"));
    text.push_str(&table(card));
    for kind in &probed.left_out {
        text.push_str(&format!("  {} does not apply: this judge's input has no order\n", words(*kind)));
    }
    text.push_str(&format!("\n{}", verdict(judge.name.as_str(), card)));
    let worth = probed.wrong.iter().filter(|wrong| wrong.fooled || wrong.kind == ProbeKind::KnownWrong);
    for wrong in worth.take(MOST_WRONG) {
        let said = if wrong.said { "yes" } else { "no" };
        let exchange = wrong.exchange.as_deref().map(|key| key.chars().take(SHORT_KEY).collect::<String>());
        let exchange = exchange.zip(flag).map(|(key, flag)| format!(": karat judge show {key}{flag}"));
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
    draw(&rows, look().width, look().colour)
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

fn what_it_took(probed: &Probing, store: &Store) {
    for judge in &probed.asked.judges {
        let mut told = count(judge.asked, "question");
        if let Some(spent) = probed.asked.spent.get(&judge.judge) {
            let usd = spent.usd.map(|usd| format!(", ${usd:.4}")).unwrap_or_default();
            let tokens = spent.tokens_in.saturating_add(spent.tokens_out);
            told.push_str(&format!(", {} from the ledger, {tokens} tokens now{usd}", spent.from_ledger));
        }
        tell(&format!("\n{told}; stored in {}; reports that use this judge show it", store.folder().display()));
    }
}
