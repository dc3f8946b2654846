//! Has the questions of trials answered beside their execution. Answers go to the ledger, where the scoring of the run finds them.

use super::Worker;
use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, run_judge};
use crate::run::plan::profile_of_plan;
use crate::suite::LoadedSuite;
use crate::work::Work;
use karat_core::ids::JudgeName;
use karat_core::panel::Consensus;
use karat_format::run::PlanV1;
use karat_io::cancel::Cancel;
use karat_store::queue::Claim;
use karat_store::record::TrialKey;
use karat_store::{Store, StoreLocation};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// A thread that asks the judge of a run, with a connection of its own.
pub(super) struct JudgeThread<'e> {
    sender: Sender<Vec<Claim>>,
    receiver: Receiver<(Vec<Claim>, Result<()>)>,
    lifetime: std::marker::PhantomData<&'e ()>,
}

impl JudgeThread<'_> {
    pub(super) fn new<'s>(
        scope: &'s Scope<'s, '_>,
        worker: &Worker<'_>,
        loaded: &'s LoadedSuite,
        plan: &'s PlanV1,
        cancel: &Cancel,
    ) -> Self {
        let (sender, claims) = channel::<Vec<Claim>>();
        let (results, receiver) = channel();
        let cancel = cancel.clone();
        let (location, name, lease) = (worker.request.store.clone(), worker.name.clone(), worker.request.lease);
        let abandon = worker.leases.abandon();
        scope.spawn(move || {
            let mut store = None;
            while let Ok(mut batch) = claims.recv() {
                // What came meanwhile is asked together, so that the judge is as busy as it may be.
                batch.extend(claims.try_iter().flatten());
                // Without an answer the claims would be renewed for ever.
                let result = catch_unwind(AssertUnwindSafe(|| {
                    let store = open(&mut store, &location, &abandon)?;
                    store.ask_as(&name, lease);
                    judge_trials(store, loaded, plan, &batch, cancel.clone())
                }))
                .unwrap_or_else(|_| Err(Failure::failed("a defect of Karat ended it")));
                if result.is_err() {
                    // Others need not wait for answers that nobody here is waiting for.
                    let _ = store.as_mut().map(Store::give_questions_back);
                    store = None;
                }
                if results.send((batch, result)).is_err() {
                    return;
                }
            }
        });
        Self { sender, receiver, lifetime: std::marker::PhantomData }
    }

    pub(super) fn ask(&self, claims: Vec<Claim>) {
        // The thread ends only with the sender.
        let _ = self.sender.send(claims);
    }

    pub(super) fn finished(&self) -> Vec<(Vec<Claim>, Result<()>)> {
        self.receiver.try_iter().collect()
    }
}

fn open<'s>(store: &'s mut Option<Store>, location: &StoreLocation, abandon: &Cancel) -> Result<&'s mut Store> {
    if store.is_none() {
        *store = Some(Store::open_until(location, abandon)?);
    }
    store.as_mut().ok_or_else(|| Failure::failed("the store is closed"))
}

/// Asks the judge of the plan about these trials.
fn judge_trials(
    store: &mut Store,
    loaded: &LoadedSuite,
    plan: &PlanV1,
    claims: &[Claim],
    cancel: Cancel,
) -> Result<()> {
    let Some(run) = claims.first().map(|claim| claim.unit.run.clone()) else { return Ok(()) };
    let keys: Vec<TrialKey> = claims.iter().filter_map(|claim| claim.unit.trial.clone()).collect();
    let trials = store.trials_of(&run, &keys)?.into_iter().map(|stored| stored.trial).collect();
    let mut work = Work { seed: Some(plan.seed), ..Work::new(trials, profile_of_plan(plan, run.as_str())?) };
    let request =
        JudgeRequest { consensus: plan.consensus.as_deref().and_then(Consensus::parse), ..JudgeRequest::default() };
    let models: Vec<(String, String)> =
        plan.tools.iter().filter_map(|tool| Some((tool.name.clone(), tool.model.clone()?))).collect();
    let location = store.location().clone();
    store.share_budget(run.as_str());
    let mut observer = CancelledWith(cancel);
    let env = JudgeEnv { request: &request, location: &location, store: Some(store), observer: &mut observer };
    run_judge(env, loaded, &models, &mut work)
}

struct CancelledWith(Cancel);

impl JudgeObserver for CancelledWith {
    fn start(&mut self, _judge: &JudgeName) -> Result<Cancel> {
        Ok(self.0.clone())
    }
}
