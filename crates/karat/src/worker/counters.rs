//! What a worker has done so far, for its status line and for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[doc = $help:literal])+ $name:ident: $kind:literal,)+) => {
        /// Counts of a worker.
        #[derive(Debug, Default)]
        #[expect(missing_docs, reason = "field names say it")]
        pub struct Counters {
            $(pub $name: AtomicU64,)+
        }

        impl Counters {
            /// The counts in the text format of Prometheus.
            pub fn to_prometheus(&self) -> String {
                let mut out = String::new();
                $(write_metric(&mut out, stringify!($name), $kind, concat!($($help),+), self.$name.load(Ordering::Relaxed));)+
                out
            }
        }
    };
}

counters! {
    /// Units claimed from the queue.
    claimed: "counter",
    /// Trials that were executed and recorded.
    trials_recorded: "counter",
    /// Trials that were recorded without a report of the tool.
    trials_failed: "counter",
    /// Results that were refused because another worker had taken the unit over.
    results_refused: "counter",
    /// Units that were given up after too many tries.
    given_up: "counter",
    /// Trials whose questions to a judge were answered.
    trials_judged: "counter",
    /// Judging units that failed.
    judging_failed: "counter",
    /// Runs that this worker scored.
    runs_scored: "counter",
    /// Units that were given back.
    released: "counter",
    /// How often all claims were lost.
    leases_lost: "counter",
    /// Trials that are executed now.
    running: "gauge",
    /// Milliseconds of execution of trials, added up.
    trial_milliseconds: "counter",
    /// Milliseconds spent in statements of the queue, added up.
    queue_milliseconds: "counter",
}

fn write_metric(out: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    let suffix = if kind == "counter" { "_total" } else { "" };
    let name = format!("karat_worker_{name}{suffix}");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}\n{name} {value}", help.trim());
}

impl Counters {
    pub(super) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    /// A count.
    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_written_for_prometheus() {
        let counters = Counters::default();
        Counters::add(&counters.trials_recorded, 3);
        let text = counters.to_prometheus();
        let expect = "# TYPE karat_worker_trials_recorded_total counter\nkarat_worker_trials_recorded_total 3\n";
        assert!(text.contains(expect), "{text}");
        assert!(text.contains("# TYPE karat_worker_running gauge\nkarat_worker_running 0\n"), "{text}");
    }
}
