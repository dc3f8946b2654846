//! Failures that a tool reports: a failed execution must not count as one that found nothing.

use super::message;
use super::model::{Invocation, Notice};
use super::run_tables::RunTables;
use crate::ToolFailure;
use karat_core::ids::ToolName;

/// Adds the failures of a run, and returns the number of warnings.
pub(super) fn collect(
    invocations: &[Invocation],
    tables: &RunTables,
    tool: Option<&ToolName>,
    failures: &mut Vec<ToolFailure>,
) -> usize {
    let mut warnings = 0;
    for invocation in invocations {
        if invocation.successful == Some(false) {
            let message = ending(invocation);
            failures.push(ToolFailure { tool: tool.cloned(), file: None, message, fatal: true });
        }
        if invocation.successful.is_none() && invocation.exit_code.is_some_and(|code| code != 0.0) {
            let message = format!("the tool did not report success: {}", details(invocation).join("; "));
            failures.push(ToolFailure { tool: tool.cloned(), file: None, message, fatal: false });
        }
        for notices in [&invocation.execution, &invocation.configuration] {
            warnings += notices.warnings;
            failures.extend(notices.errors.iter().map(|notice| ToolFailure {
                tool: tool.cloned(),
                file: notice.locations.0.as_deref().and_then(|location| tables.path(location)),
                message: notice_message(notice),
                fatal: false,
            }));
        }
    }
    warnings
}

/// How an execution ended, in the tool's own words if there are any.
fn ending(invocation: &Invocation) -> String {
    let details = details(invocation);
    if details.is_empty() {
        "the tool reported that its execution failed".to_owned()
    } else {
        format!("the tool reported that its execution failed: {}", details.join("; "))
    }
}

fn details(invocation: &Invocation) -> Vec<String> {
    let code = invocation.exit_code.map(|code| format!("exit code {code}"));
    let signal = invocation.exit_signal.as_ref().map(|signal| format!("signal {signal}"));
    let words = [&invocation.exit_description, &invocation.start_failure].into_iter().flatten().cloned();
    let first = invocation.execution.errors.first().or(invocation.configuration.errors.first()).map(notice_message);
    code.into_iter().chain(signal).chain(words).chain(first).collect()
}

fn notice_message(notice: &Notice) -> String {
    let exception = &notice.exception;
    message::render(notice.message.clone(), None)
        .or_else(|| exception.message.clone())
        .or_else(|| exception.kind.clone())
        .unwrap_or_else(|| "an error without a message".to_owned())
}
