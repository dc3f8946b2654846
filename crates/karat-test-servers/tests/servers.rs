//! The servers themselves: they start, keep what they promise to keep, and are gone with the process that started them.

// Helpers are allowed to panic as tests are: this whole crate is a test.
#![cfg(test)]

use karat_test_servers::{Moment, Options, PgBouncer, Postgres, Proxy, S3, Slurm, or_skip, wait_for};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn database_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

#[test]
fn databases_of_the_shared_server_are_empty_and_separate() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let (first, second) = (postgres.new_database().unwrap(), postgres.new_database().unwrap());
    assert_ne!(first, second);
    postgres.psql(database_of(&first), "CREATE TABLE only_here (id int)").unwrap();
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'only_here'";
    assert_eq!(postgres.psql(database_of(&first), tables).unwrap(), "1");
    assert_eq!(postgres.psql(database_of(&second), tables).unwrap(), "0");
    assert!(postgres.psql("postgres", "SELECT 1/0").unwrap_err().contains("division by zero"));
}

#[test]
fn a_killed_server_keeps_what_was_committed() {
    let Some(postgres) = or_skip(Postgres::start(&Options::default())) else { return };
    let url = postgres.new_database().unwrap();
    let database = database_of(&url);
    postgres.psql(database, "CREATE TABLE kept AS SELECT 7 AS value").unwrap();
    postgres.kill9().unwrap();
    assert!(postgres.psql(database, "SELECT 1").is_err());
    postgres.restart().unwrap();
    assert_eq!(postgres.psql(database, "SELECT value FROM kept").unwrap(), "7");
    postgres.stop().unwrap();
    assert!(postgres.psql(database, "SELECT 1").is_err());
    postgres.restart().unwrap();
    assert_eq!(postgres.psql(database, "SELECT value FROM kept").unwrap(), "7");
}

#[test]
fn settings_reach_the_server() {
    let settings = vec![("statement_timeout".to_owned(), "1234ms".to_owned())];
    let options = Options { max_connections: 17, settings, ..Options::default() };
    let Some(postgres) = or_skip(Postgres::start(&options)) else { return };
    assert_eq!(postgres.psql("postgres", "SHOW max_connections").unwrap(), "17");
    assert_eq!(postgres.psql("postgres", "SHOW statement_timeout").unwrap(), "1234ms");
    assert_eq!(postgres.psql("postgres", "SHOW fsync").unwrap(), "on");
}

/// Names the file that the child of the test below writes to; without it the child's test does nothing.
const CHILD: &str = "KARAT_TEST_SERVERS_CHILD";

/// Not a test of its own: the process that is killed below.
#[test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn child_that_is_killed_with_its_servers() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let postgres = Postgres::shared().unwrap();
    let bouncer = PgBouncer::start(postgres).ok();
    let url = bouncer.as_ref().map(|bouncer| bouncer.through(&postgres.url())).unwrap_or_default();
    println!("\nstarted {} {} {url}", postgres.port(), postgres.folder().display());
    // Until it is killed.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

#[test]
fn servers_are_gone_when_the_process_is_killed() {
    let Some(_) = or_skip(Postgres::shared()) else { return };
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["child_that_is_killed_with_its_servers", "--exact", "--nocapture"]).env(CHILD, "1");
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Kept until the end: a child that cannot print ends by itself.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("started ")).expect("the child started no server");
    let words: Vec<&str> = line.split(' ').collect();
    let folder = PathBuf::from(words[2]);
    let mut addresses: Vec<SocketAddr> = vec![format!("127.0.0.1:{}", words[1]).parse().unwrap()];
    let bouncer = words[3].split(['@', '/']).nth(3).map(|address| address.parse::<SocketAddr>().unwrap());
    addresses.extend(bouncer);
    assert!(folder.exists());
    for address in &addresses {
        TcpStream::connect(address).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    for address in &addresses {
        wait_for("the server ends", || TcpStream::connect(address).is_err().then_some(())).unwrap();
    }
    wait_for("the folder is removed", || (!folder.exists()).then_some(())).unwrap();
}

#[test]
fn pool_changes_connections_between_transactions() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let Some(bouncer) = or_skip(PgBouncer::start(postgres)) else { return };
    let url = bouncer.through(&postgres.new_database().unwrap());
    let psql = |sql: &str| {
        let output = Command::new("psql").args(["-X", "-A", "-t", "-q", &url, "-c", sql]).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    assert_eq!(psql("SELECT 1"), (true, "1".to_owned()));
    // What a session sets is seen by whoever gets its connection next.
    assert!(psql("SET application_name = 'left behind'").0);
    assert!(psql("SET statement_timeout = 4321").0);
    assert_eq!(psql("SHOW statement_timeout"), (true, "4321ms".to_owned()));
    bouncer.stop().unwrap();
    assert!(!psql("SELECT 1").0);
    bouncer.restart().unwrap();
    assert!(psql("SELECT 1").0);
}

