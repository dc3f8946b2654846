//! Contents of the pages, for intact and damaged stores.

use super::{HOSTILE, Server, run_ids, two_runs};
use crate::project::{Project, lines, trial};
use karat_format::run::TrialDetailV1;
use karat_format::submission::TrialV1;
use karat_store::record::TrialRecord;
use karat_store::{NewRun, RunState, Store};
use serde_json::{Value, json};

#[test]
fn pages_escape_hostile_names() {
    let project = two_runs();
    let runs = run_ids(&project);
    let server = Server::start(&project, &[]);
    let (second, first) = (&runs[0], &runs[1]);
    let pages = [
        "/".to_owned(),
        format!("/runs/{first}"),
        format!("/runs/{second}"),
        "/runs/latest".to_owned(),
        format!("/runs/{first}/live"),
        format!("/compare?a={first}&b={second}"),
        format!("/compare?a={second}&b={first}"),
    ];
    for page in &pages {
        let body = server.page(page);
        assert!(body.starts_with("<!DOCTYPE html>"), "{page}");
        assert!(!body.contains("<script>alert") && !body.contains("<b title"), "{page} does not escape a name");
    }
    let list = server.page("/");
    for text in ["second", "alert(1)", "complete", "2 of 2", &format!("/runs/{first}"), "Tick two runs to compare them"]
    {
        assert!(list.contains(text), "no {text}:\n{list}");
    }
    let comparison = server.page(&pages[5]);
    assert!(
        comparison.contains("Lost") && comparison.contains(&format!("/runs/{second}#/case/two?tool=")),
        "{comparison}"
    );
    assert!(server.page(&pages[6]).contains("Gained"));
    project
        .run_list(&[
            "run",
            ".",
            "--tool",
            "replay:good.jsonl",
            "--trials",
            "1",
            "--only",
            "one",
            "--name",
            "part",
            "-q",
        ])
        .expect(0);
    let refused = server.get("/compare?a=second&b=part");
    assert!(refused.status == 409 && refused.body.contains("different cases"), "{}", refused.body);
    assert!(refused.body.contains("intersection=1") && !refused.body.contains("--intersection"), "{}", refused.body);
    assert!(server.page("/compare?a=second&b=part&intersection=1").contains("1 case left out"));
    let report = server.json(&format!("/runs/{first}/report.json"));
    assert_eq!(report["schema"], "karat.report/1");
    let progress = server.json("/runs/second/progress.json");
    assert_eq!(
        (&progress["state"], &progress["done"], &progress["planned"]),
        (&json!("complete"), &json!(2), &json!(2))
    );
    assert_eq!(progress["tools"][0]["tool"], HOSTILE);
    assert_eq!(server.page("/healthz"), "ok\n");
}

#[test]
fn header_of_a_report_leads_to_the_other_runs_of_its_suite() {
    let project = two_runs();
    let runs = run_ids(&project);
    let server = Server::start(&project, &[]);
    for (own, other) in [(&runs[0], &runs[1]), (&runs[1], &runs[0])] {
        let page = server.page(&format!("/runs/{own}"));
        let header = page.split("<header class=\"top\">").nth(1).unwrap().split("</header>").next().unwrap();
        let menu = header.split("<details class=\"switcher\">").nth(1).unwrap().split("</details>").next().unwrap();
        assert!(menu.contains(&format!("href=\"/runs/{other}\"")) && !menu.contains(own.as_str()), "{menu}");
        for part in
            ["<a class=\"brand\" href=\"/\">", "href=\"/?suite=", "href=\"#cases\"", "/report.json\"", "/live\""]
        {
            assert!(header.contains(part), "no {part} in {header}");
        }
    }
    let list = server.page("/");
    assert!(list.contains("<header class=\"top\">") && !list.contains("class=\"switcher\""), "{list}");
}

