//! `karat judge`.

mod show;

use crate::args::{AgreeArgs, EvalArgs, FitArgs, JudgeCommand, ProbeArgs, QuestionArgs};
use crate::commands::calibrate;
use crate::exit::{Exit, Result};
use crate::outputs::save;
use crate::progress::JudgeProgress;
use crate::terminal::{draw_table, look, merged, most_shown, note, notes, print_json, print_stderr, show};
use karat::judge::agree::{self, AgreeRequest, agree_files};
use karat::judge::probing::{ProbeRequest, ProbedJudge, probe_judge};
use karat::judge::question::{JudgeAnswer, QuestionRequest, ask_question};
use karat::judged_pairs::{
    AgreementFigure, AskedFigures, EvaluateJudgeRequest, FittedJudge, JudgeEvaluation, JudgedPairsRequest,
    PairAgreement, UnjudgedPair, evaluate_judge, fit_judge,
};
use karat_core::local_judge::evaluate::Figures;
use karat_core::probe::ProbeKind;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::gate::DemandOutcomeV1;
use karat_format::probe::{ProbeV1, RateV1};
use karat_llm::ledger::CacheMode;
use karat_report::grid::{Cell, fold, wrap};
use karat_report::judge_licence::{MAX_ERROR_RATE, licence};
use karat_report::number::decimals;
use serde_json::{Value, json};

