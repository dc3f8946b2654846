//! Threads that execute the trials a worker has claimed.

use super::Counters;
use crate::run::workers::Workers;
use crate::tool::{RunResult, Task};
use karat_store::queue::Claim;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// A trial that was executed.
pub(super) struct Finished {
    pub(super) claim: Claim,
    pub(super) result: RunResult,
}

/// Executes trials, as many at once as it has threads. Dropping it ends the threads when they have nothing to do.
pub(super) struct TrialPool<'e> {
    tasks: Arc<Tasks>,
    receiver: Receiver<Finished>,
    jobs: usize,
    lifetime: std::marker::PhantomData<&'e ()>,
}

#[derive(Default)]
struct Tasks {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Task, Claim)>,
    ended: bool,
    /// Of the trials that were executed, and their number.
    time: Duration,
    executed: u32,
}

impl<'e> TrialPool<'e> {
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        workers: &'s Workers<'s>,
        counters: &Arc<Counters>,
        jobs: usize,
    ) -> Self {
        let tasks = Arc::new(Tasks::default());
        let (sender, receiver) = channel();
        let jobs = jobs.max(1);
        for _ in 0..jobs {
            let (tasks, sender, counters) = (Arc::clone(&tasks), sender.clone(), Arc::clone(counters));
            scope.spawn(move || execute_until_ended(&tasks, workers, &counters, &sender));
        }
        Self { tasks, receiver, jobs, lifetime: std::marker::PhantomData }
    }

    pub(super) fn execute(&self, task: Task, claim: Claim) {
        self.tasks.state().waiting.push_back((task, claim));
        self.tasks.changed.notify_one();
    }

    /// How many more trials it should be given, so that threads have work for the time `ahead`.
    pub(super) fn room(&self, ahead: Duration, in_flight: usize) -> usize {
        let state = self.tasks.state();
        let per_thread = match state.executed {
            0 => 0,
            n => (ahead.as_secs_f64() / (state.time / n).as_secs_f64().max(1e-3)) as usize,
        };
        let wanted = self.jobs.saturating_mul(1 + per_thread.min(64));
        wanted.saturating_sub(in_flight)
    }

    /// What was finished, waiting up to `wait` for the first.
    pub(super) fn finished(&self, wait: Duration) -> Vec<Finished> {
        let first = self.receiver.recv_timeout(wait).ok();
        first.into_iter().chain(self.receiver.try_iter()).collect()
    }

    /// Takes back what no thread has begun.
    pub(super) fn take_unbegun(&self) -> Vec<Claim> {
        self.tasks.state().waiting.drain(..).map(|(_, claim)| claim).collect()
    }
}

impl Drop for TrialPool<'_> {
    fn drop(&mut self) {
        let mut state = self.tasks.state();
        state.ended = true;
        state.waiting.clear();
        drop(state);
        self.tasks.changed.notify_all();
    }
}

impl Tasks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<(Task, Claim)> {
        let mut state = self.state();
        loop {
            if state.ended {
                return None;
            }
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn execute_until_ended(tasks: &Tasks, workers: &Workers<'_>, counters: &Counters, sender: &Sender<Finished>) {
    while let Some((task, claim)) = tasks.next() {
        let began = Instant::now();
        counters.running.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| workers.execute_with_retries(&task)))
            .unwrap_or_else(|_| Err(std::io::Error::other("a defect of Karat ended it")));
        counters.running.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        let took = began.elapsed();
        Counters::add(&counters.trial_milliseconds, u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let mut state = tasks.state();
        state.time += took;
        state.executed += 1;
        drop(state);
        if sender.send(Finished { claim, result }).is_err() {
            return;
        }
    }
}