#[test]
fn missing_pages_say_what_to_do() {
    let project = two_runs();
    let runs = run_ids(&project);
    let server = Server::start(&project, &[]);
    let check = |path: &str, status: u16, text: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.body.contains(text), "{path} does not contain {text:?}: {}", answer.body);
    };
    check("/nothing", 404, "Page not found");
    check("/runs/nightly", 404, "There is no run <code>nightly</code>");
    check("/runs/secnod", 404, "did you mean <code>second</code>");
    check("/runs/nightly/report.json", 404, "\"error\"");
    check("/runs/0", 300, "type more of the id");
    check("/compare", 400, "A comparison needs two runs");
    check("/compare?a=second&b=nightly", 404, "no run");
    check("/compare?run=second", 400, "1 is chosen");
    check("/compare?run=second&run=latest&run=second", 400, "3 are chosen");
    check("/?page=999", 200, "Runs");
    check("/?page=x", 400, "page");
    check("/?suite=%3Cscript%3E", 200, "No runs of this suite");
    check(&format!("/runs/{}?x=%00", runs[0]), 200, "<!DOCTYPE html>");
    check("/runs/%FF", 400, "");
    let head = server.ask("HEAD", "/", &[], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.header("content-length").unwrap().parse::<usize>().unwrap() > 500);
    assert_eq!(server.ask("POST", "/", &[], "").status, 405);
}

#[test]
fn runs_are_found_by_name_id_suite_and_tool() {
    let project = two_runs();
    let found = json!([{ "id": "f", "title": "SQL injection", "file": "a.py", "line_start": 2 }]);
    let trials = [trial("one", "semgrep-pro", 1, found.clone()), trial("two", "semgrep-pro", 1, found)];
    project.write("other.jsonl", lines(&trials));
    project.run("run . --tool replay:other.jsonl --trials 1 --name nightly -q").expect(0);
    let server = Server::start(&project, &[]);
    let rows = |query: &str| server.page(query).matches("<tr><td").count();
    assert_eq!(rows("/"), 3);
    assert_eq!(rows("/?q=NIGHT"), 1, "by name, whatever the case");
    assert_eq!(rows("/?q=semgrep"), 1, "by tool");
    assert_eq!(rows(&format!("/?q={}", run_ids(&project)[1])), 1, "by id");
    assert_eq!(rows("/?q=semgrep+second"), 0, "every word must be there");
    let suite = project.json("store list --json")[0]["suite"].as_str().unwrap().to_owned();
    assert_eq!(rows(&format!("/?q={suite}")), 3, "by suite");
    let none = server.page("/?q=%3Cb%3Enobody");
    assert!(none.contains("No run has <strong>&lt;b&gt;nobody</strong>"), "{none}");
    assert!(none.contains("value=\"&lt;b&gt;nobody\""), "what was searched for is still in the field: {none}");
}

#[test]
fn runs_are_grouped_by_suite_with_a_trend() {
    let project = two_runs();
    begin_run(&mut Store::open(project.path(".karat")).unwrap(), "unfinished");
    project.run("run starter --tool patterns --only py-* --trials 1 --name other -q").expect(0);
    let server = Server::start(&project, &[]);
    let runs = run_ids(&project);
    let list = server.page("/");
    let groups: Vec<&str> = list.split("<section class=\"suite-runs\">").skip(1).collect();
    assert_eq!(groups.len(), 2, "{list}");
    assert!(groups[0].contains(">other<") && !groups[0].contains("polyline"), "{}", groups[0]);
    assert_eq!(groups[1].matches("<tr><td").count(), 3, "{}", groups[1]);
    let boxes = groups[1].matches("type=\"checkbox\"").count();
    assert_eq!(boxes, 2, "a run without a report cannot be compared: {}", groups[1]);
    assert!(groups[1].contains("Best F1 of the last 2 runs, oldest first: 1.000, 0.500\""), "{}", groups[1]);
    assert!(groups[1].contains(&format!("/compare?a={}&amp;b={}", runs[3], runs[2])), "{}", groups[1]);
    // The name comes before the id, and the exact time is in the tooltip.
    assert!(groups[1].contains("<span class=\"name\">second</span> <span class=\"id\">"), "{}", groups[1]);
    assert!(groups[1].contains(" UTC\">"), "{}", groups[1]);
}

