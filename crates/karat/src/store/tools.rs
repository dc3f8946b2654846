//! What was found out about a run's tools, each time the run began or went on.

use super::Store;
use super::database::Row;
use super::error::StoreError;
use super::naming::RunId;
use super::runs::exists;
use crate::format::run::ToolFactsV1;
use karat_core::ids::ToolName;
use std::collections::BTreeMap;

impl Store {
    /// Keeps what was found out about a tool. Where that is not what was known before, as after an update between two parts
    /// of a run, both are kept.
    pub fn set_tool(&mut self, run: &RunId, tool: &ToolName, facts: &ToolFactsV1) -> Result<(), StoreError> {
        let facts = self.json(facts)?;
        self.database.insist(|database| {
            exists(database, run)?;
            let sql = "SELECT position, facts FROM tool_facts WHERE run_id = $1 AND tool = $2 ORDER BY position DESC";
            let last = database.query_one(sql, vec![run.into(), tool.as_str().into()])?;
            let last = last.map(|row| Ok::<_, StoreError>((row.int(0)?, row.text(1)?))).transpose()?;
            if last.as_ref().is_some_and(|(_, known)| *known == facts) {
                return Ok(());
            }
            let position = last.map_or(1, |(position, _)| position + 1);
            let values = vec![run.into(), tool.as_str().into(), position.into(), facts.into()];
            let sql = "INSERT INTO tool_facts (run_id, tool, position, facts) VALUES ($1, $2, $3, $4)";
            database.execute(sql, values).map(|_| ())
        })
    }

    /// What was found out about each tool, the latest of it.
    pub fn tools(&mut self, run: &RunId) -> Result<BTreeMap<ToolName, ToolFactsV1>, StoreError> {
        let history = self.tool_history(run)?;
        Ok(history.into_iter().filter_map(|(tool, mut facts)| Some((tool, facts.pop()?))).collect())
    }

    /// Everything that was found out about each tool, the earliest first. More than one entry means that the tool changed
    /// while the run was interrupted.
    pub fn tool_history(&mut self, run: &RunId) -> Result<BTreeMap<ToolName, Vec<ToolFactsV1>>, StoreError> {
        let sql = "SELECT tool, facts FROM tool_facts WHERE run_id = $1 ORDER BY tool, position";
        let mut history: BTreeMap<ToolName, Vec<ToolFactsV1>> = BTreeMap::new();
        for row in self.database.query(sql, vec![run.into()])? {
            let (tool, facts) = self.facts(run, &row)?;
            history.entry(ToolName::new(tool)).or_default().push(facts);
        }
        Ok(history)
    }

    /// A tool and its facts from the first two columns of a row.
    pub(super) fn facts(&self, run: &RunId, row: &Row) -> Result<(String, ToolFactsV1), StoreError> {
        let tool = row.text(0)?;
        let facts = self.parsed(&row.text(1)?, || format!("what the run {run} knows of the tool {tool}"))?;
        Ok((tool, facts))
    }
}
