//! Responses: complete ones, each with its content security policy, and errors with a status and a message.

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::response::{IntoResponse, Response};
use karat::failure::{Category, Failure};
use karat_report::page::Page;
use karat_store::StoreError;
use maud::{Markup, html};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A complete response, which caches may clone.
#[derive(Clone, Debug)]
pub(crate) struct Reply(Box<HttpResponse<Bytes>>);

const RELOAD: &str = include_str!("reload.js");

/// Content security policy of responses other than pages: run and load nothing.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'";

impl Reply {
    pub(crate) fn page(page: &Page<'_>) -> Self {
        Self::new("text/html; charset=utf-8", &page.policy(), page.draw())
    }

    /// A page that loads again when its content changes, or says so if somebody is using it: its stamp is in the page, and in the
    /// header `ETag` of every response.
    pub(crate) fn reloading_page(page: Page<'_>) -> Self {
        let mut hasher = DefaultHasher::new();
        (page.title, format!("{:?}", page.frame), &page.body.0, &page.data.0).hash(&mut hasher);
        let stamp = format!("\"{:016x}\"", hasher.finish());
        let body = html! {
            (page.body)
            p #reload role="status" data-stamp=(stamp) hidden {
                "There are new results. " button type="button" { "Reload" }
            }
        };
        let scripts = [page.scripts, &[RELOAD]].concat();
        let stamp = HeaderValue::from_str(&stamp).unwrap_or(HeaderValue::from_static("\"\""));
        Self::page(&Page { body, scripts: &scripts, ..page }).with(header::ETAG, stamp)
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::json_text(value.to_string())
    }

    pub(crate) fn json_text(text: impl Into<Bytes>) -> Self {
        Self::new("application/json", NOTHING, text)
    }

    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::new("text/plain; charset=utf-8", NOTHING, text)
    }

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

    pub(super) fn size(&self) -> usize {
        self.0.body().len()
    }

    fn new(kind: &'static str, policy: &str, body: impl Into<Bytes>) -> Self {
        let policy = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
        let policy = policy.unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
        Self(Box::new(HttpResponse::new(body.into())))
            .with(header::CONTENT_TYPE, HeaderValue::from_static(kind))
            .with(header::CONTENT_SECURITY_POLICY, policy)
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        (*self.0).map(Body::from)
    }
}

/// An error of a request. It becomes a page, or JSON for a script.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(super) status: StatusCode,
    pub(super) message: String,
    pub(super) more: Markup,
    pub(super) retry_after: Option<u64>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            more: Markup::default(),
            retry_after: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(5),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        let status = match &error {
            E::NoRun { .. } | E::NoArtifact { .. } => StatusCode::NOT_FOUND,
            E::Ambiguous { .. } => StatusCode::MULTIPLE_CHOICES,
            E::Missing { .. } | E::InUse { .. } => StatusCode::SERVICE_UNAVAILABLE,
            E::Busy { .. } | E::Labelled { .. } | E::Ended { .. } => StatusCode::CONFLICT,
            E::BadLabel { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let fault = Self::new(status, as_sentence(&error.to_string()));
        // Replace the command line's advice by a link.
        let all = matches!(status, StatusCode::NOT_FOUND | StatusCode::MULTIPLE_CHOICES);
        if all { Self { more: html! { p { a href="/" { "All runs" } } }, ..fault } } else { fault }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let status = match &failure {
            Failure::Message(Category::Usage, _) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, as_sentence(&failure.text()))
    }
}

/// A message that begins with a capital letter and ends like a sentence.
pub(super) fn as_sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
