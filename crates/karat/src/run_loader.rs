//! Loads stored runs with everything needed to score them again.

use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, NoObserver, run_judge};
use crate::present_suite::present_suite;
use crate::profile::{ProfileRequest, resolve_for_suite};
use crate::run::plan::profile_of_plan;
use crate::run_facts::{RunFacts, StoredDetail};
use crate::suite::{LoadedSuite, load, load_suite};
use crate::work::{Scoring, Work};
use karat_core::ids::{JudgeName, ToolName};
use karat_core::judgement::Judgement;
use karat_core::panel::Consensus;
use karat_core::profile::Profile;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::assessment::AssessmentReportV1;
use karat_format::judgement::JudgementV1;
use karat_format::report::{RecordedV1, ReportV1};
use karat_format::run::{PlanV1, ToolFactsV1, TrialDetailV1};
use karat_format::shipped_suites::locate;
use karat_format::snapshot::SnapshotV1;
use karat_llm::ledger::CacheMode;
use karat_store::label::labels_as_judgements;
use karat_store::record::TrialKey;
use karat_store::{RunInfo, Store, StoredTrial};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A run with everything needed to score it again.
#[expect(missing_docs, reason = "field names say it")]
pub struct StoredRun {
    pub info: RunInfo,
    pub plan: PlanV1,
    pub loaded: LoadedSuite,
    pub trials: Vec<StoredTrial>,
    /// How many trials are done, including those of cases that were left out.
    done: usize,
    pub facts: BTreeMap<ToolName, ToolFactsV1>,
    /// How the trials went that were moved out of the run, with the numbers of their attempts.
    pub(crate) details: HashMap<TrialKey, StoredDetail>,
}

/// Reads a run by id, prefix, name or `latest`, with its suite as it was: from its folder if that has not changed, else
/// from the run's snapshot, with the code of those cases whose code has not changed.
pub fn run(store: &mut Store, reference: &str) -> Result<StoredRun> {
    run_on(store, reference, None)
}

/// The same with a suite as it is now: its goldens, and the cases of the run of which a tool would see the same today.
pub(crate) fn run_on(store: &mut Store, reference: &str, suite: Option<&str>) -> Result<StoredRun> {
    let (info, plan, loaded) = run_suite(store, reference, suite)?;
    with_suite(store, info, plan, loaded)
}

/// The same without its trials, which `each` gets in the order of the plan, one at a time and with the number of its attempt.
pub(crate) fn run_by_trial(
    store: &mut Store,
    reference: &str,
    suite: Option<&str>,
    each: &mut dyn FnMut(&LoadedSuite, &StoredTrial, u32) -> Result<()>,
) -> Result<(StoredRun, TrialFacts)> {
    let (info, plan, mut loaded) = run_suite(store, reference, suite)?;
    let left_out = restrict_to_plan(&mut loaded, &plan);
    loaded.set_model_cutoff(plan.model_cutoff.as_deref());
    let mut facts = TrialFacts::default();
    let attempts = store.latest_attempts(&info.id)?;
    for (key, attempt) in attempts.iter().filter(|(key, _)| !left_out.contains(key.case.as_str())) {
        let stored = store.trial(&info.id, key, *attempt)?;
        facts.add(&stored);
        each(&loaded, &stored, *attempt)?;
    }
    let tools = store.tools(&info.id)?;
    Ok((
        StoredRun {
            info,
            plan,
            loaded,
            done: attempts.len(),
            trials: Vec::new(),
            facts: tools,
            details: HashMap::new(),
        },
        facts,
    ))
}

