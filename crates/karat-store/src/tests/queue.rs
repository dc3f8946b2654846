//! The queue of a run on a server: claims, leases, fences, results and limits that workers share.

use super::*;
use crate::queue::{Claim, ClaimRequest, MAX_CLAIM, QueueOptions, QueuedTrial, UnitKind};
use crate::record::TrialKey;
use crate::{RunState, StoreError};
use karat_llm::ledger::{Ledger, LedgerKey};
use karat_llm::permits::{Permit, PermitRequest, SettledRequest, SharedLimits};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

macro_rules! on_a_server {
    ($($test:ident),+ $(,)?) => {
        mod on_postgres {
            $(#[test]
            fn $test() {
                crate::tests::on_postgres(super::$test);
            })+
        }
    };
}

on_a_server!(
    units_are_claimed_in_order_and_once,
    concurrent_workers_claim_different_units,
    workers_claim_what_they_can_execute,
    result_is_recorded_once,
    result_of_a_claim_that_was_taken_over_is_refused,
    ended_lease_that_nobody_took_still_counts,
    unit_that_was_tried_is_claimed_alone_and_given_up_at_last,
    given_back_unit_does_not_count_as_tried,
    judging_and_scoring_follow,
    stopped_run_is_not_claimed_and_takes_no_results,
    judging_is_left_to_workers_that_can,
    scoring_stops_a_run_under_its_claim_alone,
    unexecuted_trials_are_recorded_and_not_claimed,
    following_disturbs_nobody,
    next_attempt_is_queued_again,
    suite_parts_round_trip_and_survive_gc,
    gc_removes_no_run_of_which_a_worker_has_a_unit,
    question_under_way_is_not_asked_twice,
    budget_is_never_overdrawn,
    nobody_waits_for_requests_that_died,
    rate_and_retry_after_are_shared,
);

const LONG: Duration = Duration::from_secs(600);

fn key(tool: &str, case: &str, number: u32) -> TrialKey {
    TrialKey { tool: ToolName::new(tool), case: CaseId::new(case), number }
}

fn queue(store: &mut Store, run: &RunId, judging: bool, needs: &[&str]) {
    let trial = |record: TrialRecord| QueuedTrial {
        key: TrialKey::from_trial(&record.trial),
        attempt: 1,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
    };
    let trials: Vec<QueuedTrial> = all_records().into_iter().map(trial).collect();
    store.queue_trials(run, &trials, &QueueOptions { max_tries: 2, judging, follow: false }).unwrap();
}

fn claim(store: &mut Store, worker: &str, most: usize, lease: Duration) -> Vec<Claim> {
    let (offers, without) = (BTreeSet::new(), BTreeSet::new());
    let request = ClaimRequest {
        worker,
        run: None,
        offers: &offers,
        without: &without,
        without_runs: &BTreeSet::new(),
        without_judge: &BTreeSet::new(),
        fresh_only: false,
        most,
        lease,
    };
    store.claim(&request).unwrap()
}

fn names(claims: &[Claim]) -> Vec<String> {
    claims.iter().map(|claim| claim.unit.to_string()).collect()
}

/// The result of a claimed trial.
fn result(claim: &Claim) -> (Claim, TrialRecord) {
    let TrialKey { tool, case, number } = claim.unit.trial.clone().unwrap();
    let attempt = claim.attempt;
    (claim.clone(), TrialRecord { attempt, ..record(tool.as_str(), case.as_str(), number) })
}

fn started() -> (StoreDir, Store, RunId) {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    queue(&mut store, &run, false, &[]);
    (dir, store, run)
}

fn units_are_claimed_in_order_and_once() {
    let (_dir, mut store, run) = started();
    let first = claim(&mut store, "one", 3, LONG);
    assert_eq!(names(&first), ["alpha on a, trial 1", "alpha on a, trial 2", "alpha on b, trial 1"]);
    let rest = claim(&mut store, "two", MAX_CLAIM, LONG);
    assert_eq!(rest.len(), 5);
    assert_eq!(claim(&mut store, "three", 1, LONG), []);
    let status = store.queue_status(&run).unwrap();
    assert_eq!((status.waiting, status.claimed, status.done, status.workers), (0, 8, 0, 2));
    let held = store.renew("one", LONG).unwrap();
    assert!(first.iter().all(|claim| claim.is_in(&held)) && !rest[0].is_in(&held));
}

