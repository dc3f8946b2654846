//! Works on runs that are stored on a server, beside any number of other workers: [`work`] claims units of their queues, executes
//! trials, has them judged and scores runs of which nothing else is left.

mod counters;
mod judging;
mod leases;
mod left_out;
mod run_session;
mod suite_cache;
mod trial_pool;

pub use counters::Counters;

use crate::evaluate::request::EvaluateRequest;
use crate::failure::{Failure, Result};
use crate::tool::command::isolation_of_kind;
use karat_format::run::PlanV1;
use karat_io::cancel::Cancel;
use karat_sandbox::{Isolation, Supervisor};
use karat_store::queue::{Claim, ClaimRequest};
use karat_store::{RunId, RunInfo, Store, StoreError, StoreLocation};
use leases::{Leases, since_boot};
use left_out::LeftOut;
use run_session::{RunSession, SessionEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a worker works.
#[expect(missing_docs, reason = "field names say it")]
pub struct WorkerRequest {
    pub store: StoreLocation,
    /// Of this run alone, by reference; else of all.
    pub run: Option<String>,
    /// Trials at once; by default the number of processors.
    pub jobs: Option<usize>,
    /// What this machine offers for the `needs` of tools, beside the programs that it has.
    pub offers: BTreeSet<String>,
    /// How long a claim is valid without being renewed.
    pub lease: Duration,
    /// How long trials may still take when the worker is asked to end.
    pub grace: Duration,
    pub idle: WhenIdle,
    pub isolation: Option<Isolation>,
    pub require_isolation: Option<Isolation>,
    /// The user's environment, of which tools see only what is allowed.
    pub environment: BTreeMap<String, OsString>,
    pub supervisor: Supervisor,
}

/// What a worker does when there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenIdle {
    /// Waits for the next run.
    Wait,
    /// Ends as soon as no run has units left.
    Exit,
}

/// How long a claim is valid where nothing else is said.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(60);

/// How long trials may still take where nothing else is said.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(60);

/// The shortest lease: renewing it takes a third of it at most.
pub const MIN_LEASE: Duration = Duration::from_millis(300);

/// How often a worker that has nothing to do looks for work.
const IDLE_PAUSE: Duration = Duration::from_millis(500);

/// How often a worker asks what queued units need: the answer comes from all units.
const NEEDS_PAUSE: Duration = Duration::from_secs(2);

/// How long a worker tries to reach its database before it gives up.
const MAX_OUTAGE: Duration = Duration::from_secs(15 * 60);

/// Observes a worker. By default it shows nothing and never ends it.
pub trait WorkerObserver {
    /// Something that a person should know.
    fn note(&mut self, _text: &str) {}

    /// The worker has something to do, or no longer has.
    fn status(&mut self, _status: &WorkerStatus<'_>) {}

    /// What asks the worker to end: it claims nothing more, and what it executes may end within the grace period.
    fn drain(&mut self) -> Result<Cancel> {
        Ok(Cancel::default())
    }
}

/// What a worker is doing.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct WorkerStatus<'a> {
    /// `None` while it waits for work.
    pub run: Option<&'a str>,
    pub counters: &'a Counters,
    pub is_draining: bool,
}

/// Works until it is asked to end, or there is nothing left to do.
pub fn work(request: &WorkerRequest, counters: &Arc<Counters>, observer: &mut dyn WorkerObserver) -> Result<()> {
    if request.lease < MIN_LEASE {
        return Err(Failure::usage(format!("--lease must be at least {} ms", MIN_LEASE.as_millis())));
    }
    let drain = observer.drain()?;
    let name = worker_name();
    let (mut store, leases) = open_waiting(request, &name, &drain, observer)?;
    let run = request.run.as_deref().map(|reference| store.find_findings(reference)).transpose()?.map(|run| run.id);
    if let Some(run) = &run
        && !store.is_queued(run)?
    {
        let message = format!("run {run} has no queue, so that no worker can work on it; start runs with `karat run`");
        return Err(Failure::usage(message));
    }
    let mut worker = Worker {
        request,
        name,
        store,
        leases,
        counters: Arc::clone(counters),
        left_out: LeftOut::default(),
        needs: None,
        drain,
        failing_since: None,
        may_have_claims: false,
    };
    worker.work(run.as_ref(), observer)
}