fn run_suite(store: &mut Store, reference: &str, suite: Option<&str>) -> Result<(RunInfo, PlanV1, LoadedSuite)> {
    let info = store.find_findings(reference)?;
    let plan = store.plan(&info.id)?;
    if let Some(name) = suite {
        let then = read_snapshot(store, &info)?;
        let loaded = present_suite(load_suite(name)?, &then, &plan, &info.short_id)?;
        return Ok((info, plan, loaded));
    }
    let of_the_run = |what: &str| format!("the suite {what}; goldens are those of the run");
    let loaded = match load(locate(&plan.suite.place)) {
        Ok(loaded) if loaded.suite.digest == plan.suite.digest => loaded,
        // Goldens may have changed, while the code that trials saw may not.
        Ok(changed) => {
            let mut loaded = read_snapshot(store, &info)?.with_code_of(changed);
            let present =
                format!("`karat score SUITE --run {}` scores its trials with the present ones", info.short_id);
            loaded.notes.push(format!("{}: {present}", of_the_run("has changed since the run")));
            loaded
        }
        Err(_) => {
            let mut loaded = read_snapshot(store, &info)?;
            loaded.notes.push(of_the_run("cannot be read any more"));
            loaded
        }
    };
    Ok((info, plan, loaded))
}

/// Keeps the cases of the plan, and returns those that the suite does not have.
fn restrict_to_plan(loaded: &mut LoadedSuite, plan: &PlanV1) -> HashSet<String> {
    let there: HashSet<&str> = loaded.suite.cases.iter().map(|case| case.id.as_str()).collect();
    let left_out = plan.cases.iter().filter(|case| !there.contains(case.as_str())).cloned().collect();
    loaded.restrict(&plan.cases.iter().map(String::as_str).collect::<HashSet<_>>());
    left_out
}

pub(crate) fn with_suite(store: &mut Store, info: RunInfo, plan: PlanV1, loaded: LoadedSuite) -> Result<StoredRun> {
    let (trials, facts) = (store.trials(&info.id)?, store.tools(&info.id)?);
    Ok(with_trials(info, plan, loaded, trials, facts))
}

pub(crate) fn with_trials(
    info: RunInfo,
    plan: PlanV1,
    mut loaded: LoadedSuite,
    mut trials: Vec<StoredTrial>,
    facts: BTreeMap<ToolName, ToolFactsV1>,
) -> StoredRun {
    let done = trials.len();
    let left_out = restrict_to_plan(&mut loaded, &plan);
    trials.retain(|stored| !left_out.contains(stored.trial.case.as_str()));
    loaded.set_model_cutoff(plan.model_cutoff.as_deref());
    // The order in which trials were done is random; that of the plan is not.
    let tools: HashMap<&str, usize> = plan.tools.iter().map(|tool| tool.name.as_str()).zip(0..).collect();
    let cases: HashMap<&str, usize> = plan.cases.iter().map(String::as_str).zip(0..).collect();
    let place = |trial: &Trial| (tools.get(trial.tool.as_str()), cases.get(trial.case.as_str()), trial.number);
    trials.sort_by(|a, b| place(&a.trial).cmp(&place(&b.trial)));
    StoredRun { info, plan, loaded, done, trials, facts, details: HashMap::new() }
}

fn read_snapshot(store: &mut Store, info: &RunInfo) -> Result<LoadedSuite> {
    let snapshot: SnapshotV1 = serde_json::from_slice(&store.suite_snapshot(&info.id)?)
        .map_err(|error| Failure::bad_input(format!("the stored suite of run {}: {error}", info.short_id)))?;
    let mut loaded = LoadedSuite::remembered(snapshot);
    if info.imported {
        // An imported judge could send a key anywhere.
        loaded.config.judges.clear();
    }
    Ok(loaded)
}

/// The judgements of a run; none if it has not ended yet.
pub fn judgements(store: &mut Store, info: &RunInfo) -> Result<Vec<Judgement>> {
    Ok(store.judgements(&info.id)?.into_iter().map(|judgement| JudgementV1::into_judgement(judgement).0).collect())
}

/// The report of a run: the stored one, or a new one if the run has not ended yet.
pub fn report(store: &mut Store, reference: &str, observer: &mut dyn JudgeObserver) -> Result<(RunInfo, ReportV1)> {
    let info = store.find_findings(reference)?;
    if let Some(report) = stored_report(store, &info)? {
        return Ok((info, report));
    }
    let mut run = run(store, info.id.as_str())?;
    Ok((info, score_run(store, &mut run, observer)?.report))
}

