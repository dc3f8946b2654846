//! Versions of the store's tables.

use super::tables::SCHEMA;
use super::{Database, OnConflict, Result, StoreError};

/// A version of the tables and how to get to it, on each engine.
struct Migration {
    version: i64,
    sqlite: &'static str,
    postgres: &'static str,
}

/// All versions, oldest first; the first creates the tables. A published one never changes; append new ones.
const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 11,
        sqlite: include_str!("sqlite/0011_tables.sql"),
        postgres: concat!(include_str!("postgres/0011_tables.sql"), include_str!("postgres/0011_queue.sql")),
    },
    Migration {
        version: 12,
        sqlite: include_str!("sqlite/0012_settings.sql"),
        postgres: include_str!("postgres/0012_settings.sql"),
    },
];

/// BLAKE3 of the table definitions of the latest version; a test prints the new value.
const SQLITE_DEFINITIONS: &str = "c9b3d137537d908213a7e0b6cba8e86b6da112a326acffd810454733b31e47dd";
const POSTGRES_DEFINITIONS: &str = "172a1230a9fa246da49b40882f2afb3901cc7583e21f449c01235b896846365d";

pub(super) fn latest_version() -> i64 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

fn oldest_version() -> i64 {
    MIGRATIONS.first().map_or(0, |migration| migration.version)
}

/// The version of a store; 0 for an empty database; an error if this program cannot read it.
pub(super) fn check_version(database: &mut Database) -> Result<i64> {
    let place = database.place.to_string();
    let tables = database.tables()?;
    if tables.is_empty() {
        return Ok(0);
    }
    if !tables.iter().any(|table| table == SCHEMA.name) {
        return Err(StoreError::Foreign { place });
    }
    let found = database.query_number("SELECT MAX(version) FROM karat_schema", Vec::new())?.unwrap_or(0);
    if found > latest_version() {
        return Err(StoreError::Newer { place, found, known: latest_version() });
    }
    if found < oldest_version() {
        return Err(StoreError::Older { place, found, oldest: oldest_version() });
    }
    if found == latest_version() && fingerprint(database)? != expected_definitions(database) {
        let detail = "the definitions of its tables are not those that Karat wrote".to_owned();
        return Err(StoreError::Damaged { place, detail });
    }
    Ok(found)
}

fn expected_definitions(database: &Database) -> &'static str {
    if database.is_server() { POSTGRES_DEFINITIONS } else { SQLITE_DEFINITIONS }
}

fn fingerprint(database: &mut Database) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for definition in database.definitions()? {
        hasher.update(&definition).update(b"\n");
    }
    Ok(hasher.finalize().to_hex().to_string())
}

pub(super) fn migrate(database: &mut Database) -> Result<()> {
    migrate_to(database, latest_version())
}

fn migrate_to(database: &mut Database, last: i64) -> Result<()> {
    if check_version(database)? == latest_version() {
        return Ok(());
    }
    database.check_settings()?;
    database.write(|database| {
        database.exclude_others("karat migration")?;
        // Another process may have migrated while this one waited.
        let found = check_version(database)?;
        for migration in MIGRATIONS.iter().filter(|migration| (found + 1..=last).contains(&migration.version)) {
            database.script(if database.is_server() { migration.postgres } else { migration.sqlite })?;
            let row = vec![migration.version.into(), database.now_ms()?.into()];
            database.insert(&SCHEMA, vec![row], OnConflict::Fail)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::database::Access;
    use super::*;
    use crate::tests::{StoreDir, begin, on_each_engine, record};
    use crate::{Store, StoreLocation};

    on_each_engine!(definitions_of_the_current_version_are_unchanged, every_older_version_is_upgraded);

    fn empty_database(dir: &StoreDir) -> Database {
        match dir.location() {
            StoreLocation::Folder(folder) => {
                std::fs::create_dir_all(&folder).unwrap();
                Database::open_file(&folder.join("karat.db"), Access::Write).unwrap()
            }
            StoreLocation::Server(server) => Database::open_server(&server, Access::Write).unwrap(),
        }
    }

    fn definitions_of_the_current_version_are_unchanged() {
        let dir = StoreDir::new();
        let mut database = empty_database(&dir);
        migrate(&mut database).unwrap();
        assert_eq!(fingerprint(&mut database).unwrap(), expected_definitions(&database));
    }

    fn every_older_version_is_upgraded() {
        for version in oldest_version()..latest_version() {
            let dir = StoreDir::new();
            let mut database = empty_database(&dir);
            migrate_to(&mut database, version).unwrap();
            assert_eq!(check_version(&mut database).unwrap(), version);
            drop(database);
            let mut store = Store::open(dir.location()).unwrap();
            assert_eq!(fingerprint(&mut store.database).unwrap(), expected_definitions(&store.database));
            let run = begin(&mut store);
            store.save(&run, &[record("zeta", "a", 1)]).unwrap();
            assert_eq!(store.verify().unwrap(), []);
        }
    }

    #[test]
    fn versions_are_consecutive() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (oldest_version()..=latest_version()).collect::<Vec<_>>());
    }
}
