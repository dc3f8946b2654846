//! `karat judge eval`: the local judge against judged pairs.

use super::labels::Given;
use crate::args::EvalArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{print, print_json};
use karat::diagnostic::harmless;
use karat::judge::local::{Field, ParamsError, read, shipped};
use karat::report::grid::{Cell, draw};
use karat_core::local_judge::evaluate::{Figures, evaluate, mean, overlap};
use karat_core::local_judge::labels::{LabelledTrial, Labels};
use karat_core::local_judge::rotation::hold_out;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is printed as JSON.
#[derive(Serialize)]
struct Evaluation {
    /// Where the parameters came from: `held-out`, `shipped`, or a file.
    params: String,
    /// All groups together.
    #[serde(flatten)]
    all: Figures,
    /// The plain mean over the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Figures>,
    groups: BTreeMap<String, Group>,
    /// Plain overlap of words on the same labels.
    overlap: Figures,
    judges: Vec<String>,
}

#[derive(Serialize)]
struct Group {
    threshold: f64,
    #[serde(flatten)]
    figures: Figures,
}

pub(crate) fn run(args: &EvalArgs) -> Result<Exit, Failure> {
    let given = Given::read(&args.labels)?;
    let labels = given.labels()?;
    let (params, all, groups) = match (&given.field, &args.params) {
        (Some(field), None) => held_out(&labels, field)?,
        (field, _) => measured(args, &labels, field.as_ref())?,
    };
    let evaluation = Evaluation {
        params,
        all,
        mean: (!groups.is_empty()).then(|| mean(groups.values().map(|group| &group.figures))),
        groups,
        overlap: overlap(&given.loaded.suite, &labels.trials),
        judges: labels.judges.iter().map(ToString::to_string).collect(),
    };
    if args.json {
        print_json(&evaluation)?
    } else {
        print(&table(&evaluation))?
    }
    Ok(Exit::Ok)
}

type Measured = (String, Figures, BTreeMap<String, Group>);

/// Each group by parameters that were fitted on the others.
fn held_out(labels: &Labels<'_>, field: &Field) -> Result<Measured, Failure> {
    let held_out = hold_out(&labels.trials, |case| field.of(case)).map_err(|error| {
        let help = "give groups of which the others can be learned from, or parameters with --params";
        Failure::bad_input(format!("a group cannot be held out: {error}; {help}"))
    })?;
    let group = |(name, (figures, threshold))| (name, Group { threshold, figures });
    Ok(("held-out".to_owned(), held_out.pooled, held_out.groups.into_iter().map(group).collect()))
}

/// Everything by the same parameters.
fn measured(args: &EvalArgs, labels: &Labels<'_>, field: Option<&Field>) -> Result<Measured, Failure> {
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
            by_group.entry(field.of(own.case)).or_default().push(own.clone());
        }
    }
    let threshold = judge.params().threshold;
    let group = |(name, trials): (String, Vec<_>)| (name, Group { threshold, figures: evaluate(&judge, &trials) });
    Ok((name, evaluate(&judge, &labels.trials), by_group.into_iter().map(group).collect()))
}

fn table(evaluation: &Evaluation) -> String {
    let mut rows =
        vec![["", "kappa", "precision", "recall", "goldens", "AUC", "F1", "ECE", "pairs"].map(str::to_owned)];
    let mut add = |name: &str, figures: &Figures| {
        let (found, pairs) = (&figures.golden_found, &figures.pairs);
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
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
    add("plain overlap", &evaluation.overlap);
    let cell = |(column, text): (usize, &String)| if column == 0 { Cell::left(text) } else { Cell::right(text) };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
    let how = match evaluation.params.as_str() {
        "held-out" => "each group judged by parameters fitted on the others".to_owned(),
        "shipped" => "the parameters in the binary".to_owned(),
        file => format!("the parameters of {file}"),
    };
    format!("local judge, {how}, against {}\n\n{}", harmless(&evaluation.judges.join(", ")), draw(&cells, 100, false))
}
