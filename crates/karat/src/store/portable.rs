//! A whole run in one file, so that it moves from store to store and stays what it is.
//!
//! The file has a line of JSON for each thing: first a header with the run's id and name, then the run, its tools, all bytes it
//! refers to, its trials, and at last the number and the hash of the lines between header and end. A name may change from
//! store to store, so it is not part of what is hashed; folders of one machine are not in the file at all.

use super::Store;
use super::artifacts::{Packer, hash};
use super::error::StoreError;
use super::naming::RunId;
use super::planned::Planned;
use super::runs::{RunRow, RunState, exists, no_run};
use super::trials::{Batch, TrialRow};
use crate::format::run::{PlanV1, ToolFactsV1, TrialDetailV1};
use crate::format::submission::TrialV1;
use crate::run::record::TrialKey;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

/// The name of this version of the format.
const SCHEMA: &str = "karat.run/1";

/// No value of the database can be longer, so no line needs to be.
const LONGEST_LINE: u64 = 1 << 30;

/// What came of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The run.
    pub run: RunId,
    /// Whether it was here already, with equal content; then nothing was changed.
    pub was_here: bool,
    /// How many attempts at trials it has.
    pub attempts: usize,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum LineV1 {
    Header { schema: String, id: String, name: Option<String> },
    Run(RunV1),
    Tool { name: String, facts: Box<RawValue> },
    Artifact { hash: String, content: ContentV1 },
    Trial(TrialLineV1),
    End { lines: usize, hash: String },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunV1 {
    created_ms: i64,
    ended_ms: Option<i64>,
    state: String,
    karat: String,
    snapshot: String,
    report: Option<String>,
    plan: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrialLineV1 {
    attempt: u32,
    trial: Box<RawValue>,
    detail: Box<RawValue>,
    /// Hashes by name.
    artifacts: BTreeMap<String, String>,
}

/// Bytes as JSON can hold them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContentV1 {
    Text(String),
    Hex(String),
}

impl Store {
    /// Writes everything that is known of a run. The same run gives the same bytes from every store.
    pub fn export_run(&mut self, run: &RunId, out: &mut dyn Write) -> Result<(), StoreError> {
        let row = self.database.query_one("SELECT name FROM runs WHERE id = $1", vec![run.into()])?;
        let name = row.ok_or_else(|| no_run(run))?.text_or_null(0)?;
        let header = LineV1::Header { schema: SCHEMA.to_owned(), id: run.to_string(), name };
        writeln!(out, "{}", self.json(&header)?).map_err(StoreError::Unwritten)?;
        let (lines, hash) = self.write_body(run, out)?;
        writeln!(out, "{}", self.json(&LineV1::End { lines, hash })?).map_err(StoreError::Unwritten)
    }

    /// Writes everything that is known of a run into a file, which appears whole or not at all; compressed where its name ends
    /// in `.gz`.
    pub fn export_run_file(&mut self, run: &RunId, file: &Path) -> Result<(), StoreError> {
        let zipped = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        let mut failed = None;
        let written = crate::whole_file::write(file, &mut |out| {
            let result = if zipped {
                let mut zip = GzEncoder::new(out, Compression::fast());
                let result = self.export_run(run, &mut zip);
                result.and_then(|()| zip.finish().map(|_| ()).map_err(StoreError::Unwritten))
            } else {
                self.export_run(run, out)
            };
            result.map_err(|error| match error {
                StoreError::Unwritten(error) => error,
                other => {
                    failed = Some(other);
                    std::io::ErrorKind::Other.into()
                }
            })
        });
        match (failed, written) {
            (Some(error), _) => Err(error),
            (None, written) => written.map_err(StoreError::Unwritten),
        }
    }

    /// Takes a run from a file that `export_run` wrote, compressed or not, under the id it always had. The whole file is
    /// checked before anything is stored. A name given here is used instead of the run's own.
    pub fn import(&mut self, file: &Path, name: Option<&str>) -> Result<Imported, StoreError> {
        let failed = |source| StoreError::Io { path: file.to_owned(), source };
        let mut reader: Box<dyn BufRead> = Box::new(BufReader::new(File::open(file).map_err(failed)?));
        if reader.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]) {
            reader = Box::new(BufReader::new(MultiGzDecoder::new(reader)));
        }
        let shown = file.display().to_string();
        let parcel = Parcel::read(&shown, reader)?;
        let (id, attempts) = (parcel.row.id.clone(), parcel.attempts);
        let is_here = match exists(&mut self.database, &id) {
            Ok(_) => true,
            Err(StoreError::NoRun { .. }) => false,
            Err(error) => return Err(error),
        };
        if is_here {
            let (_, own) = self.write_body(&id, &mut std::io::sink())?;
            if own != parcel.hash {
                return Err(StoreError::Differs { file: shown, run: id.to_string() });
            }
            return Ok(Imported { run: id, was_here: true, attempts });
        }
        let Parcel { mut row, tools, mut batch, .. } = parcel;
        if let Some(name) = name {
            row.name = Some(name.to_owned());
        }
        self.database.write(|database| {
            batch.keep(database)?;
            row.insert(database)?;
            for (tool, facts) in tools {
                let values = vec![(&id).into(), tool.into(), facts.into()];
                database.execute("INSERT INTO run_tools (run_id, tool, facts) VALUES ($1, $2, $3)", values)?;
            }
            batch.insert(database, &id)
        })?;
        Ok(Imported { run: id, was_here: false, attempts })
    }

    /// Writes all lines between header and end, and tells their number and hash.
    fn write_body(&mut self, run: &RunId, out: &mut dyn Write) -> Result<(usize, String), StoreError> {
        let mut body = Body { out, hasher: blake3::Hasher::new(), lines: 0 };
        let hashes = self.write_run(run, &mut body)?;
        let sql = "SELECT tool, facts FROM run_tools WHERE run_id = $1 ORDER BY tool";
        for row in self.database.query(sql, vec![run.into()])? {
            let facts = self.raw(&row.text(1)?)?;
            body.line(&self.json(&LineV1::Tool { name: row.text(0)?, facts })?)?;
        }
        for hash in hashes {
            let bytes = self.artifact(&hash)?;
            body.line(&self.json(&LineV1::Artifact { hash, content: ContentV1::of(bytes) })?)?;
        }
        self.write_trials(run, &mut body)?;
        Ok((body.lines, body.hasher.finalize().to_hex().to_string()))
    }

    /// Writes the run's own line, and tells the hashes of all bytes that the run refers to.
    fn write_run(&mut self, run: &RunId, body: &mut Body<'_>) -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT created_ms, ended_ms, state, karat, snapshot, report, plan FROM runs WHERE id = $1";
        let row = self.database.query_one(sql, vec![run.into()])?.ok_or_else(|| no_run(run))?;
        // Nobody works on a run that travels.
        let state = row.text(2)?;
        let state = if state == RunState::Running.as_str() { RunState::Stopped.as_str().to_owned() } else { state };
        let line = RunV1 {
            created_ms: row.int(0)?,
            ended_ms: row.int_or_null(1)?,
            state,
            karat: row.text(3)?,
            snapshot: row.text(4)?,
            report: row.text_or_null(5)?,
            plan: self.raw(&row.text(6)?)?,
        };
        let mut hashes: BTreeSet<String> = [line.snapshot.clone()].into_iter().chain(line.report.clone()).collect();
        body.line(&self.json(&LineV1::Run(line))?)?;
        let sql = "SELECT DISTINCT hash FROM trial_artifacts WHERE run_id = $1";
        for row in self.database.query(sql, vec![run.into()])? {
            hashes.insert(row.text(0)?);
        }
        Ok(hashes)
    }

    fn write_trials(&mut self, run: &RunId, body: &mut Body<'_>) -> Result<(), StoreError> {
        let sql = "SELECT tool, case_id, number, attempt, name, hash FROM trial_artifacts WHERE run_id = $1";
        let mut links: BTreeMap<(TrialKey, u32), BTreeMap<String, String>> = BTreeMap::new();
        for row in self.database.query(sql, vec![run.into()])? {
            let key = (super::trials::key(&row)?, row.count(3)?);
            links.entry(key).or_default().insert(row.text(4)?, row.text(5)?);
        }
        let sql = "SELECT tool, case_id, number, attempt, line, detail FROM trials WHERE run_id = $1 ORDER BY position";
        for row in self.database.query(sql, vec![run.into()])? {
            let attempt = row.count(3)?;
            let artifacts = links.remove(&(super::trials::key(&row)?, attempt)).unwrap_or_default();
            let (trial, detail) = (self.raw(&row.text(4)?)?, self.raw(&row.text(5)?)?);
            body.line(&self.json(&LineV1::Trial(TrialLineV1 { attempt, trial, detail, artifacts }))?)?;
        }
        Ok(())
    }

    fn raw(&self, text: &str) -> Result<Box<RawValue>, StoreError> {
        RawValue::from_string(text.to_owned()).map_err(|error| StoreError::Damaged {
            file: self.database.file().to_owned(),
            detail: format!("a stored value is no JSON ({error})"),
        })
    }
}

