//! `karat calibrate`: fits the weights of `sui` to experts' rankings of tools, and the weights and the threshold of matching
//! to labelled pairs.

use crate::args::{CalibrateCommand, FittedArgs, MatchArgs, SuiArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::progress::JudgeProgress;
use crate::terminal::{merged, note, note_problem, notes, print_stderr, show, word};
use karat::calibrate::{MatchCalibration, SuiCalibration, SuiCalibrationRequest, calibrate_matching, calibrate_sui};
use karat::judged_pairs::JudgedPairsRequest;
use karat::profile::to_difference;
use karat::ranking::Ranked;
use karat::score::ScoreSource;
use karat_core::calibrate::gain::{Gain, NotRecommended};
use karat_core::calibrate::matching::{Advice, CurvePoint, Figures, HeldOut, MatchFit};
use karat_core::calibrate::sui::{Agreement, SuiFit};
use karat_core::metric::composite::SuiParts;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::{CompositeMean, Profile, Weights};
use karat_core::stats::interval::NoInterval;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::grid::{Cell, draw, wrap};
use karat_report::number::{p_value, signed, three};
use serde_json::{Value, json};
use std::path::PathBuf;

const PARTS: [&str; 4] = ["weights.file", "weights.line", "weights.keyword", "weights.text"];

pub(crate) fn run(command: &CalibrateCommand) -> Result<Exit> {
    match command {
        CalibrateCommand::Sui(args) => run_sui(args),
        CalibrateCommand::Match(args) => run_match(args),
    }
}

/// Refuses an output file that is not `.toml` before any work is done.
fn check_output(args: &FittedArgs) -> Result<()> {
    let is_other = |path: &&PathBuf| path.extension().is_none_or(|extension| extension != "toml");
    let Some(path) = args.file.as_ref().filter(is_other) else { return Ok(()) };
    let advice = "a profile is a .toml file; print the figures as JSON with --json";
    Err(Failure::usage(format!("{}: {advice}", path.display())))
}

/// Writes the profile with the fitted values to the output file, if any, with a comment on their origin. Values that are not
/// recommended are only written with --force.
fn write_profile(args: &FittedArgs, profile: &Profile, is_recommended: bool, from: &str) -> Result<Exit> {
    let Some(path) = &args.file else { return Ok(Exit::Ok) };
    if !is_recommended && !args.force {
        let why = "the fitted values are not recommended, so the current ones should be kept";
        note_problem(&format!("{} is not written: {why}; --force writes it anyway", path.display()));
        return Ok(Exit::NotMet);
    }
    let from: String = from.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    save(path, format!("# {from}\n{}", to_difference(profile)).as_bytes())?;
    let shown = path.display().to_string();
    print_stderr(&format!("wrote {shown}; use it with --profile {}", word(&shown)));
    Ok(Exit::Ok)
}

/// Draws a table with words in the first column and numbers in the others.
pub(super) fn table(rows: &[impl AsRef<[String]>], width: usize) -> String {
    let cell = |(column, text): (usize, &String)| if column == 0 { Cell::left(text) } else { Cell::right(text) };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.as_ref().iter().enumerate().map(cell).collect()).collect();
    draw(&cells, width, false)
}

fn row(name: &str, numbers: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(numbers).collect()
}

/// The sentences below the tables, each from a new line.
fn sentences(all: &[String], width: usize) -> String {
    all.iter().map(|sentence| wrap(sentence, width.min(100)).join("\n") + "\n").collect()
}

/// A gain with its interval and p value, as far as there are any.
fn gain_text(gain: &Gain) -> String {
    let interval = match &gain.estimate.interval {
        Ok(own) => format!(" ({} to {})", signed(Some(own.low)), signed(Some(own.high))),
        Err(_) => String::new(),
    };
    let p = gain.p.map(|p| format!(", p = {}", p_value(Some(p)))).unwrap_or_default();
    format!("{}{interval}{p}", signed(gain.estimate.value))
}

/// The same with the reason why it is not enough, if it is not.
fn gain_with_reason(gain: &Gain) -> String {
    let reason = gain.verdict().err().map(|why| format!(": {}", why.reason())).unwrap_or_default();
    gain_text(gain) + &reason
}