#[test]
fn trend_connects_only_runs_on_the_same_cases_by_the_same_rules() {
    let project = two_runs();
    project.run("run . --tool replay:bad.jsonl --trials 1 --only one --name selected -q").expect(0);
    project.run("run . --tool replay:bad.jsonl --trials 1 --set threshold=0.9 --name rules -q").expect(0);
    let cases = project.read("cases.jsonl");
    project.write("cases.jsonl", cases.replacen("\"line_start\":2", "\"line_start\":3", 1));
    assert_ne!(project.read("cases.jsonl"), cases);
    for name in ["changed", "again"] {
        project.run(&format!("run . --tool replay:bad.jsonl --trials 1 --name {name} -q")).expect(0);
    }
    let list = Server::start(&project, &[]).page("/");
    let label = list.split("aria-label=\"Best F1 of the last 6 runs, oldest first: ").nth(1).unwrap();
    let (values, words) = label.split('"').next().unwrap().split_once(". ").unwrap();
    let stretches: Vec<usize> = values.split(" | ").map(|stretch| stretch.split(", ").count()).collect();
    assert_eq!(stretches, [2, 1, 1, 2], "{values}");
    assert!(words.starts_with("The line breaks where the suite, its selected cases or the profile changed"), "{words}");
    assert_eq!((list.matches("<polyline").count(), list.matches("r=\"1.5\"").count()), (2, 2), "{list}");
}

#[test]
fn ticked_runs_are_compared_from_the_earlier_to_the_later() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let runs = run_ids(&project);
    let (second, first) = (&runs[0], &runs[1]);
    let list = server.page("/");
    assert!(list.contains("<form id=\"choose\" action=\"/compare\" method=\"get\">"), "{list}");
    assert_eq!(list.matches("<input type=\"checkbox\" name=\"run\"").count(), 2);
    let expected = format!("/compare?a={first}&b={second}");
    for ticked in [[first, second], [second, first]] {
        let answer = server.get(&format!("/compare?run={}&run={}", ticked[0], ticked[1]));
        assert_eq!((answer.status, answer.header("location")), (303, Some(expected.as_str())));
    }
}

#[test]
fn comparison_begins_with_its_verdict() {
    let project = two_runs();
    let found = json!([{ "id": "f", "title": "SQL injection", "file": "a.py", "line_start": 2 }]);
    let alone = ["one", "two"].map(|case| trial(case, "newcomer", 1, found.clone()));
    project.write("alone.jsonl", lines(&alone));
    project.run("run . --tool replay:bad.jsonl replay:alone.jsonl --trials 1 --name both -q").expect(0);
    let server = Server::start(&project, &[]);
    let main = |path: &str| server.page(path).split_once("<main").unwrap().1.to_owned();
    let runs = run_ids(&project);
    let compared = main(&format!("/compare?a={}&b={}", runs[2], runs[1]));
    let (head, rest) = compared.split_once("</h1>").unwrap();
    // Two cases decide nothing.
    assert!(head.contains("<span class=\"conclusion unclear\">unclear</span>"), "{head}");
    assert!(head.contains("It is unclear whether") && head.contains("F1 1.000 → 0.500"), "{head}");
    assert!(rest.contains("<table class=\"by-tool cards\">"), "{rest}");
    let identical = main("/compare?a=second&b=both");
    assert!(identical.split("</h1>").next().unwrap().contains("Identical results"), "{identical}");
    assert!(identical.contains("<tr class=\"identical\">") && identical.contains("only in both"), "{identical}");
    assert!(identical.contains("<strong>newcomer</strong>"), "{identical}");
    assert!(main("/compare?a=both&b=second").contains("only in both"));
}

