//! Workers that share a paid judge: one ledger, one budget, one rate.

use super::{Expected, Process, Site};
use crate::judge_engine::server::{Behaviour, Fault, Server, decision, hash};
use crate::project::CommandOutput;
use karat_test_servers::{Postgres, or_skip};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What the stub's usage of 800 and 60 tokens costs, by the prices below.
const MICRO_USD_PER_REQUEST: u64 = 11_000;

/// A site whose tool reports two findings in each trial that no other trial has, and whose judge has this configuration.
pub(super) fn site_with_judge(cases: usize, server: &Server, config: &str) -> Option<Site> {
    let postgres = or_skip(Postgres::shared())?;
    Some(site_with_judge_at(super::Server::Shared(postgres), cases, server, config))
}

pub(super) fn site_with_judge_at(database: super::Server, cases: usize, server: &Server, config: &str) -> Site {
    let mut site = Site::with(database, cases, "");
    let two = "n=$(cat \"$1/number\")\n\
               echo \"{\\\"findings\\\":[{\\\"title\\\":\\\"SQL $n.$KARAT_TRIAL first\\\",\\\"file\\\":\\\"app.py\\\",\\\"line_start\\\":2},\
               {\\\"title\\\":\\\"SQL $n.$KARAT_TRIAL second\\\",\\\"file\\\":\\\"app.py\\\",\\\"line_start\\\":2}]}\" > \"$2\"";
    site.add_tool("it", two, "");
    let judge = "provider = \"anthropic\"\nmodel = \"claude-test\"\nprice_in = 10.0\nprice_out = 50.0\nmax_tokens = 60";
    let suite = format!("[suite]\nname = \"small\"\n[judges.paid]\n{judge}\n{config}\n");
    site.project.write("suite/karat.toml", suite);
    use_server(&mut site, server);
    site
}

/// What one machine makes of the site's suite, with a model of the same answers.
pub(super) fn run_on_one_machine(site: &mut Site, reference: &Server, server: &Server) -> Expected {
    use_server(site, reference);
    let expected = site.run_on_one_machine(PLAN);
    use_server(site, server);
    expected
}

/// A model that takes a moment for each answer.
pub(super) fn model() -> Server {
    Server::start(Behaviour { latency: Duration::from_millis(20), ..Behaviour::GOOD })
}

/// Checks that each question was asked once, and that all of it is counted and within the budget. More may stay reserved than was
/// spent.
#[track_caller]
pub(super) fn check_questions(site: &Site, server: &Server, reference: &Server) {
    assert_eq!((server.requests(), server.after_success()), (reference.requests(), 0), "{}", site.logs());
    let spent = site.count("SELECT SUM(spent_micro_usd)::BIGINT FROM judge_budgets").unwrap();
    let spent = u64::try_from(spent).unwrap();
    assert!((server.requests() * MICRO_USD_PER_REQUEST..=5_000_000).contains(&spent), "{spent}");
}

fn use_server(site: &mut Site, server: &Server) {
    site.variables = variables(server);
}

fn variables(server: &Server) -> Vec<(String, String)> {
    let url = format!("http://127.0.0.1:{}", server.port);
    [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", "sk-test-5ecret0fTheHouse")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// No worker loses a lease because the machine is busy: its questions would be asked again.
pub(super) const LONG_LEASE: &str = "-j 1 --lease 60s";

pub(super) const PLAN: &str = "--trials 1 --judge paid";

#[test]
fn no_question_is_asked_twice_and_the_rate_is_shared() {
    // 10 requests a second for all workers together.
    let times = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&times);
    let server = Server::deciding_by_request(Behaviour::GOOD, move |body| {
        noted.lock().unwrap().push(Instant::now());
        Ok(decision(hash(body["messages"].to_string().as_bytes())))
    });
    let Some(mut site) = site_with_judge(30, &server, "requests_per_minute = 600\nbudget_usd = 5.0") else { return };
    let reference = Server::deciding_by_request(Behaviour::GOOD, |body| {
        Ok(decision(hash(body["messages"].to_string().as_bytes())))
    });
    let expected = run_on_one_machine(&mut site, &reference, &server);
    let mut planner = site.plan(PLAN);
    let _workers: Vec<_> = (0..4).map(|_| site.worker(LONG_LEASE)).collect();
    site.check_when_followed(&mut planner, &expected);
    check_questions(&site, &server, &reference);
    assert_eq!(server.requests(), 60);
    let times = times.lock().unwrap();
    let took = times[times.len() - 1].duration_since(times[0]);
    // The last request is allowed 5.9 seconds after the first; less by as much as the first was sent late.
    assert!(took > Duration::from_millis(2_900), "{took:?}");
}

#[test]
fn retry_after_makes_all_workers_wait() {
    const SECONDS: u32 = 4;
    let times = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&times);
    let refused = AtomicBool::new(false);
    let server = Server::deciding_by_request(Behaviour::GOOD, move |body| {
        noted.lock().unwrap().push(Instant::now());
        if !refused.swap(true, Ordering::Relaxed) {
            return Err(Fault::RetryAfter(SECONDS));
        }
        Ok(decision(hash(body["messages"].to_string().as_bytes())))
    });
    let Some(site) = site_with_judge(20, &server, "requests_per_minute = 600\nconcurrency = 1") else { return };
    let mut planner = site.plan(PLAN);
    let workers: Vec<_> = (0..4).map(|_| site.worker(LONG_LEASE)).collect();
    planner.wait().expect(0);
    site.check_records(20);
    assert_eq!(server.requests(), 41);
    let times = times.lock().unwrap();
    // Each other worker may have been allowed a request before the refusal was known, and a busy machine may send it late.
    let quiet = Duration::from_secs(1)..Duration::from_millis(u64::from(SECONDS) * 1000 - 100);
    let during = times.iter().filter(|time| quiet.contains(&time.duration_since(times[0]))).count();
    assert!(during < workers.len(), "{during} requests came while all were to wait");
}

