//! `karat judge show`: exchanges with models.

use super::short_key;
use crate::args::ExchangeArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{draw_table, merged, print, print_json, print_stderr, show};
use karat::judge::template::TEMPLATES;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_llm::ledger::{Answer, Exchange};
use karat_llm::provider::{Reply, StopReason};
use karat_report::grid::{Cell, fit};
use karat_store::Store;
use karat_store::timestamp::format_utc;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NEWEST: u32 = 20;
const MOST_NAMED: u32 = 5;

pub(crate) fn run(args: &ExchangeArgs) -> Result<Exit> {
    let mut store = args.store.open()?;
    match &args.key {
        Some(key) => one(&mut store, key, args.json),
        None => list(&mut store, args.json),
    }
}

#[derive(Default, Serialize)]
struct Total {
    exchanges: usize,
    unjudged: usize,
    tokens_in: u64,
    tokens_out: u64,
    /// Null if no price is known.
    usd: Option<f64>,
    unpriced: usize,
}

fn list(store: &mut Store, json: bool) -> Result<Exit> {
    let newest = store.ledger_newest(NEWEST)?;
    let mut models: BTreeMap<(String, String), Total> = BTreeMap::new();
    store.ledger_each(&mut |exchange| {
        let total = models.entry((exchange.provider.provider.clone(), exchange.provider.model.clone())).or_default();
        total.exchanges += 1;
        total.unjudged += usize::from(exchange.answer.value().is_none());
        total.tokens_in = total.tokens_in.saturating_add(exchange.tokens_in);
        total.tokens_out = total.tokens_out.saturating_add(exchange.tokens_out);
        match exchange.usd {
            Some(usd) => *total.usd.get_or_insert(0.0) += usd,
            None => total.unpriced += 1,
        }
    })?;
    if json {
        let brief = |(made, exchange): &(i64, Exchange)| {
            json!({
                "key": exchange.key, "made": format_utc(*made), "provider": exchange.provider.provider,
                "model": exchange.provider.model, "template": exchange.template, "outcome": outcome(exchange),
                "tokens_in": exchange.tokens_in, "tokens_out": exchange.tokens_out, "usd": exchange.usd,
            })
        };
        let total = |((provider, model), total): (&(String, String), &Total)| {
            merged(json!(total), &json!({ "provider": provider, "model": model }))
        };
        let newest: Vec<Value> = newest.iter().map(brief).collect();
        return print_json(&json!({ "newest": newest, "models": models.iter().map(total).collect::<Vec<_>>() }));
    }
    if newest.is_empty() {
        print_stderr("the ledger is empty: no model was called yet");
        return Ok(Exit::Ok);
    }
    print(&format!("{}\n{}", newest_table(&newest), model_table(&models)))?;
    let all: usize = models.values().map(|total| total.exchanges).sum();
    if let Some((_, first)) = newest.first() {
        print_stderr(&format!("\n{} in the ledger. Show one in full:", count(all, "exchange")));
        print_stderr(&format!("  karat judge show {}", short(first)));
    }
    Ok(Exit::Ok)
}

fn newest_table(newest: &[(i64, Exchange)]) -> String {
    let titles = ["model", "key", "template", "outcome"].map(Cell::left).into_iter();
    let mut rows = vec![titles.chain(["tokens", "USD"].map(Cell::right)).collect::<Vec<_>>()];
    for (_, exchange) in newest {
        rows.push(vec![
            Cell::left(model(&exchange.provider.provider, &exchange.provider.model)),
            Cell::left(short(exchange)),
            Cell::left(fit(&exchange.template, 20)),
            Cell::left(outcome(exchange)),
            Cell::right(exchange.tokens_in.saturating_add(exchange.tokens_out).to_string()),
            Cell::right(price(exchange.usd)),
        ]);
    }
    draw_table(&rows)
}

fn model_table(models: &BTreeMap<(String, String), Total>) -> String {
    let titles = ["exchanges", "unjudged", "tokens in", "tokens out", "USD"].map(Cell::right);
    let mut rows = vec![std::iter::once(Cell::left("model")).chain(titles).collect::<Vec<_>>()];
    for ((provider, name), total) in models {
        rows.push(vec![
            Cell::left(model(provider, name)),
            Cell::right(total.exchanges.to_string()),
            Cell::right(total.unjudged.to_string()),
            Cell::right(total.tokens_in.to_string()),
            Cell::right(total.tokens_out.to_string()),
            Cell::right(match total.usd {
                Some(_) if total.unpriced > 0 => format!("≥ {}", price(total.usd)),
                usd => price(usd),
            }),
        ]);
    }
    draw_table(&rows)
}

