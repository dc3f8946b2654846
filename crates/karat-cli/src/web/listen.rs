//! Connections, each with an end: none is waited for, and none keeps others out.

use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// So many connections at once; others wait until one of these has ended. Below what systems allow a process by default.
const SEATS: usize = 512;

/// The whole head of a request, or the next one on the same connection, comes within this; so does all of a handshake.
const HEAD: Duration = Duration::from_secs(10);

/// A connection takes new requests for so long; clients just make another.
const AGE: Duration = Duration::from_secs(15);

/// And what it has begun by then must have ended after this: whoever asks and never reads must not keep others out for long.
const LAST: Duration = Duration::from_secs(45);

/// The longest head of a request.
const LONGEST_HEAD: usize = 32 * 1024;

/// Who sent a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Takes connections, for ever; over HTTPS where there is a certificate.
pub(crate) async fn accept(listener: TcpListener, router: Router, tls: Option<TlsAcceptor>) -> Infallible {
    let seats = Arc::new(Semaphore::new(SEATS));
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else {
            // Nobody closes it.
            continue;
        };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let router = router.clone().layer(Extension(Peer(peer.ip().to_canonical())));
                drop(tokio::spawn(serve(stream, router, tls.clone(), seat)));
            }
            // The client went away already, or the system has no room for more at this moment.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn serve(stream: TcpStream, router: Router, tls: Option<TlsAcceptor>, _seat: OwnedSemaphorePermit) {
    // A page is one write; waiting for more would only delay it.
    let _ = stream.set_nodelay(true);
    match tls {
        None => answer(stream, router).await,
        Some(tls) => {
            // Whoever speaks no TLS is not answered.
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
    // How a connection ends is the client's business.
    if timeout(AGE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST, connection).await;
    }
}
