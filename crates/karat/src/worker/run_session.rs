//! The work of one worker on one run: its suite is fetched, its tools are prepared, and units are claimed until none is left.

use super::judging::JudgeThread;
use super::leases::since_boot;
use super::suite_cache::{self, CachedSuite};
use super::trial_pool::{Finished, TrialPool};
use super::{Counters, WorkError, Worker, WorkerObserver, WorkerStatus, evaluate_request};
use crate::evaluate::prepare::{LoadedTool, load_planned_tool};
use crate::evaluate::request::EvaluateRequest;
use crate::evaluate::run_and_score::{judge_run, new_context};
use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeObserver, JudgeRequest, unaskable_judge};
use crate::run::workers::{Runners, Workers};
use crate::scratch::{Scratch, make_scratch};
use crate::suite::{LoadedSuite, load, package};
use crate::tool::command::isolation_of_kind;
use crate::tool::run_context::RunContext;
use crate::tool::{Task, failed};
use karat_core::ids::{JudgeName, ToolName};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_format::judgement::JudgementV1;
use karat_format::report::DetailV1;
use karat_format::run::{PlanV1, PlannedToolV1, ToolFactsV1, TrialDetailV1};
use karat_format::tool::ToolKindV1;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_sandbox::Isolation;
use karat_store::queue::{Claim, MAX_CLAIM, Unit, UnitKind};
use karat_store::record::{TrialKey, TrialRecord};
use karat_store::{RunId, RunInfo, StoreError, cache_folder};
use std::collections::{BTreeMap, HashMap};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run that can be worked on here.
pub(super) struct RunSession {
    info: RunInfo,
    plan: PlanV1,
    loaded: LoadedSuite,
    scratch: Scratch,
    /// Keeps the suite where it is.
    cached: Option<CachedSuite>,
}

/// How the work on a run ended.
pub(super) enum SessionEnd {
    /// Nothing of the run can be claimed here now.
    NothingLeft,
    /// The claims were lost, for this reason.
    Lost(String),
}

/// How long the coordinator waits for a result before it looks at everything else.
const TICK: Duration = Duration::from_millis(50);

/// How often the queue is asked when it had nothing.
const CLAIM_PAUSE: Duration = Duration::from_millis(300);

/// Units are claimed ahead for about this long, so that short trials do not wait for the queue.
const AHEAD: Duration = Duration::from_millis(500);

impl RunSession {
    /// Fetches the suite of a run.
    pub(super) fn open(worker: &mut Worker<'_>, run: &RunId, observer: &mut dyn WorkerObserver) -> Result<Self> {
        let info = worker.store.find(run.as_str())?;
        observer.status(&WorkerStatus {
            run: Some(&info.short_id),
            counters: &worker.counters,
            is_draining: worker.is_draining(),
        });
        let mut plan = worker.store.plan(run)?;
        let scratch = make_scratch()?;
        let (folder, loaded, cached): (PathBuf, _, _) = match load_cached(worker, &info, &plan, observer)? {
            Some((cached, loaded)) => (cached.folder.clone(), loaded, Some(cached)),
            None => {
                let folder = scratch.path.join("suite");
                DirBuilder::new().mode(0o700).create(&folder).map_err(|error| Failure::io(folder.display(), error))?;
                unpack(worker, &info, &folder)?;
                (folder.clone(), load(Files::Disk(folder))?, None)
            }
        };
        if loaded.suite.digest != plan.suite.digest {
            let message = format!(
                "this Karat reads the suite of run {} otherwise than the one that planned it (version {}); use the same version",
                info.short_id, info.karat
            );
            return Err(Failure::failed(message));
        }
        move_to(&mut plan, &folder);
        Ok(Self { info, plan, loaded, scratch, cached })
    }

