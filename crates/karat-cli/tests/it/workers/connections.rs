//! Networks, servers and pools between workers and their database that fail.

use super::{HELD, Process, SHORT, Site, wait_for, without_seconds};
use karat_test_servers::{Moment, Options, PgBouncer, Proxy, or_skip};
use std::net::{Ipv4Addr, SocketAddr};

/// A proxy in front of the site's server, through which all its processes connect.
fn put_proxy_before(site: &mut Site) -> Proxy {
    let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, site.postgres().port()))).unwrap();
    site.url = proxy.through(&site.url);
    proxy
}

fn check_commits_that_are_cut(moment: Moment) {
    let Some(mut site) = Site::new(20, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let proxy = put_proxy_before(&mut site);
    let mut planner = site.plan("--max-tries 100");
    let mut workers = [site.worker("-j 1"), site.worker("-j 1")];
    // One after the other, so that the question what became of a commit can be answered.
    while planner.is_running() && proxy.triggered() < 30 {
        let before = proxy.triggered();
        proxy.cut_when(b"COMMIT", moment, 1);
        wait_for("a commit", || (proxy.triggered() > before || !planner.is_running()).then_some(()));
        let recorded = site.count("SELECT COUNT(*) FROM trials").unwrap_or(0);
        let more = || site.count("SELECT COUNT(*) FROM trials").filter(|n| *n > recorded);
        wait_for("the next trial", || (more().is_some() || !planner.is_running()).then_some(()));
    }
    planner.wait().expect(0);
    assert!(workers.iter_mut().all(Process::is_running), "a worker ended:\n{}", site.logs());
    assert!(proxy.triggered() > 5, "{} connections were cut", proxy.triggered());
    site.check(&expected);
}

#[test]
fn commits_that_do_not_reach_the_server_are_repeated() {
    check_commits_that_are_cut(Moment::Before);
}

/// A worker that cannot renew ends what it does, although the network only hangs and reports no error.
#[test]
fn hanging_network_ends_trials_and_others_take_over() {
    let Some(mut site) = Site::new(3, HELD) else { return };
    let expected = site.run_on_one_machine("");
    let direct = site.url.clone();
    let proxy = put_proxy_before(&mut site);
    let through = std::mem::replace(&mut site.url, direct);
    site.write("hold");
    let mut planner = site.plan("");
    let mut cut_off = site.worker_at(&through, "-j 1");
    site.wait_for_file("started");
    proxy.stall(true);
    wait_for("the tool's end", || (!site.has_tool_process()).then_some(()));
    site.write("go");
    let _other = site.worker("-j 1");
    planner.wait().expect(0);
    site.check(&expected);
    proxy.stall(false);
    cut_off.wait_for_error("everything under way was ended");
    assert!(cut_off.is_running(), "{}", cut_off.everything());
    drop(_other);
    site.plan("").wait().expect(0);
    site.check(&expected);
}

#[test]
fn killed_database_interrupts_a_run_and_loses_nothing() {
    let Some(site) = Site::with_own_server(&Options::default(), 25, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("--max-tries 100");
    let mut workers = [site.worker("-j 1"), site.worker("-j 1")];
    for least in [5, 20, 35] {
        site.wait_for_trials(least);
        site.postgres().kill9().unwrap();
        site.postgres().restart().unwrap();
    }
    planner.wait().expect(0);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
    site.check(&expected);
}

#[test]
fn run_completes_through_a_pool_in_transaction_mode() {
    let Some(mut site) = Site::new(10, SHORT) else { return };
    let Some(bouncer) = or_skip(PgBouncer::start(site.postgres())) else { return };
    let expected = site.run_on_one_machine("");
    site.url = bouncer.through(&site.url);
    let mut planner = site.plan("");
    let _workers: Vec<_> = (0..4).map(|_| site.worker("-j 1")).collect();
    assert_eq!(without_seconds(&planner.wait().expect(0).out), expected.table);
    site.check(&expected);
}

/// Workers that get no connection wait for one.
#[test]
fn run_completes_when_the_server_has_too_few_connections() {
    let options = Options { max_connections: 10, ..Options::default() };
    let Some(site) = Site::with_own_server(&options, 10, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("--max-tries 100");
    let mut workers: Vec<_> = (0..8).map(|_| site.worker("-j 1")).collect();
    let ran = planner.wait().expect(0);
    assert!(workers.iter_mut().all(Process::is_running), "{}", site.logs());
    assert_eq!(without_seconds(&ran.out), expected.table);
    // The workers keep connections while they wait for the next run.
    drop(workers);
    site.check(&expected);
}

/// Leases are counted by the database's clock alone.
#[test]
fn clock_of_a_worker_may_be_wrong() {
    let Some(library) = std::env::var("KARAT_TEST_FAKETIME").ok().filter(|file| !file.is_empty()) else {
        return crate::project::report_skipped("KARAT_TEST_FAKETIME does not name libfaketime.so.1");
    };
    let Some(site) = Site::new(20, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("--max-tries 1");
    let late = [("LD_PRELOAD", library.as_str()), ("FAKETIME", "-1h")];
    let early = [("LD_PRELOAD", library.as_str()), ("FAKETIME", "+1h")];
    let line = "worker --isolation process --lease 2s -j 1";
    let _workers = [site.start_at(&site.url, line, &late), site.start_at(&site.url, line, &early), site.worker("-j 1")];
    planner.wait().expect(0);
    site.check(&expected);
    assert_eq!(site.count("SELECT COUNT(*) FROM queue_units WHERE tries > 1"), Some(0), "a lease ended too early");
}
