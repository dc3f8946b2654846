//! The way out of a network name space: a proxy that leads everywhere but to this machine.
//!
//! A tool that may use the network has a name space of its own, in which this proxy listens and nothing else is. The proxy
//! answers `CONNECT` and plain requests, and refuses addresses of the machine it runs on, so that services that listen for
//! the user alone are not open to the tool.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Where the proxy listens in the tool's name space.
pub(super) const PORT: u16 = 3128;

/// More connections than these are not taken at once.
const MOST_CONNECTIONS: usize = 256;
/// A request's first line and headers are no longer than this.
const LONGEST_HEAD: usize = 64 << 10;
/// How long a request's headers may take, and a connection to where they lead.
const PATIENCE: Duration = Duration::from_secs(30);

/// The variables by which programs learn of a proxy.
const VARIABLES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Points a tool's variables at the proxy, and gives the proxies they pointed at.
pub(super) fn lead_through(env: &mut Vec<(OsString, OsString)>) -> Upstream {
    let value = |name: &str| env.iter().find(|(own, _)| own == name).and_then(|(_, value)| value.to_str());
    let upstream = Upstream::new(&|name| value(name).filter(|value| !value.is_empty()).map(str::to_owned));
    env.retain(|(name, _)| !VARIABLES.iter().chain(&["NO_PROXY", "no_proxy"]).any(|own| name == own));
    let address = OsString::from(format!("http://127.0.0.1:{PORT}"));
    env.extend(VARIABLES.iter().map(|name| (name.into(), address.clone())));
    // Node.js looks at these variables only where it is told to.
    env.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
    upstream
}

/// What a proxy is told: the proxies that the user's own programs go through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Upstream {
    /// For plain requests.
    http: Option<NextProxy>,
    /// For `CONNECT`.
    https: Option<NextProxy>,
    /// Hosts that are reached without.
    direct: Vec<String>,
}

/// A proxy of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NextProxy {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

impl Upstream {
    /// From the user's variables.
    pub(super) fn new(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| variable(name).or_else(|| variable(&name.to_uppercase()));
        let proxy = |name: &str| either(name).or_else(|| either("all_proxy")).and_then(|url| NextProxy::parse(&url));
        let direct = either("no_proxy").unwrap_or_default();
        let direct = direct.split(',').map(|host| host.trim().trim_start_matches('.').to_lowercase());
        Self {
            http: proxy("http_proxy"),
            https: proxy("https_proxy"),
            direct: direct.filter(|host| !host.is_empty()).collect(),
        }
    }

    fn proxy_for(&self, target: &Target) -> Option<&NextProxy> {
        let host = target.host.to_lowercase();
        let is_direct = |entry: &String| {
            entry == "*" || host == *entry || host.strip_suffix(entry.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        let proxy = if target.rest.is_some() { &self.http } else { &self.https };
        proxy.as_ref().filter(|_| !self.direct.iter().any(is_direct))
    }
}

impl NextProxy {
    fn parse(url: &str) -> Option<Self> {
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            None => url,
            Some(_) => return None,
        };
        let authority = rest.split('/').next()?;
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let (host, port) = host_and_port(place, 80)?;
        let decoded = |user: &str| percent_encoding::percent_decode_str(user).collect::<Vec<u8>>();
        let authorization = user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(decoded(user))));
        Some(Self { host, port, authorization })
    }
}