    /// Works on the run until nothing of it can be claimed.
    pub(super) fn work(
        self,
        worker: &mut Worker<'_>,
        claims: Vec<Claim>,
        cancel: &Cancel,
        observer: &mut dyn WorkerObserver,
    ) -> Result<SessionEnd, WorkError> {
        let claims = self.leave_judging(worker, claims, observer)?;
        if claims.is_empty() {
            return Ok(SessionEnd::NothingLeft);
        }
        let scoring = match claims.iter().find(|claim| claim.unit.kind == UnitKind::Score) {
            Some(claim) => claim.clone(),
            None => {
                let (end, scoring) = self.work_on_units(worker, claims, cancel, observer)?;
                match scoring {
                    Some(claim) => claim,
                    None => return Ok(end),
                }
            }
        };
        self.score(worker, &scoring, cancel, observer)
    }

    /// Gives back what needs a judge that cannot be asked here, such as for want of its key: others may be able to.
    fn leave_judging(
        &self,
        worker: &mut Worker<'_>,
        claims: Vec<Claim>,
        observer: &mut dyn WorkerObserver,
    ) -> Result<Vec<Claim>, WorkError> {
        let Some(why) = unaskable_judge(&self.loaded, &self.plan) else { return Ok(claims) };
        let (trials, others): (Vec<Claim>, Vec<Claim>) =
            claims.into_iter().partition(|claim| claim.unit.kind == UnitKind::Trial);
        worker.left_out.add_judge(&self.info.id);
        let run = &self.info.short_id;
        observer.note(&format!(
            "judging and scoring run {run} is left to other workers, since its judge cannot be asked here: {why}"
        ));
        worker.let_go(&others);
        worker.store.give_back(&others, false)?;
        Ok(trials)
    }

    fn work_on_units(
        &self,
        worker: &mut Worker<'_>,
        claims: Vec<Claim>,
        cancel: &Cancel,
        observer: &mut dyn WorkerObserver,
    ) -> Result<(SessionEnd, Option<Claim>), WorkError> {
        let request = evaluate_request(worker.request, &self.plan);
        let mut context = new_context(&request, &self.loaded, &self.plan, &self.scratch, cancel.clone());
        // No tool may see the suites of other runs either.
        let suites = self.cached.as_ref().and_then(|cached| cached.folder.parent()?.canonicalize().ok());
        context.secret.extend(suites);
        {
            let runners = self.prepare_tools(worker, &request, &context, observer)?;
            let workers = Workers::for_queue(runners, &context);
            let jobs = worker.request.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
            std::thread::scope(|scope| {
                let pool = TrialPool::start(scope, &workers, &worker.counters, jobs.unwrap_or(1));
                let judge = JudgeThread::new(scope, worker, &self.loaded, &self.plan, cancel);
                let mut coordinator = Coordinator {
                    session: self,
                    worker,
                    cancel,
                    pool,
                    judge,
                    in_flight: BTreeMap::new(),
                    scoring: None,
                    next_claim: Instant::now(),
                    drain_until: None,
                };
                let end = coordinator.work(claims, observer);
                if end.is_err() {
                    cancel.cancel();
                }
                let scoring = coordinator.scoring.take();
                end.map(|end| (end, scoring))
            })
        }
    }

