//! A PostgreSQL server.

use crate::account::Account;
use crate::guard::{self, Guard};
use crate::{port, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write as _;
use std::fs::{OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether a commit waits for the disk. Off is faster, and a killed server keeps its data all the same; a killed machine would not.
    pub fsync: bool,
    /// How many connections it accepts.
    pub max_connections: u32,
    /// More lines of its configuration, as `("log_statement", "all")`; they win over what this crate sets.
    pub settings: Vec<(String, String)>,
    /// Where its folder is made; in the folder for temporary files by default.
    pub parent: Option<PathBuf>,
    /// The size in MiB of a [disk of its own](Postgres::small_disk) that it is given, which only root can do.
    pub small_disk: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options { fsync: true, max_connections: 100, settings: Vec::new(), parent: None, small_disk: None }
    }
}

/// A PostgreSQL server of this test process, with a superuser `karat` whose password is `karat`.
///
/// Text is sorted by the rules of English by default, so that a query whose order lacks `COLLATE "C"` is seen.
pub struct Postgres {
    guard: Guard,
    programs: PathBuf,
    port: u16,
    databases: AtomicU32,
}

impl Postgres {
    /// The server that all tests of this process share: each uses a [database of its own](Postgres::new_database), and none stops it.
    ///
    /// # Errors
    /// Why there is no server, for `skipped: …`.
    pub fn shared() -> Result<&'static Postgres, String> {
        static SHARED: OnceLock<Result<Postgres, String>> = OnceLock::new();
        let options = Options { fsync: false, max_connections: 300, ..Options::default() };
        SHARED.get_or_init(|| Postgres::start(&options)).as_ref().map_err(Clone::clone)
    }

    /// A server for one test, which may stop and kill it.
    ///
    /// # Errors
    /// Why there is no server, for `skipped: …`.
    pub fn start(options: &Options) -> Result<Postgres, String> {
        let programs = find_programs().ok_or(
            "PostgreSQL is not installed; help: install Debian's package postgresql, or set KARAT_TEST_POSTGRES to the folder of initdb and postgres",
        )?;
        let account = Account::for_servers()?;
        let folder = guard::new_folder("karat-postgres-", options.parent.as_deref(), &account)?;
        let mut server = match options.small_disk {
            Some(size) => with_disk(&folder.join(SMALL_DISK), size, &account)?,
            None => Vec::new(),
        };
        server.extend(account.prefix());
        let data = folder.join("data");
        server.extend([programs.join("postgres").display().to_string(), "-D".to_owned(), data.display().to_string()]);
        let guard = Guard::new(folder, "QUIT", &server)?;
        create_cluster(&programs, &guard, &account, &data)?;
        let mut postgres = Postgres { guard, programs, port: 0, databases: AtomicU32::new(0) };
        let mut refused = String::new();
        for _ in 0..5 {
            postgres.port = port::free()?;
            postgres.configure(options)?;
            match postgres.restart() {
                Ok(()) => return Ok(postgres),
                Err(why) => refused = why,
            }
            // Only a port that somebody else took meanwhile is worth another attempt.
            if !refused.contains("could not bind") {
                break;
            }
        }
        Err(refused)
    }

    fn configure(&self, options: &Options) -> Result<(), String> {
        let folder = self.guard.folder();
        // The path of a socket has at most 107 bytes.
        let socket = Some(folder.display().to_string()).filter(|path| path.len() < 80).unwrap_or_default();
        let on = |yes: bool| if yes { "on" } else { "off" };
        let mut text = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{socket}'\nmax_connections = {}\n\
             fsync = {fsync}\nfull_page_writes = {fsync}\nshared_buffers = 32MB\ndynamic_shared_memory_type = mmap\n\
             lc_messages = 'C'\ntimezone = 'UTC'\n",
            self.port,
            options.max_connections,
            fsync = on(options.fsync),
        );
        for (name, value) in &options.settings {
            let _ = writeln!(text, "{name} = '{}'", value.replace('\'', "''"));
        }
        let path = folder.join("data/postgresql.conf");
        std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }

    /// Restarts the server so that it offers TLS with this certificate.
    ///
    /// # Errors
    /// The server does not start with them.
    pub fn restart_with_tls(&self, certificate: &str, key: &str) -> Result<(), String> {
        let data = self.guard.folder().join("data");
        let store = || -> std::io::Result<()> {
            let owner = std::fs::metadata(&data)?;
            for (name, content) in [("server.crt", certificate), ("server.key", key)] {
                let path = data.join(name);
                std::fs::write(&path, content)?;
                std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
                chown(&path, Some(owner.uid()), Some(owner.gid()))?;
            }
            OpenOptions::new().append(true).open(data.join("postgresql.conf"))?.write_all(b"ssl = on\n")
        };
        store().map_err(|error| format!("cannot write to {}: {error}", data.display()))?;
        self.stop()?;
        self.restart()
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of the database `postgres`, which every server has.
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The URL of a database, whether it exists or not.
    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://karat:karat@127.0.0.1:{}/{database}", self.port)
    }

    /// Creates an empty database and returns its URL.
    ///
    /// # Errors
    /// The server is down or refused.
    pub fn new_database(&self) -> Result<String, String> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"))?;
        Ok(self.url_of(&name))
    }

    /// Runs SQL as the superuser and returns rows without heading, with `|` between columns.
    ///
    /// # Errors
    /// What psql printed.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, String> {
        output_of(self.psql_command(database).args(["-c", sql]))
    }

    fn psql_command(&self, database: &str) -> Command {
        let mut command = Command::new(self.programs.join("psql"));
        guard::clean(&mut command, self.guard.folder());
        command.env("PGPASSWORD", "karat").args(["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1"]);
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "karat", "-d", database]);
        command
    }

    /// Ends the server and all its processes at once, as a power failure does; committed data is kept.
    ///
    /// # Errors
    /// The guard of the server is gone.
    pub fn kill9(&self) -> Result<(), String> {
        let mut killed = Vec::new();
        if let Some(server) = self.guard.server() {
            // Stopped first, so that it starts no process that would be missed; a connection's process could otherwise commit after its parent died.
            let _ = kill_process(server, Signal::STOP);
            killed = children(server);
            for process in &killed {
                let _ = kill_process(*process, Signal::KILL);
            }
        }
        self.guard.end(Signal::KILL)?;
        // A process that has not ended yet still holds the shared memory, with which no server would start.
        wait_for("the end of PostgreSQL's processes", || killed.iter().all(|process| has_ended(*process)).then_some(()))
    }

    /// Ends the server in order; its connections are closed.
    ///
    /// # Errors
    /// The guard of the server is gone.
    pub fn stop(&self) -> Result<(), String> {
        self.guard.end(Signal::INT)
    }

    /// Starts the server on the same port after [`stop`](Postgres::stop) or [`kill9`](Postgres::kill9), and waits until it accepts connections.
    ///
    /// # Errors
    /// The end of the server's log.
    pub fn restart(&self) -> Result<(), String> {
        self.guard.start()?;
        let status = self.guard.folder().join("data/postmaster.pid");
        let ready = wait_for("PostgreSQL starts", || {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let own = self.guard.server().is_some_and(|server| lines.first() == Some(&server.to_string().as_str()));
            if own && lines.get(7) == Some(&"ready") {
                return Some(true);
            }
            self.guard.died().then_some(false)
        });
        match ready {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => {
                self.guard.end(Signal::QUIT)?;
                Err(format!("PostgreSQL does not start:\n{}", self.guard.log()))
            }
        }
    }

    /// Stops all processes of the server (SIGSTOP) until [`resume`](Postgres::resume): it accepts connections and answers nothing.
    pub fn pause(&self) {
        self.signal_all(Signal::STOP);
    }

    /// Lets a paused server go on.
    pub fn resume(&self) {
        self.signal_all(Signal::CONT);
    }

    fn signal_all(&self, signal: Signal) {
        if let Some(server) = self.guard.server() {
            // The parent is the first to be stopped, so that its list of children is complete.
            let _ = kill_process(server, signal);
            for process in children(server) {
                let _ = kill_process(process, signal);
            }
        }
    }

    /// A connection that does nothing.
    ///
    /// # Errors
    /// Why the server gave none, such as that it has no more.
    pub fn hold_connection(&self, database: &str) -> Result<HeldConnection, String> {
        let mut command = self.psql_command(database);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|e| format!("cannot start psql: {e}"))?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (Some(mut input), Some(output)) = (input, output) else { return Err("psql has no streams".to_owned()) };
        let mut line = String::new();
        let _ = input.write_all(b"SELECT 'connected';\n");
        let _ = BufReader::new(output).read_line(&mut line);
        if line.trim() == "connected" {
            return Ok(HeldConnection { process, _input: input });
        }
        drop(input);
        let output = process.wait_with_output().map_err(|e| format!("psql: {e}"))?;
        Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
    }

    /// The folder of the server's own disk as the server names it, for a tablespace, and as this process reaches it while the server runs.
    pub fn small_disk(&self) -> Option<(PathBuf, PathBuf)> {
        let folder = self.guard.folder().join(SMALL_DISK);
        let root = format!("/proc/{}/root", self.guard.server()?);
        let reached = Path::new(&root).join(folder.strip_prefix("/").ok()?);
        Some((folder, reached))
    }

    /// The end of the server's log.
    pub fn log(&self) -> String {
        self.guard.log()
    }

    /// The folder of the server, removed with it.
    pub fn folder(&self) -> &Path {
        self.guard.folder()
    }
}

