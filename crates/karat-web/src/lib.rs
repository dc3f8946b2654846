//! Pages over the store, as `karat serve` shows them.
//!
//! A request comes in through `server`, which cuts off slow clients; is checked by `auth` (host, token, permission to write);
//! is answered by the module that has its route; and passes `response_layer`, which sets headers and turns faults into pages.

mod access_log;
mod auth;
mod cache;
mod compare;
mod label;
mod live;
mod markup;
mod metrics;
mod reply;
mod response_layer;
mod run;
mod run_lookup;
mod run_progress;
mod runs;
mod server;
mod state;
mod token;

pub use access_log::Notify;
pub use auth::Auth;
pub use metrics::MetricsServer;
pub use server::{RunningServer, ServeRequest, Server, TokenRequest};
