//! The engine of a run: workers execute trials, one thread collects them and hands them to consumers in batches.

pub use crate::tool::failed;

use crate::tool::Task;
use karat_io::cancel::Cancel;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

/// How a run is driven.
pub(crate) struct Drive<'a> {
    /// In the order in which they are begun.
    pub(crate) tasks: &'a [Task],
    /// Executes one trial; `None` if it was cancelled. An error ends the run.
    pub(crate) execute: &'a (dyn Fn(&Task) -> Result<Option<TrialRecord>, ConsumerError> + Sync),
    /// How many trials at once.
    pub(crate) jobs: usize,
    /// Ends the run after so many failed trials.
    pub(crate) max_failures: Option<usize>,
    pub(crate) cancel: &'a Cancel,
    /// Removes the cause of a consumer's failure if possible; `true` lets the consumer try again.
    pub(crate) recover: &'a (dyn Fn(&ConsumerError) -> bool + Sync),
}

enum Message {
    Began(TrialKey),
    Done(Box<TrialRecord>),
    Failed(ConsumerError),
}

/// Trials in a batch, which a store makes durable at the cost of one.
const MAX_BATCH: usize = 512;
/// Bytes of artifacts in a batch.
const MAX_BATCH_BYTES: usize = 64 << 20;
/// Messages that wait for the collector; trials may be large.
const MAX_QUEUE: usize = 64;
/// How often a consumer that failed is tried again if the cause could be removed.
const MAX_RETRIES: usize = 3;

/// Executes all tasks. Every trial that was done is handed to the consumers before this returns, also when it ends early.
pub(crate) fn drive(work: &Drive<'_>, consumers: &mut [&mut dyn Consumer]) -> Result<Ending, ConsumerError> {
    let next = AtomicUsize::new(0);
    let failures = AtomicUsize::new(0);
    let stop = Cancel::default();
    let (sender, receiver) = sync_channel(MAX_QUEUE);
    std::thread::scope(|scope| {
        for _ in 0..work.jobs.clamp(1, work.tasks.len().max(1)) {
            let (sender, next, failures, stop) = (sender.clone(), &next, &failures, &stop);
            // Workers count failures themselves: the collector would notice only after another trial has begun.
            let enough = || work.max_failures.is_some_and(|most| failures.load(Ordering::Relaxed) >= most);
            scope.spawn(move || {
                while !stop.is_cancelled() && !work.cancel.is_cancelled() && !enough() {
                    let Some(task) = work.tasks.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    if sender.send(Message::Began(task.key.clone())).is_err() {
                        break;
                    }
                    let message = match (work.execute)(task) {
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
        let collected = collect(work, &stop, &receiver, consumers);
        if collected.is_err() {
            // Nothing more can be stored, so running trials are cancelled; resuming repeats them.
            halt(work, &stop);
        }
        drop(receiver);
        collected
    })
}

fn halt(work: &Drive<'_>, stop: &Cancel) {
    stop.cancel();
    work.cancel.cancel();
}

fn collect(
    work: &Drive<'_>,
    stop: &Cancel,
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
                    halt(work, stop);
                    broken.get_or_insert(error);
                }
            }
            if batch.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES {
                next = receiver.try_recv().ok();
            }
        }
        began.iter().try_for_each(|key| emit(consumers, &RunEvent::TrialBegan(key)))?;
        if !batch.is_empty() {
            emit_with_retries(work, consumers, &RunEvent::TrialsDone(&batch))?;
            done += batch.len();
            failures += batch.iter().filter(|record| failed(record.trial.outcome)).count();
            batch.clear();
        }
        if work.max_failures.is_some_and(|most| failures >= most) && too_many.is_none() && done < work.tasks.len() {
            too_many = Some(Ending::TooManyFailures(failures));
            halt(work, stop);
        }
    }
    match broken {
        Some(error) => Err(error),
        None if done == work.tasks.len() => Ok(Ending::Complete),
        None => Ok(too_many.unwrap_or(Ending::Interrupted)),
    }
}

fn emit_with_retries(
    work: &Drive<'_>,
    consumers: &mut [&mut dyn Consumer],
    event: &RunEvent<'_>,
) -> Result<(), ConsumerError> {
    for consumer in consumers {
        let mut retries = 0;
        while let Err(error) = consumer.consume(event) {
            if retries == MAX_RETRIES || !(work.recover)(&error) {
                return Err(error);
            }
            retries += 1;
        }
    }
    Ok(())
}

/// Hands an event to all consumers, in their order.
pub fn emit(consumers: &mut [&mut dyn Consumer], event: &RunEvent<'_>) -> Result<(), ConsumerError> {
    consumers.iter_mut().try_for_each(|consumer| consumer.consume(event))
}
