//! Makes sure that the user allows what tools ask for beyond the closed sandbox.

use super::{EvaluateObserver, EvaluateRequest};
use crate::failure::Failure;
use crate::tool::grants::{Remembered, Request, requested};
use karat_format::tool::ToolManifestV1;

/// A tool of a run.
pub(super) struct AskingTool<'a> {
    pub(super) name: &'a str,
    pub(super) manifest: &'a ToolManifestV1,
    /// Whether the manifest was given by the user or came with Karat, not with the suite.
    pub(super) trusted: bool,
}

/// Requires that everything the tools ask for is allowed: by a flag, by an earlier answer, or by an answer given now.
pub(super) fn require(
    suite: &str,
    tools: &[AskingTool<'_>],
    request: &EvaluateRequest,
    observer: &mut dyn EvaluateObserver,
) -> Result<(), Failure> {
    let allowed = &request.allow;
    if let Some(unknown) = allowed.iter().find(|own| tools.iter().all(|tool| tool.name != own.tool)) {
        let message = format!("--allow names the tool `{}`, which is not part of this run", unknown.tool);
        return Err(Failure::usage(message));
    }
    let remembered = Remembered::new(&|name| request.variable(name));
    let mut open = Vec::new();
    for tool in tools {
        if requested(tool.manifest).is_empty() {
            continue;
        }
        if tool.trusted {
            if !request.plan_only {
                // A run that is resumed knows its tools only from the store.
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
    let refusal = refusal(&open);
    if request.plan_only {
        observer.note(&refusal);
        return Ok(());
    }
    for (tool, asked) in open {
        match observer.consent(&asked)? {
            None => return Err(Failure::usage(refusal)),
            Some(false) => {
                let message = format!("the tool `{}` was not given the permissions it asks for", asked.tool);
                return Err(Failure::usage(message));
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

fn refusal(open: &[(&AskingTool<'_>, Request)]) -> String {
    let mut asks = Vec::new();
    let mut flags = Vec::new();
    for (_, request) in open {
        asks.push(format!("`{}` asks to {}", request.tool, request.describe().join("; to ")));
        flags.push(format!("--allow '{}'", request.flag_value()));
    }
    format!(
        "tools of the suite ask for more than the closed sandbox gives: {}; help: read them in karat.toml, and add {}",
        asks.join(", and "),
        flags.join(" ")
    )
}
