//! A whole run in one file, so that it moves from store to store and stays what it is.
//!
//! The file has a line of JSON for each thing: first a header with the run's id and name, then the run, its tools, all bytes it
//! refers to, its trials, what judges said of them, and at last the number of the lines between header and end, and the hash
//! of them and the id. A name may change from store to store, so it is not part of what is hashed; folders of one machine are
//! not in the file at all.

mod line;
mod unpack;

use super::Store;
use super::error::StoreError;
use super::judgements::insert;
use super::naming::RunId;
use super::runs::{RunState, exists, no_run};
use crate::run::record::TrialKey;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use line::{ContentV1, LineV1, RunV1, SCHEMA, Seal, TrialLineV1};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use unpack::{Limits, Parcel};

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

impl Store {
    /// Writes everything that is known of a run. The same run gives the same bytes from every store.
    /// A run that goes on meanwhile is written as it was at one moment.
    pub fn export_run(&mut self, run: &RunId, out: &mut dyn Write) -> Result<(), StoreError> {
        self.at_one_moment(|store| store.export_run_now(run, out))
    }

    fn export_run_now(&mut self, run: &RunId, out: &mut dyn Write) -> Result<(), StoreError> {
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
        into_file(file, &mut |out| self.export_run(run, out))
    }

    /// Takes a run from a file that `export_run` wrote, compressed or not, under the id it always had. The whole file is
    /// checked before anything is stored. A name given here is used instead of the run's own.
    pub fn import(&mut self, file: &Path, name: Option<&str>) -> Result<Imported, StoreError> {
        let shown = file.display().to_string();
        let parcel = Parcel::read(&shown, opened(file)?, Limits::default())?;
        let (id, attempts) = (parcel.row.id.clone(), parcel.attempts);
        let is_here = match exists(&mut self.database, &id) {
            Ok(_) => true,
            Err(StoreError::NoRun { .. }) => false,
            Err(error) => return Err(error),
        };
        if is_here {
            let (_, own) = self.at_one_moment(|store| store.write_body(&id, &mut std::io::sink()))?;
            if own != parcel.hash {
                return Err(StoreError::Differs { file: shown, run: id.to_string() });
            }
            return Ok(Imported { run: id, was_here: true, attempts });
        }
        let Parcel { mut row, tools, mut batch, judgements, .. } = parcel;
        if let Some(name) = name {
            row.name = Some(name.to_owned());
        }
        self.database.write(|database| {
            batch.keep(database)?;
            row.insert(database)?;
            for (tool, history) in tools {
                for (position, facts) in (1_i64..).zip(history) {
                    let values = vec![(&id).into(), tool.as_str().into(), position.into(), facts.into()];
                    let sql = "INSERT INTO tool_facts (run_id, tool, position, facts) VALUES ($1, $2, $3, $4)";
                    database.execute(sql, values)?;
                }
            }
            batch.insert(database, &id)?;
            insert(database, &id, judgements)
        })?;
        Ok(Imported { run: id, was_here: false, attempts })
    }

    /// Writes all lines between header and end, and tells their number and hash.
    fn write_body(&mut self, run: &RunId, out: &mut dyn Write) -> Result<(usize, String), StoreError> {
        let mut body = Body { out, seal: Seal::of(run.as_str()) };
        let hashes = self.write_run(run, &mut body)?;
        let sql = "SELECT tool, facts FROM tool_facts WHERE run_id = $1 ORDER BY tool, position";
        for row in self.database.query(sql, vec![run.into()])? {
            let facts = self.raw(&row.text(1)?)?;
            body.line(&self.json(&LineV1::Tool { name: row.text(0)?, facts })?)?;
        }
        for hash in hashes {
            let bytes = self.artifact(&hash)?;
            body.line(&self.json(&LineV1::Artifact { hash, content: ContentV1::of(bytes) })?)?;
        }
        self.write_trials(run, &mut body)?;
        for row in self.judgement_rows(run)? {
            let judgement = self.raw(&row.text(1)?)?;
            body.line(&self.json(&LineV1::Judgement(judgement))?)?;
        }
        Ok(body.seal.told())
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

/// Writes a file that appears whole or not at all; compressed where its name ends in `.gz`.
pub(super) fn into_file(
    file: &Path,
    content: &mut dyn FnMut(&mut dyn Write) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let zipped = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let mut failed = None;
    let written = crate::whole_file::write(file, &mut |out| {
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

/// Opens a file for reading, decompressed where it is compressed.
pub(super) fn opened(file: &Path) -> Result<Box<dyn BufRead>, StoreError> {
    let failed = |source| StoreError::Io { path: file.to_owned(), source };
    let mut reader: Box<dyn BufRead> = Box::new(BufReader::new(File::open(file).map_err(failed)?));
    if reader.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]) {
        reader = Box::new(BufReader::new(MultiGzDecoder::new(reader)));
    }
    Ok(reader)
}

/// The lines that are counted and hashed.
struct Body<'o> {
    out: &'o mut dyn Write,
    seal: Seal,
}

impl Body<'_> {
    fn line(&mut self, text: &str) -> Result<(), StoreError> {
        self.seal.add(text.as_bytes());
        writeln!(self.out, "{text}").map_err(StoreError::Unwritten)
    }
}
