//! The label page: the requests of its script to a real server, and their effect on the store.

use crate::project::{Project, lines, trial};
use crate::serve::{Answer, Server};
use serde_json::{Value, json};

/// A marker in everything that annotators must not see.
const MARK: &str = "marktool";

/// A project and a server started with `--label`.
struct LabelServer {
    project: Project,
    server: Server,
    token: String,
}

fn label_server() -> LabelServer {
    start_server(project())
}

/// A project with a stored run `nightly` of two tools on two cases with code.
pub(crate) fn project() -> Project {
    let case = |id: &str| {
        format!(
            "id: {id}\nissues:\n  - id: g1\n    title: SQL injection in order search\n    file: orders.py\n    line_start: 3\n    \
             line_end: 4\n    severity: high\n    keywords: [sql]\n  - id: g2\n    title: Connection never closed\n    file: \
             orders.py\n    line_start: 9\n"
        )
    };
    let code = "import db\n\ndef search(term):\n    return db.run('select * from o where t = ' + term)\n\n\n\n\n    c = db.open()\n";
    let injection = |id: &str| {
        json!({ "id": id, "title": "Possible injection", "message": "user input reaches a sql query", "file": "orders.py",
                "line_start": 4, "severity": "critical", "rule_id": format!("{MARK}-rule") })
    };
    let leak =
        json!({ "id": format!("{MARK}-2"), "message": "resource may leak", "file": "orders.py", "line_start": 9 });
    let extra = |id: &str| {
        json!({ "id": id, "title": "Unused <script>alert(1)</script> import", "message": "db is imported twice",
                "file": "orders.py", "line_start": 1 })
    };
    let first = [
        trial("orders", MARK, 1, json!([injection(MARK), leak, extra("e1")])),
        trial("items", MARK, 1, json!([injection("x")])),
    ];
    let second =
        [trial("orders", "tool-b", 1, json!([injection("f"), extra("e2")])), trial("items", "tool-b", 1, json!([]))];
    let mut project = Project::new().with("karat.toml", "[suite]\nname = \"tiny\"\n");
    for id in ["orders", "items"] {
        project = project
            .with(&format!("cases/{id}/case.yaml"), case(id))
            .with(&format!("cases/{id}/before/orders.py"), "import os\n")
            .with(&format!("cases/{id}/after/orders.py"), code);
    }
    let project = project.with("a.jsonl", lines(&first)).with("b.jsonl", lines(&second));
    project.run("run . --tool replay:a.jsonl replay:b.jsonl --name nightly -q").expect(0);
    project
}

fn start_server(project: Project) -> LabelServer {
    let server = Server::start(&project, &["--label"]);
    let address = server.printed["label_url"].as_str().unwrap();
    let token = address.split_once("#token=").unwrap().1.to_owned();
    LabelServer { project, server, token }
}

