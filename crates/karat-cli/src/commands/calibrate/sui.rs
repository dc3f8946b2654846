//! `karat calibrate sui`: fits the weights of `sui` to experts' rankings of tools.

use super::{check, row, table, tell_of_overrides, write};
use crate::args::SuiArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::progress::JudgeProgress;
use crate::terminal::{note, notes};
use karat::profile::request::{ProfileRequest, resolve_for_suite};
use karat::ranking::{LeftOut, Ranked, fit_together, put, read};
use karat::report_source::{ReportLoader, names_run};
use karat::score::{ScoreRequest, ScoreSource, score};
use karat::submissions::{open_lines, refuse_repeated_stdin};
use karat_core::calibrate::sui::{Agreement, SuiFit, fit};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::Profile;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::ReportV1;
use karat_report::grid::wrap;
use karat_report::number::three;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

pub(crate) fn run(args: &SuiArgs) -> Result<Exit, Failure> {
    check(&args.output)?;
    refuse_repeated_stdin(args.trials.submissions.iter().chain(&args.trials.judgements).chain([&args.ranking]))?;
    let (reports, mut profile) = reports(args)?;
    fit_together(&reports).map_err(|error| Failure::bad_input(error.to_string()))?;
    let ranked = ranked(&args.ranking, &reports, profile.audit_conventions.sui_fills_missing)?;
    let parts: Vec<_> = ranked.tools.iter().map(|(_, parts)| *parts).collect();
    let fit = fit(&parts, &ranked.experts, &profile.sui).map_err(|error| Failure::bad_input(error.to_string()))?;
    show(args.output.json, &calibration(&fit, &ranked), |look| drawn(&fit, &ranked, look.width))?;
    profile.sui = fit.fitted.clone();
    let experts = count(ranked.experts.len(), "expert");
    let from = format!(
        "Weights of sui, fitted by `karat calibrate sui` to rankings of {} by {experts}.",
        count(parts.len(), "tool")
    );
    write(&args.output, &profile, &from)?;
    Ok(Exit::Ok)
}

/// The given reports, or one scored now, and their profile.
fn reports(args: &SuiArgs) -> Result<(Vec<(String, ReportV1)>, Profile), Failure> {
    let store_folder = args.store.path();
    let mut progress = JudgeProgress::new(args.output.json);
    let is_report = |name: &String| Path::new(name).is_file() || names_run(name, &store_folder);
    if args.trials.submissions.is_empty() && args.of.iter().any(is_report) {
        let mut loader = ReportLoader { store_folder: &store_folder, observer: &mut progress };
        let named = |name: &String| Ok((name.clone(), loader.report(name)?));
        let reports = args.of.iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
        let profile = rules(args, &reports)?;
        return Ok((reports, profile));
    }
    let [suite] = args.of.as_slice() else {
        let message = "only one suite can be scored here; score the others with `karat score -o report.json` first";
        return Err(Failure::usage(message));
    };
    let request = ScoreRequest {
        submissions: (&args.trials).into(),
        judgements: args.trials.judgements.clone(),
        judge: args.ask.request(),
        profile: (&args.rules).into(),
        ..ScoreRequest::new(ScoreSource::Suite(suite.clone()), store_folder)
    };
    let scored = score(&request, &mut progress)?;
    tell_of_overrides(&scored.loaded, &["sui"]);
    let profile = resolve_for_suite(&request.profile, Some(&scored.loaded))?;
    Ok((vec![(suite.clone(), scored.scoring.report)], profile))
}

/// The requested profile, else that of the reports.
fn rules(args: &SuiArgs, reports: &[(String, ReportV1)]) -> Result<Profile, Failure> {
    let request = ProfileRequest::from(&args.rules);
    let Some((name, report)) = reports.first().filter(|_| request.is_empty()) else {
        return resolve_for_suite(&request, None);
    };
    let printed = serde_json::to_value(&report.profile).and_then(serde_json::from_value::<Profile>);
    let profile = printed.map_err(|error| {
        Failure::bad_input(format!("{name}: its profile could not be read: {error}; set one with --profile"))
    })?;
    match profile.faults().as_slice() {
        [] => Ok(profile),
        faults => Err(Failure::bad_input(format!("{name}: invalid profile: {}", faults.join("; ")))),
    }
}

/// Joins the ranking with the tools, and notes what is skipped.
fn ranked(path: &Path, reports: &[(String, ReportV1)], fill: bool) -> Result<Ranked, Failure> {
    let mut lines = open_lines(path)?;
    let mut text = String::new();
    let unread = |error| Failure::bad_input(format!("{}: {error}; expected CSV or JSONL in UTF-8", lines.file));
    lines.reader.read_to_string(&mut text).map_err(unread)?;
    let tools: Vec<&str> =
        reports.iter().flat_map(|(_, report)| report.tools.iter().map(|tool| tool.tool.as_str())).collect();
    let rankings = read(&lines.file, &text, &tools)?;
    notes(&rankings.notes);
    let ranked = put(&rankings, reports, fill);
    for LeftOut { tool, why } in &ranked.left_out {
        note(&format!("{tool} is skipped: {why}"));
    }
    Ok(ranked)
}

/// The JSON output. Ranks start at 1, the best; agreement is the mean over experts.
fn calibration(fit: &SuiFit, ranked: &Ranked) -> Value {
    let standings = ranked.tools.iter().zip(&fit.standings);
    let tools = standings.map(|((tool, _), own)| {
        json!({ "tool": tool, "experts": own.experts, "present": own.present, "fitted": own.fitted, "held_out": own.held_out })
    });
    let agreement = |own: &Agreement| json!({ "spearman": own.rho, "kendall": own.tau });
    json!({
        "tools": tools.collect::<Vec<_>>(),
        "experts": ranked.experts.iter().map(|expert| expert.name.as_str()).collect::<Vec<_>>(),
        "preferences": fit.preferences,
        "weights": { "present": fit.present, "fitted": fit.fitted },
        "agreement": {
            "present": agreement(&fit.with_present),
            "fitted": agreement(&fit.in_sample),
            "tools_held_out": agreement(&fit.tools_held_out),
            "experts_held_out": fit.experts_held_out.as_ref().map(agreement),
        },
        "unreliable": fit.standings.len() < RELIABLE_N,
        "better": fit.is_better(),
        "left_out": ranked.left_out,
    })
}

fn drawn(fit: &SuiFit, ranked: &Ranked, width: usize) -> String {
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

    let heads = ["experts", "current", "fitted", "held out"].map(str::to_owned);
    let mut rows = vec![row("place", heads)];
    let mut order: Vec<_> = ranked.tools.iter().zip(&fit.standings).collect();
    order.sort_by(|((a_name, _), a), ((b_name, _), b)| a.experts.total_cmp(&b.experts).then(a_name.cmp(b_name)));
    for ((name, _), own) in order {
        let places = [own.experts, own.present, own.fitted, own.held_out].map(|place| format!("{place:.1}"));
        rows.push(row(&harmless(name), places));
    }
    text.push_str(&format!("\n{}\n", table(&rows, width)));
    let few = (ranked.tools.len() < RELIABLE_N)
        .then(|| format!("{tools}: too few for a reliable fit ({RELIABLE_N} needed)."));
    for sentence in few.into_iter().chain([verdict(fit)]) {
        text.push_str(&wrap(&sentence, width.min(100)).join("\n"));
        text.push('\n');
    }
    text
}

/// The recommendation.
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