/// The lines that are counted and hashed.
struct Body<'o> {
    out: &'o mut dyn Write,
    hasher: blake3::Hasher,
    lines: usize,
}

impl Body<'_> {
    fn line(&mut self, text: &str) -> Result<(), StoreError> {
        self.hasher.update(text.as_bytes()).update(b"\n");
        self.lines += 1;
        writeln!(self.out, "{text}").map_err(StoreError::Unwritten)
    }
}

impl ContentV1 {
    fn of(bytes: Vec<u8>) -> Self {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        String::from_utf8(bytes).map_or_else(|error| Self::Hex(hex(error.as_bytes())), Self::Text)
    }

    fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.into_bytes()),
            Self::Hex(text) => {
                let digits: Option<Vec<u8>> =
                    text.chars().map(|c| c.to_digit(16).and_then(|digit| digit.try_into().ok())).collect();
                let (pairs, rest) = digits.as_ref()?.as_chunks::<2>();
                rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
            }
        }
    }
}

/// A file that was read whole and found good.
struct Parcel {
    row: RunRow,
    tools: BTreeMap<String, String>,
    batch: Batch,
    attempts: usize,
    hash: String,
}

impl Parcel {
    fn read(file: &str, mut reader: Box<dyn BufRead>) -> Result<Self, StoreError> {
        let mut unpacking = Unpacking::default();
        let mut number = 0;
        let mut line = Vec::new();
        loop {
            number += 1;
            let bad = |reason: String| StoreError::BadExport { file: file.to_owned(), line: number, reason };
            line.clear();
            let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
            read.map_err(|error| bad(format!("it cannot be read ({error})")))?;
            if line.is_empty() {
                return unpacking.done().map_err(bad);
            }
            if line.pop_if(|last| *last == b'\n').is_none() {
                return Err(bad("the file ends, or this line goes on, where it should not".to_owned()));
            }
            unpacking.take(&line).map_err(bad)?;
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Unpacking {
    header: Option<(RunId, Option<String>)>,
    run: Option<(RunV1, PlanV1)>,
    tools: BTreeMap<String, String>,
    batch: Batch,
    packer: Option<Packer>,
    links: Vec<String>,
    attempts: usize,
    lines: usize,
    hasher: blake3::Hasher,
    ended: bool,
}

impl Unpacking {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if self.ended {
            return Err("something follows the end of the run".to_owned());
        }
        let parsed = serde_json::from_slice(line).map_err(|error| format!("it is no line of a run ({error})"))?;
        if !matches!(parsed, LineV1::Header { .. } | LineV1::End { .. }) {
            self.hasher.update(line).update(b"\n");
            self.lines += 1;
        }
        match parsed {
            LineV1::Header { schema, id, name } => self.header(&schema, &id, name),
            _ if self.header.is_none() => Err("the first line must be the header".to_owned()),
            LineV1::Run(run) => self.run(run),
            LineV1::Tool { name, facts } => {
                let _: ToolFactsV1 = parse("the facts of the tool", &facts)?;
                let before = self.tools.insert(name.clone(), facts.get().to_owned());
                before.map_or(Ok(()), |_| Err(format!("the tool `{name}` stands twice")))
            }
            LineV1::Artifact { hash: stated, content } => {
                let bytes = content.bytes().ok_or_else(|| "the bytes are not in hex".to_owned())?;
                if hash(&bytes) != stated {
                    return Err(format!("the bytes are not those of the hash {stated}"));
                }
                self.batch.artifact(self.packer.get_or_insert_with(Packer::new).pack(&bytes));
                Ok(())
            }
            LineV1::Trial(trial) => self.trial(trial),
            LineV1::End { lines, hash } => {
                self.ended = true;
                if lines != self.lines || hash != self.hasher.finalize().to_hex().as_str() {
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
        let before = self.header.replace((id, name));
        before.map_or(Ok(()), |_| Err("it is a second header".to_owned()))
    }

    fn run(&mut self, run: RunV1) -> Result<(), String> {
        let plan: PlanV1 = parse("the plan", &run.plan)?;
        if RunState::parse(&run.state).is_none_or(|state| state == RunState::Running) {
            return Err(format!("the run is in the state `{}`; expected complete or stopped", run.state));
        }
        self.links.extend([run.snapshot.clone()].into_iter().chain(run.report.clone()));
        let before = self.run.replace((run, plan));
        before.map_or(Ok(()), |_| Err("it is a second run".to_owned()))
    }

    fn trial(&mut self, line: TrialLineV1) -> Result<(), String> {
        let (Some((id, _)), Some((_, plan))) = (&self.header, &self.run) else {
            return Err("a trial must come after its run".to_owned());
        };
        let mirror: TrialV1 = parse("the trial", &line.trial)?;
        let _: TrialDetailV1 = parse("the detail of the trial", &line.detail)?;
        let (trial, faults) = mirror.into_trial();
        if let Some(fault) = faults.first() {
            return Err(format!("{}: {}", fault.path.join("."), fault.message));
        }
        let key = TrialKey::of(&trial);
        if Planned::of(plan).place(&key).is_none() || line.attempt == 0 {
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

    fn done(self) -> Result<Parcel, String> {
        let (Some((id, name)), Some((run, plan)), true) = (self.header, self.run, self.ended) else {
            return Err("the file ends before the run does".to_owned());
        };
        if let Some(hash) = self.links.iter().find(|hash| !self.batch.has_artifact(hash)) {
            return Err(format!("the bytes with the hash {hash} are not in the file"));
        }
        let row = RunRow {
            id,
            name,
            created_ms: run.created_ms,
            ended_ms: run.ended_ms,
            state: RunState::parse(&run.state).unwrap_or(RunState::Stopped),
            planned: Planned::of(&plan).total(),
            suite_name: plan.suite.name,
            suite_digest: plan.suite.digest,
            snapshot: run.snapshot,
            plan: run.plan.get().to_owned(),
            report: run.report,
            karat: run.karat,
        };
        let hash = self.hasher.finalize().to_hex().to_string();
        Ok(Parcel { row, tools: self.tools, batch: self.batch, attempts: self.attempts, hash })
    }
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, raw: &RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| format!("{what} cannot be read ({error})"))
}
