//! `karat judge fit`: fits the local judge's parameters to judged pairs.

use crate::args::FitArgs;
use crate::exit::{Category, Exit, Failure};
use crate::output_files::save;
use crate::terminal::{note, print_json, tell};
use karat::judge::local::{Field, to_toml};
use karat::judged_pairs::{JudgedPairs, skipped};
use karat_core::local_judge::evaluate::{Figures, mean};
use karat_core::local_judge::fit::{fit, hold_out};
use karat_core::local_judge::labels::Labels;
use karat_core::local_judge::params::{HeldOut, Provenance};
use karat_core::wording::count;
use karat_report::number::decimals;
use serde::Serialize;
use std::collections::BTreeSet;

pub(crate) fn run(args: &FitArgs) -> Result<Exit, Failure> {
    let given = JudgedPairs::load(&(&args.pairs).into())?;
    let labels = given.labels()?;
    skipped(&labels).iter().for_each(|text| note(text));
    let suite = &given.loaded.suite;
    let mut provenance = Provenance {
        suite: suite.name.clone(),
        digest: suite.digest.clone(),
        judges: labels.judges.iter().map(ToString::to_string).collect(),
        ..Provenance::default()
    };
    let field = given.field.clone().unwrap_or(Field::Repo);
    let groups: BTreeSet<String> = labels.trials.iter().map(|own| field.value(own.case)).collect();
    if groups.len() > 1 {
        provenance.group_by = Some(args.pairs.group_by.clone().unwrap_or_else(|| "repo".to_owned()));
        measure(&labels, &field, &mut provenance);
    } else {
        note("all cases are in one group, so nothing was held out; choose other groups with --group-by FIELD");
    }
    let params = fit(&labels.trials, provenance).map_err(|error| Failure::bad_input(error.to_string()))?;
    let text = to_toml(&params).map_err(|error| Failure::Message(Category::Internal, error.to_string()))?;
    save(&args.output, text.as_bytes())?;
    let told = &params.provenance;
    if args.json {
        let output = args.output.display().to_string();
        print_json(&Fitted { output, features: params.features, threshold: params.threshold, provenance: told })?;
        return Ok(Exit::Ok);
    }
    tell(&format!(
        "wrote {} ({}, {} of them matches; threshold {:.2})",
        args.output.display(),
        count(told.pairs, "pair"),
        told.matches,
        params.threshold
    ));
    if let Some(held_out) = &told.held_out {
        let n = count(told.held_out_kappa.len(), "group");
        tell(&format!(
            "{n} held out in turn: kappa {}, ECE {:.3} on average",
            decimals(held_out.kappa, 3),
            held_out.ece
        ));
    }
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Fitted<'a> {
    output: String,
    features: u32,
    threshold: f64,
    provenance: &'a Provenance,
}

/// Holds out each group in turn. There are no figures if the rest is too small to fit.
fn measure(labels: &Labels<'_>, field: &Field, provenance: &mut Provenance) {
    let held_out = match hold_out(&labels.trials, |case| field.value(case)) {
        Ok(held_out) => held_out,
        Err(error) => return note(&format!("nothing could be held out: {error}")),
    };
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let Figures { golden_found, pairs } = mean(held_out.groups.values().map(|(figures, _)| figures));
    let all = [golden_found.kappa, golden_found.precision, golden_found.recall, pairs.auc, pairs.ece];
    if let [Some(kappa), Some(precision), Some(recall), Some(auc), Some(ece)] = all.map(|value| value.map(rounded)) {
        provenance.held_out = Some(HeldOut { kappa, precision, recall, auc, ece });
    }
    let kappas =
        held_out.groups.into_iter().filter_map(|(name, (figures, _))| Some((name, figures.golden_found.kappa?)));
    provenance.held_out_kappa = kappas.map(|(name, kappa)| (name, rounded(kappa))).collect();
}
