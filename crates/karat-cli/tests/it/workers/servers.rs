//! Databases, object storage, disks and clocks that fail while workers are at work.

use super::judge::{LONG_LEASE, PLAN, check_questions, model, site_with_judge_at};
use super::{PAUSED, Process, SHORT, Server, Site, wait_for};
use crate::judge_engine::server::Server as Model;
use crate::project::{report_skipped, root};
use karat_test_servers::{Options, Postgres, Proxy, S3, or_skip};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A site with a judge on a server of its own.
fn own_site_with_judge(options: &Options, cases: usize, model: &Model) -> Option<Site> {
    let postgres = or_skip(Postgres::start(options))?;
    Some(site_with_judge_at(Server::Own(Box::new(postgres)), cases, model, "budget_usd = 5.0\nconcurrency = 2"))
}

#[test]
fn killed_database_interrupts_a_run_and_loses_nothing() {
    let Some(site) = Site::with_own_server(&Options::default(), 25, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("");
    let mut workers = [site.worker("-j 1"), site.worker("-j 1")];
    for least in [5, 20, 35] {
        site.wait_for_trials(least);
        site.postgres().kill9().unwrap();
        site.postgres().restart().unwrap();
    }
    site.check_when_followed(&mut planner, &expected);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

/// What a model has answered is stored as soon as the database is back.
#[test]
fn killed_database_makes_nobody_pay_twice() {
    let (model, reference) = (model(), model());
    let Some(mut site) = own_site_with_judge(&Options::default(), 20, &model) else { return };
    let expected = super::judge::run_on_one_machine(&mut site, &reference, &model);
    let mut planner = site.plan(PLAN);
    let mut workers = [site.worker(LONG_LEASE), site.worker(LONG_LEASE)];
    for least in [3, 15, 30] {
        wait_for("requests", || (model.requests() >= least).then_some(()));
        site.postgres().kill9().unwrap();
        site.postgres().restart().unwrap();
    }
    site.check_when_followed(&mut planner, &expected);
    check_questions(&site, &model, &reference);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

/// Prints so much that it does not fit into the database.
const LARGE: &str = "head -c 1600000 /dev/urandom >&2";

/// A site with object storage, of which the database does not know yet.
fn site_with_storage(cases: usize) -> Option<(Site, S3)> {
    let storage = or_skip(S3::start())?;
    let mut site = Site::with_own_server(&Options::default(), cases, &format!("{PAUSED}\n{LARGE}"))?;
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        site.variables.push((name.to_owned(), "test".to_owned()));
    }
    Some((site, storage))
}

/// Starts two workers on a run whose large artifacts go to object storage, and waits until six trials are stored and the
/// others have paused.
fn start_with_storage(site: &Site, storage: &S3) -> (Process, [Process; 2]) {
    site.write("hold");
    // Only six trials run freely, so that none of them may be done again because a busy machine renews its lease too late.
    let planner = site.plan("");
    let (bucket, endpoint) = (storage.new_bucket().unwrap(), storage.endpoint());
    site.run(&format!("store artifacts s3://{bucket}/karat?endpoint={endpoint}&region=us-east-1")).expect(0);
    let workers = [site.worker("-j 1 --lease 10s"), site.worker("-j 1 --lease 10s")];
    site.wait_for_trials(6);
    site.wait_for_count("a worker waits for `go`", CLAIMING, |n| n > 0);
    (planner, workers)
}

const CLAIMING: &str = "SELECT COUNT(*) FROM queue_units WHERE state = 'claimed'";

fn check_objects(site: &Site, trials: usize) {
    let objects = site.count("SELECT COUNT(*) FROM artifacts WHERE coding LIKE 'object-%'");
    assert_eq!(objects, Some(i64::try_from(trials).unwrap()));
}

#[test]
fn run_completes_when_storage_was_away_and_the_database_was_not() {
    let Some((site, storage)) = site_with_storage(8) else { return };
    let expected = site.run_on_one_machine("");
    let (mut planner, mut workers) = start_with_storage(&site, &storage);
    storage.stop();
    site.write("go");
    // Leases are renewed all the while, although no result can be stored.
    let renewed = "SELECT MIN(until_ms) FROM queue_units WHERE state = 'claimed'";
    let first = site.count(renewed).unwrap();
    site.wait_for_count("claims are renewed", renewed, |until| until > first + 3_000);
    assert_eq!(site.count("SELECT COUNT(*) FROM trials"), Some(6), "stored without storage");
    storage.restart();
    site.check_when_followed(&mut planner, &expected);
    check_objects(&site, expected.trials);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

#[test]
fn run_completes_when_the_database_was_away_and_storage_was_not() {
    let Some((site, storage)) = site_with_storage(8) else { return };
    let expected = site.run_on_one_machine("");
    let (mut planner, mut workers) = start_with_storage(&site, &storage);
    site.postgres().stop().unwrap();
    site.write("go");
    planner.wait_for_error("cannot be reached");
    site.postgres().restart().unwrap();
    site.check_when_followed(&mut planner, &expected);
    check_objects(&site, expected.trials);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

fn with_small_disk() -> Options {
    Options { small_disk: Some(96), ..Options::default() }
}

/// Moves the site's database to a small disk.
fn move_to_small_disk(site: &Site) {
    let (named, _) = site.postgres().small_disk().unwrap();
    let admin = |sql: &str| site.postgres().psql("postgres", sql).unwrap();
    admin(&format!("CREATE TABLESPACE small LOCATION '{}'", named.display()));
    admin(&format!("ALTER DATABASE {} SET TABLESPACE small", site.database));
}

/// A file that leaves no room on the small disk until it is dropped.
struct Filler(PathBuf);

impl Filler {
    fn new(site: &Site) -> Self {
        let (_, reached) = site.postgres().small_disk().unwrap();
        let filler = Self(reached.join("filler"));
        let mut file = std::fs::File::create(&filler.0).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        filler
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// The disk of the database is full, and is given room again.
#[test]
fn run_completes_when_the_disk_of_the_database_was_full() {
    // Every result needs new pages.
    let script = format!("{PAUSED}\nhead -c 300000 /dev/urandom >&2");
    let Some(site) = Site::with_own_server(&with_small_disk(), 10, &script) else { return };
    move_to_small_disk(&site);
    let expected = site.run_on_one_machine("");
    site.write("hold");
    let mut planner = site.plan("");
    let mut workers = [site.worker("-j 1 --lease 10s"), site.worker("-j 1 --lease 10s")];
    site.wait_for_trials(6);
    let filler = Filler::new(&site);
    site.write("go");
    for worker in &workers {
        worker.wait_for_error("the disk is full");
    }
    assert!(site.count("SELECT COUNT(*) FROM trials").unwrap() < 20);
    drop(filler);
    site.check_when_followed(&mut planner, &expected);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

/// Answers wait until there is room for them.
#[test]
fn full_disk_makes_nobody_pay_twice() {
    let (model, reference) = (model(), model());
    let Some(mut site) = own_site_with_judge(&with_small_disk(), 20, &model) else { return };
    move_to_small_disk(&site);
    let expected = super::judge::run_on_one_machine(&mut site, &reference, &model);
    let mut planner = site.plan(PLAN);
    let mut workers = [site.worker(LONG_LEASE), site.worker(LONG_LEASE)];
    wait_for("requests", || (model.requests() >= 3).then_some(()));
    let filler = Filler::new(&site);
    let refused = || site.postgres().log().matches("No space left on device").count();
    wait_for("nothing can be stored", || (refused() > 5).then_some(()));
    drop(filler);
    site.check_when_followed(&mut planner, &expected);
    check_questions(&site, &model, &reference);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

/// Workers that get no connection wait for one.
#[test]
fn run_completes_when_the_server_has_too_few_connections() {
    let options = Options { max_connections: 10, ..Options::default() };
    let Some(site) = Site::with_own_server(&options, 10, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("");
    let mut workers: Vec<_> = (0..8).map(|_| site.worker("-j 1")).collect();
    let ran = planner.wait().expect(0);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
    assert_eq!(super::followed(&ran.err), Some(expected.trials), "{}", ran.err);
    // The workers keep connections while they wait for the next run.
    drop(workers);
    site.check(&expected);
}

/// Others take every connection that workers lose, and give them back later.
#[test]
fn run_completes_when_all_connections_were_taken() {
    let options = Options { max_connections: 20, ..Options::default() };
    let Some(mut site) = Site::with_own_server(&options, 20, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, site.postgres().port()))).unwrap();
    site.url = proxy.through(&site.url);
    let mut planner = site.plan("");
    let mut workers = [site.worker("-j 1"), site.worker("-j 1")];
    site.wait_for_trials(3);
    proxy.refuse(true);
    proxy.cut();
    let mut held = Vec::new();
    wait_for("no connection is left", || match site.postgres().hold_connection(&site.database) {
        Ok(connection) => {
            held.push(connection);
            None
        }
        Err(why) => {
            assert!(why.contains("too many clients") || why.contains("reserved"), "{why}");
            Some(())
        }
    });
    proxy.refuse(false);
    // One of them was the connection that could not be held.
    wait_for("others get no connection", || {
        (site.postgres().log().matches("too many clients").count() > 5).then_some(())
    });
    drop(held);
    site.check_when_followed(&mut planner, &expected);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
}

/// Sessions of others that lock what workers lock, in the opposite order. The server ends one side of each deadlock.
const OPPOSITE_LOCKS: &str = "BEGIN; SELECT COUNT(*) FROM (SELECT 1 FROM queue_units ORDER BY position DESC FOR UPDATE) AS units; \
     SELECT pg_sleep(0.02); SELECT COUNT(*) FROM (SELECT 1 FROM judge_budgets FOR UPDATE) AS budgets; \
     SELECT COUNT(*) FROM (SELECT 1 FROM asked_questions ORDER BY key DESC FOR UPDATE) AS questions; \
     SELECT COUNT(*) FROM (SELECT 1 FROM runs FOR UPDATE) AS runs; COMMIT";

/// Ends others also when a test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Every 40th row that a worker reads or writes is a conflict: policies of rows are called for each, and count also what is undone.
const STORM: &str = "CREATE SEQUENCE storm; GRANT USAGE ON storm TO WORKER; \
     CREATE FUNCTION storm() RETURNS boolean LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN \
     IF current_setting('transaction_read_only') = 'on' THEN n := 1 + floor(random() * 80); ELSE n := nextval('storm'); END IF; \
     IF n % 80 = 0 THEN RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001'; END IF; \
     IF n % 80 = 40 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF; RETURN true; END $$; \
     DO $$ DECLARE name text; BEGIN FOREACH name IN ARRAY ARRAY['runs', 'trials', 'queue_units', 'asked_questions', 'judge_budgets', 'ledger'] \
     LOOP EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name); \
     EXECUTE format('CREATE POLICY storm ON %I USING (storm()) WITH CHECK (storm())', name); END LOOP; END $$";

#[test]
fn run_completes_in_a_storm_of_deadlocks_and_serialization_failures() {
    let settings = vec![("deadlock_timeout".to_owned(), "20ms".to_owned())];
    let (model, reference) = (model(), model());
    let Some(mut site) = own_site_with_judge(&Options { settings, ..Options::default() }, 12, &model) else { return };
    let expected = super::judge::run_on_one_machine(&mut site, &reference, &model);
    let admin = |sql: &str| site.postgres().psql(&site.database, sql).unwrap();
    admin(&format!("ALTER DATABASE {} SET default_transaction_isolation TO 'serializable'", site.database));
    let mut planner = site.plan(PLAN);
    // Policies do not concern the owner, so that workers are somebody else, as in earnest.
    let roles = std::fs::read_to_string(root().join("deploy/postgres/roles.sql")).unwrap();
    admin(&roles);
    admin("ALTER ROLE karat_worker PASSWORD 'karat'");
    admin(&STORM.replace("WORKER", "karat_worker"));
    let url = site.url.replace("karat:karat@", "karat_worker:karat@");
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let end = SetOnDrop(&ended);
        for _ in 0..2 {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    // It may be the one that is ended.
                    let _ = site.postgres().psql(&site.database, OPPOSITE_LOCKS);
                }
            });
        }
        let mut workers: Vec<Process> = (0..4).map(|_| site.worker_at(&url, LONG_LEASE)).collect();
        wait_for("the run ends", || {
            assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
            (!planner.is_running()).then_some(())
        });
        drop(end);
    });
    site.check_when_followed(&mut planner, &expected);
    check_questions(&site, &model, &reference);
    let injected = site.count("SELECT last_value / 40 FROM storm").unwrap();
    assert!(injected >= 5, "{injected}");
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    site.wait_for_count("deadlocks are counted", deadlocks, |n| n > 0);
}

/// Adds `HOURS` to what the clock says.
const WRONG_CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long late(void) { return atol(getenv("HOURS")) * 3600; }
int clock_gettime(clockid_t clock, struct timespec *now) {
  int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, now);
  if (!failed && clock == CLOCK_REALTIME) now->tv_sec += late();
  return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec own;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &own);
  now->tv_sec = own.tv_sec;
  now->tv_usec = own.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *now) {
  struct timespec own;
  clock_gettime(CLOCK_REALTIME, &own);
  if (now) *now = own.tv_sec;
  return own.tv_sec;
}
"#;