fn gain_json(gain: &Gain) -> Value {
    let verdict = gain.verdict();
    json!({
        "gain": gain.estimate.value,
        "ci": gain.estimate.interval.ok().map(|own| [own.low, own.high]),
        "no_ci": gain.estimate.interval.err().map(NoInterval::reason),
        "p": gain.p,
        "recommended": verdict.is_ok(),
        "because": verdict.err().map(NotRecommended::reason),
    })
}

fn run_match(args: &MatchArgs) -> Result<Exit> {
    check_output(&args.output)?;
    let pairs = |suite: &String| JudgedPairsRequest {
        suite: suite.clone(),
        submissions: args.submissions.clone(),
        judgements: args.labels.clone(),
        group_by: Some(args.group_by.clone()),
    };
    let pairs: Vec<_> = args.suites.iter().map(pairs).collect();
    let calibration = calibrate_matching(&pairs, &(&args.rules).into(), &mut notes)?;
    show(args.output.json, &match_json(&args.group_by, &calibration), |look| {
        draw_match(&args.group_by, &calibration, look.width)
    })?;
    let suites = &calibration.suites;
    let from = format!(
        "Rules of matching, fitted by `karat calibrate match` to {} of the {} {}.",
        count(calibration.fit.present.n, "labelled pair"),
        if suites.len() == 1 { "suite" } else { "suites" },
        suites.join(", ")
    );
    let is_recommended = calibration.fit.advice() != Advice::Keep;
    let exit = write_profile(&args.output, &calibration.fitted, is_recommended, &from)?;
    calibration.overrides.iter().for_each(|text| note(text));
    Ok(exit)
}

fn match_json(group_by: &str, MatchCalibration { fit, present, judges, .. }: &MatchCalibration) -> Value {
    let [file, line, keyword, text] = fit.pairs_with_part;
    let rules = |threshold: f64, weights: &Weights, figures: &Figures| {
        merged(json!({ "threshold": threshold, "weights": weights }), figures)
    };
    let held_out = fit.held_out.as_ref().ok().map(|held_out| merged(json!({ "group_by": group_by }), held_out));
    let alone = &fit.threshold_alone;
    let mut value = json!({
        "profile": present.name,
        "pairs": fit.present.n,
        "matches": fit.matches,
        "forbidden": fit.forbidden,
        "judges": judges,
        "present": rules(present.threshold, &present.weights, &fit.present),
        "fitted": rules(fit.threshold, &fit.weights, &fit.in_sample),
        "threshold_alone": rules(alone.threshold, &present.weights, &alone.in_sample),
        "seen": { "file": file, "line": line, "keyword": keyword, "text": text },
        "held_out": held_out,
    });
    if let Err(why) = &fit.held_out {
        value["not_held_out"] = json!(why.to_string());
    }
    if let Ok(held_out) = &fit.held_out {
        let gains = &held_out.gains;
        value["gains"] = json!({
            "threshold": gain_json(&gains.threshold),
            "all": gain_json(&gains.all),
            "weights": gain_json(&gains.weights),
        });
    }
    value["better"] = json!(fit.advice() != Advice::Keep);
    value["advice"] = json!(fit.advice());
    value
}

fn draw_match(group_by: &str, calibration: &MatchCalibration, width: usize) -> String {
    let MatchCalibration { fit, present: profile, judges, .. } = calibration;
    let title = format!(
        "rules of matching from {} by {}, {} of them matches · profile {}",
        count(fit.present.n, "labelled pair"),
        judges.join(", "),
        fit.matches,
        profile.name
    );
    let mut text = format!("{}\n\n", wrap(&harmless(&title), width).join("\n"));

    let mut rows = vec![row("", ["current", "threshold only", "fitted", "pairs with part"].map(str::to_owned))];
    let thresholds = [profile.threshold, fit.threshold_alone.threshold, fit.threshold];
    rows.push(row("threshold", thresholds.map(|value| three(Some(value))).into_iter().chain([String::new()])));
    let weights = |own: &Weights| [own.file, own.line, own.keyword, own.text].map(|weight| three(Some(weight)));
    let parts =
        PARTS.into_iter().zip(weights(&fit.present_weights)).zip(weights(&fit.weights)).zip(fit.pairs_with_part);
    for (((name, present), fitted), pairs) in parts {
        rows.push(row(name, [present.clone(), present, fitted, pairs.to_string()]));
    }
    text.push_str(&table(&rows, width));

    let mut rows = vec![row("", ["precision", "recall", "F1", "kappa", "AUC", "pairs"].map(str::to_owned))];
    let mut add = |name: &str, own: &Figures| {
        let shares = [own.precision, own.recall, own.f1, own.kappa, own.auc].map(three);
        rows.push(row(name, shares.into_iter().chain([own.n.to_string()])));
    };
    add("current rules", &fit.present);
    if let Ok(held_out) = &fit.held_out {
        add(&format!("threshold only, each {group_by} held out"), &held_out.threshold_alone);
        add(&format!("fitted, each {group_by} held out"), &held_out.figures);
    }
    add("threshold only, nothing held out", &fit.threshold_alone.in_sample);
    add("fitted, nothing held out", &fit.in_sample);
    text.push_str(&format!("\n{}\n", table(&rows, width)));
    if let Ok(held_out) = &fit.held_out {
        let with_present = fit.advice() != Advice::All;
        let points = if with_present { &held_out.present_curve } else { &held_out.curve };
        text.push_str(&curve(points, if with_present { "current" } else { "fitted" }, width));
    }
    text + &sentences(&match_verdict(fit, profile), width)
}

