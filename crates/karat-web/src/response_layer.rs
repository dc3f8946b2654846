//! The last layer over every response: faults become pages, slow answers time out, and security headers are set.

use super::markup::code_spans;
use super::reply::{Fault, Reply};
use super::state::State;
use axum::body::{HttpBody, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::html;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Timeout of a response. Work that takes longer continues, and its result is there for the next request.
const PATIENCE: Duration = Duration::from_secs(40);

const LONGEST_MESSAGE: usize = 4096;

pub(super) async fn finish_response(Shared(state): Shared<State>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let address = request.extensions().get::<IpAddr>().map_or_else(|| "-".to_owned(), IpAddr::to_string);
    let safe = matches!(method, Method::GET | Method::HEAD);
    let path = request.uri().path().to_owned();
    let json = !safe || path.ends_with(".json") || path.starts_with("/api/");
    let response = tokio::time::timeout(PATIENCE, next.run(request)).await.unwrap_or_else(|_| {
        let message = "This takes a while and is still in progress; try again in a moment.";
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response()
    });
    let mut response = complete(response, json, &state).await;
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
    if let Some(log) = &state.access_log {
        let bytes = if method == Method::HEAD { 0 } else { response.body().size_hint().lower() };
        // The query may contain a token, and the path by mistake.
        let path = state.auth.without_secrets(&path);
        let (status, took) = (response.status().as_u16(), began.elapsed().as_millis());
        log.write(&format!("{address} {method} {path} {status} {bytes} {took}"), state.auth.notify);
    }
    response
}

async fn complete(mut response: Response, json: bool, state: &State) -> Response {
    // Only replies have a policy.
    if response.headers().contains_key(header::CONTENT_SECURITY_POLICY) {
        return response;
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let fault = match response.extensions_mut().remove::<Fault>() {
        Some(fault) => fault,
        // Extractors reject requests with plain text.
        None => {
            let status = response.status();
            let message = to_bytes(response.into_body(), LONGEST_MESSAGE).await.unwrap_or_default();
            let message = String::from_utf8_lossy(&message).trim().to_owned();
            let message = if message.is_empty() { format!("The status is {status}.") } else { message };
            Fault::new(status, message)
        }
    };
    let mut response = fault_reply(&fault, json, state).into_response();
    if let Some(allow) = allow {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

fn fault_reply(fault: &Fault, json: bool, state: &State) -> Reply {
    let mut reply = if json {
        Reply::json(&serde_json::json!({ "error": fault.message, "status": fault.status.as_u16() }))
    } else {
        let title = fault_title(fault.status);
        let body = html! { h1 { (title) } p { (code_spans(&fault.message)) } (fault.more) };
        match fault.status {
            // It may be there soon, such as a store that the first run creates.
            StatusCode::SERVICE_UNAVAILABLE => state.reloading_page(state.part_frame("", title), title, body, &[], &[]),
            _ => state.page("", title, body, &[], &[]),
        }
    };
    if fault.status == StatusCode::UNAUTHORIZED {
        reply = reply.with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"karat\""));
    }
    if let Some(seconds) = fault.retry_after {
        reply = reply.with(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    reply.status(fault.status)
}

fn fault_title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::MULTIPLE_CHOICES => "Ambiguous run",
        StatusCode::UNAUTHORIZED => "Token required",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::METHOD_NOT_ALLOWED => "Method not allowed",
        StatusCode::CONFLICT => "Conflict",
        StatusCode::TOO_MANY_REQUESTS => "Too many wrong tokens",
        StatusCode::SERVICE_UNAVAILABLE => "Temporarily unavailable",
        status if status.is_server_error() => "Server error",
        _ => "Invalid request",
    }
}
