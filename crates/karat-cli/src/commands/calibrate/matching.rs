//! `karat calibrate match`: fits the weights and the threshold of matching to labelled pairs.

use super::{check, row, sentences, table, write};
use crate::args::MatchArgs;
use crate::exit::{Exit, Result};
use crate::terminal::{note, notes, show};
use karat::calibrate::{MatchCalibration, calibrate_matching};
use karat::judged_pairs::JudgedPairsRequest;
use karat_core::calibrate::matching::{Advice, CurvePoint, Figures, HeldOut, MatchFit};
use karat_core::profile::{Profile, Weights};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::grid::wrap;
use karat_report::number::three;
use serde::Serialize;
use serde_json::{Value, json};

const PARTS: [&str; 4] = ["weights.file", "weights.line", "weights.keyword", "weights.text"];

pub(crate) fn run(args: &MatchArgs) -> Result<Exit> {
    check(&args.output)?;
    let pairs = |suite: &String| JudgedPairsRequest {
        suite: suite.clone(),
        submissions: args.submissions.clone(),
        judgements: args.labels.clone(),
        group_by: Some(args.group_by.clone()),
    };
    let pairs: Vec<_> = args.suites.iter().map(pairs).collect();
    let calibration = calibrate_matching(&pairs, &(&args.rules).into(), &mut notes)?;
    show(args.output.json, &as_json(&args.group_by, &calibration), |look| {
        draw(&args.group_by, &calibration, look.width)
    })?;
    let suites = &calibration.suites;
    let from = format!(
        "Rules of matching, fitted by `karat calibrate match` to {} of the {} {}.",
        count(calibration.fit.present.n, "labelled pair"),
        if suites.len() == 1 { "suite" } else { "suites" },
        suites.join(", ")
    );
    write(&args.output, &calibration.fitted, &from)?;
    calibration.overrides.iter().for_each(|text| note(text));
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Rules<'a> {
    threshold: f64,
    weights: &'a Weights,
    #[serde(flatten)]
    figures: &'a Figures,
}

#[derive(Serialize)]
struct HeldOutBy<'a> {
    group_by: &'a str,
    #[serde(flatten)]
    held_out: &'a HeldOut,
}

fn as_json(group_by: &str, MatchCalibration { fit, present, judges, .. }: &MatchCalibration) -> Value {
    let [file, line, keyword, text] = fit.seen;
    let rules = |threshold, weights, figures| Rules { threshold, weights, figures };
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
        "held_out": fit.held_out.as_ref().ok().map(|held_out| HeldOutBy { group_by, held_out }),
    });
    if let Err(why) = &fit.held_out {
        value["not_held_out"] = json!(why.to_string());
    }
    value["better"] = json!(fit.advice() != Advice::Keep);
    value["advice"] = json!(fit.advice());
    value
}

fn draw(group_by: &str, calibration: &MatchCalibration, width: usize) -> String {
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
    let parts = PARTS.into_iter().zip(weights(&fit.present_weights)).zip(weights(&fit.weights)).zip(fit.seen);
    for (((name, present), fitted), seen) in parts {
        rows.push(row(name, [present.clone(), present, fitted, seen.to_string()]));
    }
    text.push_str(&table(&rows, width));

    let mut rows = vec![row("", ["precision", "recall", "F1", "AUC", "pairs"].map(str::to_owned))];
    let mut add = |name: &str, own: &Figures| {
        let [precision, recall, f1, auc] = [own.precision, own.recall, own.f1, own.auc].map(three);
        rows.push(row(name, [precision, recall, f1, auc, own.n.to_string()]));
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
    text + &sentences(&verdict(fit, profile), width)
}

/// Results of other thresholds on held-out pairs, from the first that refuses any.
fn curve(points: &[CurvePoint], weights: &str, width: usize) -> String {
    let mut rows = vec![row("threshold", ["precision", "recall", "F1"].map(str::to_owned))];
    let refuses =
        |point: &&CurvePoint| points.first().is_some_and(|all| point.recall < all.recall || point.f1 != all.f1);
    for point in points.iter().filter(refuses).filter(|point| point.recall > Some(0.0)) {
        let figures = [point.precision, point.recall, point.f1].map(three);
        rows.push(row(&format!("{:.2}", point.threshold), figures));
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("On held-out pairs, with the {weights} weights:\n\n{}\n", table(&rows, width))
}

fn verdict(fit: &MatchFit, profile: &Profile) -> Vec<String> {
    let now = three(fit.present.f1);
    let mut said = Vec::new();
    said.push(match (&fit.held_out, fit.advice()) {
        (Ok(held_out), Advice::All) => format!(
            "Use the fitted rules: on held-out groups, their F1 is {}, and that of the current \
             rules {now}.",
            three(held_out.figures.f1)
        ),
        (Ok(held_out), Advice::Threshold) => format!(
            "Use the fitted threshold: on held-out groups, its F1 is {}, and that of the current \
             rules {now}. Keep the weights: with fitted ones, F1 is {}, which is not at least 0.02 better.",
            three(held_out.threshold_alone.f1),
            three(held_out.figures.f1)
        ),
        (Ok(held_out), Advice::Keep) => format!(
            "Keep the current rules: their F1 is {now}, and that of the fitted rules on held-out pairs is {}, \
             which is not at least 0.01 better.",
            three(held_out.figures.f1)
        ),
        (Err(why), _) => format!(
            "Keep the current rules for now: nothing could be held out: {why}; choose other groups with --group-by \
             FIELD."
        ),
    });
    if !fit.weighs {
        said.push("No two parts vary independently in these pairs, so only the threshold was fitted.".to_owned());
    }
    let kept: Vec<&str> = PARTS.into_iter().zip(fit.kept).filter(|(_, kept)| *kept).map(|(name, _)| name).collect();
    if fit.weighs && !kept.is_empty() {
        said.push(format!(
            "Kept: {}; the part is nearly constant in these pairs, so its weight cannot be estimated.",
            kept.join(", ")
        ));
    }
    if profile.uses_judge() {
        let judge = &profile.judge;
        said.push(format!(
            "The profile uses the judge {judge}, so the threshold applies only with --judge none; the weights select which \
             pairs are judged."
        ));
    }
    said
}
