//! `karat run --watch`: rounds of a run, each with its leaderboard and what changed since the one before.

use super::run::{RunObserver, failure, start};
use super::score_changes::print_changes;
use crate::args::RunArgs;
use crate::exit::{Exit, Result};
use crate::outputs::{self, ReportOutput};
use crate::progress::Progress;
use crate::terminal::{most_shown, note, print_failure, print_stderr};
use karat::evaluate::{EvaluateError, Round, RoundStart, WatchObserver};
use karat_core::wording::{count, first_few};
use karat_format::diagnostic::harmless;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit> {
    let (request, mut observer) = start(args, jobs)?;
    karat::evaluate::watch(request, &args.output.outputs, &mut observer).map_err(|error| failure(error, args))?;
    Ok(Exit::Ok)
}

/// Names of cases or tools that are listed.
const MOST_NAMES: usize = 5;

impl WatchObserver for RunObserver<'_> {
    fn begin(&mut self, start: &RoundStart) {
        self.progress = Progress::new();
        if start.number > 1 {
            print_stderr(&format!("\n{}", harmless(&describe_start(start))));
        }
    }

    fn done(&mut self, round: Round) -> Result<()> {
        let Round { number, mut evaluated, changes } = round;
        let facts = evaluated.run.take_facts();
        let run = &evaluated.run;
        let output = &self.args.output;
        outputs::write(ReportOutput::of_scoring(&evaluated.scoring, &run.loaded, Some(&facts)), output)?;
        if let Some(failure) = evaluated.failure() {
            print_failure(&failure);
        }
        if let Some(changes) = changes {
            print_changes(&changes, output)?;
        }
        let (short, place) = (&run.info.short_id, self.args.store.flag());
        print_stderr(&format!("round {number} is stored as run {short}: karat report {short}{place} -o report.html"));
        Ok(())
    }

    fn failed(&mut self, error: EvaluateError) {
        print_failure(&failure(error, self.args));
    }

    fn restored(&mut self) {
        note("everything is again as it was in the last round");
    }

    fn waiting(&mut self, watched: &[PathBuf]) {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let shown = |path: &PathBuf| match here.as_deref().and_then(|here| path.strip_prefix(here).ok()) {
            Some(inner) if inner == Path::new("") => "this folder".to_owned(),
            Some(inner) => inner.display().to_string(),
            None => path.display().to_string(),
        };
        let watched: Vec<String> = watched.iter().map(shown).collect();
        print_stderr(&harmless(&format!("watching {}; Ctrl-C ends it", first_few(&watched, most_shown(MOST_NAMES)))));
    }
}

fn describe_start(start: &RoundStart) -> String {
    let parts = [
        ("changed", "case", &start.changed_cases),
        ("changed", "tool", &start.changed_tools),
        ("removed", "case", &start.removed_cases),
        ("removed", "tool", &start.removed_tools),
    ];
    let parts = parts.into_iter().filter(|(.., names)| !names.is_empty());
    let mut why: Vec<String> = parts
        .map(|(how, noun, names)| {
            format!("{} {how} ({})", count(names.len(), noun), first_few(names, most_shown(MOST_NAMES)))
        })
        .collect();
    if why.is_empty() {
        why.push("only goldens or rules changed".to_owned());
    }
    let executed = start.trials.saturating_sub(start.taken_over);
    let (number, why) = (start.number, why.join(", "));
    format!("round {number}: {why}; runs {executed} of {} again", count(start.trials, "trial"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_say_why_they_are_run() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let start = RoundStart { number: 2, trials: 12, taken_over: 12, ..RoundStart::default() };
        assert_eq!(describe_start(&start), "round 2: only goldens or rules changed; runs 0 of 12 trials again");
        let start = RoundStart {
            number: 3,
            changed_cases: names(&["a", "b", "c", "d", "e", "f", "g"]),
            removed_tools: names(&["x"]),
            trials: 12,
            taken_over: 5,
            ..RoundStart::default()
        };
        let expected =
            "round 3: 7 cases changed (a, b, c, d, e and 2 more), 1 tool removed (x); runs 7 of 12 trials again";
        assert_eq!(describe_start(&start), expected);
    }
}
