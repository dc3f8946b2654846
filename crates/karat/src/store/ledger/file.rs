//! The ledger as a file: one exchange a line, which `replay` judges read too.

use super::{check, get_many, insert};
use crate::judge::ledger::Exchange;
use crate::store::Store;
use crate::store::error::StoreError;
use crate::store::portable::{into_file, opened};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::Path;

/// What came of taking exchanges from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenExchanges {
    /// How many are new.
    pub added: usize,
    /// How many were here already, with equal content.
    pub were_here: usize,
}

/// Bytes of one line: a prompt, and every reply to it.
const LONGEST_LINE: u64 = 64 << 20;
/// Bytes of all lines, which are held in memory until all of them are known to be good.
const LONGEST_FILE: u64 = 4 << 30;
/// So many keys are named in a message.
const MOST_NAMED: usize = 10;

impl Store {
    /// Writes every exchange, or those with one model, ordered by key, and tells how many they are. What comes meanwhile is
    /// left out.
    pub fn export_ledger(&mut self, model: Option<&str>, out: &mut dyn Write) -> Result<usize, StoreError> {
        self.at_one_moment(|store| {
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

    /// Writes exchanges into a file, which appears whole or not at all; compressed where its name ends in `.gz`.
    pub fn export_ledger_file(&mut self, model: Option<&str>, file: &Path) -> Result<usize, StoreError> {
        let mut written = 0;
        into_file(file, &mut |out| {
            written = self.export_ledger(model, out)?;
            Ok(())
        })?;
        Ok(written)
    }

    /// Whether a file begins as a file of exchanges does.
    pub fn holds_exchanges(file: &Path) -> Result<bool, StoreError> {
        let mut line = Vec::new();
        let read = opened(file)?.take(LONGEST_LINE).read_until(b'\n', &mut line);
        // What cannot be unpacked is told by whoever reads on.
        let value: serde_json::Value = match read {
            Ok(_) => serde_json::from_slice(&line).unwrap_or_default(),
            Err(_) => return Ok(false),
        };
        Ok(line.starts_with(b"{\"key\":") || value.get("key").is_some() && value.get("outcome").is_some())
    }

    /// Takes exchanges from a file that `export_ledger` wrote, compressed or not: all that are not here yet, or none where one
    /// is here with other content. The whole file is checked before anything is stored.
    pub fn import_ledger(&mut self, file: &Path) -> Result<TakenExchanges, StoreError> {
        let exchanges = read(&file.display().to_string(), opened(file)?)?;
        self.database.write(|database| {
            let mut missing = Vec::new();
            let (mut taken, mut other) = (TakenExchanges::default(), Vec::new());
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

/// All exchanges of a file, each once.
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
