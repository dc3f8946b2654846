//! Versions of the store's tables.

use super::tables::SCHEMA;
use super::timestamp::now_ms;
use super::{Database, OnConflict, Result, StoreError};

/// All versions and migrations to them, oldest first; the first creates the tables. A published one never changes; append new ones.
const MIGRATIONS: &[(i64, &str)] = &[(11, include_str!("sqlite/0011_tables.sql"))];

/// BLAKE3 of the table definitions of the latest version; a test prints the new value.
const DEFINITIONS: &str = "ed3a64252ddab757ac0c7f9d6faa2fdaf97a28329d177804d71648c8d433ca45";

pub(super) fn latest_version() -> i64 {
    MIGRATIONS.last().map_or(0, |(version, _)| *version)
}

fn oldest_version() -> i64 {
    MIGRATIONS.first().map_or(0, |(version, _)| *version)
}

/// The version of a store; 0 for an empty database; an error if this program cannot read it.
pub(super) fn check_version(database: &mut Database) -> Result<i64> {
    let file = database.file.clone();
    let tables = database.tables()?;
    if tables.is_empty() {
        return Ok(0);
    }
    if !tables.iter().any(|table| table == SCHEMA.name) {
        return Err(StoreError::Foreign { file });
    }
    let found = database.query_number("SELECT MAX(version) FROM karat_schema", Vec::new())?.unwrap_or(0);
    if found > latest_version() {
        return Err(StoreError::Newer { file, found, known: latest_version() });
    }
    if found < oldest_version() {
        return Err(StoreError::Older { file, found, oldest: oldest_version() });
    }
    if found == latest_version() && fingerprint(database)? != DEFINITIONS {
        let detail = "the definitions of its tables are not those that Karat wrote".to_owned();
        return Err(StoreError::Damaged { file, detail });
    }
    Ok(found)
}

fn fingerprint(database: &mut Database) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for definition in database.definitions()? {
        hasher.update(&definition).update(b"\n");
    }
    Ok(hasher.finalize().to_hex().to_string())
}

pub(super) fn migrate(database: &mut Database) -> Result<()> {
    if check_version(database)? == latest_version() {
        return Ok(());
    }
    database.write(|database| {
        // Another process may have migrated while this one waited.
        let found = check_version(database)?;
        for (version, sql) in MIGRATIONS.iter().filter(|(version, _)| *version > found) {
            database.script(sql)?;
            database.insert(&SCHEMA, vec![vec![(*version).into(), now_ms().into()]], OnConflict::Fail)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::database::Access;
    use super::*;

    #[test]
    fn definitions_of_the_current_version_are_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::connect(&folder.path().join("karat.db"), Access::Write).unwrap();
        migrate(&mut database).unwrap();
        assert_eq!(fingerprint(&mut database).unwrap(), DEFINITIONS);
    }

    #[test]
    fn versions_are_consecutive() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|(version, _)| *version).collect();
        assert_eq!(versions, (oldest_version()..=latest_version()).collect::<Vec<_>>());
    }
}
