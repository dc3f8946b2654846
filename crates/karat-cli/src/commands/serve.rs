//! `karat serve`: web pages of the store, until Ctrl-C.

use crate::args::ServeArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{note, print, print_always, print_stderr};
use karat_format::diagnostic::harmless;
use karat_store::Store;
use karat_web::{Auth, ServeRequest, Server, TokenRequest};
use maud::{DOCTYPE, html};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The variable with the token; unlike a flag, it does not appear in process lists.
const TOKEN_VARIABLE: &str = "KARAT_SERVE_TOKEN";

/// The value of `--token` that asks for a generated one.
const AUTO: &str = "auto";

pub(crate) fn run(args: &ServeArgs) -> Result<Exit> {
    let variable = std::env::var(TOKEN_VARIABLE).ok().filter(|value| !value.is_empty());
    let token = match args.token.as_deref().or(variable.as_deref()) {
        _ if args.no_token => TokenRequest::None,
        None | Some(AUTO) => TokenRequest::Generated,
        Some(chosen) => TokenRequest::Chosen(chosen),
    };
    let store = args.store.location()?;
    let request = ServeRequest {
        store: store.clone(),
        listen: &args.listen,
        hosts: &args.hosts,
        token,
        token_lifetime: args.token_lifetime,
        tls: args.tls_cert.as_deref().zip(args.tls_key.as_deref()),
        access_log: args.access_log.as_deref(),
        label: args.label,
        notify: print_always,
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::failed(format!("cannot install signal handlers: {error}")))?;
    let server = Server::bind(&request)?;
    let _opened = announce(args, &server.auth(), &store.to_string(), Store::is_at(&store))?;
    let server = server.start();
    signals.forever().next();
    server.stop();
    Ok(Exit::Ok)
}

fn announce(args: &ServeArgs, auth: &Auth, store: &str, there: bool) -> Result<Option<RedirectFile>> {
    // A token chosen by the user is not printed, since output may end up in a log.
    let chosen = auth.has_chosen_token();
    let (page, label) = auth.pages(!chosen);
    let others = match auth.address {
        all if all.ip().is_unspecified() => format!(" and on this computer's other addresses, port {}", all.port()),
        _ => String::new(),
    };
    print_always(&format!("serving {} on {page}{others}", harmless(store)));
    if let Some(label) = &label {
        print_always(&format!("label on {label}"));
    }
    if chosen {
        print_stderr("open it once with ?token= and your token");
    }
    if !there {
        note("no store yet; `karat run` creates one, and its runs will appear");
    }
    if !auth.needs_token() {
        note(
            "without a token, every program on this computer can read these pages, including tools with network access",
        );
    }
    if !auth.is_loopback() && !auth.secure {
        note("the connection is not encrypted; use --tls-cert and --tls-key, or `ssh -L`");
    }
    print_stderr("stop with Ctrl-C");
    if args.json {
        let mut addresses = json!({ "url": page });
        if let Some(label) = &label {
            addresses["label_url"] = json!(label);
        }
        print(&format!("{addresses}\n"))?;
    }
    let (page, label) = auth.pages(true);
    let open = || open_browser(label.as_ref().unwrap_or(&page), auth.needs_token() || label.is_some());
    Ok(args.open.then(open).flatten())
}

/// A file that redirects a browser to an address, removed on drop. It keeps the token out of the process arguments, which all
/// users of a computer can see.
struct RedirectFile(PathBuf);

/// Opens an address in the user's browser; one with a secret is passed in a private file. On failure, a note asks to open it by
/// hand.
fn open_browser(address: &str, secret: bool) -> Option<RedirectFile> {
    let opened = secret.then(|| write_redirect_file(address)).transpose();
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = opened.and_then(|opened| {
        let mut command = Command::new(program);
        match &opened {
            Some(RedirectFile(file)) => command.arg(file),
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
            None
        }
    }
}

/// Writes a page, readable only by its owner, that redirects to the address.
fn write_redirect_file(address: &str) -> io::Result<RedirectFile> {
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
    Ok(RedirectFile(path))
}

impl Drop for RedirectFile {
    fn drop(&mut self) {
        // If this fails, the system clears the temporary folder later.
        let _ = std::fs::remove_file(&self.0);
    }
}
