//! A wish to stop, from a person at the keyboard or from the system.

use crate::exit::{Exit, Failure};
use karat_io::cancel::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// One wish for the whole process: a run that was asked to stop must not begin to ask a judge.
static WISH: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether the first signal ends Karat as a second one does.
static AT_ONCE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Says whether there is anything that a wish to stop must wait for. Where all is kept already and only computing is left, as
/// in scoring, the first signal ends Karat.
pub(crate) fn end_at_once(yes: bool) {
    AT_ONCE.get_or_init(Arc::default).store(yes, Ordering::Relaxed);
}

/// The first signal asks everything to stop; a second one ends Karat at once, and supervisors end what is left.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    if let Some(flag) = WISH.get() {
        return Ok(Cancel::from(Arc::clone(flag)));
    }
    let flag = Arc::clone(WISH.get_or_init(Arc::default));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the flag is looked at before it is set.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, Arc::clone(&flag))
            .and_then(|_| {
                let at_once = Arc::clone(AT_ONCE.get_or_init(Arc::default));
                signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, at_once)
            })
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Failure::failed(format!("signals cannot be caught: {error}")))?;
    }
    Ok(Cancel::from(flag))
}
