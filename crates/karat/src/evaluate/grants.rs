//! The user's word for what tools ask for beyond the closed sandbox.

use super::{EvaluateObserver, EvaluateRequest};
use crate::failure::Failure;
use crate::tool::grants::{Remembered, Request, requested};
use karat_format::tool::ToolManifestV1;

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
    request: &EvaluateRequest,
    observer: &mut dyn EvaluateObserver,
) -> Result<(), Failure> {
    let allowed = &request.allow;
    if let Some(unknown) = allowed.iter().find(|own| tools.iter().all(|tool| tool.name != own.tool())) {
        return Err(Failure::usage(format!(
            "--allow names the tool `{}`, which is not part of this run",
            unknown.tool()
        )));
    }
    let remembered = Remembered::new(&|name| request.variable(name));
    let mut open = Vec::new();
    for tool in tools {
        if requested(tool.manifest).is_empty() {
            continue;
        }
        if tool.trusted {
            if !request.plan_only {
                // A run that goes on later knows its tools from the store alone.
                remember(remembered.as_ref(), suite, tool, observer);
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
    if request.plan_only {
        observer.note(&refusal);
        return Ok(());
    }
    for (tool, asked) in open {
        match observer.consent(&asked)? {
            None => return Err(Failure::usage(refusal)),
            Some(false) => {
                return Err(Failure::usage(format!(
                    "the tool `{}` was not given the permissions it asks for",
                    asked.tool
                )));
            }
            Some(true) => remember(remembered.as_ref(), suite, tool, observer),
        }
    }
    Ok(())
}

fn remember(remembered: Option<&Remembered>, suite: &str, tool: &AskingTool<'_>, observer: &mut dyn EvaluateObserver) {
    let Some(answers) = remembered else { return };
    if let Err(error) = answers.allow(suite, tool.name, tool.manifest) {
        observer.note(&format!("{}: the answer could not be saved: {error}", answers.file().display()));
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
