//! The label page: what its script asks the real server, and what the store has afterwards.

use crate::project::{Project, lines, trial};
use crate::serve::{Answer, Server};
use serde_json::{Value, json};

/// Stands wherever somebody who labels must not look.
const MARK: &str = "marktool";

/// A project and a server that takes labels.
struct Place {
    project: Project,
    server: Server,
    token: String,
}

fn place() -> Place {
    serve(project())
}

/// A run of two tools on two cases with code, called nightly.
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
            .with(&format!("cases/{id}/before/orders.py"), "import db\n")
            .with(&format!("cases/{id}/after/orders.py"), code);
    }
    let project = project.with("a.jsonl", lines(&first)).with("b.jsonl", lines(&second));
    project.run("run . --tool replay:a.jsonl replay:b.jsonl --name nightly -q").expect(0);
    project
}

fn serve(project: Project) -> Place {
    let server = Server::start(&project, &["--label"]);
    let address = server.told["label_url"].as_str().unwrap();
    let token = address.split_once("#token=").unwrap().1.to_owned();
    Place { project, server, token }
}

impl Place {
    fn post(&self, path: &str, sent: &Value) -> Answer {
        let headers = [("content-type", "application/json"), ("x-karat-token", self.token.as_str())];
        self.server.ask("POST", path, &headers, &sent.to_string())
    }