/// A connection that does nothing until it is dropped.
pub struct HeldConnection {
    process: Child,
    /// psql ends with it.
    _input: ChildStdin,
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SMALL_DISK: &str = "small";

/// The start of a command line that continues with an empty disk in `folder`, which nobody else sees and which ends with it.
fn with_disk(folder: &Path, size: u32, account: &Account) -> Result<Vec<String>, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root can give a server a disk of its own".to_owned());
    }
    std::fs::create_dir(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let mut mount = format!("mount -t tmpfs -o size={size}m,mode=700");
    if let Some((user, group)) = account.ids() {
        let _ = write!(mount, ",uid={user},gid={group}");
    }
    let script = format!("{mount} none \"$0\" && exec \"$@\"");
    Ok(["unshare", "--mount", "sh", "-c", &script]
        .map(str::to_owned)
        .into_iter()
        .chain([folder.display().to_string()])
        .collect())
}

/// The newest PostgreSQL of Debian's packages, or that of the search path.
fn find_programs() -> Option<PathBuf> {
    let complete = |folder: &PathBuf| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    if let Some(named) = std::env::var_os("KARAT_TEST_POSTGRES").filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(named)).filter(complete);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders =
        versions.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin"))));
    let newest = folders.filter(|(_, folder)| complete(folder)).max().map(|(_, folder)| folder);
    newest.or_else(|| std::env::split_paths(&std::env::var_os("PATH")?).find(complete))
}

