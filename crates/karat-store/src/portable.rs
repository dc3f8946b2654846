//! A whole run in one file, for moving it between stores.
//!
//! One JSON line per item: a header with the run's id and name, the run, its tools, artifacts, trials and judgements, and
//! finally the number of lines in between and a hash of them and the id. The name may differ between stores, so it is not
//! hashed; scratch folders are not exported.

mod unpack;

use super::record::TrialKey;
use super::runs::{RunV1, row, run_state};
use super::tables::{TOOL_FACTS, TRIAL_ARTIFACTS, TRIALS};
use super::trials::{insert_judgements, key};
use super::{OnConflict, Result, RunId, RunState, Store, StoreError};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use unpack::{LIMITS, RunFile};

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ImportedRun {
    pub run: RunId,
    /// Already present with equal content; nothing was changed.
    pub was_here: bool,
    pub attempts: usize,
}

impl Store {
    /// Writes everything about a run, from one snapshot. The same run gives the same bytes from every store.
    pub fn export_run(&mut self, run: &RunId, out: &mut dyn Write) -> Result<()> {
        self.in_snapshot(|store| {
            let name = row(&mut store.database, run)?.get(1)?;
            let header = LineV1::Header { schema: SCHEMA.to_owned(), id: run.to_string(), name };
            writeln!(out, "{}", store.database.json(&header)?).map_err(StoreError::Unwritten)?;
            let (lines, hash) = store.write_body(run, out)?;
            writeln!(out, "{}", store.database.json(&LineV1::End { lines, hash })?).map_err(StoreError::Unwritten)
        })
    }

    /// Writes a run file atomically; compressed if the name ends in `.gz`.
    pub fn export_run_file(&mut self, run: &RunId, file: &Path) -> Result<()> {
        write_atomically(file, &mut |out| self.export_run(run, out))
    }

    /// Imports a run file, compressed or not, under its own id, after checking all of it. `name` replaces its name.
    pub fn import(&mut self, file: &Path, name: Option<&str>) -> Result<ImportedRun> {
        let shown = file.display().to_string();
        let run_file = RunFile::read(&shown, open_decompressed(file)?, LIMITS)?;
        let (id, attempts) = (run_file.row.id.clone(), run_file.attempts);
        match run_state(&mut self.database, &id) {
            Ok(_) => {
                let (_, own) = self.in_snapshot(|store| store.write_body(&id, &mut std::io::sink()))?;
                if own != run_file.hash {
                    return Err(StoreError::Differs { file: shown, run: id.to_string() });
                }
                return Ok(ImportedRun { run: id, was_here: true, attempts });
            }
            Err(StoreError::NoRun { .. }) => {}
            Err(error) => return Err(error),
        }
        let RunFile { mut row, tools, mut batch, mut judgements, .. } = run_file;
        if let Some(name) = name {
            row.name = Some(name.to_owned());
        }
        self.upload(&mut batch.packed)?;
        self.database.write(|database| {
            batch.insert_artifacts(database)?;
            row.insert(database)?;
            for (tool, history) in &tools {
                let row = |(position, facts): (i64, &String)| {
                    vec![(&id).into(), tool.as_str().into(), position.into(), facts.as_str().into()]
                };
                database.insert(&TOOL_FACTS, (1..).zip(history).map(row).collect(), OnConflict::Fail)?;
            }
            batch.insert(database, &id)?;
            insert_judgements(database, &id, database.consume(&mut judgements))
        })?;
        Ok(ImportedRun { run: id, was_here: false, attempts })
    }

