//! The engine of a run: workers execute trials, one thread collects them, and consumers hear of them in batches.

use karat_core::trial::Outcome;
use karat_io::cancel::Cancel;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

/// A trial that is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Which one.
    pub key: TrialKey,
    /// Which attempt at it, counted from 1.
    pub attempt: u32,
}

/// How a run is to be driven.
pub struct Drive<'a> {
    /// What is to be done, in this order.
    pub tasks: &'a [Task],
    /// Executes one trial. `None` when it was cancelled, so that nothing came of it. An error ends the run.
    pub execute: &'a (dyn Fn(&Task) -> Result<Option<TrialRecord>, ConsumerError> + Sync),
    /// How many at once.
    pub jobs: usize,
    /// Ends the run after so many failed trials.
    pub most_failures: Option<usize>,
    /// Ends the run when somebody says so.
    pub cancel: &'a Cancel,
    /// Puts right what a consumer failed for, where that can be done: `true` lets it try again.
    pub recover: &'a (dyn Fn(&ConsumerError) -> bool + Sync),
}

enum Message {
    Began(TrialKey),
    Done(Box<TrialRecord>),
    Failed(ConsumerError),
}

/// So many trials are handed on together; a store makes them durable at the price of one.
const LARGEST_BATCH: usize = 512;
/// And so many bytes of what they left behind, at most.
const HEAVIEST_BATCH: usize = 64 << 20;
/// So many messages wait for the collector; trials may weigh much.
const LONGEST_QUEUE: usize = 64;

/// Executes all tasks. Every trial that was done is handed to the consumers before this returns, also when it ends early.
pub fn drive(work: &Drive<'_>, consumers: &mut [&mut dyn Consumer]) -> Result<Ending, ConsumerError> {
    let next = AtomicUsize::new(0);
    let failures = AtomicUsize::new(0);
    let stop = Cancel::default();
    let (sender, receiver) = sync_channel(LONGEST_QUEUE);
    std::thread::scope(|scope| {
        for _ in 0..work.jobs.clamp(1, work.tasks.len().max(1)) {
            let (sender, next, failures, stop) = (sender.clone(), &next, &failures, &stop);
            // Workers count failures themselves: by the time the news is out, another trial would have begun.
            let enough = || work.most_failures.is_some_and(|most| failures.load(Ordering::Relaxed) >= most);
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
            // Nothing more can be kept, so what is still being done is let go; it is done again another time.
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
    let (mut done, mut failures) = (0, 0);
    let (mut too_many, mut broken) = (None, None);
    while let Ok(message) = receiver.recv() {
        let mut next = Some(message);
        let (mut began, mut weight) = (Vec::new(), 0);
        while let Some(message) = next.take() {
            match message {
                Message::Began(key) => began.push(key),
                Message::Done(record) => {
                    weight += record.artifacts.iter().map(|artifact| artifact.bytes.len()).sum::<usize>();
                    batch.push(*record);
                }
                Message::Failed(error) => {
                    halt(work, stop);
                    broken.get_or_insert(error);
                }
            }
            if batch.len() < LARGEST_BATCH && weight < HEAVIEST_BATCH {
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
        if work.most_failures.is_some_and(|most| failures >= most) && too_many.is_none() && done < work.tasks.len() {
            too_many = Some(Ending::TooManyFailures(failures));
            halt(work, stop);
        }
    }
    if let Some(error) = broken {
        return Err(error);
    }
    match too_many {
        _ if done == work.tasks.len() => Ok(Ending::Complete),
        Some(ending) => Ok(ending),
        None => Ok(Ending::Interrupted),
    }
}

/// Whether a tool failed; one that was never run did not.
pub fn failed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Crashed | Outcome::TimedOut | Outcome::Unparsable)
}

/// A consumer that fails is tried again this often where the cause could be removed, before the run ends with its error.
const MOST_RETRIES: usize = 3;

fn emit_with_retries(
    work: &Drive<'_>,
    consumers: &mut [&mut dyn Consumer],
    event: &RunEvent<'_>,
) -> Result<(), ConsumerError> {
    for consumer in consumers {
        let mut retries = 0;
        while let Err(error) = consumer.consume(event) {
            if retries == MOST_RETRIES || !(work.recover)(&error) {
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
