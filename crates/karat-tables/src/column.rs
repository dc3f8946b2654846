//! Columns: their types, and the macro that makes a table and its row of one list.

use crate::part::ColumnBuffer;
use std::borrow::Cow;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// A signed number of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Double,
    /// True or false.
    Boolean,
    /// Milliseconds since 1970, in UTC.
    Timestamp,
}

impl ColumnType {
    /// Its name in the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Timestamp => "timestamp",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnType,
    /// Whether a value can be unknown.
    pub nullable: bool,
    pub description: &'static str,
}

/// A table: what a row of it is, and its columns.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Table {
    /// Also the name of its folder.
    pub name: &'static str,
    pub description: &'static str,
    pub columns: &'static [Column],
}

/// A row of a table.
pub(crate) trait Row {
    const TABLE: &'static Table;

    /// The tool it is about, by which tables are partitioned.
    fn tool(&self) -> &str;

    /// Adds its values to the buffers of the table's columns, in order.
    fn add(&self, columns: &mut [ColumnBuffer]);
}

/// The value of a column in a row.
pub(crate) trait Cell {
    const KIND: ColumnType;
    const NULLABLE: bool = false;

    fn add(&self, column: &mut ColumnBuffer);
}

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp(pub(crate) i64);

impl Cell for &str {
    const KIND: ColumnType = ColumnType::Text;

    fn add(&self, column: &mut ColumnBuffer) {
        column.add_text(self);
    }
}

impl Cell for Cow<'_, str> {
    const KIND: ColumnType = ColumnType::Text;

    fn add(&self, column: &mut ColumnBuffer) {
        column.add_text(self);
    }
}

impl Cell for i64 {
    const KIND: ColumnType = ColumnType::Integer;

    fn add(&self, column: &mut ColumnBuffer) {
        column.add_integer(*self);
    }
}

impl Cell for f64 {
    const KIND: ColumnType = ColumnType::Double;

    fn add(&self, column: &mut ColumnBuffer) {
        column.add_double(*self);
    }
}

impl Cell for bool {
    const KIND: ColumnType = ColumnType::Boolean;

    fn add(&self, column: &mut ColumnBuffer) {
        column.add_boolean(*self);
    }
}

impl Cell for Timestamp {
    const KIND: ColumnType = ColumnType::Timestamp;

    fn add(&self, column: &mut ColumnBuffer) {
        column.add_integer(self.0);
    }
}

impl<T: Cell> Cell for Option<T> {
    const KIND: ColumnType = T::KIND;
    const NULLABLE: bool = true;

    fn add(&self, column: &mut ColumnBuffer) {
        match self {
            Some(value) => value.add(column),
            None => column.add_null(),
        }
    }
}

/// Makes a table and the struct of its rows from one list of columns: name, type of the value, description.
macro_rules! table {
    (
        $table:ident, $row:ident<$life:lifetime>, $name:literal, $about:literal,
        { $($column:ident: $value:ty = $description:literal,)* }
    ) => {
        #[doc = $about]
        pub static $table: Table = Table {
            name: $name,
            description: $about,
            columns: $row::COLUMNS,
        };

        #[doc = $about]
        #[derive(Clone, Debug)]
        pub(crate) struct $row<$life> {
            $(#[doc = $description] pub(crate) $column: $value,)*
        }

        impl<$life> $row<$life> {
            const COLUMNS: &'static [Column] = &[$(Column {
                name: stringify!($column),
                kind: <$value as Cell>::KIND,
                nullable: <$value as Cell>::NULLABLE,
                description: $description,
            },)*];
        }

        impl Row for $row<'_> {
            const TABLE: &'static Table = &$table;

            fn tool(&self) -> &str {
                self.tool
            }

            fn add(&self, columns: &mut [ColumnBuffer]) {
                let mut columns = columns.iter_mut();
                $(if let Some(column) = columns.next() {
                    Cell::add(&self.$column, column);
                })*
            }
        }
    };
}

pub(crate) use table;
