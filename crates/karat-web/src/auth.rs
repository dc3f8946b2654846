//! Authorises requests: by host, by token, and separately those that change something.

use super::access_log::Notify;
use super::reply::{Fault, Reply};
use super::token::{Access, Attempts, Token};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use karat::failure::Failure;
use karat_report::page::Page;
use maud::html;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// What every request is checked against.
#[derive(Debug)]
pub struct Auth {
    /// Where the server listens.
    pub address: SocketAddr,
    pub(crate) hosts: Vec<Host>,
    /// The token that every request must present; `None` with `--no-token`.
    pub(crate) access: Option<Access>,
    pub(crate) attempts: Attempts,
    /// Whether it uses HTTPS.
    pub secure: bool,
    /// The token that a request with changes must present in [`WRITE_HEADER`]; `None` if the server is read-only.
    pub(crate) label: Option<Token>,
    pub(crate) notify: Notify,
}

/// The header with the label token. A page of another site cannot send it.
pub(crate) const WRITE_HEADER: &str = "x-karat-token";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    /// Parses a name or an address with an optional port.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            // Colons in brackets belong to an IPv6 address.
            Some((name, port)) if !port.contains(']') => (name, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        let inner = name.strip_prefix('[').map_or(Some(name), |rest| rest.strip_suffix(']'))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || (c == ':' && inner.len() < name.len());
        let name = inner.trim_end_matches('.').to_ascii_lowercase();
        (!name.is_empty() && inner.chars().all(plain)).then_some(Self { name, port })
    }

    pub(crate) fn from_option(text: &str) -> Result<Self, Failure> {
        let advice = "invalid host: expected a name or an address with an optional port, such as karat.example or localhost:8080";
        Self::parse(text).ok_or_else(|| Failure::usage(format!("--host {text}: {advice}")))
    }

    fn address(&self) -> Option<IpAddr> {
        self.name.parse().ok()
    }
}

impl Auth {
    /// Whether readers need a token.
    pub fn needs_token(&self) -> bool {
        self.access.is_some()
    }