/// Results of other thresholds on held-out pairs, from the first that refuses any.
fn curve(points: &[CurvePoint], weights: &str, width: usize) -> String {
    let mut rows = vec![row("threshold", ["precision", "recall", "F1", "kappa"].map(str::to_owned))];
    let refuses =
        |point: &&CurvePoint| points.first().is_some_and(|all| point.recall < all.recall || point.f1 != all.f1);
    for point in points.iter().filter(refuses).filter(|point| point.recall > Some(0.0)) {
        let figures = [point.precision, point.recall, point.f1, point.kappa].map(three);
        rows.push(row(&format!("{:.2}", point.threshold), figures));
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("On held-out pairs, with the {weights} weights:\n\n{}\n", table(&rows, width))
}

fn match_verdict(fit: &MatchFit, profile: &Profile) -> Vec<String> {
    let mut sentences = Vec::new();
    match (&fit.held_out, fit.advice()) {
        (Err(why), _) => sentences.push(format!(
            "Keep the current rules for now: nothing could be held out: {why}; choose other groups with --group-by FIELD."
        )),
        (Ok(HeldOut { gains, .. }), Advice::All) => sentences.push(format!(
            "Use the fitted rules: their held-out gain in kappa is {} over the current rules, and {} over a fitted threshold alone.",
            gain_text(&gains.all),
            gain_text(&gains.weights)
        )),
        (Ok(HeldOut { gains, .. }), advice) => {
            let threshold = gain_with_reason(&gains.threshold);
            sentences.push(match advice {
                Advice::Threshold => format!("Use the fitted threshold: its held-out gain in kappa is {threshold}."),
                _ => format!(
                    "Keep the current rules. A fitted threshold is not recommended: held-out gain in kappa {threshold}."
                ),
            });
            let (over, weights) = match advice {
                Advice::Keep if !gains.all.is_recommended() => ("the current rules", &gains.all),
                _ => ("a fitted threshold alone", &gains.weights),
            };
            if fit.weighs {
                let gain = gain_with_reason(weights);
                sentences.push(format!("Fitted weights are not recommended: held-out gain over {over} {gain}."));
            }
        }
    }
    if !fit.weighs {
        sentences.push("No two parts vary independently in these pairs, so only the threshold was fitted.".to_owned());
    }
    let kept: Vec<&str> = PARTS.into_iter().zip(fit.kept).filter(|(_, kept)| *kept).map(|(name, _)| name).collect();
    if fit.weighs && !kept.is_empty() {
        sentences.push(format!(
            "Kept: {}; the part is nearly constant in these pairs, so its weight cannot be estimated.",
            kept.join(", ")
        ));
    }
    if profile.uses_judge() {
        let judge = &profile.judge;
        sentences.push(format!(
            "The profile uses the judge {judge}, so the threshold applies only with --judge none; the weights select which \
             pairs are judged."
        ));
    }
    sentences
}

fn run_sui(args: &SuiArgs) -> Result<Exit> {
    check_output(&args.output)?;
    let suite = ScoreSource::Suite(args.of.first().cloned().unwrap_or_default());
    let score = args.trials.request(suite, &args.ask, &args.rules, args.store.location()?);
    let request = SuiCalibrationRequest { of: args.of.clone(), ranking: args.ranking.clone(), score };
    let mut progress = JudgeProgress::new(args.output.json);
    let SuiCalibration { fit, ranked, fitted } = calibrate_sui(&request, &mut progress, &mut notes)?;
    show(args.output.json, &sui_json(&fit, &ranked, &fitted), |look| draw_sui(&fit, &ranked, &fitted, look.width))?;
    let (tools, experts) = (count(ranked.tools.len(), "tool"), count(ranked.experts.len(), "expert"));
    let from = format!("Weights of sui, fitted by `karat calibrate sui` to rankings of {tools} by {experts}.");
    write_profile(&args.output, &fitted, fit.gain.is_recommended(), &from)
}

fn sui_json(fit: &SuiFit, ranked: &Ranked, profile: &Profile) -> Value {
    let standings = ranked.tools.iter().zip(&fit.standings);
    json!({
        "tools": standings.map(|((tool, _), standing)| merged(json!({ "tool": tool }), standing)).collect::<Vec<_>>(),
        "experts": ranked.experts.iter().map(|expert| expert.name.as_str()).collect::<Vec<_>>(),
        "preferences": fit.preferences,
        "parts": SuiParts::ids(profile),
        "mean": profile.composites.mean,
        "weights": { "present": fit.present, "fitted": fit.fitted },
        "agreement": {
            "present": fit.with_present,
            "fitted": fit.in_sample,
            "tools_held_out": fit.tools_held_out,
            "experts_held_out": fit.experts_held_out,
        },
        "unreliable": fit.standings.len() < RELIABLE_N,
        "better": fit.gain.is_recommended(),
        "gain": gain_json(&fit.gain),
        "left_out": ranked.left_out,
    })
}

fn draw_sui(fit: &SuiFit, ranked: &Ranked, profile: &Profile, width: usize) -> String {
    let (tools, experts) = (count(ranked.tools.len(), "tool"), count(ranked.experts.len(), "expert"));
    let mut text = format!("weights of sui from rankings of {tools} by {experts}\n\n");
    // The last part is 1 less its metric, and is called by the name of its weight.
    let [verdict_f2, detection, precision, reasoning, _] = SuiParts::ids(profile);
    let names = [verdict_f2, detection, precision, reasoning, "calibration"];
    let mut rows = vec![row("weight", ["current", "fitted"].map(str::to_owned))];
    for (name, (present, fitted)) in names.iter().zip(fit.present.list().into_iter().zip(fit.fitted.list())) {
        rows.push(row(name, [three(Some(present)), three(Some(fitted))]));
    }
    text.push_str(&table(&rows, width));
    if profile.composites.mean == CompositeMean::Geometric {
        text.push_str("  the index is the weighted geometric mean\n");
    }

    let mut rows = vec![row("agreement with the experts", ["Spearman", "Kendall"].map(str::to_owned))];
    let mut add = |name: &str, own: &Agreement| rows.push(row(name, [three(own.rho), three(own.tau)]));
    add("current weights", &fit.with_present);
    add("fitted, each tool held out", &fit.tools_held_out);
    if let Some(own) = &fit.experts_held_out {
        add("fitted, each expert held out", own);
    }
    add("fitted, nothing held out", &fit.in_sample);
    text.push_str(&format!("\n{}", table(&rows, width)));

    let mut rows = vec![row("place", ["experts", "current", "fitted", "held out"].map(str::to_owned))];
    let mut order: Vec<_> = ranked.tools.iter().zip(&fit.standings).collect();
    order.sort_by(|((a_name, _), a), ((b_name, _), b)| a.experts.total_cmp(&b.experts).then(a_name.cmp(b_name)));
    for ((name, _), own) in order {
        let places = [own.experts, own.present, own.fitted, own.held_out].map(|place| format!("{place:.1}"));
        rows.push(row(&harmless(name), places));
    }
    text.push_str(&format!("\n{}\n", table(&rows, width)));
    text + &sentences(&[sui_verdict(fit)], width)
}

fn sui_verdict(fit: &SuiFit) -> String {
    let gain = gain_with_reason(&fit.gain);
    if fit.gain.is_recommended() {
        return format!("Use the fitted weights: their held-out gain in Spearman's rho is {gain}.");
    }
    format!("Keep the current weights. The fitted ones are not recommended: held-out gain in Spearman's rho {gain}.")
}