impl LabelServer {
    fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json"), ("x-karat-token", self.token.as_str())];
        self.server.ask("POST", path, &headers, &body.to_string())
    }

    #[track_caller]
    fn post_ok(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    fn list(&self, kind: &str, name: &str) -> Value {
        self.server.json(&format!("/api/label/nightly/{kind}?as={name}"))
    }

    fn open_ids(&self, kind: &str, name: &str) -> Vec<String> {
        let list = self.list(kind, name);
        list["open"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    fn stored(&self, flags: &str) -> Vec<Value> {
        self.project.json(&format!("label list {flags} --json")).as_array().unwrap().clone()
    }
}

fn answer(name: &str, id: &str, answer: &str) -> Value {
    json!({ "as": name, "id": id, "answer": answer })
}

#[test]
fn answer_is_stored_once_and_the_next_item_follows() {
    let labels = label_server();
    let list = labels.list("pairs", "anna");
    let open = labels.open_ids("pairs", "anna");
    let terminal = labels.project.json("label next nightly --as anna --json");
    assert_eq!(terminal["next"]["id"], open[0].as_str(), "`label next` asks about another pair");
    assert_eq!(list["items"][0]["id"], open[0].as_str());
    assert_eq!(list["progress"]["open"], open.len());
    let mut body = answer("anna", &open[0], "yes");
    body["note"] = json!("  as clear as day ");
    body["confidence"] = json!(0.7);
    let reply = labels.post_ok("/api/label/nightly/pairs", &body);
    assert!(reply["headline"].as_str().unwrap().starts_with("1 label, F1 ± "), "{reply}");
    assert!(reply["message"].as_str().unwrap().starts_with("reported by "), "{reply}");
    let kept = &labels.stored("--all")[0];
    assert_eq!(
        (&kept["note"], &kept["confidence"], &kept["source"]),
        (&json!("as clear as day"), &json!(0.7), &json!("asked"))
    );
    // Sending it again, as after a lost reply, changes nothing.
    labels.post_ok("/api/label/nightly/pairs", &body);
    assert_eq!(labels.stored("--all --history").len(), 1);
    let refused = labels.post("/api/label/nightly/pairs", &answer("anna", &open[0], "no"));
    assert_eq!(refused.status, 409);
    assert!(
        refused.body.contains("anna already labelled this pair yes") && !refused.body.contains("--change"),
        "{}",
        refused.body
    );
    assert_eq!(labels.open_ids("pairs", "anna"), open[1..]);
    assert_eq!(labels.open_ids("pairs", "ben"), open, "labels of others changed the open items");
    let bound = |list: &Value| list["progress"]["bounds"]["now"].as_f64().unwrap();
    assert!(bound(&labels.list("pairs", "anna")) <= bound(&list));
}

#[test]
fn responses_hide_tools_judges_and_other_annotators() {
    let labels = label_server();
    let (mut responses, mut pages) = (String::new(), String::new());
    for kind in ["pairs", "extras", "audits"] {
        let open = labels.open_ids(kind, "anna");
        let (hers, his) = if kind == "audits" { ("BONUS_VALID", "HALLUCINATED") } else { ("yes", "no") };
        let mut body = answer("anna", &open[0], hers);
        body["note"] = json!("secret-note");
        labels.post_ok(&format!("/api/label/nightly/{kind}"), &body);
        responses.push_str(&labels.list(kind, "ben").to_string());
        for id in labels.open_ids(kind, "ben") {
            responses.push_str(&labels.server.page(&format!("/api/label/nightly/{kind}/item/{id}")));
        }
        pages.push_str(&labels.server.page(&format!("/label/nightly/{kind}?as=ben")));
        // Nor after he has labelled the same item, since he could undo and change his label.
        responses.push_str(
            &labels.post_ok(&format!("/api/label/nightly/{kind}"), &answer("ben", &open[0], his)).to_string(),
        );
        responses.push_str(&labels.list(kind, "ben").to_string());
    }
    for word in [MARK, "tool-b", "anna", "secret-note", "human:"] {
        assert!(!responses.contains(word) && !pages.contains(word), "{word} is shown");
    }
    // What is asked, with all its answers, is no label.
    let question = regex::Regex::new(r#""ask":\{[^\[]*\[[^\]]*\][^}]*\}|"field":"classification""#).unwrap();
    let responses = question.replace_all(&responses, "");
    for word in ["probability", "swing", "\"yes\"", "BONUS_VALID", "\"classification\"", "agree"] {
        assert!(!responses.contains(word), "{word} is shown");
    }
    assert!(responses.contains("Possible injection") && responses.contains("resource may leak"));
}

#[test]
fn undone_labels_are_open_again() {
    let labels = label_server();
    let open = labels.open_ids("pairs", "anna");
    labels.post_ok("/api/label/nightly/pairs", &answer("anna", &open[0], "yes"));
    labels.post_ok("/api/label/nightly/pairs", &answer("ben", &open[0], "no"));
    labels.post_ok("/api/label/nightly/pairs", &answer("anna", &open[1], "partial"));
    let reply = labels.post_ok("/api/label/nightly/pairs/undo", &json!({ "as": "anna" }));
    assert_eq!((&reply["said"], &reply["undone"]["id"]), (&json!("partial"), &json!(open[1])));
    assert_eq!(labels.open_ids("pairs", "anna"), open[1..]);
    // Undo withdraws an extra with all its texts, and no other kind.
    let extra = labels.open_ids("extras", "anna").remove(0);
    labels.post_ok("/api/label/nightly/extras", &answer("anna", &extra, "no"));
    let reply = labels.post_ok("/api/label/nightly/extras/undo", &json!({ "as": "anna" }));
    assert_eq!(reply["undone"]["id"], extra.as_str());
    let nothing = labels.post_ok("/api/label/nightly/extras/undo", &json!({ "as": "anna" }));
    assert_eq!((&nothing["said"], &nothing["undone"]), (&Value::Null, &Value::Null));
    assert_eq!(labels.stored("--all").len(), 2);
    let history = labels.project.ok("label list --all --history");
    assert!(history.contains("withdrawn"), "{history}");
}

#[test]
fn concurrent_answers_are_all_stored() {
    let labels = label_server();
    let open = labels.open_ids("pairs", "anna");
    std::thread::scope(|scope| {
        for name in ["anna", "ben", "carl"] {
            let (labels, open) = (&labels, &open);
            scope.spawn(move || {
                for id in open {
                    labels.post_ok("/api/label/nightly/pairs", &answer(name, id, "no"));
                }
            });
        }
    });
    assert_eq!(labels.stored("--all").len(), 3 * open.len());
    labels.project.run("store verify").expect(0);
    let reply = labels.list("pairs", "anna");
    assert_eq!(reply["open"], json!([]));
    assert_eq!(
        reply["progress"].get("agreement"),
        None,
        "with so few items it would reveal the labels of others: {reply}"
    );
}

#[test]
fn invalid_answers_are_refused_with_a_message() {
    let labels = label_server();
    let id = labels.open_ids("pairs", "anna").remove(0);
    let check = |path: &str, body: Value, status: u16, message: &str| {
        let answer = labels.post(path, &body);
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
        let error: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(error["error"].as_str().unwrap().contains(message), "{path} {body}: {error}");
    };
    let pairs = "/api/label/nightly/pairs";
    check(pairs, answer("anna", &id, "maybe"), 422, "yes, no or partial");
    check(pairs, answer("a:b", &id, "yes"), 400, "no colon");
    check(pairs, answer("", &id, "yes"), 400, "The annotator is missing");
    check(pairs, answer("anna", "ffffffffffff", "yes"), 404, "reload the page");
    check(pairs, json!({ "as": "anna", "id": id, "answer": "yes", "confidence": 7 }), 422, "from 0 to 1");
    check(pairs, json!({ "as": "anna", "id": id, "answer": "yes", "note": "x".repeat(2001) }), 422, "2000 characters");
    check(pairs, json!({ "as": "anna", "id": id, "answer": "yes", "tool": "t" }), 422, "tool");
    check("/api/label/nightly/rumours", answer("anna", &id, "yes"), 404, "pairs, extras or audits");
    check("/api/label/nobody/pairs", answer("anna", &id, "yes"), 404, "nobody");
    let without = labels.server.ask(
        "POST",
        pairs,
        &[("content-type", "application/json")],
        &answer("anna", &id, "yes").to_string(),
    );
    assert_eq!(without.status, 403, "{}", without.body);
    assert_eq!(labels.stored("--all"), [] as [Value; 0]);
}

#[test]
fn pages_have_the_elements_of_the_script_and_escape_tool_output() {
    let labels = label_server();
    let start = labels.server.page("/label");
    for part in ["id=\"name\"", "id=\"run\"", "value=\"audits\"", "nightly"] {
        assert!(start.contains(part), "no {part}: {start}");
    }
    let go = labels.server.get("/label/go?run=nightly&kind=extras&as=anna%20b");
    assert_eq!((go.status, go.header("location")), (303, Some("/label/nightly/extras?as=anna%20b")));
    assert_eq!(labels.server.get("/label/nightly/pairs").header("location"), Some("/label"), "labelling needs a name");
    for (kind, keys) in
        [("pairs", &["y", "n", "p", "s", "u", "m", "?"][..]), ("extras", &["y", "n", "g"]), ("audits", &["1", "9"])]
    {
        let page = labels.server.page(&format!("/label/nightly/{kind}?as=anna"));
        for part in
            ["id=\"labelling\"", "id=\"headline\"", "id=\"item\"", "id=\"status\"", "data-as=\"anna\"", "id=\"help\""]
        {
            assert!(page.contains(part), "{kind}: no {part}");
        }
        for key in keys {
            assert!(page.contains(&format!("data-key=\"{key}\"")), "{kind}: no key {key}");
        }
        assert!(!page.contains("style=\"") && !page.contains("onclick"), "forbidden by the content security policy");
    }
    let hostile = labels.server.page("/label/nightly/pairs?as=%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    assert!(!hostile.contains("<script>alert"), "{hostile}");
    let closed = Server::start(&labels.project, &[]);
    let answer = closed.get("/label");
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("--label"), "{}", answer.body);
    assert_eq!(closed.get("/api/label/nightly/pairs?as=anna").status, 403);
}

#[test]
fn confirmed_extra_can_be_added_as_a_golden() {
    let labels = label_server();
    let list = labels.list("extras", "anna");
    let extras = list["items"].as_array().unwrap();
    let import =
        extras.iter().find(|item| item["finding"]["title"].as_str().is_some_and(|t| t.contains("import"))).unwrap();
    let id = import["id"].as_str().unwrap();
    assert_eq!(import["code"][0]["lines"][0]["finding"], true, "{import}");
    let confirmed = || labels.server.json("/api/label/nightly/confirmed");
    assert_eq!(confirmed()["goldens"], json!([]));
    labels.post_ok("/api/label/nightly/extras", &answer("anna", id, "yes"));
    let reply = confirmed();
    let golden = &reply["goldens"][0];
    assert!(golden["ids"].as_array().unwrap().contains(&json!(id)), "{reply}");
    assert!(golden["yaml"].as_str().unwrap().contains("acceptance: acceptable"), "{reply}");
    let request = json!({ "as": "anna", "case": golden["case"], "golden": golden["golden"] });
    let added = labels.post_ok("/api/label/nightly/confirmed", &request);
    assert_eq!(added["files"], json!(["cases/orders/case.yaml"]));
    assert!(labels.project.read("cases/orders/case.yaml").contains("acceptance: acceptable"));
    labels.project.run("check .").expect(0);
    let again = labels.post("/api/label/nightly/confirmed", &request);
    assert_eq!(again.status, 409, "{}", again.body);
    assert_eq!(confirmed()["goldens"], json!([]));
    assert!(labels.server.page("/label/nightly/confirmed?as=anna").contains("id=\"confirmed\""));
}

#[test]
fn built_in_suite_is_not_changed() {
    let project = Project::new();
    project.run("run starter --tool patterns --name nightly -q").expect(0);
    let labels = start_server(project);
    let reply = labels.server.json("/api/label/nightly/confirmed");
    assert!(reply["refused"].as_str().unwrap().contains("built-in"), "{reply}");
    let answer = labels.post("/api/label/nightly/confirmed", &json!({ "as": "anna", "case": "c", "golden": "g" }));
    assert_eq!(answer.status, 409, "{}", answer.body);
}

#[test]
fn labels_change_scores_of_runs_and_their_pages() {
    let labels = label_server();
    let f1 = |report: &Value| report["tools"][0]["metrics"]["f1"]["value"].as_f64().unwrap();
    let before = labels.project.json("score nightly --json");
    let without = labels.project.json("score nightly --judge none --json");
    for id in labels.open_ids("pairs", "anna") {
        labels.post_ok("/api/label/nightly/pairs", &answer("anna", &id, "no"));
    }
    let after = labels.project.json("score nightly --json");
    assert!(f1(&before) > 0.0 && f1(&after) == 0.0, "{} {}", f1(&before), f1(&after));
    let judges: Vec<&str> =
        after["judges"].as_array().unwrap().iter().map(|judge| judge["judge"].as_str().unwrap()).collect();
    assert!(judges.contains(&"human:anna"), "{judges:?}");
    assert_eq!(
        f1(&labels.project.json("score nightly --judge none --json")),
        f1(&without),
        "--judge none ignores labels"
    );
    assert!(labels.server.page("/runs/nightly").contains("human:anna"), "the run's page does not name the annotator");
    // Withdrawn labels have no effect.
    while !labels.post_ok("/api/label/nightly/pairs/undo", &json!({ "as": "anna" }))["said"].is_null() {}
    assert_eq!(f1(&labels.project.json("score nightly --json")), f1(&before));
    // A later run uses the labels.
    for id in labels.open_ids("pairs", "anna") {
        labels.post_ok("/api/label/nightly/pairs", &answer("anna", &id, "no"));
    }
    labels.project.run("run . --tool replay:a.jsonl replay:b.jsonl --name later -q").expect(0);
    assert_eq!(f1(&labels.server.json("/runs/later/report.json")), 0.0);
}

/// Any decision of audits is asked on the page as in the terminal, by keys alone.
#[test]
fn page_asks_the_decisions_that_are_named() {
    let labels = label_server();
    let on = "verdict,confidence,rcir";
    let list = labels.server.json(&format!("/api/label/nightly/audits?as=anna&on={on}"));
    let terminal = labels.project.json(&format!("label audits nightly --as anna --on {on} --json"));
    assert_eq!((&list["items"][0]["id"], list["items"][0]["ask"].is_object()), (&terminal["next"]["id"], true));
    let page = labels.server.page(&format!("/label/nightly/audits?as=anna&on={on}"));
    for part in [
        "data-on=\"verdict,confidence,rcir\"",
        "Does the response call the code vulnerable?",
        "data-key=\"x\"",
        "id=\"number\"",
    ] {
        assert!(page.contains(part), "no {part}: {page}");
    }
    let start = labels.server.page("/label");
    assert!(start.contains("name=\"rcir\"") && start.contains("type=\"checkbox\""), "{start}");
    let mut answers = Vec::new();
    for (at, open) in list["open"].as_array().unwrap().iter().take(3).enumerate() {
        let id = open.as_str().unwrap();
        let item = labels.server.json(&format!("/api/label/nightly/audits/item/{id}?as=anna&on={on}"));
        assert!(!item.to_string().contains(MARK), "{item}");
        let said = ["vulnerable", "85%", "0.75"][at];
        let mut body = answer("anna", id, said);
        body["on"] = json!(on);
        labels.post_ok("/api/label/nightly/audits", &body);
        answers.push(item["field"].as_str().unwrap().to_owned());
    }
    assert_eq!(answers, ["said_vulnerable", "confidence_expressed", "rcir"]);
    let stored = labels.stored("--all");
    assert_eq!(
        [&stored[0]["said_vulnerable"], &stored[1]["confidence_expressed"], &stored[2]["rcir"]],
        [&json!(true), &json!(0.85), &json!(0.75)],
        "{stored:?}"
    );
    // What is no answer to the question is refused.
    let id = labels.server.json(&format!("/api/label/nightly/audits?as=anna&on={on}"))["open"][0].clone();
    let wrong = labels
        .post("/api/label/nightly/audits", &json!({ "as": "anna", "id": id, "answer": "TARGET_MATCH", "on": on }));
    assert!(wrong.status == 422 && wrong.body.contains("vulnerable, safe or none"), "{}", wrong.body);
    let undone = labels.post_ok("/api/label/nightly/audits/undo", &json!({ "as": "anna", "on": on }));
    assert_eq!(undone["said"], "rcir 0.75");
    let wrong = labels.server.ask("GET", "/api/label/nightly/audits?as=anna&on=mood", &[], "");
    assert!(wrong.status == 422 && wrong.body.contains("unknown decision"), "{}", wrong.body);
}
