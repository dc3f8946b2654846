//! An HTTP proxy that lets a tool reach every host but this machine.
//!
//! A tool that may use the network has a network namespace of its own, in which nothing but this proxy listens. The proxy answers
//! `CONNECT` and plain requests and refuses local addresses, so that the tool cannot use services that listen for the user only.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(super) const PORT: u16 = 3128;

const MAX_CONNECTIONS: usize = 256;
const MAX_HEAD_BYTES: usize = 64 << 10;
/// For reading a request's headers, and for connecting to its target.
const TIMEOUT: Duration = Duration::from_secs(30);

const VARIABLES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Points a tool's proxy variables at this proxy, and returns the proxies they named before.
pub(super) fn redirect_proxy_variables(env: &mut BTreeMap<String, OsString>) -> UpstreamProxies {
    let value = |name: &str| env.get(name)?.to_str().filter(|value| !value.is_empty()).map(str::to_owned);
    let upstream = UpstreamProxies::from_variables(&value);
    env.retain(|name, _| !["NO_PROXY", "no_proxy"].contains(&name.as_str()));
    let address = OsString::from(format!("http://127.0.0.1:{PORT}"));
    env.extend(VARIABLES.map(|name| (name.to_owned(), address.clone())));
    // Node.js ignores these variables otherwise.
    env.insert("NODE_USE_ENV_PROXY".to_owned(), "1".into());
    upstream
}

/// The user's own proxies, through which this one connects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UpstreamProxies {
    /// For plain requests.
    http: Option<UpstreamProxy>,
    /// For `CONNECT`.
    https: Option<UpstreamProxy>,
    direct: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UpstreamProxy {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

impl UpstreamProxies {
    pub(super) fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| variable(name).or_else(|| variable(&name.to_uppercase()));
        let proxy =
            |name: &str| either(name).or_else(|| either("all_proxy")).and_then(|url| UpstreamProxy::parse(&url));
        let direct = either("no_proxy").unwrap_or_default();
        let direct = direct.split(',').map(|host| host.trim().trim_start_matches('.').to_lowercase());
        Self {
            http: proxy("http_proxy"),
            https: proxy("https_proxy"),
            direct: direct.filter(|host| !host.is_empty()).collect(),
        }
    }

    fn proxy_for(&self, target: &Target) -> Option<&UpstreamProxy> {
        let host = target.host.to_lowercase();
        let is_direct = |entry: &String| {
            entry == "*" || host == *entry || host.strip_suffix(entry.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        let proxy = if target.rest.is_some() { &self.http } else { &self.https };
        proxy.as_ref().filter(|_| !self.direct.iter().any(is_direct))
    }
}

impl UpstreamProxy {
    fn parse(url: &str) -> Option<Self> {
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            None => url,
            Some(_) => return None,
        };
        let authority = rest.split('/').next()?;
        let (user, authority) = authority.rsplit_once('@').map_or((None, authority), |(user, rest)| (Some(user), rest));
        let (host, port) = host_and_port(authority, 80)?;
        let decoded = |user: &str| percent_encoding::percent_decode_str(user).collect::<Vec<u8>>();
        let authorization = user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(decoded(user))));
        Some(Self { host, port, authorization })
    }
}

