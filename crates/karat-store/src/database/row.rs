//! Values bound to statements, and rows read from results.

use crate::tables::{Field, Table};
use crate::{Result, StoreError};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, TypeInfo, ValueRef};
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
    pub(super) cells: Cells,
    pub(super) place: Arc<str>,
}

/// A row of one of the engines.
pub(super) enum Cells {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A type in which a field can be read.
pub(crate) trait FromField<'r>: Sized {
    /// What the field should be, for messages.
    const EXPECTED: &'static str;

    /// `None` if the field has another type.
    fn from_field(field: Field<'r>) -> Option<Self>;
}

impl FromField<'_> for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn from_field(field: Field<'_>) -> Option<Self> {
        if let Field::Int(number) = field { Some(number) } else { None }
    }
}

impl FromField<'_> for f64 {
    const EXPECTED: &'static str = "a number";

    fn from_field(field: Field<'_>) -> Option<Self> {
        if let Field::Real(number) = field { Some(number) } else { None }
    }
}

impl<'r> FromField<'r> for &'r str {
    const EXPECTED: &'static str = "text";

    fn from_field(field: Field<'r>) -> Option<Self> {
        if let Field::Text(text) = field { std::str::from_utf8(text).ok() } else { None }
    }
}

impl FromField<'_> for String {
    const EXPECTED: &'static str = "text";

    fn from_field(field: Field<'_>) -> Option<Self> {
        <&str>::from_field(field).map(str::to_owned)
    }
}

impl<'r> FromField<'r> for &'r [u8] {
    const EXPECTED: &'static str = "bytes";

    fn from_field(field: Field<'r>) -> Option<Self> {
        if let Field::Bytes(bytes) | Field::Text(bytes) = field { Some(bytes) } else { None }
    }
}

impl FromField<'_> for Vec<u8> {
    const EXPECTED: &'static str = "bytes";

    fn from_field(field: Field<'_>) -> Option<Self> {
        <&[u8]>::from_field(field).map(<[u8]>::to_vec)
    }
}

impl<'r, T: FromField<'r>> FromField<'r> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_field(field: Field<'r>) -> Option<Self> {
        if let Field::Null = field { Some(None) } else { T::from_field(field).map(Some) }
    }
}

impl Row {
    pub(crate) fn get<'r, T: FromField<'r>>(&'r self, column: usize) -> Result<T> {
        let wrong = || self.damage(format!("column {} of a row is not {}", column + 1, T::EXPECTED));
        T::from_field(self.stored(column)?).ok_or_else(wrong)
    }

    pub(crate) fn count(&self, column: usize) -> Result<u32> {
        let number: i64 = self.get(column)?;
        u32::try_from(number).map_err(|_| self.damage(format!("{number} stands where a count should")))
    }

    pub(super) fn check(&self, table: &Table) -> Result<()> {
        // A row that cannot be hashed is damaged too.
        match (self.fields(table), self.row_hash(table)) {
            (Ok(fields), Ok(stored)) if table.hash(fields.iter().copied()) == stored => Ok(()),
            _ => Err(self.damage(row_damage(&self.name(table), table))),
        }
    }

    pub(super) fn fields(&self, table: &Table) -> Result<Vec<Field<'_>>> {
        (0..table.width()).map(|column| self.stored(column)).collect()
    }

    /// The columns of a table, to be written elsewhere.
    pub(crate) fn values(&self, table: &Table) -> Result<Vec<Value>> {
        let value = |field: Field<'_>| match field {
            Field::Null => Ok(Value::Null),
            Field::Int(number) => Ok(Value::Int(number)),
            Field::Real(number) => Ok(Value::Real(number)),
            Field::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(Value::Text(text.to_owned())),
                Err(_) => Err(self.damage(row_damage(&self.name(table), table))),
            },
            Field::Bytes(bytes) => Ok(Value::Bytes(bytes.to_vec())),
        };
        self.fields(table)?.into_iter().map(value).collect()
    }

    /// The hash of the row, which follows the columns.
    pub(crate) fn row_hash(&self, table: &Table) -> Result<&[u8]> {
        self.get(table.width())
    }

    /// The rowid, which follows the columns and the hash.
    pub(super) fn place(&self, table: &Table) -> Result<i64> {
        self.get(table.width() + 1)
    }

    /// A value with the type in which it is stored; in SQLite that may be another than the column declares.
    fn stored(&self, column: usize) -> Result<Field<'_>> {
        let field = match &self.cells {
            Cells::Sqlite(row) => sqlite_field(row, column),
            Cells::Postgres(row) => postgres_field(row, column),
        };
        field.map_err(|error| self.damage(error.to_string()))
    }

    /// The row's key, for messages.
    pub(crate) fn name(&self, table: &Table) -> String {
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

    pub(super) fn damage(&self, detail: String) -> StoreError {
        StoreError::Damaged { place: self.place.to_string(), detail }
    }
}

fn sqlite_field(row: &SqliteRow, column: usize) -> Result<Field<'_>, sqlx::Error> {
    let raw = row.try_get_raw(column)?;
    if raw.is_null() {
        return Ok(Field::Null);
    }
    Ok(match raw.type_info().name() {
        "INTEGER" => Field::Int(row.try_get_unchecked(column)?),
        "REAL" => Field::Real(row.try_get_unchecked(column)?),
        "TEXT" => Field::Text(row.try_get_unchecked(column)?),
        _ => Field::Bytes(row.try_get_unchecked(column)?),
    })
}

fn postgres_field(row: &PgRow, column: usize) -> Result<Field<'_>, sqlx::Error> {
    let raw = row.try_get_raw(column)?;
    if raw.is_null() {
        return Ok(Field::Null);
    }
    Ok(match raw.type_info().name() {
        "INT8" => Field::Int(row.try_get_unchecked(column)?),
        "INT4" => Field::Int(row.try_get_unchecked::<i32, _>(column)?.into()),
        "BOOL" => Field::Int(row.try_get_unchecked::<bool, _>(column)?.into()),
        "FLOAT8" => Field::Real(row.try_get_unchecked(column)?),
        "BYTEA" => Field::Bytes(row.try_get_unchecked(column)?),
        _ => Field::Text(raw.as_bytes().map_err(sqlx::Error::Decode)?),
    })
}

pub(crate) fn row_damage(row: &str, table: &Table) -> String {
    format!("the row {row} of the table `{}` is not what was stored: its hash does not fit its content", table.name)
}