fn concurrent_workers_claim_different_units() {
    let (dir, store, _) = started();
    drop(store);
    let claimed: Vec<Vec<String>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|number| {
                let location = dir.location();
                scope.spawn(move || {
                    let mut store = Store::open(location).unwrap();
                    let mut own = Vec::new();
                    loop {
                        let claims = claim(&mut store, &format!("worker {number}"), 1, LONG);
                        match claims.is_empty() {
                            true => return own,
                            false => own.extend(names(&claims)),
                        }
                    }
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let all: Vec<&String> = claimed.iter().flatten().collect();
    assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (8, 8), "{claimed:?}");
}

fn workers_claim_what_they_can_execute() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    queue(&mut store, &run, false, &["docker", "gpu"]);
    assert_eq!(store.queued_needs(None).unwrap(), ["docker".to_owned(), "gpu".to_owned()].into());
    let offering = |store: &mut Store, offers: &[&str], without: &[&str]| {
        let offers = offers.iter().map(|offer| (*offer).to_owned()).collect();
        let without = without.iter().map(|tool| (run.clone(), ToolName::new(*tool))).collect();
        let request = ClaimRequest {
            worker: "w",
            run: Some(&run),
            offers: &offers,
            without: &without,
            without_runs: &BTreeSet::new(),
            without_judge: &BTreeSet::new(),
            fresh_only: false,
            most: 1,
            lease: LONG,
        };
        names(&store.claim(&request).unwrap())
    };
    assert_eq!(offering(&mut store, &[], &[]), [""; 0]);
    assert_eq!(offering(&mut store, &["docker"], &[]), [""; 0]);
    assert_eq!(offering(&mut store, &["gpu", "more", "docker"], &["alpha"]), ["zeta on a, trial 1"]);
    assert_eq!(offering(&mut store, &["docker", "gpu"], &[]), ["alpha on a, trial 1"]);
}

fn result_is_recorded_once() {
    let (_dir, mut store, run) = started();
    let claims = claim(&mut store, "one", 2, LONG);
    let results: Vec<_> = claims.iter().map(result).collect();
    assert_eq!(store.complete_trials(&run, &results).unwrap(), [true, true]);
    assert_eq!(store.complete_trials(&run, &results).unwrap(), [false, false]);
    assert_eq!(trial_lines(&mut store, &run), ["alpha a 1 1 reported", "alpha a 2 1 reported"]);
    assert_eq!(store.attempts_after(&run, 1, 10).unwrap().len(), 1);
    assert_eq!(store.verify().unwrap(), []);
}

fn result_of_a_claim_that_was_taken_over_is_refused() {
    let (_dir, mut store, run) = started();
    let lost = claim(&mut store, "one", MAX_CLAIM, Duration::ZERO);
    // Its lease has ended by the clock of the database.
    let taken = wait_for_claim(&mut store, "two");
    assert_eq!(taken.unit, lost[0].unit);
    assert!(!lost[0].is_in(&store.renew("one", LONG).unwrap()));
    assert_eq!(store.complete_trials(&run, &[result(&lost[0])]).unwrap(), [false]);
    store.give_back(&lost[..1], false).unwrap();
    assert_eq!(store.complete_trials(&run, &[result(&taken)]).unwrap(), [true]);
    assert_eq!(trial_lines(&mut store, &run), ["alpha a 1 1 reported"]);
}

fn wait_for_claim(store: &mut Store, worker: &str) -> Claim {
    let claims = karat_test_servers::wait_for("a lease to end", || {
        Some(claim(store, worker, MAX_CLAIM, LONG)).filter(|claims| !claims.is_empty())
    });
    let claims = claims.unwrap();
    assert_eq!(claims.len(), 1, "a unit that was tried before is claimed alone");
    claims.into_iter().next().unwrap()
}

fn ended_lease_that_nobody_took_still_counts() {
    let (_dir, mut store, run) = started();
    let claims = claim(&mut store, "one", 1, Duration::ZERO);
    assert_eq!(store.complete_trials(&run, &[result(&claims[0])]).unwrap(), [true]);
}

fn unit_that_was_tried_is_claimed_alone_and_given_up_at_last() {
    let (_dir, mut store, run) = started();
    let all = claim(&mut store, "one", MAX_CLAIM, Duration::ZERO);
    store.complete_trials(&run, &all[1..].iter().map(result).collect::<Vec<_>>()).unwrap();
    let lease = Duration::ZERO;
    let again = karat_test_servers::wait_for("the lease to end", || {
        Some(claim(&mut store, "two", MAX_CLAIM, lease)).filter(|claims| !claims.is_empty())
    });
    let again = again.unwrap();
    assert_eq!((again.len(), again[0].tries, again[0].is_given_up), (1, 2, false));
    let last = wait_for_claim(&mut store, "three");
    assert_eq!((last.tries, last.is_given_up), (3, true));
}

fn given_back_unit_does_not_count_as_tried() {
    let (_dir, mut store, _) = started();
    for _ in 0..5 {
        let claims = claim(&mut store, "one", 1, LONG);
        assert_eq!((claims[0].tries, claims[0].is_given_up), (1, false));
        store.give_back(&claims, false).unwrap();
    }
    let claims = claim(&mut store, "one", 1, LONG);
    store.give_back(&claims, true).unwrap();
    assert_eq!(store.queue_status(&claims[0].unit.run).unwrap().waiting, 8);
}

fn judging_and_scoring_follow() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    queue(&mut store, &run, true, &[]);
    let claims = claim(&mut store, "one", MAX_CLAIM, LONG);
    let mut results: Vec<_> = claims.iter().map(result).collect();
    results[0].1 = failed(results[0].1.clone(), 1, "out of memory");
    store.complete_trials(&run, &results).unwrap();
    let judging = claim(&mut store, "one", MAX_CLAIM, LONG);
    assert_eq!(judging.len(), 7, "what failed is not judged");
    assert!(judging.iter().all(|claim| claim.unit.kind == UnitKind::Judge));
    assert!(store.has_open_units(Some(&run)).unwrap());
    store.complete_judging(&run, &judging).unwrap();
    let scoring = claim(&mut store, "one", MAX_CLAIM, LONG);
    assert_eq!(names(&scoring), [format!("scoring run {run}")]);
    assert!(store.complete_scoring(&scoring[0], &[judgement("f1", 0.5)], b"{}").unwrap());
    assert_eq!(store.state(&run).unwrap(), RunState::Complete);
    assert_eq!(store.report(&run).unwrap().unwrap(), b"{}");
    assert_eq!(store.judgements(&run).unwrap().len(), 1);
    assert!(!store.has_open_units(None).unwrap());
    assert!(matches!(store.complete_scoring(&scoring[0], &[], b"[]"), Err(StoreError::Ended { .. })));
}

