//! Real servers for tests, on loopback: PostgreSQL, PgBouncer, S3, Slurm, and a proxy that breaks connections on request.
//!
//! A server that cannot be had is an `Err` with the reason; [`or_skip`] prints it as `skipped: …`. No server outlives the test process, however it
//! ends (`guard.rs`).

mod account;
mod guard;
mod pgbouncer;
mod port;
mod postgres;
mod proxy;
mod s3;
mod slurm;

pub use pgbouncer::PgBouncer;
pub use postgres::{HeldConnection, Options, Postgres};
pub use proxy::{Moment, Proxy};
pub use s3::S3;
pub use slurm::Slurm;

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What a test needs, or nothing after printing `skipped: WHY`: `let Some(postgres) = or_skip(Postgres::shared()) else { return };`.
#[expect(clippy::print_stdout, reason = "the test runner collects these lines")]
pub fn or_skip<T>(server: Result<T, String>) -> Option<T> {
    server.map_err(|why| println!("skipped: {why}")).ok()
}

/// Calls `condition` until it gives a value; `Err` with `what` if that takes more than a minute.
///
/// # Errors
/// The condition gave no value in time.
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> Result<T, String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(value) = condition() {
            return Ok(value);
        }
        if Instant::now() > deadline {
            return Err(format!("waited for a minute in vain: {what}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A program of scripts/test-tools, of the search path, or from where Debian keeps daemons.
fn find_program(name: &str) -> Option<PathBuf> {
    let tools = std::env::var_os("KARAT_TEST_TOOLS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = tools.into_iter().chain(std::env::split_paths(&path)).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}
