//! `karat judge`.

mod eval;
mod probe;
mod show;

use crate::args::{AgreeArgs, FitArgs, JudgeCommand, QuestionArgs};
use crate::exit::{Exit, Result};
use crate::outputs::save;
use crate::progress::JudgeProgress;
use crate::terminal::{look, note, notes, print_json, print_stderr, show};
use karat::judge::agree::{self, AgreeRequest, agree_files};
use karat::judge::question::{JudgeAnswer, QuestionRequest, ask_question};
use karat::judged_pairs::fit_judge;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_llm::ledger::CacheMode;
use karat_report::grid::wrap;
use karat_report::number::decimals;
use serde_json::json;

pub(crate) fn run(command: &JudgeCommand) -> Result<Exit> {
    match command {
        JudgeCommand::Agree(args) => agree(args),
        JudgeCommand::Ask(args) => ask(args),
        JudgeCommand::Show(args) => show::run(args),
        JudgeCommand::Probe(args) => probe::run(args),
        JudgeCommand::Fit(args) => fit(args),
        JudgeCommand::Eval(args) => eval::run(args),
    }
}

/// The start of an exchange's key; enough to find it.
fn short_key(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}

/// Whether exchanges are stored, so that `karat judge show` finds them.
fn are_exchanges_stored(cache: CacheMode) -> bool {
    matches!(cache, CacheMode::ReadWrite | CacheMode::Only)
}

fn agree(args: &AgreeArgs) -> Result<Exit> {
    let agreement = agree_files(&AgreeRequest {
        files: args.files.clone(),
        on: args.on.map(Into::into),
        suite: args.suite.clone(),
        submissions: args.submissions.clone(),
        most_disagreements: args.disagreements,
        seed: args.seed,
    })?;
    show(args.json, &agreement, |look| agree::draw(&agreement, look))?;
    if !args.json {
        notes(&agreement.notes);
    }
    Ok(Exit::Ok)
}

fn fit(args: &FitArgs) -> Result<Exit> {
    let (params, text) = fit_judge(&(&args.pairs).into(), &mut note)?;
    save(&args.output, text.as_bytes())?;
    let (file, threshold, provenance) = (args.output.display(), params.threshold, &params.provenance);
    if args.json {
        return print_json(&json!({
            "output": file.to_string(), "features": params.features, "threshold": threshold, "provenance": provenance,
        }));
    }
    let (pairs, matches) = (count(provenance.pairs, "pair"), provenance.matches);
    print_stderr(&format!("wrote {file} ({pairs}, {matches} of them matches; threshold {threshold:.2})"));
    if let Some(held_out) = &provenance.held_out {
        let (groups, kappa) = (count(provenance.held_out_kappa.len(), "group"), decimals(held_out.kappa, 3));
        print_stderr(&format!("{groups} held out in turn: kappa {kappa}, ECE {:.3} on average", held_out.ece));
    }
    Ok(Exit::Ok)
}

fn ask(args: &QuestionArgs) -> Result<Exit> {
    let request = QuestionRequest {
        texts: args.texts.clone(),
        suite: args.suite.clone(),
        case: args.case.clone(),
        golden: args.golden.clone(),
        golden_at: args.golden_at.clone(),
        finding_at: args.finding_at.clone(),
        judge: args.who.request(),
        store_folder: args.who.store.path(),
    };
    let answer = ask_question(&request, &mut JudgeProgress::new(true))?;
    let flag = are_exchanges_stored(request.judge.cache).then(|| args.who.store.flag());
    show(args.json, &answer, |_| describe(&answer, flag.as_deref()))?;
    Ok(if answer.r#match.is_some() { Exit::Ok } else { Exit::Failed })
}

/// An answer; with the flag that selects the store, also the commands that show its exchanges.
fn describe(answer: &JudgeAnswer, flag: Option<&str>) -> String {
    let partial = if answer.partial == Some(true) { ", in part" } else { "" };
    let sure = answer.confidence.map(|sure| format!(", confidence {sure:.2}")).unwrap_or_default();
    let word = match answer.r#match {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unjudged",
    };
    let mut text = format!("{word}{partial}{sure}  ({})\n", harmless(&answer.judge));
    for words in answer.explanation.iter().chain(&answer.unjudged) {
        let lines = wrap(&harmless(words), look().width.saturating_sub(2));
        text.extend(lines.iter().map(|line| format!("  {line}\n")));
    }
    for key in answer.exchange.iter().chain(answer.voices.iter().filter_map(|voice| voice.exchange.as_ref())) {
        let key = short_key(key);
        let hint = flag.map(|flag| format!(": karat judge show {key}{flag}")).unwrap_or_default();
        text.push_str(&format!("  exchange {key}{hint}\n"));
    }
    text
}
