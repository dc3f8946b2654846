//! Renews what a worker has claimed, beside its work, and says when it has lost it.

use super::{WorkError, WorkerRequest};
use crate::failure::{Failure, Result};
use karat_io::cancel::Cancel;
use karat_store::queue::{Claim, Unit};
use karat_store::{Store, StoreLocation};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long storing what is finished may take after the grace period.
const TIME_TO_STORE: Duration = Duration::from_secs(5);

/// The claims of a worker. A thread renews them at a third of the lease. When one cannot be renewed in time, or another worker
/// has it, everything under way is cancelled: what others may do now must not be done here too. A second thread watches the
/// time, since renewing may hang for long in a network that reports no error. It also ends all waiting for the store when the
/// worker was asked to end and its time is over.
pub(super) struct Leases {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    worker: String,
    lease: Duration,
    state: Mutex<State>,
    end: Cancel,
    drain: Cancel,
    grace: Duration,
    abandon: Cancel,
}

struct State {
    /// With the time by which each was claimed: a renewal that was asked for later answers with it.
    held: BTreeMap<Unit, (Claim, Duration)>,
    /// When the last successful renewal was asked for.
    renewed: Duration,
    /// Cancels what is under way.
    cancel: Cancel,
    /// Why the claims were lost.
    lost: Option<String>,
}

impl Leases {
    /// Cancels `abandon`, which ends all waiting for the store, when the grace period of a `drain` is over, or when nothing
    /// could be stored any more.
    pub(super) fn start(
        request: &WorkerRequest,
        worker: &str,
        drain: &Cancel,
        abandon: &Cancel,
    ) -> Result<Self, WorkError> {
        let state = State { held: BTreeMap::new(), renewed: since_boot(), cancel: Cancel::default(), lost: None };
        let shared = Arc::new(Shared {
            worker: worker.to_owned(),
            lease: request.lease,
            state: Mutex::new(state),
            end: Cancel::default(),
            drain: drain.clone(),
            grace: request.grace,
            abandon: abandon.clone(),
        });
        let location = request.store.clone();
        // A connection of its own: renewing must not wait for a large result that is being stored.
        let store = Store::open_until(location.clone(), abandon)?;
        let (renewing, watching) = (Arc::clone(&shared), Arc::clone(&shared));
        let mut leases = Self { shared, threads: Vec::new() };
        leases.spawn("karat-leases", move || renewing.renew_until_ended(store, &location))?;
        leases.spawn("karat-lease-time", move || watching.watch_until_ended())?;
        Ok(leases)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        self.threads.push(thread.map_err(|error| Failure::io("a thread", error))?);
        Ok(())
    }

    /// Begins work that is cancelled when a claim is lost.
    pub(super) fn begin(&self, cancel: Cancel) {
        let mut state = self.shared.state();
        state.held.clear();
        state.cancel = cancel;
        state.lost = None;
    }

    /// Adds claims; `asked` is the time before they were asked for.
    pub(super) fn hold(&self, claims: &[Claim], asked: Duration) {
        let mut state = self.shared.state();
        if state.held.is_empty() {
            state.renewed = asked;
        }
        // A renewal may have been answered between `asked` and the claim.
        let claimed = since_boot();
        state.held.extend(claims.iter().map(|claim| (claim.unit.clone(), (claim.clone(), claimed))));
    }

    /// Removes a claim whose result is about to be stored or that is given back; the database decides about it from here on.
    pub(super) fn let_go(&self, claim: &Claim) {
        self.shared.state().held.remove(&claim.unit);
    }

    /// Why the claims were lost, if they were.
    pub(super) fn lost(&self) -> Option<String> {
        self.shared.state().lost.clone()
    }

    /// Ends all waiting for the store.
    pub(super) fn abandon(&self) -> Cancel {
        self.shared.abandon.clone()
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        self.shared.end.cancel();
        // A renewal that hangs in the network must not keep the worker.
        self.shared.abandon.cancel();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn renew_until_ended(&self, store: Store, location: &StoreLocation) {
        let mut store = Some(store);
        while self.end.sleep(self.pause()) {
            let asked = since_boot();
            let result = match &mut store {
                Some(store) => store.renew(&self.worker, self.lease),
                None => Store::open_until(location, &self.abandon).and_then(|mut opened| {
                    let held = opened.renew(&self.worker, self.lease);
                    store = Some(opened);
                    held
                }),
            };
            match result {
                Ok(held) => self.note_held(asked, &held),
                Err(error) => {
                    store = None;
                    self.note_failure(&error.to_string());
                }
            }
        }
    }

    fn watch_until_ended(&self) {
        let mut drained = None;
        while self.end.sleep((self.lease / 20).clamp(Duration::from_millis(20), Duration::from_secs(1))) {
            let now = since_boot();
            let mut state = self.state();
            let is_late = now.saturating_sub(state.renewed) >= self.lease;
            if is_late && !state.held.is_empty() {
                state.lose("the lease could not be renewed in time".to_owned());
            }
            if self.drain.is_cancelled() {
                let since = *drained.get_or_insert(now);
                if now.saturating_sub(since) >= self.grace {
                    state.cancel.cancel();
                }
                if is_late || now.saturating_sub(since) >= self.grace + TIME_TO_STORE {
                    self.abandon.cancel();
                }
            }
        }
    }

    /// A third of the lease; less while renewing fails.
    fn pause(&self) -> Duration {
        let state = self.state();
        let third = self.lease / 3;
        let age = since_boot().saturating_sub(state.renewed);
        if age > third { (third / 10).max(Duration::from_millis(20)) } else { third }
    }

    fn note_held(&self, asked: Duration, held: &BTreeMap<Unit, i64>) {
        let mut state = self.state();
        state.renewed = asked;
        // What was claimed after the question is not in the answer.
        let lost = state.held.values().find(|(claim, claimed)| *claimed < asked && !claim.is_in(held));
        if let Some((claim, _)) = lost {
            let why = format!("{} was taken over by another worker, or its run was stopped", claim.unit);
            state.lose(why);
        }
    }

    fn note_failure(&self, error: &str) {
        let mut state = self.state();
        if since_boot().saturating_sub(state.renewed) >= self.lease && !state.held.is_empty() {
            state.lose(format!("the lease could not be renewed: {error}"));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lose(&mut self, why: String) {
        self.held.clear();
        self.lost.get_or_insert(why);
        self.cancel.cancel();
    }
}

/// The time since the machine was started, including the time that it was suspended: a lease ends meanwhile.
pub(super) fn since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(clock);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}
