//! `karat serve`: web pages of the store, until Ctrl-C.

use crate::args::ServeArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{note, print, tell};
use karat_store::Store;
use karat_web::{Auth, ServeRequest, Server, TokenRequest};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

mod browser;

/// The variable with the token; unlike a flag, it does not appear in process lists.
const TOKEN_VARIABLE: &str = "KARAT_SERVE_TOKEN";

/// The value of `--token` that asks for a generated one.
const AUTO: &str = "auto";

pub(crate) fn run(args: &ServeArgs) -> Result<Exit, Failure> {
    let variable = std::env::var(TOKEN_VARIABLE).ok().filter(|value| !value.is_empty());
    let token = match args.token.as_deref().or(variable.as_deref()) {
        _ if args.no_token => TokenRequest::None,
        None | Some(AUTO) => TokenRequest::Generated,
        Some(chosen) => TokenRequest::Chosen(chosen),
    };
    let folder = args.store.path();
    let request = ServeRequest {
        folder: folder.clone(),
        listen: &args.listen,
        hosts: &args.hosts,
        token,
        token_lifetime: args.token_lifetime,
        tls: args.tls_cert.as_deref().zip(args.tls_key.as_deref()),
        access_log: args.access_log.as_deref(),
        label: args.label,
        notify: tell,
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::failed(format!("cannot install signal handlers: {error}")))?;
    let server = Server::bind(&request)?;
    let _opened = announce(args, &server.auth(), &folder.display().to_string(), Store::is_at(&folder))?;
    let server = server.start();
    signals.forever().next();
    server.stop();
    Ok(Exit::Ok)
}

/// Prints the address, and opens a browser if requested.
fn announce(args: &ServeArgs, auth: &Auth, folder: &str, there: bool) -> Result<Option<browser::Opened>, Failure> {
    // A token chosen by the user is not printed, since output may end up in a log.
    let chosen = auth.has_chosen_token();
    let (page, label) = auth.pages(!chosen);
    let others = match auth.address {
        all if all.ip().is_unspecified() => format!(" and on this computer's other addresses, port {}", all.port()),
        _ => String::new(),
    };
    tell(&format!("serving {} on {page}{others}", karat_format::diagnostic::harmless(folder)));
    if let Some(label) = &label {
        tell(&format!("label on {label}"));
    }
    if chosen {
        tell("open it once with ?token= and your token");
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
    tell("stop with Ctrl-C");
    if args.json {
        let mut addresses = json!({ "url": page });
        if let Some(label) = &label {
            addresses["label_url"] = json!(label);
        }
        print(&format!("{addresses}\n"))?;
    }
    let (page, label) = auth.pages(true);
    let secret = auth.needs_token() || label.is_some();
    Ok(args.open.then(|| browser::open(label.as_ref().unwrap_or(&page), secret)))
}
