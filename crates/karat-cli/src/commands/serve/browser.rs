//! The user's browser.

use crate::terminal::note;
use std::process::{Command, Stdio};

/// Opens an address in the user's browser. Where that does not work the address is there to be opened by hand.
pub(super) fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started =
        Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match started {
        Ok(mut child) => {
            // Waited for, so that nothing is left of it; a browser that it starts may stay.
            std::thread::spawn(move || child.wait());
        }
        Err(error) => note(&format!("no browser was opened ({program}: {error}); open the address above")),
    }
}
