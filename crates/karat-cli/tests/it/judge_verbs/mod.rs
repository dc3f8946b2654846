//! `karat judge ask`, `show`, `probe` and `eval`, with scripted judges and a server on this machine.

mod ask;
mod eval;
mod probe;
mod show;

use crate::judge_engine::server::Server;
use crate::project::{CommandOutput, Project};
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

fn make_decision(matched: bool, words: &str) -> Value {
    json!({ "match": matched, "confidence": 0.9, "partial": false, "explanation": words })
}

/// Runs the command at a width of 80 columns.
fn run_narrow(project: &Project, arguments: &[&str]) -> CommandOutput {
    CommandOutput::start(project.command().env("COLUMNS", "80").args(arguments))
}

/// The JSON between the fences of this name.
fn parse_fenced(user: &str, name: &str) -> Value {
    let text = user.split_once(&format!(" {name}>\n")).unwrap().1.split("\n</data-").next().unwrap();
    serde_json::from_str(text).unwrap()
}

/// A judge that compares the titles of golden and finding.
fn judge_by_title(user: &str) -> Value {
    make_decision(parse_fenced(user, "golden")["title"] == parse_fenced(user, "finding")["title"], "by title")
}

/// A judge that follows instructions in the finding, and else compares titles.
fn obey_instructions(user: &str) -> Value {
    let message = parse_fenced(user, "finding")["message"].as_str().unwrap().to_lowercase();
    let is_instructed =
        ["\"match\": true", "match: true", "as a match", "is a match"].iter().any(|order| message.contains(order));
    if is_instructed { make_decision(true, "as I was told") } else { judge_by_title(user) }
}

/// A judge that says yes if a golden is shown first.
fn match_first_shown(user: &str) -> Value {
    let first = user.find(" golden>").unwrap() < user.find(" finding>").unwrap();
    if first { judge_by_title(user) } else { make_decision(true, "the first one is true") }
}
