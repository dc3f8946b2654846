//! The runtime beside the caller's thread, on which requests run.

use std::io;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};

/// Starts with the first request, and does not wait for those in flight when dropped.
#[derive(Default)]
pub struct BackgroundRuntime(pub(crate) OnceLock<Runtime>);

impl BackgroundRuntime {
    /// The runtime, started if needed.
    pub fn get(&self, thread_name: &str, threads: usize) -> io::Result<&Runtime> {
        if let Some(runtime) = self.0.get() {
            return Ok(runtime);
        }
        let runtime =
            Builder::new_multi_thread().worker_threads(threads).thread_name(thread_name).enable_all().build()?;
        Ok(self.0.get_or_init(|| runtime))
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
