//! `karat worker` and `karat stop`.

use super::{StorePlace, choice};
use clap::Args;
use karat::worker::WhenIdle;
use karat_format::quantity;
use karat_sandbox::Isolation::{self, Bubblewrap, Landlock, Process};
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Run to work on; default: all.
    ///
    /// An id, an id prefix, a name, or latest. The worker ends with the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// What this machine offers; repeatable.
    ///
    /// Names from the `needs` of tools, such as docker,gpu. Programs on the PATH are offered without being named.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) needs: Vec<String>,
    /// When idle: wait (default) or exit.
    ///
    /// With exit, the worker ends as soon as no run has work left.
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("wait", WhenIdle::Wait), ("exit", WhenIdle::Exit)]))]
    pub(crate) idle: Option<WhenIdle>,
    /// Time for trials to end after SIGTERM.
    ///
    /// What is not finished by then is ended and given back. 0 ends everything at once. Default: 60s.
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero)]
    pub(crate) grace: Option<Duration>,
    /// How long a claim is valid without renewal.
    ///
    /// What a dead worker had is taken over after this time. Default: 60s.
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) lease: Option<Duration>,
    /// Address for Prometheus to read metrics from.
    ///
    /// Such as 127.0.0.1:9464; the path is /metrics. Port 0 selects a free one, which is printed.
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// Isolate tools by exactly this.
    ///
    /// bubblewrap, landlock or process. Default: as the run was planned, else the strongest available.
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("bubblewrap", Bubblewrap), ("landlock", Landlock), ("process", Process)]))]
    pub(crate) isolation: Option<Isolation>,
    /// Refuse to run tools with less isolation.
    ///
    /// Any sandbox (default without a value), bubblewrap or landlock.
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", require_equals = true)]
    #[arg(hide_possible_values = true)]
    #[arg(value_parser = choice(&[("any", Landlock), ("bubblewrap", Bubblewrap), ("landlock", Landlock), ("process", Process)]))]
    pub(crate) require_isolation: Option<Isolation>,
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Run: id, id prefix, name, or latest.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn duration_or_zero(text: &str) -> Result<Duration, String> {
    match text.trim() {
        "0" | "0s" => Ok(Duration::ZERO),
        text => quantity::duration(text),
    }
}
