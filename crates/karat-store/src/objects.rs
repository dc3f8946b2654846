//! Artifacts in object storage: an S3-compatible server or a shared folder, for what is too large for the database.
//!
//! An object is durable before the row that refers to it is written, and it is deleted only when no row refers to it and the
//! grace period has passed. So a row never lacks its object, whatever process dies; at worst there is an object without a row.
//! A writer that finds an object writes it again if it is old, and looks once more in the transaction that adds the row.

mod sweep;
#[cfg(test)]
mod testing;

pub(super) use sweep::DEFAULT_GRACE;

use super::artifacts::{OBJECT_CODING, Packed, unpack};
use super::database::LONG_TIMEOUT;
use super::object_storage::{OBJECT_STORAGE, OBJECTS_LOCK, ObjectLocation, ObjectStorage, UploadedObject, setting};
use super::tables::SETTINGS;
use super::{Database, OnConflict, Result, Store, StoreError};
use karat_io::cancel::Cancel;
use object_store::PutPayload;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The size, packed, up to which an artifact is kept in the database.
pub(super) const MAX_IN_DATABASE: usize = 1 << 20;

const STORE_ID: &str = "store_id";

/// The open connection to object storage, made on first use.
pub(super) struct Connection {
    storage: Option<Arc<ObjectStorage>>,
    /// Whether it was checked that its objects belong to this store.
    is_checked: bool,
    /// How long a save waits for storage that does not answer.
    pub(super) patience: Duration,
    /// Ends that waiting.
    pub(super) abandon: Cancel,
    /// Looks up the variables with the credentials.
    pub(super) variable: fn(&str) -> Option<String>,
}

impl Default for Connection {
    fn default() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        Self { storage: None, is_checked: false, patience: LONG_TIMEOUT, abandon: Cancel::default(), variable }
    }
}

impl Store {
    /// Where artifacts of more than 1 MiB, packed, are kept; `None` if in the database.
    pub fn object_storage(&mut self) -> Result<Option<ObjectLocation>> {
        let Some(text) = setting(&mut self.database, OBJECT_STORAGE)? else { return Ok(None) };
        let bad = |error: StoreError| self.database.damaged(format!("a setting cannot be read: {error}"));
        ObjectLocation::parse(&text).map(Some).map_err(bad)
    }

    /// The number of artifacts in object storage.
    pub fn object_count(&mut self) -> Result<u32> {
        self.database.query_count("SELECT COUNT(*) FROM artifacts WHERE coding LIKE 'object-%'", Vec::new())
    }

    /// Sets where large artifacts are kept from now on, for every process. Existing objects must be there already.
    pub fn set_object_storage(&mut self, location: Option<&ObjectLocation>) -> Result<()> {
        let current = self.object_storage()?;
        if let Some(location) = location {
            let store_id = self.store_id()?;
            location.create_folder()?;
            let storage = ObjectStorage::connect(location, &self.objects.variable)?;
            storage.claim(&store_id)?;
            (self.objects.storage, self.objects.is_checked) = (Some(Arc::new(storage)), true);
        }
        if current.as_ref() == location {
            return Ok(());
        }
        let storage = self.objects.storage.clone().filter(|_| location.is_some());
        let from = current.map(|location| location.to_string()).unwrap_or_default();
        let elsewhere =
            |objects: u32, reason: String| StoreError::ObjectsElsewhere { objects, location: from.clone(), reason };
        let mut found: HashSet<String> = HashSet::new();
        let mut check = |database: &mut Database| {
            let rows = database.query("SELECT hash, coding FROM artifacts WHERE coding LIKE 'object-%'", Vec::new())?;
            let objects = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            for row in &rows {
                let name = object_name(row.get(0)?, row.get(1)?);
                match &storage {
                    None => return Err(elsewhere(objects, "without object storage they could not be read".to_owned())),
                    Some(_) if found.contains(&name) => {}
                    Some(storage) if !storage.has(&name)? => {
                        return Err(elsewhere(objects, format!("{} lacks {name}", storage.location)));
                    }
                    Some(_) => drop(found.insert(name)),
                }
            }
            Ok(())
        };
        // Looking for many objects takes long; only those added meanwhile are left for the transaction.
        check(&mut self.database)?;
        self.database.write(|database| {
            database.exclude_others(OBJECTS_LOCK)?;
            check(database)?;
            // They name objects of the storage used so far.
            database.execute("DELETE FROM removed_objects", Vec::new())?;
            database.execute("DELETE FROM settings WHERE name = $1", vec![OBJECT_STORAGE.into()])?;
            let Some(storage) = &storage else { return Ok(()) };
            let row = vec![OBJECT_STORAGE.into(), storage.location.to_string().into()];
            database.insert(&SETTINGS, vec![row], OnConflict::Fail)
        })
    }