#[test]
fn refused_comparison_lists_every_reason_with_what_helps() {
    let project = two_runs();
    project.run("run . --tool replay:good.jsonl --trials 1 --only one --name strict --set threshold=0.9 -q").expect(0);
    let server = Server::start(&project, &[]);
    let refused = server.get("/compare?a=second&b=strict");
    assert_eq!(refused.status, 409, "{}", refused.body);
    let list = refused.body.split_once("<ul class=\"refusals\">").unwrap().1.split_once("</ul>").unwrap().0;
    assert_eq!(list.matches("<li>").count(), 2, "{list}");
    assert!(list.contains("They were run on different cases of the suite."), "{list}");
    assert!(list.contains("They were scored with different values of the profile karat."), "{list}");
    assert!(list.contains("--profile NAME -o a.json"), "{list}");
    // The values are there for those who open them; the cases alone would not help.
    let (before, details) = list.split_once("<details>").unwrap();
    assert!(details.contains("threshold is") && !before.contains("threshold is"), "{list}");
    assert!(!list.contains("intersection=1"), "{list}");
}

#[test]
fn stamp_of_a_page_changes_with_its_content() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let runs = run_ids(&project);
    let stamp = |path: &str| server.ask("HEAD", path, &[], "").header("etag").unwrap().to_owned();
    let compare = format!("/compare?a={}&b={}", runs[1], runs[0]);
    let pages = ["/".to_owned(), format!("/runs/{}", runs[0]), compare];
    let before: Vec<String> = pages.iter().map(|page| stamp(page)).collect();
    for (page, stamp) in pages.iter().zip(&before) {
        let answer = server.get(page);
        assert_eq!(answer.header("etag"), Some(stamp.as_str()), "{page}");
        let escaped = stamp.replace('"', "&quot;");
        assert!(answer.body.contains(&format!("data-stamp=\"{escaped}\" hidden")), "{page}");
    }
    begin_run(&mut Store::open(project.path(".karat")).unwrap(), "new");
    assert_ne!(stamp("/"), before[0]);
    assert_eq!(stamp(&pages[2]), before[2], "an unrelated run changed a comparison");
}

#[test]
fn missing_empty_and_damaged_stores_are_explained() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let missing = server.get("/");
    assert!(missing.status == 503 && missing.body.contains("karat run"), "{}", missing.body);
    drop(Store::create(project.path(".karat")).unwrap());
    assert!(server.page("/").contains("karat run code-review"), "the page of an empty store says how to start");
    std::fs::remove_dir_all(project.path(".karat")).unwrap();
    assert_eq!(server.get("/").status, 503);
    std::fs::create_dir(project.path(".karat")).unwrap();
    std::fs::write(project.path(".karat/karat.db"), "this is no database, and it is long enough to be looked at")
        .unwrap();
    let damaged = server.get("/");
    assert!(damaged.status == 500 && damaged.body.contains("karat store verify"), "{}", damaged.body);
}

pub(super) fn begin_run(store: &mut Store, name: &str) -> karat_store::RunId {
    let tool = json!({ "name": "slow", "kind": "command", "trials": 2, "isolation": "full", "manifest": {} });
    let plan = json!({
        "schema": "karat.plan/1", "suite": { "name": "tiny", "place": "nowhere", "digest": "d1", "cases": 2 },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
        "seed": 7, "tools": [tool], "cases": ["one", "two"],
    });
    let plan = serde_json::from_value(plan).unwrap();
    let new = NewRun { name: Some(name.to_owned()), plan, suite_snapshot: b"{}".to_vec(), scratch: None };
    store.begin(&new).unwrap()
}

pub(super) fn record(case: &str, attempt: u32, outcome: &str, reason: Option<&str>) -> TrialRecord {
    let mut line = json!({ "case": case, "tool": "slow", "trial": 1, "outcome": outcome });
    line["cost_usd"] = json!(0.25);
    line["tokens_in"] = json!(1000);
    let (trial, faults) = serde_json::from_value::<TrialV1>(line).unwrap().into_trial();
    assert_eq!(faults, []);
    let detail = TrialDetailV1 { reason: reason.map(str::to_owned), started_ms: 1_000, ..TrialDetailV1::default() };
    TrialRecord { trial, attempt, detail, artifacts: Vec::new() }
}

