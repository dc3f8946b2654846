//! Values bound to statements, and rows read from results.

use crate::tables::{Field, Table};
use crate::{Result, StoreError};
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite, Type, TypeInfo, ValueRef};
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

macro_rules! value_from {
    ($($type:ty => $variant:ident),+) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

value_from!(&str => Text, String => Text, i64 => Int, u32 => Int, f64 => Real, Vec<u8> => Bytes);

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
    pub(crate) fn get<'r, T: Decode<'r, Sqlite> + Type<Sqlite>>(&'r self, column: usize) -> Result<T> {
        self.field(self.row.try_get(column))
    }

    pub(crate) fn count(&self, column: usize) -> Result<u32> {
        let number: i64 = self.get(column)?;
        u32::try_from(number).map_err(|_| self.damage(format!("{number} stands where a count should")))
    }

    pub(super) fn check(&self, table: &Table) -> Result<()> {
        // A row that cannot be hashed is damaged too.
        match (self.fields(table), self.get::<&[u8]>(table.width())) {
            (Ok(fields), Ok(stored)) if table.hash(fields.iter().copied()) == stored => Ok(()),
            _ => Err(self.damage(row_damage(&self.name(table), table))),
        }
    }

    pub(super) fn fields(&self, table: &Table) -> Result<Vec<Field<'_>>> {
        (0..table.width()).map(|column| self.stored(column)).collect()
    }

    /// The rowid, which follows the columns and the hash.
    pub(super) fn place(&self, table: &Table) -> Result<i64> {
        self.get(table.width() + 1)
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
        let part = |(place, column): (usize, &str)| {
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
        table.columns().take(table.key).enumerate().map(part).collect::<Vec<_>>().join(" ")
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