    /// Prepares every tool that can be executed here. The others are left to workers that can.
    fn prepare_tools<'c>(
        &self,
        worker: &mut Worker<'_>,
        request: &EvaluateRequest,
        context: &'c RunContext<'c>,
        observer: &mut dyn WorkerObserver,
    ) -> Result<Runners<'c>, WorkError> {
        let mut runners: Runners<'c> = HashMap::new();
        let left = worker.store.tools_left(&self.info.id)?;
        for planned in &self.plan.tools {
            let name = ToolName::new(&planned.name);
            if worker.left_out.has_tool(&self.info.id, &name) {
                continue;
            }
            if !left.contains(&name) {
                worker.left_out.add_idle(&self.info.id, name);
                continue;
            }
            let mut planned = planned.clone();
            // What is offered by name, such as hardware, need not be a program.
            planned.manifest.needs.retain(|need| !worker.request.offers.contains(need) || worker.has_program(need));
            let loaded = self
                .require_planned_isolation(planned.kind, request)
                .and_then(|()| load_planned_tool(&planned, &self.loaded, self.plan.model.as_deref(), request));
            let prepared = loaded.and_then(|((tool, _), isolation): (LoadedTool, Isolation)| {
                tool.prepare(isolation, context).map_err(Failure::failed)
            });
            match prepared {
                Ok((runner, facts)) => {
                    self.record_facts(worker, &name, &facts)?;
                    runners.insert(name, runner);
                }
                // Nothing was found out about the tool.
                Err(_) if context.cancel.is_cancelled() => return Ok(runners),
                Err(failure) => {
                    let why = failure.text();
                    observer.note(&format!(
                        "the tool `{name}` is left to other workers, since it cannot be run here: {why}"
                    ));
                    worker.left_out.add_tool(&self.info.id, name);
                }
            }
        }
        Ok(runners)
    }

    /// Refuses another isolation than all workers were told when the run was planned.
    fn require_planned_isolation(&self, kind: ToolKindV1, request: &EvaluateRequest) -> Result<()> {
        let planned = self.plan.isolation.map(isolation_of_kind).filter(|_| kind == ToolKindV1::Command);
        match (planned, request.isolation) {
            (Some(planned), Some(own)) if planned != own => {
                let (planned, own) = (planned.as_str(), own.as_str());
                Err(Failure::failed(format!(
                    "the run was planned with --isolation {planned}, and this worker has {own}"
                )))
            }
            _ => Ok(()),
        }
    }

    fn record_facts(&self, worker: &mut Worker<'_>, tool: &ToolName, facts: &ToolFactsV1) -> Result<(), StoreError> {
        worker.store.set_tool(&self.info.id, tool, facts)
    }

    /// Scores the run of which every trial is recorded, with the code that scores the runs of one machine.
    fn score(
        self,
        worker: &mut Worker<'_>,
        claim: &Claim,
        cancel: &Cancel,
        observer: &mut dyn WorkerObserver,
    ) -> Result<SessionEnd, WorkError> {
        let Self { info, plan, loaded, scratch: _scratch, cached: _cached } = self;
        let short = info.short_id.clone();
        if claim.is_given_up {
            worker.leases.let_go(claim);
            let why = format!(
                "run {short} is stopped: {} ended while scoring it; `karat score {short}` scores it where there is more memory",
                count(claim.tries.saturating_sub(1) as usize, "worker")
            );
            return stop_scoring(worker, claim, &why, observer);
        }
        let mut judge = CancelledJudge(cancel.clone());
        let info = worker.store.find(info.id.as_str())?;
        worker.store.ask_as(&worker.name, worker.request.lease);
        let judged = judge_run(&mut worker.store, info, plan, loaded, &JudgeRequest::default(), None, &mut judge);
        let scored = judged.map(|judged| judged.score(DetailV1::All));
        if let Some(why) = worker.leases.lost() {
            return Ok(SessionEnd::Lost(why));
        }
        worker.leases.let_go(claim);
        if cancel.is_cancelled() {
            // The worker was asked to end, and questions are left.
            worker.store.give_back(std::slice::from_ref(claim), false)?;
            return Ok(SessionEnd::NothingLeft);
        }
        match scored {
            Err(Failure::Outage(why)) => return Err(WorkError::Outage(why)),
            Ok(scored) => {
                let judgements: Vec<JudgementV1> = scored.scoring.judgements.iter().map(JudgementV1::from).collect();
                let report = serde_json::to_vec(&scored.scoring.report)
                    .map_err(|error| Failure::io("the report", error.into()))?;
                if worker.store.complete_scoring(claim, &judgements, &report)? {
                    Counters::add(&worker.counters.runs_scored, 1);
                    observer.note(&format!("run {short} is complete"));
                } else {
                    Counters::add(&worker.counters.results_refused, 1);
                }
            }
            Err(failure) => {
                let why = format!("run {short} was not judged and is stopped: {}", failure.text());
                return stop_scoring(worker, claim, &why, observer);
            }
        }
        Ok(SessionEnd::NothingLeft)
    }
}

