//! The way out: faults become pages, nobody waits for ever, and every answer has its headers.

use super::access_log::Access;
use super::fault::Fault;
use super::listen::Peer;
use super::markup::said;
use super::reply::{Reply, Whole};
use super::state::State;
use axum::body::{HttpBody, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use karat_report::page::{Page, THEME};
use std::time::{Duration, Instant};

/// Nobody waits longer than this for an answer, and no connection ends before it. What takes longer is made on, and is there
/// when it is asked for again.
const PATIENCE: Duration = Duration::from_secs(40);

/// The longest message of a refused request that is worth showing.
const LONGEST_MESSAGE: usize = 4096;

/// The last that is done to every answer: faults become pages, nobody waits for ever, and the headers are there.
pub(super) async fn leave(Shared(state): Shared<State>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let address = request.extensions().get::<Peer>().map(|peer| peer.0);
    let safe = matches!(method, Method::GET | Method::HEAD);
    let path = request.uri().path().to_owned();
    let json = !safe || path.ends_with(".json") || path.starts_with("/api/");
    let response = tokio::time::timeout(PATIENCE, next.run(request)).await.unwrap_or_else(|_| {
        let said = "This takes a while, and goes on being made; try again in a moment.";
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
    if let Some(log) = state.access_log() {
        let bytes = if method == Method::HEAD { 0 } else { response.body().size_hint().lower() };
        // Somebody may have taken the token for a part of the address.
        let path = &state.door().without_secrets(&path);
        log.write(&Access { address, method: &method, path, status: response.status(), bytes, took: began.elapsed() });
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
    let mut response = drawn(&fault, json, &state.nav("")).into_response();
    if let Some(allow) = allow {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

/// A fault as what was asked for: a page, or JSON.
fn drawn(fault: &Fault, json: bool, nav: &str) -> Reply {
    let reply = if json {
        Reply::json(&serde_json::json!({ "error": fault.said, "status": fault.status.as_u16() }))
    } else {
        let title = title(fault.status);
        let body = format!("<h1>{title}</h1>\n<p>{}</p>\n{}", said(&fault.said), fault.more);
        let styles = [super::STYLE];
        Reply::page(&Page {
            title,
            nav,
            body: &body,
            styles: &styles,
            scripts: &[THEME],
            connects: true,
            ..Page::default()
        })
    };
    let reply = match fault.status {
        StatusCode::UNAUTHORIZED => {
            reply.with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"karat\""))
        }
        _ => reply,
    };
    let reply = match fault.retry_after {
        Some(seconds) => reply.with(header::RETRY_AFTER, HeaderValue::from(seconds)),
        None => reply,
    };
    reply.status(fault.status)
}

fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::MULTIPLE_CHOICES => "Several runs may be meant",
        StatusCode::UNAUTHORIZED => "A token is needed",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::METHOD_NOT_ALLOWED => "Nothing can be changed here",
        StatusCode::CONFLICT => "Not as things are",
        StatusCode::TOO_MANY_REQUESTS => "Too many wrong tokens",
        StatusCode::SERVICE_UNAVAILABLE => "Not at this moment",
        status if status.is_server_error() => "This did not work",
        _ => "This cannot be asked",
    }
}