#[test]
fn run_started_while_serving_is_followed_to_its_end() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    assert!(!server.page("/").contains("going-on"));
    let mut store = Store::open(project.path(".karat")).unwrap();
    let run = begin_run(&mut store, "going-on");
    let lock = store.lock(&run).unwrap();
    let list = server.page("/");
    assert!(list.contains("going-on") && list.contains("running") && list.contains("0 of 4"), "{list}");
    let progress = |expect: &[(&str, Value)]| {
        let progress = server.json("/runs/going-on/progress.json");
        for (key, value) in expect {
            assert_eq!(progress.pointer(key), Some(value), "{key} of {progress}");
        }
    };
    progress(&[("/state", json!("running")), ("/done", json!(0)), ("/planned", json!(4))]);
    progress(&[("/all_failed", json!([]))]);
    store.save(&run, &[record("one", 1, "crashed", Some("<i>no key</i>"))]).unwrap();
    progress(&[
        ("/all_failed", json!([])),
        ("/done", json!(1)),
        ("/failed", json!(1)),
        ("/failures/0/reason", json!("<i>no key</i>")),
    ]);
    // A second attempt replaces the first, but the cost of both counts.
    store.save(&run, &[record("one", 2, "reported", None), record("two", 1, "reported", None)]).unwrap();
    progress(&[
        ("/done", json!(2)),
        ("/failed", json!(0)),
        ("/spent/usd", json!(0.75)),
        ("/spent/tokens_in", json!(3000)),
    ]);
    progress(&[("/tools/0/done", json!(2)), ("/tools/0/planned", json!(4)), ("/last/0/case", json!("two"))]);
    assert!(server.page("/runs/going-on/live").contains("progress.json"));
    let compared = server.get("/compare?a=second&b=going-on");
    assert!(compared.status == 409 && compared.body.contains("2 of 4 trials are done"), "{}", compared.body);
    drop(lock);
    progress(&[("/state", json!("interrupted"))]);
    store.finish(&run, RunState::Stopped, None).unwrap();
    progress(&[("/state", json!("stopped")), ("/left_ms", Value::Null)]);
}

#[test]
fn failed_run_has_a_badge_and_no_best_tool() {
    let project = two_runs();
    let lines =
        ["one", "two"].map(|case| json!({ "case": case, "tool": "down", "trial": 1, "outcome": "unavailable" }));
    project.write("down.jsonl", crate::project::lines(&lines));
    project.run("run . --tool replay:down.jsonl --trials 1 --name outage -q").expect(5);
    let server = Server::start(&project, &[]);
    let list = server.page("/");
    let row = list.split("<tr>").find(|row| row.contains(">outage<")).unwrap();
    for text in ["<span class=\"state failed\">failed</span>", "no trial came to a report", "2 unavailable"] {
        assert!(row.contains(text), "no {text}:\n{row}");
    }
    let page = server.page("/runs/outage");
    for text in ["<span class=\"badge failed\">failed</span>", "state failed", "None of 2 trials came to a report"] {
        assert!(page.contains(text), "no {text}:\n{page}");
    }
    let progress = server.json("/runs/outage/progress.json");
    assert_eq!(
        (&progress["state"], &progress["failed"], &progress["unavailable"]),
        (&json!("failed"), &json!(0), &json!(2))
    );
    assert_eq!(server.json("/runs/outage/report.json")["status"], "failed");
}

#[test]
fn unfinished_run_shows_partial_results() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let run = run_ids(&project)[0].clone();
    Store::open(project.path(".karat")).unwrap().reopen(&resolve_run(&project, &run)).unwrap();
    let page = server.page(&format!("/runs/{run}"));
    assert!(page.contains("This run was interrupted") && page.contains("karat run --resume"), "{page}");
    assert_eq!(server.get(&format!("/runs/{run}/report.json")).status, 404);
}

