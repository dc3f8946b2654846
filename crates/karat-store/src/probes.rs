//! The append-only log of judges' probe results.

use super::tables::PROBES;
use super::verify::Problems;
use super::{Database, OnConflict, Result, Row, Store};
use karat_format::probe::ProbeV1;
use karat_llm::judge_id::JudgeId;

impl Store {
    /// Adds a probe result; durable on return.
    pub fn add_probe(&mut self, judge: &JudgeId, scorecard: &ProbeV1) -> Result<()> {
        let (identity, scorecard) = (self.database.json(judge)?, self.database.json(scorecard)?);
        self.database.write(|database| add(database, [judge.key().as_str(), &identity, &scorecard]))
    }

    /// The last probe result of a judge.
    pub fn latest_probe(&mut self, judge: &str) -> Result<Option<ProbeV1>> {
        let newest = "WHERE judge = $1 ORDER BY sequence DESC LIMIT 1";
        let row = self.database.select_one(&PROBES, newest, vec![judge.into()])?;
        row.map(|row| scorecard(&self.database, &row)).transpose()
    }

    pub(super) fn check_probes(&mut self, found: &mut Problems) -> Result<()> {
        for row in self.database.select_each(&PROBES, "ORDER BY sequence", Vec::new())? {
            let Some(row) = found.record(row)? else { continue };
            found.record(scorecard(&self.database, &row))?;
            found.record(check_judge(&self.database, &row))?;
        }
        Ok(())
    }
}

fn add(database: &mut Database, [judge, identity, scorecard]: [&str; 3]) -> Result<()> {
    database.exclude_others("karat probes")?;
    let sequence = database.next_number(&PROBES)?;
    let row = vec![sequence.into(), judge.into(), identity.into(), scorecard.into(), database.now_ms()?.into()];
    database.insert(&PROBES, vec![row], OnConflict::Fail)
}

fn check_judge(database: &Database, row: &Row) -> Result<()> {
    let number: i64 = row.get(0)?;
    let judge: JudgeId = database.parse_json(row.get(2)?, || format!("the judge of probe {number}"))?;
    if judge.key().as_str() != row.get::<&str>(1)? {
        return Err(database.damaged(format!("probe {number} is stored under another judge's key")));
    }
    Ok(())
}

fn scorecard(database: &Database, row: &Row) -> Result<ProbeV1> {
    let number: i64 = row.get(0)?;
    database.parse_json(row.get(3)?, || format!("the scorecard of probe {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GcOptions;
    use crate::tests::{StoreDir, on_each_engine};
    use serde_json::json;
    use std::time::Duration;

    on_each_engine!(latest_probe_counts_and_all_are_kept, damaged_probes_are_reported,);

    fn judge(model: &str) -> JudgeId {
        JudgeId { provider: "openai".into(), model: Some(model.into()), parameters: json!({}), prompt: None }
    }

    fn scorecard(wrong: usize) -> ProbeV1 {
        let rate = json!({ "n": 10, "wrong": wrong, "rate": wrong as f64 / 10.0, "ci": [0.0, 0.3], "unjudged": 0 });
        serde_json::from_value(json!({ "suite": "s", "pairs": 10, "kinds": { "padding": rate }, "fooled": rate }))
            .unwrap()
    }

    fn latest_probe_counts_and_all_are_kept() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        assert_eq!(store.latest_probe(&judge("m").key()).unwrap(), None);
        store.add_probe(&judge("m"), &scorecard(1)).unwrap();
        store.add_probe(&judge("n"), &scorecard(2)).unwrap();
        store.add_probe(&judge("m"), &scorecard(3)).unwrap();
        assert_eq!(store.latest_probe(&judge("m").key()).unwrap(), Some(scorecard(3)));
        assert_eq!(store.latest_probe(&judge("n").key()).unwrap(), Some(scorecard(2)));
        for sql in ["UPDATE probes SET scorecard = ''", "DELETE FROM probes"] {
            assert!(store.database.execute(sql, Vec::new()).is_err(), "{sql}");
        }
        // Garbage collection keeps probes, since reports show them.
        let gc = GcOptions { keep: Some(0), exchanges_older_than: Some(Duration::ZERO), ..GcOptions::default() };
        store.gc(&gc).unwrap();
        let rows = store.database.query("SELECT sequence FROM probes", Vec::new()).unwrap();
        assert_eq!((rows.len(), store.verify().unwrap()), (3, Vec::new()));
    }

    fn damaged_probes_are_reported() {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let add = |store: &mut Store, values: [&str; 3]| super::add(&mut store.database, values).unwrap();
        let (id, card) = (json!(judge("m")).to_string(), json!(scorecard(1)).to_string());
        add(&mut store, [judge("m").key().as_str(), &id, "{"]);
        add(&mut store, [judge("n").key().as_str(), &id, &card]);
        add(&mut store, [judge("m").key().as_str(), "7", &card]);
        let messages: Vec<String> = store.verify().unwrap().into_iter().map(|problem| problem.message).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(messages[0].starts_with("the scorecard of probe 1 cannot be read"), "{messages:?}");
        assert_eq!(messages[1], "probe 2 is stored under another judge's key");
        assert!(messages[2].starts_with("the judge of probe 3 cannot be read"), "{messages:?}");
    }
}
