//! Free ports of loopback.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A listener on a random free port. The port is below those that the system gives to outgoing connections, so that none of them takes it while
/// its server is down.
pub(crate) fn listen() -> Result<TcpListener, String> {
    let random = RandomState::new();
    for attempt in 0..1000u32 {
        let port = 20_000 + u16::try_from(random.hash_one(attempt) % 12_000).unwrap_or_default();
        if let Ok(listener) = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
            return Ok(listener);
        }
    }
    Err("no port of loopback between 20000 and 32000 is free".to_owned())
}

/// A port that was free a moment ago.
pub(crate) fn free() -> Result<u16, String> {
    Ok(listen()?.local_addr().map_err(|e| format!("a listener has no address: {e}"))?.port())
}
