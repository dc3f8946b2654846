//! Reads judged pairs and joins them with their trials.

use crate::args::LabelArgs;
use crate::exit::Failure;
use crate::inputs;
use crate::terminal::note;
use karat::judge::local::Field;
use karat::suite::LoadedSuite;
use karat_core::judgement::Judgement;
use karat_core::local_judge::labels::Labels;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::recorded::{NamedLines, read_judgements, read_trials};
use karat_format::submission::MAX_TRIALS;
use std::collections::HashSet;
use std::path::PathBuf;

/// All inputs.
pub(in crate::commands) struct LabelInputs {
    pub(in crate::commands) loaded: LoadedSuite,
    pub(in crate::commands) field: Option<Field>,
    trials: Vec<Trial>,
    judgements: Vec<Judgement>,
}

/// The files of a suite's calibration set.
const CALIBRATION: [&str; 2] = ["calibration/submission.jsonl", "calibration/judgements.jsonl"];

impl LabelInputs {
    pub(in crate::commands) fn read(args: &LabelArgs) -> Result<Self, Failure> {
        let from_stdin = args.submissions.iter().chain(&args.judgements).filter(|path| path.as_os_str() == "-").count();
        if from_stdin > 1 {
            return Err(Failure::usage("standard input can be read only once: use `-` for one file"));
        }
        let field = field(args.group_by.as_deref())?;
        let loaded = inputs::suite(&args.suite)?;
        let (trials, judgements) = together(args, &loaded.suite)?;
        Ok(Self { loaded, field, trials, judgements })
    }

    /// Loads the suite's calibration set.
    pub(in crate::commands) fn calibration(suite: &str, group_by: Option<&str>) -> Result<Self, Failure> {
        let field = field(group_by)?;
        let loaded = inputs::suite(suite)?;
        let [submission, judgements] = CALIBRATION.map(|path| own(&loaded, path));
        let trials = read_trials(vec![submission?], Some(&loaded.suite))?;
        let judgements = read_judgements(vec![judgements?], Some(&loaded.suite))?;
        Ok(Self { loaded, field, trials, judgements })
    }

    /// All trials of the submissions, judged or not.
    pub(in crate::commands) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The judged pairs; notes what is skipped.
    pub(in crate::commands) fn labels(&self) -> Result<Labels<'_>, Failure> {
        let labels = Labels::new(&self.loaded.suite, &self.trials, &self.judgements);
        if labels.unjudged > 0 {
            note(&format!("{} with findings skipped: no judgements", count(labels.unjudged, "trial")));
        }
        if labels.strangers > 0 {
            let strangers = count(labels.strangers, "judgement");
            note(&format!("{strangers} skipped: the submissions have no such trial or finding"));
        }
        if labels.trials.iter().all(|own| own.stated.iter().all(Option::is_none)) {
            let message = "no pair of these submissions is judged; use the judgements that belong to them";
            return Err(Failure::bad_input(message));
        }
        Ok(labels)
    }
}

/// All trials and judgements. If judges saw different findings of the same trials, the first submission belongs to the first
/// judgements, the second to the second, and their trials are kept separate.
fn together(args: &LabelArgs, suite: &Suite) -> Result<(Vec<Trial>, Vec<Judgement>), Failure> {
    let read =
        |path: &PathBuf| -> Result<Vec<Trial>, Failure> { Ok(read_trials(vec![inputs::lines(path)?], Some(suite))?) };
    let mut sets = args.submissions.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    let mut all = sets.iter().flatten().map(|trial| (&trial.case, &trial.tool, trial.number));
    if all.all(|trial| seen.insert(trial)) {
        return Ok((sets.concat(), inputs::judgements(&args.judgements, suite)?));
    }
    if args.submissions.len() != args.judgements.len() {
        return Err(Failure::usage(
            "the submissions contain the same trials more than once; if each judge saw different findings, use one file of \
             judgements for each submission, in the same order",
        ));
    }
    let mut judged = Vec::new();
    for (number, (trials, path)) in (0..).zip(sets.iter_mut().zip(&args.judgements)) {
        let mut judgements = inputs::judgements(std::slice::from_ref(path), suite)?;
        trials.iter_mut().for_each(|trial| trial.number += number * APART);
        judgements.iter_mut().for_each(|judgement| judgement.trial += number * APART);
        judged.extend(judgements);
    }
    Ok((sets.concat(), judged))
}

/// Offset between the trial numbers of different submissions; larger than any trial number.
const APART: u32 = 10 * MAX_TRIALS;

fn field(typed: Option<&str>) -> Result<Option<Field>, Failure> {
    let field = typed.map(str::parse).transpose();
    field.map_err(|error: karat::judge::local::UnknownField| Failure::usage(error.to_string()))
}

/// Reads a file of the suite's calibration set.
fn own(loaded: &LoadedSuite, path: &str) -> Result<NamedLines<'static>, Failure> {
    let file = loaded.files.display(path);
    let reader = loaded.files.open(path).map_err(|error| Failure::io(&file, error))?;
    reader.map(|reader| NamedLines { file, reader }).ok_or_else(|| {
        Failure::usage(format!(
            "the suite {} has no calibration set: {path} is missing; use judged pairs with --submission and --judgements",
            loaded.suite.name
        ))
    })
}
