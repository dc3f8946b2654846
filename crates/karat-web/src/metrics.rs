//! The figures of a process in the text format of Prometheus, at `/metrics`.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use karat::failure::{Failure, Result};
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Serves metrics until it is dropped. They tell counts and nothing of what was found, so no token is needed.
pub struct MetricsServer {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsServer {
    /// Listens on an address such as `127.0.0.1:9464`. `render` is called for every request.
    pub fn start(address: &str, render: impl Fn() -> String + Clone + Send + Sync + 'static) -> Result<Self> {
        let failed = |error: std::io::Error| Failure::failed(format!("metrics cannot be served at {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (end, ended) = oneshot::channel::<()>();
        let answer = move || async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], render()) };
        let router = Router::new().route("/metrics", get(answer));
        let serve = move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let until = async move { drop(ended.await) };
                let _ = axum::serve(listener, router).with_graceful_shutdown(until).await;
            });
        };
        let thread = std::thread::Builder::new().name("karat-metrics".to_owned()).spawn(serve).map_err(failed)?;
        Ok(Self { address: bound, end: Some(end), thread: Some(thread) })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        // Connections that are kept open must not keep the process: the runtime ends with its thread's work.
        drop(self.end.take());
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}
