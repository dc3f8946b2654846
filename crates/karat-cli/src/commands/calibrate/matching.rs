//! `karat calibrate match`: the weights and the threshold of matching from labelled pairs.

use super::{check, row, table, tell_of_overrides, write};
use crate::args::{LabelArgs, MatchArgs};
use crate::commands::judge::labels::Given;
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::terminal::{look, note, print, print_json};
use karat::diagnostic::harmless;
use karat::judge::local::Field;
use karat::report::grid::wrap;
use karat::report::number::{count, three};
use karat_core::calibrate::matching::{Figures, MatchFit, MatchRefusal, fit, pairs};
use karat_core::local_judge::labels::Labels;
use karat_core::profile::{Method, Profile, Weights};
use serde::Serialize;

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
    judges: Vec<String>,
    present: Rules<'a>,
    fitted: Rules<'a>,
    /// How many labelled pairs have each part.
    seen: Seen,
    held_out: Option<HeldOut<'a>>,
    /// Why nothing was held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_held_out: Option<String>,
    /// Whether the fitted rules decide pairs held out better than the present ones.
    better: bool,
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
    let profile = inputs::profile(&args.rules, Some(&given.loaded))?;
    if profile.method != Method::Score {
        return Err(Failure::usage(MatchRefusal::NoScores(profile.name).to_string()));
    }
    let labels = given.labels()?;
    let field = given.field.clone().unwrap_or(Field::Case);
    let pairs = pairs(&given.loaded.suite, &labels.trials, &profile, |case| field.of(case));
    let fit = fit(&pairs, &profile).map_err(|error| Failure::bad_input(error.to_string()))?;
    if fit.forbidden > 0 {
        let forbidden = count(fit.forbidden, "labelled pair");
        note(&format!("{forbidden} can never match, as the profile requires more; they count as decided so"));
    }
    let fitted = Profile { weights: fit.weights.clone(), threshold: fit.threshold, ..profile.clone() };
    if args.output.json {
        print_json(&calibration(args, &fit, &profile, &labels))?;
    } else {
        print(&drawn(args, &fit, &profile, &labels))?;
    }
    let from = format!(
        "Rules of matching, fitted by `karat calibrate match` to {} of the suite {}.",
        count(fit.present.n, "labelled pair"),
        given.loaded.suite.name
    );
    write(&args.output, &fitted, &from)?;
    tell_of_overrides(&given.loaded, &["threshold", "weights"]);
    Ok(Exit::Ok)
}

/// The labels that were named, or the suite's own.
fn given(args: &MatchArgs) -> Result<Given, Failure> {
    let group_by = Some(args.group_by.clone());
    if args.submissions.is_empty() && args.labels.is_empty() {
        return Given::calibration(&args.suite, group_by.as_deref());
    }
    Given::read(&LabelArgs {
        suite: args.suite.clone(),
        submissions: args.submissions.clone(),
        judgements: args.labels.clone(),
        group_by,
    })
}

fn calibration<'a>(
    args: &'a MatchArgs,
    fit: &'a MatchFit,
    profile: &'a Profile,
    labels: &Labels<'_>,
) -> Calibration<'a> {
    let [file, line, keyword, text] = fit.seen;
    let held_out = |own: &karat_core::calibrate::matching::HeldOut| HeldOut {
        group_by: &args.group_by,
        groups: own.groups,
        figures: own.figures.into(),
    };
    Calibration {
        profile: &profile.name,
        pairs: fit.present.n,
        matches: fit.matches,
        forbidden: fit.forbidden,
        judges: labels.judges.iter().map(ToString::to_string).collect(),
        present: Rules { threshold: profile.threshold, weights: &profile.weights, figures: fit.present.into() },
        fitted: Rules { threshold: fit.threshold, weights: &fit.weights, figures: fit.in_sample.into() },
        seen: Seen { file, line, keyword, text },
        held_out: fit.held_out.as_ref().ok().map(held_out),
        not_held_out: fit.held_out.as_ref().err().map(ToString::to_string),
        better: fit.is_better(),
    }
}

fn drawn(args: &MatchArgs, fit: &MatchFit, profile: &Profile, labels: &Labels<'_>) -> String {
    let width = look().width;
    let judges: Vec<String> = labels.judges.iter().map(ToString::to_string).collect();
    let title = format!(
        "rules of matching from {} by {}, {} of them matches · profile {}",
        count(fit.present.n, "labelled pair"),
        judges.join(", "),
        fit.matches,
        profile.name
    );
    let mut text = format!("{}\n\n", wrap(&harmless(&title), width).join("\n"));

    let (present, fitted) = (&fit.present_weights, &fit.weights);
    let mut rows = vec![row("", ["present", "fitted", "pairs with it"].map(str::to_owned))];
    rows.push(row("threshold", [three(Some(profile.threshold)), three(Some(fit.threshold)), String::new()]));
    let parts = [
        ("weights.file", present.file, fitted.file),
        ("weights.line", present.line, fitted.line),
        ("weights.keyword", present.keyword, fitted.keyword),
        ("weights.text", present.text, fitted.text),
    ];
    for ((name, present, fitted), seen) in parts.into_iter().zip(fit.seen) {
        rows.push(row(name, [three(Some(present)), three(Some(fitted)), seen.to_string()]));
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
        add(&format!("fitted, each {} held out", args.group_by), &held_out.figures);
    }
    add("fitted, nothing held out", &fit.in_sample);
    text.push_str(&format!("\n{}\n", table(&rows, width)));
    for sentence in verdict(fit, profile) {
        text.push_str(&wrap(&sentence, width.min(100)).join("\n"));
        text.push('\n');
    }
    text
}

/// What a person should do with it.
fn verdict(fit: &MatchFit, profile: &Profile) -> Vec<String> {
    let now = three(fit.present.f1);
    let mut said = Vec::new();
    said.push(match &fit.held_out {
        Ok(held_out) if fit.is_better() => format!(
            "The fitted rules hold: pairs of groups that they never saw are decided with an F1 of {}, and by the present rules \
             it is {now}.",
            three(held_out.figures.f1)
        ),
        Ok(held_out) => format!(
            "Keep the rules you have: by the present ones F1 is {now}, and by fitted ones {} on pairs held out, which is not \
             better by a hundredth.",
            three(held_out.figures.f1)
        ),
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
    if profile.asks_a_judge() {
        let judge = &profile.judge;
        said.push(format!(
            "The profile asks the judge {judge}, so that the threshold counts with --judge none alone; the weights choose which \
             pairs are asked about."
        ));
    }
    said
}
