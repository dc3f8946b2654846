//! `karat calibrate match`: fits the weights and the threshold of matching to labelled pairs.

use super::{check, row, table, tell_of_overrides, write};
use crate::args::MatchArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::terminal::note;
use karat::judge::local::Field;
use karat::judged_pairs::{JudgedPairs, JudgedPairsRequest, skipped};
use karat::profile::request::resolve_for_suite;
use karat_core::calibrate::matching::{Advice, CurvePoint, Figures, HeldOut, MatchFit, MatchFitError, fit, pairs};
use karat_core::profile::{Method, Profile, Weights};
use karat_core::suite::Case;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::grid::wrap;
use karat_report::number::three;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn run(args: &MatchArgs) -> Result<Exit, Failure> {
    check(&args.output)?;
    let given = given(args)?;
    let profile = one_profile(args, &given)?;
    let (mut all, mut judges) = (Vec::new(), BTreeSet::new());
    for one in &given {
        let labels = one.labels()?;
        skipped(&labels).iter().for_each(|text| note(text));
        let field = one.field.clone().unwrap_or(Field::Case);
        let suite = &one.loaded.suite;
        // Cases of two suites may share an id without being the same case.
        let by_suite = field == Field::Case && given.len() > 1;
        let group = |case: &Case| if by_suite { format!("{}/{}", suite.name, case.id) } else { field.value(case) };
        all.extend(pairs(suite, &labels.trials, &profile, group));
        judges.extend(labels.judges.iter().map(ToString::to_string));
    }
    let fit = fit(&all, &profile).map_err(|error| Failure::bad_input(error.to_string()))?;
    if fit.forbidden > 0 {
        let forbidden = count(fit.forbidden, "labelled pair");
        note(&format!("{forbidden} can never match because of the profile's requirements; they count as non-matches"));
    }
    let fitted = written(&fit, &profile);
    let judges: Vec<String> = judges.into_iter().collect();
    let value = calibration(args, &fit, &profile, &judges);
    show(args.output.json, &value, |look| drawn(args, &fit, &profile, &judges, look.width))?;
    let names: Vec<&str> = given.iter().map(|one| one.loaded.suite.name.as_str()).collect();
    let from = format!(
        "Rules of matching, fitted by `karat calibrate match` to {} of the {} {}.",
        count(fit.present.n, "labelled pair"),
        if names.len() == 1 { "suite" } else { "suites" },
        names.join(", ")
    );
    write(&args.output, &fitted, &from)?;
    for one in &given {
        tell_of_overrides(&one.loaded, &["threshold", "weights"]);
    }
    Ok(Exit::Ok)
}

/// The profile with fitted values: only the threshold if that is as good, else all of them.
fn written(fit: &MatchFit, profile: &Profile) -> Profile {
    if fit.advice() == Advice::Threshold {
        Profile { threshold: fit.threshold_alone.threshold, ..profile.clone() }
    } else {
        Profile { weights: fit.weights.clone(), threshold: fit.threshold, ..profile.clone() }
    }
}

/// The given labels, or the suites' calibration sets.
fn given(args: &MatchArgs) -> Result<Vec<JudgedPairs>, Failure> {
    if args.suites.len() > 1 && !(args.submissions.is_empty() && args.labels.is_empty()) {
        return Err(Failure::usage(
            "--submission and --labels need exactly one suite; several suites use their own calibration sets",
        ));
    }
    let load = |suite: &String| {
        JudgedPairs::load(&JudgedPairsRequest {
            suite: suite.clone(),
            submissions: args.submissions.clone(),
            judgements: args.labels.clone(),
            group_by: Some(args.group_by.clone()),
        })
    };
    args.suites.iter().map(load).collect()
}

