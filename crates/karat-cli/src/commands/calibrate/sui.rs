//! `karat calibrate sui`: fits the weights of `sui` to experts' rankings of tools.

use super::{check, row, sentences, table, write};
use crate::args::SuiArgs;
use crate::exit::{Exit, Result};
use crate::progress::JudgeProgress;
use crate::terminal::{notes, show};
use karat::calibrate::{SuiCalibration, SuiCalibrationRequest, calibrate_sui};
use karat::ranking::Ranked;
use karat::score::{ScoreRequest, ScoreSource};
use karat_core::calibrate::sui::{Agreement, SuiFit, ToolStanding};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::number::three;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) fn run(args: &SuiArgs) -> Result<Exit> {
    check(&args.output)?;
    let suite = ScoreSource::Suite(args.of.first().cloned().unwrap_or_default());
    let score = ScoreRequest {
        submissions: (&args.trials).into(),
        judgements: args.trials.judgements.clone(),
        judge: args.ask.request(),
        profile: (&args.rules).into(),
        ..ScoreRequest::new(suite, args.store.path())
    };
    let request = SuiCalibrationRequest { of: args.of.clone(), ranking: args.ranking.clone(), score };
    let mut progress = JudgeProgress::new(args.output.json);
    let SuiCalibration { fit, ranked, fitted } = calibrate_sui(&request, &mut progress, &mut notes)?;
    show(args.output.json, &as_json(&fit, &ranked), |look| draw(&fit, &ranked, look.width))?;
    let (tools, experts) = (count(ranked.tools.len(), "tool"), count(ranked.experts.len(), "expert"));
    let from = format!("Weights of sui, fitted by `karat calibrate sui` to rankings of {tools} by {experts}.");
    write(&args.output, &fitted, &from)?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Standing<'a> {
    tool: &'a str,
    #[serde(flatten)]
    standing: &'a ToolStanding,
}

fn as_json(fit: &SuiFit, ranked: &Ranked) -> Value {
    let standings = ranked.tools.iter().zip(&fit.standings);
    json!({
        "tools": standings.map(|((tool, _), standing)| Standing { tool, standing }).collect::<Vec<_>>(),
        "experts": ranked.experts.iter().map(|expert| expert.name.as_str()).collect::<Vec<_>>(),
        "preferences": fit.preferences,
        "weights": { "present": fit.present, "fitted": fit.fitted },
        "agreement": {
            "present": fit.with_present,
            "fitted": fit.in_sample,
            "tools_held_out": fit.tools_held_out,
            "experts_held_out": fit.experts_held_out,
        },
        "unreliable": fit.standings.len() < RELIABLE_N,
        "better": fit.is_better(),
        "left_out": ranked.left_out,
    })
}

fn draw(fit: &SuiFit, ranked: &Ranked, width: usize) -> String {
    let (tools, experts) = (count(ranked.tools.len(), "tool"), count(ranked.experts.len(), "expert"));
    let mut text = format!("weights of sui from rankings of {tools} by {experts}\n\n");
    let names = ["verdict_f2", "target_detection_rate", "finding_precision", "reasoning", "calibration"];
    let mut rows = vec![row("weight", ["current", "fitted"].map(str::to_owned))];
    for (name, (present, fitted)) in names.iter().zip(fit.present.list().into_iter().zip(fit.fitted.list())) {
        rows.push(row(name, [three(Some(present)), three(Some(fitted))]));
    }
    text.push_str(&table(&rows, width));

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
    let few = (ranked.tools.len() < RELIABLE_N)
        .then(|| format!("{tools}: too few for a reliable fit ({RELIABLE_N} needed)."));
    text + &sentences(&few.into_iter().chain([verdict(fit)]).collect::<Vec<_>>(), width)
}

fn verdict(fit: &SuiFit) -> String {
    let (now, held_out) = (three(fit.with_present.rho), three(fit.tools_held_out.rho));
    if fit.is_better() {
        return format!(
            "Use the fitted weights: their Spearman correlation on held-out tools is {held_out}, and that of the current \
             weights {now}."
        );
    }
    let others = match &fit.experts_held_out {
        Some(own) => format!(" on held-out tools and {} on held-out experts", three(own.rho)),
        None => " on held-out tools".to_owned(),
    };
    format!(
        "Keep the current weights: their Spearman correlation is {now}, and that of the fitted ones {held_out}{others}, which is \
         not better on all held-out data."
    )
}
