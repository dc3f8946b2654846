//! Migrations of the store's tables.

use super::database::Database;
use super::error::StoreError;
use super::tables::TABLES;
use super::timestamp::now_ms;

struct Migration {
    version: i64,
    sql: &'static str,
}

/// All migrations, oldest first. A published one never changes; append new ones.
const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("sqlite/0001_runs.sql") },
    Migration { version: 2, sql: include_str!("sqlite/0002_judgements.sql") },
    Migration { version: 3, sql: include_str!("sqlite/0003_ledger.sql") },
    Migration { version: 4, sql: include_str!("sqlite/0004_labels.sql") },
    Migration { version: 5, sql: include_str!("sqlite/0005_probes.sql") },
    Migration { version: 6, sql: include_str!("sqlite/0006_extras.sql") },
    Migration { version: 7, sql: include_str!("sqlite/0007_sessions.sql") },
    Migration { version: 8, sql: include_str!("sqlite/0008_audit_labels.sql") },
    Migration { version: 9, sql: include_str!("sqlite/0009_row_hashes.sql") },
    Migration { version: 10, sql: include_str!("sqlite/0010_sent_questions.sql") },
];

/// BLAKE3 of the table definitions of the latest version; a test prints the new value.
const DEFINITIONS: &str = "e97de98ddef32a30ccbe04bf9ee97298b08cabea187ac27f03d7484dd0f4968c";

pub(super) fn latest_version() -> i64 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

/// The version of a store; 0 for an empty database.
pub(super) fn version(database: &mut Database) -> Result<i64, StoreError> {
    let tables = database.tables()?;
    if tables.is_empty() {
        return Ok(0);
    }
    if !tables.iter().any(|table| table == "karat_schema") {
        return Err(StoreError::Foreign { file: database.file().to_owned() });
    }
    let row = database.query_one("SELECT MAX(version) FROM karat_schema", Vec::new())?;
    Ok(row.map(|row| row.int_or_null(0)).transpose()?.flatten().unwrap_or(0))
}

/// The version of a store; an error if it is newer than this program.
pub(super) fn check_version(database: &mut Database) -> Result<i64, StoreError> {
    let found = version(database)?;
    if found > latest_version() {
        return Err(StoreError::Newer { file: database.file().to_owned(), found, known: latest_version() });
    }
    if found == latest_version() && fingerprint(database)? != DEFINITIONS {
        let detail = "the definitions of its tables are not those that Karat wrote".to_owned();
        return Err(StoreError::Damaged { file: database.file().to_owned(), detail });
    }
    Ok(found)
}

fn fingerprint(database: &mut Database) -> Result<String, StoreError> {
    let mut hasher = blake3::Hasher::new();
    for definition in database.definitions()? {
        hasher.update(&definition).update(b"\n");
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Migrates to the latest version in one transaction, and hashes rows that have no hash.
pub(super) fn migrate(database: &mut Database) -> Result<(), StoreError> {
    if check_version(database)? == latest_version() {
        return Ok(());
    }
    database.write(|database| {
        // Another process may have migrated while this one waited.
        if check_version(database)? == latest_version() {
            return Ok(());
        }
        migrate_to(database, latest_version())?;
        TABLES.iter().try_for_each(|table| database.hash_rows(table))
    })
}

pub(super) fn migrate_to(database: &mut Database, version: i64) -> Result<(), StoreError> {
    let found = check_version(database)?;
    if found == 0 {
        let sql = "CREATE TABLE karat_schema (version BIGINT NOT NULL PRIMARY KEY, applied_ms BIGINT NOT NULL)";
        database.script(sql)?;
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found && migration.version <= version) {
        database.script(migration.sql)?;
        let values = vec![migration.version.into(), now_ms().into()];
        database.execute("INSERT INTO karat_schema (version, applied_ms) VALUES ($1, $2)", values)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::database::Access;
    use super::*;

    #[test]
    fn the_definitions_of_the_known_version_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::connect(&folder.path().join("karat.db"), Access::Write).unwrap();
        migrate_to(&mut database, latest_version()).unwrap();
        assert_eq!(fingerprint(&mut database).unwrap(), DEFINITIONS);
    }

    #[test]
    fn versions_rise_one_by_one() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=latest_version()).collect::<Vec<_>>());
    }
}
