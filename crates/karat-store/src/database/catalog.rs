//! What the system tables of a PostgreSQL server say about a store. Only columns that all supported versions have are read.

use super::missing_reference;
use super::postgres::Postgres;
use super::row::Value;
use crate::tables::SERVER_TABLES;
use crate::{Result, StoreError};

/// `pg_current_xact_id` and `pg_xact_status` with 64-bit ids.
const OLDEST_SERVER: i64 = 13;

const COLUMNS: &str = "SELECT 'column ' || c.relname || ' ' || a.attname || ' ' || t.typname || ' ' || \
     CASE WHEN a.attnotnull THEN 'not null' ELSE 'null' END || ' ' || COALESCE(l.collname, '') || ' ' || a.attidentity::text \
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
     LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation \
     WHERE n.nspname = current_schema() AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND c.relname = ANY (string_to_array($1, ' '))";

/// Unique, primary and foreign keys. Later versions also list NOT NULL, which is among the columns.
const CONSTRAINTS: &str = "SELECT 'constraint ' || c.relname || ' ' || k.contype::text || ' ' || \
     (SELECT string_agg(a.attname, ',' ORDER BY x.place) FROM unnest(k.conkey) WITH ORDINALITY AS x (number, place) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = x.number) || ' ' || \
     COALESCE(f.relname || ' ' || k.confdeltype::text, '') \
     FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_class f ON f.oid = k.confrelid \
     WHERE n.nspname = current_schema() AND k.contype IN ('p', 'u', 'f', 'c') AND c.relname = ANY (string_to_array($1, ' '))";

const INDEXES: &str = "SELECT 'index ' || c.relname || ' ' || i.indisunique::text || ' ' || i.indisvalid::text || ' ' || \
     (SELECT string_agg(a.attname, ',' ORDER BY x.place) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS x (number, place) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = x.number) \
     FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = current_schema() AND c.relname = ANY (string_to_array($1, ' '))";

const TRIGGERS: &str = "SELECT 'trigger ' || c.relname || ' ' || g.tgname || ' ' || g.tgtype::text || ' ' || g.tgenabled::text \
     || ' ' || p.proname || ' ' || p.prosrc \
     FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid \
     WHERE n.nspname = current_schema() AND NOT g.tgisinternal AND c.relname = ANY (string_to_array($1, ' '))";

/// Each foreign key as quoted names: table, columns, referenced table, referenced columns.
const FOREIGN_KEYS: &str = "SELECT c.relname::text, quote_ident(c.relname), f.relname::text, quote_ident(f.relname), \
     (SELECT string_agg('x.' || quote_ident(a.attname) || ' IS NOT NULL', ' AND ') FROM unnest(k.conkey) AS x (number) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = x.number), \
     (SELECT string_agg('y.' || quote_ident(b.attname) || ' = x.' || quote_ident(a.attname), ' AND ') \
      FROM unnest(k.conkey, k.confkey) AS x (number, other) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = x.number \
      JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = x.other) \
     FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_class f ON f.oid = k.confrelid \
     WHERE n.nspname = current_schema() AND k.contype = 'f' ORDER BY k.conname";

impl Postgres {
    /// The tables of the schema in which the store is or would be.
    pub(super) fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY c.relname";
        self.query(sql.to_owned(), Vec::new())?.iter().map(|row| row.get(0)).collect()
    }

    /// The definitions of the store's tables. Others in the same schema are not Karat's business.
    pub(super) fn definitions(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        for sql in [COLUMNS, CONSTRAINTS, INDEXES, TRIGGERS] {
            for row in self.query(sql.to_owned(), vec![Value::from(SERVER_TABLES.join(" "))])? {
                lines.push(row.get::<String>(0)?.into_bytes());
            }
        }
        // The server's own order depends on its settings.
        lines.sort_unstable();
        Ok(lines)
    }

    /// References to rows that are not there. The server's own checks rule them out unless they were switched off.
    pub(super) fn check(&mut self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for key in self.query(FOREIGN_KEYS.to_owned(), Vec::new())? {
            let (from, from_quoted): (&str, &str) = (key.get(0)?, key.get(1)?);
            let (to, to_quoted): (&str, &str) = (key.get(2)?, key.get(3)?);
            let (present, equal): (&str, &str) = (key.get(4)?, key.get(5)?);
            let sql = format!(
                "SELECT COUNT(*) FROM {from_quoted} x WHERE {present} AND NOT EXISTS (SELECT 1 FROM {to_quoted} y WHERE {equal})"
            );
            let missing: i64 = self.query(sql, Vec::new())?.first().map_or(Ok(0), |row| row.get(0))?;
            if missing > 0 {
                found.push(missing_reference(from, to));
            }
        }
        Ok(found)
    }

    /// Such as `15.8`.
    pub(super) fn version(&mut self) -> Result<Option<String>> {
        let rows = self.query("SELECT current_setting('server_version')".to_owned(), Vec::new())?;
        rows.first().map(|row| row.get::<String>(0)).transpose()
    }

    pub(super) fn check_settings(&mut self) -> Result<()> {
        let sql = "SELECT current_setting('server_encoding'), current_setting('server_version_num')::bigint, \
                   current_schema()::text";
        let rows = self.query(sql.to_owned(), Vec::new())?;
        let Some(row) = rows.first() else { return Ok(()) };
        let unusable = |detail: String| StoreError::NoDatabase { place: self.place().to_string(), detail };
        let (encoding, version): (&str, i64) = (row.get(0)?, row.get(1)?);
        if encoding != "UTF8" {
            return Err(unusable(format!("the database has the encoding {encoding}, and a store needs UTF8")));
        }
        if version / 10_000 < OLDEST_SERVER {
            return Err(unusable(format!(
                "the server has version {}, and a store needs PostgreSQL {OLDEST_SERVER} or later",
                version / 10_000
            )));
        }
        if row.get::<Option<&str>>(2)?.is_none() {
            return Err(unusable("no schema of the search_path exists".to_owned()));
        }
        Ok(())
    }
}
