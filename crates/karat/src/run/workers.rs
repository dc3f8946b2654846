//! The workers of a run: each takes the next trial, prepares the checkout of its case and executes it. One thread collects what
//! they did and hands it to consumers in batches.

use crate::checkout::Template;
use crate::tool::run_context::RunContext;
use crate::tool::{ReadyError, Task, TrialRunner, failed};
use karat_core::ids::{CaseId, ToolName};
use karat_core::suite::Case;
use karat_store::StoreError;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) type Runners<'a> = HashMap<ToolName, Box<dyn TrialRunner + 'a>>;

pub(crate) struct Workers<'a> {
    /// In the order in which they are begun.
    pub(crate) tasks: &'a [Task],
    runners: Runners<'a>,
    cases: HashMap<&'a CaseId, CaseSlot<'a>>,
    context: &'a RunContext<'a>,
    /// Ends the run after so many failed trials.
    max_failures: Option<usize>,
}

struct CaseSlot<'a> {
    case: &'a Case,
    checkout: Mutex<Checkout>,
}

/// The checkout of a case, prepared when first needed and dropped after its last use.
struct Checkout {
    template: Option<Arc<Template>>,
    uses_left: usize,
}

enum Message {
    Began(TrialKey),
    Done(Box<TrialRecord>),
    Failed(ReadyError),
}

/// Trials in a batch, which a store makes durable at the cost of one.
const MAX_BATCH: usize = 512;
const MAX_BATCH_BYTES: usize = 64 << 20;
/// Messages that wait for the collector; trials may be large.
const MAX_QUEUE: usize = 64;
/// How often a consumer that failed is tried again if the cause could be removed.
const MAX_RETRIES: usize = 3;

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
            (&case.id, CaseSlot { case, checkout: Mutex::new(Checkout { template: None, uses_left }) })
        });
        Self { tasks, cases: slots.collect(), runners, context, max_failures }
    }

    /// Executes all tasks, up to `jobs` at once. Every trial that was done is handed to the consumers before this returns, also
    /// when it ends early.
    pub(crate) fn run(&self, jobs: usize, consumers: &mut [&mut dyn Consumer]) -> Result<Ending, ConsumerError> {
        let cancel = &self.context.cancel;
        let next = AtomicUsize::new(0);
        let failures = AtomicUsize::new(0);
        let (sender, receiver) = sync_channel(MAX_QUEUE);
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, self.tasks.len().max(1)) {
                let (sender, next, failures) = (sender.clone(), &next, &failures);
                // Workers count failures themselves: the collector would notice only after another trial has begun.
                let enough = || self.max_failures.is_some_and(|most| failures.load(Ordering::Relaxed) >= most);
                scope.spawn(move || {
                    while !cancel.is_cancelled() && !enough() {
                        let Some(task) = self.tasks.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        if sender.send(Message::Began(task.key.clone())).is_err() {
                            break;
                        }
                        let message = match self.execute(task) {
                            Ok(None) => continue,
                            Ok(Some(record)) => {
                                failures.fetch_add(usize::from(failed(record.trial.outcome)), Ordering::Relaxed);
                                Message::Done(Box::new(record))
                            }
                            Err(error) => Message::Failed(error),
                        };
                        if sender.send(message).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let collected = self.collect(&receiver, consumers);
            if collected.is_err() {
                // Nothing more can be stored, so running trials are cancelled; resuming repeats them.
                cancel.cancel();
            }
            drop(receiver);
            collected
        })
    }

    /// Executes one trial; `None` if it was cancelled. An error is a failure of Karat or the system, never of the tool.
    fn execute(&self, task: &Task) -> Result<Option<TrialRecord>, ReadyError> {
        let started_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
        let Some(runner) = self.runners.get(&task.key.tool) else { return Ok(None) };
        let slot = self.cases.get(&task.key.case);
        let template = match slot.filter(|_| runner.needs_checkout()) {
            Some(slot) => self.template(slot).map_err(|error| ReadyError::checkout(slot.case, &error))?,
            None => None,
        };
        let mut record = runner.run_trial(task, slot.map(|slot| slot.case), template.as_deref())?;
        if let Some(record) = &mut record {
            record.detail.started_ms = started_ms;
        }
        Ok(record)
    }

    /// The template of a case. The first trial prepares it while others wait.
    fn template(&self, slot: &CaseSlot<'_>) -> io::Result<Option<Arc<Template>>> {
        let mut checkout = slot.checkout.lock().unwrap_or_else(PoisonError::into_inner);
        let template = match checkout.template.take() {
            Some(template) => Some(template),
            None => Template::build(self.context.loaded, slot.case)?.map(Arc::new),
        };
        checkout.uses_left = checkout.uses_left.saturating_sub(1);
        if checkout.uses_left > 0 {
            checkout.template.clone_from(&template);
        }
        Ok(template)
    }

    fn collect(
        &self,
        receiver: &Receiver<Message>,
        consumers: &mut [&mut dyn Consumer],
    ) -> Result<Ending, ConsumerError> {
        let mut batch: Vec<TrialRecord> = Vec::new();
        let mut done = 0;
        let mut failures = 0;
        let mut too_many = None;
        let mut broken = None;
        while let Ok(message) = receiver.recv() {
            let mut next = Some(message);
            let mut began = Vec::new();
            let mut bytes = 0;
            while let Some(message) = next.take() {
                match message {
                    Message::Began(key) => began.push(key),
                    Message::Done(record) => {
                        bytes += record.artifacts.iter().map(|artifact| artifact.bytes.len()).sum::<usize>();
                        batch.push(*record);
                    }
                    Message::Failed(error) => {
                        self.context.cancel.cancel();
                        broken.get_or_insert(error);
                    }
                }
                if batch.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES {
                    next = receiver.try_recv().ok();
                }
            }
            began.iter().try_for_each(|key| emit(consumers, &RunEvent::TrialBegan(key)))?;
            if !batch.is_empty() {
                self.emit_with_retries(consumers, &RunEvent::TrialsDone(&batch))?;
                done += batch.len();
                failures += batch.iter().filter(|record| failed(record.trial.outcome)).count();
                batch.clear();
            }
            if self.max_failures.is_some_and(|most| failures >= most) && too_many.is_none() && done < self.tasks.len() {
                too_many = Some(Ending::TooManyFailures(failures));
                self.context.cancel.cancel();
            }
        }
        match broken {
            Some(error) => Err(error.into()),
            None if done == self.tasks.len() => Ok(Ending::Complete),
            None => Ok(too_many.unwrap_or(Ending::Interrupted)),
        }
    }

    /// If a trial has filled the disk of the store, that trial is ended, and what others did is stored.
    fn emit_with_retries(
        &self,
        consumers: &mut [&mut dyn Consumer],
        event: &RunEvent<'_>,
    ) -> Result<(), ConsumerError> {
        for consumer in consumers {
            let mut retries = 0;
            while let Err(error) = consumer.consume(event) {
                let is_full = matches!(error.downcast_ref(), Some(StoreError::Full { .. }));
                if retries == MAX_RETRIES || !is_full || !self.context.room.make(&self.context.cancel) {
                    return Err(error);
                }
                retries += 1;
            }
        }
        Ok(())
    }
}

/// Hands an event to all consumers, in their order.
pub fn emit(consumers: &mut [&mut dyn Consumer], event: &RunEvent<'_>) -> Result<(), ConsumerError> {
    consumers.iter_mut().try_for_each(|consumer| consumer.consume(event))
}