/// Leases are counted by the database's clock alone.
#[test]
fn clock_of_a_worker_may_be_wrong() {
    let Some(site) = Site::new(20, SHORT) else { return };
    site.project.write("clock.c", WRONG_CLOCK);
    let library = site.project.path("clock.so").display().to_string();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o", &library]).arg(site.project.path("clock.c")).arg("-ldl");
    if !compiler.output().is_ok_and(|output| output.status.success()) {
        return report_skipped("there is no C compiler that makes a wrong clock");
    }
    let seconds = |hours: &str| {
        let mut date = Command::new("date");
        date.arg("+%s").env("LD_PRELOAD", &library).env("HOURS", hours);
        String::from_utf8(date.output().unwrap().stdout).unwrap().trim().parse::<i64>().unwrap()
    };
    assert!((3_500..3_700).contains(&(seconds("1") - seconds("0"))), "the clock is right");
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("");
    let line = "worker --isolation process --lease 60s -j 1";
    let start = |hours| site.start_at(&site.url, line, &[("LD_PRELOAD", library.as_str()), ("HOURS", hours)]);
    let _workers = [start("-1"), start("1"), start("0")];
    site.check_when_followed(&mut planner, &expected);
    assert_eq!(site.count("SELECT COUNT(*) FROM queue_units WHERE tries > 1"), Some(0), "a lease ended too early");
}
