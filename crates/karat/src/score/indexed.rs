//! Input that is read case by case.

use super::{ScoreRequest, ScoreSource, Scored, check_cluster_field, no_trials_of, too_few_trials};
use crate::case_observer::CaseObserver;
use crate::failure::Result;
use crate::judge::registry::Judge;
use crate::judge::run::{
    JudgeEnv, JudgeObserver, JudgeRequest, OpenedJudge, applicable_labels, describe_judges, run_judge, same_vendor_note,
};
use crate::judge::session::CaseSession;
use crate::profile::resolve_for_suite;
use crate::run_facts::RunFacts;
use crate::run_loader::{recordings, run_by_trial};
use crate::score_by_case::{CaseJudge, CaseWork, JudgementsByCase, score_by_case};
use crate::submissions::{no_trials, read_judgement_files, refuse_repeated_stdin, scan_submissions};
use crate::suite::{LoadedSuite, load_suite};
use crate::trial_index::TrialIndex;
use crate::work::{ReportFacts, Work};
use karat_core::ids::{CaseId, JudgeName};
use karat_core::judgement::Judgement;
use karat_core::profile::Profile;
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::report::RecordedV1;
use karat_store::Store;
use karat_store::label::{Label, labels_as_judgements};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A suite, and where its trials are.
pub(super) struct IndexedInput {
    loaded: LoadedSuite,
    profile: Profile,
    index: TrialIndex,
    notes: Vec<String>,
    isolation: BTreeMap<String, String>,
    recorded: BTreeMap<String, RecordedV1>,
    seed: Option<u64>,
    run: Option<(Store, RunFacts)>,
    request: JudgeRequest,
    models: Vec<(String, String)>,
}

impl IndexedInput {
    pub(super) fn load(request: &ScoreRequest) -> Result<Self> {
        refuse_repeated_stdin(request.submissions.files.iter().chain(&request.judgements))?;
        match &request.source {
            ScoreSource::Suite(name) => Self::load_suite(request, name),
            ScoreSource::Run { name, suite } => Self::load_run(request, name, suite.as_deref()),
        }
    }

    fn load_suite(request: &ScoreRequest, name: &str) -> Result<Self> {
        let loaded = load_suite(name)?;
        let profile = resolve_for_suite(&request.profile, Some(&loaded))?;
        let tool = if let [only] = request.tools.as_slice() { Some(only.as_str()) } else { None };
        let mut index = TrialIndex::new(&loaded.suite);
        let notes = scan_submissions(&request.submissions, &loaded, tool, &mut |trial, text| {
            index.add_submitted(&trial, text, request.wants(&trial.tool))
        })?;
        if !index.has_seen_any() {
            return Err(no_trials());
        }
        index.close()?;
        let (isolation, recorded, models) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let (seed, judge) = (request.seed, request.judge.clone());
        Ok(Self { loaded, profile, index, notes, isolation, recorded, seed, run: None, request: judge, models })
    }

    fn load_run(request: &ScoreRequest, name: &str, suite: Option<&str>) -> Result<Self> {
        let mut store = Store::open(&request.store)?;
        let mut index: Option<TrialIndex> = None;
        let (mut run, facts) = run_by_trial(&mut store, name, suite, &mut |loaded, stored, attempt| {
            let index = index.get_or_insert_with(|| TrialIndex::new(&loaded.suite));
            index.add_stored(&stored.trial, attempt, request.wants(&stored.trial.tool));
            Ok(())
        })?;
        let profile = run.profile(&request.profile)?;
        let mut index = index.unwrap_or_else(|| TrialIndex::new(&run.loaded.suite));
        let mut notes = run.notes(&facts);
        if !request.submissions.files.is_empty() {
            notes.extend(scan_submissions(&request.submissions, &run.loaded, None, &mut |trial, text| {
                index.add_submitted(&trial, text, request.wants(&trial.tool))
            })?);
        }
        index.close()?;
        let (isolation, recorded) = (facts.isolation(&run.facts), recordings(&run.plan));
        let seed = request.seed.or(Some(run.plan.seed));
        let (judge, models) = (run.judge_request(&request.judge), run.models());
        let facts = run.take_facts();
        let (loaded, run) = (run.loaded, Some((store, facts)));
        Ok(Self { loaded, profile, index, notes, isolation, recorded, seed, run, request: judge, models })
    }