pub(super) fn serve(listener: &TcpListener, upstream: UpstreamProxies) {
    let upstream = Arc::new(upstream);
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Most likely out of file descriptors, of which some will be free soon.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (upstream, counted) = (Arc::clone(&upstream), Arc::clone(&open));
        let started = std::thread::Builder::new().spawn(move || {
            // Both sides notice a broken connection themselves.
            let _ = relay(stream, &upstream);
            counted.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Target {
    host: String,
    port: u16,
    /// Method and path of a plain request; `None` for `CONNECT`.
    rest: Option<(String, String)>,
}

fn relay(mut client: TcpStream, upstream: &UpstreamProxies) -> io::Result<()> {
    client.set_read_timeout(Some(TIMEOUT))?;
    let head = read_head(&mut client)?;
    let Some((target, headers)) = parse_head(&head) else {
        return refuse(client, "400 Bad Request", "not a valid proxy request");
    };
    let (mut server, proxy) = match connect(&target, upstream) {
        Ok(connected) => connected,
        Err((status, why)) => return refuse(client, status, &why),
    };
    client.set_read_timeout(None)?;
    let authorization = proxy.and_then(|proxy| proxy.authorization.as_ref());
    let credentials = authorization.map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default();
    match (&target.rest, proxy) {
        (None, None) => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        (None, Some(_)) => {
            let authority = format_authority(&target.host, target.port);
            let request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{credentials}\r\n");
            server.write_all(request.as_bytes())?;
        }
        (Some((method, path)), proxy) => {
            let (host, port) = (&target.host, target.port);
            let authority = if port == 80 { format_host(host) } else { format_authority(host, port) };
            let place = if proxy.is_some() { format!("http://{authority}") } else { String::new() };
            // A connection serves one request: the next one may have another target.
            let forwarded = headers.lines().filter(|line| !is_hop_by_hop(line)).map(|line| format!("{line}\r\n"));
            let headers = forwarded.collect::<String>() + &credentials;
            let request = format!("{method} {place}{path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
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

/// Reads up to the empty line and not one byte beyond it.
fn read_head(client: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_HEAD_BYTES {
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
    let (authority, path) = rest.find(['/', '?']).map_or((rest, "/"), |at| rest.split_at(at));
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
    let (host, port) = host_and_port(authority, 80)?;
    Some((Target { host, port, rest: Some((method.to_owned(), path)) }, headers))
}

fn host_and_port(authority: &str, default_port: u16) -> Option<(String, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, port.strip_prefix(':'))
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map_or(Some(default_port), |port| port.parse().ok())?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

fn format_authority(host: &str, port: u16) -> String {
    format!("{}:{port}", format_host(host))
}

fn format_host(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn is_hop_by_hop(header: &str) -> bool {
    let name = header.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    name.starts_with("proxy-") || name == "connection" || name == "keep-alive"
}

/// Connects to a target, perhaps by a proxy, or returns status and reason of the refusal.
fn connect<'u>(
    target: &Target,
    upstream: &'u UpstreamProxies,
) -> Result<(TcpStream, Option<&'u UpstreamProxy>), (&'static str, String)> {
    let authority = (target.host.trim_end_matches('.'), target.port);
    let found: Vec<SocketAddr> = authority.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    if is_local_name(authority.0) || found.iter().any(|address| is_local_address(address.ip())) {
        let why = "is this machine, which a tool may reach only where its manifest says `loopback = true`";
        return Err(("403 Forbidden", format!("{} {why}", target.host)));
    }
    let unreachable = |why: &dyn Display| ("502 Bad Gateway", format!("{} cannot be reached: {why}", target.host));
    if let Some(proxy) = upstream.proxy_for(target) {
        let found = (proxy.host.as_str(), proxy.port).to_socket_addrs().map_err(|error| unreachable(&error))?;
        return Ok((connect_to_any(found).map_err(|error| unreachable(&error))?, Some(proxy)));
    }
    if found.is_empty() {
        return Err(unreachable(&"the name is unknown"));
    }
    Ok((connect_to_any(found.into_iter()).map_err(|error| unreachable(&error))?, None))
}

fn connect_to_any(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_local_name(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Whether an address belongs to this machine or is link-local, such as a cloud's metadata service.
fn is_local_address(address: IpAddr) -> bool {
    let special = match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local() || v4.octets()[0] == 0 || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified() || v6.is_unicast_link_local(),
    };
    // Only local addresses can be bound to.
    special || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_requests_are_parsed() {
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
    fn local_addresses_are_recognised_in_every_notation() {
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
            assert!(is_local_address(here.parse().unwrap()), "{here}");
        }
        // Addresses reserved for documentation are not local.
        for elsewhere in ["192.0.2.1", "198.51.100.7", "2001:db8::1"] {
            assert!(!is_local_address(elsewhere.parse().unwrap()), "{elsewhere}");
        }
        assert!(is_local_name("LocalHost") && is_local_name("x.localhost") && !is_local_name("localhost.example"));
    }

    #[test]
    fn proxy_variables_of_the_user_are_used() {
        let variables =
            [("https_proxy", "http://me:p%40ss@proxy.example:8080/"), ("NO_PROXY", ".inner.example, other.example")];
        let upstream = UpstreamProxies::from_variables(&|name| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        });
        let target = |host: &str| Target { host: host.to_owned(), port: 443, rest: None };
        let proxy = upstream.proxy_for(&target("models.example")).unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 8080));
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        for direct in ["inner.example", "a.inner.example", "other.example"] {
            assert_eq!(upstream.proxy_for(&target(direct)), None, "{direct}");
        }
        assert!(upstream.proxy_for(&target("notinner.example")).is_some());
        assert_eq!(UpstreamProxy::parse("socks5://proxy.example"), None);
    }

    #[test]
    fn local_services_are_refused() {
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        service.set_nonblocking(true).unwrap();
        let port = service.local_addr().unwrap().port();
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = proxy.local_addr().unwrap();
        std::thread::spawn(move || serve(&proxy, UpstreamProxies::default()));
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
        assert!(service.accept().is_err(), "a connection reached the service");
    }
}
