//! Reads a run file; everything is checked before anything is used.

use super::{ExportDigest, LineV1, SCHEMA, TrialLineV1};
use crate::artifacts::hash;
use crate::record::{Planned, TrialKey};
use crate::runs::{RunRow, RunV1};
use crate::trials::{Batch, TrialRow, check_judgement};
use crate::{Result, RunId, RunState, StoreError};
use karat_format::run::{PlanV1, ToolFactsV1, TrialDetailV1};
use karat_format::submission::TrialV1;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

pub(super) struct RunFile {
    pub(super) row: RunRow,
    pub(super) tools: BTreeMap<String, Vec<String>>,
    pub(super) batch: Batch,
    pub(super) judgements: Vec<String>,
    pub(super) attempts: usize,
    pub(super) hash: String,
}

impl RunFile {
    pub(super) fn read(file: &str, mut reader: Box<dyn BufRead>, limits: Limits) -> Result<Self> {
        let mut unpacking = RunFileReader::default();
        let (mut number, mut total) = (0, 0);
        let mut line = Vec::new();
        loop {
            number += 1;
            let bad = |reason: String| StoreError::BadExport { file: file.to_owned(), line: number, reason };
            line.clear();
            // One byte beyond the limit is enough to detect it.
            let read = reader.by_ref().take(limits.line.saturating_add(1)).read_until(b'\n', &mut line);
            total += read.map_err(|error| bad(format!("it cannot be read ({error})")))? as u64;
            if line.is_empty() {
                return unpacking.done().map_err(bad);
            }
            limits.check(line.len() as u64, total, unpacking.in_memory).map_err(bad)?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                return Err(bad("the file ends too early".to_owned()));
            }
            unpacking.take(&line).map_err(bad)?;
        }
    }
}

/// Limits that stop decompression bombs.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The largest artifact, 256 MiB, fits in hex.
    line: u64,
    total: u64,
    /// Held in memory until the end is reached.
    in_memory: u64,
}

pub(super) const LIMITS: Limits = Limits { line: 513 << 20, total: 32 << 30, in_memory: 4 << 30 };

impl Limits {
    fn check(self, line: u64, total: u64, in_memory: u64) -> Result<(), String> {
        let sizes = [
            ("this line has", line, self.line),
            ("up to here the file has, unpacked,", total, self.total),
            ("up to here the run takes up", in_memory, self.in_memory),
        ];
        let over = sizes.into_iter().find(|(_, size, most)| size > most);
        over.map_or(Ok(()), |(what, _, most)| Err(format!("{what} more than {most} bytes, which no run needs")))
    }
}

#[derive(Default)]
struct RunFileReader {
    header: Option<Header>,
    run: Option<Run>,
    tools: BTreeMap<String, Vec<String>>,
    batch: Batch,
    links: Vec<String>,
    judgements: Vec<String>,
    attempts: usize,
    in_memory: u64,
    ended: bool,
}

struct Header {
    id: RunId,
    name: Option<String>,
    digest: ExportDigest,
}

struct Run {
    line: RunV1,
    plan: PlanV1,
    planned: Planned,
}

