//! Facts about a run's tools, recorded each time the run begins or continues.

use super::Store;
use super::database::{OnConflict, Row};
use super::error::StoreError;
use super::naming::RunId;
use super::runs::run_state;
use super::tables::TOOL_FACTS;
use karat_core::ids::ToolName;
use karat_format::run::ToolFactsV1;
use std::collections::BTreeMap;

impl Store {
    /// Records facts about a tool. If they changed, as after an update between two parts of a run, both are kept.
    pub fn set_tool(&mut self, run: &RunId, tool: &ToolName, facts: &ToolFactsV1) -> Result<(), StoreError> {
        let facts = self.json(facts)?;
        self.database.write_waiting(|database| {
            run_state(database, run)?;
            let newest = "WHERE run_id = $1 AND tool = $2 ORDER BY position DESC LIMIT 1";
            let last = database.select_one(&TOOL_FACTS, newest, vec![run.into(), tool.as_str().into()])?;
            let last = last.map(|row| Ok::<_, StoreError>((row.int(2)?, row.text(3)?))).transpose()?;
            if last.as_ref().is_some_and(|(_, known)| *known == facts) {
                return Ok(());
            }
            let position = last.map_or(1, |(position, _)| position + 1);
            let values = vec![run.into(), tool.as_str().into(), position.into(), facts.into()];
            database.insert(&TOOL_FACTS, vec![values], OnConflict::Fail)
        })
    }

    /// The latest facts about each tool.
    pub fn tools(&mut self, run: &RunId) -> Result<BTreeMap<ToolName, ToolFactsV1>, StoreError> {
        let history = self.tool_history(run)?;
        Ok(history.into_iter().filter_map(|(tool, mut facts)| Some((tool, facts.pop()?))).collect())
    }

    /// All recorded facts about each tool, oldest first. More than one entry means that the tool changed while the run was
    /// interrupted.
    pub fn tool_history(&mut self, run: &RunId) -> Result<BTreeMap<ToolName, Vec<ToolFactsV1>>, StoreError> {
        let mut history: BTreeMap<ToolName, Vec<ToolFactsV1>> = BTreeMap::new();
        for row in self.fact_rows(run)? {
            let (tool, facts) = self.facts(run, &row?)?;
            history.entry(ToolName::new(tool)).or_default().push(facts);
        }
        Ok(history)
    }

    pub(super) fn fact_rows(&mut self, run: &RunId) -> Result<Vec<Result<Row, StoreError>>, StoreError> {
        self.database.select_each(&TOOL_FACTS, "WHERE run_id = $1 ORDER BY tool, position", vec![run.into()])
    }

    pub(super) fn facts(&self, run: &RunId, row: &Row) -> Result<(String, ToolFactsV1), StoreError> {
        let tool = row.text(1)?;
        let facts = self.parse_json(row.str(3)?, || format!("what the run {run} knows of the tool {tool}"))?;
        Ok((tool, facts))
    }
}