fn stopped_run_is_not_claimed_and_takes_no_results() {
    let (_dir, mut store, run) = started();
    let claims = claim(&mut store, "one", 1, LONG);
    store.stop(&run).unwrap();
    assert_eq!(claim(&mut store, "two", 1, LONG), []);
    assert_eq!(store.renew("one", LONG).unwrap(), BTreeMap::new());
    assert!(matches!(store.complete_trials(&run, &[result(&claims[0])]), Err(StoreError::Ended { .. })));
    assert!(matches!(store.stop(&run), Err(StoreError::Ended { .. })));
    queue(&mut store, &run, false, &[]);
    assert_eq!(claim(&mut store, "two", MAX_CLAIM, LONG).len(), 8);
}

fn judging_is_left_to_workers_that_can() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    queue(&mut store, &run, true, &[]);
    let first = claim(&mut store, "w", MAX_CLAIM, LONG);
    let results: Vec<(Claim, TrialRecord)> = first.iter().map(result).collect();
    store.complete_trials(&run, &results).unwrap();
    let (none, without) = (BTreeSet::new(), BTreeSet::new());
    let unable = ClaimRequest {
        worker: "unable",
        run: None,
        offers: &none,
        without: &without,
        without_runs: &BTreeSet::new(),
        without_judge: &[run.clone()].into(),
        fresh_only: false,
        most: MAX_CLAIM,
        lease: LONG,
    };
    assert_eq!(store.claim(&unable).unwrap(), []);
    let able = claim(&mut store, "able", MAX_CLAIM, LONG);
    assert_eq!(able.len(), 8);
    store.complete_judging(&run, &able).unwrap();
    assert_eq!(store.claim(&unable).unwrap(), []);
    assert_eq!(claim(&mut store, "able", 1, LONG)[0].unit.kind, UnitKind::Score);
}

