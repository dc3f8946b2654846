//! SARIF 2.1.0: what most scanners can write.
//!
//! A document is read as a stream. Of each result only what makes the finding is kept; rules and addresses, which may stand
//! after the results, are looked up when their run ends.

mod cwe;
mod document;
mod failures;
mod keys;
mod message;
mod model;
mod offsets;
mod rules;
mod tables;
mod uris;
mod words;

pub use keys::write_keys;

use super::{Harvest, ImportError, Importer, Input, MOST_RESULTS, Reported, Sources, ToolFailure};
use super::{input, json, refuse_more_than, tool_name};
use document::{Document, Reader, Rest};
use karat_core::wording::plural;
use model::Item;
use tables::Tables;
use words::{Baseline, Kind};

/// The importer of SARIF.
pub const IMPORTER: Importer = Importer {
    name: "sarif",
    description: "SARIF 2.1.0, plain or gzipped: CodeQL, Semgrep, Bandit, ESLint, Trivy, Slither and most other scanners",
    import,
    finish: None,
    suite_profile: "karat",
};

/// Reads a SARIF document into the harvest.
pub fn import(input: Input<'_>, harvest: &mut Harvest) -> Result<(), ImportError> {
    let sources = input.sources;
    let shown = input::shown(input.path);
    let before = (harvest.findings.len(), harvest.tools.len(), harvest.failures.len());
    let mut collector = Collector { harvest, sources, counts: Counts::default(), copied: 0 };
    match json::read_seed(input, Document(&mut collector)) {
        Ok(head) => {
            let mut counts = collector.counts;
            counts.external |= head.external.0;
            harvest.notes.extend(counts.notes(head.version.as_deref()).map(|note| format!("{shown}: {note}")));
            Ok(())
        }
        Err(error) => {
            // Nothing of a file that cannot be read to its end is taken.
            harvest.findings.truncate(before.0);
            harvest.tools.truncate(before.1);
            harvest.failures.truncate(before.2);
            Err(error)
        }
    }
}

/// Puts what is read into a harvest.
struct Collector<'a> {
    harvest: &'a mut Harvest,
    sources: Sources<'a>,
    counts: Counts,
    copied: u64,
}

/// A short file can repeat a long text of one rule in each of its results; real files stay far below this.
const MOST_COPIED: u64 = 4 << 30;

impl Reader for Collector<'_> {
    type Run = Vec<Item>;

    fn result(&mut self, run: &mut Vec<Item>, mut item: Item) -> Result<(), String> {
        if item.suppressions.in_force {
            self.counts.suppressed += 1;
        } else if item.baseline == Some(Baseline::Absent) {
            self.counts.absent += 1;
        } else if item.kind == Some(Kind::Fine) {
            self.counts.fine += 1;
        } else {
            if item.locations.0.is_some() {
                // These only stand in for a missing location.
                item.related.0 = None;
                item.flows.0 = None;
            }
            run.push(item);
            refuse_more_than(MOST_RESULTS, self.harvest.findings.len() + run.len())?;
        }
        Ok(())
    }

    fn run(&mut self, run: Vec<Item>, rest: Rest) -> Result<(), String> {
        let tables = Tables::new(rest.parts);
        let tool = tables.rules.tool().and_then(tool_name);
        self.counts.external |= rest.external.0;
        if !rest.scanned && !rest.external.0 {
            let message = "the run has no `results`, not even an empty list, so nothing was scanned".to_owned();
            self.harvest.failures.push(ToolFailure { tool: tool.clone(), file: None, message, fatal: true });
        }
        self.counts.milder += failures::collect(&rest.invocations, &tables, tool.as_ref(), &mut self.harvest.failures);
        match &tool {
            Some(tool) if !self.harvest.tools.contains(tool) => self.harvest.tools.push(tool.clone()),
            Some(_) => (),
            None => self.counts.nameless += 1,
        }
        self.harvest.findings.reserve(run.len());
        for item in run {
            let Some(resolved) = tables.finding(item, self.sources) else {
                self.counts.empty += 1;
                continue;
            };
            self.counts.lineless += usize::from(resolved.lineless);
            self.copied += resolved.copied + tool.as_ref().map_or(0, |tool| tool.as_str().len() as u64);
            if self.copied > MOST_COPIED {
                return Err(format!("the results repeat more than {MOST_COPIED} bytes of their rules' texts"));
            }
            self.harvest.findings.push(Reported { tool: tool.clone(), case: None, finding: resolved.finding });
        }
        Ok(())
    }
}

/// What was left out, or is not known, and why.
#[derive(Debug, Default)]
struct Counts {
    suppressed: usize,
    absent: usize,
    fine: usize,
    empty: usize,
    lineless: usize,
    milder: usize,
    nameless: usize,
    external: bool,
}

impl Counts {
    fn notes(&self, version: Option<&str>) -> impl Iterator<Item = String> {
        let counted = [
            (self.suppressed, "suppressed, and left out"),
            (self.absent, "no longer there (baselineState `absent`), and left out"),
            (self.fine, "of kind `pass` or `notApplicable`, which are no findings"),
            (self.empty, "without rule and message, and left out"),
            (self.lineless, "placed by offset in files whose text is not at hand, so their lines are not known"),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let results = counted.map(|(count, what)| format!("{} {what}", plural(count, "result is", "results are")));
        let milder = (self.milder > 0).then(|| {
            format!("{} of the tool's remarks on its own work are milder than errors, and left out", self.milder)
        });
        let nameless = (self.nameless > 0)
            .then(|| format!("{} of the runs do not name their tool; name it with --tool", self.nameless));
        let external = self.external.then(|| {
            "parts of it lie in external property files, which are not followed; ask the tool for one whole file"
                .to_owned()
        });
        let version = match version {
            Some(version) if version == "2.1" || version.starts_with("2.1.") => None,
            Some(version) => Some(format!("it says version {version:?}; read as SARIF 2.1.0")),
            None => Some("it says no version; read as SARIF 2.1.0".to_owned()),
        };
        results.chain(milder).chain(nameless).chain(external).chain(version).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests;
