//! The user's browser.

use crate::terminal::note;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A file that leads a browser to an address; it goes with the value. Everybody on a computer can see with which arguments
/// programs were started, and this keeps a token from them.
pub(super) struct Opened(Option<PathBuf>);

/// Opens an address in the user's browser; one that holds a secret is not told to anybody else. Where that does not work the
/// address is there to be opened by hand.
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
            // Waited for, so that nothing is left of it; a browser that it starts may stay.
            std::thread::spawn(move || child.wait());
            opened
        }
        Err(error) => {
            note(&format!("no browser was opened ({program}: {error}); open the address above"));
            Opened(None)
        }
    }
}

/// A page that only its owner can read, and that leads on.
fn signpost(address: &str) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("karat-serve-{}.html", std::process::id()));
    let mut options = OpenOptions::new();
    // One that is there already could be somebody else's.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let address = karat_report::page::text(address);
    let page = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url={address}\">\n"
    );
    options.open(&path)?.write_all(page.as_bytes())?;
    Ok(path)
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // The system clears the folder of temporary files sooner or later.
            let _ = std::fs::remove_file(file);
        }
    }
}
