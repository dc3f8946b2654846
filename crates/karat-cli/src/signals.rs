//! A wish to stop, from a person at the keyboard or from the system.

use crate::exit::{Exit, Failure};
use karat::sandbox::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The first signal asks everything to stop; a second one ends Karat at once, and supervisors end what is left.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the flag is looked at before it is set.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Failure::Message(Exit::Failed, format!("signals cannot be caught: {error}")))?;
    }
    Ok(Cancel::from(flag))
}
