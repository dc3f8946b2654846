//! Networks, servers and pools between workers and their database that fail.

use super::judge::{LONG_LEASE, PLAN, check_questions, model, run_on_one_machine, site_with_judge};
use super::{HELD, Process, SHORT, Site, wait_for};
use karat_test_servers::{Moment, Options, PgBouncer, Proxy, or_skip};
use rustix::process::Signal;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// A proxy in front of the site's server, through which all its processes connect.
fn put_proxy_before(site: &mut Site) -> Proxy {
    let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, site.postgres().port()))).unwrap();
    site.url = proxy.through(&site.url);
    proxy
}

/// Trials and answers.
const DONE: &str = "SELECT (SELECT COUNT(*) FROM trials) + (SELECT COUNT(*) FROM ledger)";

fn check_commits_that_are_cut(moment: Moment) {
    let (model, reference) = (model(), model());
    let Some(mut site) = site_with_judge(20, &model, "budget_usd = 5.0\nconcurrency = 2") else { return };
    let expected = run_on_one_machine(&mut site, &reference, &model);
    let proxy = put_proxy_before(&mut site);
    let mut planner = site.plan(PLAN);
    let mut workers = [site.worker(LONG_LEASE), site.worker(LONG_LEASE)];
    // One after the other, so that the question what became of a commit can be answered.
    while planner.is_running() && proxy.triggered() < 30 {
        let before = proxy.triggered();
        proxy.cut_when(b"COMMIT\0", moment, 1);
        wait_for("a commit", || (proxy.triggered() > before || !planner.is_running()).then_some(()));
        let done = site.count(DONE).unwrap_or(0);
        let more = || site.count(DONE).filter(|n| *n > done);
        wait_for("the next unit", || (more().is_some() || !planner.is_running()).then_some(()));
    }
    site.check_when_followed(&mut planner, &expected);
    check_questions(&site, &model, &reference);
    assert!(workers.iter_mut().all(Process::is_running), "a worker ended:\n{}", site.logs());
    assert!(proxy.triggered() > 5, "{} connections were cut", proxy.triggered());
}

#[test]
fn commits_that_do_not_reach_the_server_are_repeated() {
    check_commits_that_are_cut(Moment::Before);
}

#[test]
fn commits_whose_answer_is_lost_are_not_doubled() {
    check_commits_that_are_cut(Moment::After);
}

/// The answer to a claim is lost, and the database is restarted, so that nobody can say whether it was made. It was, and must not
/// stay with a worker that does not know of it and renews it.
#[test]
fn claim_that_nobody_knows_of_is_given_back() {
    let Some(mut site) = Site::with_own_server(&Options::default(), 2, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let direct = site.url.clone();
    let proxy = put_proxy_before(&mut site);
    let through = std::mem::replace(&mut site.url, direct);
    // There is a store, and nothing left to do in it.
    site.run(super::run_line()).expect(0);
    let mut worker = site.worker_at(&through, "-j 1 --lease 60s");
    wait_for("the worker connects", || (proxy.connections() >= 2).then_some(()));
    let mut planner = loop {
        proxy.stall(true);
        let mut planner = site.plan("");
        let before = proxy.triggered();
        proxy.refuse(true);
        proxy.cut_when(b"COMMIT\0", Moment::After, 1);
        proxy.stall(false);
        wait_for("a commit", || (proxy.triggered() > before).then_some(()));
        if site.count("SELECT COUNT(*) FROM queue_units WHERE state = 'claimed'") == Some(1) {
            break planner;
        }
        // It was the commit of something else.
        proxy.refuse(false);
        planner.wait().expect(0);
    };
    site.postgres().kill9().unwrap();
    site.postgres().restart().unwrap();
    proxy.refuse(false);
    site.check_when_followed(&mut planner, &expected);
    assert!(worker.is_running(), "{}", worker.everything());
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
    let other = site.worker("-j 1");
    site.check_when_followed(&mut planner, &expected);
    proxy.stall(false);
    cut_off.wait_for_error("everything under way was ended");
    assert!(cut_off.is_running(), "{}", cut_off.everything());
    drop(other);
    site.check_when_followed(&mut site.plan(""), &expected);
}

#[test]
fn sigterm_ends_a_worker_whose_network_hangs() {
    let Some(mut site) = Site::new(3, HELD) else { return };
    let expected = site.run_on_one_machine("");
    let direct = site.url.clone();
    let proxy = put_proxy_before(&mut site);
    let through = std::mem::replace(&mut site.url, direct);
    site.write("hold");
    let mut planner = site.plan("");
    let mut cut_off = site.worker_at(&through, "-j 1 --grace 1s --lease 60s");
    site.wait_for_file("started");
    proxy.stall(true);
    let began = Instant::now();
    cut_off.signal(Signal::TERM);
    cut_off.wait().expect(0);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(!site.has_tool_process(), "a tool survived");
    // Its lease has not ended, and it could give nothing back.
    let sql = "UPDATE queue_units SET until_ms = 1 WHERE state = 'claimed'";
    site.postgres().psql(&site.database, sql).unwrap();
    site.write("go");
    let _other = site.worker("-j 1");
    site.check_when_followed(&mut planner, &expected);
}

#[test]
fn run_completes_through_a_pool_in_transaction_mode() {
    let Some(mut site) = Site::new(10, SHORT) else { return };
    let Some(bouncer) = or_skip(PgBouncer::start(site.postgres())) else { return };
    let expected = site.run_on_one_machine("");
    site.url = bouncer.through(&site.url);
    let mut planner = site.plan("");
    let _workers: Vec<_> = (0..4).map(|_| site.worker("-j 1")).collect();
    site.check_when_followed(&mut planner, &expected);
}
