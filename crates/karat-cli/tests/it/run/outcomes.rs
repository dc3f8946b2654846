//! Each way a trial can end has its outcome and its reason.

use super::{FINDS_IT, outcomes, reasons, report, sandboxed, with_cases, with_tool};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::near;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// Runs two trials of a script on one case and compares outcome and reason.
#[track_caller]
fn check(script: &str, manifest: &str, outcome: &str, reason: &str) {
    let project = with_cases(1);
    with_tool(&project, "it", script, manifest);
    let report = report(&project, "it", "");
    assert_eq!(outcomes(&report), outcome, "{script}");
    let reasons = reasons(&project);
    match reason {
        "" => assert!(reasons.is_empty(), "{script}: {reasons:?}"),
        _ => assert!(reasons.len() == 1 && reasons[0].contains(reason), "{script}: {reasons:?}"),
    }
}

#[test]
fn reported_findings_are_scored() {
    let project = with_cases(2);
    with_tool(&project, "it", FINDS_IT, "");
    let report = report(&project, "it", "");
    assert_eq!(outcomes(&report), "reported 4");
    near(&report, "/tools/0/metrics/recall/value", 1.0);
    near(&report, "/tools/0/metrics/precision/value", 1.0);
    assert!(report["measured"]["latency"]["it"]["mean_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn empty_result_differs_from_missing_result() {
    check("echo '{\"findings\":[]}' > \"$2\"", "", "reported 2", "");
    check("exit 0", "", "unparsable 2", "result");
    check(": > \"$2\"", "", "unparsable 2", "its result is empty");
}

#[test]
fn exit_codes_follow_the_manifest() {
    check("echo boom >&2; exit 3", "", "crashed 2", "it exited with 3: boom");
    check(&format!("{FINDS_IT}; exit 3"), "ok_exit = [0, 3]", "reported 2", "");
    check("kill -SEGV $$", "", "crashed 2", "signal 11");
    // Codes above 128, which shells use for signals, also follow the manifest in every isolation.
    for isolation in karat_sandbox::Isolation::ALL {
        if karat_sandbox::available().unavailable_reason(isolation).is_some() {
            continue;
        }
        let project = with_cases(1);
        with_tool(&project, "it", &format!("{FINDS_IT}; exit 137"), "ok_exit = [0, 137]");
        let report = report(&project, "it", &format!("--isolation {}", isolation.as_str()));
        assert_eq!(outcomes(&report), "reported 2", "{}", isolation.as_str());
    }
}

#[test]
fn truncated_output_is_unparsable() {
    let sarif = "printf '{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"x\"}},\"results\":[{\"ruleId\"' > \"$2\"";
    let project = with_cases(1);
    with_tool(&project, "it", sarif, "");
    let text = project.read("tools/it.toml").replace("\"karat\"", "\"sarif\"");
    project.write("tools/it.toml", text);
    assert_eq!(outcomes(&report(&project, "it", "")), "unparsable 2");
    assert!(reasons(&project)[0].contains("ends in the middle"), "{:?}", reasons(&project));
}

#[test]
fn tool_over_its_timeout_is_timed_out() {
    check("sleep 60", "timeout = \"300ms\"", "timed_out 2", "longer than 0.3 s");
}

#[test]
fn reported_errors_make_a_trial_incomplete() {
    let project = with_cases(1);
    let says = r#"echo '{"findings":[],"notes":["app.py: cannot be parsed"]}' > "$2""#;
    with_tool(&project, "it", says, "");
    let report = report(&project, "it", "");
    assert_eq!(outcomes(&report), "reported 2");
    assert_eq!(report["tools"][0]["incomplete"], 2);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("it: 2 trials are incomplete"), "{warnings}");
    assert!(warnings.contains("app.py: cannot be parsed"), "{warnings}");
}

/// Bandit's SARIF for a file that cannot be parsed: `executionSuccessful` is true, and an error is listed.
#[test]
fn sarif_with_errors_is_incomplete() {
    let sarif = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"Bandit"}},"results":[],"invocations":[{"executionSuccessful":true,"toolExecutionNotifications":[{"level":"error","message":{"text":"syntax error while parsing AST from file"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app.py"}}}]}]}]}]}"#;
    let project = with_cases(1);
    project.write("result.sarif", sarif);
    let scan = format!("cp {} \"$2\"", project.path("result.sarif").display());
    with_tool(&project, "it", &scan, &format!("expose = [\"{}\"]", project.path("result.sarif").display()));
    let text = project.read("tools/it.toml").replace("\"karat\"", "\"sarif\"");
    project.write("tools/it.toml", text);
    let report = report(&project, "it", "");
    assert_eq!(outcomes(&report), "reported 2");
    assert_eq!(report["tools"][0]["incomplete"], 2);
    assert!(report["warnings"].to_string().contains("app.py: syntax error"), "{}", report["warnings"]);
}

#[test]
fn artifacts_are_stored() {
    let project = with_cases(1);
    with_tool(&project, "it", &format!("echo said; echo complained >&2; {FINDS_IT}"), "");
    report(&project, "it", "");
    let show = |name: &str| project.ok(&format!("store show latest --trial it case-1 2 --artifact {name}"));
    assert_eq!(show("stdout"), "said\n");
    assert_eq!(show("stderr"), "complained\n");
    assert!(show("output").contains("SQL injection"));
}

#[test]
fn run_without_any_report_fails() {
    let project = with_cases(1);
    with_tool(&project, "it", "echo 'loading rules' >&2; printf '\\033[31mno rules in /etc\\n' >&2; exit 9", "");
    let ran = project.run("run suite --tool tools/it.toml -j 1 -o r.json -o r.md -o r.html -o r.xml -o r.csv");
    let ran = ran.expect_error(
        5,
        &[
            "the run failed. None of 2 trials came to a report: 2 crashed.",
            "first error: it on case-1, trial 1 crashed: it exited with 9",
            "  | loading rules\n",
            "no rules in /etc",
        ],
    );
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
    assert!(ran.out.contains("FAILED: None of 2 trials came to a report: 2 crashed.") && !ran.out.contains("* best"));
    let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    assert_eq!(report["status"], "failed");
    let metrics = report["tools"][0]["metrics"].as_object().unwrap();
    assert!(metrics.values().all(|estimate| estimate["value"].is_null()), "{metrics:?}");
    assert_eq!(metrics["precision"]["undefined"], "no trial came to a report");
    assert!(project.read("r.md").contains("**FAILED**: None of 2 trials"), "{}", project.read("r.md"));
    assert!(project.read("r.html").contains("<span class=\"badge failed\">failed</span>"));
    assert!(project.read("r.xml").contains("failures=\"0\" errors=\"1\""), "{}", project.read("r.xml"));
    let csv = project.read("r.csv");
    let recall = csv.lines().find(|line| line.starts_with("it,suite,,,recall,")).unwrap();
    assert!(recall.starts_with("it,suite,,,recall,,,,0,"), "{recall}");
    let listed = project.json("store list --json");
    assert_eq!((&listed[0]["status"], &listed[0]["state"]), (&json!("failed"), &json!("complete")));
    assert!(project.ok("store list").contains("failed"), "{}", project.ok("store list"));
    for what in ["latest", "r.json"] {
        project
            .run(&format!("gate {what} --min recall=0"))
            .expect_error(5, &["is a failed run", "None of 2 trials came to a report", "help: "]);
    }
    project.run("baseline write r.json -o base.json").expect_error(5, &["is a failed run"]);
}

#[test]
fn failed_tool_beside_another_is_not_ranked() {
    let project = with_cases(2);
    with_tool(&project, "broken", "exit 9", "");
    with_tool(&project, "it", FINDS_IT, "");
    let ran = project.run("run suite --tool tools/broken.toml tools/it.toml --json -q").expect(0);
    let report = super::parsed(&ran);
    assert_eq!(report["status"], "ok");
    assert_eq!(report["ranking"]["statement"], "Only it has a value of F1.");
    let last = &report["ranking"]["tools"][1];
    assert_eq!((&last["tool"], last.get("rank"), last.get("value")), (&json!("broken"), None, Some(&json!(null))));
    let ran = project.run("gate latest --min recall=0 --allow-small-n --json").expect(3);
    assert!(ran.out.contains("no trial came to a report"), "{}", ran.out);
    project.run("gate latest --tool broken --min recall=0").expect_error(5, &["No trial of broken came to a report"]);
}

#[test]
fn outages_follow_the_manifest() {
    let outage = |script: &str, manifest: &str, reason: &str| {
        check(script, &format!("retries = 0\n{manifest}"), "unavailable 2", reason);
    };
    outage("echo down >&2; exit 75", "infra_exit = [70, 75]", "exit code 75 means an outage (infra_exit); it exited");
    let pattern = "infra_pattern = '(?i)rate limit|\\b429\\b'";
    outage("echo 'Rate Limit reached' >&2; exit 1", pattern, "`Rate Limit` in its stderr means an outage");
    outage("echo 'HTTP 429'; exit 1", pattern, "`429` in its stdout means an outage");
    outage("echo 'HTTP 429'", pattern, "`429` in its stdout means an outage (infra_pattern); ");
    outage("echo 'HTTP 429' >&2; sleep 60", &format!("timeout = \"300ms\"\n{pattern}"), "longer than 0.3 s");
    // What came to a report met no outage, whatever it printed; and other failures are the tool's.
    check(&format!("echo 'HTTP 429, retried' >&2; {FINDS_IT}"), pattern, "reported 2", "");
    check("echo 'line 4290' >&2; exit 1", pattern, "crashed 2", "it exited with 1");
}

#[test]
fn outages_are_retried_and_counted_apart() {
    let project = with_cases(1);
    project.write("count/n", "0");
    for path in ["count", "count/n"] {
        std::fs::set_permissions(project.path(path), std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let file = project.path("count/n").display().to_string();
    let script = format!("n=$(($(cat {file}) + 1)); echo $n > {file}; [ $n -le 2 ] && exit 75; {FINDS_IT}");
    let folder = project.path("count").display().to_string();
    let more = format!("infra_exit = [75]\nretry_wait = \"1ms\"\nwritable = [\"{folder}\"]");
    with_tool(&project, "it", &script, &more);
    let ran = project.run("run suite --tool tools/it.toml --trials 1 -j 1").expect_error(
        0,
        &["it on case-1, trial 1: exit code 75 means an outage (infra_exit); it exited with 75, try 2 of 4 in 0.0 s"],
    );
    assert!(!ran.out.contains("unavailable"), "{}", ran.out);
    assert_eq!(project.read("count/n").trim(), "3");
    assert!(project.ok("store show latest --trial it case-1 1").contains("note: it met 2 outages before"));
    // Without retries they stay outages, which a resumed run tries again of its own accord.
    project.write("count/n", "0");
    with_tool(&project, "it", &script, &format!("{more}\nretries = 1"));
    let ran = project.run("run suite --tool tools/it.toml patterns --trials 1 -j 1 -o r.xml -o r.md").expect(0);
    assert!(ran.out.contains("it: 1 of 1 trial unavailable: an outage, no key or a spent budget"), "{}", ran.out);
    assert!(ran.err.contains("karat run --resume") && !ran.err.contains("--retry-failed"), "{}", ran.err);
    assert!(project.read("r.xml").contains("<skipped message=\"unavailable: 1 trial could not be tried\">"));
    assert!(project.read("r.md").contains("| unavailable |"), "{}", project.read("r.md"));
    assert!(project.ok("store list").contains("unavailable"));
    let ran = project.run("run --resume latest --json -q").expect(0);
    assert_eq!(outcomes(&super::parsed(&ran)), "reported 1");
    assert_eq!(project.read("count/n").trim(), "3");
}

#[test]
fn run_of_outages_alone_fails() {
    let project = with_cases(1);
    with_tool(&project, "it", "echo 'no route to host' >&2; exit 75", "infra_exit = [75]\nretries = 0");
    let errors =
        ["None of 2 trials came to a report: 2 unavailable.", "trial 1 could not be tried", "no route to host"];
    project.run("run suite --tool tools/it.toml -j 1 --fail-fast").expect_error(5, &errors);
    assert_eq!(project.json("store list --json")[0]["status"], "failed");
}

/// A tool that cannot be set up, or whose key is rejected, is unavailable; the others run, and the exit code says so.
#[test]
fn failure_of_one_tool_does_not_end_the_others() {
    let server = Server::start(Behaviour::always(&[Fault::Unauthorized]));
    let model = format!(
        "kind = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n",
        server.port
    );
    let setups = [
        ("command = [\"no-such-program\"]\nformat = \"karat\"", "was not found"),
        ("command = [\"sh\"]\nformat = \"karat\"\nsetup = [\"sh\", \"-c\", \"exit 3\"]", "its set-up command failed"),
        (model.as_str(), "the key was rejected"),
    ];
    for (manifest, why) in setups {
        let project = with_cases(2);
        with_tool(&project, "it", FINDS_IT, "");
        project.write("tools/bad.toml", manifest);
        let line = "run suite --tool tools/bad.toml tools/it.toml --json -q";
        let ran = project.run(line).expect_error(5, &["the tool `bad` cannot be run", why, "karat run --resume"]);
        let report = super::parsed(&ran);
        assert_eq!(outcomes(&report), "unavailable 4", "{manifest}");
        assert_eq!(report["tools"][1]["outcomes"]["reported"], 4, "{manifest}");
        near(&report, "/tools/1/metrics/recall/value", 1.0);
        assert_eq!(report["tools"][0]["metrics"]["recall"]["value"], json!(null), "{manifest}");
        // Only its trials are left, and nothing else could be run.
        project.run("run --resume latest -q").expect_error(5, &[why]);
    }
}

/// A service of this machine that the sandbox keeps from a tool looks like one that is down.
#[test]
fn closed_ports_of_this_machine_are_told_from_outages() {
    if !sandboxed() {
        return;
    }
    let refused = "echo 'connect ECONNREFUSED 127.0.0.1:8080' >&2; exit 1";
    check(refused, "", "crashed 2", "127.0.0.1:8080 is unreachable within the sandbox: `network = true` and `loopback");
    let project = with_cases(1);
    with_tool(&project, "it", refused, "network = true\nloopback = true");
    super::report(&project, "it", "--allow it:network,loopback");
    assert!(!super::reasons(&project)[0].contains("within the sandbox"));
}

/// What an outage kept from being tried is neither met nor failed.
#[test]
fn expectations_are_inconclusive_after_an_outage() {
    let issue = json!({ "id": "g", "rule_id": "R1", "file": "a.py", "line_start": 3, "title": "x" });
    let project = crate::project::suite(&[json!({ "id": "a", "issues": [issue] }), json!({ "id": "b" })]);
    let found = json!([{ "id": "f", "rule_id": "R1", "file": "a.py", "line_start": 3 }]);
    let outage = json!({ "case": "b", "tool": "t", "trial": 1, "outcome": "unavailable" });
    let score = |first: Value, code: i32| {
        project.write("s.jsonl", crate::project::lines(&[first, outage.clone()]));
        project.run("score . --profile identity --submission s.jsonl").expect(code);
    };
    score(crate::project::trial("a", "t", 1, found), 3);
    score(crate::project::trial("a", "t", 1, json!([])), 1);
}

#[test]
fn fail_fast_and_max_failures_end_a_run_early() {
    let project = with_cases(6);
    with_tool(&project, "it", "exit 9", "");
    project
        .run("run suite --tool tools/it.toml -j 1 --fail-fast")
        .expect_error(5, &["stopped because 1 trial failed", "--resume"]);
    let done = project.json("store list --json")[0]["outcomes"]["crashed"].as_u64().unwrap();
    assert_eq!(done, 1);
    project
        .run("run suite --tool tools/it.toml -j 1 --max-failures 3")
        .expect_error(5, &["stopped because 3 trials failed"]);
}

#[test]
fn retry_failed_repeats_failed_trials() {
    let project = with_cases(2);
    // It fails while a file outside exists; a manifest may request to read one.
    project.write("broken", "");
    let script = format!("[ -e {0} ] && exit 7; {FINDS_IT}", project.path("broken").display());
    with_tool(&project, "it", &script, &format!("expose = [\"{}\"]", project.path("broken").display()));
    project.run("run suite --tool tools/it.toml --trials 1").expect(5);
    std::fs::remove_file(project.path("broken")).unwrap();
    let again = project.run("run --resume latest --json -q").expect(5);
    assert_eq!(outcomes(&super::parsed(&again)), "crashed 2");
    let again = project.run("run --resume latest --retry-failed --json -q").expect(0);
    assert_eq!(outcomes(&super::parsed(&again)), "reported 2");
    // An interrupted retry does not remove the report of the run.
    project.write("broken", "");
    project.run("run --resume latest --retry-failed -q").expect(0);
    assert_eq!(project.json("store verify --json")["problems"].as_array().map(Vec::len), Some(0));
}

/// An interrupted retry leaves a complete run complete.
#[test]
fn interrupted_retry_keeps_the_report() {
    let project = with_cases(4);
    with_tool(&project, "it", "exit 7", "");
    project.run("run suite --tool tools/it.toml patterns --trials 1 -q").expect(0);
    let ran = project.run("run --resume latest --retry-failed --fail-fast -q -j 1");
    ran.expect_error(5, &["stopped because 4 trials failed", "--retry-failed"]);
    let listed = project.json("store list --json");
    assert_eq!(listed[0]["state"], "complete");
    assert!(project.ok("report latest").contains("patterns"));
}

#[test]
fn skipped_trials_are_reported() {
    let project = crate::project::suite(&[serde_json::json!({ "id": "a", "issues": [{ "id": "g", "title": "x" }] })]);
    project.write("it.toml", "command = [\"true\"]\nformat = \"karat\"\n");
    let ran = project.run("run . --tool ./it.toml --trials 1");
    assert!(ran.out.contains("it: 1 trial skipped: the case has no code"), "{}", ran.out);
    ran.expect_error(5, &["the case has no code"]);
}
