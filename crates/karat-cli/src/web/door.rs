//! Who may come in: by which host, with which token, and who may change something.

use super::attempts::{Attempt, Attempts};
use super::fault::Fault;
use super::listen::Peer;
use super::reply::Reply;
use super::token::{Access, Token};
use crate::exit::Failure;
use crate::terminal::tell;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use karat_report::page::{Page, text};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// What is asked of everyone who comes in.
#[derive(Debug)]
pub(crate) struct Door {
    /// Where the server listens.
    pub(crate) address: SocketAddr,
    /// Names by which browsers reach it beside its address.
    pub(crate) hosts: Vec<Host>,
    /// What every request must show; none where every program of this computer may come in.
    pub(crate) access: Option<Access>,
    /// Wrong tokens that were shown.
    pub(crate) attempts: Attempts,
    /// Whether it is reached by HTTPS.
    pub(crate) secure: bool,
    /// What a request that changes something must show in [`WRITE_HEADER`]; none where nothing can be changed.
    pub(crate) label: Option<Token>,
}

/// The header of requests that change something. A page of another site cannot send it.
pub(crate) const WRITE_HEADER: &str = "x-karat-token";

/// A host as addresses name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    /// A name or an address, with a port or without.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            // The colons of an address in brackets are its own.
            Some((name, port)) if !port.contains(']') => (name, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        let inner = name.strip_prefix('[').map_or(Some(name), |rest| rest.strip_suffix(']'))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || (c == ':' && inner.len() < name.len());
        let name = inner.trim_end_matches('.').to_ascii_lowercase();
        (!name.is_empty() && inner.chars().all(plain)).then_some(Self { name, port })
    }

    /// A host that was typed.
    pub(crate) fn typed(text: &str) -> Result<Self, Failure> {
        let advice = "a host is a name or an address with a port if wanted, such as karat.example or localhost:8080";
        Self::parse(text).ok_or_else(|| Failure::usage(format!("--host {text}: {advice}")))
    }

    fn address(&self) -> Option<IpAddr> {
        self.name.parse().ok()
    }
}

impl Door {
    /// Whether only this computer can connect.
    pub(crate) fn is_loopback(&self) -> bool {
        self.address.ip().to_canonical().is_loopback()
    }

    /// Whether a host is one of this server. A page of another site can make its own name lead here, but has no other name.
    fn knows(&self, host: &Host) -> bool {
        let stated = |known: &Host| known.name == host.name && known.port.is_none_or(|port| Some(port) == host.port);
        if self.hosts.iter().any(stated) {
            return true;
        }
        let here = host.name == "localhost" || host.address().is_some_and(|address| address.is_loopback());
        if self.is_loopback() {
            let default = if self.secure { 443 } else { 80 };
            return here && host.port.unwrap_or(default) == self.address.port();
        }
        // From elsewhere the port may be another one, as where it is forwarded. An address is nobody's name.
        here || host.address().is_some()
    }

    /// The first page and the label page, with the token that lets people in or without.
    pub(crate) fn pages(&self, with_token: bool) -> (String, Option<String>) {
        // Every address of this computer is meant; this one a browser can open.
        let address = match self.address {
            all if all.ip().is_unspecified() => format!("localhost:{}", all.port()),
            one => one.to_string(),
        };
        let origin = format!("{}://{address}", if self.secure { "https" } else { "http" });
        let access = self.access.as_ref().filter(|_| with_token);
        let token = access.map(|access| format!("?token={}", access.token().secret())).unwrap_or_default();
        // What follows # is never sent, so no log and no other page sees it.
        let label = self.label.as_ref().map(|label| format!("{origin}/label{token}#token={}", label.secret()));
        (format!("{origin}/{token}"), label)
    }