/// Stops a run that cannot be scored, unless another worker has taken the scoring over.
fn stop_scoring(
    worker: &mut Worker<'_>,
    claim: &Claim,
    why: &str,
    observer: &mut dyn WorkerObserver,
) -> Result<SessionEnd, WorkError> {
    if worker.store.stop_scoring(claim, why)? {
        observer.note(why);
    } else {
        Counters::add(&worker.counters.results_refused, 1);
    }
    Ok(SessionEnd::NothingLeft)
}

/// The suite of a run from the cache of this machine, where it is put first; `None` where there can be no cache, or what is there
/// was damaged.
fn load_cached(
    worker: &mut Worker<'_>,
    info: &RunInfo,
    plan: &PlanV1,
    observer: &mut dyn WorkerObserver,
) -> Result<Option<(CachedSuite, LoadedSuite)>> {
    let parent = cache_folder().join("suites");
    suite_cache::sweep(&parent);
    let hash = blake3::hash(worker.store.suite_part_hashes(&info.id)?.join(" ").as_bytes()).to_hex();
    let drain = worker.drain.clone();
    let cached = match CachedSuite::open(&parent, &hash, &drain, &mut |folder| unpack(worker, info, folder)) {
        Ok(cached) => cached,
        Err(failure @ Failure::Outage(_)) => return Err(failure),
        Err(failure) => {
            observer.note(&format!("the suite of run {} is not kept: {}", info.short_id, failure.text()));
            return Ok(None);
        }
    };
    match load(Files::Disk(cached.folder.clone())) {
        Ok(loaded) if loaded.suite.digest == plan.suite.digest => Ok(Some((cached, loaded))),
        _ => {
            cached.discard();
            Ok(None)
        }
    }
}

/// Writes the suite of a run into a folder.
fn unpack(worker: &mut Worker<'_>, info: &RunInfo, folder: &Path) -> Result<()> {
    let mut unpacked = Ok(());
    worker.store.suite_parts(&info.id, &mut |part| {
        if unpacked.is_ok() {
            unpacked = package::unpack(&part, folder);
        }
        Ok(())
    })?;
    unpacked.map_err(|error| Failure::io(format!("the suite of run {}", info.short_id), error))
}

/// A judge whose questions end with the claim under which they are asked.
struct CancelledJudge(Cancel);

impl JudgeObserver for CancelledJudge {
    fn start(&mut self, _judge: &JudgeName) -> Result<Cancel> {
        Ok(self.0.clone())
    }
}

/// Hands claims to those who execute them, and stores results.
struct Coordinator<'s, 'w, 'r, 'e> {
    session: &'s RunSession,
    worker: &'w mut Worker<'r>,
    cancel: &'s Cancel,
    pool: TrialPool<'e>,
    judge: JudgeThread<'e>,
    in_flight: BTreeMap<Unit, Claim>,
    scoring: Option<Claim>,
    next_claim: Instant,
    /// When what is under way is ended, after the worker was asked to end.
    drain_until: Option<Instant>,
}

impl Coordinator<'_, '_, '_, '_> {
    fn work(&mut self, claims: Vec<Claim>, observer: &mut dyn WorkerObserver) -> Result<SessionEnd, WorkError> {
        self.accept(claims)?;
        loop {
            self.store_results(observer)?;
            self.judge_results(observer)?;
            if let Some(why) = self.worker.leases.lost() {
                return Ok(SessionEnd::Lost(why));
            }
            if self.worker.is_draining() && self.drain()? {
                return Ok(SessionEnd::NothingLeft);
            }
            // What was tried before may end its worker, and nothing else must end with it.
            let is_alone = self.in_flight.values().any(|claim| claim.tries > 1);
            let may_claim =
                !self.worker.is_draining() && self.scoring.is_none() && !is_alone && Instant::now() >= self.next_claim;
            let room = self.pool.room(AHEAD, self.in_flight.len()).min(MAX_CLAIM);
            if may_claim && room > 0 {
                let asked = since_boot();
                let run = self.session.info.id.clone();
                let claims = self.worker.claim(Some(&run), room, !self.in_flight.is_empty())?;
                if claims.is_empty() {
                    self.next_claim = Instant::now() + CLAIM_PAUSE;
                } else {
                    self.worker.leases.hold(&claims, asked);
                    self.accept(claims)?;
                    continue;
                }
            }
            observer.status(&WorkerStatus {
                run: Some(&self.session.info.short_id),
                counters: &self.worker.counters,
                is_draining: self.worker.is_draining(),
            });
            if self.in_flight.is_empty()
                && (self.scoring.is_some() || !may_claim || room == 0 || self.next_claim > Instant::now())
            {
                return Ok(SessionEnd::NothingLeft);
            }
        }
    }

