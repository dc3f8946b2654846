//! Loads goldens and findings from a stored run, or from submissions to a suite.

use crate::args::{AskArgs, RuleArgs, SeenArgs};
use crate::exit::Failure;
use crate::hints::word;
use crate::judging::JudgeCall;
use crate::store_path;
use crate::{inputs, terminal};
use karat::judge::run::JudgeRequest;
use karat::label::session::{self, Queue};
use karat::run_loader::{self, StoredRun};
use karat::scoring::Work;
use karat::suite::LoadedSuite;
use karat_core::judgement::Judgement;
use karat_core::panel::Consensus;
use karat_core::profile::Profile;
use karat_core::scorecard::{Scorecard, score};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::recorded::read_trials;
use karat_store::Store;
use karat_store::label::{
    AuditKey, AuditSubject, ExtraKey, ExtraSubject, FindingText, GoldenText, PairKey, PairSubject,
};
use std::collections::HashMap;
use std::path::Path;

/// A suite, and trials whose findings are compared with its goldens.
pub(super) struct LabelSource {
    pub(super) loaded: LoadedSuite,
    pub(super) trials: Vec<Trial>,
    /// The flags with which `karat label add` finds the same items.
    pub(super) flags: String,
    /// The judgements stored with the run.
    pub(super) judgements: Vec<Judgement>,
    /// The consensus method of the run's judges.
    consensus: Option<String>,
}

/// A suite and scored trials.
pub(super) struct ScoredTrials {
    pub(super) loaded: LoadedSuite,
    pub(super) trials: Vec<Trial>,
    pub(super) profile: Profile,
    pub(super) scorecard: Scorecard,
    /// The flags with which `karat label add` finds the same items.
    pub(super) flags: String,
}

impl ScoredTrials {
    /// The extras to label that at least `min_tools` tools report.
    pub(super) fn queue(&self, min_tools: usize) -> Queue {
        let (suite, trials, profile) = (&self.loaded.suite, &self.trials, &self.profile);
        Queue::extras(session::LabelScope { suite, trials, judgements: &[], profile }, &self.scorecard, min_tools)
    }
}

impl LabelSource {
    /// Loads a run or a suite; default: the latest run.
    pub(super) fn load(run: Option<&str>, args: &SeenArgs, store: Option<&Path>) -> Result<Self, Failure> {
        match &args.suite {
            Some(suite) => Self::of_suite(suite, args, store),
            None => Ok(Self::of_run(read_run(run, store)?, store)),
        }
    }

    /// The same, with the profile that selects the pairs to label.
    pub(super) fn with_rules(
        run: Option<&str>,
        args: &SeenArgs,
        rules: &RuleArgs,
        store: Option<&Path>,
    ) -> Result<(Self, Profile), Failure> {
        if let Some(suite) = &args.suite {
            let seen = Self::of_suite(suite, args, store)?;
            let profile = inputs::profile(rules, Some(&seen.loaded))?;
            return Ok((seen, profile));
        }
        let (run, kept) = read_run(run, store)?;
        let profile = run.profile(&rules.into())?;
        Ok((Self::of_run((run, kept), store), profile))
    }

    fn of_run((run, judgements): (StoredRun, Vec<Judgement>), stated: Option<&Path>) -> Self {
        let StoredRun { info, plan, loaded, trials, .. } = run;
        terminal::notes(&loaded.notes);
        let flags = format!(" --run {}{}", info.short_id, store_path::flag(stated));
        let trials = trials.into_iter().map(|stored| stored.trial).collect();
        Self { loaded, trials, flags, judgements, consensus: plan.consensus }
    }

    fn of_suite(place: &str, args: &SeenArgs, stated: Option<&Path>) -> Result<Self, Failure> {
        let loaded = inputs::suite(place)?;
        let mut flags = format!(" --suite {}", word(place));
        let files = inputs::submission_lines(&args.submissions, &loaded)?;
        for path in &args.submissions {
            flags.push_str(&format!(" --submission {}", word(&path.display().to_string())));
        }
        if files.is_empty() {
            return Err(Failure::usage("nothing to label; add a submission with --submission FILE"));
        }
        let trials = read_trials(files, Some(&loaded.suite))?;
        flags.push_str(&store_path::flag(stated));
        Ok(Self { loaded, trials, flags, judgements: Vec::new(), consensus: None })
    }

