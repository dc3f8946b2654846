//! Columns: their types and values, and the macro that makes a table and its row of one list.

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
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

/// The values of one column; only the vectors of its type are used.
pub(crate) struct ColumnBuffer {
    kind: ColumnType,
    nullable: bool,
    /// Of a nullable column: 1 for a value, 0 for null.
    levels: Vec<i16>,
    /// All texts, one after the other, and where each ends.
    texts: Vec<u8>,
    text_ends: Vec<usize>,
    integers: Vec<i64>,
    doubles: Vec<f64>,
    booleans: Vec<bool>,
}

impl ColumnBuffer {
    pub(crate) fn new(column: &Column) -> Self {
        Self {
            kind: column.kind,
            nullable: column.nullable,
            levels: Vec::new(),
            texts: Vec::new(),
            text_ends: Vec::new(),
            integers: Vec::new(),
            doubles: Vec::new(),
            booleans: Vec::new(),
        }
    }

    pub(crate) fn add_null(&mut self) {
        self.levels.push(0);
    }

    pub(crate) fn add_text(&mut self, value: &str) {
        self.texts.extend_from_slice(value.as_bytes());
        self.text_ends.push(self.texts.len());
        self.note_value();
    }

    pub(crate) fn add_integer(&mut self, value: i64) {
        self.integers.push(value);
        self.note_value();
    }

    pub(crate) fn add_double(&mut self, value: f64) {
        self.doubles.push(value);
        self.note_value();
    }

    pub(crate) fn add_boolean(&mut self, value: bool) {
        self.booleans.push(value);
        self.note_value();
    }

    fn note_value(&mut self) {
        if self.nullable {
            self.levels.push(1);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let numbers = self.text_ends.len() + self.integers.len() + self.doubles.len();
        2 * self.levels.len() + self.texts.len() + 8 * numbers + self.booleans.len()
    }

    pub(crate) fn write(self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = self.nullable.then_some(self.levels.as_slice());
        let written = match self.kind {
            ColumnType::Text => {
                let texts = ByteArray::from(self.texts);
                let starts = std::iter::once(0).chain(self.text_ends.iter().copied());
                let slices: Vec<ByteArray> =
                    starts.zip(&self.text_ends).map(|(start, end)| texts.slice(start, end - start)).collect();
                out.typed::<ByteArrayType>().write_batch(&slices, levels, None)
            }
            ColumnType::Integer | ColumnType::Timestamp => {
                out.typed::<Int64Type>().write_batch(&self.integers, levels, None)
            }
            ColumnType::Double => out.typed::<DoubleType>().write_batch(&self.doubles, levels, None),
            ColumnType::Boolean => out.typed::<BoolType>().write_batch(&self.booleans, levels, None),
        };
        written.map(drop)
    }
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
