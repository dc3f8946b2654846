//! A TCP proxy that breaks connections on request.

use crate::port;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// When a connection is cut, seen from the bytes that cause it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The server never gets them.
    Before,
    /// The server has answered them, and the client never gets the answer.
    After,
}

/// Forwards connections from a port of loopback to a server, and breaks them on request.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    connections: Vec<Arc<Connection>>,
    refuses: bool,
    stalled: bool,
    closed: bool,
    trigger: Option<Trigger>,
    triggered: usize,
}

struct Trigger {
    bytes: Vec<u8>,
    moment: Moment,
    times: usize,
}

struct Connection {
    client: TcpStream,
    server: TcpStream,
    /// Whether the next bytes of the server are kept back, and end the connection.
    cut_at_answer: AtomicBool,
}

impl Connection {
    fn cut(&self) {
        // Either may be gone already.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

impl Proxy {
    /// Listens on a free port and forwards to `server`.
    ///
    /// # Errors
    /// No port is free.
    pub fn start(server: SocketAddr) -> Result<Proxy, String> {
        let listener = port::listen()?;
        let address = listener.local_addr().map_err(|e| format!("a listener has no address: {e}"))?;
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::spawn(move || own.accept(&listener, server));
        Ok(Proxy { address, shared })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A URL with its host and port replaced by those of this proxy.
    pub fn through(&self, url: &str) -> String {
        replace_address(url, self.address.port())
    }

    /// Cuts all connections that are open now.
    pub fn cut(&self) {
        for connection in self.shared.state().connections.drain(..) {
            connection.cut();
        }
    }

    /// Closes new connections at once, or accepts them again. Open ones stay.
    pub fn refuse(&self, refuses: bool) {
        self.shared.state().refuses = refuses;
    }

    /// Holds all bytes back in both directions, or lets them pass again. Connections are accepted all the while.
    pub fn stall(&self, stalled: bool) {
        self.shared.state().stalled = stalled;
        self.shared.changed.notify_all();
    }

    /// Cuts the next `times` connections on which a client sends these bytes, such as `b"COMMIT"`.
    pub fn cut_when(&self, bytes: &[u8], moment: Moment, times: usize) {
        self.shared.state().trigger = Some(Trigger { bytes: bytes.to_owned(), moment, times });
    }

    /// How many connections [`cut_when`](Proxy::cut_when) has cut so far.
    pub fn triggered(&self) -> usize {
        self.shared.state().triggered
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.state().connections.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.cut();
        // Wakes the listener, so that it sees that it is no longer wanted.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<Shared>, listener: &TcpListener, server: SocketAddr) {
        for client in listener.incoming().flatten() {
            {
                let state = self.state();
                if state.closed {
                    return;
                }
                if state.refuses {
                    continue;
                }
            }
            // A server that is down closes the client's connection, too.
            if let Ok(server) = TcpStream::connect(server) {
                let _ = self.forward(client, server);
            }
        }
    }

    fn forward(self: &Arc<Shared>, client: TcpStream, server: TcpStream) -> std::io::Result<()> {
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let ends = [(client.try_clone()?, server.try_clone()?), (server.try_clone()?, client.try_clone()?)];
        let connection = Arc::new(Connection { client, server, cut_at_answer: AtomicBool::new(false) });
        {
            let mut state = self.state();
            if state.closed || state.refuses {
                connection.cut();
                return Ok(());
            }
            state.connections.push(Arc::clone(&connection));
        }
        for (is_answer, (from, to)) in [false, true].into_iter().zip(ends) {
            let (own, connection) = (Arc::clone(self), Arc::clone(&connection));
            std::thread::spawn(move || {
                own.pump(&connection, is_answer, from, to);
                connection.cut();
                own.state().connections.retain(|other| !Arc::ptr_eq(other, &connection));
            });
        }
        Ok(())
    }

    /// Forwards one direction until it ends or is cut.
    fn pump(&self, connection: &Connection, is_answer: bool, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 * 1024];
        // The end of what was sent, since the bytes looked for may arrive in two parts.
        let mut tail = Vec::new();
        loop {
            let length = match from.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(length) => length,
            };
            let sent = &buffer[..length];
            let mut state = self.state();
            while state.stalled && !state.closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if is_answer && connection.cut_at_answer.load(Ordering::SeqCst) {
                state.triggered += 1;
                return;
            }
            if !is_answer {
                match state.look_for_trigger(&mut tail, sent) {
                    Some(Moment::Before) => {
                        state.triggered += 1;
                        return;
                    }
                    Some(Moment::After) => connection.cut_at_answer.store(true, Ordering::SeqCst),
                    None => {}
                }
            }
            drop(state);
            if to.write_all(sent).is_err() {
                return;
            }
        }
    }
}

impl State {
    fn look_for_trigger(&mut self, tail: &mut Vec<u8>, sent: &[u8]) -> Option<Moment> {
        let trigger = self.trigger.as_mut()?;
        tail.extend_from_slice(sent);
        let found = tail.windows(trigger.bytes.len().max(1)).any(|window| window == trigger.bytes);
        let kept = trigger.bytes.len().saturating_sub(1).min(tail.len());
        tail.drain(..tail.len() - kept);
        if !found || trigger.times == 0 {
            return None;
        }
        trigger.times -= 1;
        Some(trigger.moment)
    }
}

/// A URL whose host and port are loopback and `port`.
pub(crate) fn replace_address(url: &str, port: u16) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let user = authority.rsplit_once('@').map(|(user, _)| format!("{user}@")).unwrap_or_default();
    format!("{scheme}://{user}127.0.0.1:{port}{path}")
}