    /// The same, scored like `karat score`: which findings are extras depends on the judge of the pairs.
    pub(super) fn scored(
        self,
        profile: Profile,
        rules: &RuleArgs,
        ask: &AskArgs,
        stated: Option<&Path>,
    ) -> Result<ScoredTrials, Failure> {
        let Self { loaded, trials, mut flags, consensus, .. } = self;
        flags.push_str(&same_rules(rules, ask));
        let request = ask.request();
        let planned = || consensus.as_deref().and_then(Consensus::parse);
        let request = JudgeRequest { consensus: request.consensus.or_else(planned), ..request };
        let mut work = Work::new(trials, profile);
        let models = Vec::new();
        JudgeCall { request, loaded: &loaded, folder: stated, store: None, models, quiet: false }.run(&mut work)?;
        let scorecard = score(&loaded.suite, &work.trials, &work.judgements, &work.profile);
        Ok(ScoredTrials { loaded, trials: work.trials, profile: work.profile, scorecard, flags })
    }

    /// All findings whose key as an extra has this prefix. Any finding may be one, depending on the judge of the pairs.
    pub(super) fn extras_like(&self, beginning: &str) -> Vec<(ExtraKey, ExtraSubject)> {
        let findings =
            self.trials.iter().flat_map(|trial| trial.findings.iter().map(|f| ExtraSubject::new(&trial.case, f)));
        findings.map(|shown| (shown.key(), shown)).filter(|(key, _)| key.as_str().starts_with(beginning)).collect()
    }

    /// All audited findings whose key has this prefix.
    pub(super) fn audits_like(&self, beginning: &str) -> Vec<(AuditKey, AuditSubject)> {
        let cases: HashMap<&str, &Case> = self.loaded.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let of_trial = |trial: &Trial| {
            let case = cases.get(trial.case.as_str()).copied();
            let shown = case.into_iter().flat_map(|case| trial.findings.iter().map(|f| AuditSubject::new(case, f)));
            shown.map(|shown| (shown.key(), shown)).collect::<Vec<_>>()
        };
        self.trials.iter().flat_map(of_trial).filter(|(key, _)| key.as_str().starts_with(beginning)).collect()
    }

    /// All pairs whose key has this prefix, whether or not they are selected for labelling.
    pub(super) fn pairs_like(&self, beginning: &str) -> Vec<(PairKey, PairSubject)> {
        let cases: HashMap<&str, Vec<(String, usize)>> = self
            .loaded
            .suite
            .cases
            .iter()
            .zip(0..)
            .map(|(case, index)| {
                let known = case.goldens.iter().map(|golden| (GoldenText::new(case, golden).text(), index));
                (case.id.as_str(), known.collect())
            })
            .collect();
        let mut found = Vec::new();
        for trial in &self.trials {
            let known = cases.get(trial.case.as_str()).map_or(&[][..], Vec::as_slice);
            for finding in &trial.findings {
                let reported = FindingText::new(finding).text();
                for (golden, (text, case)) in known.iter().enumerate() {
                    let key = PairKey::from_texts(text, &reported);
                    if key.as_str().starts_with(beginning) {
                        let case = &self.loaded.suite.cases[*case];
                        found.push((key, PairSubject::new(case, &case.goldens[golden], finding)));
                    }
                }
            }
        }
        found
    }
}

fn read_run(named: Option<&str>, stated: Option<&Path>) -> Result<(StoredRun, Vec<Judgement>), Failure> {
    let folder = store_path::folder(stated);
    if named.is_none() && !Store::is_at(&folder) {
        let help = "use a suite with --suite and --submission instead";
        return Err(Failure::usage(format!("no runs in {}; {help}", folder.display())));
    }
    let mut store = Store::open(&folder)?;
    let run = run_loader::run(&mut store, named.unwrap_or("latest"))?;
    let kept = run_loader::judgements(&mut store, &run.info)?;
    Ok((run, kept))
}

/// The flags with which the same findings are extras again.
fn same_rules(rules: &RuleArgs, ask: &AskArgs) -> String {
    let mut flags: Vec<(&str, &str)> = Vec::new();
    flags.extend(rules.profile.iter().map(|name| ("--profile", name.as_str())));
    flags.extend(rules.sets.iter().map(|set| ("--set", set.as_str())));
    flags.extend(ask.judge.iter().map(|judge| ("--judge", judge.as_str())));
    flags.extend(ask.consensus.iter().map(|how| ("--consensus", how.as_str())));
    flags.iter().map(|(flag, value)| format!(" {flag} {}", word(value))).collect()
}
