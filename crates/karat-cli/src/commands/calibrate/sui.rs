//! `karat calibrate sui`: fits the weights of `sui` to experts' rankings of tools.

use super::{check, row, table, tell_of_overrides, write};
use crate::args::SuiArgs;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeCall;
use crate::terminal::{look, note, notes, print, print_json};
use crate::{inputs, report_source, store_path};
use karat::ranking::{LeftOut, Ranked, fit_together, put, read};
use karat::scoring::{self, Work};
use karat_core::calibrate::sui::{Agreement, SuiFit, fit};
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::profile::{Profile, SuiWeights};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::ReportV1;
use karat_report::grid::wrap;
use karat_report::number::three;
use serde::Serialize;
use std::io::Read;
use std::path::Path;

/// The JSON output.
#[derive(Serialize)]
struct Calibration<'a> {
    tools: Vec<Tool<'a>>,
    experts: Vec<&'a str>,
    /// Number of times an expert ranked one tool before another.
    preferences: usize,
    weights: Weights<'a>,
    /// Agreement of the index's order with the experts', the mean over experts.
    agreement: Agreements,
    /// Whether there are too few tools for a reliable fit.
    unreliable: bool,
    /// Whether the fitted weights agree better than the current ones on all held-out data.
    better: bool,
    left_out: &'a [LeftOut],
}

#[derive(Serialize)]
struct Tool<'a> {
    tool: &'a str,
    /// Its mean rank by the experts, and its ranks by weights; 1 is the best.
    experts: f64,
    present: f64,
    fitted: f64,
    held_out: f64,
}

#[derive(Serialize)]
struct Weights<'a> {
    present: &'a SuiWeights,
    fitted: &'a SuiWeights,
}

#[derive(Serialize)]
struct Agreements {
    present: Figures,
    fitted: Figures,
    tools_held_out: Figures,
    /// Null if there is only one expert.
    experts_held_out: Option<Figures>,
}

#[derive(Serialize)]
struct Figures {
    spearman: Option<f64>,
    kendall: Option<f64>,
}

impl From<Agreement> for Figures {
    fn from(own: Agreement) -> Self {
        Self { spearman: own.rho, kendall: own.tau }
    }
}

pub(crate) fn run(args: &SuiArgs) -> Result<Exit, Failure> {
    check(&args.output)?;
    let stdin = args.trials.submissions.iter().chain(&args.trials.judgements).chain([&args.ranking]);
    if stdin.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read only once: use `-` for one file"));
    }
    let (reports, mut profile) = reports(args)?;
    fit_together(&reports).map_err(|error| Failure::bad_input(error.to_string()))?;
    let ranked = ranked(&args.ranking, &reports, profile.audit_conventions.sui_fills_missing)?;
    let parts: Vec<_> = ranked.tools.iter().map(|(_, parts)| *parts).collect();
    let fit = fit(&parts, &ranked.experts, &profile.sui).map_err(|error| Failure::bad_input(error.to_string()))?;
    if args.output.json {
        print_json(&calibration(&fit, &ranked))?;
    } else {
        print(&drawn(&fit, &ranked))?;
    }
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
    let folder = args.store.folder.as_deref();
    let is_report = |name: &String| Path::new(name).is_file() || store_path::names_run(name, folder);
    if args.trials.submissions.is_empty() && args.of.iter().any(is_report) {
        let named = |name: &String| Ok((name.clone(), report_source::report(name, &args.store)?));
        let reports = args.of.iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
        let profile = rules(args, &reports)?;
        return Ok((reports, profile));
    }
    let [suite] = args.of.as_slice() else {
        let message = "only one suite can be scored here; score the others with `karat score -o report.json` first";
        return Err(Failure::usage(message));
    };
    let loaded = inputs::suite(suite)?;
    let profile = inputs::profile(&args.rules, Some(&loaded))?;
    let (trials, said) = inputs::trials(&args.trials, &loaded, None)?;
    let mut work = Work { notes: said, ..Work::new(trials, profile.clone()) };
    work.judgements.extend(inputs::judgements(&args.trials.judgements, &loaded.suite)?);
    let request = args.ask.request();
    let models = Vec::new();
    JudgeCall { request, loaded: &loaded, folder, store: None, models, quiet: args.output.json }.run(&mut work)?;
    tell_of_overrides(&loaded, &["sui"]);
    Ok((vec![(suite.clone(), scoring::run(&loaded, work).report)], profile))
}

/// The requested profile, else that of the reports.
fn rules(args: &SuiArgs, reports: &[(String, ReportV1)]) -> Result<Profile, Failure> {
    if args.rules.profile.is_some() || !args.rules.sets.is_empty() {
        return inputs::profile(&args.rules, None);
    }
    let Some((name, report)) = reports.first() else { return inputs::profile(&args.rules, None) };
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
    let mut lines = inputs::lines(path)?;
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

fn calibration<'a>(fit: &'a SuiFit, ranked: &'a Ranked) -> Calibration<'a> {
    let tool = |((tool, _), own): (&'a (String, _), &karat_core::calibrate::sui::ToolStanding)| Tool {
        tool,
        experts: own.experts,
        present: own.present,
        fitted: own.fitted,
        held_out: own.held_out,
    };
    Calibration {
        tools: ranked.tools.iter().zip(&fit.standings).map(tool).collect(),
        experts: ranked.experts.iter().map(|expert| expert.name.as_str()).collect(),
        preferences: fit.preferences,
        weights: Weights { present: &fit.present, fitted: &fit.fitted },
        agreement: Agreements {
            present: fit.with_present.into(),
            fitted: fit.in_sample.into(),
            tools_held_out: fit.tools_held_out.into(),
            experts_held_out: fit.experts_held_out.map(Figures::from),
        },
        unreliable: fit.standings.len() < RELIABLE_N,
        better: fit.is_better(),
        left_out: &ranked.left_out,
    }
}

fn drawn(fit: &SuiFit, ranked: &Ranked) -> String {
    let width = look().width;
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