pub(crate) fn run(command: JudgeCommand) -> Result<Exit> {
    match command {
        JudgeCommand::Agree(args) => agree(args),
        JudgeCommand::Ask(args) => ask(args),
        JudgeCommand::Show(args) => show::run(&args),
        JudgeCommand::Probe(args) => probe(args),
        JudgeCommand::Fit(args) => fit(args),
        JudgeCommand::Eval(args) => eval(args),
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

fn agree(args: AgreeArgs) -> Result<Exit> {
    let AgreeArgs { files, on, suite, submissions, disagreements: most_disagreements, seed, json } = args;
    let agreement = agree_files(&AgreeRequest { files, on, suite, submissions, most_disagreements, seed })?;
    show(json, &agreement, |look| agree::draw(&agreement, look))?;
    if !json {
        notes(&agreement.notes);
    }
    Ok(Exit::Ok)
}

fn fit(args: FitArgs) -> Result<Exit> {
    let FitArgs { suite, submissions, judgements, group_by, params, .. } = args;
    let pairs = JudgedPairsRequest { suite, submissions, judgements, group_by };
    let FittedJudge { params, text, provenance } = fit_judge(&pairs, params.as_deref(), &mut note)?;
    save(&args.output, text.as_bytes())?;
    let (file, threshold) = (args.output.display(), params.threshold);
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

fn ask(args: QuestionArgs) -> Result<Exit> {
    let (judge, store) = (args.who.request(), args.who.store.location()?);
    let QuestionArgs { texts, suite, case, golden, golden_at, finding_at, .. } = args;
    let request = QuestionRequest { texts, suite, case, golden, golden_at, finding_at, judge, store };
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

const MOST_UNJUDGED: usize = 5;

fn eval(args: EvalArgs) -> Result<Exit> {
    let (judge, store) = (args.who.request(), args.who.store.location()?);
    let EvalArgs { suite, submissions, judgements, group_by, params, .. } = args;
    let pairs = JudgedPairsRequest { suite, submissions, judgements, group_by };
    let request = EvaluateJudgeRequest { pairs, judge, params, store };
    let evaluation = evaluate_judge(&request, &mut JudgeProgress::new(args.json))?;
    evaluation.notes.iter().for_each(|text| note(text));
    show(args.json, &evaluation, |_| eval_table(&evaluation))?;
    if let Some(asked) = &evaluation.asked {
        note_unjudged(asked, evaluation.all.pairs.n);
    }
    Ok(Exit::Ok)
}

fn eval_table(evaluation: &JudgeEvaluation) -> String {
    let mut rows =
        vec![["", "kappa", "precision", "recall", "goldens", "AUC", "F1", "ECE", "pairs"].map(str::to_owned)];
    let mut add = |name: &str, figures: &Figures| {
        let (found, pairs) = (&figures.golden_found, &figures.pairs);
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| decimals(value, 3));
        rows.push([
            name.to_owned(),
            shown(found.kappa),
            shown(found.precision),
            shown(found.recall),
            found.n.to_string(),
            shown(pairs.auc),
            shown(pairs.f1),
            shown(pairs.ece),
            pairs.n.to_string(),
        ]);
    };
    for (name, group) in &evaluation.groups {
        add(name, &group.figures);
    }
    if let Some(mean) = &evaluation.mean {
        add("mean of groups", mean);
    }
    add("all", &evaluation.all);
    add("word overlap", &evaluation.overlap);
    let how = match evaluation.params.as_deref() {
        None => format!("the judge {}", evaluation.judge),
        Some("held-out") => "local judge, each group judged by parameters fitted on the others".to_owned(),
        Some("shipped") => "local judge, built-in parameters".to_owned(),
        Some(file) => format!("local judge, parameters of {file}"),
    };
    let title = harmless(&format!("{how}, against {}", evaluation.judges.join(", "))).into_owned();
    let agreement = evaluation.asked.as_ref().map(|asked| describe_agreement(&asked.agreement)).unwrap_or_default();
    format!("{title}\n\n{}{agreement}", calibrate::table(&rows, 100))
}

fn describe_agreement(agreement: &PairAgreement) -> String {
    let figure = |name: &str, figure: &AgreementFigure| {
        let ci = figure.ci.map(|[low, high]| format!(" [{}, {}]", decimals(low, 3), decimals(high, 3)));
        figure.value.map(|value| format!("{name} {}{}", decimals(value, 3), ci.unwrap_or_default()))
    };
    let PairAgreement { percent, kappa, ac1 } = agreement;
    let all = [figure("agree", percent), figure("κ", kappa), figure("AC1", ac1)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    format!("\nby pair: {}; 95 % intervals\n", all.join(" · "))
}

fn note_unjudged(asked: &AskedFigures, answered: usize) {
    let open = asked.unjudged;
    if open == 0 {
        return notes(&asked.notes);
    }
    let all = count(open + answered, "labelled pair");
    note(&format!("{open} of {all} have no answer and are excluded from the figures:"));
    let most = most_shown(MOST_UNJUDGED);
    for pair in asked.unjudged_pairs.iter().take(most) {
        let UnjudgedPair { case, golden, tool, trial, finding, why } = pair;
        note(&format!("{case}/{golden}/{tool}/{trial}/{finding}: {why}"));
    }
    if open > most {
        note(&format!("and {} more with -v", open - most));
    }
}

const MOST_WRONG: usize = 5;
const MOST_REASONS: usize = 3;

fn probe(args: ProbeArgs) -> Result<Exit> {
    let (judge, store) = (args.who.request(), args.who.store.location()?);
    let request = ProbeRequest { suite: args.suite, pairs: args.pairs as usize, judge, store };
    let probed = probe_judge(&request, &mut JudgeProgress::new(args.json))?;
    let flag = are_exchanges_stored(request.judge.cache).then(|| args.who.store.flag());
    show(args.json, &probe_json(&probed), |_| probe_summary(&probed, flag.as_deref()))?;
    if !args.json {
        print_usage(&probed);
    }
    for (why, times) in probed.failures.iter().take(most_shown(MOST_REASONS)) {
        note(&format!("{} without an answer: {why}", count(*times, "probe")));
    }
    if !probed.scorecard.kinds.contains_key(ProbeKind::KnownWrong.as_str()) {
        note("no known-wrong pair could be made: the suite has no two goldens that are clearly different");
    }
    Ok(Exit::Ok)
}

fn probe_json(probed: &ProbedJudge) -> Value {
    let ProbedJudge { judge, identity, scorecard, .. } = probed;
    let licence = licence(judge.as_str(), scorecard, MAX_ERROR_RATE);
    let rest = json!({
        "judge": judge, "identity": identity, "key": identity.key().as_str(), "licence": licence,
        "left_out": probed.left_out, "wrong": probed.wrong, "unjudged": probed.failures,
    });
    merged(json!(scorecard), &rest)
}

fn probe_summary(probed: &ProbedJudge, flag: Option<&str>) -> String {
    let ProbedJudge { judge, scorecard: card, .. } = probed;
    let (name, suite) = (harmless(judge.as_str()), harmless(&card.suite));
    let mut text = format!("{name} probed with {} made from {suite}\n\n", count(card.pairs, "pair"));
    text.push_str(&probe_table(card));
    for kind in &probed.left_out {
        text.push_str(&format!("  {} does not apply: this judge's input has no order\n", probe_name(*kind)));
    }
    text.push_str(&format!("\n{}", probe_verdict(judge.as_str(), card)));
    let worth = probed.wrong.iter().filter(|wrong| wrong.fooled || wrong.kind == ProbeKind::KnownWrong);
    for wrong in worth.take(most_shown(MOST_WRONG)) {
        let answer = if wrong.said { "yes" } else { "no" };
        let exchange = wrong.exchange.as_deref().zip(flag);
        let exchange = exchange.map(|(key, flag)| format!(": karat judge show {}{flag}", short_key(key)));
        let exchange = exchange.unwrap_or_default();
        let about = format!("{} {}", wrong.case, wrong.golden);
        text.push_str(&format!("  {}, {}, answered {answer}{exchange}\n", probe_name(wrong.kind), harmless(&about)));
    }
    text
}

fn probe_table(card: &ProbeV1) -> String {
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
        if let Some(rate) = card.kinds.get(kind.as_str()) {
            add(&probe_name(kind), rate);
        }
    }
    add("fooled, total", &card.fooled);
    draw_table(&rows)
}

fn probe_name(kind: ProbeKind) -> String {
    kind.as_str().replace('_', " ")
}

/// The result, and whether a gate would grant this judge a licence.
fn probe_verdict(judge: &str, card: &ProbeV1) -> String {
    let demands = licence(judge, card, MAX_ERROR_RATE);
    let outcome = demands.iter().map(|demand| demand.outcome).max().unwrap_or(DemandOutcomeV1::Inconclusive);
    let mut text: String = fold(&card.describe(), look().width).iter().map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("licence, every error rate ≤ {} %: {}\n", 100.0 * MAX_ERROR_RATE, outcome.word()));
    for demand in demands.iter().filter(|demand| demand.outcome == outcome && outcome != DemandOutcomeV1::Holds) {
        let what = demand.demand.split_once(": ").map_or(demand.demand.as_str(), |(_, what)| what);
        text.push_str(&format!("  {}\n", harmless(what)));
    }
    text
}

fn print_usage(ProbedJudge { asked, stored_in, .. }: &ProbedJudge) {
    for judge in &asked.judges {
        let mut text = count(judge.asked, "question");
        if let Some(spent) = asked.spent.get(&judge.judge) {
            let usd = spent.usd.map(|usd| format!(", ${usd:.4}")).unwrap_or_default();
            let tokens = spent.tokens_in.saturating_add(spent.tokens_out);
            text.push_str(&format!(", {} from the ledger, {tokens} tokens now{usd}", spent.from_ledger));
        }
        print_stderr(&format!("\n{text}; stored in {stored_in}; reports that use this judge show it"));
    }
}