    /// Writes the lines between header and end; returns their number and hash.
    fn write_body(&mut self, run: &RunId, out: &mut dyn Write) -> Result<(usize, String)> {
        let mut digest = ExportDigest::new(run.as_str());
        let row = row(&mut self.database, run)?;
        // Nobody is working on an exported run.
        let state: String = row.get(4)?;
        let state = if state == RunState::Running.as_str() { RunState::Stopped.as_str().to_owned() } else { state };
        let line = RunV1 {
            created_ms: row.get(2)?,
            ended_ms: row.get(3)?,
            state,
            karat: row.get(12)?,
            snapshot: row.get(7)?,
            report: row.get(10)?,
            plan: self.database.raw(row.get(8)?)?,
        };
        let mut hashes: BTreeSet<String> = [line.snapshot.clone()].into_iter().chain(line.report.clone()).collect();
        digest.write(out, &self.database.json(&LineV1::Run(line))?)?;
        for row in self.fact_rows(run)? {
            let row = row?;
            let facts = self.database.raw(row.get(3)?)?;
            digest.write(out, &self.database.json(&LineV1::Tool { name: row.get(1)?, facts })?)?;
        }
        let mut links: BTreeMap<(TrialKey, u32), BTreeMap<String, String>> = BTreeMap::new();
        for row in self.database.select(&TRIAL_ARTIFACTS, "WHERE run_id = $1", vec![run.into()])? {
            let (key, hash) = ((key(&row)?, row.count(4)?), row.get::<String>(6)?);
            hashes.insert(hash.clone());
            links.entry(key).or_default().insert(row.get(5)?, hash);
        }
        for hash in hashes {
            let bytes = self.artifact(&hash)?;
            digest
                .write(out, &self.database.json(&LineV1::Artifact { hash, content: ContentV1::from_bytes(bytes) })?)?;
        }
        for row in self.database.select(&TRIALS, "WHERE run_id = $1 ORDER BY position", vec![run.into()])? {
            let attempt = row.count(4)?;
            let artifacts = links.remove(&(key(&row)?, attempt)).unwrap_or_default();
            let (trial, detail) = (self.database.raw(row.get(7)?)?, self.database.raw(row.get(8)?)?);
            digest
                .write(out, &self.database.json(&LineV1::Trial(TrialLineV1 { attempt, trial, detail, artifacts }))?)?;
        }
        for row in self.judgement_rows(run)? {
            let judgement = self.database.raw(row?.get(2)?)?;
            digest.write(out, &self.database.json(&LineV1::Judgement(judgement))?)?;
        }
        Ok(digest.count_and_hash())
    }
}

/// Writes a file atomically; compressed if the name ends in `.gz`.
pub(super) fn write_atomically(file: &Path, content: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
    let zipped = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let mut failed = None;
    let written = karat_io::atomic_write::write(file, &mut |out| {
        let result = if zipped {
            let mut zip = GzEncoder::new(out, Compression::fast());
            let result = content(&mut zip);
            result.and_then(|()| zip.finish().map(|_| ()).map_err(StoreError::Unwritten))
        } else {
            content(out)
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

pub(super) fn open_decompressed(file: &Path) -> Result<Box<dyn BufRead>> {
    let failed = |source| StoreError::Io { path: file.to_owned(), source };
    let mut reader: Box<dyn BufRead> = Box::new(BufReader::new(File::open(file).map_err(failed)?));
    if reader.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]) {
        reader = Box::new(BufReader::new(MultiGzDecoder::new(reader)));
    }
    Ok(reader)
}

const SCHEMA: &str = "karat.run/1";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum LineV1 {
    Header { schema: String, id: String, name: Option<String> },
    Run(RunV1),
    Tool { name: String, facts: Box<RawValue> },
    Artifact { hash: String, content: ContentV1 },
    Trial(TrialLineV1),
    Judgement(Box<RawValue>),
    End { lines: usize, hash: String },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrialLineV1 {
    attempt: u32,
    trial: Box<RawValue>,
    detail: Box<RawValue>,
    artifacts: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContentV1 {
    Text(String),
    Hex(String),
}

impl ContentV1 {
    /// Text if that is shorter than hex.
    fn from_bytes(bytes: Vec<u8>) -> Self {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // JSON escapes a control character with six.
        if bytes.iter().filter(|byte| byte.is_ascii_control()).count() > bytes.len() / 5 {
            return Self::Hex(hex(&bytes));
        }
        String::from_utf8(bytes).map_or_else(|error| Self::Hex(hex(error.as_bytes())), Self::Text)
    }

    fn into_bytes(self) -> Option<Vec<u8>> {
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

/// The content of the last line: a hash of the run's id and of all lines between header and end, including line ends.
struct ExportDigest {
    hasher: blake3::Hasher,
    lines: usize,
}

impl ExportDigest {
    fn new(id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(id.as_bytes()).update(b"\n");
        Self { hasher, lines: 0 }
    }

    fn add(&mut self, line: &[u8]) {
        self.hasher.update(line).update(b"\n");
        self.lines += 1;
    }

    fn write(&mut self, out: &mut dyn Write, line: &str) -> Result<()> {
        self.add(line.as_bytes());
        writeln!(out, "{line}").map_err(StoreError::Unwritten)
    }

    fn count_and_hash(&self) -> (usize, String) {
        (self.lines, self.hasher.finalize().to_hex().to_string())
    }
}
