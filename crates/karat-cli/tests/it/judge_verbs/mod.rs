//! `karat judge ask`, `show`, `probe` and `eval`, with scripts and with a server on this machine.

mod ask;
mod eval;
mod probe;
mod show;

use crate::judge_engine::server::Server;
use crate::project::{Project, Ran};
use serde_json::{Value, json};

/// A suite of three cases with four goldens about different things, and judges that answer from a script or a server.
fn suite() -> Project {
    let case = |id: &str, issues: &str| format!("id: {id}\nissues:\n{issues}");
    let issue = |id: &str, category: &str, title: &str, text: &str, line: u32| {
        format!(
            "  - id: {id}\n    title: {title}\n    description: {text}\n    file: app.py\n    line_start: {line}\n    category: {category}\n    severity: high\n"
        )
    };
    let orders = issue("sqli", "injection", "SQL injection in search", "The query is built from the request.", 2)
        + &issue("leak", "resource", "Connection never closed", "Every search opens one more connection.", 3);
    let bank = issue("race", "race", "Balance read and written apart", "Two withdrawals can pass the check.", 2);
    let auth = issue("token", "authentication", "Token never expires", "A stolen token works for ever.", 1);
    let code = "def search(db, term):\n    return db.run('select * from o where t = ' + term)\n    db.close()\n";
    let project = Project::new().with("karat.toml", "[suite]\nname = \"small\"\n");
    for (id, issues) in [("orders", orders), ("bank", bank), ("auth", auth)] {
        project.write(&format!("cases/{id}/case.yaml"), case(id, &issues));
        project.write(&format!("cases/{id}/before/app.py"), "pass\n");
        project.write(&format!("cases/{id}/after/app.py"), code);
    }
    project
}

/// Declares a judge that asks a server.
fn with_server(project: &Project, name: &str, server: &Server) {
    let declared = format!(
        "\n[judges.{name}]\nprovider = \"openai\"\nmodel = \"model-of-{name}\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n\
         price_in = 2.0\nprice_out = 10.0\n",
        server.port
    );
    project.write("karat.toml", project.read("karat.toml") + &declared);
}

/// Declares a judge that answers from a script.
fn with_script(project: &Project, name: &str, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    project.write(&format!("{name}.jsonl"), text);
    let declared = format!("\n[judges.{name}]\nprovider = \"scripted\"\nfile = \"{name}.jsonl\"\nconcurrency = 1\n");
    project.write("karat.toml", project.read("karat.toml") + &declared);
}

fn decided(matched: bool, words: &str) -> Value {
    json!({ "match": matched, "confidence": 0.9, "partial": false, "explanation": words })
}

/// Runs the command at a width of 80 columns.
fn narrow(project: &Project, arguments: &[&str]) -> Ran {
    Ran::start(project.command().env("COLUMNS", "80").args(arguments))
}

/// What stands between the fences of this name, read as JSON.
fn shown(user: &str, name: &str) -> Value {
    let text = user.split_once(&format!(" {name}>\n")).unwrap().1.split("\n</data-").next().unwrap();
    serde_json::from_str(text).unwrap()
}

/// A judge that decides by what both halves are called.
fn honest(user: &str) -> Value {
    decided(shown(user, "golden")["title"] == shown(user, "finding")["title"], "by title")
}

/// A judge that does as it is told, and else is honest.
fn obedient(user: &str) -> Value {
    let said = shown(user, "finding")["message"].as_str().unwrap().to_lowercase();
    let told = ["\"match\": true", "match: true", "as a match", "is a match"].iter().any(|order| said.contains(order));
    if told { decided(true, "as I was told") } else { honest(user) }
}

/// A judge that takes whatever it is shown first for a known problem.
fn hasty(user: &str) -> Value {
    let first = user.find(" golden>").unwrap() < user.find(" finding>").unwrap();
    if first { honest(user) } else { decided(true, "the first one is true") }
}