    /// Moves large contents to object storage, if there is any. It is waited for while it does not answer.
    pub(super) fn upload(&mut self, packed: &mut [Packed]) -> Result<()> {
        let is_large = |packed: &&mut Packed| packed.object.is_none() && packed.content.len() > MAX_IN_DATABASE;
        let large: Vec<&mut Packed> = packed.iter_mut().filter(is_large).collect();
        if large.is_empty() || self.object_storage()?.is_none() {
            return Ok(());
        }
        let (deadline, abandon) = (Instant::now() + self.objects.patience, self.objects.abandon.clone());
        for packed in large {
            packed.coding = match packed.coding {
                "deflate" => "object-deflate",
                _ => "object-plain",
            };
            let name = object_name(&packed.hash, packed.coding);
            let content = PutPayload::from(std::mem::take(&mut packed.content));
            let (storage, put) = while_absent(deadline, &abandon, || {
                let Some(storage) = self.connect_checked()? else {
                    return Err(self.database.damaged("the object storage was removed from the settings meanwhile"));
                };
                let put = storage.put(&name, &content)?;
                Ok((storage, put))
            })?;
            packed.object = Some(UploadedObject::new(storage, name, content, put));
        }
        Ok(())
    }

    pub(super) fn read_object(&mut self, hash: &str, size: i64, packing: &str) -> Result<Vec<u8>> {
        let Some(storage) = self.connect()? else {
            let detail = format!("the artifact {hash} is in object storage, and the settings name none");
            return Err(self.database.damaged(detail));
        };
        let name = object_name(hash, &format!("{OBJECT_CODING}{packing}"));
        // Packing never makes content longer.
        let content = storage.read(&name, u64::try_from(size).unwrap_or(0))?;
        unpack(hash, size, packing, content).map_err(|detail| storage.changed(&name, &detail))
    }

    /// The connection to the storage that the settings name.
    fn connect(&mut self) -> Result<Option<Arc<ObjectStorage>>> {
        let Some(location) = self.object_storage()? else { return Ok(None) };
        if let Some(storage) = self.objects.storage.as_ref().filter(|storage| storage.location == location) {
            return Ok(Some(Arc::clone(storage)));
        }
        let storage = Arc::new(ObjectStorage::connect(&location, &self.objects.variable)?);
        (self.objects.storage, self.objects.is_checked) = (Some(Arc::clone(&storage)), false);
        Ok(Some(storage))
    }

    /// The connection for writing, which leads to objects of this store.
    fn connect_checked(&mut self) -> Result<Option<Arc<ObjectStorage>>> {
        let storage = self.connect()?;
        if let Some(storage) = &storage
            && !self.objects.is_checked
        {
            let store_id = self.store_id()?;
            storage.check_owner(&store_id)?;
            self.objects.is_checked = true;
        }
        Ok(storage)
    }

    /// Names this store in its object storage, so that no other store's garbage collection takes its objects.
    fn store_id(&mut self) -> Result<String> {
        if let Some(id) = setting(&mut self.database, STORE_ID)? {
            return Ok(id);
        }
        let id = uuid::Uuid::now_v7().to_string();
        self.database.write(|database| {
            database.insert(&SETTINGS, vec![vec![STORE_ID.into(), id.as_str().into()]], OnConflict::Ignore)
        })?;
        Ok(setting(&mut self.database, STORE_ID)?.unwrap_or(id))
    }
}

/// An object is called by the hash of its artifact, and by its packing, which another version may do differently.
pub(super) fn object_name(hash: &str, coding: &str) -> String {
    match coding.strip_prefix(OBJECT_CODING) {
        None | Some("plain") => hash.to_owned(),
        Some(packing) => format!("{hash}.{packing}"),
    }
}

/// Tries again, ever more slowly, while object storage does not answer.
fn while_absent<T>(deadline: Instant, abandon: &Cancel, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut pause = Duration::from_millis(50);
    loop {
        match attempt() {
            Err(StoreError::NoObjectStorage { .. }) if Instant::now() < deadline && !abandon.is_cancelled() => {
                abandon.sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
                pause = (pause * 2).min(Duration::from_secs(5));
            }
            result => return result,
        }
    }
}
