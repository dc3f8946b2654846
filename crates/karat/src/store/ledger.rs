//! Exchanges with models, kept once for all runs.

use super::Store;
use super::database::{Insert, Value};
use super::error::StoreError;
use super::moment::now_ms;
use crate::judge::ledger::{Exchange, Ledger, LedgerError, LedgerKey};
use std::collections::BTreeMap;

/// So many keys are looked up with one statement; the last ones of a question are filled up with a key that is there.
const KEYS: usize = 32;

const GET: &str = "SELECT key, exchange FROM ledger WHERE key IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
     $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)";

impl Store {
    /// The exchanges under these keys, in the same order.
    pub fn ledger_get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, StoreError> {
        let mut found = BTreeMap::new();
        for group in keys.chunks(KEYS) {
            let padded = group.iter().chain(std::iter::repeat(&group[0])).take(KEYS);
            for row in self.database.query(GET, padded.map(|key| key.as_str().into()).collect())? {
                let (key, text) = (row.text(0)?, row.text(1)?);
                let exchange = self.exchange(&key, &text)?;
                found.insert(key, exchange);
            }
        }
        Ok(keys.iter().map(|key| found.get(key.as_str()).cloned()).collect())
    }

    /// Keeps exchanges, all or none of them; on return they are durable. What is there already stays as it is.
    pub fn ledger_put(&mut self, exchanges: &[&Exchange]) -> Result<(), StoreError> {
        const INTO: Insert =
            Insert { into: "ledger (key, exchange, created_ms)", columns: 3, tail: "ON CONFLICT (key) DO NOTHING" };
        let now = now_ms();
        let row = |exchange: &&Exchange| -> Result<Vec<Value>, StoreError> {
            let text = serde_json::to_string(exchange).map_err(|error| StoreError::Database {
                file: self.database.file().to_owned(),
                detail: error.to_string(),
            })?;
            Ok(vec![exchange.key.as_str().into(), text.into(), now.into()])
        };
        let rows = exchanges.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        self.database.write(|database| database.insert(&INTO, rows))
    }

    /// Every exchange, ordered by key, told one by one.
    pub fn ledger_each(&mut self, tell: &mut dyn FnMut(Exchange)) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let sql = "SELECT key, exchange FROM ledger WHERE key > $1 ORDER BY key LIMIT 256";
            let rows = self.database.query(sql, vec![after.as_str().into()])?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                let (key, text) = (row.text(0)?, row.text(1)?);
                tell(self.exchange(&key, &text)?);
                after = key;
            }
        }
    }

    /// An exchange as it was stored; one that does not fit its key is damage.
    fn exchange(&self, key: &str, text: &str) -> Result<Exchange, StoreError> {
        let damaged = |detail: String| StoreError::Damaged { file: self.database.file().to_owned(), detail };
        let exchange: Exchange = serde_json::from_str(text)
            .map_err(|error| damaged(format!("the exchange {key} of the ledger cannot be read ({error})")))?;
        if exchange.key.as_str() != key {
            return Err(damaged(format!("the exchange {} of the ledger lies under {key}", exchange.key)));
        }
        Ok(exchange)
    }
}

impl Ledger for Store {
    fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError> {
        Ok(self.ledger_get_many(keys)?)
    }

    fn put(&mut self, exchanges: &[&Exchange]) -> Result<(), LedgerError> {
        Ok(self.ledger_put(exchanges)?)
    }
}