    #[track_caller]
    fn sent(&self, path: &str, sent: &Value) -> Value {
        let answer = self.post(path, sent);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    fn list(&self, kind: &str, name: &str) -> Value {
        self.server.json(&format!("/api/label/nightly/{kind}?as={name}"))
    }

    fn open(&self, kind: &str, name: &str) -> Vec<String> {
        let list = self.list(kind, name);
        list["open"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    fn labels(&self, flags: &str) -> Vec<Value> {
        self.project.json(&format!("label list {flags} --json")).as_array().unwrap().clone()
    }
}

fn says(name: &str, id: &str, answer: &str) -> Value {
    json!({ "as": name, "id": id, "answer": answer })
}

#[test]
fn an_answer_is_kept_and_the_next_is_another() {
    let place = place();
    let list = place.list("pairs", "anna");
    let open = place.open("pairs", "anna");
    let terminal = place.project.json("label next nightly --as anna --json");
    assert_eq!(terminal["next"]["id"], open[0].as_str(), "the terminal asks the same");
    assert_eq!(list["items"][0]["id"], open[0].as_str());
    assert_eq!(list["progress"]["open"], open.len());
    let mut sent = says("anna", &open[0], "yes");
    sent["note"] = json!("  as clear as day ");
    sent["confidence"] = json!(0.7);
    let told = place.sent("/api/label/nightly/pairs", &sent);
    assert!(told["headline"].as_str().unwrap().starts_with("1 label, F1 ± "), "{told}");
    assert!(told["told"].as_str().unwrap().starts_with("reported by "), "{told}");
    let kept = &place.labels("--all")[0];
    assert_eq!(
        (&kept["note"], &kept["confidence"], &kept["source"]),
        (&json!("as clear as day"), &json!(0.7), &json!("asked"))
    );
    // Sent again, as by a page that got no reply, it changes nothing.
    place.sent("/api/label/nightly/pairs", &sent);
    assert_eq!(place.labels("--all --history").len(), 1);
    let refused = place.post("/api/label/nightly/pairs", &says("anna", &open[0], "no"));
    assert_eq!(refused.status, 409);
    assert!(
        refused.body.contains("anna already labelled this pair yes") && !refused.body.contains("--change"),
        "{}",
        refused.body
    );
    assert_eq!(place.open("pairs", "anna"), open[1..]);
    assert_eq!(place.open("pairs", "ben"), open, "what others said changes nothing");
    let narrowed = |list: &Value| list["progress"]["bounds"]["now"].as_f64().unwrap();
    assert!(narrowed(&place.list("pairs", "anna")) <= narrowed(&list));
}

#[test]
fn nothing_on_the_wire_tells_tools_judges_or_what_others_say() {
    let place = place();
    let (mut told, mut pages) = (String::new(), String::new());
    for kind in ["pairs", "extras", "audits"] {
        let open = place.open(kind, "anna");
        let (hers, his) = if kind == "audits" { ("BONUS_VALID", "HALLUCINATED") } else { ("yes", "no") };
        let mut sent = says("anna", &open[0], hers);
        sent["note"] = json!("secret-note");
        place.sent(&format!("/api/label/nightly/{kind}"), &sent);
        told.push_str(&place.list(kind, "ben").to_string());
        for id in place.open(kind, "ben") {
            told.push_str(&place.server.page(&format!("/api/label/nightly/{kind}/item/{id}")));
        }
        pages.push_str(&place.server.page(&format!("/label/nightly/{kind}?as=ben")));
        // Nor after he has spoken of the same, as he could take that back and say something else.
        told.push_str(&place.sent(&format!("/api/label/nightly/{kind}"), &says("ben", &open[0], his)).to_string());
        told.push_str(&place.list(kind, "ben").to_string());
    }
    for word in [MARK, "tool-b", "anna", "secret-note", "human:"] {
        assert!(!told.contains(word) && !pages.contains(word), "{word} is told");
    }
    for word in ["probability", "swing", "\"yes\"", "BONUS_VALID", "\"classification\"", "agree"] {
        assert!(!told.contains(word), "{word} is told");
    }
    assert!(told.contains("Possible injection") && told.contains("resource may leak"));
}

#[test]
fn what_is_taken_back_is_asked_again() {
    let place = place();
    let open = place.open("pairs", "anna");
    place.sent("/api/label/nightly/pairs", &says("anna", &open[0], "yes"));
    place.sent("/api/label/nightly/pairs", &says("ben", &open[0], "no"));
    place.sent("/api/label/nightly/pairs", &says("anna", &open[1], "partial"));
    let told = place.sent("/api/label/nightly/pairs/undo", &json!({ "as": "anna" }));
    assert_eq!((&told["said"], &told["undone"]["id"]), (&json!("partial"), &json!(open[1])));
    assert_eq!(place.open("pairs", "anna"), open[1..]);
    // An extra that several texts report is taken back whole, and no other kind is.
    let extra = place.open("extras", "anna").remove(0);
    place.sent("/api/label/nightly/extras", &says("anna", &extra, "no"));
    let told = place.sent("/api/label/nightly/extras/undo", &json!({ "as": "anna" }));
    assert_eq!(told["undone"]["id"], extra.as_str());
    let nothing = place.sent("/api/label/nightly/extras/undo", &json!({ "as": "anna" }));
    assert_eq!((&nothing["said"], &nothing["undone"]), (&Value::Null, &Value::Null));
    assert_eq!(place.labels("--all").len(), 2);
    let history = place.project.ok("label list --all --history");
    assert!(history.contains("withdrawn"), "{history}");
}

#[test]
fn people_at_once_lose_nothing() {
    let place = place();
    let open = place.open("pairs", "anna");
    std::thread::scope(|scope| {
        for name in ["anna", "ben", "carl"] {
            let (place, open) = (&place, &open);
            scope.spawn(move || {
                for id in open {
                    place.sent("/api/label/nightly/pairs", &says(name, id, "no"));
                }
            });
        }
    });
    assert_eq!(place.labels("--all").len(), 3 * open.len());
    place.project.run("store verify").expect(0);
    let told = place.list("pairs", "anna");
    assert_eq!(told["open"], json!([]));
    assert_eq!(told["progress"].get("agreement"), None, "of so few it would tell what others said of each: {told}");
}

#[test]
fn what_is_no_answer_is_refused_in_words() {
    let place = place();
    let id = place.open("pairs", "anna").remove(0);
    let check = |path: &str, sent: Value, status: u16, said: &str| {
        let answer = place.post(path, &sent);
        assert_eq!(answer.status, status, "{path} {sent}: {}", answer.body);
        let error: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(error["error"].as_str().unwrap().contains(said), "{path} {sent}: {error}");
    };
    let pairs = "/api/label/nightly/pairs";
    check(pairs, says("anna", &id, "maybe"), 422, "yes, no or partial");
    check(pairs, says("a:b", &id, "yes"), 400, "no colon");
    check(pairs, says("", &id, "yes"), 400, "The annotator is missing");
    check(pairs, says("anna", "ffffffffffff", "yes"), 404, "reload the page");
    check(pairs, json!({ "as": "anna", "id": id, "answer": "yes", "confidence": 7 }), 422, "from 0 to 1");
    check(pairs, json!({ "as": "anna", "id": id, "answer": "yes", "note": "x".repeat(2001) }), 422, "2000 characters");
    check(pairs, json!({ "as": "anna", "id": id, "answer": "yes", "tool": "t" }), 422, "tool");
    check("/api/label/nightly/rumours", says("anna", &id, "yes"), 404, "pairs, extras or audits");
    check("/api/label/nobody/pairs", says("anna", &id, "yes"), 404, "nobody");
    let without =
        place.server.ask("POST", pairs, &[("content-type", "application/json")], &says("anna", &id, "yes").to_string());
    assert_eq!(without.status, 403, "{}", without.body);
    assert_eq!(place.labels("--all"), [] as [Value; 0]);
}

#[test]
fn pages_hold_what_scripts_and_readers_need_and_nothing_runs_that_a_tool_wrote() {
    let place = place();
    let start = place.server.page("/label");
    for part in ["id=\"name\"", "id=\"run\"", "value=\"audits\"", "nightly"] {
        assert!(start.contains(part), "no {part}: {start}");
    }
    let go = place.server.get("/label/go?run=nightly&kind=extras&as=anna%20b");
    assert_eq!((go.status, go.header("location")), (303, Some("/label/nightly/extras?as=anna%20b")));
    assert_eq!(place.server.get("/label/nightly/pairs").header("location"), Some("/label"), "labelling needs a name");
    for (kind, keys) in
        [("pairs", &["y", "n", "p", "s", "u", "m", "?"][..]), ("extras", &["y", "n", "g"]), ("audits", &["1", "9"])]
    {
        let page = place.server.page(&format!("/label/nightly/{kind}?as=anna"));
        for part in
            ["id=\"labelling\"", "id=\"headline\"", "id=\"item\"", "id=\"status\"", "data-as=\"anna\"", "id=\"help\""]
        {
            assert!(page.contains(part), "{kind}: no {part}");
        }
        for key in keys {
            assert!(page.contains(&format!("data-key=\"{key}\"")), "{kind}: no key {key}");
        }
        assert!(!page.contains("style=\"") && !page.contains("onclick"), "the policy would forbid it");
    }
    let hostile = place.server.page("/label/nightly/pairs?as=%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    assert!(!hostile.contains("<script>alert"), "{hostile}");
    let closed = Server::start(&place.project, &[]);
    let answer = closed.get("/label");
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("--label"), "{}", answer.body);
    assert_eq!(closed.get("/api/label/nightly/pairs?as=anna").status, 403);
}

#[test]
fn a_confirmed_extra_becomes_a_golden_of_its_case() {
    let place = place();
    let list = place.list("extras", "anna");
    let extras = list["items"].as_array().unwrap();
    let import =
        extras.iter().find(|item| item["finding"]["title"].as_str().is_some_and(|t| t.contains("import"))).unwrap();
    let id = import["id"].as_str().unwrap();
    assert_eq!(import["code"][0]["lines"][0]["finding"], true, "{import}");
    let confirmed = || place.server.json("/api/label/nightly/confirmed");
    assert_eq!(confirmed()["goldens"], json!([]));
    place.sent("/api/label/nightly/extras", &says("anna", id, "yes"));
    let told = confirmed();
    let golden = &told["goldens"][0];
    assert!(golden["ids"].as_array().unwrap().contains(&json!(id)), "{told}");
    assert!(golden["yaml"].as_str().unwrap().contains("acceptance: acceptable"), "{told}");
    let wanted = json!({ "as": "anna", "case": golden["case"], "golden": golden["golden"] });
    let added = place.sent("/api/label/nightly/confirmed", &wanted);
    assert_eq!(added["files"], json!(["cases/orders/case.yaml"]));
    assert!(place.project.read("cases/orders/case.yaml").contains("acceptance: acceptable"));
    place.project.run("check .").expect(0);
    let again = place.post("/api/label/nightly/confirmed", &wanted);
    assert_eq!(again.status, 409, "{}", again.body);
    assert_eq!(confirmed()["goldens"], json!([]));
    assert!(place.server.page("/label/nightly/confirmed?as=anna").contains("id=\"confirmed\""));
}

#[test]
fn a_built_in_suite_is_not_changed() {
    let project = Project::new();
    project.run("run starter --tool patterns --name nightly -q").expect(0);
    let place = serve(project);
    let told = place.server.json("/api/label/nightly/confirmed");
    assert!(told["refused"].as_str().unwrap().contains("built-in"), "{told}");
    let answer = place.post("/api/label/nightly/confirmed", &json!({ "as": "anna", "case": "c", "golden": "g" }));
    assert_eq!(answer.status, 409, "{}", answer.body);
}

#[test]
fn runs_and_their_pages_hear_what_people_said() {
    let place = place();
    let f1 = |report: &Value| report["tools"][0]["metrics"]["f1"]["value"].as_f64().unwrap();
    let before = place.project.json("score nightly --json");
    let without = place.project.json("score nightly --judge none --json");
    for id in place.open("pairs", "anna") {
        place.sent("/api/label/nightly/pairs", &says("anna", &id, "no"));
    }
    let after = place.project.json("score nightly --json");
    assert!(f1(&before) > 0.0 && f1(&after) == 0.0, "{} {}", f1(&before), f1(&after));
    let judges: Vec<&str> =
        after["judges"].as_array().unwrap().iter().map(|judge| judge["judge"].as_str().unwrap()).collect();
    assert!(judges.contains(&"human:anna"), "{judges:?}");
    assert_eq!(f1(&place.project.json("score nightly --judge none --json")), f1(&without), "nobody hears nobody");
    assert!(place.server.page("/runs/nightly").contains("human:anna"), "the page of the run names her");
    // What is taken back is heard no more.
    while !place.sent("/api/label/nightly/pairs/undo", &json!({ "as": "anna" }))["said"].is_null() {}
    assert_eq!(f1(&place.project.json("score nightly --json")), f1(&before));
    // A run that ends after people have spoken has heard them.
    for id in place.open("pairs", "anna") {
        place.sent("/api/label/nightly/pairs", &says("anna", &id, "no"));
    }
    place.project.run("run . --tool replay:a.jsonl replay:b.jsonl --name later -q").expect(0);
    assert_eq!(f1(&place.server.json("/runs/later/report.json")), 0.0);
}
