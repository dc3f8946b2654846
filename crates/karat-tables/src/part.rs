//! A part of a table: rows collected in memory, column by column, and written as a file with one row group.

use crate::column::{Column, ColumnBuffer, ColumnType, Row, Table};
use crate::error::{Result, TablesError};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The version of all tables, in the metadata of every file. It changes when a column changes its meaning or is removed.
const SCHEMA: &str = "karat.tables/1";

/// Rows of one table and tool that are not written yet.
pub(crate) struct Part {
    table: &'static Table,
    columns: Vec<ColumnBuffer>,
    rows: usize,
}

impl Part {
    pub(crate) fn new(table: &'static Table) -> Self {
        Self { table, columns: table.columns.iter().map(ColumnBuffer::new).collect(), rows: 0 }
    }

    pub(crate) fn add(&mut self, row: &impl Row) {
        row.add(&mut self.columns);
        self.rows += 1;
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How much memory its values take, apart from what vectors hold in reserve.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(ColumnBuffer::bytes).sum()
    }

    /// Writes the rows to a new file; `shown` names the file in errors.
    pub(crate) fn write(self, path: &Path, shown: &Path) -> Result<()> {
        let file = File::create_new(path).map_err(|error| TablesError::unwritten(shown, error))?;
        self.encode(file).map_err(|error| TablesError::parquet(shown, error))
    }

    fn encode(self, file: File) -> Result<(), ParquetError> {
        let metadata = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("karat ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![
                metadata("karat.schema", SCHEMA),
                metadata("karat.table", self.table.name),
            ]))
            .build();
        let mut writer = SerializedFileWriter::new(file, schema(self.table)?, Arc::new(properties))?;
        // A file without rows has a schema, and no row group.
        if self.rows > 0 {
            let mut group = writer.next_row_group()?;
            for column in self.columns {
                if let Some(mut out) = group.next_column()? {
                    column.write(&mut out)?;
                    out.close()?;
                }
            }
            group.close()?;
        }
        writer.close().map(drop)
    }
}

/// The Parquet schema of a table.
pub(crate) fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let fields = table.columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder(table.name).with_fields(fields).build().map(Arc::new)
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        ColumnType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Integer => (PhysicalType::INT64, None),
        ColumnType::Double => (PhysicalType::DOUBLE, None),
        ColumnType::Boolean => (PhysicalType::BOOLEAN, None),
        ColumnType::Timestamp => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(column.name, physical).with_logical_type(logical).with_repetition(repetition).build()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::rows::TRIALS;

    #[test]
    fn full_disk_is_named_with_its_file() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = TablesError::parquet(Path::new("t/part-0.parquet"), Part::new(&TRIALS).encode(full).unwrap_err());
        let expected = "t/part-0.parquet cannot be written: No space left on device (os error 28)";
        assert_eq!(error.to_string(), expected);
    }
}
