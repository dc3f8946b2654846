//! What went wrong with a request: a status, and a sentence that says what to do.

use crate::exit::{Category, Failure};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use karat_store::StoreError;

/// Why a request gets no other answer. It becomes a page, or JSON where a script asks, on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The status of the answer.
    pub(super) status: StatusCode,
    /// What happened and what to do, in sentences.
    pub(super) said: String,
    /// What else may be done about it, as markup.
    pub(super) more: String,
    /// After how many seconds it may be asked for again.
    pub(super) retry_after: Option<u64>,
}

impl Fault {
    /// A status, and what happened and what to do in sentences.
    pub(crate) fn new(status: StatusCode, said: impl Into<String>) -> Self {
        Self {
            status,
            said: said.into(),
            more: String::new(),
            retry_after: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(5),
        }
    }

    /// The same, to be asked for again after some seconds.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same with markup below the sentences.
    pub(crate) fn with(mut self, more: String) -> Self {
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
        let fault = Self::new(status, capital(&error.to_string()));
        // What the command line says in a terminal is a link away here.
        let all = matches!(status, StatusCode::NOT_FOUND | StatusCode::MULTIPLE_CHOICES);
        if all { fault.with("<p><a href=\"/\">All runs</a></p>\n".to_owned()) } else { fault }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let status = match &failure {
            Failure::Message(Category::Usage, _) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, capital(&failure.text()))
    }
}

/// A message as a sentence.
fn capital(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