/// Answers what comes in until the process ends.
pub(super) fn serve(listener: &TcpListener, upstream: Upstream) {
    let upstream = Arc::new(upstream);
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of files, most likely; some are free soon.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (upstream, counted) = (Arc::clone(&upstream), Arc::clone(&open));
        let started = std::thread::Builder::new().spawn(move || {
            // The other side of a connection that breaks has noticed it itself.
            let _ = relay(stream, &upstream);
            counted.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Where a request leads.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    host: String,
    port: u16,
    /// Method and path of a plain request; none of `CONNECT`.
    rest: Option<(String, String)>,
}

fn relay(mut client: TcpStream, upstream: &Upstream) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    let head = read_head(&mut client)?;
    let Some((target, headers)) = parse_head(&head) else {
        return refuse(client, "400 Bad Request", "this is no request that a proxy understands");
    };
    let (server, answer) = match connect(&target, upstream) {
        Ok(connected) => connected,
        Err(Refused::ThisMachine) => {
            let why = format!(
                "{} is this machine, which a tool may reach only where its manifest says `loopback = true`",
                target.host
            );
            return refuse(client, "403 Forbidden", &why);
        }
        Err(Refused::Unreachable(why)) => return refuse(client, "502 Bad Gateway", &why),
    };
    client.set_read_timeout(None)?;
    let mut server = server;
    match (&target.rest, answer) {
        (None, None) => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        (None, Some(proxy)) => {
            let place = format_place(&target.host, target.port);
            let credentials = proxy.authorization.as_ref().map(|value| format!("Proxy-Authorization: {value}\r\n"));
            let request =
                format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{}\r\n", credentials.unwrap_or_default());
            server.write_all(request.as_bytes())?;
        }
        (Some((method, path)), proxy) => {
            let place = match target.port {
                80 => format_place_without_port(&target.host),
                port => format_place(&target.host, port),
            };
            let line = match &proxy {
                Some(_) => format!("{method} http://{place}{path} HTTP/1.1\r\n"),
                None => format!("{method} {path} HTTP/1.1\r\n"),
            };
            let credentials = proxy
                .and_then(|proxy| proxy.authorization.as_ref())
                .map(|value| format!("Proxy-Authorization: {value}\r\n"))
                .unwrap_or_default();
            // A connection serves one request: the next one may lead elsewhere.
            let kept = headers.lines().filter(|line| !is_of_connection(line)).map(|line| format!("{line}\r\n"));
            let request = format!("{line}{}{credentials}Connection: close\r\n\r\n", kept.collect::<String>());
            server.write_all(request.as_bytes())?;
        }
    }
    let mut to_server = (client.try_clone()?, server.try_clone()?);
    let upload = std::thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut to_server.0, &mut to_server.1);
        let _ = to_server.1.shutdown(Shutdown::Write);
    })?;
    let _ = io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = upload.join();
    Ok(())
}

fn refuse(mut client: TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("Karat: {why}\n");
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    client.write_all(answer.as_bytes())
}

/// Everything up to the empty line, and not one byte beyond it.
fn read_head(client: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= LONGEST_HEAD {
            return Err(io::Error::other("the request's headers are too long"));
        }
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

fn parse_head(head: &str) -> Option<(Target, &str)> {
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1.") || words.next().is_some() {
        return None;
    }
    let headers = headers.trim_end_matches("\r\n");
    if method == "CONNECT" {
        let (host, port) = host_and_port(target, 443)?;
        return Some((Target { host, port, rest: None }, headers));
    }
    let rest = target.strip_prefix("http://")?;
    let (place, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, port) = host_and_port(place, 80)?;
    Some((Target { host, port, rest: Some((method.to_owned(), path)) }, headers))
}

fn host_and_port(place: &str, usual: u16) -> Option<(String, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, port.strip_prefix(':'))
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().ok()?,
        None => usual,
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

fn format_place(host: &str, port: u16) -> String {
    format!("{}:{port}", format_place_without_port(host))
}

fn format_place_without_port(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn is_of_connection(header: &str) -> bool {
    let name = header.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    name.starts_with("proxy-") || name == "connection" || name == "keep-alive"
}

enum Refused {
    ThisMachine,
    Unreachable(String),
}

fn connect<'u>(target: &Target, upstream: &'u Upstream) -> Result<(TcpStream, Option<&'u NextProxy>), Refused> {
    let place = (target.host.trim_end_matches('.'), target.port);
    let found: Vec<SocketAddr> = place.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    if is_named_here(place.0) || found.iter().any(|address| is_here(address.ip())) {
        return Err(Refused::ThisMachine);
    }
    let unreachable = |why: String| Refused::Unreachable(format!("{} cannot be reached: {why}", target.host));
    if let Some(proxy) = upstream.proxy_for(target) {
        let found =
            (proxy.host.as_str(), proxy.port).to_socket_addrs().map_err(|error| unreachable(error.to_string()))?;
        let server = connect_to_any(found).map_err(|error| unreachable(error.to_string()))?;
        return Ok((server, Some(proxy)));
    }
    if found.is_empty() {
        return Err(unreachable("the name is unknown".to_owned()));
    }
    let server = connect_to_any(found.into_iter()).map_err(|error| unreachable(error.to_string()))?;
    Ok((server, None))
}

