//! The ledger of exchanges with language models, shared by all runs; and ledger files, with one exchange per line, which
//! `replay` judges read too.

use super::database::Backoff;
use super::portable::{open_decompressed, write_atomically};
use super::tables::{LEDGER, SENT_QUESTIONS, SETTINGS};
use super::{Database, OnConflict, Result, Row, Store, StoreError, Value};
use karat_core::wording::first_few;
use karat_llm::adaptation::Adaptation;
use karat_llm::ledger::{Exchange, Ledger, LedgerError, LedgerKey};
use karat_llm::permits::{Permit, PermitRequest, SettledRequest, SharedLimits};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::time::Instant;

/// Keys per lookup statement; a shorter list is padded by repeating a key.
const KEYS: usize = 32;

const GET: &str = "WHERE key IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
     $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)";

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
    /// Adds exchanges atomically, skipping keys already present; durable on return. An answer that could not be read is replaced.
    pub fn ledger_put(&mut self, exchanges: &[&Exchange]) -> Result<()> {
        // Answers were paid for.
        self.database.write_repeatable(|database| insert(database, exchanges))
    }

    /// Notes that questions are about to be sent, and returns for each whether it was noted before and never settled.
    pub(super) fn note_sent(&mut self, keys: &[&LedgerKey]) -> Result<Vec<bool>> {
        self.database.write_quickly(|database| {
            let now = database.now_ms()?;
            let mut before = Vec::new();
            for key in keys {
                let own = vec![key.as_str().into()];
                before.push(database.select_one(&SENT_QUESTIONS, "WHERE key = $1", own)?.is_some());
            }
            let rows = keys.iter().map(|key| vec![key.as_str().into(), now.into()]).collect();
            database.insert(&SENT_QUESTIONS, rows, OnConflict::Ignore)?;
            Ok(before)
        })
    }

    /// Calls `visit` with every exchange, in key order.
    pub fn ledger_each(&mut self, visit: &mut dyn FnMut(Exchange)) -> Result<()> {
        self.ledger_walk(&mut |exchange| exchange.map(&mut *visit))
    }

    /// The number of exchanges.
    pub fn ledger_len(&mut self) -> Result<usize> {
        Ok(self.database.query_count("SELECT COUNT(*) FROM ledger", Vec::new())? as usize)
    }

    /// The newest exchanges first, each with its time.
    pub fn ledger_newest(&mut self, most: u32) -> Result<Vec<(i64, Exchange)>> {
        let rows = self.database.select(&LEDGER, "ORDER BY created_ms DESC, key LIMIT $1", vec![most.into()])?;
        rows.iter().map(|row| made(&self.database, row)).collect()
    }

    /// At most `most` exchanges whose key starts with a prefix, each with its time.
    pub fn ledger_with_prefix(&mut self, beginning: &str, most: u32) -> Result<Vec<(i64, Exchange)>> {
        // Keys are lowercase hex, so `g` sorts after every key with the prefix.
        let values = vec![beginning.into(), format!("{beginning}g").into(), most.into()];
        let rows = self.database.select(&LEDGER, "WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3", values)?;
        rows.iter().map(|row| made(&self.database, row)).collect()
    }

    /// Visits every exchange, or its error, in key order until `visit` returns an error.
    pub(super) fn ledger_walk(&mut self, visit: &mut dyn FnMut(Result<Exchange>) -> Result<()>) -> Result<()> {
        let mut after = String::new();
        loop {
            let next = "WHERE key > $1 ORDER BY key LIMIT 256";
            let rows = self.database.select_each(&LEDGER, next, vec![after.as_str().into()])?;
            if rows.is_empty() {
                return Ok(());
            }
            // Damaged rows are skipped, whatever their key.
            let keys = "SELECT MAX(key) FROM (SELECT key FROM ledger WHERE key > $1 ORDER BY key LIMIT 256) AS next";
            let last = self.database.query_one(keys, vec![after.as_str().into()])?;
            for row in rows {
                visit(row.and_then(|row| made(&self.database, &row).map(|(_, exchange)| exchange)))?;
            }
            match last.map(|row| row.get::<String>(0)).transpose()? {
                Some(last) if last > after => after = last,
                _ => return Ok(()),
            }
        }
    }

    /// Writes all exchanges, or those with one model, in key order, from one snapshot; returns their number.
    pub fn export_ledger(&mut self, model: Option<&str>, out: &mut dyn Write) -> Result<usize> {
        self.in_snapshot(|store| {
            let mut written = 0;
            store.ledger_walk(&mut |exchange| {
                let exchange = exchange?;
                if model.is_none_or(|model| exchange.provider.model == model) {
                    let line = serde_json::to_string(&exchange).map_err(std::io::Error::from);
                    line.and_then(|line| writeln!(out, "{line}")).map_err(StoreError::Unwritten)?;
                    written += 1;
                }
                Ok(())
            })?;
            Ok(written)
        })
    }

    /// Writes a ledger file atomically; compressed if the name ends in `.gz`.
    pub fn export_ledger_file(&mut self, model: Option<&str>, file: &Path) -> Result<usize> {
        let mut written = 0;
        write_atomically(file, &mut |out| {
            written = self.export_ledger(model, out)?;
            Ok(())
        })?;
        Ok(written)
    }

    /// Whether a file looks like a ledger file.
    pub fn is_ledger_file(file: &Path) -> Result<bool> {
        let mut line = Vec::new();
        let read = open_decompressed(file)?.take(LONGEST_LINE).read_until(b'\n', &mut line);
        // A decompression error is reported when the file is read.
        let value: serde_json::Value = match read {
            Ok(_) => serde_json::from_slice(&line).unwrap_or_default(),
            Err(_) => return Ok(false),
        };
        Ok(line.starts_with(b"{\"key\":") || value.get("key").is_some() && value.get("outcome").is_some())
    }

    /// Imports a ledger file, compressed or not; nothing of it if an exchange is present with other content.
    pub fn import_ledger(&mut self, file: &Path) -> Result<ImportedExchanges> {
        let exchanges = read_file(&file.display().to_string(), open_decompressed(file)?)?;
        self.database.write(|database| {
            let mut missing = Vec::new();
            let (mut taken, mut other) = (ImportedExchanges::default(), Vec::new());
            for group in exchanges.chunks(256) {
                let keys: Vec<_> = group.iter().map(|exchange| &exchange.key).collect();
                for (exchange, here) in group.iter().zip(get_many(database, &keys)?) {
                    match here {
                        None => missing.push(exchange),
                        Some(here) if here == *exchange || exchange.answer.is_unreadable() => taken.were_here += 1,
                        Some(here) if here.answer.is_unreadable() => missing.push(exchange),
                        Some(_) => other.push(exchange.key.as_str()),
                    }
                }
            }
            if !other.is_empty() {
                let keys = first_few(&other, MOST_NAMED);
                return Err(StoreError::LedgerDiffers { file: file.display().to_string(), keys });
            }
            taken.added = missing.len();
            insert(database, &missing)?;
            Ok(taken)
        })
    }
}

