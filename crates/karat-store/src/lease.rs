//! Locks of runs on a server: rows with an end on the database's clock, renewed while the process lives.

use super::{Access, Database, Result, RunId, ServerUrl};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A process that was killed or cut off holds its runs no longer than this.
const LEASE: Duration = Duration::from_secs(30);

/// The leases of a store. They have a connection of their own, since they are renewed while the store is in use.
pub(super) struct Leases {
    server: ServerUrl,
    access: Access,
    lease: Duration,
    database: Mutex<Option<Database>>,
}

/// A lease of a run.
#[derive(Debug)]
pub(super) struct Lease {
    run: RunId,
    token: String,
    held: Arc<AtomicBool>,
    renewal: Sender<()>,
    leases: Arc<Leases>,
}

impl Leases {
    pub(super) fn new(server: ServerUrl, access: Access) -> Self {
        Self { server, access, lease: LEASE, database: Mutex::new(None) }
    }

    #[cfg(test)]
    pub(super) fn with_length(server: ServerUrl, lease: Duration) -> Self {
        Self { lease, ..Self::new(server, Access::Write) }
    }

    /// Leases a run; `None` if another process holds it.
    pub(super) fn take(self: &Arc<Self>, run: &RunId) -> Result<Option<Lease>> {
        let token = uuid::Uuid::now_v7().to_string();
        let holder = format!("{}, process {}", host_name(), std::process::id());
        let sql = "INSERT INTO run_locks AS own (run_id, token, holder, until_ms) \
                   VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4) \
                   ON CONFLICT (run_id) DO UPDATE SET token = $2, holder = $3, until_ms = EXCLUDED.until_ms \
                   WHERE own.until_ms < (extract(epoch FROM clock_timestamp()) * 1000)::bigint OR own.token = $2";
        let taken = self.write(sql, &[run.as_str(), &token, &holder], true)?;
        if taken == 0 {
            return Ok(None);
        }
        let held = Arc::new(AtomicBool::new(true));
        let (renewal, stopped) = mpsc::channel();
        let (leases, renewed, still) = (Arc::clone(self), [run.to_string(), token.clone()], Arc::clone(&held));
        let renew = move || {
            let mut until = Instant::now() + leases.lease;
            while stopped.recv_timeout(leases.lease / 3) == Err(RecvTimeoutError::Timeout) {
                let asked = Instant::now();
                match leases.renew(&renewed) {
                    Ok(true) => until = asked + leases.lease,
                    Ok(false) => break,
                    Err(_) if Instant::now() < until => {}
                    Err(_) => break,
                }
            }
            still.store(false, Ordering::SeqCst);
        };
        std::thread::Builder::new()
            .name("run lock".to_owned())
            .spawn(renew)
            .map_err(|source| super::StoreError::Io { path: "thread that renews the lock of a run".into(), source })?;
        Ok(Some(Lease { run: run.clone(), token, held, renewal, leases: Arc::clone(self) }))
    }

    /// Who is working on a run.
    pub(super) fn holder(&self, run: &RunId) -> Result<Option<String>> {
        let sql = "SELECT holder FROM run_locks WHERE run_id = $1 \
                   AND until_ms >= (extract(epoch FROM clock_timestamp()) * 1000)::bigint \
                   UNION ALL SELECT 'the worker ' || MIN(worker) FROM queue_units WHERE run_id = $1 AND state = 'claimed' \
                   AND until_ms >= (extract(epoch FROM clock_timestamp()) * 1000)::bigint HAVING COUNT(*) > 0 LIMIT 1";
        self.with_database(|database| database.query_one(sql, vec![run.into()])?.map(|row| row.get(0)).transpose())
    }

    fn renew(&self, [run, token]: &[String; 2]) -> Result<bool> {
        let sql = "UPDATE run_locks SET until_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3 \
                   WHERE run_id = $1 AND token = $2";
        Ok(self.write(sql, &[run, token], true)? > 0)
    }

    fn write(&self, sql: &'static str, texts: &[&str], with_length: bool) -> Result<u64> {
        let length = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        self.with_database(|database| {
            database.write_quickly(|database| {
                let texts = texts.iter().map(|text| (*text).into());
                database.execute(sql, texts.chain(with_length.then(|| length.into())).collect())
            })
        })
    }

    fn with_database<T>(&self, work: impl FnOnce(&mut Database) -> Result<T>) -> Result<T> {
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *database {
            Some(database) => work(database),
            none => work(none.insert(Database::open_server(&self.server, self.access)?)),
        }
    }
}

impl std::fmt::Debug for Leases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leases").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Lease {
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = self.renewal.send(());
        // A row that stays behind ends by itself.
        let sql = "DELETE FROM run_locks WHERE run_id = $1 AND token = $2";
        let _ = self.leases.write(sql, &[self.run.as_str(), &self.token], false);
    }
}

fn host_name() -> String {
    let file = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let variable = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let name = file.or_else(variable).map(|name| name.trim().to_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "another host".to_owned())
}