fn scoring_stops_a_run_under_its_claim_alone() {
    let (_dir, mut store, run) = started();
    let all = claim(&mut store, "w", MAX_CLAIM, LONG);
    let results: Vec<(Claim, TrialRecord)> = all.iter().map(result).collect();
    store.complete_trials(&run, &results).unwrap();
    let scoring = claim(&mut store, "slow", 1, Duration::ZERO).remove(0);
    let other = wait_for_claim(&mut store, "other");
    assert!(!store.stop_scoring(&scoring, "too late").unwrap());
    assert_eq!(store.state(&run).unwrap(), RunState::Running);
    assert!(store.stop_scoring(&other, "the judge failed").unwrap());
    assert_eq!(store.state(&run).unwrap(), RunState::Stopped);
    assert_eq!(store.why_stopped(&run).unwrap().as_deref(), Some("the judge failed"));
    queue(&mut store, &run, false, &[]);
    assert_eq!(store.why_stopped(&run).unwrap(), None);
    assert_eq!(claim(&mut store, "w", 1, LONG)[0].unit.kind, UnitKind::Score);
}

fn unexecuted_trials_are_recorded_and_not_claimed() {
    let (_dir, mut store, run) = started();
    store.stop(&run).unwrap();
    let mut unavailable = record("alpha", "a", 1);
    unavailable.trial.outcome = Outcome::Unavailable;
    unavailable.trial.findings.clear();
    store.record_unexecuted(&run, &[unavailable]).unwrap();
    queue(&mut store, &run, false, &[]);
    assert_eq!(trial_lines(&mut store, &run), ["alpha a 1 1 unavailable"]);
    assert_eq!(names(&claim(&mut store, "w", 1, LONG)), ["alpha on a, trial 2"]);
}

fn following_disturbs_nobody() {
    let (_dir, mut store, run) = started();
    let claims = claim(&mut store, "one", MAX_CLAIM, LONG);
    let follow = |store: &mut Store| {
        let known = QueuedTrial { key: key("alpha", "a", 1), attempt: 1, needs: Vec::new() };
        store.queue_trials(&run, &[known], &QueueOptions { max_tries: 2, judging: false, follow: true }).unwrap();
    };
    follow(&mut store);
    let done = store.complete_trials(&run, &claims.iter().map(result).collect::<Vec<_>>()).unwrap();
    assert!(done.iter().all(|accepted| *accepted), "{done:?}");
    let scoring = claim(&mut store, "one", 1, LONG);
    follow(&mut store);
    assert!(store.complete_scoring(&scoring[0], &[], b"{}").unwrap());
    // It ends between the question whether it is running and this one.
    follow(&mut store);
    assert_eq!(store.state(&run).unwrap(), RunState::Complete);
    assert_eq!(store.report(&run).unwrap().unwrap(), b"{}");
    assert_eq!(claim(&mut store, "two", 1, LONG), []);
}

fn next_attempt_is_queued_again() {
    let (_dir, mut store, run) = started();
    let claims = claim(&mut store, "one", MAX_CLAIM, LONG);
    store.complete_trials(&run, &claims.iter().map(result).collect::<Vec<_>>()).unwrap();
    assert_eq!(claim(&mut store, "one", 1, LONG)[0].unit.kind, UnitKind::Score);
    let again = QueuedTrial { key: key("alpha", "a", 1), attempt: 2, needs: Vec::new() };
    store.queue_trials(&run, &[again], &QueueOptions { max_tries: 3, judging: false, follow: true }).unwrap();
    let second = claim(&mut store, "two", MAX_CLAIM, LONG);
    assert_eq!((names(&second), second[0].attempt), (vec!["alpha on a, trial 1".to_owned()], 2));
    assert_eq!(store.complete_trials(&run, &[result(&second[0])]).unwrap(), [true]);
    assert_eq!(claim(&mut store, "two", 1, LONG)[0].unit.kind, UnitKind::Score);
}

