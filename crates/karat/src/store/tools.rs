//! What was found out about a run's tools, each time the run began or went on.

use super::Store;
use super::database::{Row, Taken};
use super::error::StoreError;
use super::naming::RunId;
use super::runs::exists;
use super::tables::TOOL_FACTS;
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
            let newest = "WHERE run_id = $1 AND tool = $2 ORDER BY position DESC LIMIT 1";
            let last = database.select_one(&TOOL_FACTS, newest, vec![run.into(), tool.as_str().into()])?;
            let last = last.map(|row| Ok::<_, StoreError>((row.int(2)?, row.text(3)?))).transpose()?;
            if last.as_ref().is_some_and(|(_, known)| *known == facts) {
                return Ok(());
            }
            let position = last.map_or(1, |(position, _)| position + 1);
            let values = vec![run.into(), tool.as_str().into(), position.into(), facts.into()];
            database.insert(&TOOL_FACTS, vec![values], Taken::Refuse)
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
        let mut history: BTreeMap<ToolName, Vec<ToolFactsV1>> = BTreeMap::new();
        for row in self.fact_rows(run)? {
            let (tool, facts) = self.facts(run, &row?)?;
            history.entry(ToolName::new(tool)).or_default().push(facts);
        }
        Ok(history)
    }

    /// The rows about a run's tools, or what is wrong with each.
    pub(super) fn fact_rows(&mut self, run: &RunId) -> Result<Vec<Result<Row, StoreError>>, StoreError> {
        self.database.select_each(&TOOL_FACTS, "WHERE run_id = $1 ORDER BY tool, position", vec![run.into()])
    }

    /// A tool and its facts from a row.
    pub(super) fn facts(&self, run: &RunId, row: &Row) -> Result<(String, ToolFactsV1), StoreError> {
        let tool = row.text(1)?;
        let facts = self.parsed(row.str(3)?, || format!("what the run {run} knows of the tool {tool}"))?;
        Ok((tool, facts))
    }
}