    /// Whether the token was chosen by whoever started the server.
    pub fn has_chosen_token(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.token().chosen)
    }

    /// Whether only this computer can connect.
    pub fn is_loopback(&self) -> bool {
        self.address.ip().to_canonical().is_loopback()
    }

    /// Whether a host belongs to this server. This stops DNS rebinding: another site can point its own name here, but no other name.
    fn is_own_host(&self, host: &Host) -> bool {
        let stated = |known: &Host| known.name == host.name && known.port.is_none_or(|port| Some(port) == host.port);
        if self.hosts.iter().any(stated) {
            return true;
        }
        let here = host.name == "localhost" || host.address().is_some_and(|address| address.is_loopback());
        if self.is_loopback() {
            let default = if self.secure { 443 } else { 80 };
            return here && host.port.unwrap_or(default) == self.address.port();
        }
        // From elsewhere, the port may differ because of forwarding. An IP address cannot be rebound.
        here || host.address().is_some()
    }

    /// The addresses of the start page and the label page, with or without the token.
    pub fn pages(&self, with_token: bool) -> (String, Option<String>) {
        // The server listens on all addresses; a browser can open this one.
        let address = match self.address {
            all if all.ip().is_unspecified() => format!("localhost:{}", all.port()),
            one => one.to_string(),
        };
        let origin = format!("{}://{address}", if self.secure { "https" } else { "http" });
        let access = self.access.as_ref().filter(|_| with_token);
        let token = access.map(|access| format!("?token={}", access.token().secret)).unwrap_or_default();
        // The part after # is never sent, so it appears in no log and no other page.
        let label = self.label.as_ref().map(|label| format!("{origin}/label{token}#token={}", label.secret));
        (format!("{origin}/{token}"), label)
    }

    pub(super) fn without_secrets(&self, text: &str) -> String {
        let own = self.access.iter().flat_map(|access| [access.token(), access.cookie()]);
        own.chain(self.label.clone()).fold(text.to_owned(), |text, token| text.replace(&token.secret, "..."))
    }

    fn cookie(&self) -> String {
        // Browsers share cookies between all ports of a host.
        format!("karat-{}", self.address.port())
    }

    fn refuse_host(&self, headers: &HeaderMap, uri: &Uri) -> Option<Fault> {
        let stated = headers.get_all(header::HOST).iter().collect::<Vec<_>>();
        let [stated] = stated.as_slice() else {
            return Some(Fault::new(StatusCode::BAD_REQUEST, "The request must have exactly one host."));
        };
        let known = |text: &str| Host::parse(text).is_some_and(|host| self.is_own_host(&host));
        let own = uri.authority().is_none_or(|authority| known(authority.as_str()));
        if own && stated.to_str().is_ok_and(known) {
            return None;
        }
        let host = String::from_utf8_lossy(stated.as_bytes());
        let advice = "Open the address that the server printed, or start it with --host for this name.";
        Some(Fault::new(StatusCode::FORBIDDEN, format!("Unknown host {host:?}. {advice}")))
    }

    fn has_valid_cookie(&self, access: &Access, headers: &HeaderMap, now: Instant) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        cookies.any(|(key, shown)| key == name && access.takes_cookie(shown, now))
    }

    /// The response to a request that is refused, or that has the token in its address.
    fn refuse_access(&self, access: &Access, request: &Request) -> Option<Response> {
        let (headers, now) = (request.headers(), Instant::now());
        match access.expire(now) {
            Ok(false) => {}
            Ok(true) => {
                let (page, label) = self.pages(true);
                (self.notify)(&format!("the unused token has expired; the new address is {page}"));
                label.iter().for_each(|label| (self.notify)(&format!("label on {label}")));
            }
            Err(failure) => return Some(Fault::from(failure).into_response()),
        }
        let clean = without_token(request.uri());
        let query = request.uri().query().unwrap_or_default();
        let in_address = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        let Some(shown) = in_address.or_else(|| bearer(headers)) else {
            return (!self.has_valid_cookie(access, headers, now)).then(|| token_needed(&clean).into_response());
        };
        // The server sets the address of the client for every request.
        let client = request.extensions().get::<IpAddr>().copied().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        match self.attempts.attempt(client, now, || access.takes_token(shown, now)) {
            Ok(true) if in_address.is_some() => {
                let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
                Some(set_cookie_and_redirect(self, &access.cookie(), &clean, site))
            }
            Ok(true) => None,
            Ok(false) => Some(token_needed(&clean).into_response()),
            Err(wait) => {
                let message = "Too many wrong tokens within a minute; no token is accepted for a while. \
                               Browsers that are already signed in are not affected.";
                let fault = Fault::new(StatusCode::TOO_MANY_REQUESTS, message);
                Some(Fault { retry_after: Some(wait.as_secs() + 1), ..fault }.into_response())
            }
        }
    }

    fn refuse_write(&self, headers: &HeaderMap) -> Option<Fault> {
        let Some(token) = &self.label else {
            let message = "This server is read-only. To label pairs and extras, start it with --label.";
            return Some(Fault::new(StatusCode::METHOD_NOT_ALLOWED, message));
        };
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let forbidden = |message: &str| Some(Fault::new(StatusCode::FORBIDDEN, message));
        let from_elsewhere =
            "This request comes from a page of another site; only pages of this server may change anything.";
        if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin") {
            return forbidden(from_elsewhere);
        }
        let host = value("host").unwrap_or_default();
        if let Some(origin) = headers.get(header::ORIGIN) {
            let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            if !authority.is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host)) {
                return forbidden(from_elsewhere);
            }
        }
        if !value(WRITE_HEADER).is_some_and(|shown| token.is(shown)) {
            return forbidden(
                "The label token is missing or from an earlier start; open the label page by the address that `karat serve --label` printed.",
            );
        }
        let kind = value("content-type").unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            let message = "The request body must be JSON with the header content-type: application/json.";
            return Some(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        None
    }
}

