//! `karat judge eval`.

mod judged;

use super::labels::LabelInputs;
use crate::args::{EvalArgs, LabelArgs};
use crate::exit::{Exit, Failure};
use crate::terminal::{print, print_json};
use judged::JudgedFigures;
use karat::judge::local::{Field, ParamsError, read, shipped};
use karat_core::local_judge::NAME;
use karat_core::local_judge::cross_validation::hold_out;
use karat_core::local_judge::evaluate::{Figures, evaluate, evaluate_word_overlap, mean};
use karat_core::local_judge::labels::{LabelledTrial, Labels};
use karat_format::diagnostic::harmless;
use karat_report::grid::{Cell, draw};
use karat_report::number::decimals;
use serde::Serialize;
use std::collections::BTreeMap;

/// The JSON output.
#[derive(Serialize)]
struct Evaluation {
    judge: String,
    /// Where the local judge's parameters came from: `held-out`, `shipped`, or a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<String>,
    /// All groups together.
    #[serde(flatten)]
    all: Figures,
    /// The plain mean over the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Figures>,
    groups: BTreeMap<String, Group>,
    /// Word overlap as a reference, on the same labels.
    overlap: Figures,
    /// The judges that made the labels.
    judges: Vec<String>,
    /// Figures that only a judge other than the local one has.
    #[serde(flatten)]
    asked: Option<JudgedFigures>,
}

#[derive(Serialize)]
struct Group {
    /// Probability from which the local judge calls a pair a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(flatten)]
    figures: Figures,
}

pub(crate) fn run(args: &EvalArgs) -> Result<Exit, Failure> {
    let given = given(args)?;
    let labels = given.labels()?;
    let local = args.who.judge == NAME && !given.loaded.config.judges.contains_key(NAME);
    if !local && args.params.is_some() {
        return Err(Failure::usage("--params applies to the local judge; omit --judge"));
    }
    let (measured, asked) = match (&given.field, &args.params) {
        _ if !local => judged::measured(args, &given, &labels).map(|(measured, asked)| (measured, Some(asked)))?,
        (Some(field), None) => (held_out(&labels, field)?, None),
        (field, _) => (by_weights(args, &labels, field.as_ref())?, None),
    };
    let Measured { params, all, groups } = measured;
    let evaluation = Evaluation {
        judge: args.who.judge.clone(),
        params,
        all,
        mean: (!groups.is_empty()).then(|| mean(groups.values().map(|group| &group.figures))),
        groups,
        overlap: evaluate_word_overlap(&given.loaded.suite, &labels.trials),
        judges: labels.judges.iter().map(ToString::to_string).collect(),
        asked,
    };
    if args.json {
        print_json(&evaluation)?
    } else {
        print(&table(&evaluation))?
    }
    if let Some(asked) = &evaluation.asked {
        asked.print_notes(evaluation.all.pairs.n);
    }
    Ok(Exit::Ok)
}

/// The given judged pairs, or the suite's calibration set.
fn given(args: &EvalArgs) -> Result<LabelInputs, Failure> {
    if args.submissions.is_empty() && args.judgements.is_empty() {
        return LabelInputs::calibration(&args.suite, args.group_by.as_deref());
    }
    LabelInputs::read(&LabelArgs {
        suite: args.suite.clone(),
        submissions: args.submissions.clone(),
        judgements: args.judgements.clone(),
        group_by: args.group_by.clone(),
    })
}

/// Figures overall and by group.
struct Measured {
    params: Option<String>,
    all: Figures,
    groups: BTreeMap<String, Group>,
}

/// Evaluates each group by parameters fitted on the others.
fn held_out(labels: &Labels<'_>, field: &Field) -> Result<Measured, Failure> {
    let held_out = hold_out(&labels.trials, |case| field.value(case)).map_err(|error| {
        let help = "choose larger groups with --group-by, or set parameters with --params";
        Failure::bad_input(format!("a group cannot be held out: {error}; {help}"))
    })?;
    let group = |(name, (figures, threshold))| (name, Group { threshold: Some(threshold), figures });
    let groups = held_out.groups.into_iter().map(group).collect();
    Ok(Measured { params: Some("held-out".to_owned()), all: held_out.pooled, groups })
}

/// Evaluates all groups by the same parameters.
fn by_weights(args: &EvalArgs, labels: &Labels<'_>, field: Option<&Field>) -> Result<Measured, Failure> {
    let (name, judge) = match &args.params {
        Some(path) => (path.display().to_string(), read(path)),
        None => ("shipped".to_owned(), shipped()),
    };
    let judge = judge.map_err(|error| match error {
        ParamsError::Unreadable { file, source } => Failure::io(file, source),
        ParamsError::Invalid { .. } => Failure::bad_input(error.to_string()),
    })?;
    let mut by_group: BTreeMap<String, Vec<LabelledTrial<'_>>> = BTreeMap::new();
    if let Some(field) = field {
        for own in &labels.trials {
            by_group.entry(field.value(own.case)).or_default().push(own.clone());
        }
    }
    let threshold = Some(judge.params().threshold);
    let group = |(name, trials): (String, Vec<_>)| (name, Group { threshold, figures: evaluate(&judge, &trials) });
    let groups = by_group.into_iter().map(group).collect();
    Ok(Measured { params: Some(name), all: evaluate(&judge, &labels.trials), groups })
}

fn table(evaluation: &Evaluation) -> String {
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
    let cell = |(column, text): (usize, &String)| if column == 0 { Cell::left(text) } else { Cell::right(text) };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
    let how = match evaluation.params.as_deref() {
        None => format!("the judge {}", evaluation.judge),
        Some("held-out") => "local judge, each group judged by parameters fitted on the others".to_owned(),
        Some("shipped") => "local judge, built-in parameters".to_owned(),
        Some(file) => format!("local judge, parameters of {file}"),
    };
    let title = harmless(&format!("{how}, against {}", evaluation.judges.join(", "))).into_owned();
    let mut text = format!("{title}\n\n{}", draw(&cells, 100, false));
    if let Some(asked) = &evaluation.asked {
        text.push_str(&asked.summary());
    }
    text
}