fn connect_to_any(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_named_here(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Whether an address is one of this machine, or of a network that ends at it, as that of a cloud's metadata service.
fn is_here(address: IpAddr) -> bool {
    let special = match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local() || v4.octets()[0] == 0 || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified() || v6.is_unicast_link_local(),
    };
    // Only own addresses can be bound to.
    special || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_lead_where_they_say() {
        let target = |line: &str| parse_head(&format!("{line}\r\nHost: other\r\n\r\n")).map(|(target, _)| target);
        let plain = |host: &str, port, method: &str, path: &str| {
            Some(Target { host: host.to_owned(), port, rest: Some((method.to_owned(), path.to_owned())) })
        };
        let tunnel = |host: &str, port| Some(Target { host: host.to_owned(), port, rest: None });
        assert_eq!(target("CONNECT models.example.org:443 HTTP/1.1"), tunnel("models.example.org", 443));
        assert_eq!(target("CONNECT [::1]:8443 HTTP/1.1"), tunnel("::1", 8443));
        assert_eq!(target("GET http://a.example:81/x?y HTTP/1.1"), plain("a.example", 81, "GET", "/x?y"));
        assert_eq!(target("GET http://a.example HTTP/1.0"), plain("a.example", 80, "GET", "/"));
        assert_eq!(target("GET http://u:p@a.example?q HTTP/1.1"), plain("a.example", 80, "GET", "/?q"));
        for nonsense in ["GET /x HTTP/1.1", "CONNECT :443 HTTP/1.1", "CONNECT a:b HTTP/1.1", "GET http://a HTTP/2", "x"]
        {
            assert_eq!(target(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_known_in_every_spelling() {
        for here in [
            "127.0.0.1",
            "127.8.9.1",
            "0.0.0.0",
            "0.1.2.3",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "169.254.169.254",
            "fe80::1",
        ] {
            assert!(is_here(here.parse().unwrap()), "{here}");
        }
        // Addresses for documentation belong to nobody.
        for elsewhere in ["192.0.2.1", "198.51.100.7", "2001:db8::1"] {
            assert!(!is_here(elsewhere.parse().unwrap()), "{elsewhere}");
        }
        assert!(is_named_here("LocalHost") && is_named_here("x.localhost") && !is_named_here("localhost.example"));
    }

    #[test]
    fn the_users_own_proxies_come_next() {
        let variables =
            [("https_proxy", "http://me:p%40ss@proxy.example:8080/"), ("NO_PROXY", ".inner.example, other.example")];
        let upstream =
            Upstream::new(&|name| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned()));
        let target = |host: &str| Target { host: host.to_owned(), port: 443, rest: None };
        let proxy = upstream.proxy_for(&target("models.example")).unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 8080));
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        for direct in ["inner.example", "a.inner.example", "other.example"] {
            assert_eq!(upstream.proxy_for(&target(direct)), None, "{direct}");
        }
        assert!(upstream.proxy_for(&target("notinner.example")).is_some());
        assert_eq!(NextProxy::parse("socks5://proxy.example"), None);
    }

    /// Whoever asks is answered by the proxy itself, not by what listens on this machine.
    #[test]
    fn services_of_this_machine_are_refused() {
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        service.set_nonblocking(true).unwrap();
        let port = service.local_addr().unwrap().port();
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = proxy.local_addr().unwrap();
        std::thread::spawn(move || serve(&proxy, Upstream::default()));
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"] {
            for request in [
                format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n"),
                format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n"),
            ] {
                let mut client = TcpStream::connect(address).unwrap();
                client.write_all(request.as_bytes()).unwrap();
                let mut answer = String::new();
                client.read_to_string(&mut answer).unwrap();
                assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("loopback = true"), "{request}{answer}");
            }
        }
        assert!(service.accept().is_err(), "it got through");
    }
}