    /// A text without the tokens that may stand in it.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let own = self.access.iter().flat_map(|access| [access.token(), access.cookie()]);
        own.chain(self.label.clone()).fold(text.to_owned(), |text, token| text.replace(token.secret(), "..."))
    }

    fn cookie(&self) -> String {
        // Browsers keep the cookies of all ports of a host together.
        format!("karat-{}", self.address.port())
    }

    fn refused_host(&self, headers: &HeaderMap, uri: &Uri) -> Option<Fault> {
        let stated = headers.get_all(header::HOST).iter().collect::<Vec<_>>();
        let [stated] = stated.as_slice() else {
            return Some(Fault::new(StatusCode::BAD_REQUEST, "A request names one host."));
        };
        let known = |text: &str| Host::parse(text).is_some_and(|host| self.knows(&host));
        let own = uri.authority().is_none_or(|authority| known(authority.as_str()));
        if own && stated.to_str().is_ok_and(known) {
            return None;
        }
        let said = format!(
            "This server does not go by the host {:?}. Open it by the address that it printed, or start it with --host for this name.",
            String::from_utf8_lossy(stated.as_bytes())
        );
        Some(Fault::new(StatusCode::FORBIDDEN, said))
    }

    /// Whether a cookie says that this browser was let in before.
    fn was_let_in(&self, access: &Access, headers: &HeaderMap, now: Instant) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        cookies.any(|(key, shown)| key == name && access.takes_cookie(shown, now))
    }

    /// The answer to a request that is not let in, or that shows the token in its address.
    fn check_access(&self, access: &Access, request: &Request) -> Option<Response> {
        let (headers, now) = (request.headers(), Instant::now());
        match access.expire(now) {
            Ok(false) => {}
            Ok(true) => {
                let (page, label) = self.pages(true);
                tell(&format!("the token was not used for its lifetime and ended; the pages are now on {page}"));
                label.iter().for_each(|label| tell(&format!("labels can be given on {label}")));
            }
            Err(failure) => return Some(Fault::from(failure).into_response()),
        }
        let clean = without_token(request.uri());
        let in_address = shown_in_address(request.uri());
        let Some(shown) = in_address.or_else(|| bearer(headers)) else {
            let known = self.was_let_in(access, headers, now);
            return (!known).then(|| stranger(&clean).into_response());
        };
        let peer = request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        match self.attempts.attempt(peer, now, || access.takes_token(shown, now)) {
            Attempt::Right if in_address.is_some() => {
                let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
                Some(welcome(self, &access.cookie(), &clean, site))
            }
            Attempt::Right => None,
            Attempt::Wrong => Some(stranger(&clean).into_response()),
            Attempt::Refused(wait) => {
                let said = "Too many wrong tokens were shown within a minute, so that no token is looked at for a while. \
                            Browsers that were let in before are not affected.";
                let seconds = wait.as_secs() + 1;
                Some(Fault::new(StatusCode::TOO_MANY_REQUESTS, said).retry_after(seconds).into_response())
            }
        }
    }

    /// Why a request that would change something may not.
    fn refused_write(&self, headers: &HeaderMap) -> Option<Fault> {
        let Some(token) = &self.label else {
            let said = "This server shows and changes nothing. To label pairs and extras, start it with --label.";
            return Some(Fault::new(StatusCode::METHOD_NOT_ALLOWED, said));
        };
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let forbidden = |said: &str| Some(Fault::new(StatusCode::FORBIDDEN, said));
        let from_elsewhere =
            "This request comes from another site's page; only pages of this server may change anything.";
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
                "The token for labels is missing or of an earlier start; open the label page by the address that `karat serve --label` printed.",
            );
        }
        let kind = value("content-type").unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            let said = "What is sent must be JSON and say so: content-type: application/json.";
            return Some(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, said));
        }
        None
    }
}