/// The report that was stored when a run ended.
pub(crate) fn stored_report(store: &mut Store, info: &RunInfo) -> Result<Option<ReportV1>> {
    let Some(bytes) = store.report(&info.id)? else { return Ok(None) };
    let what = format!("the report of run {}", info.short_id);
    let report: ReportV1 =
        serde_json::from_slice(&bytes).map_err(|error| Failure::bad_input(format!("{what}: {error}")))?;
    // A run may have been imported, with any report.
    crate::plausibility::require(&what, &crate::plausibility::check_report(&report))?;
    Ok(Some(report))
}

/// Judges and scores a run by its own rules.
pub(crate) fn score_run(store: &mut Store, run: &mut StoredRun, observer: &mut dyn JudgeObserver) -> Result<Scoring> {
    let mut work = run.work(run.profile(&ProfileRequest::default())?, None);
    let request = run.judge_request(&JudgeRequest::default());
    let location = store.location().clone();
    let env = JudgeEnv { request: &request, location: &location, store: Some(store), observer };
    run_judge(env, &run.loaded, &run.models(), &mut work)?;
    Ok(work.score(&run.loaded))
}

/// The stored report of an assessment.
pub fn assessment(store: &mut Store, info: &RunInfo) -> Result<AssessmentReportV1> {
    let short = &info.short_id;
    let Some(bytes) = store.report(&info.id)? else {
        let word = store.state_word(info);
        return Err(Failure::bad_input(format!(
            "the assessment {short} is {word} and has no report; run `karat assess` again, which reuses recorded answers"
        )));
    };
    let what = format!("the report of the assessment {short}");
    let report: AssessmentReportV1 =
        serde_json::from_slice(&bytes).map_err(|error| Failure::bad_input(format!("{what}: {error}")))?;
    crate::plausibility::require(&what, &crate::plausibility::check_assessment(&report))?;
    Ok(report)
}

/// A report, with texts and code if they can be read.
#[expect(missing_docs, reason = "field names say it")]
pub struct CurrentReport {
    pub report: ReportV1,
    pub sources: Option<(LoadedSuite, Vec<Trial>)>,
    /// Whether it includes labels made since the run ended.
    pub labelled: bool,
}

/// The report of a run that has ended, given its stored one, or of the finished cases of another; `None` if there are none.
pub fn current_report(
    store: &mut Store,
    info: &RunInfo,
    stored_report: Option<ReportV1>,
) -> Result<Option<CurrentReport>> {
    let Some(report) = stored_report else { return unfinished(store, info) };
    Ok(Some(labelled_since(store, info, &report).unwrap_or_else(|| {
        // Without them, the report notes what is missing.
        let read = run(store, info.id.as_str()).ok();
        let sources = read
            .map(|StoredRun { loaded, trials, .. }| (loaded, trials.into_iter().map(|stored| stored.trial).collect()));
        CurrentReport { report, sources, labelled: false }
    })))
}

/// The report of a run with labels made since it ended; `None` without any, or if a judge would have to be asked.
fn labelled_since(store: &mut Store, info: &RunInfo, report: &ReportV1) -> Option<CurrentReport> {
    let changed = store.labels_changed_ms().ok()??;
    if info.ended_ms.is_some_and(|ended| changed <= ended) {
        return None;
    }
    let mut stored = run(store, info.id.as_str()).ok()?;
    let mut work = stored.work(stored.profile(&ProfileRequest::default()).ok()?, None);
    let heard_before = report.judges.iter().any(|judge| JudgeName::new(judge.judge.as_str()).is_human());
    if !heard_before && labels_as_judgements(&store.labels().ok()?, &stored.loaded.suite, &work.trials).is_empty() {
        return None;
    }
    judge(store, &stored, &recorded(&stored), &mut work).ok()?;
    Some(score(stored.loaded, work, true))
}

