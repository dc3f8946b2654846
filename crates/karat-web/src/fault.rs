//! Errors of requests: a status and a message.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use karat::failure::{Category, Failure};
use karat_store::StoreError;
use maud::{Markup, html};

/// An error of a request. It becomes a page, or JSON for a script.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(super) status: StatusCode,
    /// What is wrong and what to do.
    pub(super) message: String,
    /// Further markup, such as links.
    pub(super) more: Markup,
    /// Seconds until a retry, if one helps.
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

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Adds markup below the message.
    pub(crate) fn with(mut self, more: Markup) -> Self {
        self.more = more;
        self
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
        if all { fault.with(html! { p { a href="/" { "All runs" } } }) } else { fault }
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

/// Formats a message as a sentence.
fn as_sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
