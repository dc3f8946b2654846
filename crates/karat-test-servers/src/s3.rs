//! A server of the S3 protocol.

use crate::account::Account;
use crate::guard::{self, Guard};
use crate::{Proxy, find_program, port, wait_for};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// moto's S3, which keeps objects in memory and accepts any key. It is reached through a [`Proxy`], so that a stopped one keeps its objects.
pub struct S3 {
    /// Holds the server.
    _guard: Guard,
    address: SocketAddr,
    proxy: Proxy,
    buckets: AtomicU32,
}

impl S3 {
    /// The server that all tests of this process share: each uses a [bucket of its own](S3::new_bucket), and none stops it.
    ///
    /// # Errors
    /// Why there is no server, for `skipped: …`.
    pub fn shared() -> Result<&'static S3, String> {
        static SHARED: OnceLock<Result<S3, String>> = OnceLock::new();
        SHARED.get_or_init(S3::start).as_ref().map_err(Clone::clone)
    }

    /// A server for one test, which may stop it.
    ///
    /// # Errors
    /// Why there is no server, for `skipped: …`.
    pub fn start() -> Result<S3, String> {
        let program = find_program("moto_server")
            .ok_or("moto_server is not installed; help: run scripts/test-tools, and set KARAT_TEST_TOOLS to the folder that it prints")?;
        let mut refused = String::new();
        for _ in 0..5 {
            // Not as another account: the program may lie in a folder that only this user reads.
            let folder = guard::new_folder("karat-s3-", None, &Account::current())?;
            let port = port::free()?;
            let server = [
                program.display().to_string(),
                "-H".to_owned(),
                "127.0.0.1".to_owned(),
                "-p".to_owned(),
                port.to_string(),
            ];
            let guard = Guard::new(folder, "TERM", &server)?;
            guard.start()?;
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let ready = wait_for("moto_server starts", || {
                let dead = guard.died().then_some(false);
                dead.or_else(|| request(address, "GET /moto-api/data.json").is_ok().then_some(true))
            });
            if ready == Ok(true) {
                let proxy = Proxy::start(address)?;
                return Ok(S3 { _guard: guard, address, proxy, buckets: AtomicU32::new(0) });
            }
            refused = format!("moto_server does not start:\n{}", guard.log());
        }
        Err(refused)
    }

    /// The address for clients, such as `http://127.0.0.1:21212`; buckets are parts of the path.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    /// Creates an empty bucket and returns its name.
    ///
    /// # Errors
    /// The server did not create it.
    pub fn new_bucket(&self) -> Result<String, String> {
        let name = format!("bucket-{}", self.buckets.fetch_add(1, Ordering::Relaxed));
        request(self.address, &format!("PUT /{name}"))?;
        Ok(name)
    }

    /// Closes all connections, and every new one at once, until [`restart`](S3::restart).
    pub fn stop(&self) {
        self.proxy.refuse(true);
        self.proxy.cut();
    }

    /// Ends what [`stop`](S3::stop) began; all objects are there.
    pub fn restart(&self) {
        self.proxy.refuse(false);
    }

    /// What clients connect to, which can also stall and cut connections.
    pub fn proxy(&self) -> &Proxy {
        &self.proxy
    }
}

/// One request without a body; an error unless it succeeds.
fn request(address: SocketAddr, line: &str) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{line} at {address}: {e}");
    let mut stream = TcpStream::connect(address).map_err(failed)?;
    // moto tells the service by the host of a request or by its signature.
    let text = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential=test/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).map_err(failed)?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).map_err(failed)?;
    let reply = String::from_utf8_lossy(&reply);
    let ok = reply.split_whitespace().nth(1).is_some_and(|status| status.starts_with('2'));
    if ok { Ok(()) } else { Err(format!("{line} at {address}: {reply}")) }
}
