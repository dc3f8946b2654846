//! Runs a reader on its own thread, with a timeout and protected from panics.

use super::IngestError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

const THREAD: &str = "karat-ingest";
/// Third-party readers recurse within limits checked before; this is enough for them.
const STACK: usize = 64 << 20;

/// Whether a panic on this thread is caught and reported as a fault of the document.
pub fn is_guarded() -> bool {
    std::thread::current().name() == Some(THREAD)
}

/// Runs a reader with a timeout.
///
/// A reader that takes longer is abandoned, since threads cannot be stopped; the other limits bound its work.
pub(super) fn run<T: Send + 'static>(
    name: &str,
    format: &'static str,
    seconds: u64,
    read: impl FnOnce() -> Result<T, IngestError> + Send + 'static,
) -> Result<T, IngestError> {
    let (send, receive) = channel();
    let broken = || IngestError::Broken { name: name.to_owned(), format };
    // Third-party readers panic on some damaged files. That is reported as a fault of the file, and nothing the reader built
    // is used.
    let guarded = move || send.send(catch_unwind(AssertUnwindSafe(read)).ok());
    Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn(guarded).map_err(|_| broken())?;
    match receive.recv_timeout(Duration::from_secs(seconds)) {
        Ok(Some(result)) => result,
        Ok(None) | Err(RecvTimeoutError::Disconnected) => Err(broken()),
        Err(RecvTimeoutError::Timeout) => Err(IngestError::TooSlow { name: name.to_owned(), seconds }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panicking_and_slow_readers_are_errors() {
        assert_eq!(run("a.pdf", "pdf", 5, || Ok(is_guarded())), Ok(true));
        assert!(!is_guarded());
        let broken: Result<(), _> = run("a.pdf", "pdf", 5, || panic!("bad xref"));
        let expect = "a.pdf: this pdf is damaged in a way that breaks its reader; open it and save it again";
        assert_eq!(broken.expect_err("the reader panicked").to_string(), expect);
        let slow: Result<(), _> = run("a.pdf", "pdf", 0, || {
            std::thread::sleep(Duration::from_secs(2));
            Ok(())
        });
        assert_eq!(slow, Err(IngestError::TooSlow { name: "a.pdf".to_owned(), seconds: 0 }));
    }
}