#[test]
fn worker_without_the_judges_key_leaves_judging_and_scoring_to_others() {
    let server = server_that_takes_a_moment();
    let Some(mut site) = site_with_judge(4, &server, "key_env = \"KEY_OF_THE_JUDGE\"") else { return };
    site.variables.push(("KEY_OF_THE_JUDGE".to_owned(), "sk-test-5ecret0fTheHouse".to_owned()));
    let mut planner = site.plan(PLAN);
    let line = "worker --isolation process --lease 60s -j 1";
    let mut without = site.start_at(&site.url, line, &[("KEY_OF_THE_JUDGE", "")]);
    without.wait_for_error("its judge cannot be asked here: the variable KEY_OF_THE_JUDGE holds no key");
    site.wait_for_trials(4);
    assert_eq!(server.requests(), 0);
    let _with = site.worker(LONG_LEASE);
    planner.wait().expect(0);
    site.check_records(4);
    assert_eq!(server.requests(), 8);
    assert!(without.is_running(), "{}", without.everything());
}

#[test]
fn whoever_follows_a_run_is_told_why_it_was_stopped() {
    let server = Server::deciding_by_request(Behaviour::GOOD, |_| Err(Fault::Unauthorized));
    let Some(site) = site_with_judge(1, &server, "") else { return };
    let mut planner = site.plan(PLAN);
    let _worker = site.worker(LONG_LEASE);
    planner.wait().expect_error(5, &["was not judged and is stopped", "the key was rejected", "--resume"]);
    assert_eq!(site.json("store list --json")[0]["state"], "stopped");
}

/// Asks under a budget that does not suffice, and returns how many requests there were.
fn spend_all(site: &Site, server: &Server, kill: bool) -> u64 {
    let mut planner = site.plan(PLAN);
    let start = || site.worker(if kill { "-j 1 --lease 5s" } else { LONG_LEASE });
    let mut workers: Vec<Process> = (0..4).map(|_| start()).collect();
    let mut asked = 0;
    let mut victim = 0;
    let began = Instant::now();
    while kill && planner.is_running() {
        assert!(began.elapsed() < super::LIMIT, "the run does not end:\n{}", site.logs());
        // Whenever a request came in, one worker dies with whatever it has under way.
        if server.requests() > asked && victim < 12 {
            asked = server.requests();
            workers[victim % 4].kill();
            workers[victim % 4] = start();
            victim += 1;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = planner.wait();
    assert!(!kill || victim > 2, "{victim} workers were killed");
    // With the budget spent, a run of one machine ends the same way.
    let reference = server_that_takes_a_moment();
    let mut command = site.project.command();
    command.envs(variables(&reference)).env("TMPDIR", site.project.path("tmp"));
    let line = format!("{} {PLAN} --store one", super::run_line());
    let alone = CommandOutput::start(command.args(line.split_whitespace()));
    assert!(kill || ended.code == alone.code, "one machine:\n{}\nworkers:\n{}", alone.err, ended.err);
    site.check_records(30);
    server.requests()
}

const BUDGET_MICRO_USD: u64 = 400_000;

fn server_that_takes_a_moment() -> Server {
    Server::start(Behaviour { latency: Duration::from_millis(30), ..Behaviour::GOOD })
}

#[test]
fn budget_is_not_overdrawn() {
    let server = server_that_takes_a_moment();
    let Some(site) = site_with_judge(30, &server, "budget_usd = 0.4\nconcurrency = 4") else { return };
    let requests = spend_all(&site, &server, false);
    assert!(requests * MICRO_USD_PER_REQUEST <= BUDGET_MICRO_USD, "{requests} requests");
    assert!(requests * MICRO_USD_PER_REQUEST > BUDGET_MICRO_USD / 2, "{requests} requests");
    assert_eq!(server.after_success(), 0);
}

#[test]
fn budget_is_not_overdrawn_when_workers_die() {
    let server = server_that_takes_a_moment();
    let Some(site) = site_with_judge(30, &server, "budget_usd = 0.4\nconcurrency = 4") else { return };
    let requests = spend_all(&site, &server, true);
    assert!(requests * MICRO_USD_PER_REQUEST <= BUDGET_MICRO_USD, "{requests} requests");
    let spent = site.count("SELECT SUM(spent_micro_usd)::BIGINT FROM judge_budgets").unwrap();
    assert!(u64::try_from(spent).unwrap() <= BUDGET_MICRO_USD, "{spent}");
    assert!(requests * MICRO_USD_PER_REQUEST <= u64::try_from(spent).unwrap(), "{requests} requests, {spent} counted");
}
