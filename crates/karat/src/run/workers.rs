//! The workers of a run: each prepares the checkout of a case and executes a trial. One thread stores what they did in batches.

use crate::checkout::Template;
use crate::tool::run_context::RunContext;
use crate::tool::{Blocked, RunResult, Task, ToolFailure, TrialRunner, checkout_error, failed};
use karat_core::ids::{CaseId, ToolName};
use karat_core::suite::Case;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_llm::engine::Retry;
use karat_store::StoreError;
use karat_store::event::{Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Stores an event of a run, and then shows it.
pub(crate) type Emit<'e> = dyn FnMut(&RunEvent<'_>) -> Result<(), StoreError> + 'e;

pub(crate) type Runners<'a> = HashMap<ToolName, Box<dyn TrialRunner + 'a>>;

pub(crate) struct Workers<'a> {
    /// In the order in which they are begun.
    pub(crate) tasks: &'a [Task],
    runners: Runners<'a>,
    cases: HashMap<&'a CaseId, CaseSlot<'a>>,
    context: &'a RunContext<'a>,
    max_failures: Option<usize>,
    /// The cases whose templates are kept, the one used last at the end, where nobody knows how many uses are left.
    recent: Option<Mutex<VecDeque<CaseId>>>,
    tool_failures: Mutex<BTreeMap<ToolName, String>>,
}

struct CaseSlot<'a> {
    case: &'a Case,
    /// Prepared when first needed and dropped after its last use, and how many uses are left.
    checkout: Mutex<(Option<Arc<Template>>, usize)>,
}

/// What a worker says to the collector.
enum Message {
    Done(Box<TrialRecord>),
    /// A trial met an outage and is tried again, or a request of its model is.
    Retrying(TrialKey, Retry),
}

/// Is told of a trial that is tried again after a wait; `false` ends it.
type OnRetry<'a> = dyn Fn(Retry) -> bool + 'a;

/// Trials in a batch, which a store makes durable at the cost of one.
const MAX_BATCH: usize = 512;
const MAX_BATCH_BYTES: usize = 64 << 20;
/// Templates that are kept where nobody knows how many uses are left; trials come case by case.
const MAX_TEMPLATES: usize = 16;
/// Trials that wait for the collector; they may be large.
const MAX_QUEUE: usize = 64;

impl<'a> Workers<'a> {
    pub(crate) fn new(
        runners: Runners<'a>,
        tasks: &'a [Task],
        context: &'a RunContext<'a>,
        max_failures: Option<usize>,
    ) -> Self {
        let mut uses: HashMap<&CaseId, usize> = HashMap::new();
        for task in tasks {
            if runners.get(&task.key.tool).is_some_and(|runner| runner.needs_checkout()) {
                *uses.entry(&task.key.case).or_default() += 1;
            }
        }
        let with_code = context.loaded.suite.cases.iter().filter(|case| context.loaded.has_tree(&case.id));
        let slots = with_code.map(|case| {
            let uses_left = uses.get(&case.id).copied().unwrap_or_default();
            (&case.id, CaseSlot { case, checkout: Mutex::new((None, uses_left)) })
        });
        let (recent, tool_failures) = (None, Mutex::default());
        Self { tasks, cases: slots.collect(), runners, context, max_failures, recent, tool_failures }
    }

    /// For trials that become known one after the other.
    pub(crate) fn for_queue(runners: Runners<'a>, context: &'a RunContext<'a>) -> Self {
        Self { recent: Some(Mutex::default()), ..Self::new(runners, &[], context, None) }
    }

