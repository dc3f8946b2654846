//! A whole run in one file, so that it moves from store to store and stays what it is.
//!
//! The file has a line of JSON for each thing: first a header with the run's id and name, then the run, its tools, all bytes it
//! refers to, its trials, what judges said of them, and at last the number of the lines between header and end, and the hash
//! of them and the id. A name may change from store to store, so it is not part of what is hashed; folders of one machine are
//! not in the file at all.

mod line;
mod unpack;

use super::Store;
use super::database::Taken;
use super::error::StoreError;
use super::judgements::insert;
use super::naming::RunId;
use super::runs::{RunState, exists, row};
use super::tables::{TOOL_FACTS, TRIAL_ARTIFACTS, TRIALS};
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
        let name = row(&mut self.database, run)?.text_or_null(1)?;
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
                let row = |(position, facts): (i64, String)| {
                    vec![(&id).into(), tool.as_str().into(), position.into(), facts.into()]
                };
                database.insert(&TOOL_FACTS, (1..).zip(history).map(row).collect(), Taken::Refuse)?;
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
        for row in self.fact_rows(run)? {
            let row = row?;
            let facts = self.raw(row.str(3)?)?;
            body.line(&self.json(&LineV1::Tool { name: row.text(1)?, facts })?)?;
        }
        for hash in hashes {
            let bytes = self.artifact(&hash)?;
            body.line(&self.json(&LineV1::Artifact { hash, content: ContentV1::of(bytes) })?)?;
        }
        self.write_trials(run, &mut body)?;
        for row in self.judgement_rows(run)? {
            let judgement = self.raw(row?.str(2)?)?;
            body.line(&self.json(&LineV1::Judgement(judgement))?)?;
        }
        Ok(body.seal.told())
    }

    /// Writes the run's own line, and tells the hashes of all bytes that the run refers to.
    fn write_run(&mut self, run: &RunId, body: &mut Body<'_>) -> Result<BTreeSet<String>, StoreError> {
        let row = row(&mut self.database, run)?;
        // Nobody works on a run that travels.
        let state = row.text(4)?;
        let state = if state == RunState::Running.as_str() { RunState::Stopped.as_str().to_owned() } else { state };
        let line = RunV1 {
            created_ms: row.int(2)?,
            ended_ms: row.int_or_null(3)?,
            state,
            karat: row.text(12)?,
            snapshot: row.text(7)?,
            report: row.text_or_null(10)?,
            plan: self.raw(row.str(8)?)?,
        };
        let mut hashes: BTreeSet<String> = [line.snapshot.clone()].into_iter().chain(line.report.clone()).collect();
        body.line(&self.json(&LineV1::Run(line))?)?;
        for row in self.database.select(&TRIAL_ARTIFACTS, "WHERE run_id = $1", vec![run.into()])? {
            hashes.insert(row.text(6)?);
        }
        Ok(hashes)
    }

    fn write_trials(&mut self, run: &RunId, body: &mut Body<'_>) -> Result<(), StoreError> {
        let mut links: BTreeMap<(TrialKey, u32), BTreeMap<String, String>> = BTreeMap::new();
        for row in self.database.select(&TRIAL_ARTIFACTS, "WHERE run_id = $1", vec![run.into()])? {
            let key = (super::trials::key(&row)?, row.count(4)?);
            links.entry(key).or_default().insert(row.text(5)?, row.text(6)?);
        }
        for row in self.database.select(&TRIALS, "WHERE run_id = $1 ORDER BY position", vec![run.into()])? {
            let attempt = row.count(4)?;
            let artifacts = links.remove(&(super::trials::key(&row)?, attempt)).unwrap_or_default();
            let (trial, detail) = (self.raw(row.str(7)?)?, self.raw(row.str(8)?)?);
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
