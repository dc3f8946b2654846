//! A wish to stop, from a person at the keyboard or from the system.

use crate::exit::{Exit, Failure};
use karat::sandbox::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// One wish for the whole process: a run that was asked to stop must not begin to ask a judge.
static WISH: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The first signal asks everything to stop; a second one ends Karat at once, and supervisors end what is left.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    if let Some(flag) = WISH.get() {
        return Ok(Cancel::from(Arc::clone(flag)));
    }
    let flag = Arc::clone(WISH.get_or_init(Arc::default));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the flag is looked at before it is set.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Failure::Message(Exit::Failed, format!("signals cannot be caught: {error}")))?;
    }
    Ok(Cancel::from(flag))
}