/// The profile, which must be the same for all suites.
fn one_profile(args: &MatchArgs, given: &[JudgedPairs]) -> Result<Profile, Failure> {
    let mut profiles = Vec::new();
    for one in given {
        let profile = resolve_for_suite(&(&args.rules).into(), Some(&one.loaded))?;
        if profile.method != Method::Score {
            return Err(Failure::usage(MatchFitError::NoScores(profile.name).to_string()));
        }
        profiles.push((profile, &one.loaded.suite.name));
    }
    let mut profiles = profiles.into_iter();
    let (first, name) = profiles.next().ok_or_else(|| Failure::usage("no suite given"))?;
    match profiles.find(|(other, _)| *other != first) {
        Some((_, other)) => Err(Failure::usage(format!(
            "the suites {name} and {other} have different profiles; fit each of them separately"
        ))),
        None => Ok(first),
    }
}

/// The JSON output.
fn calibration(args: &MatchArgs, fit: &MatchFit, profile: &Profile, judges: &[String]) -> Value {
    let [file, line, keyword, text] = fit.seen;
    let mut value = json!({
        "profile": profile.name,
        "pairs": fit.present.n,
        "matches": fit.matches,
        "forbidden": fit.forbidden,
        "judges": judges,
        "present": rules(profile.threshold, &profile.weights, &fit.present),
        "fitted": rules(fit.threshold, &fit.weights, &fit.in_sample),
        "threshold_alone": rules(fit.threshold_alone.threshold, &profile.weights, &fit.threshold_alone.in_sample),
        "seen": { "file": file, "line": line, "keyword": keyword, "text": text },
        "held_out": fit.held_out.as_ref().ok().map(|own| held_out(&args.group_by, own)),
    });
    if let Err(why) = &fit.held_out {
        value["not_held_out"] = json!(why.to_string());
    }
    value["better"] = json!(fit.advice() != Advice::Keep);
    value["advice"] = json!(match fit.advice() {
        Advice::Keep => "keep",
        Advice::Threshold => "threshold",
        Advice::All => "all",
    });
    value
}

fn rules(threshold: f64, weights: &Weights, figures: &Figures) -> Value {
    let mut value = json!({ "threshold": threshold, "weights": weights });
    extend(&mut value, numbers(figures));
    value
}

fn held_out(group_by: &str, own: &HeldOut) -> Value {
    let point = |own: &CurvePoint| json!({ "threshold": own.threshold, "precision": own.precision, "recall": own.recall, "f1": own.f1 });
    let curve = |points: &[CurvePoint]| points.iter().map(point).collect::<Vec<_>>();
    let mut value = json!({ "group_by": group_by, "groups": own.groups });
    extend(&mut value, numbers(&own.figures));
    value["threshold_alone"] = numbers(&own.threshold_alone);
    value["curve"] = json!(curve(&own.curve));
    value["present_curve"] = json!(curve(&own.present_curve));
    value
}

fn numbers(own: &Figures) -> Value {
    json!({ "precision": own.precision, "recall": own.recall, "f1": own.f1, "auc": own.auc, "n": own.n })
}

fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}

