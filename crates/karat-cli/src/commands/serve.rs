//! `karat serve`: pages over the store, until Ctrl-C.

use crate::args::ServeArgs;
use crate::exit::{Exit, Failure};
use crate::store_place;
use crate::terminal::{note, print, tell};
use crate::web::{Access, AccessLog, Attempts, Door, Host, State, Token, accept, acceptor, router};
use karat_store::Store;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

mod browser;

/// The variable with the token, which keeps it out of lists of processes.
const VARIABLE: &str = "KARAT_SERVE_TOKEN";

/// Instead of a token: one is to be made.
const AUTO: &str = "auto";

pub(crate) fn run(args: &ServeArgs) -> Result<Exit, Failure> {
    let address = address(&args.listen)?;
    if args.no_token && !address.ip().to_canonical().is_loopback() {
        let message = format!("--no-token: {address} can be reached by others, so a token is needed");
        return Err(Failure::usage(format!("{message}; leave --no-token out, or listen on 127.0.0.1")));
    }
    let access = match args.no_token {
        true => None,
        false => Some(Access::new(token(args.token.as_deref())?, args.token_lifetime)?),
    };
    let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
    let tls = tls.map(|(certificate, key)| acceptor(certificate, key)).transpose()?;
    let access_log = args.access_log.as_deref().map(AccessLog::open).transpose()?;
    let hosts = args.hosts.iter().map(|host| Host::typed(host)).collect::<Result<Vec<_>, _>>()?;
    let label = args.label.then(Token::made).transpose()?;
    let runtime = Runtime::new().map_err(|error| failed(format!("the server cannot be started: {error}")))?;
    let stop = stop()?;
    let listener = runtime.block_on(TcpListener::bind(address)).map_err(|error| unbound(address, &error))?;
    let address = listener.local_addr().map_err(|error| unbound(address, &error))?;
    let door = Door { address, hosts, access, attempts: Attempts::new(), secure: tls.is_some(), label };
    let folder = store_place::folder(args.store.folder.as_deref());
    let _opened = announce(args, &door, &folder.display().to_string(), Store::is_at(&folder))?;
    let router = router(State::new(folder, door, access_log));
    runtime.spawn(accept(listener, router, tls));
    // Where nobody is left to send a signal, none will come.
    let _ = runtime.block_on(stop);
    // Whoever is reading the store changes nothing there, and a label is kept whole or not at all.
    runtime.shutdown_background();
    Ok(Exit::Ok)
}

/// Tells where it is served, and opens a browser where that is wished for.
fn announce(args: &ServeArgs, door: &Door, folder: &str, there: bool) -> Result<Option<browser::Opened>, Failure> {
    // One that somebody chose they know, and what is printed may end up in a log.
    let chosen = door.access.as_ref().is_some_and(|access| access.token().is_chosen());
    let (page, label) = door.pages(!chosen);
    let others = match door.address {
        all if all.ip().is_unspecified() => format!(" and on this computer's other addresses, port {}", all.port()),
        _ => String::new(),
    };
    tell(&format!("serving {} on {page}{others}", karat_format::diagnostic::harmless(folder)));
    if let Some(label) = &label {
        tell(&format!("labels can be given on {label}"));
    }
    if chosen {
        tell("open it once with ?token= and the token that you chose");
    }
    if !there {
        note("there is no store yet; `karat run` makes one, and its runs will be shown");
    }
    if door.access.is_none() {
        note("without a token every program on this computer can read these pages, tools that may use the network too");
    }
    if !door.is_loopback() && !door.secure {
        note("whoever listens on the network can read along; give --tls-cert and --tls-key, or use `ssh -L`");
    }
    tell("Ctrl-C ends it");
    if args.json {
        let mut told = json!({ "url": page });
        if let Some(label) = &label {
            told["label_url"] = json!(label);
        }
        print(&format!("{told}\n"))?;
    }
    let (page, label) = door.pages(true);
    let secret = door.access.is_some() || label.is_some();
    Ok(args.open.then(|| browser::open(label.as_ref().unwrap_or(&page), secret)))
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    let advice = "give an address and a port, such as 127.0.0.1:7331 or [::1]:7331";
    found.ok_or_else(|| Failure::usage(format!("--listen {text}: there is no such address here; {advice}")))
}

fn token(typed: Option<&str>) -> Result<Token, Failure> {
    let variable = || std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
    match typed.map(str::to_owned).or_else(variable).as_deref() {
        None | Some(AUTO) => Token::made(),
        Some(chosen) => Token::chosen(chosen),
    }
}

/// Ready when somebody wants the server to end.
fn stop() -> Result<oneshot::Receiver<()>, Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| failed(format!("signals cannot be caught: {error}")))?;
    let (told, stop) = oneshot::channel();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            // Where nobody waits for it, the server has ended already.
            let _ = told.send(());
        }
    });
    Ok(stop)
}

fn unbound(address: SocketAddr, error: &std::io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program listens there; end it, or choose another port with --listen, such as 127.0.0.1:0"
        }
        ErrorKind::PermissionDenied => "ports below 1024 are for administrators; choose a higher one with --listen",
        ErrorKind::AddrNotAvailable => "this computer has no such address; choose one it has with --listen",
        _ => "choose another address with --listen",
    };
    failed(format!("nothing can listen on {address} ({error}): {advice}"))
}

fn failed(message: String) -> Failure {
    Failure::failed(message)
}