impl RunFileReader {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if self.ended {
            return Err("something follows the end of the run".to_owned());
        }
        let parsed = serde_json::from_slice(line).map_err(|error| format!("it is no line of a run ({error})"))?;
        if !matches!(parsed, LineV1::Header { .. } | LineV1::End { .. })
            && let Some(header) = &mut self.header
        {
            header.digest.add(line);
        }
        if !matches!(parsed, LineV1::Artifact { .. }) {
            self.in_memory += line.len() as u64;
        }
        match parsed {
            LineV1::Header { schema, id, name } => self.header(&schema, &id, name),
            _ if self.header.is_none() => Err("the first line must be the header".to_owned()),
            LineV1::Run(run) => self.run(run),
            LineV1::Tool { name, facts } => {
                let _: ToolFactsV1 = parse("the facts of the tool", &facts)?;
                self.tools.entry(name).or_default().push(facts.get().to_owned());
                Ok(())
            }
            LineV1::Artifact { hash: stated, content } => {
                let bytes = content.into_bytes().ok_or_else(|| "the bytes are not in hex".to_owned())?;
                if hash(&bytes) != stated {
                    return Err(format!("the bytes are not those of the hash {stated}"));
                }
                let packed = self.batch.packer.pack(&bytes);
                self.in_memory += packed.content.len() as u64;
                self.batch.artifact(packed);
                Ok(())
            }
            LineV1::Trial(trial) => self.trial(trial),
            LineV1::Judgement(judgement) => {
                check_judgement(&parse("the judgement", &judgement)?)?;
                self.judgements.push(judgement.get().to_owned());
                Ok(())
            }
            LineV1::End { lines, hash } => {
                self.ended = true;
                if self.header.as_ref().is_none_or(|header| header.digest.count_and_hash() != (lines, hash)) {
                    return Err("lines were changed, lost or added since the run was exported".to_owned());
                }
                Ok(())
            }
        }
    }

    fn header(&mut self, schema: &str, id: &str, name: Option<String>) -> Result<(), String> {
        if schema != SCHEMA {
            return Err(format!("its format is `{schema}`, and this Karat reads `{SCHEMA}`"));
        }
        let id = RunId::parse(id).ok_or_else(|| format!("`{id}` is no id of a run"))?;
        let digest = ExportDigest::new(id.as_str());
        let before = self.header.replace(Header { id, name, digest });
        before.map_or(Ok(()), |_| Err("it is a second header".to_owned()))
    }

    fn run(&mut self, run: RunV1) -> Result<(), String> {
        let plan: PlanV1 = parse("the plan", &run.plan)?;
        if RunState::parse(&run.state).is_none_or(|state| state == RunState::Running) {
            return Err(format!("the run is in the state `{}`; expected complete or stopped", run.state));
        }
        self.links.extend([run.snapshot.clone()].into_iter().chain(run.report.clone()));
        let planned = Planned::new(&plan);
        let before = self.run.replace(Run { line: run, plan, planned });
        before.map_or(Ok(()), |_| Err("it is a second run".to_owned()))
    }

    fn trial(&mut self, line: TrialLineV1) -> Result<(), String> {
        let (Some(Header { id, .. }), Some(Run { planned, .. })) = (&self.header, &self.run) else {
            return Err("a trial must come after its run".to_owned());
        };
        let mirror: TrialV1 = parse("the trial", &line.trial)?;
        let _: TrialDetailV1 = parse("the detail of the trial", &line.detail)?;
        let (trial, faults) = mirror.into_trial();
        if let Some(fault) = faults.first() {
            return Err(format!("{}: {}", fault.path.join("."), fault.message));
        }
        let key = TrialKey::from_trial(&trial);
        if planned.place(&key).is_none() || line.attempt == 0 {
            return Err(format!("the plan has no trial {} of {} on {}", key.number, key.tool, key.case));
        }
        for (name, hash) in &line.artifacts {
            self.batch.link(id, &key, line.attempt, name, hash);
        }
        self.links.extend(line.artifacts.into_values());
        self.attempts += 1;
        let (attempt, outcome) = (line.attempt, trial.outcome);
        let row = TrialRow { key, attempt, outcome, line: line.trial.get().into(), detail: line.detail.get().into() };
        self.batch.trial(row).map_err(|error| error.to_string())
    }

    fn done(self) -> Result<RunFile, String> {
        let (Some(header), Some(Run { line, plan, planned }), true) = (self.header, self.run, self.ended) else {
            return Err("the file ends before the run does".to_owned());
        };
        if let Some(hash) = self.links.iter().find(|hash| !self.batch.hashes.contains(hash.as_str())) {
            return Err(format!("the bytes with the hash {hash} are not in the file"));
        }
        let done = i64::try_from(self.batch.trials()).unwrap_or(i64::MAX);
        if line.state == RunState::Complete.as_str() && done < planned.total() {
            return Err(format!("the run is complete with {done} of {} planned trials", planned.total()));
        }
        let row = RunRow {
            id: header.id,
            name: header.name,
            suite: plan.suite,
            planned: planned.total(),
            line,
            imported: true,
        };
        let (_, hash) = header.digest.count_and_hash();
        let (judgements, attempts) = (self.judgements, self.attempts);
        Ok(RunFile { row, tools: self.tools, batch: self.batch, judgements, attempts, hash })
    }
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, raw: &RawValue) -> Result<T, String> {
    serde_json::from_slice(raw.get().as_bytes()).map_err(|error| format!("{what} cannot be read ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::bufread::MultiGzDecoder;
    use flate2::write::GzEncoder;
    use std::io::{BufReader, Write};

    const HEADER: &str =
        "{\"header\":{\"schema\":\"karat.run/1\",\"id\":\"0192f3a1-b2c3-7000-8000-000000000000\",\"name\":null}}\n";

    #[test]
    fn decompression_bombs_are_refused() {
        let check = |lines: &[String], limits: Limits, expect: &str| {
            let mut zip = GzEncoder::new(Vec::new(), Compression::best());
            zip.write_all(format!("{HEADER}{}", lines.concat()).as_bytes()).unwrap();
            let zipped = zip.finish().unwrap();
            assert!(zipped.len() < 10_000, "{}", zipped.len());
            let reader = Box::new(BufReader::new(MultiGzDecoder::new(std::io::Cursor::new(zipped))));
            let error = RunFile::read("x.gz", reader, limits).err().unwrap().to_string();
            assert!(error.contains(expect), "{error}");
        };
        let limits = Limits { line: 100_000, total: 1_000_000, in_memory: 500_000 };
        let blanks = |n: usize| " ".repeat(n);
        check(&[blanks(200_000)], limits, "line 2: this line has more than 100000 bytes");
        let artifact = |n: usize| {
            let text = "a".repeat(n);
            let hash = hash(text.as_bytes());
            format!("{{\"artifact\":{{\"hash\":\"{hash}\",\"content\":{{\"text\":\"{text}\"}}}}}}\n")
        };
        check(
            &vec![artifact(90_000); 20],
            limits,
            "line 13: up to here the file has, unpacked, more than 1000000 bytes",
        );
        let facts = format!("{{\"tool\":{{\"name\":\"t\",\"facts\":{{\"isolation\":\"{}\"}}}}}}\n", "a".repeat(90_000));
        check(&vec![facts; 20], limits, "line 8: up to here the run takes up more than 500000 bytes");
    }
}
