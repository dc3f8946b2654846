//! What was scored, as Parquet tables.
