//! The user's word for what tools ask for beyond the closed sandbox.

use crate::exit::Failure;
use crate::progress::at_terminal;
use crate::terminal::{note, tell};
use karat::diagnostic::harmless;
use karat::format::tool::ToolManifestV1;
use karat::tool::grants::{Allowance, Remembered, Request, requested};
use std::io::{BufRead, IsTerminal, Write};

/// A tool of a run, and who chose what it may use.
pub(super) struct AskingTool<'a> {
    pub(super) name: &'a str,
    pub(super) manifest: &'a ToolManifestV1,
    /// Whether the user typed the manifest, or it came with Karat.
    pub(super) trusted: bool,
}

/// Makes sure that everything the tools ask for was allowed: by a flag, by an answer given before, or by one given now.
pub(super) fn require(
    suite: &str,
    tools: &[AskingTool<'_>],
    allowed: &[Allowance],
    dry_run: bool,
) -> Result<(), Failure> {
    if let Some(unknown) = allowed.iter().find(|own| tools.iter().all(|tool| tool.name != own.tool())) {
        return Err(Failure::usage(format!(
            "--allow names the tool `{}`, which is not part of this run",
            unknown.tool()
        )));
    }
    let remembered = Remembered::new(&|name| std::env::var(name).ok());
    let mut open = Vec::new();
    for tool in tools {
        if requested(tool.manifest).is_empty() {
            continue;
        }
        if tool.trusted {
            if !dry_run {
                // A run that goes on later knows its tools from the store alone.
                remember(remembered.as_ref(), suite, tool);
            }
            continue;
        }
        if remembered.as_ref().is_some_and(|answers| answers.allows(suite, tool.name, tool.manifest)) {
            continue;
        }
        open.extend(Request::new(tool.name, tool.manifest, allowed).map(|request| (tool, request)));
    }
    if open.is_empty() {
        return Ok(());
    }
    let refusal = refusal(open.iter().map(|(_, request)| request));
    if dry_run {
        note(&refusal);
        return Ok(());
    }
    if !(std::io::stdin().is_terminal() && at_terminal()) {
        return Err(Failure::usage(refusal));
    }
    for (tool, request) in open {
        if !ask(&request)? {
            return Err(Failure::usage(format!("the tool `{}` was not allowed what it asks for", request.tool)));
        }
        remember(remembered.as_ref(), suite, tool);
    }
    Ok(())
}

fn remember(remembered: Option<&Remembered>, suite: &str, tool: &AskingTool<'_>) {
    let Some(answers) = remembered else { return };
    if let Err(error) = answers.allow(suite, tool.name, tool.manifest) {
        note(&format!("{}: the answer could not be kept: {error}", answers.file().display()));
    }
}

fn refusal<'a>(requests: impl Iterator<Item = &'a Request> + Clone) -> String {
    let asks: Vec<String> = requests
        .clone()
        .map(|request| format!("`{}` asks to {}", request.tool, request.describe().join("; to ")))
        .collect();
    let flags: Vec<String> = requests.map(|request| format!("--allow '{}'", request.flag_value())).collect();
    format!(
        "tools of the suite ask for more than the closed sandbox gives: {}; help: read them in karat.toml, and add {}",
        asks.join(", and "),
        flags.join(" ")
    )
}

fn ask(request: &Request) -> Result<bool, Failure> {
    tell(&format!("The suite's tool `{}` asks for more than the closed sandbox gives:", harmless(&request.tool)));
    for line in request.describe() {
        tell(&format!("  - {}", harmless(&line)));
    }
    let mut answer = String::new();
    let mut screen = anstream::stderr();
    let read = write!(screen, "Allow this for this manifest from now on? [y/N] ")
        .and_then(|()| screen.flush())
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    read.map_err(|error| Failure::io("terminal", error))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
