//! `karat score`: trials against goldens.

use crate::args::ScoreArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::tell;
use crate::{inputs, outputs};
use karat::diagnostic::harmless;
use karat::format::report::{CaseResultV1, ReportV1};
use karat::report::number::ranked;
use karat::scoring;
use karat_core::ids::ToolName;
use karat_core::trial::Trial;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn run(args: &ScoreArgs) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let loaded = inputs::suite(&args.suite)?;
    let profile = inputs::profile(&args.rules, Some(&loaded))?;
    let name = if let [only] = args.tools.as_slice() { Some(only.as_str()) } else { None };
    let (mut trials, mut said) = inputs::trials(&args.trials, &loaded, name)?;
    if !args.tools.is_empty() {
        trials.retain(|t| args.tools.iter().any(|tool| tool == t.tool.as_str()));
        if trials.is_empty() {
            return Err(Failure::usage(format!("no trials of {}", args.tools.join(", "))));
        }
    }
    said.extend(too_few_trials(&trials, loaded.config.scoring.trials));
    let judgements = inputs::judgements(&args.trials, &loaded.suite)?;
    let expect_pass = profile.expect_pass;
    let scoring = scoring::run(&loaded, trials, judgements, profile, args.seed, &said);
    outputs::write(&scoring.report, &args.output)?;
    outputs::step_summary(&scoring.report)?;
    if !args.output.json && args.output.format.is_none() && args.output.outputs.is_empty() {
        next_steps(args, &scoring.report);
    }
    let passed = scoring.report.tools.iter().all(|tool| tool.pass);
    Ok(if expect_pass && !passed { Exit::NotMet } else { Exit::Ok })
}

/// A warning for each tool that ran its cases less often than the suite plans.
fn too_few_trials(trials: &[Trial], planned: Option<u32>) -> Vec<String> {
    let mut numbers: BTreeMap<&ToolName, BTreeSet<u32>> = BTreeMap::new();
    for trial in trials {
        numbers.entry(&trial.tool).or_default().insert(trial.number);
    }
    let planned = planned.unwrap_or(1) as usize;
    let fewer = numbers.iter().filter(|(_, seen)| seen.len() < planned);
    fewer
        .map(|(tool, seen)| {
            format!("{tool}: the suite plans {planned} trials of each case, and there are {}", seen.len())
        })
        .collect()
}

/// What a person would type now: the story of the worst case of the best tool, and a report to keep.
fn next_steps(args: &ScoreArgs, report: &ReportV1) {
    let Some(tool) = ranked(report).into_iter().next() else { return };
    // A clean case has no F1; whether it stayed clean is what there is to look at.
    let value = |case: &CaseResultV1, id: &str| case.metrics.get(id).and_then(|estimate| estimate.value);
    let goodness = |case| value(case, "f1").or_else(|| value(case, "clean_pass"));
    let worst = tool.cases.iter().filter_map(|case| Some((goodness(case)?, &case.case)));
    let Some((_, case)) = worst.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let suite = if args.suite == "." { String::new() } else { format!(" --suite {}", word(&args.suite)) };
    let files = same_again(args);
    let steps = [
        format!("karat explain {} --tool {}{suite}{files}", word(case), word(&tool.tool)),
        format!("karat score {}{files} -o report.json -o report.md", word(&args.suite)),
    ];
    tell(&format!("\nNext:\n  {}", steps.map(|step| harmless(&step).into_owned()).join("\n  ")));
}

/// A name as a shell takes it for one word; names may hold what a tool wrote.
fn word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@+".contains(c);
    let quoted = || format!("'{}'", name.replace('\'', r"'\''"));
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted() }
}

/// The flags that make another command see the same trials under the same rules.
fn same_again(args: &ScoreArgs) -> String {
    let (trials, place, rules) = (&args.trials, &args.trials.place, &args.rules);
    let path = |path: &std::path::PathBuf| path.display().to_string();
    let mut flags: Vec<(&str, String)> = Vec::new();
    flags.extend(trials.submissions.iter().map(|file| ("--submission", path(file))));
    flags.extend(trials.judgements.iter().map(|file| ("--judgements", path(file))));
    flags.extend(trials.judge.iter().map(|judge| ("--judge", judge.clone())));
    flags.extend(place.from.iter().map(|format| ("--from", format.clone())));
    flags.extend(place.case.iter().map(|case| ("--case", case.clone())));
    flags.extend(place.case_from.iter().map(|pattern| ("--case-from", pattern.clone())));
    if place.trial_number != 1 {
        flags.push(("--trial-number", place.trial_number.to_string()));
    }
    flags.extend(place.rule_map.iter().map(|file| ("--rule-map", path(file))));
    flags.extend(rules.profile.iter().map(|name| ("--profile", name.clone())));
    flags.extend(rules.sets.iter().map(|set| ("--set", set.clone())));
    flags.iter().map(|(flag, value)| format!(" {flag} {}", word(value))).collect()
}
