//! Object storage itself: where it is, how it is reached, and objects that wait for their rows.

mod location;
mod storage;
mod transport;

pub use location::ObjectLocation;
pub(super) use storage::{ListedObject, MIN_GRACE, ObjectStorage, Put};

use super::tables::SETTINGS;
use super::{Database, Result, StoreError};
use object_store::PutPayload;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// An object that was written longer ago is looked for again before its row is written.
const CONFIRM_AFTER: Duration = Duration::from_secs(10 * 60);

/// The setting that names the object storage.
pub(super) const OBJECT_STORAGE: &str = "object_storage";

/// Held by writes that delete objects or change where they are, and shared by those that add rows for them.
pub(super) const OBJECTS_LOCK: &str = "karat objects";

/// An object whose row is not written yet.
#[derive(Clone)]
pub(super) struct UploadedObject {
    storage: Arc<ObjectStorage>,
    name: String,
    content: PutPayload,
    put: Put,
    written: (Instant, SystemTime),
}

impl UploadedObject {
    pub(super) fn new(storage: Arc<ObjectStorage>, name: String, content: PutPayload, put: Put) -> Self {
        Self { storage, name, content, put, written: (Instant::now(), SystemTime::now()) }
    }

    /// Whether garbage collection may have deleted it.
    fn is_doubtful(&self) -> bool {
        // The larger of both: one clock may be set back, the other one stands still while a machine sleeps.
        let age = self.written.0.elapsed().max(self.written.1.elapsed().unwrap_or_default());
        self.put == Put::Rewritten || age >= CONFIRM_AFTER
    }
}

/// Makes sure, in the transaction that adds their rows, that objects are where every process looks for them, and that garbage
/// collection has not just deleted them.
pub(super) fn confirm_objects(database: &mut Database, objects: &[&UploadedObject]) -> Result<()> {
    if objects.is_empty() {
        return Ok(());
    }
    let doubtful: Vec<&UploadedObject> = objects.iter().copied().filter(|object| object.is_doubtful()).collect();
    // Decided once for all: two writes that share the lock and then want it alone would wait for each other.
    if doubtful.is_empty() {
        database.share_with_others(OBJECTS_LOCK)?;
    } else {
        database.exclude_others(OBJECTS_LOCK)?;
    }
    let current = setting(database, OBJECT_STORAGE)?;
    for object in objects {
        let location = object.storage.location.to_string();
        if current.as_ref() != Some(&location) {
            let detail = "the store was given another one meanwhile".to_owned();
            return Err(StoreError::ObjectStorage { location, detail });
        }
    }
    for object in doubtful {
        if !object.storage.has(&object.name)? {
            object.storage.put(&object.name, &object.content)?;
        }
    }
    Ok(())
}

/// A setting of the store.
pub(super) fn setting(database: &mut Database, name: &'static str) -> Result<Option<String>> {
    database.select_one(&SETTINGS, "WHERE name = $1", vec![name.into()])?.map(|row| row.get(1)).transpose()
}