#[test]
fn storage_keeps_objects_while_it_is_stopped() {
    let Some(storage) = or_skip(S3::start()) else { return };
    let bucket = storage.new_bucket().unwrap();
    let send = |text: &str| -> std::io::Result<String> {
        let mut stream = TcpStream::connect(storage.proxy().address())?;
        let text = text.replace("HOST", &storage.proxy().address().to_string());
        stream.write_all(text.as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        if reply.is_empty() { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(reply) }
    };
    // moto takes any key, and no request without one.
    let headers = "Host: HOST\r\nConnection: close\r\nAuthorization: AWS4-HMAC-SHA256 \
                   Credential=test/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let put = format!("PUT /{bucket}/key HTTP/1.1\r\n{headers}\r\nContent-Length: 4\r\n\r\nhere");
    let get = format!("GET /{bucket}/key HTTP/1.1\r\n{headers}\r\n\r\n");
    let stored = send(&put).unwrap();
    assert!(stored.contains(" 200 "), "{stored}");
    let read = send(&get).unwrap();
    assert!(read.ends_with("\r\n\r\nhere"), "{read}");
    storage.stop();
    assert!(send(&get).is_err());
    storage.restart();
    assert!(send(&get).unwrap().ends_with("\r\n\r\nhere"));
}

#[test]
fn cluster_runs_jobs() {
    let Some(slurm) = or_skip(Slurm::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\necho \"$SLURM_ARRAY_TASK_ID\" >\"task-$SLURM_ARRAY_TASK_ID\"\n";
    std::fs::write(folder.path().join("job"), script).unwrap();
    let mut submit = slurm.command("sbatch");
    let output =
        submit.args(["--wait", "--array=1-3", "--output=/dev/null", "job"]).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), slurm.log());
    for task in ["1", "2", "3"] {
        let written = std::fs::read_to_string(folder.path().join(format!("task-{task}"))).unwrap();
        assert_eq!(written.trim(), task);
    }
}

/// A server that answers every line with `got LINE`, and a list of what it got.
fn echo() -> (SocketAddr, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (lines, got) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let lines = lines.clone();
            std::thread::spawn(move || {
                let mut answers = stream.try_clone().unwrap();
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let answer = format!("got {line}\n");
                    let _ = lines.send(line);
                    if answers.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, got)
}

/// The answer to a line; nothing where the connection was cut.
fn ask(stream: &TcpStream, line: &str) -> Option<String> {
    let mut sender = stream;
    sender.write_all(format!("{line}\n").as_bytes()).ok()?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
}

#[test]
fn proxy_cuts_and_refuses() {
    let (server, _got) = echo();
    let proxy = Proxy::start(server).unwrap();
    let connect = || TcpStream::connect(proxy.address()).unwrap();
    let stream = connect();
    assert_eq!(ask(&stream, "one").as_deref(), Some("got one"));
    assert_eq!(proxy.connections(), 1);
    proxy.refuse(true);
    assert_eq!(ask(&connect(), "two"), None);
    assert_eq!(ask(&stream, "three").as_deref(), Some("got three"));
    proxy.cut();
    assert_eq!(ask(&stream, "four"), None);
    proxy.refuse(false);
    assert_eq!(ask(&connect(), "five").as_deref(), Some("got five"));
}

#[test]
fn proxy_cuts_at_given_bytes() {
    let (server, got) = echo();
    let proxy = Proxy::start(server).unwrap();
    let connect = || TcpStream::connect(proxy.address()).unwrap();
    proxy.cut_when(b"COMMIT", Moment::Before, 1);
    let stream = connect();
    assert_eq!(ask(&stream, "BEGIN").as_deref(), Some("got BEGIN"));
    assert_eq!(ask(&stream, "COMMIT 1"), None);
    assert_eq!(proxy.triggered(), 1);
    // Once only, and the server never got it.
    assert_eq!(ask(&connect(), "COMMIT 2").as_deref(), Some("got COMMIT 2"));
    assert_eq!(got.try_iter().collect::<Vec<_>>(), ["BEGIN", "COMMIT 2"]);

    proxy.cut_when(b"COMMIT", Moment::After, 1);
    let stream = connect();
    // In two parts.
    (&stream).write_all(b"COM").unwrap();
    assert_eq!(ask(&stream, "MIT 3"), None);
    assert_eq!(proxy.triggered(), 2);
    assert_eq!(got.try_iter().collect::<Vec<_>>(), ["COMMIT 3"]);
    assert_eq!(ask(&connect(), "COMMIT 4").as_deref(), Some("got COMMIT 4"));
}

#[test]
fn proxy_stalls() {
    let (server, got) = echo();
    let proxy = Proxy::start(server).unwrap();
    let stream = TcpStream::connect(proxy.address()).unwrap();
    assert_eq!(ask(&stream, "one").as_deref(), Some("got one"));
    assert_eq!(got.recv().unwrap(), "one");
    proxy.stall(true);
    (&stream).write_all(b"two\n").unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
    assert!((&stream).read(&mut [0; 10]).is_err());
    assert!(got.try_recv().is_err());
    proxy.stall(false);
    assert_eq!(got.recv().unwrap(), "two");
    stream.set_read_timeout(None).unwrap();
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).unwrap();
    assert_eq!(answer, "got two\n");
    assert_eq!(
        proxy.through("postgres://karat:karat@127.0.0.1:1/name"),
        format!("postgres://karat:karat@{}/name", proxy.address())
    );
}
