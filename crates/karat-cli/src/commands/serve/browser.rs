//! Opens the user's browser.

use crate::terminal::note;
use maud::{DOCTYPE, html};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A file that redirects a browser to an address, removed on drop. It keeps the token out of the process arguments, which all
/// users of a computer can see.
pub(super) struct Opened(Option<PathBuf>);

/// Opens an address in the user's browser; one with a secret is passed in a private file. On failure, a note asks to open it by
/// hand.
pub(super) fn open(address: &str, secret: bool) -> Opened {
    let opened = if secret { signpost(address).map(|file| Opened(Some(file))) } else { Ok(Opened(None)) };
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = opened.and_then(|opened| {
        let mut command = Command::new(program);
        match &opened.0 {
            Some(file) => command.arg(file),
            None => command.arg(address),
        };
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok((opened, child))
    });
    match started {
        Ok((opened, mut child)) => {
            // Reap the process; a browser that it started keeps running.
            std::thread::spawn(move || child.wait());
            opened
        }
        Err(error) => {
            note(&format!("could not open a browser ({program}: {error}); open the address above"));
            Opened(None)
        }
    }
}

/// Writes a page, readable only by its owner, that redirects to the address.
fn signpost(address: &str) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("karat-serve-{}.html", std::process::id()));
    let mut options = OpenOptions::new();
    // An existing file could belong to another user.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let page = html! {
        (DOCTYPE)
        meta charset="utf-8";
        meta name="referrer" content="no-referrer";
        meta http-equiv="refresh" content={ "0; url=" (address) };
    };
    options.open(&path)?.write_all(page.0.as_bytes())?;
    Ok(path)
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // If this fails, the system clears the temporary folder later.
            let _ = std::fs::remove_file(file);
        }
    }
}
