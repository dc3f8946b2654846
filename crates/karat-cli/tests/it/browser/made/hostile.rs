//! A suite whose every field tries to be more than text. Where anything of it runs, `window.canary` says which field it was.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Whether something ran, as an expression for the page.
pub(crate) const CANARY: &str = "window.canary ?? null";

/// Markup, code and marks for a field, each made to break out of another place: an element, an attribute, a script, a comment.
pub(crate) fn payload(field: &str) -> String {
    let run = format!("window.canary='{field}'");
    [
        format!("<script>{run}</script>"),
        format!("</script><script>{run}</script>"),
        format!("<img src=x onerror=\"{run}\">"),
        format!("\"><svg onload={run}>"),
        format!("' onmouseover='{run}' autofocus onfocus='{run}"),
        format!("</textarea></title></style><script>{run}</script>"),
        format!("<a href=\"javascript:{run}\">x</a> [x](javascript:{run})"),
        format!("<iframe srcdoc=\"<script>parent.{run}</script>\"></iframe><object data=\"data:text/html,x\">"),
        format!("<meta http-equiv=refresh content=\"0;url=http://127.0.0.1:9/{field}\"><base href=//evil.example/>"),
        format!("<style>body{{display:none}}</style><link rel=stylesheet href=//evil.example/{field}.css>"),
        format!("{{{{constructor.constructor(\"{run}\")()}}}} ${{{run}}} `${{{run}}}`"),
        format!("\\u003cscript\\u003e{run}\\u003c/script\\u003e &lt;script&gt;{run}&lt;/script&gt; %3Cscript%3E"),
        "<!-- <![CDATA[ ]]> --!> <!--<script>".to_owned(),
        "\u{202e}desrever\u{202c} \u{2066}apart\u{2069} \u{200b}\u{feff}\u{2028}\u{2029}\u{85}".to_owned(),
        "\u{1b}[31m\u{7}\u{8}".to_owned(),
        format!("zero \u{0} byte, {}", "e\u{301}\u{302}\u{303}".repeat(40)),
    ]
    .join(" ")
}

/// The same in the 200 characters of an id, which has neither control characters nor blanks at its ends.
fn id(field: &str) -> String {
    format!(
        "{field}<img src=x onerror=\"window.canary='{field}'\"></script><script>window.canary=1</script>'&#39;%2F?a=b#c\u{202e}"
    )
}

/// Writes the suite, its submissions, and judgements to score them with.
pub(crate) fn write(folder: &Path) {
    fs::create_dir_all(folder.join("submissions")).unwrap();
    let name = toml_text(&id("suite"));
    fs::write(folder.join("karat.toml"), format!("[suite]\nname = {name}\n")).unwrap();
    // Names that mean something to objects of scripts, and addresses that read as others once they are decoded.
    let ids = [id("case"), "__proto__".into(), "constructor".into(), "a b".into(), "a%20b".into(), "#/case/a".into()];
    let cases: Vec<Value> = ids.iter().map(|id| case(id)).collect();
    save(&folder.join("cases.jsonl"), &cases);
    write_code(folder, "__proto__");
    let tools = [id("tool"), "__proto__".to_owned(), "toString".to_owned()];
    let trials: Vec<Value> = tools.iter().flat_map(|tool| ids.iter().map(move |case| trial(case, tool))).collect();
    save(&folder.join("submissions/all.jsonl"), &trials);
    let judged: Vec<Value> =
        tools.iter().flat_map(|tool| ids.iter().flat_map(move |case| judgements(case, tool))).collect();
    save(&folder.join("judgements.jsonl"), &judged);
}

fn case(name: &str) -> Value {
    json!({
        "id": name,
        "name": payload("name"),
        "description": payload("description"),
        "language": payload("language"),
        "difficulty": "hard",
        "categories": [payload("categories"), "__proto__"],
        "tier": payload("tier"),
        "pr": { "title": payload("pr-title"), "description": payload("pr-description") },
        "repo": payload("repo"),
        "cwe": [u32::MAX],
        "meta": { "<script>window.canary='meta-key'</script>": payload("meta"), "__proto__": "x", "constructor": 1 },
        "issues": [
            golden("g1", "required"),
            golden(&id("golden"), "required"),
            golden("toString", "acceptable"),
            golden("__proto__", "trap"),
        ],
    })
}