/// Connects twice, for work and for leases. A server that is away or has no free connection is waited for, without keeping one
/// of the two from others.
fn open_waiting(
    request: &WorkerRequest,
    name: &str,
    drain: &Cancel,
    observer: &mut dyn WorkerObserver,
) -> Result<(Store, Leases)> {
    let began = Instant::now();
    let mut is_noted = false;
    loop {
        let abandon = Cancel::default();
        let opened = Store::open_until(&request.store, &abandon)
            .map_err(WorkError::from)
            .and_then(|store| Ok((store, Leases::start(request, name, drain, &abandon)?)));
        match opened {
            Ok(opened) => return Ok(opened),
            Err(WorkError::Outage(why)) if began.elapsed() < MAX_OUTAGE && !drain.is_cancelled() => {
                if !is_noted {
                    observer.note(&format!("{why}; trying again"));
                    is_noted = true;
                }
                drain.sleep(IDLE_PAUSE);
            }
            Err(error) => return Err(error.into_failure()),
        }
    }
}

/// Stops a run: nothing more of it is claimed, and workers end what they have of it.
pub fn stop(location: &StoreLocation, reference: &str) -> Result<RunInfo> {
    let mut store = Store::open(location.clone())?;
    let run = store.find_findings(reference)?;
    store.stop(&run.id)?;
    Ok(store.find(run.id.as_str())?)
}

/// A worker with its connection.
struct Worker<'a> {
    request: &'a WorkerRequest,
    name: String,
    store: Store,
    leases: Leases,
    counters: Arc<Counters>,
    left_out: LeftOut,
    /// What the tools of queued units need, and when it was asked.
    needs: Option<(Instant, BTreeSet<String>)>,
    drain: Cancel,
    /// Since when the database cannot be reached.
    failing_since: Option<Instant>,
    /// Whether units may be claimed that nothing here works on.
    may_have_claims: bool,
}