    pub(super) fn score(
        mut self,
        request: &ScoreRequest,
        observer: &mut dyn JudgeObserver,
        cases: Option<&mut dyn CaseObserver>,
    ) -> Result<Scored> {
        self.loaded.set_model_cutoff(request.model_cutoff.as_deref());
        if self.index.is_empty() && !request.tools.is_empty() {
            return Err(no_trials_of(request, self.index.tools()));
        }
        if matches!(request.source, ScoreSource::Suite(_)) {
            self.notes.extend(too_few_trials(&self.index.trial_numbers(), self.loaded.config.scoring.trials));
        }
        let given = read_judgement_files(&request.judgements, &self.loaded.suite)?;
        check_cluster_field(&request.intervals.cluster, &self.loaded.suite)?;
        let (mut own, mut profile) = (given, self.profile.clone());
        let opened = OpenedJudge::new(&self.request, &self.loaded, self.run.is_some(), &mut own, &mut profile)?;
        let session = opened.judge.as_ref().map(|judge| (judge, CaseSession::new(judge, &profile)));
        let judge = match session {
            Some((_, None)) => return self.score_at_once(request, own, observer, cases),
            Some((judge, Some(session))) => Some((judge, session)),
            None => None,
        };
        let labels = match &judge {
            Some((judge, _)) if !opened.recorded => self.labels(judge, &own, &profile)?,
            _ => PeopleLabels::default(),
        };
        let mut notes = std::mem::take(&mut self.notes);
        let store = self.run.as_mut().map(|(store, _)| store);
        let mut env = JudgeEnv { request: &self.request, location: &request.store, store, observer };
        let mut describe = judge.as_ref().map(|(judge, _)| {
            notes.extend(same_vendor_note(judge, &self.models));
            describe_judges(judge, &mut env, &profile, self.index.kinds, &mut notes)
        });
        let closing: BTreeSet<JudgeName> = opened.closing(own.iter()).into_iter().cloned().collect();
        let facts = ReportFacts {
            profile,
            seed: self.seed,
            intervals: request.intervals.clone(),
            notes,
            isolation: self.isolation,
            recorded: self.recorded,
            asked: Vec::new(),
            spent: BTreeMap::new(),
            label_source: request.label_source.clone(),
            keep_cases: false,
        };
        let (store, run) = self.run.as_mut().map(|(store, run)| (store, &*run)).unzip();
        let work = CaseWork {
            loaded: &self.loaded,
            index: &self.index,
            given: JudgementsByCase::new(own),
            labels: &|cases, trials| labels.judgements(cases, trials),
            judge: judge.map_or(CaseJudge::Nobody(closing), |(_, session)| CaseJudge::Session(session)),
            store,
            run,
            detail: request.detail,
            keep_voices: request.keep_voices,
        };
        let mut describe_one = |own: &mut _| {
            if let Some(describe) = &mut describe {
                describe(own);
            }
        };
        let scoring = score_by_case(work, facts, &mut describe_one, cases)?;
        Ok(Scored { loaded: self.loaded, scoring, run: None, changes: None })
    }

    /// A judge that asks models or people, or a panel, is asked about all trials in rounds: the trials are read into memory.
    fn score_at_once(
        mut self,
        request: &ScoreRequest,
        given: Vec<Judgement>,
        observer: &mut dyn JudgeObserver,
        cases: Option<&mut dyn CaseObserver>,
    ) -> Result<Scored> {
        let run = self.run.as_mut().map(|(store, run)| (store, run.id()));
        let loaded = self.index.load_all(&self.loaded.suite, run)?;
        if let Some((_, facts)) = &mut self.run {
            facts.add_details(&loaded);
        }
        let trials = loaded.into_iter().map(|(trial, _)| trial).collect();
        let mut work = Work {
            judgements: given,
            seed: self.seed,
            intervals: request.intervals.clone(),
            notes: self.notes,
            isolation: self.isolation,
            recorded: self.recorded,
            label_source: request.label_source.clone(),
            detail: request.detail,
            ..Work::new(trials, self.profile)
        };
        let store = self.run.as_mut().map(|(store, _)| store);
        let env = JudgeEnv { request: &self.request, location: &request.store, store, observer };
        run_judge(env, &self.loaded, &self.models, &mut work)?;
        let scoring = work.score(&self.loaded);
        if let Some(cases) = cases {
            scoring.observe(&self.loaded.suite, self.run.as_ref().map(|(_, facts)| facts), cases)?;
        }
        Ok(Scored { loaded: self.loaded, scoring, run: None, changes: None })
    }

    fn labels(&mut self, judge: &Judge, given: &[Judgement], profile: &Profile) -> Result<PeopleLabels> {
        let Some((store, _)) = self.run.as_mut().filter(|_| !judge.asks_people()) else {
            return Ok(PeopleLabels::default());
        };
        let mut by_case: HashMap<CaseId, Vec<Label>> = HashMap::new();
        for label in store.labels()? {
            by_case.entry(label.case.clone()).or_default().push(label);
        }
        let given = given.iter().map(|judgement| judgement.judge.clone()).collect();
        Ok(PeopleLabels { by_case, given, audits: profile.method == karat_core::profile::Method::Audit })
    }
}

/// What people said about the trials of a stored run.
#[derive(Default)]
struct PeopleLabels {
    by_case: HashMap<CaseId, Vec<Label>>,
    /// Judges whose judgements were given: files may already contain a person's labels.
    given: BTreeSet<JudgeName>,
    audits: bool,
}

impl PeopleLabels {
    fn judgements(&self, cases: &[Case], trials: &[Trial]) -> Vec<Judgement> {
        let labelled = || cases.iter().filter_map(|case| Some((case, self.by_case.get(&case.id)?)));
        let labels: Vec<Label> = labelled().flat_map(|(_, labels)| labels).cloned().collect();
        if labels.is_empty() {
            return Vec::new();
        }
        // Labels name nothing but their case: a batch need not walk the whole suite.
        let cases = labelled().map(|(case, _)| case.clone()).collect();
        let suite = Suite { name: String::new(), digest: String::new(), cases };
        applicable_labels(labels_as_judgements(&labels, &suite, trials), self.audits, &self.given).collect()
    }
}