fn suite_parts_round_trip_and_survive_gc() {
    let (_dir, mut store, run) = started();
    let parts = vec![b"first".to_vec(), b"second".repeat(10_000)];
    assert!(!store.has_suite_parts(&run).unwrap());
    store.set_suite_parts(&run, &parts).unwrap();
    store.gc(&crate::GcOptions::default()).unwrap();
    let mut read = Vec::new();
    store
        .suite_parts(&run, &mut |part| {
            read.push(part);
            Ok(())
        })
        .unwrap();
    assert_eq!(read, parts);
}

/// Also a run that was claimed after it was chosen.
fn gc_removes_no_run_of_which_a_worker_has_a_unit() {
    let (_dir, mut store, run) = started();
    let claims = claim(&mut store, "one", 1, LONG);
    let all = crate::GcOptions { keep: Some(0), ..Default::default() };
    assert_eq!(store.gc(&all).unwrap().in_use.len(), 1);
    let info = [store.find(run.as_str()).unwrap()];
    let remove = |store: &mut Store| store.database.write(|database| crate::gc::remove(database, &info, false));
    let refused = remove(&mut store).unwrap_err();
    assert!(matches!(&refused, StoreError::Busy { holder, .. } if holder == "the worker one"), "{refused}");
    store.give_back(&claims, false).unwrap();
    remove(&mut store).unwrap();
    assert_eq!(store.runs().unwrap(), []);
}

fn ledger_key(text: &str) -> LedgerKey {
    serde_json::from_value(text.into()).unwrap()
}

pub(super) fn limits() -> SharedLimits {
    SharedLimits {
        judge: "stub/model".to_owned(),
        account: "127.0.0.1 0123".to_owned(),
        budget_micro_usd: None,
        budget_calls: None,
        requests_per_minute: None,
        tokens_per_minute: None,
        longest_silence: LONG,
    }
}

pub(super) fn request(key: &str, micro_usd: i64) -> PermitRequest {
    let key = ledger_key(key);
    PermitRequest { answer_keys: vec![key.clone()], key, is_first: true, micro_usd, tokens: 100 }
}

fn permit(store: &mut Store, limits: &SharedLimits, request: PermitRequest) -> Permit {
    store.permit(limits, &[request]).unwrap().remove(0)
}

fn question_under_way_is_not_asked_twice() {
    let dir = StoreDir::new();
    let (mut one, mut two) = (dir.store(), dir.store());
    let exchange = super::ledger::exchange("q", true);
    let question = || request(exchange.key.as_str(), 1);
    assert!(matches!(permit(&mut one, &limits(), question()), Permit::Granted { was_sent: false }));
    assert!(matches!(permit(&mut two, &limits(), question()), Permit::Wait(_)));
    one.put(&[&exchange]).unwrap();
    one.forget_sent(&[&exchange.key]).unwrap();
    match permit(&mut two, &limits(), question()) {
        Permit::Answered(answer) => assert_eq!(answer.key, exchange.key),
        other => panic!("{other:?}"),
    }
    // Whoever asked died: the question is asked again, and may have been paid for.
    let dead = SharedLimits { longest_silence: Duration::ZERO, ..limits() };
    assert!(matches!(permit(&mut one, &dead, request("r", 1)), Permit::Granted { was_sent: false }));
    let again = karat_test_servers::wait_for("the claim of a question to end", || {
        Some(permit(&mut two, &dead, request("r", 1))).filter(|permit| !matches!(permit, Permit::Wait(_)))
    });
    assert!(matches!(again.unwrap(), Permit::Granted { was_sent: true }));
}

fn budget_is_never_overdrawn() {
    let dir = StoreDir::new();
    let (mut one, mut two) = (dir.store(), dir.store());
    one.share_budget("run");
    two.share_budget("run");
    let limits = SharedLimits { budget_micro_usd: Some(100), ..limits() };
    assert!(matches!(permit(&mut one, &limits, request("a", 60)), Permit::Granted { .. }));
    assert!(matches!(permit(&mut two, &limits, request("b", 60)), Permit::Wait(_)), "what is under way may cost less");
    let settled = SettledRequest { reserved_micro_usd: 60, micro_usd: 10, retry_after: None };
    one.settle_requests(&limits, &[settled]).unwrap();
    assert!(matches!(permit(&mut two, &limits, request("b", 60)), Permit::Granted { .. }));
    assert_eq!(one.spent("run").unwrap(), (70, 2));
    one.forget_sent(&[&ledger_key("a")]).unwrap();
    assert!(matches!(permit(&mut one, &limits, request("c", 60)), Permit::Wait(_)));
    // Nothing settles what a process had under way that died.
    two.database.script("UPDATE asked_questions SET until_us = 1").unwrap();
    assert!(matches!(permit(&mut one, &limits, request("c", 60)), Permit::OverBudget));
    assert_eq!(one.spent("run").unwrap(), (70, 2));
    let calls = SharedLimits { budget_calls: Some(2), budget_micro_usd: None, ..limits };
    assert!(matches!(permit(&mut one, &calls, request("d", 1)), Permit::OverBudget));
}

