//! `karat calibrate match`: the weights and the threshold of matching from labelled pairs.

use super::{check, row, table, tell_of_overrides, write};
use crate::args::{LabelArgs, MatchArgs};
use crate::commands::judge::labels::Given;
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::terminal::{look, note, print, print_json};
use karat::judge::local::Field;
use karat_core::calibrate::matching::{Advice, CurvePoint, Figures, MatchFit, MatchFitError, fit, pairs};
use karat_core::profile::{Method, Profile, Weights};
use karat_core::suite::Case;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::grid::wrap;
use karat_report::number::three;
use serde::Serialize;
use std::collections::BTreeSet;

/// What is printed as JSON.
#[derive(Serialize)]
struct Calibration<'a> {
    profile: &'a str,
    /// Labelled pairs.
    pairs: usize,
    /// Those that match.
    matches: usize,
    /// Those that the profile's requirements forbid.
    forbidden: usize,
    /// Who made the labels.
    judges: &'a [String],
    present: Rules<'a>,
    fitted: Rules<'a>,
    /// The present weights with a fitted threshold.
    threshold_alone: Rules<'a>,
    /// How many labelled pairs have each part.
    seen: Seen,
    held_out: Option<HeldOut<'a>>,
    /// Why nothing was held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_held_out: Option<String>,
    /// Whether fitted rules decide pairs held out better than the present ones.
    better: bool,
    /// What to take of the fitted rules: `keep`, `threshold` or `all`.
    advice: &'static str,
}

#[derive(Serialize)]
struct Rules<'a> {
    threshold: f64,
    weights: &'a Weights,
    /// On all labelled pairs, which the fitted rules were fitted to.
    #[serde(flatten)]
    figures: Numbers,
}

#[derive(Serialize)]
struct HeldOut<'a> {
    group_by: &'a str,
    groups: usize,
    #[serde(flatten)]
    figures: Numbers,
    /// The present weights with a threshold that was fitted on the other groups.
    threshold_alone: Numbers,
    /// What other thresholds would decide, with the weights that the other groups gave.
    curve: Vec<Point>,
    /// The same with the present weights.
    present_curve: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    threshold: f64,
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
}

impl From<CurvePoint> for Point {
    fn from(own: CurvePoint) -> Self {
        Self { threshold: own.threshold, precision: own.precision, recall: own.recall, f1: own.f1 }
    }
}

#[derive(Serialize)]
struct Seen {
    file: usize,
    line: usize,
    keyword: usize,
    text: usize,
}

#[derive(Serialize)]
struct Numbers {
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
    auc: Option<f64>,
    n: usize,
}

impl From<Figures> for Numbers {
    fn from(own: Figures) -> Self {
        Self { precision: own.precision, recall: own.recall, f1: own.f1, auc: own.auc, n: own.n }
    }
}

pub(crate) fn run(args: &MatchArgs) -> Result<Exit, Failure> {
    check(&args.output)?;
    let given = given(args)?;
    let profile = one_profile(args, &given)?;
    let (mut all, mut judges) = (Vec::new(), BTreeSet::new());
    for one in &given {
        let labels = one.labels()?;
        let field = one.field.clone().unwrap_or(Field::Case);
        let suite = &one.loaded.suite;
        // Cases of two suites may have the same name, and are not the same case.
        let by_suite = field == Field::Case && given.len() > 1;
        let group = |case: &Case| if by_suite { format!("{}/{}", suite.name, case.id) } else { field.of(case) };
        all.extend(pairs(suite, &labels.trials, &profile, group));
        judges.extend(labels.judges.iter().map(ToString::to_string));
    }
    let fit = fit(&all, &profile).map_err(|error| Failure::bad_input(error.to_string()))?;
    if fit.forbidden > 0 {
        let forbidden = count(fit.forbidden, "labelled pair");
        note(&format!("{forbidden} can never match, as the profile requires more; they count as decided so"));
    }
    let fitted = written(&fit, &profile);
    let judges: Vec<String> = judges.into_iter().collect();
    if args.output.json {
        print_json(&calibration(args, &fit, &profile, &judges))?;
    } else {
        print(&drawn(args, &fit, &profile, &judges))?;
    }
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

/// The profile with fitted numbers: the threshold alone where that is as good, else all of them.
fn written(fit: &MatchFit, profile: &Profile) -> Profile {
    if fit.advice() == Advice::Threshold {
        Profile { threshold: fit.threshold_alone.threshold, ..profile.clone() }
    } else {
        Profile { weights: fit.weights.clone(), threshold: fit.threshold, ..profile.clone() }
    }
}

/// The labels that were named, or the suites' own.
fn given(args: &MatchArgs) -> Result<Vec<Given>, Failure> {
    let group_by = Some(args.group_by.clone());
    if args.submissions.is_empty() && args.labels.is_empty() {
        return args.suites.iter().map(|suite| Given::calibration(suite, group_by.as_deref())).collect();
    }
    let [suite] = args.suites.as_slice() else {
        return Err(Failure::usage(
            "--submission and --labels belong to one suite; several have their own calibration sets",
        ));
    };
    let labels = LabelArgs {
        suite: suite.clone(),
        submissions: args.submissions.clone(),
        judgements: args.labels.clone(),
        group_by,
    };
    Ok(vec![Given::read(&labels)?])
}

/// The profile, which must be the same for all suites.
fn one_profile(args: &MatchArgs, given: &[Given]) -> Result<Profile, Failure> {
    let mut profiles = Vec::new();
    for one in given {
        let profile = inputs::profile(&args.rules, Some(&one.loaded))?;
        if profile.method != Method::Score {
            return Err(Failure::usage(MatchFitError::NoScores(profile.name).to_string()));
        }
        profiles.push((profile, &one.loaded.suite.name));
    }
    let mut profiles = profiles.into_iter();
    let (first, name) = profiles.next().ok_or_else(|| Failure::usage("name a suite"))?;
    match profiles.find(|(other, _)| *other != first) {
        Some((_, other)) => {
            Err(Failure::usage(format!("the suites {name} and {other} state different rules; fit each of them alone")))
        }
        None => Ok(first),
    }
}

fn calibration<'a>(
    args: &'a MatchArgs,
    fit: &'a MatchFit,
    profile: &'a Profile,
    judges: &'a [String],
) -> Calibration<'a> {
    let [file, line, keyword, text] = fit.seen;
    let held_out = |own: &karat_core::calibrate::matching::HeldOut| HeldOut {
        group_by: &args.group_by,
        groups: own.groups,
        figures: own.figures.into(),
        threshold_alone: own.threshold_alone.into(),
        curve: own.curve.iter().map(|&point| point.into()).collect(),
        present_curve: own.present_curve.iter().map(|&point| point.into()).collect(),
    };
    Calibration {
        profile: &profile.name,
        pairs: fit.present.n,
        matches: fit.matches,
        forbidden: fit.forbidden,
        judges,
        present: Rules { threshold: profile.threshold, weights: &profile.weights, figures: fit.present.into() },
        fitted: Rules { threshold: fit.threshold, weights: &fit.weights, figures: fit.in_sample.into() },
        threshold_alone: Rules {
            threshold: fit.threshold_alone.threshold,
            weights: &profile.weights,
            figures: fit.threshold_alone.in_sample.into(),
        },
        seen: Seen { file, line, keyword, text },
        held_out: fit.held_out.as_ref().ok().map(held_out),
        not_held_out: fit.held_out.as_ref().err().map(ToString::to_string),
        better: fit.advice() != Advice::Keep,
        advice: match fit.advice() {
            Advice::Keep => "keep",
            Advice::Threshold => "threshold",
            Advice::All => "all",
        },
    }
}