    fn accept(&mut self, claims: Vec<Claim>) -> Result<(), WorkError> {
        let mut to_judge = Vec::new();
        let mut given_up = Vec::new();
        for claim in claims {
            match (claim.unit.kind, claim.is_given_up) {
                (UnitKind::Score, _) => {
                    self.scoring = Some(claim);
                    continue;
                }
                (UnitKind::Judge, true) => {
                    // What has no answer by now is asked for when the run is scored.
                    Counters::add(&self.worker.counters.given_up, 1);
                    self.worker.leases.let_go(&claim);
                    self.worker.store.complete_judging(&self.session.info.id, &[claim])?;
                    continue;
                }
                (UnitKind::Judge, false) => to_judge.push(claim.clone()),
                (UnitKind::Trial, true) => {
                    Counters::add(&self.worker.counters.given_up, 1);
                    self.worker.leases.let_go(&claim);
                    given_up.extend(given_up_record(&claim).map(|record| (claim.clone(), record)));
                    continue;
                }
                (UnitKind::Trial, false) => {
                    if let Some(key) = claim.unit.trial.clone() {
                        self.pool.execute(Task { key, attempt: claim.attempt }, claim.clone());
                    }
                }
            }
            self.in_flight.insert(claim.unit.clone(), claim);
        }
        if !given_up.is_empty() {
            self.worker.store.complete_trials(&self.session.info.id, &given_up)?;
        }
        if !to_judge.is_empty() {
            self.judge.ask(to_judge);
        }
        Ok(())
    }

    /// Stores what was executed, waiting a moment for the first result.
    fn store_results(&mut self, observer: &mut dyn WorkerObserver) -> Result<(), WorkError> {
        let mut results = Vec::new();
        let mut returned = Vec::new();
        for Finished { claim, result } in self.pool.finished(TICK) {
            self.in_flight.remove(&claim.unit);
            match result {
                Ok(Some(record)) => results.push((claim, record)),
                // It was cancelled: by the drain or because the claim was lost.
                Ok(None) => returned.push((claim, false)),
                Err(error) => {
                    // Such a failure is the machine's and not the tool's, so others are to try, and this one not for a while.
                    observer.note(&format!("{} could not be executed here: {error}", claim.unit));
                    if let Some(TrialKey { tool, .. }) = claim.unit.trial.clone() {
                        self.worker.left_out.add_tool(&self.session.info.id, tool);
                    }
                    returned.push((claim, true));
                }
            }
        }
        if let Some(why) = self.worker.leases.lost() {
            if !results.is_empty() {
                observer.note(&format!("{} dropped: {why}", count(results.len(), "result")));
            }
            return Ok(());
        }
        for (claim, counts) in returned {
            self.worker.leases.let_go(&claim);
            Counters::add(&self.worker.counters.released, 1);
            self.worker.store.give_back(&[claim], counts)?;
        }
        if results.is_empty() {
            return Ok(());
        }
        for (claim, _) in &results {
            self.worker.leases.let_go(claim);
        }
        let began = Instant::now();
        let accepted = match self.worker.store.complete_trials(&self.session.info.id, &results) {
            Err(StoreError::Ended { .. }) => vec![false; results.len()],
            other => other?,
        };
        self.worker.count_queue_time(began);
        let counters = &self.worker.counters;
        for ((claim, record), accepted) in results.iter().zip(accepted) {
            if accepted {
                Counters::add(&counters.trials_recorded, 1);
                Counters::add(&counters.trials_failed, u64::from(failed(record.trial.outcome)));
            } else {
                Counters::add(&counters.results_refused, 1);
                observer.note(&format!("the result of {} was refused: another worker has taken it over", claim.unit));
            }
        }
        Ok(())
    }

