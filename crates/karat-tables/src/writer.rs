//! Writes all tables of one scoring, case by case, with a bounded number of rows in memory.

use crate::TABLES;
use crate::column::Row;
use crate::error::Result;
use crate::folder::UnfinishedFolder;
use crate::part::Part;
use karat_format::report::{ProfileV1, ReportV1};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rows of a part at most; fewer if they are long.
const PART_ROWS: usize = 1 << 16;
/// The bytes of a part in memory, from which on it is written.
const PART_BYTES: usize = 32 << 20;
/// The bytes of all parts in memory together, from which on the largest is written.
const ALL_BYTES: usize = 64 << 20;

/// What all rows have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) run_id: Option<String>,
    pub(crate) suite: String,
    pub(crate) profile: String,
    pub(crate) duplicates_are_false: bool,
    pub(crate) acceptable_are_false: bool,
}

/// What is known of a scoring before its first case.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TablesHead<'a> {
    pub suite: &'a str,
    pub profile: &'a ProfileV1,
    pub tools: Vec<&'a str>,
    pub run_id: Option<&'a str>,
}

impl<'a> TablesHead<'a> {
    /// What a report says.
    pub fn of_report(report: &'a ReportV1, run_id: Option<&'a str>) -> Self {
        let tools = report.tools.iter().map(|tool| tool.tool.as_str()).collect();
        Self { suite: &report.suite.name, profile: &report.profile, tools, run_id }
    }
}

/// The number of rows, by name of the table.
pub type TableCounts = BTreeMap<&'static str, u64>;

/// Writes the tables of one scoring to a folder, which appears when all are complete.
pub struct TablesWriter {
    folder: UnfinishedFolder,
    pub(crate) origin: Origin,
    partitions: BTreeMap<(&'static str, String), Partition>,
    tools: BTreeSet<String>,
    bytes: usize,
    counts: TableCounts,
}

/// The rows of one table and tool.
struct Partition {
    part: Part,
    written: usize,
    /// What the part in memory adds to the bytes of all.
    bytes: usize,
}

impl TablesWriter {
    /// Begins to write the tables of a scoring to a folder.
    pub fn create(folder: &Path, head: &TablesHead<'_>) -> Result<Self> {
        Ok(Self {
            folder: UnfinishedFolder::create(folder)?,
            origin: Origin {
                run_id: head.run_id.map(str::to_owned),
                suite: head.suite.to_owned(),
                profile: head.profile.name.clone(),
                duplicates_are_false: head.profile.duplicates_are_false(),
                acceptable_are_false: head.profile.acceptable_are_false(),
            },
            partitions: BTreeMap::new(),
            tools: head.tools.iter().map(|tool| (*tool).to_owned()).collect(),
            bytes: 0,
            counts: TABLES.iter().map(|table| (table.name, 0)).collect(),
        })
    }

    /// Writes what is left and gives the folder its name. A table without rows has a file with its columns.
    pub fn finish(mut self) -> Result<TableCounts> {
        let tools: Vec<Option<String>> = match self.tools.is_empty() {
            true => vec![None],
            false => std::mem::take(&mut self.tools).into_iter().map(Some).collect(),
        };
        let mut partitions = std::mem::take(&mut self.partitions);
        for table in TABLES {
            for tool in &tools {
                let key = (table.name, tool.clone().unwrap_or_default());
                let (part, written) = match partitions.remove(&key) {
                    Some(Partition { part, written, .. }) => (part, written),
                    None => (Part::new(table), 0),
                };
                if part.rows() > 0 || written == 0 {
                    let (path, shown) = self.folder.file(table.name, tool.as_deref(), written)?;
                    part.write(&path, &shown)?;
                }
            }
        }
        self.folder.finish()?;
        Ok(self.counts)
    }

    pub(crate) fn add<R: Row>(&mut self, row: &R) -> Result<()> {
        let table = R::TABLE;
        let key = (table.name, row.tool().to_owned());
        if !self.tools.contains(row.tool()) {
            self.tools.insert(row.tool().to_owned());
        }
        let new = || Partition { part: Part::new(table), written: 0, bytes: 0 };
        let partition = self.partitions.entry(key.clone()).or_insert_with(new);
        partition.part.add(row);
        let bytes = partition.part.bytes();
        self.bytes += bytes - partition.bytes;
        partition.bytes = bytes;
        *self.counts.entry(table.name).or_default() += 1;
        if partition.part.rows() >= PART_ROWS || bytes >= PART_BYTES {
            return self.write_part(&key);
        }
        if self.bytes >= ALL_BYTES {
            let largest = self.partitions.iter().max_by_key(|(_, partition)| partition.bytes);
            if let Some(key) = largest.map(|(key, _)| key.clone()) {
                return self.write_part(&key);
            }
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn bytes_in_memory(&self) -> usize {
        self.bytes
    }

    fn write_part(&mut self, key: &(&'static str, String)) -> Result<()> {
        let Some(partition) = self.partitions.get_mut(key) else { return Ok(()) };
        let Some(table) = TABLES.iter().find(|table| table.name == key.0) else { return Ok(()) };
        let part = std::mem::replace(&mut partition.part, Part::new(table));
        self.bytes -= std::mem::take(&mut partition.bytes);
        let number = partition.written;
        partition.written += 1;
        let (path, shown) = self.folder.file(key.0, Some(&key.1), number)?;
        part.write(&path, &shown)
    }
}
