//! Answers, and the headers that every one of them has.

use super::fault::Fault;
use super::state::State;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use karat::report::page::Page;
use serde::Serialize;
use std::time::Duration;

/// An answer, whole.
#[derive(Clone, Debug)]
pub(crate) struct Reply(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    status: StatusCode,
    kind: &'static str,
    policy: String,
    body: Bytes,
    more: Vec<(HeaderName, HeaderValue)>,
}

/// Nobody waits longer than this for an answer.
const PATIENCE: Duration = Duration::from_secs(90);

/// What is no page runs nothing and loads nothing.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'";

/// The longest message of a refused request that is worth showing.
const LONGEST_MESSAGE: usize = 4096;

impl Reply {
    /// A page.
    pub(crate) fn page(page: &Page<'_>) -> Self {
        Self::of("text/html; charset=utf-8", page.policy(), page.draw())
    }

    /// A value for a script.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => Self::json_text(text),
            Err(error) => Self::text(error.to_string()).status(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// JSON as it is.
    pub(crate) fn json_text(text: impl Into<Bytes>) -> Self {
        Self::of("application/json", NOTHING.to_owned(), text)
    }

    /// Plain text.
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::of("text/plain; charset=utf-8", NOTHING.to_owned(), text)
    }

    /// Another address, to be asked for by GET.
    pub(crate) fn see(address: &str) -> Self {
        let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
        Self::text("").status(StatusCode::SEE_OTHER).with(header::LOCATION, address)
    }

    /// The same with another status.
    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.0.status = status;
        self
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.more.push((name, value));
        self
    }

    /// How much memory it takes, about.
    pub(super) fn size(&self) -> usize {
        self.0.body.len() + self.0.policy.len()
    }

    fn of(kind: &'static str, policy: String, body: impl Into<Bytes>) -> Self {
        Self(Box::new(Parts { status: StatusCode::OK, kind, policy, body: body.into(), more: Vec::new() }))
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let Parts { status, kind, policy, body, more } = *self.0;
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        let policy = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
        let policy = policy.unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.extend(more.into_iter().map(|(name, value)| (Some(name), value)).collect::<Vec<_>>());
        response.extensions_mut().insert(Whole);
        response
    }
}

/// Marks an answer that is a [`Reply`], and so is whole.
#[derive(Clone)]
struct Whole;

/// The last that is done to every answer: faults become pages, nobody waits for ever, and the headers are there.
pub(super) async fn leave(Shared(state): Shared<State>, request: Request, next: Next) -> Response {
    let safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let path = request.uri().path();
    let json = !safe || path.ends_with(".json") || path.starts_with("/api/");
    let response = tokio::time::timeout(PATIENCE, next.run(request)).await.unwrap_or_else(|_| {
        let said = "This took too long, perhaps because much is asked for at once; try again in a while.";
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, said).into_response()
    });
    let mut response = whole(response, json, &state).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store, private"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The answer as it is, or what a fault or a refusal looks like.
async fn whole(mut response: Response, json: bool, state: &State) -> Response {
    if response.extensions().get::<Whole>().is_some() {
        return response;
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let fault = match response.extensions_mut().remove::<Fault>() {
        Some(fault) => fault,
        // What extractors refuse they refuse in plain words.
        None => {
            let status = response.status();
            let said = to_bytes(response.into_body(), LONGEST_MESSAGE).await.unwrap_or_default();
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            let said = if said.is_empty() { format!("The answer is {status}.") } else { said };
            Fault::new(status, said)
        }
    };
    let mut response = fault.drawn(json, &state.nav("")).into_response();
    if let Some(allow) = allow {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}
