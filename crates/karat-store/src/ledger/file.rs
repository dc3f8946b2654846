//! Ledger files: one exchange per line, also read by `replay` judges.

use super::{check, get_many, insert};
use crate::Store;
use crate::error::StoreError;
use crate::portable::{open_decompressed, write_atomically};
use karat_llm::ledger::Exchange;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::Path;

/// The result of importing a ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ImportedExchanges {
    pub added: usize,
    /// Exchanges already present with equal content.
    pub were_here: usize,
}

/// A prompt and all its replies.
const LONGEST_LINE: u64 = 64 << 20;
/// The whole file is held in memory until it is checked.
const LONGEST_FILE: u64 = 4 << 30;
const MOST_NAMED: usize = 10;

impl Store {
    /// Writes all exchanges, or those with one model, in key order, from one snapshot; returns their number.
    pub fn export_ledger(&mut self, model: Option<&str>, out: &mut dyn Write) -> Result<usize, StoreError> {
        self.in_snapshot(|store| {
            let (mut written, mut failed) = (0, None);
            store.ledger_each(&mut |exchange| {
                if model.is_some_and(|model| exchange.provider.model != model) {
                    return;
                }
                let line = serde_json::to_string(&exchange).map_err(std::io::Error::from);
                match line.and_then(|line| writeln!(out, "{line}")) {
                    Ok(()) => written += 1,
                    Err(error) => drop(failed.get_or_insert(error)),
                }
            })?;
            failed.map_or(Ok(written), |error| Err(StoreError::Unwritten(error)))
        })
    }

    /// Writes a ledger file atomically; compressed if the name ends in `.gz`.
    pub fn export_ledger_file(&mut self, model: Option<&str>, file: &Path) -> Result<usize, StoreError> {
        let mut written = 0;
        write_atomically(file, &mut |out| {
            written = self.export_ledger(model, out)?;
            Ok(())
        })?;
        Ok(written)
    }

    /// Whether a file looks like a ledger file.
    pub fn is_ledger_file(file: &Path) -> Result<bool, StoreError> {
        let mut line = Vec::new();
        let read = open_decompressed(file)?.take(LONGEST_LINE).read_until(b'\n', &mut line);
        // A decompression error is reported when the file is read.
        let value: serde_json::Value = match read {
            Ok(_) => serde_json::from_slice(&line).unwrap_or_default(),
            Err(_) => return Ok(false),
        };
        Ok(line.starts_with(b"{\"key\":") || value.get("key").is_some() && value.get("outcome").is_some())
    }

    /// Imports a ledger file, compressed or not. It is checked completely first; if an exchange is present with other
    /// content, nothing is imported.
    pub fn import_ledger(&mut self, file: &Path) -> Result<ImportedExchanges, StoreError> {
        let exchanges = read(&file.display().to_string(), open_decompressed(file)?)?;
        self.database.write(|database| {
            let mut missing = Vec::new();
            let (mut taken, mut other) = (ImportedExchanges::default(), Vec::new());
            for group in exchanges.chunks(256) {
                let keys: Vec<_> = group.iter().map(|exchange| &exchange.key).collect();
                for (exchange, here) in group.iter().zip(get_many(database, &keys)?) {
                    match here {
                        None => missing.push(exchange),
                        Some(here) if here == *exchange => taken.were_here += 1,
                        Some(_) => other.push(exchange.key.as_str()),
                    }
                }
            }
            if !other.is_empty() {
                let mut keys = other.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
                if other.len() > MOST_NAMED {
                    keys.push_str(&format!(" and {} more", other.len() - MOST_NAMED));
                }
                return Err(StoreError::LedgerDiffers { file: file.display().to_string(), keys });
            }
            taken.added = missing.len();
            insert(database, &missing)?;
            Ok(taken)
        })
    }
}

fn read(file: &str, mut reader: Box<dyn BufRead>) -> Result<Vec<Exchange>, StoreError> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut lines: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut number, mut total) = (0, 0);
    let mut line = Vec::new();
    loop {
        number += 1;
        line.clear();
        let bad = |reason: String| StoreError::BadLedger { file: file.to_owned(), line: number, reason };
        let read = reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        total += read.map_err(|error| bad(format!("it cannot be read ({error})")))? as u64;
        if line.is_empty() {
            return Ok(exchanges);
        }
        if line.len() as u64 > LONGEST_LINE || total > LONGEST_FILE {
            return Err(bad("up to here there is more than any ledger needs".to_owned()));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let exchange: Exchange =
            serde_json::from_slice(&line).map_err(|error| bad(format!("this is no recorded exchange ({error})")))?;
        check(&exchange).map_err(&bad)?;
        match lines.get(exchange.key.as_str()) {
            None => {
                lines.insert(exchange.key.to_string(), (number, exchanges.len()));
                exchanges.push(exchange);
            }
            Some((_, index)) if exchanges[*index] == exchange => {}
            Some((before, _)) => {
                return Err(bad(format!("its key stands on line {before} with other content")));
            }
        }
    }
}
