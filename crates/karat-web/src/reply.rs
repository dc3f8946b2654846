//! Complete responses, each with its content security policy.

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::response::{IntoResponse, Response};
use karat_report::page::Page;
use serde::Serialize;

/// A complete response, which caches may clone.
#[derive(Clone, Debug)]
pub(crate) struct Reply(Box<HttpResponse<Bytes>>);

/// Content security policy of responses other than pages: run and load nothing.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'";

impl Reply {
    pub(crate) fn page(page: &Page<'_>) -> Self {
        Self::new("text/html; charset=utf-8", &page.policy(), page.draw())
    }

    /// A value as JSON.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => Self::json_text(text),
            Err(error) => Self::text(error.to_string()).status(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    pub(crate) fn json_text(text: impl Into<Bytes>) -> Self {
        Self::new("application/json", NOTHING, text)
    }

    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::new("text/plain; charset=utf-8", NOTHING, text)
    }

    /// A redirect to a GET of another address.
    pub(crate) fn redirect(address: &str) -> Self {
        let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
        Self::text("").status(StatusCode::SEE_OTHER).with(header::LOCATION, address)
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        *self.0.status_mut() = status;
        self
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers_mut().insert(name, value);
        self
    }

    /// Approximate size in memory.
    pub(super) fn size(&self) -> usize {
        self.0.body().len()
    }

    fn new(kind: &'static str, policy: &str, body: impl Into<Bytes>) -> Self {
        let mut response = HttpResponse::new(body.into());
        response.extensions_mut().insert(IsReply);
        let policy = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
        let policy = policy.unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
        Self(Box::new(response))
            .with(header::CONTENT_TYPE, HeaderValue::from_static(kind))
            .with(header::CONTENT_SECURITY_POLICY, policy)
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        (*self.0).map(Body::from)
    }
}

/// Marks a response made from a [`Reply`].
#[derive(Clone)]
pub(super) struct IsReply;
