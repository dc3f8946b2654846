//! Cancellation by SIGINT, SIGTERM and SIGHUP.

use crate::exit::{Exit, Failure, Result};
use karat_io::cancel::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// One flag for the whole process: a run that was cancelled must not start a judge.
static WISH: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether the first signal ends Karat, as the second one always does.
static AT_ONCE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Sets whether the first signal ends Karat. That is safe when everything is stored and only computation is left, as in
/// scoring.
pub(crate) fn end_at_once(yes: bool) {
    AT_ONCE.get_or_init(Arc::default).store(yes, Ordering::Relaxed);
}

/// The first signal requests cancellation; a second one ends Karat at once, and supervisors end the remaining tools.
pub(crate) fn cancel_on_signals() -> Result<Cancel> {
    if let Some(flag) = WISH.get() {
        return Ok(Cancel::from(Arc::clone(flag)));
    }
    let flag = Arc::clone(WISH.get_or_init(Arc::default));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the flag is checked before it is set.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, Arc::clone(&flag))
            .and_then(|_| {
                let at_once = Arc::clone(AT_ONCE.get_or_init(Arc::default));
                signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, at_once)
            })
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Failure::failed(format!("cannot install signal handlers: {error}")))?;
    }
    Ok(Cancel::from(flag))
}
