//! `karat judge eval`.

use crate::args::EvalArgs;
use crate::commands::calibrate;
use crate::exit::{Exit, Result};
use crate::progress::JudgeProgress;
use crate::terminal::{note, notes, show};
use karat::judged_pairs::{
    AgreementFigure, AskedFigures, EvaluateJudgeRequest, JudgeEvaluation, JudgedPairsRequest, PairAgreement,
    UnjudgedPair, evaluate_judge,
};
use karat_core::local_judge::evaluate::Figures;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::number::decimals;

const MOST_UNJUDGED: usize = 5;

pub(crate) fn run(args: &EvalArgs) -> Result<Exit> {
    let request = EvaluateJudgeRequest {
        pairs: JudgedPairsRequest {
            suite: args.suite.clone(),
            submissions: args.submissions.clone(),
            judgements: args.judgements.clone(),
            group_by: args.group_by.clone(),
        },
        judge: args.who.request(),
        params: args.params.clone(),
        store_folder: args.who.store.path(),
    };
    let evaluation = evaluate_judge(&request, &mut JudgeProgress::new(args.json))?;
    evaluation.notes.iter().for_each(|text| note(text));
    show(args.json, &evaluation, |_| table(&evaluation))?;
    if let Some(asked) = &evaluation.asked {
        note_unjudged(asked, evaluation.all.pairs.n);
    }
    Ok(Exit::Ok)
}

fn table(evaluation: &JudgeEvaluation) -> String {
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
    let agreement = evaluation.asked.as_ref().map(|asked| describe(&asked.agreement)).unwrap_or_default();
    format!("{title}\n\n{}{agreement}", calibrate::table(&rows, 100))
}

fn describe(agreement: &PairAgreement) -> String {
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
    for pair in asked.unjudged_pairs.iter().take(MOST_UNJUDGED) {
        let UnjudgedPair { case, golden, tool, trial, finding, why } = pair;
        note(&format!("{case}/{golden}/{tool}/{trial}/{finding}: {why}"));
    }
    if open > MOST_UNJUDGED {
        note(&format!("and {} more; --json lists them all", open - MOST_UNJUDGED));
    }
}