fn drawn(args: &MatchArgs, fit: &MatchFit, profile: &Profile, judges: &[String], width: usize) -> String {
    let title = format!(
        "rules of matching from {} by {}, {} of them matches · profile {}",
        count(fit.present.n, "labelled pair"),
        judges.join(", "),
        fit.matches,
        profile.name
    );
    let mut text = format!("{}\n\n", wrap(&harmless(&title), width).join("\n"));

    let (present, fitted) = (&fit.present_weights, &fit.weights);
    let mut rows = vec![row("", ["current", "threshold only", "fitted", "pairs with part"].map(str::to_owned))];
    let thresholds = [profile.threshold, fit.threshold_alone.threshold, fit.threshold];
    rows.push(row("threshold", thresholds.map(|value| three(Some(value))).into_iter().chain([String::new()])));
    let parts = [
        ("weights.file", present.file, fitted.file),
        ("weights.line", present.line, fitted.line),
        ("weights.keyword", present.keyword, fitted.keyword),
        ("weights.text", present.text, fitted.text),
    ];
    for ((name, present, fitted), seen) in parts.into_iter().zip(fit.seen) {
        rows.push(row(name, [three(Some(present)), three(Some(present)), three(Some(fitted)), seen.to_string()]));
    }
    text.push_str(&table(&rows, width));

    let heads = ["precision", "recall", "F1", "AUC", "pairs"].map(str::to_owned);
    let mut rows = vec![row("", heads)];
    let mut add = |name: &str, own: &Figures| {
        rows.push(row(
            name,
            [three(own.precision), three(own.recall), three(own.f1), three(own.auc), own.n.to_string()],
        ));
    };
    add("current rules", &fit.present);
    if let Ok(held_out) = &fit.held_out {
        add(&format!("threshold only, each {} held out", args.group_by), &held_out.threshold_alone);
        add(&format!("fitted, each {} held out", args.group_by), &held_out.figures);
    }
    add("threshold only, nothing held out", &fit.threshold_alone.in_sample);
    add("fitted, nothing held out", &fit.in_sample);
    text.push_str(&format!("\n{}\n", table(&rows, width)));
    if let Ok(held_out) = &fit.held_out {
        let with_present = fit.advice() != Advice::All;
        let points = if with_present { &held_out.present_curve } else { &held_out.curve };
        text.push_str(&curve(points, if with_present { "current" } else { "fitted" }, width));
    }
    for sentence in verdict(fit, profile) {
        text.push_str(&wrap(&sentence, width.min(100)).join("\n"));
        text.push('\n');
    }
    text
}

/// Results of other thresholds on held-out pairs, from the first that refuses any.
fn curve(points: &[CurvePoint], weights: &str, width: usize) -> String {
    let mut rows = vec![row("threshold", ["precision", "recall", "F1"].map(str::to_owned))];
    let refuses =
        |point: &&CurvePoint| points.first().is_some_and(|all| point.recall < all.recall || point.f1 != all.f1);
    for point in points.iter().filter(refuses).filter(|point| point.recall > Some(0.0)) {
        let figures = [three(point.precision), three(point.recall), three(point.f1)];
        rows.push(row(&format!("{:.2}", point.threshold), figures));
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("On held-out pairs, with the {weights} weights:\n\n{}\n", table(&rows, width))
}

/// The recommendation.
fn verdict(fit: &MatchFit, profile: &Profile) -> Vec<String> {
    let now = three(fit.present.f1);
    let mut said = Vec::new();
    said.push(match &fit.held_out {
        Ok(held_out) => match fit.advice() {
            Advice::All => format!(
                "Use the fitted rules: on held-out groups, their F1 is {}, and that of the current \
                 rules {now}.",
                three(held_out.figures.f1)
            ),
            Advice::Threshold => format!(
                "Use the fitted threshold: on held-out groups, its F1 is {}, and that of the current \
                 rules {now}. Keep the weights: with fitted ones, F1 is {}, which is not at least 0.02 better.",
                three(held_out.threshold_alone.f1),
                three(held_out.figures.f1)
            ),
            Advice::Keep => format!(
                "Keep the current rules: their F1 is {now}, and that of the fitted rules on held-out pairs is {}, \
                 which is not at least 0.01 better.",
                three(held_out.figures.f1)
            ),
        },
        Err(why) => format!(
            "Keep the current rules for now: nothing could be held out: {why}; choose other groups with --group-by \
             FIELD."
        ),
    });
    if !fit.weighs {
        said.push("No two parts vary independently in these pairs, so only the threshold was fitted.".to_owned());
    }
    let names = ["weights.file", "weights.line", "weights.keyword", "weights.text"];
    let kept: Vec<&str> = names.into_iter().zip(fit.kept).filter(|(_, kept)| *kept).map(|(name, _)| name).collect();
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
