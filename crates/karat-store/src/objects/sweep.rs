//! Deletes objects that no artifact refers to.

use super::object_name;
use crate::artifacts::OBJECT_CODING;
use crate::gc::GcReport;
use crate::object_storage::{ListedObject, OBJECTS_LOCK, ObjectStorage};
use crate::tables::REMOVED_OBJECTS;
use crate::{Database, Result, Store, StoreError};
use std::collections::HashSet;
use std::time::Duration;

/// How long an object without a row is kept if nothing else is said.
pub(crate) const DEFAULT_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// Objects deleted in one transaction, which writers wait for.
const AT_ONCE: usize = 16;

impl Store {
    /// Deletes objects that are older than the grace period and have had no row for that long. Storage that cannot be used
    /// is noted.
    pub(crate) fn sweep_objects(&mut self, grace: Duration, dry_run: bool, report: &mut GcReport) -> Result<()> {
        let swept = match self.connect() {
            Ok(None) => return Ok(()),
            Ok(Some(storage)) => self.sweep(&storage, grace, dry_run, report),
            Err(error) => Err(error),
        };
        match swept {
            Err(
                error @ (StoreError::NoObjectStorage { .. }
                | StoreError::ObjectStorage { .. }
                | StoreError::ForeignObjects { .. }
                | StoreError::DamagedObject { .. }),
            ) => report.notes.push(format!("not all unused objects were removed: {error}")),
            swept => swept?,
        }
        let waiting = self.database.query_count("SELECT COUNT(*) FROM removed_objects", Vec::new())?;
        report.waiting_objects = waiting.into();
        Ok(())
    }

    fn sweep(&mut self, storage: &ObjectStorage, grace: Duration, dry_run: bool, report: &mut GcReport) -> Result<()> {
        let store_id = self.store_id()?;
        storage.check_owner(&store_id)?;
        let grace_ms = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
        let oldest_ms = storage.now_ms()?.saturating_sub(grace_ms);
        // The storage's clock and the database's clock may differ.
        let removed_before_ms = self.database.now_ms()?.saturating_sub(grace_ms);
        for group in storage.groups()? {
            let mut unused = Vec::new();
            let used = used_objects(&mut self.database, &group)?;
            for object in storage.objects(&group)? {
                if object.modified_ms < oldest_ms
                    && !used.contains(&object.name)
                    && is_removable(&mut self.database, &object.name, removed_before_ms)?
                {
                    unused.push(object);
                }
            }
            for objects in unused.chunks(AT_ONCE) {
                let (deleted, bytes) = match dry_run {
                    true => (objects.len() as u64, objects.iter().map(|object| object.size).sum()),
                    false => {
                        let limits = (oldest_ms, removed_before_ms);
                        self.database.write(|database| delete(database, storage, objects, limits))?
                    }
                };
                report.objects += deleted;
                report.object_bytes += bytes;
            }
            for (file, modified_ms) in storage.abandoned(&group) {
                if !dry_run && modified_ms < oldest_ms {
                    // Another process may have deleted it.
                    let _ = std::fs::remove_file(file);
                }
            }
        }
        if dry_run {
            return Ok(());
        }
        self.database.write(|database| {
            let values = vec![removed_before_ms.into()];
            database.execute("DELETE FROM removed_objects WHERE removed_ms < $1", values).map(|_| ())
        })
    }
}

/// Deletes those of the objects that still have no row and are still old, and returns their number and bytes. A writer that
/// found one missing, since another collection had deleted it, may have written it again.
pub(super) fn delete(
    database: &mut Database,
    storage: &ObjectStorage,
    objects: &[ListedObject],
    (oldest_ms, removed_before_ms): (i64, i64),
) -> Result<(u64, u64)> {
    database.exclude_others(OBJECTS_LOCK)?;
    let mut deleted = (0, 0);
    for object in objects {
        let is_old = storage.modified_ms(&object.name)?.is_some_and(|modified| modified < oldest_ms);
        if is_old && is_removable(database, &object.name, removed_before_ms)? {
            storage.delete(&object.name)?;
            deleted = (deleted.0 + 1, deleted.1 + object.size);
        }
    }
    Ok(deleted)
}

/// The names of the objects of a group that artifacts refer to.
fn used_objects(database: &mut Database, group: &str) -> Result<HashSet<String>> {
    let sql = "SELECT hash, coding FROM artifacts WHERE coding LIKE 'object-%' AND hash >= $1 AND hash < $2";
    // `g` follows the last hexadecimal digit.
    let rows = database.query(sql, vec![group.into(), format!("{group}g").into()])?;
    rows.iter().map(|row| Ok(object_name(row.get(0)?, row.get(1)?))).collect()
}

/// Whether no artifact refers to an object, and none did since this time. What Karat did not name stays.
fn is_removable(database: &mut Database, name: &str, removed_before_ms: i64) -> Result<bool> {
    let (hash, packing) = name.split_once('.').unwrap_or((name, "plain"));
    if blake3::Hash::from_hex(hash).is_err() || !matches!(packing, "plain" | "deflate") {
        return Ok(false);
    }
    let used = "SELECT COUNT(*) FROM artifacts WHERE hash = $1 AND coding = $2";
    if database.query_count(used, vec![hash.into(), format!("{OBJECT_CODING}{packing}").into()])? > 0 {
        return Ok(false);
    }
    let row = database.select_one(&REMOVED_OBJECTS, "WHERE object = $1", vec![name.into()])?;
    let removed_ms: Option<i64> = row.map(|row| row.get(1)).transpose()?;
    Ok(removed_ms.is_none_or(|removed| removed < removed_before_ms))
}