fn one(store: &mut Store, text: &str, json: bool) -> Result<Exit> {
    let key = text.trim().to_lowercase();
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_hexdigit()) {
        let message = format!("invalid exchange key `{text}`: expected hexadecimal digits");
        return Err(Failure::usage(format!("{message}, as `karat judge show` lists them")));
    }
    let mut found = store.ledger_with_prefix(&key, MOST_NAMED + 1)?;
    if found.len() > 1 {
        let named: Vec<&str> = found.iter().take(MOST_NAMED as usize).map(|(_, exchange)| short(exchange)).collect();
        let more = if found.len() > named.len() { " or others" } else { "" };
        return Err(Failure::usage(format!(
            "ambiguous key `{key}`: matches {}{more}; use a longer prefix",
            named.join(", ")
        )));
    }
    let Some((made, exchange)) = found.pop() else {
        return Err(Failure::usage(format!("the ledger has no exchange `{key}`; `karat judge show` lists the newest")));
    };
    let mut value = json!(exchange);
    (value["made"], value["template_hash"]) = (json!(format_utc(made)), json!(template_hash(&exchange)));
    show(json, &value, |_| page(made, &exchange))
}

fn page(made: i64, exchange: &Exchange) -> String {
    let hash = template_hash(exchange).unwrap_or("not of this version");
    let thinking: u64 = exchange.replies.iter().map(|reply| reply.tokens_thinking).sum();
    let thought = if thinking > 0 { format!(", {thinking} of them to think") } else { String::new() };
    let sent = exchange.replies.last().and_then(|reply| reply.sent.as_ref());
    let facts = [
        ("exchange", exchange.key.to_string()),
        ("made", format!("{} UTC", format_utc(made))),
        ("model", model(&exchange.provider.provider, &exchange.provider.model)),
        ("parameters", exchange.provider.parameters.to_string()),
        ("sent", sent.map(ToString::to_string).unwrap_or_default()),
        ("template", format!("{} ({hash})", exchange.template)),
        ("requests", exchange.attempts.to_string()),
        ("tokens", format!("{} in, {} out{thought}", exchange.tokens_in, exchange.tokens_out)),
        ("USD", price(exchange.usd)),
        ("outcome", outcome(exchange).to_owned()),
    ];
    let stated = facts.iter().filter(|(_, value)| !value.is_empty());
    let mut text: String = stated.map(|(name, value)| format!("{name:<11} {}\n", harmless(value))).collect();
    section(&mut text, "system", &exchange.system);
    section(&mut text, "user", &exchange.user);
    for (number, reply) in (1..).zip(&exchange.replies) {
        section(&mut text, &format!("reply {number}{}", ending(reply)), &words(reply));
    }
    let came = match &exchange.answer {
        Answer::Given(answer) => pretty(answer),
        Answer::Missing { why, .. } | Answer::Refused { why } => why.clone(),
    };
    section(&mut text, &format!("outcome: {}", outcome(exchange)), &came);
    text
}

fn section(text: &mut String, title: &str, body: &str) {
    text.push_str(&format!("\n── {title} ──\n"));
    for line in body.lines() {
        text.push_str(&format!("{}\n", harmless(line)));
    }
}

/// A model's reply: its text and its structured value.
fn words(reply: &Reply) -> String {
    let value = reply.structured.as_ref().map(pretty).unwrap_or_default();
    [reply.text.as_str(), &value].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn ending(reply: &Reply) -> String {
    match &reply.stop {
        StopReason::Done => String::new(),
        StopReason::Length => ", cut off".to_owned(),
        StopReason::Refused(why) => format!(", refused: {}", harmless(why)),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn outcome(exchange: &Exchange) -> &'static str {
    match &exchange.answer {
        Answer::Given(answer) => match answer["match"].as_bool() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "decided",
        },
        Answer::Missing { .. } => "unjudged",
        Answer::Refused { .. } => "refused",
    }
}

fn template_hash(exchange: &Exchange) -> Option<&'static str> {
    TEMPLATES.iter().find(|template| template.name == exchange.template).map(|template| template.hash())
}

fn model(provider: &str, model: &str) -> String {
    if model.is_empty() { provider.to_owned() } else { format!("{provider}/{model}") }
}

fn short(exchange: &Exchange) -> &str {
    short_key(exchange.key.as_str())
}

fn price(usd: Option<f64>) -> String {
    usd.map_or_else(|| "–".to_owned(), |usd| format!("{usd:.4}"))
}
