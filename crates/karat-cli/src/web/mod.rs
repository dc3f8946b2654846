//! `karat serve`: pages over the store.
//!
//! A request comes in by [`listen`], where slow clients are cut off; passes the [`door`], where hosts, tokens and writing
//! requests are checked; is answered by one of the files below, each with its `routes`; and leaves by [`leave`], where every
//! answer gets the same headers and every fault a page.

mod access_log;
mod attempts;
mod compare;
mod door;
mod fault;
mod followed;
mod kept;
mod label;
mod leave;
mod listen;
mod live;
mod markup;
mod named;
mod reply;
mod run;
mod runs;
mod sheet;
mod state;
mod summary;
mod tally;
mod tls;
mod token;

pub(crate) use access_log::AccessLog;
pub(crate) use attempts::Attempts;
pub(crate) use door::{Door, Host};
pub(crate) use fault::Fault;
pub(crate) use listen::accept;
pub(crate) use reply::Reply;
pub(crate) use state::State;
pub(crate) use tls::acceptor;
pub(crate) use token::{Access, Token};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

/// The largest body that a request may have.
const LARGEST_BODY: usize = 64 * 1024;

/// All pages, behind the door.
pub(crate) fn router(state: State) -> Router {
    Router::new()
        .route("/healthz", get(async || Reply::text("ok\n")))
        .merge(runs::routes())
        .merge(run::routes())
        .merge(live::routes())
        .merge(compare::routes())
        .merge(label::routes())
        .fallback(async || Fault::new(StatusCode::NOT_FOUND, "There is no such page; all runs are on the first one."))
        .method_not_allowed_fallback(async || {
            Fault::new(StatusCode::METHOD_NOT_ALLOWED, "This address takes no request of that kind.")
        })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(state.door(), door::enter))
        .layer(from_fn_with_state(state.clone(), leave::leave))
        .with_state(state)
}

/// The style of these pages beside that of their shell.
pub(crate) const STYLE: &str = include_str!("pages.css");

/// A script for pages that may change something: `asJson(address, value)` sends with the token that the address brought.
pub(crate) const TOKEN: &str = include_str!("token.js");
