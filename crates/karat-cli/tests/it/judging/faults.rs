//! Faulty servers and concurrency do not change the report.

use super::{command, command_without_key, find_judge, project, report, run, unused_port, without_measurements};
use crate::judge_engine::server::{Behaviour, Fault, PASSING, Server};
use crate::project::CommandOutput;

/// Questions per case of [`project`] with three findings: one for each.
const QUESTIONS: usize = 3;

/// Three in ten requests fail in every way there is. Nothing is unjudged, nothing is asked twice, and except for the
/// cost of unreadable answers the report is that of a faultless server.
fn check_report_despite_faults(judge: &str, cases: usize, seed: u64) {
    let project = project(cases, QUESTIONS);
    // Waiting requests do not count, so a high concurrency keeps the test short.
    let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nconcurrency = 256");
    project.write("suite/karat.toml", config);
    let line = format!("score suite --submission it.jsonl --judge {judge} --json");
    let good = Server::start(Behaviour::GOOD);
    let expect = run(&project, &good, &format!("{line} --store good")).expect(0);
    let bad = Server::start(Behaviour { faults: 300, kinds: PASSING, seed, ..Behaviour::GOOD });
    let ran = run(&project, &bad, &format!("{line} --store bad")).expect(0);
    let (bad_one, good_one) = (without_cost(&ran.out), without_cost(&expect.out));
    assert!(
        without_measurements(&bad_one) == without_measurements(&good_one),
        "{}",
        first_difference(&bad_one, &good_one)
    );
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let entry = find_judge(&report, judge);
    assert_eq!((&entry["asked"], &entry["unjudged"]), (&(QUESTIONS * cases).into(), &0.into()), "{entry}");
    assert_eq!(report["measured"]["judges"][judge]["requests"], bad.requests(), "{}", report["measured"]);
    let share = bad.faults() as f64 / bad.requests() as f64;
    assert!((0.25..0.35).contains(&share), "{share}");
    assert_eq!((good.requests(), bad.after_success()), ((QUESTIONS * cases) as u64, 0));
    assert!(
        ran.err.contains(", try 2 of 11 in ") && ran.err.contains("further retries are printed only with -v"),
        "{}",
        ran.err
    );
}

#[test]
fn faults_do_not_change_the_report_with_anthropic() {
    check_report_despite_faults("sonnet", 1_700, 11);
}

#[test]
fn faults_do_not_change_the_report_with_openai() {
    check_report_despite_faults("gpt", 1_700, 12);
}

/// The report without the cost of its judges.
fn without_cost(printed: &str) -> String {
    let is_cost = |line: &&str| ["\"tokens\": ", "\"usd\": "].iter().any(|key| line.trim_start().starts_with(key));
    printed.lines().filter(|line| !is_cost(line)).map(|line| format!("{line}\n")).collect()
}

/// The first lines in which two texts differ.
fn first_difference(left: &str, right: &str) -> String {
    let (left, right) = (without_measurements(left), without_measurements(right));
    let mut differing = left.lines().zip(right.lines()).filter(|(a, b)| a != b);
    differing.next().map_or_else(|| "one is longer".to_owned(), |(a, b)| format!("{a}\n{b}"))
}

/// Threads, parallel requests and the order of answers do not affect a report.
#[test]
fn report_does_not_depend_on_concurrency() {
    let project = project(40, QUESTIONS);
    let config = project.read("suite/karat.toml");
    let late = std::time::Duration::from_millis(2);
    let server = Server::start(Behaviour { latency: late, ..Behaviour::GOOD });
    for judge in ["sonnet", "gpt"] {
        let mut reports = std::collections::BTreeSet::new();
        for (threads, concurrency) in [("1", 1), ("2", 1), ("1", 16), ("2", 16)] {
            let concurrency = format!("-test\"\nconcurrency = {concurrency}");
            project.write("suite/karat.toml", config.replace("-test\"", &concurrency));
            let line =
                format!("score suite --submission it.jsonl --judge {judge} --judge-cache off --json -j {threads}");
            let ran = CommandOutput::start(command(&project, &server).args(line.split_whitespace())).expect(0);
            reports.insert(without_measurements(&ran.out));
        }
        assert_eq!(reports.len(), 1, "{judge}: {:?}", reports.iter().map(String::len).collect::<Vec<_>>());
    }
    assert_eq!(server.requests(), 8 * 40 * QUESTIONS as u64);
}

