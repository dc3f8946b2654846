//! A PgBouncer in front of a PostgreSQL server.

use crate::account::Account;
use crate::guard::{self, Guard};
use crate::{Postgres, find_program, port, wait_for};
use rustix::process::Signal;
use std::net::{Ipv4Addr, TcpStream};

/// A pool of connections in transaction mode: every transaction may run on another connection, and nothing else of a session is kept.
///
/// Its configuration is the default one otherwise, which refuses clients that set `extra_float_digits` while they connect.
pub struct PgBouncer {
    guard: Guard,
    port: u16,
}

impl PgBouncer {
    /// A pool of four connections to this server for each database.
    ///
    /// # Errors
    /// Why there is none, for `skipped: …`.
    pub fn start(postgres: &Postgres) -> Result<PgBouncer, String> {
        let program =
            find_program("pgbouncer").ok_or("PgBouncer is not installed; help: install Debian's package pgbouncer")?;
        let account = Account::for_servers()?;
        let mut refused = String::new();
        for _ in 0..5 {
            let folder = guard::new_folder("karat-pgbouncer-", None, &account)?;
            let port = port::free()?;
            let (users, configuration) = (folder.join("users"), folder.join("pgbouncer.ini"));
            let text = format!(
                "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
                 auth_type = scram-sha-256\nauth_file = {}\npool_mode = transaction\nmax_client_conn = 500\ndefault_pool_size = 4\n",
                postgres.port(),
                users.display()
            );
            for (path, text) in [(&users, "\"karat\" \"karat\"\n"), (&configuration, &text)] {
                std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
                account.give(path)?;
            }
            let mut server = account.prefix();
            server.extend([program.display().to_string(), configuration.display().to_string()]);
            let bouncer = PgBouncer { guard: Guard::new(folder, "TERM", &server)?, port };
            match bouncer.restart() {
                Ok(()) => return Ok(bouncer),
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// The same database through the pool, by its URL at the server.
    pub fn through(&self, url: &str) -> String {
        crate::proxy::replace_address(url, self.port)
    }

    /// Ends the pool; its connections are cut.
    ///
    /// # Errors
    /// The guard of the server is gone.
    pub fn stop(&self) -> Result<(), String> {
        self.guard.end(Signal::TERM)
    }

    /// Starts the pool on the same port after [`stop`](PgBouncer::stop).
    ///
    /// # Errors
    /// The end of its log.
    pub fn restart(&self) -> Result<(), String> {
        self.guard.start()?;
        let ready = wait_for("PgBouncer starts", || {
            let dead = self.guard.died().then_some(false);
            dead.or_else(|| TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok().then_some(true))
        });
        if ready == Ok(true) {
            return Ok(());
        }
        self.guard.end(Signal::KILL)?;
        Err(format!("PgBouncer does not start:\n{}", self.guard.log()))
    }
}