/// The preliminary report on the finished cases of a run; `None` if there are none.
fn unfinished(store: &mut Store, info: &RunInfo) -> Result<Option<CurrentReport>> {
    let mut stored = run(store, info.id.as_str())?;
    let profile = stored.profile(&ProfileRequest::default())?;
    let all = stored.plan.cases.len();
    let done = stored.keep_what_is_done();
    if done == 0 {
        return Ok(None);
    }
    let mut work = stored.work(profile, None);
    work.notes
        .push(format!("{done} of {all} cases are finished by every tool that has started; the others are excluded"));
    let recorded = recorded(&stored);
    if let Err(failure) = judge(store, &stored, &recorded, &mut work) {
        work.notes.push(format!("no judge is used before the run has ended: {}", failure.text()));
        judge(store, &stored, &JudgeRequest { judge: Some("none".to_owned()), ..recorded }, &mut work)?;
    }
    Ok(Some(score(stored.loaded, work, false)))
}

/// The run's judge, by its recorded exchanges only.
fn recorded(run: &StoredRun) -> JudgeRequest {
    JudgeRequest { cache: CacheMode::Only, ..run.judge_request(&JudgeRequest::default()) }
}

fn judge(store: &mut Store, run: &StoredRun, request: &JudgeRequest, work: &mut Work) -> Result<()> {
    let location = store.location().clone();
    let env = JudgeEnv { request, location: &location, store: Some(store), observer: &mut NoObserver };
    run_judge(env, &run.loaded, &run.models(), work)
}

fn score(loaded: LoadedSuite, work: Work, labelled: bool) -> CurrentReport {
    let scoring = work.score(&loaded);
    CurrentReport { report: scoring.report, sources: Some((loaded, scoring.trials)), labelled }
}

impl StoredRun {
    /// What is known of it beside its trials; how those went that were moved out of it is moved out, too.
    pub fn take_facts(&mut self) -> RunFacts {
        RunFacts {
            id: self.info.id.clone(),
            tools: self.facts.clone(),
            models: self.models().into_iter().collect(),
            details: std::mem::take(&mut self.details),
        }
    }

    /// Keeps only the cases on which every tool that has begun has all its trials, and returns how many these are.
    pub fn keep_what_is_done(&mut self) -> usize {
        let mut made: HashMap<(&str, &str), u32> = HashMap::new();
        for stored in &self.trials {
            *made.entry((stored.trial.tool.as_str(), stored.trial.case.as_str())).or_default() += 1;
        }
        let begun: HashSet<&str> = made.keys().map(|(tool, _)| *tool).collect();
        let begun: Vec<_> = self.plan.tools.iter().filter(|tool| begun.contains(tool.name.as_str())).collect();
        let is_done = |case: &&String| {
            begun.iter().all(|tool| made.get(&(tool.name.as_str(), case.as_str())).is_some_and(|n| *n >= tool.trials))
        };
        let done: HashSet<String> = self.plan.cases.iter().filter(is_done).cloned().collect();
        self.loaded.restrict(&done.iter().map(String::as_str).collect());
        self.trials.retain(|stored| done.contains(stored.trial.case.as_str()));
        done.len()
    }

    /// The profile asked for, else that of the run.
    pub fn profile(&self, request: &ProfileRequest) -> Result<Profile> {
        if !request.is_empty() {
            return resolve_for_suite(request, Some(&self.loaded));
        }
        profile_of_plan(&self.plan, &self.info.short_id)
    }

    /// The judge asked for, with the plan's consensus if the request has none.
    pub fn judge_request(&self, request: &JudgeRequest) -> JudgeRequest {
        let planned = || self.plan.consensus.as_deref().and_then(Consensus::parse);
        JudgeRequest { consensus: request.consensus.or_else(planned), ..request.clone() }
    }

    /// Its tools and their models, if known.
    pub fn models(&self) -> Vec<(String, String)> {
        self.plan.tools.iter().filter_map(|tool| Some((tool.name.clone(), tool.model.clone()?))).collect()
    }

    /// What is to be scored. The trials are moved out of the run, since there may be a great many.
    pub fn work(&mut self, profile: Profile, seed: Option<u64>) -> Work {
        let mut facts = TrialFacts::default();
        self.trials.iter().for_each(|stored| facts.add(stored));
        let trials = self.take_trials();
        let label_source = Some(self.info.short_id.clone());
        let (seed, notes, isolation) =
            (seed.or(Some(self.plan.seed)), self.notes(&facts), facts.isolation(&self.facts));
        let recorded = recordings(&self.plan);
        Work { seed, notes, isolation, recorded, label_source, ..Work::new(trials, profile) }
    }