fn nobody_waits_for_requests_that_died() {
    let dir = StoreDir::new();
    let (mut one, mut two, mut dead) = (dir.store(), dir.store(), dir.store());
    let limits = SharedLimits { budget_micro_usd: Some(100), ..limits() };
    for store in [&mut one, &mut two, &mut dead] {
        store.share_budget("run");
    }
    assert!(matches!(permit(&mut dead, &limits, request("d", 20)), Permit::Granted { .. }));
    dead.database.script("UPDATE asked_questions SET until_us = 1").unwrap();
    for (store, key) in [(&mut one, "a"), (&mut two, "b")] {
        assert!(matches!(permit(store, &limits, request(key, 40)), Permit::Granted { .. }));
        // It failed, and is tried again.
        let settled = SettledRequest { reserved_micro_usd: 40, micro_usd: 40, retry_after: None };
        store.settle_requests(&limits, &[settled]).unwrap();
    }
    // Somebody asks under another budget.
    let mut other = dir.store();
    other.share_budget("another run");
    assert!(matches!(permit(&mut other, &limits, request("o", 1)), Permit::Granted { .. }));
    let again = |key: &str| PermitRequest { is_first: false, ..request(key, 40) };
    assert!(matches!(permit(&mut one, &limits, again("a")), Permit::Wait(_)), "`b` may be under way");
    assert!(matches!(permit(&mut two, &limits, again("b")), Permit::OverBudget), "`a` waits for the budget itself");
    two.forget_sent(&[&ledger_key("b")]).unwrap();
    assert!(matches!(permit(&mut one, &limits, again("a")), Permit::OverBudget));

    // A worker lives and renews its questions, and what a request cost was lost.
    let first = PermitRequest { micro_usd: 0, ..request("e", 0) };
    assert!(matches!(permit(&mut two, &limits, first), Permit::Granted { .. }));
    assert!(matches!(permit(&mut one, &limits, again("a")), Permit::Wait(_)));
    let late = SharedLimits { longest_silence: Duration::ZERO, ..limits };
    assert!(matches!(permit(&mut one, &late, again("a")), Permit::OverBudget));
}

fn rate_and_retry_after_are_shared() {
    let dir = StoreDir::new();
    let (mut one, mut two) = (dir.store(), dir.store());
    let limits = SharedLimits { requests_per_minute: Some(1), ..limits() };
    assert!(matches!(permit(&mut one, &limits, request("a", 0)), Permit::Granted { .. }));
    assert!(matches!(permit(&mut two, &limits, request("b", 0)), Permit::Wait(_)));
    let tokens =
        SharedLimits { account: "other".to_owned(), requests_per_minute: None, tokens_per_minute: Some(100), ..limits };
    assert!(matches!(permit(&mut one, &tokens, request("c", 0)), Permit::Granted { .. }));
    assert!(matches!(permit(&mut two, &tokens, request("d", 0)), Permit::Wait(_)));
    let asked = SharedLimits { account: "third".to_owned(), tokens_per_minute: None, ..tokens };
    let settled = SettledRequest { reserved_micro_usd: 0, micro_usd: 0, retry_after: Some(LONG) };
    one.settle_requests(&asked, &[settled]).unwrap();
    assert!(matches!(permit(&mut two, &asked, request("e", 0)), Permit::Wait(_)));
}

#[test]
fn store_in_a_folder_has_no_queue() {
    let dir = StoreDir::in_folder();
    let mut store = dir.store();
    let run = begin(&mut store);
    assert!(!store.is_queued(&run).unwrap());
    assert!(matches!(store.stop(&run), Err(StoreError::NoServer { .. })));
}