/// Lets a request in, or tells it why not.
pub(super) async fn enter(Shared(door): Shared<Arc<Door>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Some(fault) = door.refused_host(headers, request.uri()) {
        return fault.into_response();
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if let Some(refused) = door.access.as_ref().and_then(|access| door.check_access(access, &request)) {
        return refused;
    }
    let safe = matches!(*request.method(), Method::GET | Method::HEAD);
    // Another site's page may link here, and may not take anything from here.
    if safe && site == Some(b"cross-site") && headers.get("sec-fetch-mode").is_some_and(|mode| mode != "navigate") {
        return Fault::new(StatusCode::FORBIDDEN, "Only pages of this server may ask for this.").into_response();
    }
    if !safe && let Some(fault) = door.refused_write(headers) {
        let mut response = fault.into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    next.run(request).await
}

/// What stands behind # is never sent, and the token for labels stands there, so the page itself must take it along.
const GO_ON: &str = "location.replace(document.getElementById(\"on\").href + location.hash);";

/// The token was in the address: the browser gets a cookie, and the token goes out of sight.
fn welcome(door: &Door, secret: &Token, clean: &str, site: Option<&[u8]>) -> Response {
    // Strict cookies are not sent where a link of another site led, not even after being sent on from here; a page of our own
    // that leads on is no other site.
    let reply = if matches!(site, Some(b"cross-site" | b"same-site")) {
        let link = text(clean);
        let body = format!(
            "<noscript><meta http-equiv=\"refresh\" content=\"0; url={link}\"></noscript>\n\
             <p><a id=\"on\" href=\"{link}\">Go on</a></p>\n"
        );
        Reply::page(&Page { title: "Karat", body: &body, scripts: &[GO_ON], connects: true, ..Page::default() })
    } else {
        Reply::see(clean)
    };
    let secure = if door.secure { "; Secure" } else { "" };
    let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", door.cookie(), secret.secret());
    match HeaderValue::from_str(&cookie) {
        Ok(mut cookie) => {
            cookie.set_sensitive(true);
            reply.with(header::SET_COOKIE, cookie).into_response()
        }
        Err(_) => Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "The token fits into no cookie.").into_response(),
    }
}

/// The token that a program shows.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, shown) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    // The name of a scheme is written in small or capital letters.
    scheme.eq_ignore_ascii_case("bearer").then_some(shown)
}

/// What somebody without the token sees.
fn stranger(clean: &str) -> Fault {
    let said = "Open this server once by its address with ?token= and the token behind it, as it was printed where it was started; the browser remembers that until it is closed, or was away for long.";
    // Where a link of another site led here, the cookie was not sent; from this page it is.
    let again = format!("<p>Was it opened in this browser before? <a href=\"{}\">Go on</a></p>\n", text(clean));
    Fault::new(StatusCode::UNAUTHORIZED, said).with(again)
}

fn shown_in_address(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// The path and what is left of the query. It begins with one slash, so that it never leads elsewhere.
fn without_token(uri: &Uri) -> String {
    let left: Vec<&str> = uri.query().unwrap_or_default().split('&').filter(|pair| !is_token(pair)).collect();
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    if left.is_empty() { path } else { format!("{path}?{}", left.join("&")) }
}

fn is_token(pair: &str) -> bool {
    pair.is_empty() || pair == "token" || pair.starts_with("token=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(address: &str, hosts: &[&str]) -> Door {
        let hosts = hosts.iter().map(|host| Host::parse(host).unwrap()).collect();
        let (address, attempts) = (address.parse().unwrap(), Attempts::new());
        Door { address, hosts, access: None, attempts, secure: false, label: None }
    }

    #[test]
    fn a_loopback_server_goes_by_this_computer_s_names_with_its_port() {
        let check = |host: &str, expect: bool| {
            let known = Host::parse(host).is_some_and(|host| door("127.0.0.1:7331", &["box:8080"]).knows(&host));
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
    fn a_server_for_others_goes_by_addresses_and_the_names_it_was_given() {
        let check = |host: &str, expect: bool| {
            let known = Host::parse(host).is_some_and(|host| door("0.0.0.0:7331", &["karat.example"]).knows(&host));
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
    fn the_clean_address_leads_nowhere_else_and_has_no_token() {
        let check = |uri: &str, expect: &str| assert_eq!(without_token(&uri.parse().unwrap()), expect, "{uri}");
        check("/?token=abc", "/");
        check("/runs/1?a=1&token=abc&b=2", "/runs/1?a=1&b=2");
        check("//evil.example/?token=abc", "/evil.example/");
        check("/\\evil?token=abc", "/evil");
    }
}