    /// Executes all tasks, up to `jobs` at once. Every trial that was done is stored, also when this ends early.
    pub(crate) fn run(&self, jobs: usize, emit: &mut Emit<'_>) -> io::Result<Ending> {
        let cancel = &self.context.cancel;
        let next = AtomicUsize::new(0);
        let failures = AtomicUsize::new(0);
        let (sender, receiver) = sync_channel::<io::Result<Message>>(MAX_QUEUE);
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, self.tasks.len().max(1)) {
                let (sender, next, failures) = (sender.clone(), &next, &failures);
                // Workers count failures themselves: the collector would notice only after another trial has begun.
                let enough = || self.max_failures.is_some_and(|most| failures.load(Ordering::Relaxed) >= most);
                scope.spawn(move || {
                    while !cancel.is_cancelled() && !enough() {
                        let Some(task) = self.tasks.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        let on_retry = |retry| sender.send(Ok(Message::Retrying(task.key.clone(), retry))).is_ok();
                        let Some(done) = self.execute(task, Some(&on_retry)).transpose() else { continue };
                        if done.as_ref().is_ok_and(|record| failed(record.trial.outcome)) {
                            failures.fetch_add(1, Ordering::Relaxed);
                        }
                        if sender.send(done.map(|record| Message::Done(Box::new(record)))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let collected = self.collect(&receiver, emit);
            if collected.is_err() {
                // Nothing more can be stored, so running trials are cancelled; resuming repeats them.
                cancel.cancel();
            }
            drop(receiver);
            collected
        })
    }

    /// What the sandbox kept from the tool of a trial, as far as that is known.
    pub(crate) fn blocked(&self, record: &TrialRecord) -> Vec<Blocked> {
        self.runners.get(&record.trial.tool).map(|runner| runner.blocked(record)).unwrap_or_default()
    }

    /// Runs a trial once, whatever comes of it.
    pub(crate) fn execute_once(&self, task: &Task) -> RunResult {
        self.execute(task, None)
    }

    /// Runs a trial; again after an outage.
    pub(crate) fn execute_with_retries(&self, task: &Task) -> RunResult {
        self.execute(task, Some(&|_| true))
    }

    /// Runs a trial; again after an outage, if there is an observer of that and it does not refuse.
    fn execute(&self, task: &Task, on_retry: Option<&OnRetry<'_>>) -> RunResult {
        let started_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
        let Some(runner) = self.runners.get(&task.key.tool) else { return Ok(None) };
        let slot = self.cases.get(&task.key.case);
        let template = match slot.filter(|_| runner.needs_checkout()) {
            Some(slot) => self.template(slot).map_err(|error| checkout_error(slot.case, &error))?,
            None => None,
        };
        let mut outages = 0;
        loop {
            let Some(mut record) = self.try_once(&**runner, task, slot, template.as_deref(), on_retry)? else {
                return Ok(None);
            };
            record.detail.started_ms = started_ms;
            if outages > 0 {
                record.detail.remarks.push(format!("it met {} before", count(outages as usize, "outage")));
            }
            let is_outage = record.trial.outcome == Outcome::Unavailable && self.failure_of(&task.key.tool).is_none();
            let retry = runner.retries().next(outages + 1, record.detail.reason.as_deref());
            let Some((on_retry, retry)) = on_retry.filter(|_| is_outage).zip(retry) else {
                return Ok(Some(record));
            };
            outages += 1;
            let wait = retry.wait;
            if !on_retry(retry) || !self.context.cancel.sleep(wait) {
                return Ok(None);
            }
        }
    }

    /// One try of a trial. A tool that fails as a whole ends the run only if there is no other.
    fn try_once(
        &self,
        runner: &dyn TrialRunner,
        task: &Task,
        slot: Option<&CaseSlot<'_>>,
        template: Option<&Template>,
        on_retry: Option<&OnRetry<'_>>,
    ) -> RunResult {
        if let Some(why) = self.failure_of(&task.key.tool) {
            // Where nothing else can be run, the run ends, and this trial is done when it is resumed.
            let is_last = self.tool_failures().len() == self.runners.len();
            return Ok((!is_last).then(|| task.unavailable(&why)));
        }
        let on_request = |retry: Retry| {
            on_retry.map(|on_retry| on_retry(retry));
        };
        match runner.run_trial(task, slot.map(|slot| slot.case), template, &on_request) {
            Err(error) if error.get_ref().is_some_and(|inner| inner.is::<ToolFailure>()) => {
                let mut failures = self.tool_failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.insert(task.key.tool.clone(), error.to_string());
                match failures.len() < self.runners.len() {
                    true => Ok(Some(task.unavailable(&error.to_string()))),
                    false => Err(error),
                }
            }
            done => done,
        }
    }

    /// Why no trial of a tool can be executed any more.
    fn failure_of(&self, tool: &ToolName) -> Option<String> {
        self.tool_failures.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    /// The tools that failed as a whole, and why.
    pub(crate) fn tool_failures(&self) -> BTreeMap<ToolName, String> {
        self.tool_failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The template of a case. The first trial prepares it while others wait.
    fn template(&self, slot: &CaseSlot<'_>) -> io::Result<Option<Arc<Template>>> {
        let mut checkout = slot.checkout.lock().unwrap_or_else(PoisonError::into_inner);
        let (prepared, uses_left) = &mut *checkout;
        let template = match prepared.take() {
            Some(template) => Some(template),
            None => Template::build(self.context.loaded, slot.case)?.map(Arc::new),
        };
        *uses_left = uses_left.saturating_sub(1);
        if *uses_left > 0 || self.recent.is_some() {
            prepared.clone_from(&template);
        }
        drop(checkout);
        self.drop_oldest_template(&slot.case.id);
        Ok(template)
    }

    /// Notes the use of a template, and drops the one that was not used for longest where there are too many.
    fn drop_oldest_template(&self, used: &CaseId) {
        let Some(recent) = &self.recent else { return };
        let mut recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|case| case != used);
        recent.push_back(used.clone());
        let oldest = if recent.len() > MAX_TEMPLATES { recent.pop_front() } else { None };
        drop(recent);
        if let Some(slot) = oldest.as_ref().and_then(|case| self.cases.get(case)) {
            slot.checkout.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
        }
    }

    fn collect(&self, receiver: &Receiver<io::Result<Message>>, emit: &mut Emit<'_>) -> io::Result<Ending> {
        let mut batch: Vec<TrialRecord> = Vec::new();
        let mut done = 0;
        let mut failures = 0;
        let mut if_incomplete = Ending::Interrupted;
        let mut broken = None;
        while let Ok(first) = receiver.recv() {
            let mut next = Some(first);
            let mut bytes = 0;
            while let Some(result) = next.take() {
                match result {
                    Ok(Message::Retrying(trial, retry)) => {
                        emit(&RunEvent::Retrying { trial: &trial, retry: &retry }).map_err(io::Error::other)?;
                    }
                    Ok(Message::Done(record)) => {
                        bytes += record.artifacts.iter().map(|artifact| artifact.bytes.len()).sum::<usize>();
                        batch.push(*record);
                    }
                    Err(error) => {
                        self.context.cancel.cancel();
                        broken.get_or_insert(error);
                    }
                }
                if batch.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES {
                    next = receiver.try_recv().ok();
                }
            }
            if !batch.is_empty() {
                self.emit_with_retries(emit, &RunEvent::TrialsDone(&batch)).map_err(io::Error::other)?;
                done += batch.len();
                failures += batch.iter().filter(|record| failed(record.trial.outcome)).count();
                batch.clear();
            }
            if self.max_failures.is_some_and(|most| failures >= most) && done < self.tasks.len() {
                if_incomplete = Ending::TooManyFailures;
                self.context.cancel.cancel();
            }
        }
        match broken {
            Some(error) => Err(error),
            None if done == self.tasks.len() => Ok(Ending::Complete),
            None => Ok(if_incomplete),
        }
    }

    /// If a trial has filled the disk of the store, that trial is ended, and what others did is stored.
    fn emit_with_retries(&self, emit: &mut Emit<'_>, event: &RunEvent<'_>) -> Result<(), StoreError> {
        let RunContext { room, cancel, .. } = self.context;
        room.repeat(cancel, |error| matches!(error, StoreError::Full { .. }), || emit(event))
    }
}
