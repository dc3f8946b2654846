//! SARIF 2.1.0, which most scanners can write.
//!
//! A document is streamed. Of each result only what makes the finding is kept; rules and URIs, which may come after the results,
//! are resolved when their run ends.

mod document;
mod keys;
mod message;
mod model;
mod region;
mod rules;
mod run_tables;
mod uris;

pub use keys::write_keys;

use super::json::{self, By};
use super::{ImportError, ImportedData, Input, Sources, ToolFailure};
use super::{check_count, input, tool_name};
use document::{Document, Reader, Run};
use karat_core::ids::ToolName;
use karat_core::wording::plural;
use model::{First, Invocation, Kind, Notice, SarifResult};
use run_tables::RunTables;

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let sources = input.sources;
    let mut collector = Collector { data, sources, counts: Counts::default(), results: Vec::new(), copied: 0 };
    let head = json::read_seed(input, By::Map(Document(&mut collector)))?;
    let mut counts = collector.counts;
    counts.external |= head.external.0;
    let notes = counts.notes(head.version.as_deref()).into_iter();
    data.notes.extend(notes.map(|note| format!("{}: {note}", input::display_path(path))));
    Ok(())
}

struct Collector<'a> {
    data: &'a mut ImportedData,
    sources: Sources<'a>,
    counts: Counts,
    results: Vec<SarifResult>,
    copied: u64,
}

/// A short file can repeat a long text of one rule in each of its results; real files stay far below this limit.
const MAX_COPIED_BYTES: u64 = 4 << 30;

impl Reader for Collector<'_> {
    fn result(&mut self, mut item: SarifResult) -> Result<(), String> {
        if item.suppressions.in_force {
            self.counts.suppressed += 1;
        } else if item.baseline.as_deref().map(str::trim) == Some("absent") {
            self.counts.absent += 1;
        } else if item.kind == Some(Kind::Fine) {
            self.counts.fine += 1;
        } else {
            if item.locations.0.is_some() {
                // These only replace a missing location.
                item.related.0 = None;
                item.flows = First::default();
            }
            self.results.push(item);
            check_count(self.data.findings.len() + self.results.len())?;
        }
        Ok(())
    }

    fn run(&mut self, mut run: Run, scanned: bool) -> Result<(), String> {
        let invocations = std::mem::take(&mut run.invocations);
        let external = run.external.0;
        let tables = RunTables::new(run);
        let tool = tables.rules.tool().and_then(tool_name);
        self.counts.external |= external;
        if !scanned && !external {
            let message = "the run has no `results` list, so nothing was scanned".to_owned();
            self.data.failures.push(ToolFailure { tool: tool.clone(), file: None, message, fatal: true });
        }
        self.counts.warnings += collect_failures(&invocations, &tables, tool.as_ref(), &mut self.data.failures);
        match &tool {
            Some(tool) if !self.data.tools.contains(tool) => self.data.tools.push(tool.clone()),
            Some(_) => (),
            None => self.counts.nameless += 1,
        }
        self.data.findings.reserve(self.results.len());
        for item in std::mem::take(&mut self.results) {
            let Some(resolved) = tables.finding(item, self.sources) else {
                self.counts.empty += 1;
                continue;
            };
            self.counts.has_unknown_lines += usize::from(resolved.has_unknown_lines);
            self.copied += resolved.copied + tool.as_ref().map_or(0, |tool| tool.as_str().len() as u64);
            if self.copied > MAX_COPIED_BYTES {
                return Err(format!("the results repeat more than {MAX_COPIED_BYTES} bytes of their rules' texts"));
            }
            self.data.add_finding(tool.as_ref(), resolved.finding);
        }
        Ok(())
    }
}

/// Adds the failures of a run, since a failed execution must not count as one that found nothing. Returns the number of warnings.
fn collect_failures(
    invocations: &[Invocation],
    tables: &RunTables,
    tool: Option<&ToolName>,
    failures: &mut Vec<ToolFailure>,
) -> usize {
    let mut warnings = 0;
    for invocation in invocations {
        let details = details(invocation);
        let words = details.join("; ");
        let failed = match (invocation.successful, invocation.exit_code) {
            (Some(false), _) if details.is_empty() => Some("the tool reported that its execution failed".to_owned()),
            (Some(false), _) => Some(format!("the tool reported that its execution failed: {words}")),
            (None, Some(code)) if code != 0.0 => Some(format!("the tool did not report success: {words}")),
            _ => None,
        };
        let fatal = invocation.successful.is_some();
        failures.extend(failed.map(|message| ToolFailure { tool: tool.cloned(), file: None, message, fatal }));
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

/// What was left out or is unknown, and why.
#[derive(Debug, Default)]
struct Counts {
    suppressed: usize,
    absent: usize,
    fine: usize,
    empty: usize,
    has_unknown_lines: usize,
    warnings: usize,
    nameless: usize,
    external: bool,
}

impl Counts {
    fn notes(&self, version: Option<&str>) -> Vec<String> {
        let counted = [
            (self.suppressed, "suppressed and ignored"),
            (self.absent, "gone (baselineState `absent`) and ignored"),
            (self.fine, "of kind `pass` or `notApplicable` and ignored"),
            (self.empty, "without rule and message and ignored"),
            (self.has_unknown_lines, "placed by offset in files whose text is missing, so their lines are unknown"),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let results = counted.map(|(count, what)| format!("{} {what}", plural(count, "result is", "results are")));
        let warnings = (self.warnings > 0)
            .then(|| format!("{} of the tool's notifications are below error level and ignored", self.warnings));
        let nameless = (self.nameless > 0)
            .then(|| format!("{} of the runs do not name their tool; name it with --tool", self.nameless));
        let external = self.external.then(|| {
            "parts of it are in external property files, which are not read; ask the tool for a single file".to_owned()
        });
        let version = match version {
            Some(version) if version == "2.1" || version.starts_with("2.1.") => None,
            Some(version) => Some(format!("unknown version {version:?}; read as SARIF 2.1.0")),
            None => Some("no version is given; read as SARIF 2.1.0".to_owned()),
        };
        results.chain(warnings).chain(nameless).chain(external).chain(version).collect()
    }
}

#[cfg(test)]
mod tests;