impl Worker<'_> {
    fn work(&mut self, run: Option<&RunId>, observer: &mut dyn WorkerObserver) -> Result<()> {
        loop {
            observer.status(&WorkerStatus { run: None, counters: &self.counters, is_draining: self.is_draining() });
            if self.is_draining() {
                if self.may_have_claims {
                    // Without an answer, others take over when the lease ends.
                    let _ = self.store.give_back_all(&self.name);
                }
                return Ok(());
            }
            match self.claim_and_work(run, observer) {
                Ok(true) => self.failing_since = None,
                Ok(false) => {
                    self.failing_since = None;
                    if self.is_finished(run)? {
                        return Ok(());
                    }
                    self.drain.sleep(IDLE_PAUSE);
                }
                // The database or the object storage is away for a while; nothing that was recorded is lost.
                Err(WorkError::Outage(why)) => {
                    let since = *self.failing_since.get_or_insert_with(|| {
                        observer.note(&format!("{why}; trying again"));
                        Instant::now()
                    });
                    if since.elapsed() > MAX_OUTAGE {
                        return Err(Failure::Outage(why));
                    }
                    self.drain.sleep(IDLE_PAUSE);
                    if let Ok(store) = Store::open_until(&self.request.store, &self.leases.abandon()) {
                        self.store = store;
                    }
                }
                // Somebody stopped, completed or removed it meanwhile.
                Err(WorkError::RunEnded(why)) => observer.note(&format!("everything under way was ended: {why}")),
                Err(WorkError::Failure(failure)) => return Err(failure),
            }
        }
    }

    /// Claims units and works on their run until none is left; whether there were any.
    fn claim_and_work(&mut self, run: Option<&RunId>, observer: &mut dyn WorkerObserver) -> Result<bool, WorkError> {
        self.leases.begin(Cancel::default());
        if self.may_have_claims {
            self.store.give_back_all(&self.name)?;
        }
        self.left_out.forget_old();
        let asked = since_boot();
        // Claims are renewed by the worker's name, also one whose answer was lost.
        self.may_have_claims = true;
        // One unit shows which run it is; the session claims more of it.
        let first = self.claim(run, 1, false)?;
        let Some(claim) = first.first() else {
            self.may_have_claims = false;
            return Ok(false);
        };
        let run = claim.unit.run.clone();
        let cancel = Cancel::default();
        self.leases.begin(cancel.clone());
        self.leases.hold(&first, asked);
        let claims = first.clone();
        let end = match RunSession::open(self, &run, observer) {
            Ok(session) => session.work(self, claims, &cancel, observer)?,
            Err(Failure::Outage(why)) => return Err(WorkError::Outage(why)),
            Err(failure) => {
                self.let_go(&first);
                // The unit was not begun, and other machines may be able to.
                self.store.give_back(&first, false)?;
                self.left_out.add_run(&run);
                observer.note(&format!("run {run} cannot be worked on here: {}", failure.text()));
                self.drain.sleep(IDLE_PAUSE);
                return Ok(true);
            }
        };
        if let SessionEnd::Lost(why) = end {
            Counters::add(&self.counters.leases_lost, 1);
            observer.note(&format!("everything under way was ended: {why}"));
        }
        Ok(true)
    }

    fn claim(&mut self, run: Option<&RunId>, most: usize, fresh_only: bool) -> Result<Vec<Claim>, StoreError> {
        let began = Instant::now();
        if self.needs.as_ref().is_none_or(|(asked, _)| asked.elapsed() > NEEDS_PAUSE) {
            self.needs = Some((began, self.store.queued_needs(None)?));
        }
        let needs = self.needs.iter().flat_map(|(_, needs)| needs);
        let mut offers: BTreeSet<String> = needs.filter(|need| self.has_program(need)).cloned().collect();
        offers.extend(self.request.offers.iter().cloned());
        let claims = self.store.claim(&ClaimRequest {
            worker: &self.name,
            run,
            offers: &offers,
            without: &self.left_out.tools(),
            without_runs: &self.left_out.runs(),
            without_judge: &self.left_out.judges(),
            fresh_only,
            most,
            lease: self.request.lease,
        })?;
        Counters::add(&self.counters.claimed, claims.len() as u64);
        self.count_queue_time(began);
        Ok(claims)
    }

    fn count_queue_time(&self, began: Instant) {
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Counters::add(&self.counters.queue_milliseconds, ms);
    }

    fn let_go(&self, claims: &[Claim]) {
        claims.iter().for_each(|claim| self.leases.let_go(claim));
    }

    fn has_program(&self, name: &str) -> bool {
        let path = self.request.environment.get("PATH").cloned().unwrap_or_default();
        !name.contains('/') && std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    }

    fn is_draining(&self) -> bool {
        self.drain.is_cancelled()
    }

    /// Whether there is nothing left to wait for.
    fn is_finished(&mut self, run: Option<&RunId>) -> Result<bool> {
        if run.is_none() && self.request.idle == WhenIdle::Wait {
            return Ok(false);
        }
        match self.store.has_open_units(run) {
            Ok(open) => Ok(!open),
            // It was removed.
            Err(StoreError::NoRun { .. }) => Ok(true),
            Err(error) if error.is_outage() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Why work could not go on.
enum WorkError {
    /// It may go on later.
    Outage(String),
    /// Its run takes no more results.
    RunEnded(String),
    Failure(Failure),
}

impl WorkError {
    fn into_failure(self) -> Failure {
        match self {
            Self::Outage(why) => Failure::Outage(why),
            Self::RunEnded(why) => Failure::failed(why),
            Self::Failure(failure) => failure,
        }
    }
}

impl From<StoreError> for WorkError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Ended { .. } | StoreError::NoRun { .. } => Self::RunEnded(error.to_string()),
            error => Failure::from(error).into(),
        }
    }
}

impl From<Failure> for WorkError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Outage(why) => Self::Outage(why),
            failure => Self::Failure(failure),
        }
    }
}

/// Unique, and readable for people who look into the database.
fn worker_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host} {} {}", std::process::id(), RunId::random())
}

/// How the tools of a plan are loaded and executed here.
fn evaluate_request(request: &WorkerRequest, plan: &PlanV1) -> EvaluateRequest {
    let required = plan.require_isolation.map(isolation_of_kind);
    EvaluateRequest {
        isolation: request.isolation.or(plan.isolation.map(isolation_of_kind)),
        require_isolation: request.require_isolation.max(required),
        environment: request.environment.clone(),
        supervisor: request.supervisor.clone(),
        // Whoever planned the run agreed to what its tools may do; nothing is remembered here.
        plan_only: true,
        store: request.store.clone(),
        ..EvaluateRequest::default()
    }
}
