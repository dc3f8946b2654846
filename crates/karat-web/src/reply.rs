//! Complete responses.

use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use karat_report::page::Page;
use serde::Serialize;

/// A complete response.
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

/// Content security policy of responses other than pages: run and load nothing.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'";

impl Reply {
    /// An HTML page.
    pub(crate) fn page(page: &Page<'_>) -> Self {
        Self::new("text/html; charset=utf-8", page.policy(), page.draw())
    }

    /// A value as JSON.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => Self::json_text(text),
            Err(error) => Self::text(error.to_string()).status(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// JSON text.
    pub(crate) fn json_text(text: impl Into<Bytes>) -> Self {
        Self::new("application/json", NOTHING.to_owned(), text)
    }

    /// Plain text.
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::new("text/plain; charset=utf-8", NOTHING.to_owned(), text)
    }

    /// A redirect to a GET of another address.
    pub(crate) fn redirect(address: &str) -> Self {
        let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
        Self::text("").status(StatusCode::SEE_OTHER).with(header::LOCATION, address)
    }

    /// Sets the status.
    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.0.status = status;
        self
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.more.push((name, value));
        self
    }

    /// Approximate size in memory.
    pub(super) fn size(&self) -> usize {
        self.0.body.len() + self.0.policy.len()
    }

    fn new(kind: &'static str, policy: String, body: impl Into<Bytes>) -> Self {
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
        response.extensions_mut().insert(IsReply);
        response
    }
}

/// Marks a response made from a [`Reply`].
#[derive(Clone)]
pub(super) struct IsReply;