    fn judge_results(&mut self, observer: &mut dyn WorkerObserver) -> Result<(), WorkError> {
        for (claims, result) in self.judge.finished() {
            for claim in &claims {
                self.in_flight.remove(&claim.unit);
                self.worker.leases.let_go(claim);
            }
            if self.worker.leases.lost().is_some() {
                return Ok(());
            }
            match result {
                Ok(()) => {
                    self.worker.store.complete_judging(&self.session.info.id, &claims)?;
                    Counters::add(&self.worker.counters.trials_judged, claims.len() as u64);
                }
                Err(_) if self.cancel.is_cancelled() => self.worker.store.give_back(&claims, false)?,
                Err(Failure::Outage(why)) => {
                    self.worker.store.give_back(&claims, false)?;
                    return Err(WorkError::Outage(why));
                }
                // Trying again would give the same. What has no answer is asked for when the run is scored, which says why.
                Err(failure) => {
                    if Counters::get(&self.worker.counters.judging_failed) == 0 {
                        observer.note(&format!("judging failed; the rest is asked for at the end: {}", failure.text()));
                    }
                    Counters::add(&self.worker.counters.judging_failed, claims.len() as u64);
                    self.worker.store.complete_judging(&self.session.info.id, &claims)?;
                }
            }
        }
        Ok(())
    }

    /// Ends within the grace period; whether nothing is under way any more.
    fn drain(&mut self) -> Result<bool, WorkError> {
        let until = *self.drain_until.get_or_insert_with(|| Instant::now() + self.worker.request.grace);
        if let Some(claim) = self.scoring.take() {
            self.worker.leases.let_go(&claim);
            self.worker.store.give_back(&[claim], false)?;
        }
        let unbegun = self.pool.take_unbegun();
        for claim in &unbegun {
            self.in_flight.remove(&claim.unit);
            self.worker.leases.let_go(claim);
        }
        if !unbegun.is_empty() {
            Counters::add(&self.worker.counters.released, unbegun.len() as u64);
            self.worker.store.give_back(&unbegun, false)?;
        }
        if Instant::now() >= until {
            self.cancel.cancel();
        }
        Ok(self.in_flight.is_empty())
    }
}

/// The record of a trial that ended too many workers. It counts neither for nor against the tool.
fn given_up_record(claim: &Claim) -> Option<TrialRecord> {
    let TrialKey { tool, case, number } = claim.unit.trial.clone()?;
    let trial = Trial { case, tool, number, outcome: Outcome::Unavailable, ..Trial::default() };
    let ended = count(claim.tries.saturating_sub(1) as usize, "worker");
    let detail = TrialDetailV1 {
        reason: Some(format!("given up: {ended} ended or failed while executing it")),
        ..TrialDetailV1::default()
    };
    Some(TrialRecord { trial, attempt: claim.attempt, detail, artifacts: Vec::new() })
}

/// Paths of a plan that lie in the suite's folder, on the machine where it was planned, moved to the folder of the suite here.
fn move_to(plan: &mut PlanV1, folder: &Path) {
    let place = plan.suite.place.clone();
    for PlannedToolV1 { manifest, manifest_dir, .. } in &mut plan.tools {
        for path in [manifest_dir, &mut manifest.manifest_dir] {
            let Some(own) = path else { continue };
            if let Ok(below) = Path::new(own.as_str()).strip_prefix(&place) {
                *path = Some(folder.join(below).display().to_string());
            }
        }
    }
    plan.suite.place = folder.display().to_string();
}
