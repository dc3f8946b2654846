//! Values bound to statements, and rows read from results.

use crate::error::{Result, StoreError};
use crate::tables::{Field, ROW_HASH_LEN, Table};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, TypeInfo, ValueRef};
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    pub(super) fn field(&self) -> Field<'_> {
        match self {
            Self::Null => Field::Null,
            Self::Int(number) => Field::Int(*number),
            Self::Real(number) => Field::Real(*number),
            Self::Text(text) => Field::Text(text.as_bytes()),
            Self::Bytes(bytes) => Field::Bytes(bytes),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row of a result set. A field that cannot be read as the expected type is reported as damage.
pub(crate) struct Row {
    pub(super) row: SqliteRow,
    pub(super) file: Arc<Path>,
}

impl Row {
    pub(crate) fn text(&self, column: usize) -> Result<String> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn str(&self, column: usize) -> Result<&str> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn text_or_null(&self, column: usize) -> Result<Option<String>> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn int(&self, column: usize) -> Result<i64> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn int_or_null(&self, column: usize) -> Result<Option<i64>> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn real_or_null(&self, column: usize) -> Result<Option<f64>> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<Vec<u8>> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn count(&self, column: usize) -> Result<u32> {
        let number = self.int(column)?;
        u32::try_from(number).map_err(|_| self.damage(format!("{number} stands where a count should")))
    }

    pub(super) fn check(&self, table: &Table) -> Result<()> {
        // A row that cannot be hashed is damaged too.
        match (self.hash(table), self.bytes(table.columns.len())) {
            (Ok(hash), Ok(stored)) if hash.as_slice() == stored => Ok(()),
            _ => Err(self.damage(row_damage(&self.name(table), table))),
        }
    }

    pub(super) fn hash(&self, table: &Table) -> Result<[u8; ROW_HASH_LEN]> {
        let fields = (0..table.columns.len()).map(|column| self.stored(column)).collect::<Result<Vec<_>, _>>()?;
        Ok(table.hash(fields))
    }

    pub(super) fn values(&self, table: &Table) -> Result<Vec<Value>> {
        let value = |column: usize| {
            Ok(match self.stored(column)? {
                Field::Null => Value::Null,
                Field::Int(number) => Value::Int(number),
                Field::Real(number) => Value::Real(number),
                Field::Text(_) => Value::Text(self.text(column)?),
                Field::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            })
        };
        (0..table.columns.len()).map(value).collect()
    }

    /// A value with the type the file holds, whatever the column declares.
    fn stored(&self, column: usize) -> Result<Field<'_>> {
        let raw = self.field(self.row.try_get_raw(column))?;
        if raw.is_null() {
            return Ok(Field::Null);
        }
        Ok(match raw.type_info().name() {
            "INTEGER" => Field::Int(self.field(self.row.try_get_unchecked(column))?),
            "REAL" => Field::Real(self.field(self.row.try_get_unchecked(column))?),
            "TEXT" => Field::Text(self.field(self.row.try_get_unchecked(column))?),
            _ => Field::Bytes(self.field(self.row.try_get_unchecked(column))?),
        })
    }

    pub(super) fn name(&self, table: &Table) -> String {
        let part = |(place, column): (usize, &&str)| {
            let value = match self.stored(place) {
                Ok(Field::Int(number)) => number.to_string(),
                Ok(Field::Text(text) | Field::Bytes(text)) => {
                    String::from_utf8_lossy(text).chars().take(80).collect::<String>()
                }
                Ok(Field::Real(number)) => number.to_string(),
                Ok(Field::Null) | Err(_) => "?".to_owned(),
            };
            format!("{column}={value}")
        };
        table.columns[..table.key].iter().enumerate().map(part).collect::<Vec<_>>().join(" ")
    }

    fn field<T>(&self, got: Result<T, sqlx::Error>) -> Result<T> {
        got.map_err(|error| self.damage(error.to_string()))
    }

    pub(super) fn damage(&self, detail: String) -> StoreError {
        StoreError::Damaged { file: self.file.to_path_buf(), detail }
    }
}

pub(crate) fn row_damage(row: &str, table: &Table) -> String {
    format!("the row {row} of the table `{}` is not what was stored: its hash does not fit its content", table.name)
}