/// A server that never answers is an error with its reason.
#[test]
fn server_without_any_answer_is_an_error() {
    use crate::judge_engine::server::Fault;
    let project = project(2, 1);
    let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nretries = 0");
    project.write("suite/karat.toml", config);
    let check = |fault: &'static [Fault], expect: &[&str]| {
        let server = Server::start(Behaviour::always(fault));
        for judge in ["sonnet", "gpt"] {
            let line = format!("score suite --submission it.jsonl --judge {judge} --judge-cache off");
            run(&project, &server, &line).expect_error(5, expect);
        }
    };
    check(&[Fault::Broken], &["answered none of 2 questions, the first because 1 requests failed", "answered 500"]);
    check(&[Fault::Unauthorized], &["the key was rejected, see `key_env`"]);
    check(&[Fault::Refusal], &["answered none of 2 questions", "it refused to answer"]);
    // If it answers some questions, they count and the rest is named.
    let server = super::server_deciding(|words| {
        if words.contains("Reader 1 ") { Err(Fault::Broken) } else { Ok(super::pair_answer(true, 1.0)) }
    });
    let report = report(&project, &server, "score suite --submission it.jsonl --judge sonnet --judge-cache off --json");
    assert_eq!(find_judge(&report, "sonnet")["unjudged"], 1);
}

/// A server that is not there is not waited for as one that is busy, and each try says at once why it is made.
#[test]
fn three_refused_connections_end_the_waiting() {
    let project = project(5, QUESTIONS);
    let port = unused_port();
    for judge in ["sonnet", "gpt"] {
        let began = std::time::Instant::now();
        let mut command = command_without_key(&project, port);
        let line = format!("score suite --submission it.jsonl --judge {judge}");
        let ran = CommandOutput::start(command.args(line.split_whitespace()));
        let refused = format!("connection refused by 127.0.0.1:{port}");
        let tries = [format!("{refused}, try 2 of 3 in 1.0 s"), format!("{refused}, try 3 of 3 in 4.0 s")];
        let ended = format!("cannot be asked: {refused} 3 times in a row");
        ran.expect_error(5, &[&tries[0], &tries[1], &ended]);
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

/// What providers answer when credit, a quota or a limit is used up.
const USED_UP: &[(u16, &str)] = &[
    (402, "{}"),
    (429, r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota"}}"#),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
    ),
    (403, r#"{"error":{"message":"Key limit exceeded (total limit).","code":403}}"#),
];

/// A used-up account is asked once: waiting does not help, and no other question would be answered.
#[test]
fn used_up_account_ends_the_judging() {
    for (status, body) in USED_UP {
        let project = project(5, QUESTIONS);
        let (status, body) = (*status, *body);
        let server = Server::deciding_by_request(Behaviour::GOOD, move |_| Err(Fault::Says(status, body)));
        let ran = run(&project, &server, "score suite --submission it.jsonl --judge sonnet");
        let said = format!("127.0.0.1 answered {status}");
        ran.expect_error(5, &[&said, "look at the credit and the limits of the account and the key"]);
        assert_eq!(server.requests(), 1, "{status}");
    }
}

/// A spent budget is said to be one.
#[test]
fn spent_budget_of_a_judge_is_no_outage() {
    let project = project(5, QUESTIONS);
    let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nbudget_calls = 1\nconcurrency = 1");
    project.write("suite/karat.toml", config);
    let server = Server::start(Behaviour::GOOD);
    let line = "score suite --submission it.jsonl --judge sonnet --allow-incomplete-judging --json";
    let ran = run(&project, &server, line).expect(0);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let warned =
        "14 of 15 questions are unjudged and count as no match: the budget is spent (budget_usd, budget_calls)";
    assert!(report["warnings"].to_string().contains(warned), "{}", report["warnings"]);
    assert!(!ran.out.contains("outage") && !ran.err.contains("outage"), "{}{}", ran.out, ran.err);
}
