//! `karat worker`: works on runs in a store on a server. `karat stop`: ends such a run.

use crate::args::{StopArgs, WorkerArgs};
use crate::exit::{Exit, Failure, Result};
use crate::progress::at_terminal;
use crate::signals::cancel_on_signals;
use crate::terminal::{note_problem, print_done, print_stderr};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use karat::worker::{
    Counters, DEFAULT_GRACE, DEFAULT_LEASE, WhenIdle, WorkerObserver, WorkerRequest, WorkerStatus, stop, work,
};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_io::cancel::Cancel;
use karat_sandbox::Supervisor;
use karat_web::MetricsServer;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Without a terminal, a line of status is printed this often.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &WorkerArgs, jobs: Option<usize>) -> Result<Exit> {
    let supervisor = Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))?;
    let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let request = WorkerRequest {
        // A server that does not answer is waited for.
        store: args.store.named()?,
        run: args.run.clone(),
        jobs,
        offers: args.needs.iter().map(|need| need.trim().to_owned()).filter(|need| !need.is_empty()).collect(),
        lease: args.lease.unwrap_or(DEFAULT_LEASE),
        grace: args.grace.unwrap_or(DEFAULT_GRACE),
        idle: args.idle.unwrap_or(WhenIdle::Wait),
        isolation: args.isolation,
        require_isolation: args.require_isolation,
        environment: variables.collect(),
        supervisor,
    };
    let counters = Arc::new(Counters::default());
    let _metrics = args.metrics.as_deref().map(|address| serve_metrics(address, &counters)).transpose()?;
    let mut observer = StatusLine::new();
    let result = work(&request, &counters, &mut observer);
    observer.end(&counters);
    result.map(|()| Exit::Ok)
}

fn serve_metrics(address: &str, counters: &Arc<Counters>) -> Result<MetricsServer> {
    let counters = Arc::clone(counters);
    let server = MetricsServer::start(address, move || counters.to_prometheus())?;
    print_stderr(&format!("metrics are at http://{}/metrics", server.address()));
    Ok(server)
}

/// One line that says what the worker is doing.
struct StatusLine {
    bar: Option<ProgressBar>,
    last: Instant,
    shown: String,
}

impl StatusLine {
    fn new() -> Self {
        let bar = at_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, last: Instant::now() - BETWEEN_LINES, shown: String::new() }
    }

    fn end(&mut self, counters: &Counters) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let [done, scored] = [&counters.trials_recorded, &counters.runs_scored].map(Counters::get);
        let (trials, runs) = (count(done as usize, "trial"), count(scored as usize, "run"));
        print_stderr(&format!("worker ended: {trials} recorded, {runs} scored"));
    }
}

impl WorkerObserver for StatusLine {
    fn note(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note_problem(text)),
            None => note_problem(text),
        }
    }

    fn status(&mut self, status: &WorkerStatus<'_>) {
        let get = |counter| Counters::get(counter);
        let counters = status.counters;
        let doing = match status.run {
            Some(run) => format!("run {} · {} running", harmless(run), get(&counters.running)),
            None => "waiting for work".to_owned(),
        };
        let draining = if status.is_draining { " · ending" } else { "" };
        let line = format!(
            "{doing} · {} recorded · {} judged{draining}",
            get(&counters.trials_recorded),
            get(&counters.trials_judged)
        );
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if line != self.shown && self.last.elapsed() >= BETWEEN_LINES => {
                print_stderr(&line);
                (self.last, self.shown) = (Instant::now(), line);
            }
            None => {}
        }
    }

    fn drain(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }
}

pub(crate) fn stop_run(args: &StopArgs) -> Result<Exit> {
    let stopped = stop(&args.store.location()?, &args.run)?;
    let line = format!(
        "stopped run {}: {} of {} trials are stored; resume it with: karat run --resume {}{}",
        stopped.short_id,
        stopped.outcomes.values().sum::<u64>(),
        stopped.planned,
        stopped.short_id,
        args.store.flag()
    );
    print_done(args.json, &json!({ "run": stopped.id, "state": "stopped" }), &line)
}
