//! Pages over the store, as `karat serve` shows them.
//!
//! A request comes in through `server`, which cuts off slow clients; is checked by `auth` (host, token, permission to write);
//! is answered by the module that has its route; and passes `response_layer`, which sets headers and turns faults into pages.

mod access_log;
mod attempts;
mod auth;
mod cache;
mod compare;
mod fault;
mod label;
mod label_queue;
mod live;
mod markup;
mod reply;
mod response_layer;
mod run;
mod run_lookup;
mod run_progress;
mod runs;
mod server;
mod state;
mod summary;
mod tls;
mod token;

pub use auth::Auth;
pub use server::{RunningServer, ServeRequest, Server, TokenRequest};

use fault::Fault;
use reply::Reply;
use state::State;

/// Receives a message for whoever started the server.
pub type Notify = fn(&str);

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

/// Maximum size of a request body.
const LARGEST_BODY: usize = 64 * 1024;

/// All pages, with authorisation.
pub(crate) fn router(state: State) -> Router {
    Router::new()
        .route("/healthz", get(async || Reply::text("ok\n")))
        .merge(runs::routes())
        .merge(run::routes())
        .merge(live::routes())
        .merge(compare::routes())
        .merge(label::routes())
        .fallback(async || Fault::new(StatusCode::NOT_FOUND, "Page not found; the start page lists all runs."))
        .method_not_allowed_fallback(async || {
            Fault::new(StatusCode::METHOD_NOT_ALLOWED, "This address does not support this method.")
        })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(state.auth(), auth::check_request))
        .layer(from_fn_with_state(state.clone(), response_layer::finish_response))
        .with_state(state)
}

/// The style of these pages, in addition to that of the page layout.
pub(crate) const STYLE: &str = include_str!("pages.css");

/// A script for pages that may change something: `asJson(address, value)` sends a request with the label token.
pub(crate) const TOKEN: &str = include_str!("token.js");