pub(super) fn get_many(database: &mut Database, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>> {
    let mut found = BTreeMap::new();
    for group in keys.chunks(KEYS) {
        let padded = group.iter().chain(std::iter::repeat(&group[0])).take(KEYS);
        for row in database.select(&LEDGER, GET, padded.map(|key| key.as_str().into()).collect())? {
            let (key, text): (String, &str) = (row.get(0)?, row.get(1)?);
            let exchange = exchange(database, &key, text)?;
            found.insert(key, exchange);
        }
    }
    Ok(keys.iter().map(|key| found.get(key.as_str()).cloned()).collect())
}

fn insert(database: &mut Database, exchanges: &[&Exchange]) -> Result<()> {
    let now = database.now_ms()?;
    let row = |exchange: &&Exchange| -> Result<Vec<Value>> {
        Ok(vec![exchange.key.as_str().into(), database.json(exchange)?.into(), now.into()])
    };
    let rows = exchanges.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let keys: Vec<&LedgerKey> = exchanges.iter().map(|exchange| &exchange.key).collect();
    for stored in get_many(database, &keys)?.iter().flatten().filter(|stored| stored.answer.is_unreadable()) {
        database.execute("DELETE FROM ledger WHERE key = $1", vec![stored.key.as_str().into()])?;
    }
    database.insert(&LEDGER, rows, OnConflict::Ignore)
}

fn made(database: &Database, row: &Row) -> Result<(i64, Exchange)> {
    Ok((row.get(2)?, exchange(database, row.get(0)?, row.get(1)?)?))
}

fn exchange(database: &Database, key: &str, text: &str) -> Result<Exchange> {
    let exchange: Exchange = database.parse_json(text, || format!("the exchange {key} of the ledger"))?;
    if exchange.key.as_str() != key {
        return Err(database.damaged(format!("the exchange {} of the ledger lies under {key}", exchange.key)));
    }
    Ok(exchange)
}

/// Rejects exchanges that are never stored. The key cannot be recomputed: it includes the answer's maximum length.
pub(super) fn check(exchange: &Exchange) -> Result<(), String> {
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let key = exchange.key.as_str();
    if key.len() != 2 * blake3::OUT_LEN || !key.bytes().all(hex) {
        return Err(format!("the key {key:?} is no hash"));
    }
    if !exchange.is_final() {
        return Err(format!("the exchange {key} came to nothing, and such a one is asked again"));
    }
    Ok(())
}

fn read_file(file: &str, mut reader: Box<dyn BufRead>) -> Result<Vec<Exchange>> {
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

impl Store {
    /// Repeats `work` while the server is away or full. An error would end requests under way, and lose answers that were paid for.
    fn outlast_outages<T>(&mut self, mut work: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        let deadline = Instant::now() + self.database.longest_outage();
        let mut backoff = Backoff::default();
        loop {
            match work(self) {
                Err(error) if error.is_outage() && !self.database.is_abandoned() && Instant::now() < deadline => {
                    backoff.wait(deadline);
                }
                result => return result,
            }
        }
    }
}

impl Ledger for Store {
    fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError> {
        Ok(self.outlast_outages(|store| get_many(&mut store.database, keys))?)
    }

    fn put(&mut self, exchanges: &[&Exchange]) -> Result<(), LedgerError> {
        Ok(self.outlast_outages(|store| store.ledger_put(exchanges))?)
    }

    fn place(&self) -> Option<String> {
        Some(self.location().to_string())
    }

    fn is_shared(&self) -> bool {
        self.location().as_server().is_some()
    }

    fn permit(&mut self, limits: &SharedLimits, requests: &[PermitRequest]) -> Result<Vec<Permit>, LedgerError> {
        if self.is_shared() {
            return Ok(self.outlast_outages(|store| store.permit_shared(limits, requests))?);
        }
        let keys: Vec<&LedgerKey> = requests.iter().map(|request| &request.key).collect();
        let sent_before = self.note_sent(&keys)?;
        Ok(sent_before.into_iter().map(|was_sent| Permit::Granted { was_sent }).collect())
    }

    fn recall_adaptation(&mut self, server: &str) -> Result<Option<Adaptation>, LedgerError> {
        Ok(self.outlast_outages(|store| recall_adaptation(&mut store.database, server))?)
    }

    fn remember_adaptation(&mut self, server: &str, adaptation: &Adaptation) -> Result<(), LedgerError> {
        Ok(self.outlast_outages(|store| store.remember_adaptation(server, adaptation))?)
    }

    fn settle_requests(&mut self, limits: &SharedLimits, settled: &[SettledRequest]) -> Result<(), LedgerError> {
        match self.is_shared() {
            true => Ok(self.outlast_outages(|store| store.settle_shared(limits, settled))?),
            false => Ok(()),
        }
    }

    fn forget_sent(&mut self, keys: &[&LedgerKey]) -> Result<(), LedgerError> {
        if self.is_shared() {
            return Ok(self.outlast_outages(|store| store.forget_shared(keys))?);
        }
        Ok(self.database.write_quickly(|database| {
            for key in keys {
                database.execute("DELETE FROM sent_questions WHERE key = $1", vec![key.as_str().into()])?;
            }
            Ok(())
        })?)
    }
}

/// The settings that say what a server refuses start with this. Each has one finding, so that none is ever overwritten.
const ADAPTATION: &str = "adaptation ";

/// All that was found together.
fn recall_adaptation(database: &mut Database, server: &str) -> Result<Option<Adaptation>> {
    // A space sorts before `!`.
    let (from, to) = (format!("{ADAPTATION}{server} "), format!("{ADAPTATION}{server}!"));
    let rows =
        database.select(&SETTINGS, "WHERE name >= $1 AND name < $2 ORDER BY name", vec![from.into(), to.into()])?;
    let mut all: Option<Adaptation> = None;
    for row in rows {
        let found: Adaptation = database.parse_json(row.get(1)?, || "what a model refuses".to_owned())?;
        all.get_or_insert_default().merge(&found);
    }
    Ok(all)
}

impl Store {
    fn remember_adaptation(&mut self, server: &str, adaptation: &Adaptation) -> Result<()> {
        self.database.write_repeatable(|database| {
            let value = database.json(adaptation)?;
            let hash = blake3::hash(value.as_bytes()).to_hex();
            let name = format!("{ADAPTATION}{server} {}", &hash[..16]);
            database.insert(&SETTINGS, vec![vec![name.into(), value.into()]], OnConflict::Ignore)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{StoreDir, on_each_engine};
    use karat_llm::ledger::{Answer, FailureReason};
    use karat_llm::provider::ProviderId;
    use serde_json::json;

    on_each_engine!(
        exchanges_round_trip,
        only_unreadable_answers_are_replaced,
        exchanges_are_found_by_age_and_key_prefix,
        damaged_exchanges_are_reported,
        refusals_are_remembered_per_server,
    );

    fn refusals_are_remembered_per_server() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let dropped = |names: &[&str]| -> Adaptation {
            serde_json::from_value(json!({ "dropped": names, "answer_format": "schema" })).unwrap()
        };
        assert_eq!(store.recall_adaptation("a").unwrap(), None);
        for (server, names) in [("a", &["top_k"][..]), ("a", &["temperature"]), ("a", &["top_k"]), ("ab", &["seed"])] {
            store.remember_adaptation(server, &dropped(names)).unwrap();
        }
        let mut later = Store::read_only(dir.location()).unwrap();
        assert_eq!(later.recall_adaptation("a").unwrap(), Some(dropped(&["temperature", "top_k"])));
        assert_eq!(later.recall_adaptation("ab").unwrap(), Some(dropped(&["seed"])));
        assert_eq!(later.recall_adaptation("b").unwrap(), None);
        assert_eq!(store.verify().unwrap(), Vec::new());
    }

    fn exchange(key: &str, why: &str) -> Exchange {
        Exchange {
            key: serde_json::from_value(json!(key)).unwrap(),
            question: String::new(),
            provider: ProviderId { provider: "p".into(), model: "m".into(), parameters: json!({"temperature": 0.0}) },
            template: "pair/v1".into(),
            system: "s".into(),
            user: "u".into(),
            replies: Vec::new(),
            tokens_in: 1,
            tokens_out: 2,
            usd: Some(0.25),
            attempts: 1,
            request_time: std::time::Duration::ZERO,
            timed_out: false,
            cached: false,
            answer: Answer::Refused { why: why.into() },
        }
    }

    fn get(store: &mut Store, keys: &[String]) -> Vec<Option<Exchange>> {
        let keys: Vec<LedgerKey> = keys.iter().map(|key| serde_json::from_value(json!(key)).unwrap()).collect();
        get_many(&mut store.database, &keys.iter().collect::<Vec<_>>()).unwrap()
    }

    fn exchanges_round_trip() {
        let dir = StoreDir::new();
        let all: Vec<Exchange> = (0..300).map(|n| exchange(&format!("k{n}"), "first")).collect();
        dir.store().ledger_put(&all.iter().collect::<Vec<_>>()).unwrap();
        let mut store = Store::open(dir.location()).unwrap();
        for count in [0, 1, 31, 32, 33, 300] {
            let keys: Vec<String> = (0..count).rev().map(|n| format!("k{n}")).collect();
            let expect: Vec<Option<Exchange>> = (0..count).rev().map(|n| Some(all[n].clone())).collect();
            assert_eq!(get(&mut store, &keys), expect);
        }
        let mixed = get(&mut store, &["k7".into(), "absent".into(), "k7".into()]);
        assert_eq!(mixed, [Some(all[7].clone()), None, Some(all[7].clone())]);
        let mut visited = Vec::new();
        store.ledger_each(&mut |exchange| visited.push(exchange.key.to_string())).unwrap();
        assert_eq!((visited.len(), visited.is_sorted()), (300, true));
    }

    fn only_unreadable_answers_are_replaced() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let answer = Answer::Missing { reason: FailureReason::Unreadable, why: "no JSON".into() };
        let unreadable = Exchange { answer, ..exchange("k", "") };
        store.ledger_put(&[&unreadable]).unwrap();
        assert_eq!(get(&mut store, &["k".into()]), [Some(unreadable)]);
        store.ledger_put(&[&exchange("k", "first")]).unwrap();
        store.ledger_put(&[&exchange("k", "second"), &exchange("l", "third")]).unwrap();
        let found = get(&mut store, &["k".into(), "l".into()]);
        assert_eq!(found, [Some(exchange("k", "first")), Some(exchange("l", "third"))]);
        let mut frozen = Store::read_only(dir.location()).unwrap();
        assert!(matches!(frozen.ledger_put(&[&exchange("n", "")]), Err(StoreError::ReadOnly { .. })));
    }

    fn exchanges_are_found_by_age_and_key_prefix() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        for (key, made) in [("ab1", 3_i64), ("ab2", 1), ("b00", 2), ("c00", 2)] {
            let sql = "INSERT INTO ledger (key, exchange, created_ms, row_hash) VALUES ($1, $2, $3, '')";
            let text = serde_json::to_string(&exchange(key, "")).unwrap();
            store.database.execute(sql, vec![key.into(), text.into(), made.into()]).unwrap();
        }
        store.database.rehash();
        let keys = |found: Vec<(i64, Exchange)>| -> Vec<String> {
            found.iter().map(|(made, exchange)| format!("{} {made}", exchange.key)).collect()
        };
        assert_eq!(keys(store.ledger_newest(3).unwrap()), ["ab1 3", "b00 2", "c00 2"]);
        assert_eq!(keys(store.ledger_with_prefix("ab", 10).unwrap()), ["ab1 3", "ab2 1"]);
        assert_eq!(keys(store.ledger_with_prefix("ab", 1).unwrap()), ["ab1 3"]);
        assert_eq!(keys(store.ledger_with_prefix("ab2", 10).unwrap()), ["ab2 1"]);
        assert_eq!(keys(store.ledger_with_prefix("f", 10).unwrap()), [""; 0]);
    }

    fn damaged_exchanges_are_reported() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let check = |store: &mut Store, key: &'static str, text: &str, expect: &str| {
            let sql = "INSERT INTO ledger (key, exchange, created_ms, row_hash) VALUES ($1, $2, 0, '')";
            store.database.execute(sql, vec![key.into(), text.into()]).unwrap();
            store.database.rehash();
            let wanted: LedgerKey = serde_json::from_value(json!(key)).unwrap();
            let error = get_many(&mut store.database, &[&wanted]).unwrap_err().to_string();
            assert!(error.contains("is damaged") && error.contains(expect), "{error}");
        };
        check(&mut store, "a", "{", "the exchange a of the ledger cannot be read");
        let moved = serde_json::to_string(&exchange("b", "")).unwrap();
        check(&mut store, "c", &moved, "the exchange b of the ledger lies under c");
    }
}
