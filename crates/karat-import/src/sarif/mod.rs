//! SARIF 2.1.0, which most scanners can write.
//!
//! A document is streamed. Of each result only what makes the finding is kept; rules and URIs, which may come after the results,
//! are resolved when their run ends.

mod cwe;
mod document;
mod enums;
mod failures;
mod keys;
mod message;
mod model;
mod region;
mod rules;
mod run_tables;
mod uris;

pub use keys::write_keys;

use super::json::{self, By};
use super::{ImportError, ImportedData, Input, MAX_RESULTS, Sources, ToolFailure};
use super::{check_count, input, tool_name};
use document::{Document, Reader, RunRest};
use enums::{Baseline, Kind};
use karat_core::wording::plural;
use model::SarifResult;
use run_tables::RunTables;

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let sources = input.sources;
    let mut collector = Collector { data, sources, counts: Counts::default(), copied: 0 };
    let head = json::read_seed(input, By::Map(Document(&mut collector)))?;
    let mut counts = collector.counts;
    counts.external |= head.external.0;
    let notes = counts.notes(head.version.as_deref());
    data.notes.extend(notes.map(|note| format!("{}: {note}", input::display_path(path))));
    Ok(())
}

struct Collector<'a> {
    data: &'a mut ImportedData,
    sources: Sources<'a>,
    counts: Counts,
    copied: u64,
}

/// A short file can repeat a long text of one rule in each of its results; real files stay far below this limit.
const MAX_COPIED_BYTES: u64 = 4 << 30;

impl Reader for Collector<'_> {
    type Run = Vec<SarifResult>;

    fn result(&mut self, run: &mut Vec<SarifResult>, mut item: SarifResult) -> Result<(), String> {
        if item.suppressions.in_force {
            self.counts.suppressed += 1;
        } else if item.baseline == Some(Baseline::Absent) {
            self.counts.absent += 1;
        } else if item.kind == Some(Kind::Fine) {
            self.counts.fine += 1;
        } else {
            if item.locations.0.is_some() {
                // These only replace a missing location.
                item.related.0 = None;
                item.flows.0 = None;
            }
            run.push(item);
            check_count(MAX_RESULTS, self.data.findings.len() + run.len())?;
        }
        Ok(())
    }

    fn run(&mut self, run: Vec<SarifResult>, rest: RunRest) -> Result<(), String> {
        let tables = RunTables::new(rest.parts);
        let tool = tables.rules.tool().and_then(tool_name);
        self.counts.external |= rest.external.0;
        if !rest.scanned && !rest.external.0 {
            let message = "the run has no `results` list, so nothing was scanned".to_owned();
            self.data.failures.push(ToolFailure { tool: tool.clone(), file: None, message, fatal: true });
        }
        self.counts.warnings += failures::collect(&rest.invocations, &tables, tool.as_ref(), &mut self.data.failures);
        match &tool {
            Some(tool) if !self.data.tools.contains(tool) => self.data.tools.push(tool.clone()),
            Some(_) => (),
            None => self.counts.nameless += 1,
        }
        self.data.findings.reserve(run.len());
        for item in run {
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
    fn notes(&self, version: Option<&str>) -> impl Iterator<Item = String> {
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
        results.chain(warnings).chain(nameless).chain(external).chain(version).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests;
