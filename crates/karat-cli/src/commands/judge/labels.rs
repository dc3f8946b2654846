//! Judged pairs, read and put to their trials.

use crate::args::LabelArgs;
use crate::exit::Failure;
use crate::inputs;
use crate::terminal::note;
use karat::judge::local::Field;
use karat::recorded::read_trials;
use karat::report::number::count;
use karat::suite::LoadedSuite;
use karat_core::judgement::Judgement;
use karat_core::local_judge::labels::Labels;
use karat_core::trial::Trial;

/// Everything that was given.
pub(super) struct Given {
    pub(super) loaded: LoadedSuite,
    pub(super) field: Option<Field>,
    trials: Vec<Trial>,
    judgements: Vec<Judgement>,
}

impl Given {
    pub(super) fn read(args: &LabelArgs) -> Result<Self, Failure> {
        let field = args.group_by.as_deref().map(str::parse).transpose();
        let field = field.map_err(|error: karat::judge::local::UnknownField| Failure::usage(error.to_string()))?;
        let from_stdin = args.submissions.iter().chain(&args.judgements).filter(|path| path.as_os_str() == "-").count();
        if from_stdin > 1 {
            return Err(Failure::usage("standard input can be read once only, so `-` can stand for one file only"));
        }
        let loaded = inputs::suite(&args.suite)?;
        let submissions = args.submissions.iter().map(|path| inputs::lines(path)).collect::<Result<Vec<_>, _>>()?;
        let trials = read_trials(submissions, Some(&loaded.suite))?;
        let judgements = inputs::judgements(&args.judgements, &loaded.suite)?;
        Ok(Self { loaded, field, trials, judgements })
    }

    /// The pairs that something is known of; what is left out is told.
    pub(super) fn labels(&self) -> Result<Labels<'_>, Failure> {
        let labels = Labels::of(&self.loaded.suite, &self.trials, &self.judgements);
        if labels.unjudged > 0 {
            note(&format!("{} with findings left out, as nobody judged them", count(labels.unjudged, "trial")));
        }
        if labels.strangers > 0 {
            let strangers = count(labels.strangers, "judgement");
            note(&format!("{strangers} left out, as the submissions have no such trial or finding"));
        }
        if labels.trials.iter().all(|own| own.stated.iter().all(Option::is_none)) {
            let message = "no pair of these submissions is judged: give the judgements that belong to them";
            return Err(Failure::bad_input(message));
        }
        Ok(labels)
    }
}