fn golden(name: &str, acceptance: &str) -> Value {
    json!({
        "id": name,
        "severity": "critical",
        "category": payload("golden-category"),
        "file": FILE,
        "line_start": 2,
        "line_end": 4,
        "function": payload("golden-function"),
        "title": payload("golden-title"),
        "description": format!("{name} {}", payload("golden-description")),
        "keywords": [payload("keyword")],
        "rule_id": payload("golden-rule"),
        "root_cause": payload("root-cause"),
        "attack_scenario": payload("attack-scenario"),
        "fix": payload("fix"),
        "acceptance": acceptance,
    })
}

fn trial(case: &str, tool: &str) -> Value {
    let long = match (case, tool) {
        // A message of a megabyte, a word without an end, and a letter under a heap of marks.
        ("__proto__", "__proto__") => payload("message").repeat(1 << 20 >> 11),
        ("constructor", "__proto__") => "w".repeat(20_000),
        ("constructor", "toString") => format!("a{}", "\u{301}".repeat(20_000)),
        _ => payload("message"),
    };
    let finding = |id: &str, file: &str, message: String| {
        json!({
            "id": id,
            "rule_id": payload("rule"),
            "title": payload("title"),
            "message": message,
            "file": file,
            "line_start": 3,
            "line_end": u32::MAX,
            "severity": "high",
            "confidence": 1.0,
            "category": payload("category"),
            "function": payload("function"),
            "source": payload("source"),
            "anchor": payload("anchor"),
            "fingerprints": { payload("fingerprint"): payload("fingerprint") },
        })
    };
    if case == "a b" {
        return json!({ "case": case, "tool": tool, "trial": 1, "outcome": "crashed", "notes": [payload("notes")] });
    }
    json!({
        "case": case,
        "tool": tool,
        "trial": 1,
        "outcome": "reported",
        "verdict": "vulnerable",
        "confidence": 0.0,
        "latency_ms": 1e300,
        "cost_usd": 1e300,
        "tokens_in": u64::MAX,
        "response": payload("response"),
        "notes": [payload("notes")],
        "findings": [
            finding("f1", FILE, long),
            finding(&id("finding"), FILE, payload("message")),
            finding("__proto__", "javascript:window.canary='file'", payload("message")),
            finding("constructor", "<img src=x onerror=window.canary='file'>.py", payload("message")),
        ],
    })
}

fn judgements(case: &str, tool: &str) -> Vec<Value> {
    let said = |kind: &str, more: Value| {
        let mut line = json!({ "case": case, "tool": tool, "trial": 1, "judge": id("judge"), "kind": kind });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    if case == "a b" {
        return Vec::new();
    }
    vec![
        said(
            "pair",
            json!({ "golden": "g1", "finding": "f1", "match": true, "confidence": 0.5, "explanation": payload("explanation") }),
        ),
        said(
            "pair",
            json!({ "golden": "g1", "finding": "__proto__", "match": false, "explanation": payload("explanation") }),
        ),
        said("extra", json!({ "finding": "constructor", "valid": false, "explanation": payload("extra") })),
    ]
}

/// The file that all of it lies in.
const FILE: &str = "src/<img src=x onerror=window.canary='path'>.py";

/// Code that is no less hostile, for a case whose name can be that of a folder.
fn write_code(folder: &Path, case: &str) {
    for side in ["before", "after"] {
        let path = folder.join("cases").join(case).join(side).join(FILE);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let code = payload("code").replace(['\u{0}', '\u{85}'], "");
        let long = "x".repeat(5_000);
        fs::write(path, format!("# {side}\n{code}\n</code></pre>{code}\nlong = \"{long}\"\n\tdone()\n")).unwrap();
    }
}

fn toml_text(text: &str) -> String {
    // A JSON string of these characters is one of TOML as well.
    json!(text).to_string()
}

fn save(path: &Path, values: &[Value]) {
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    fs::write(path, text).unwrap();
}
