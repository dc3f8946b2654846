//! Reading on a thread of its own, which may neither hang nor take the program with it.

use super::IngestError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// The name of the threads on which documents are read.
const THREAD: &str = "karat-ingest";
/// Readers of others recurse, within bounds that are checked before they are called; this is room for those bounds.
const STACK: usize = 64 << 20;

/// Whether a panic on the current thread is caught and told as a fault of the document, so that nobody else need tell it.
pub fn is_guarded() -> bool {
    std::thread::current().name() == Some(THREAD)
}

/// Runs a reader for so many seconds at most.
///
/// A reader that takes longer is left alone, as no thread can be stopped from outside; what it works on is bounded by the
/// other limits, so it comes to an end or the program does.
pub(super) fn run<T: Send + 'static>(
    name: &str,
    format: &'static str,
    seconds: u64,
    read: impl FnOnce() -> Result<T, IngestError> + Send + 'static,
) -> Result<T, IngestError> {
    let (send, receive) = channel();
    let broken = || IngestError::Broken { name: name.to_owned(), format };
    // The libraries that read foreign formats panic on some damaged files. That is a fault of the file and said as such;
    // nothing of what the reader built is used afterwards.
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
    fn a_reader_that_breaks_or_hangs_is_told() {
        assert_eq!(run("a.pdf", "pdf", 5, || Ok(is_guarded())), Ok(true));
        assert!(!is_guarded());
        let broken: Result<(), _> = run("a.pdf", "pdf", 5, || panic!("bad xref"));
        let expect = "a.pdf: this pdf is damaged in a way that breaks its reader; open it and save it again";
        assert_eq!(broken.expect_err("it broke").to_string(), expect);
        let slow: Result<(), _> = run("a.pdf", "pdf", 0, || {
            std::thread::sleep(Duration::from_secs(2));
            Ok(())
        });
        assert_eq!(slow, Err(IngestError::TooSlow { name: "a.pdf".to_owned(), seconds: 0 }));
    }
}