pub(super) async fn check_request(Shared(auth): Shared<Arc<Auth>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Some(fault) = auth.refuse_host(headers, request.uri()) {
        return fault.into_response();
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if let Some(refused) = auth.access.as_ref().and_then(|access| auth.refuse_access(access, &request)) {
        return refused;
    }
    let safe = matches!(*request.method(), Method::GET | Method::HEAD);
    // Another site's page may link here, but must not load anything from here.
    if safe && site == Some(b"cross-site") && headers.get("sec-fetch-mode").is_some_and(|mode| mode != "navigate") {
        return Fault::new(StatusCode::FORBIDDEN, "Only pages of this server may request this.").into_response();
    }
    if !safe && let Some(fault) = auth.refuse_write(headers) {
        let mut response = fault.into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    next.run(request).await
}

/// The label token is after the #, which is never sent, so the page's script must carry it over.
const GO_ON: &str = "location.replace(document.getElementById(\"on\").href + location.hash);";

/// The token was in the address: sets a cookie, and removes the token from the address.
fn set_cookie_and_redirect(auth: &Auth, secret: &Token, clean: &str, site: Option<&[u8]>) -> Response {
    // A strict cookie is sent after a page of our own, but not after a link or redirect from another site.
    let reply = if matches!(site, Some(b"cross-site" | b"same-site")) {
        let body = html! {
            noscript { meta http-equiv="refresh" content={ "0; url=" (clean) }; }
            p { a #on href=(clean) { "Continue" } }
        };
        Reply::page(&Page { title: "Karat", body, scripts: &[GO_ON], connects: true, ..Page::default() })
    } else {
        Reply::redirect(clean)
    };
    let secure = if auth.secure { "; Secure" } else { "" };
    let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", auth.cookie(), secret.secret);
    match HeaderValue::from_str(&cookie) {
        Ok(mut cookie) => {
            cookie.set_sensitive(true);
            reply.with(header::SET_COOKIE, cookie).into_response()
        }
        Err(_) => {
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "The token does not fit into a cookie.").into_response()
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, shown) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    // The scheme is case-insensitive.
    scheme.eq_ignore_ascii_case("bearer").then_some(shown)
}

fn token_needed(clean: &str) -> Fault {
    let message = "Open the address with ?token= that the server printed when it started. The browser remembers it until it is closed or unused for a long time.";
    // After a link from another site, the cookie is not sent; from this page, it is.
    let more = html! { p { "Already signed in with this browser? " a href=(clean) { "Continue" } } };
    Fault { more, ..Fault::new(StatusCode::UNAUTHORIZED, message) }
}

/// The path and the rest of the query. It starts with exactly one slash, so that it never leads to another site.
fn without_token(uri: &Uri) -> String {
    let is_token = |pair: &str| pair.is_empty() || pair == "token" || pair.starts_with("token=");
    let left: Vec<&str> = uri.query().unwrap_or_default().split('&').filter(|pair| !is_token(pair)).collect();
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    if left.is_empty() { path } else { format!("{path}?{}", left.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(address: &str, hosts: &[&str]) -> Auth {
        let hosts = hosts.iter().map(|host| Host::parse(host).unwrap()).collect();
        let (address, attempts) = (address.parse().unwrap(), Attempts::new());
        Auth { address, hosts, access: None, attempts, secure: false, label: None, notify: |_| {} }
    }

    #[test]
    fn loopback_server_accepts_local_hosts_with_its_port() {
        let check = |host: &str, expect: bool| {
            let known = Host::parse(host).is_some_and(|host| auth("127.0.0.1:7331", &["box:8080"]).is_own_host(&host));
            assert_eq!(known, expect, "{host}");
        };
        check("127.0.0.1:7331", true);
        check("localhost:7331", true);
        check("LOCALHOST:7331", true);
        check("[::1]:7331", true);
        check("box:8080", true);
        check("localhost", false);
        check("localhost:80", false);
        check("evil.example:7331", false);
        check("127.0.0.1.evil.example:7331", false);
        check("localhost.evil.example:7331", false);
        check("10.0.0.5:7331", false);
        check("box:8081", false);
        check("", false);
        check(":7331", false);
        check("localhost:7331:7331", false);
        check("a b:7331", false);
    }

    #[test]
    fn public_server_accepts_addresses_and_configured_hosts() {
        let check = |host: &str, expect: bool| {
            let known =
                Host::parse(host).is_some_and(|host| auth("0.0.0.0:7331", &["karat.example"]).is_own_host(&host));
            assert_eq!(known, expect, "{host}");
        };
        check("10.0.0.5:7331", true);
        check("[fe80::1]:7331", true);
        check("karat.example", true);
        check("karat.example:8443", true);
        check("localhost:9000", true);
        check("evil.example:7331", false);
    }

    #[test]
    fn redirect_without_token_stays_on_this_host() {
        let check = |uri: &str, expect: &str| assert_eq!(without_token(&uri.parse().unwrap()), expect, "{uri}");
        check("/?token=abc", "/");
        check("/runs/1?a=1&token=abc&b=2", "/runs/1?a=1&b=2");
        check("//evil.example/?token=abc", "/evil.example/");
        check("/\\evil?token=abc", "/evil");
    }
}
