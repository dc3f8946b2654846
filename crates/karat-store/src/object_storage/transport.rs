//! The HTTP transport of the S3 client: the same client, TLS and proxy settings as for calls of models, and HTTP/1 only.

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::{Client, Request, Url};
use std::future::Future;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU16, Ordering};
use std::time::Duration;

/// How long a server may stay silent.
const SILENCE: Duration = Duration::from_secs(60);

/// The slowest upload that is waited for, in bytes per second.
const SLOWEST: u64 = 128 << 10;

/// Longer responses are refused, so that they cannot fill the memory.
const MAX_RESPONSE: usize = 1 << 30;

/// Of the last request: its status, and the server's clock.
#[derive(Debug, Default)]
pub(super) struct LastResponse {
    /// 0 if there was no response.
    status: AtomicU16,
    date_ms: AtomicI64,
}

impl LastResponse {
    /// Whether the last request failed in a way that may pass: no response, overload or an error of the server.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self.status.load(Ordering::Relaxed), 0 | 408 | 429 | 500 | 502..)
    }

    pub(super) fn is_unimplemented(&self) -> bool {
        self.status.load(Ordering::Relaxed) == 501
    }

    /// The server's clock, in milliseconds since 1970, if it stated it.
    pub(super) fn date_ms(&self) -> Option<i64> {
        Some(self.date_ms.load(Ordering::Relaxed)).filter(|date| *date > 0)
    }
}

/// Makes the transport of an S3 client.
#[derive(Debug)]
pub(super) struct Transport {
    client: Client,
    last: Arc<LastResponse>,
}

impl Transport {
    pub(super) fn new(endpoint: &str, last: Arc<LastResponse>) -> Result<Self, String> {
        let url = Url::parse(endpoint).map_err(|error| error.to_string())?;
        Ok(Self { client: karat_llm::http::client(&url)?, last })
    }
}

impl HttpConnector for Transport {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Service { client: self.client.clone(), last: Arc::clone(&self.last) }))
    }
}

#[derive(Debug)]
struct Service {
    client: Client,
    last: Arc<LastResponse>,
}

impl HttpService for Service {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.send(request))
    }
}

impl Service {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.last.status.store(0, Ordering::Relaxed);
        let (parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string());
        let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let mut request = Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        // The body of a response collects the parts of any body.
        let body = HttpResponseBody::new(body).bytes().await?;
        let limit = SILENCE + Duration::from_secs(body.len() as u64 / SLOWEST);
        *request.body_mut() = Some(body.into());
        let mut received = within(limit, self.client.execute(request)).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = within(SILENCE, received.chunk()).await? {
            if bytes.len() + chunk.len() > MAX_RESPONSE {
                let error = Error::other(format!("the response has more than {MAX_RESPONSE} bytes"));
                return Err(HttpError::new(HttpErrorKind::Unknown, error));
            }
            bytes.extend_from_slice(&chunk);
        }
        let mut response = HttpResponse::new(bytes.into());
        *response.status_mut() = received.status();
        *response.headers_mut() = std::mem::take(received.headers_mut());
        self.last.status.store(response.status().as_u16(), Ordering::Relaxed);
        let date = response.headers().get(reqwest::header::DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok());
        self.last.date_ms.store(date.map_or(0, |date| date.as_millisecond()), Ordering::Relaxed);
        Ok(response)
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = reqwest::Result<T>>) -> Result<T, HttpError> {
    match tokio::time::timeout(limit, work).await {
        Ok(result) => result.map_err(|error| {
            // Every request may be repeated, since an object's content never changes.
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Request };
            HttpError::new(kind, error.without_url())
        }),
        Err(_) => {
            let error = Error::new(ErrorKind::TimedOut, format!("no answer within {} seconds", limit.as_secs()));
            Err(HttpError::new(HttpErrorKind::Timeout, error))
        }
    }
}