fn create_cluster(programs: &Path, guard: &Guard, account: &Account, data: &Path) -> Result<(), String> {
    let password = guard.folder().join("password");
    std::fs::write(&password, "karat\n").map_err(|e| format!("cannot write {}: {e}", password.display()))?;
    account.give(&password)?;
    let mut line = account.prefix();
    line.extend([programs.join("initdb").display().to_string()]);
    let create = |locale: &[&str]| {
        let mut command = Command::new(&line[0]);
        guard::clean(&mut command, guard.folder());
        command.args(&line[1..]).args(["--username=karat", "--auth=scram-sha-256", "--encoding=UTF8", "--no-sync"]);
        command.arg("--locale=C.UTF-8").args(locale).arg("--pwfile").arg(&password).arg("-D").arg(data);
        output_of(&mut command).map(drop)
    };
    // Versions before 15 and those built without ICU cannot sort by the rules of a language that the system does not have.
    create(&["--locale-provider=icu", "--icu-locale=en-US"])
        .or_else(|_| create(&[]))
        .map_err(|why| format!("initdb failed: {why}"))
}

fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|e| format!("cannot start {}: {e}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
}

/// Whether a process is gone, or nothing of it is left but its exit status.
fn has_ended(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next())
        .is_none_or(|state| matches!(state, "Z" | "X"))
}

/// The processes that this one started, as Linux tells of them.
fn children(parent: Pid) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = entries.filter_map(|entry| {
        let process: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // `PID (NAME) STATE PARENT …`, and a name may hold anything.
        let of: i32 = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        if of == parent.as_raw_nonzero().get() { Pid::from_raw(process) } else { None }
    });
    own.collect()
}