fn drawn(args: &MatchArgs, fit: &MatchFit, profile: &Profile, judges: &[String]) -> String {
    let width = look().width;
    let title = format!(
        "rules of matching from {} by {}, {} of them matches · profile {}",
        count(fit.present.n, "labelled pair"),
        judges.join(", "),
        fit.matches,
        profile.name
    );
    let mut text = format!("{}\n\n", wrap(&harmless(&title), width).join("\n"));

    let (present, fitted) = (&fit.present_weights, &fit.weights);
    let mut rows = vec![row("", ["present", "threshold alone", "fitted", "pairs with it"].map(str::to_owned))];
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
    add("present rules", &fit.present);
    if let Ok(held_out) = &fit.held_out {
        add(&format!("threshold alone, each {} held out", args.group_by), &held_out.threshold_alone);
        add(&format!("fitted, each {} held out", args.group_by), &held_out.figures);
    }
    add("threshold alone, nothing held out", &fit.threshold_alone.in_sample);
    add("fitted, nothing held out", &fit.in_sample);
    text.push_str(&format!("\n{}\n", table(&rows, width)));
    if let Ok(held_out) = &fit.held_out {
        let with_present = fit.advice() != Advice::All;
        let points = if with_present { &held_out.present_curve } else { &held_out.curve };
        text.push_str(&curve(points, if with_present { "present" } else { "fitted" }, width));
    }
    for sentence in verdict(fit, profile) {
        text.push_str(&wrap(&sentence, width.min(100)).join("\n"));
        text.push('\n');
    }
    text
}

/// What other thresholds would decide about pairs held out, from the first that refuses anything.
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
    format!("On pairs held out, with the {weights} weights:\n\n{}\n", table(&rows, width))
}

/// What a person should do with it.
fn verdict(fit: &MatchFit, profile: &Profile) -> Vec<String> {
    let now = three(fit.present.f1);
    let mut said = Vec::new();
    said.push(match &fit.held_out {
        Ok(held_out) => match fit.advice() {
            Advice::All => format!(
                "The fitted rules hold: pairs of groups that they never saw are decided with an F1 of {}, and by the present \
                 rules it is {now}.",
                three(held_out.figures.f1)
            ),
            Advice::Threshold => format!(
                "The fitted threshold holds: pairs of groups that it never saw are decided with an F1 of {}, and by the present \
                 rules it is {now}. Keep the weights: with fitted ones it is {}, which is not better by two hundredths.",
                three(held_out.threshold_alone.f1),
                three(held_out.figures.f1)
            ),
            Advice::Keep => format!(
                "Keep the rules you have: by the present ones F1 is {now}, and by fitted ones {} on pairs held out, which is \
                 not better by a hundredth.",
                three(held_out.figures.f1)
            ),
        },
        Err(why) => format!(
            "Keep the rules you have until more is known: nothing could be held out, as {why}; --group-by FIELD makes other \
             groups."
        ),
    });
    if !fit.weighs {
        said.push(
            "No two parts stand against each other in these pairs, so that only the threshold was learned.".to_owned(),
        );
    }
    let names = ["weights.file", "weights.line", "weights.keyword", "weights.text"];
    let kept: Vec<&str> = names.into_iter().zip(fit.kept).filter(|(_, kept)| *kept).map(|(name, _)| name).collect();
    if fit.weighs && !kept.is_empty() {
        said.push(format!(
            "Kept: {}, as the part is nearly the same in all pairs, so that they cannot tell what it is worth.",
            kept.join(", ")
        ));
    }
    if profile.uses_judge() {
        let judge = &profile.judge;
        said.push(format!(
            "The profile asks the judge {judge}, so that the threshold counts with --judge none alone; the weights choose which \
             pairs are asked about."
        ));
    }
    said
}
