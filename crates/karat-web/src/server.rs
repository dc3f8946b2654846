//! The HTTP server: routes, binding, and an accept loop with timeouts and a connection limit.

use super::access_log::{AccessLog, Notify};
use super::auth::{self, Auth, Host};
use super::reply::{Fault, Reply};
use super::state::State;
use super::token::{Access, Attempts, Token};
use super::{compare, label, live, response_layer, run, runs};
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use karat::failure::Failure;
use karat_store::StoreLocation;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Maximum number of connections; others wait. Below the default limit of open files.
const MAX_CONNECTIONS: usize = 512;

/// Timeout of a request head, of an idle connection, and of a TLS handshake.
const HEAD: Duration = Duration::from_secs(10);

/// Time after which a connection takes no new requests; clients open another.
const AGE: Duration = Duration::from_secs(15);

/// Time that requests in progress then have to end, so that clients that never read cannot block others for long.
const LAST: Duration = Duration::from_secs(45);

const LONGEST_HEAD: usize = 32 * 1024;

const LARGEST_BODY: usize = 64 * 1024;

/// What to serve, where, and to whom.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ServeRequest<'a> {
    pub store: StoreLocation,
    pub listen: &'a str,
    /// Host names by which browsers reach the server beside its address.
    pub hosts: &'a [String],
    pub token: TokenRequest<'a>,
    /// A token that is unused for this long expires.
    pub token_lifetime: Duration,
    pub tls: Option<(&'a Path, &'a Path)>,
    /// A file for a line per request; `-` for [`Self::notify`].
    pub access_log: Option<&'a Path>,
    pub label: bool,
    pub notify: Notify,
}

/// How readers are authorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum TokenRequest<'a> {
    /// Not at all; loopback addresses only.
    None,
    Generated,
    Chosen(&'a str),
}

/// A server that listens and does not answer yet.
#[expect(missing_debug_implementations, reason = "a TLS acceptor has none")]
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    state: State,
}

/// A server that answers in the background.
#[derive(Debug)]
pub struct RunningServer(Runtime);

impl Server {
    /// Checks a request and binds its address.
    pub fn bind(request: &ServeRequest<'_>) -> Result<Self, Failure> {
        let address = resolve(request.listen)?;
        let token = match request.token {
            TokenRequest::None if !address.ip().to_canonical().is_loopback() => {
                let message = format!("--no-token: other computers can reach {address}, so a token is required");
                return Err(Failure::usage(format!("{message}; omit --no-token, or listen on 127.0.0.1")));
            }
            TokenRequest::None => None,
            TokenRequest::Generated => Some(Token::made()?),
            TokenRequest::Chosen(token) => Some(Token::chosen(token)?),
        };
        let access = token.map(|token| Access::new(token, request.token_lifetime)).transpose()?;
        let tls = request.tls.map(|(certificate, key)| tls_acceptor(certificate, key)).transpose()?;
        let access_log = request.access_log.map(AccessLog::open).transpose()?;
        let hosts = request.hosts.iter().map(|host| Host::from_option(host)).collect::<Result<Vec<_>, _>>()?;
        let label = request.label.then(Token::made).transpose()?;
        let runtime =
            Runtime::new().map_err(|error| Failure::failed(format!("could not start the server: {error}")))?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(|error| unbound(address, &error))?;
        let address = listener.local_addr().map_err(|error| unbound(address, &error))?;
        let auth = Auth {
            address,
            hosts,
            access,
            attempts: Attempts::new(),
            secure: tls.is_some(),
            label,
            notify: request.notify,
        };
        let state = State::new(&request.store, auth, access_log);
        Ok(Self { runtime, listener, tls, state })
    }

    /// What requests are checked against, and the addresses of the pages.
    pub fn auth(&self) -> Arc<Auth> {
        Arc::clone(&self.state.auth)
    }

    /// Answers from now on, until the result is stopped.
    pub fn start(self) -> RunningServer {
        self.runtime.spawn(accept_connections(self.listener, router(self.state), self.tls));
        RunningServer(self.runtime)
    }
}

impl RunningServer {
    /// Ends the server at once. A reader changes nothing in the store, and a label is stored whole or not at all.
    pub fn stop(self) {
        self.0.shutdown_background();
    }
}

fn resolve(listen: &str) -> Result<SocketAddr, Failure> {
    let found = listen.to_socket_addrs().ok().and_then(|mut all| all.next());
    let advice = "expected an address and a port, such as 127.0.0.1:7331 or [::1]:7331";
    found.ok_or_else(|| Failure::usage(format!("invalid --listen {listen}: {advice}")))
}

fn unbound(address: SocketAddr, error: &std::io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program uses this port; stop it, or choose another port with --listen, such as 127.0.0.1:0"
        }
        ErrorKind::PermissionDenied => "ports below 1024 require root; choose a higher one with --listen",
        ErrorKind::AddrNotAvailable => "this computer has no such address; choose another with --listen",
        _ => "choose another address with --listen",
    };
    Failure::failed(format!("cannot listen on {address} ({error}): {advice}"))
}

/// The TLS configuration with this certificate. Both files are PEM and are read once.
fn tls_acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let unread = |flag: &str, path: &Path, error: &dyn std::fmt::Display| {
        Failure::bad_input(format!("--{flag} {}: {error}; expected a PEM file", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, pem::Error>>);
    let chain = chain.map_err(|error| unread("tls-cert", certificate, &error))?;
    if chain.is_empty() {
        return Err(unread("tls-cert", certificate, &"it contains no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unread("tls-key", key, &error))?;
    let unfit = |error: rustls::Error| {
        let files = format!("--tls-cert {} and --tls-key {}", certificate.display(), key.display());
        Failure::bad_input(format!("{files} cannot be used together: {error}"))
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(unfit)?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, private).map_err(unfit)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn router(state: State) -> Router {
    Router::new()
        .route("/healthz", get(async || Reply::text("ok\n")))
        .route("/", get(runs::list))
        .route("/runs/{run}", get(run::page))
        .route("/runs/{run}/report.json", get(run::json))
        .route("/runs/{run}/live", get(live::page))
        .route("/runs/{run}/progress.json", get(live::progress))
        .route("/compare", get(compare::page))
        .merge(label::routes())
        .fallback(async || Fault::new(StatusCode::NOT_FOUND, "Page not found; the start page lists all runs."))
        .method_not_allowed_fallback(async || {
            Fault::new(StatusCode::METHOD_NOT_ALLOWED, "This address does not support this method.")
        })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(&state.auth), auth::check_request))
        .layer(from_fn_with_state(state.clone(), response_layer::finish_response))
        .with_state(state)
}

/// Accepts connections for ever; with HTTPS if there is a certificate.
async fn accept_connections(listener: TcpListener, router: Router, tls: Option<TlsAcceptor>) -> Infallible {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            // The semaphore is never closed.
            continue;
        };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let router = router.clone().layer(Extension(peer.ip().to_canonical()));
                drop(tokio::spawn(serve(stream, router, tls.clone(), permit)));
            }
            // The client has disconnected, or the system is temporarily out of resources.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn serve(stream: TcpStream, router: Router, tls: Option<TlsAcceptor>, _permit: OwnedSemaphorePermit) {
    // A page is one write; buffering would only delay it.
    let _ = stream.set_nodelay(true);
    match tls {
        None => answer(stream, router).await,
        Some(tls) => {
            // A client that does not speak TLS gets no response.
            if let Ok(Ok(stream)) = timeout(HEAD, tls.accept(stream)).await {
                answer(stream, router).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
    // Connection errors are ignored.
    if timeout(AGE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST, connection).await;
    }
}