#[test]
fn trials_not_yet_run_are_no_misses() {
    let project = two_runs();
    let mut store = Store::open(project.path(".karat")).unwrap();
    let other = resolve_run(&project, &run_ids(&project)[0]);
    let (mut plan, suite_snapshot) = (store.plan(&other).unwrap(), store.suite_snapshot(&other).unwrap());
    plan.tools.truncate(1);
    (plan.tools[0].name, plan.tools[0].trials) = ("slow".to_owned(), 2);
    plan.cases.truncate(2);
    let [done, half] = plan.cases.as_slice() else { panic!("two cases are needed") };
    let (done, half) = (done.clone(), half.clone());
    let new = NewRun { name: Some("half-way".to_owned()), plan, suite_snapshot, scratch: None };
    let run = store.begin(&new).unwrap();
    let _lock = store.lock(&run).unwrap();
    let record_of_trial = |case: &str, number: u32| {
        let mut record = record(case, 1, "reported", None);
        record.trial.number = number;
        record
    };
    store.save(&run, &[record_of_trial(&half, 1)]).unwrap();
    let server = Server::start(&project, &[]);
    // No case is complete, so there is no score yet.
    let early = server.get("/runs/half-way");
    assert_eq!((early.status, early.header("location")), (303, Some(format!("/runs/{run}/live").as_str())));
    store.save(&run, &[record_of_trial(&done, 1), record_of_trial(&done, 2)]).unwrap();
    drop(server);
    let page = Server::start(&project, &[]).page("/runs/half-way");
    assert!(page.contains("1 of 2 cases are finished by every tool that has started"), "{page}");
    assert!(page.contains("3 of 4 trials are done"), "{page}");
    assert!(page.contains("1 case, ") && !page.contains("count as skipped"), "{page}");
}

fn resolve_run(project: &Project, run: &str) -> karat_store::RunId {
    Store::read_only(project.path(".karat")).unwrap().resolve_run(run).unwrap()
}

#[test]
fn damaged_report_does_not_hide_other_runs() {
    let project = two_runs();
    let mut store = Store::open(project.path(".karat")).unwrap();
    let run = begin_run(&mut store, "broken");
    store.finish(&run, RunState::Complete, Some(b"{\"schema\":")).unwrap();
    drop(store);
    let server = Server::start(&project, &[]);
    let page = server.get("/runs/broken");
    assert!(page.status == 500 && page.body.contains("could not be read"), "{}", page.body);
    let list = server.page("/");
    assert!(list.contains("not readable by this version") && list.contains("second"), "{list}");
}

#[test]
fn unnamed_run_is_called_by_its_suite_and_time() {
    let project = two_runs();
    for name in ["", "--name named"] {
        project.run(&format!("run . --tool replay:bad.jsonl --trials 1 -q {name}")).expect(0);
    }
    let listed = project.json("store list --json");
    let field = |at: usize, name: &str| listed[at][name].as_str().unwrap().to_owned();
    let (id, short) = (field(1, "id"), field(1, "short_id"));
    let title = |page: &str| page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_owned();
    let crumbs = |page: &str| page.split("class=\"crumbs\"").nth(1).unwrap().split("</nav>").next().unwrap().to_owned();
    let time = regex::Regex::new(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC").unwrap();

    // As a file.
    project.ok(&format!("report {short} -o page.html -q"));
    let page = project.read("page.html");
    for shown in [title(&page), crumbs(&page)] {
        assert!(shown.contains("tiny, ") && time.is_match(&shown) && !shown.contains(&short), "{shown}");
    }
    let method = page.split("<section id=\"method\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(method.contains(&format!("Run <code>{id}</code>")), "{method}");
    project.ok("report named -o named.html -q");
    let named = project.read("named.html");
    assert!(title(&named).starts_with("named ·") && crumbs(&named).contains("named"), "{}", title(&named));

    // Served.
    let server = Server::start(&project, &[]);
    for path in [format!("/runs/{id}"), format!("/runs/{id}/live")] {
        let page = server.page(&path);
        let (title, crumbs) = (title(&page), crumbs(&page));
        assert!(title.contains("tiny, ") && time.is_match(&title), "{path}: {title}");
        assert!(time.is_match(&crumbs) && !crumbs.contains(&format!(">{short}<")), "{path}: {crumbs}");
    }
    let page = server.page("/runs/named");
    assert_eq!(title(&page), "named · tiny");
    // Among the other runs, the unnamed one has its id beside its time.
    assert!(crumbs(&page).contains(&format!("<span class=\"dim\">{short}</span>")), "{}", crumbs(&page));
}
