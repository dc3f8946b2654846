//! `karat explain`.

use crate::args::ExplainArgs;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeCall;
use crate::terminal::{look, print, print_json};
use crate::{inputs, store_path};
use karat::judge::run::JudgeRequest;
use karat::run_loader;
use karat::scoring::{self, Work};
use karat::suite::LoadedSuite;
use karat_core::scorecard::candidates;
use karat_format::document::suggest;
use karat_format::judgement::JudgementV1;
use karat_report::explain::{CaseExplanation, candidate_json, draw};
use karat_store::{RunState, Store};
use std::path::Path;

/// Number of candidates shown per golden.
const CANDIDATES: usize = 3;

pub(crate) fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    let ExplainInput { loaded, mut work, mut store, request } =
        if let Some(run) = named_run(args) { of_run(args, run)? } else { of_suite(args)? };
    let cases = &loaded.suite.cases;
    let Some(index) = cases.iter().position(|c| c.id.as_str() == args.case) else {
        let near = suggest::nearest(&args.case, cases.iter().map(|c| c.id.as_str()));
        let hint = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
        return Err(Failure::usage(format!("the suite {} has no case `{}`{hint}", loaded.suite.name, args.case)));
    };
    work.judgements.extend(inputs::judgements(&args.trials.judgements, &loaded.suite)?);
    // The judge is asked only about the pairs of this case.
    work.trials.retain(|trial| trial.case.as_str() == args.case);
    let folder = args.store.folder.as_deref();
    let models = Vec::new();
    JudgeCall { request, loaded: &loaded, folder, store: store.as_mut(), models, quiet: false }.run(&mut work)?;
    let scoring = scoring::run(&loaded, work);
    let tools = &scoring.scorecard.tools;
    let names: Vec<&str> = tools.iter().map(|t| t.tool.as_str()).collect();
    let tool = match (&args.tool, tools.as_slice()) {
        (Some(name), _) => tools.iter().position(|t| t.tool.as_str() == name),
        (None, [_]) => Some(0),
        (None, _) => None,
    };
    let Some(tool) = tool else {
        let there = format!("available: {}", names.join(", "));
        return Err(Failure::usage(match &args.tool {
            None => format!("select a tool with --tool; {there}"),
            Some(name) => {
                let near = suggest::nearest(name, names.iter().copied());
                let hint = near.map_or_else(|| format!("; {there}"), |near| format!(", did you mean `{near}`?"));
                format!("no trials of `{name}`{hint}")
            }
        }));
    };
    let score = &tools[tool].cases[index];
    let trial = match args.trial {
        None => score.trials.first(),
        Some(number) => score.trials.iter().find(|t| t.number == number),
    };
    let Some(trial) = trial else {
        let numbers: Vec<String> = score.trials.iter().map(|t| t.number.to_string()).collect();
        return Err(Failure::usage(format!("no such trial; available: {}", numbers.join(", "))));
    };
    let reported = trial.line.map(|line| &scoring.trials[line]);
    let case = &cases[index];
    let best = reported.map_or_else(Vec::new, |trial| {
        candidates(&loaded.suite, case, trial, &scoring.judgements, &scoring.profile, CANDIDATES)
    });
    if args.json {
        let findings = reported.map_or(&[][..], |t| &t.findings);
        let best: serde_json::Map<String, serde_json::Value> = case
            .goldens
            .iter()
            .zip(&best)
            .map(|(golden, candidates)| {
                let list: Vec<_> = candidates.iter().map(|c| candidate_json(c, findings)).collect();
                (golden.id.to_string(), serde_json::to_value(list).unwrap_or_default())
            })
            .collect();
        let value = serde_json::json!({
            "case": scoring.report.cases[index],
            "tool": names[tool],
            "trial": trial.number,
            "result": scoring.report.tools[tool].cases[index],
            "candidates": best,
        });
        print_json(&value)?;
        return Ok(Exit::Ok);
    }
    let explanation = CaseExplanation {
        case,
        score,
        trial,
        reported,
        judgements: &scoring.judgements,
        candidates: &best,
        profile: &scoring.profile,
    };
    print(&draw(&explanation, names[tool], &look()))?;
    Ok(Exit::Ok)
}

/// The named run, or the latest if nothing is named and the current folder is not a suite.
fn named_run(args: &ExplainArgs) -> Option<&str> {
    let nothing_named = args.suite.is_none() && args.trials.submissions.is_empty();
    let no_suite_here = || !["karat.toml", "cases.jsonl", "cases"].iter().any(|file| Path::new(file).exists());
    let latest = || {
        (nothing_named && no_suite_here() && Store::is_at(&store_path::folder(args.store.folder.as_deref())))
            .then_some("latest")
    };
    args.run.as_deref().or_else(latest)
}

/// What is explained.
struct ExplainInput {
    loaded: LoadedSuite,
    work: Work,
    /// The store of the run, if it is a run.
    store: Option<Store>,
    request: JudgeRequest,
}

fn of_run(args: &ExplainArgs, reference: &str) -> Result<ExplainInput, Failure> {
    let mut store = store_path::open(args.store.folder.as_deref())?;
    let mut run = run_loader::run(&mut store, reference)?;
    let mut work = run.work(run.profile(&(&args.rules).into())?, None);
    let own_rules = args.rules.profile.is_none() && args.rules.sets.is_empty();
    if own_rules && args.ask.judge.is_none() && run.info.state == RunState::Complete {
        // Show the stored decisions, even if a panel would decide differently on this case alone.
        let kept = store.judgements(&run.info.id)?.into_iter().map(JudgementV1::into_judgement);
        work.judgements = kept.filter(|(_, faults)| faults.is_empty()).map(|(judgement, _)| judgement).collect();
    }
    Ok(ExplainInput { request: run.judge_request(&args.ask.request()), loaded: run.loaded, work, store: Some(store) })
}

fn of_suite(args: &ExplainArgs) -> Result<ExplainInput, Failure> {
    let loaded = inputs::suite(args.suite.as_deref().unwrap_or("."))?;
    let profile = inputs::profile(&args.rules, Some(&loaded))?;
    let (trials, said) = inputs::trials(&args.trials, &loaded, args.tool.as_deref())?;
    inputs::tell_all(&said);
    Ok(ExplainInput { loaded, work: Work::new(trials, profile), store: None, request: args.ask.request() })
}