    /// Moves the trials out of the run. Of how they went, what tables show is kept.
    pub(crate) fn take_trials(&mut self) -> Vec<Trial> {
        let stored = std::mem::take(&mut self.trials);
        self.details.reserve(stored.len());
        let take = |StoredTrial { trial, attempt, detail }| {
            let detail = TrialDetailV1 {
                remarks: Vec::new(),
                stages_ms: BTreeMap::new(),
                commit: None,
                isolation_kind: None,
                ..detail
            };
            self.details.insert(TrialKey::from_trial(&trial), (attempt, detail));
            trial
        };
        stored.into_iter().map(take).collect()
    }

    /// What a report says of the run.
    pub(crate) fn notes(&self, facts: &TrialFacts) -> Vec<String> {
        let mut notes = Vec::new();
        let (planned, done) = (self.info.planned as usize, self.done);
        if done < planned {
            notes.push(format!("the run is not finished: {done} of {planned} trials are done"));
        }
        if !self.plan.selected_by.is_empty() {
            let (some, all) = (self.plan.cases.len(), self.plan.suite.cases);
            notes.push(format!("{some} of the suite's {all} cases were run: {}", self.plan.selected_by.join(", ")));
        }
        notes.extend(facts.reasons(&self.info.short_id));
        notes
    }
}

/// The tools of a plan whose trials are repeated from a recording.
pub(crate) fn recordings(plan: &PlanV1) -> BTreeMap<String, RecordedV1> {
    plan.tools.iter().filter_map(|tool| Some((tool.name.clone(), tool.recording()?))).collect()
}

/// How the trials of a run were isolated, and why some of them failed.
#[derive(Default)]
pub(crate) struct TrialFacts {
    isolation: BTreeMap<ToolName, BTreeMap<String, usize>>,
    reasons: BTreeMap<(ToolName, &'static str, String), usize>,
}

impl TrialFacts {
    fn add(&mut self, stored: &StoredTrial) {
        let StoredTrial { trial, detail, .. } = stored;
        if let Some(text) = &detail.isolation {
            *self.isolation.entry(trial.tool.clone()).or_default().entry(text.clone()).or_default() += 1;
        }
        if let Some(reason) = &detail.reason {
            let key = (trial.tool.clone(), trial.outcome.as_str(), reason.clone());
            *self.reasons.entry(key).or_default() += 1;
        }
    }

    /// The isolation of each tool's trials; several if the run was resumed on another machine.
    pub(crate) fn isolation(&self, facts: &BTreeMap<ToolName, ToolFactsV1>) -> BTreeMap<String, String> {
        let isolation = |(tool, facts): (&ToolName, &ToolFactsV1)| {
            let text = match self.isolation.get(tool) {
                None => facts.isolation.clone(),
                Some(one) if one.len() == 1 => one.keys().map(String::as_str).collect(),
                Some(several) => {
                    let each = several.iter().map(|(text, n)| format!("{text} ({})", count(*n, "trial")));
                    each.collect::<Vec<_>>().join("; ")
                }
            };
            (tool.to_string(), text)
        };
        facts.iter().map(isolation).collect()
    }

    /// Why trials failed: each reason once for each tool, with its count, the most frequent first.
    fn reasons(&self, run: &str) -> Vec<String> {
        let mut all: Vec<_> = self.reasons.iter().collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        const MAX_SHOWN: usize = 10;
        let line = |((tool, outcome, reason), n): &(&(ToolName, &str, String), &usize)| {
            format!("{tool}: {} {}: {reason}", count(**n, "trial"), outcome.replace('_', " "))
        };
        let mut shown: Vec<String> = all.iter().take(MAX_SHOWN).map(line).collect();
        if let Some(more) = all.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            shown.push(format!("{more} more reasons of failed trials: see `karat store show {run}`"));
        }
        shown
    }
}
