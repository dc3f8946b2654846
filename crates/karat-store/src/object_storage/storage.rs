//! A connection to object storage: puts, gets, lists and deletes objects, and classifies failures.

use super::location::{Bucket, ObjectLocation, Place};
use super::transport::{LastResponse, Transport};
use crate::{Result, StoreError};
use karat_format::diagnostic::harmless;
use karat_io::secret::Secret;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, RetryConfig,
};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// An object without a row is kept for at least this long: a writer may be about to refer to it.
pub(crate) const MIN_GRACE: Duration = Duration::from_secs(60 * 60);

/// An object with less than this age is not written again. It survives any grace period until its row is written.
const FRESH_MS: i64 = MIN_GRACE.as_millis() as i64 / 2;

/// The object that names the store to which all objects beside it belong.
const OWNER: &str = "karat-store";

/// An object that is written to learn the time of a file server.
const CLOCK: &str = "karat-clock";

const MAX_SHOWN_CHARS: usize = 300;

pub(crate) struct ObjectStorage {
    pub(crate) location: ObjectLocation,
    runtime: Runtime,
    client: Arc<dyn ObjectStore>,
    prefix: String,
    kind: Kind,
}

enum Kind {
    Bucket { last: Arc<LastResponse>, secrets: Vec<Secret> },
    Folder(PathBuf),
}

/// An object in a listing.
pub(crate) struct ListedObject {
    /// The last step of its key.
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
}

/// How an object came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    Created,
    /// It was there and recent.
    Fresh,
    /// It was there, and was written again so that it is recent.
    Rewritten,
}

impl ObjectStorage {
    pub(crate) fn connect(location: &ObjectLocation, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let failed = |detail: String| unusable(location, detail);
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().map_err(|error| failed(error.to_string()))?;
        let (client, prefix, kind): (Arc<dyn ObjectStore>, _, _) = match &location.place {
            Place::Folder(folder) => {
                if !folder.is_dir() {
                    return Err(absent(location, "the folder is not there; is it mounted?".to_owned()));
                }
                let client = LocalFileSystem::new_with_prefix(folder).map_err(|error| failed(error.to_string()))?;
                (Arc::new(client.with_fsync(true)), String::new(), Kind::Folder(folder.clone()))
            }
            Place::Bucket(bucket) => {
                let (builder, kind) = open_bucket(bucket, variable).map_err(failed)?;
                let client = builder.build().map_err(|error| failed(error.to_string()))?;
                let slash = if bucket.prefix.is_empty() { "" } else { "/" };
                (Arc::new(client), format!("{}{slash}", bucket.prefix), kind)
            }
        };
        Ok(Self { location: location.clone(), runtime, client, prefix, kind })
    }

    /// Makes the place belong to a store, unless it belongs to another.
    pub(crate) fn claim(&self, store_id: &str) -> Result<()> {
        let owner = self.path(OWNER);
        let mode = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let claimed = self.runtime.block_on(self.client.put_opts(&owner, store_id.to_owned().into(), mode));
        match claimed {
            Ok(_) => Ok(()),
            Err(Error::AlreadyExists { .. }) => self.check_owner(store_id),
            Err(error) => Err(self.failure(&error)),
        }
    }

    pub(crate) fn check_owner(&self, store_id: &str) -> Result<()> {
        let found = match self.get(OWNER) {
            Ok(found) => found,
            Err(StoreError::DamagedObject { .. }) => return Err(self.not_there()),
            Err(error) => return Err(error),
        };
        if found == store_id.as_bytes() {
            return Ok(());
        }
        Err(StoreError::ForeignObjects { location: self.location.to_string(), owner: self.shown(OWNER) })
    }

    /// Stores an object durably. An old one is written again, so that garbage collection sees that it is in use.
    pub(crate) fn put(&self, name: &str, content: &PutPayload) -> Result<Put> {
        self.check_mounted()?;
        let there = self.head(name)?;
        if let Some(there) = &there
            && let Kind::Bucket { last, .. } = &self.kind
            && last.date_ms().is_some_and(|now| now - modified_ms(there) < FRESH_MS)
        {
            return Ok(Put::Fresh);
        }
        let key = self.path(&key(name));
        let mode = if there.is_some() { PutMode::Overwrite } else { PutMode::Create };
        let put = |mode| {
            let options = PutOptions { mode, ..PutOptions::default() };
            self.runtime.block_on(self.client.put_opts(&key, content.clone(), options))
        };
        match put(mode) {
            Ok(_) => {}
            // Another process writes the same bytes, and may not be done.
            Err(Error::AlreadyExists { .. }) if self.head(name)?.is_some() => {}
            Err(error @ Error::AlreadyExists { .. }) => return Err(absent(&self.location, self.describe(&error))),
            // Not every server knows conditional requests, and the content is the same in any case.
            Err(_) if self.is_unimplemented() => {
                put(PutMode::Overwrite).map_err(|error| self.failure(&error))?;
            }
            Err(error) => return Err(self.failure(&error)),
        }
        Ok(if there.is_some() { Put::Rewritten } else { Put::Created })
    }

    pub(crate) fn has(&self, name: &str) -> Result<bool> {
        self.check_mounted()?;
        self.head(name).map(|there| there.is_some())
    }

    /// When an object was written, by the storage's clock; `None` if it is not there.
    pub(crate) fn modified_ms(&self, name: &str) -> Result<Option<i64>> {
        Ok(self.head(name)?.as_ref().map(modified_ms))
    }

    /// The bytes of an object of at most `most` bytes.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Vec<u8>> {
        self.check_mounted()?;
        let key = key(name);
        let bytes = self.get(&key)?;
        if bytes.len() as u64 > most {
            return Err(self.changed(name, "it is longer"));
        }
        Ok(bytes)
    }

    /// The groups into which objects are divided.
    pub(crate) fn groups(&self) -> Result<Vec<String>> {
        let (groups, _) = self.list(&self.path("objects"))?;
        Ok(groups.iter().filter_map(|path| path.filename().map(str::to_owned)).collect())
    }

    pub(crate) fn objects(&self, group: &str) -> Result<Vec<ListedObject>> {
        let (_, listed) = self.list(&self.path(&format!("objects/{group}")))?;
        let object = |meta: &ObjectMeta| {
            let name = meta.location.filename()?.to_owned();
            Some(ListedObject { name, size: meta.size, modified_ms: modified_ms(meta) })
        };
        Ok(listed.iter().filter_map(object).collect())
    }

    pub(crate) fn delete(&self, name: &str) -> Result<()> {
        match self.runtime.block_on(self.client.delete(&self.path(&key(name)))) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// The storage's own clock, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> Result<i64> {
        if let Kind::Bucket { last, .. } = &self.kind {
            self.get(OWNER)?;
            let undated = || unusable(&self.location, "the server does not state the time".to_owned());
            return last.date_ms().ok_or_else(undated);
        }
        let clock = self.path(CLOCK);
        let written = self.runtime.block_on(async {
            self.client.put(&clock, PutPayload::new()).await?;
            self.client.head(&clock).await
        });
        written.map(|meta| modified_ms(&meta)).map_err(|error| self.failure(&error))
    }

    pub(crate) fn changed(&self, name: &str, detail: &str) -> StoreError {
        let (object, location) = (self.shown(&key(name)), &self.location);
        StoreError::DamagedObject {
            detail: format!("the object {object} in {location} is not what was stored: {detail}"),
        }
    }

    fn missing(&self, key: &str) -> StoreError {
        let (object, location) = (self.shown(key), &self.location);
        StoreError::DamagedObject { detail: format!("the object {object} is missing from {location}") }
    }

    fn get(&self, key: &str) -> Result<Vec<u8>> {
        let path = self.path(key);
        let got = self.runtime.block_on(async { self.client.get(&path).await?.bytes().await });
        match got {
            Ok(bytes) => Ok(bytes.into()),
            Err(Error::NotFound { .. }) => Err(self.missing(key)),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn head(&self, name: &str) -> Result<Option<ObjectMeta>> {
        match self.runtime.block_on(self.client.head(&self.path(&key(name)))) {
            Ok(meta) => Ok(Some(meta)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// The folders and objects in a folder.
    fn list(&self, folder: &Path) -> Result<(Vec<Path>, Vec<ObjectMeta>)> {
        match self.runtime.block_on(self.client.list_with_delimiter(Some(folder))) {
            Ok(listed) => Ok((listed.common_prefixes, listed.objects)),
            Err(Error::NotFound { .. }) => Ok((Vec::new(), Vec::new())),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// The folder of a file server that is not mounted is empty: it must neither be written nor read.
    fn check_mounted(&self) -> Result<()> {
        match &self.kind {
            Kind::Folder(folder) if !folder.join(OWNER).exists() => Err(self.not_there()),
            _ => Ok(()),
        }
    }

    fn not_there(&self) -> StoreError {
        let object = self.shown(OWNER);
        match self.kind {
            Kind::Folder(_) => absent(&self.location, format!("{object} is not there; is the folder mounted?")),
            Kind::Bucket { .. } => unusable(&self.location, format!("the object {object} is not there")),
        }
    }

    fn is_unimplemented(&self) -> bool {
        matches!(&self.kind, Kind::Bucket { last, .. } if last.is_unimplemented())
    }

    fn failure(&self, error: &Error) -> StoreError {
        let may_pass = match &self.kind {
            Kind::Bucket { last, .. } => last.may_pass(),
            Kind::Folder(folder) => match io_kind(error) {
                Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                    return StoreError::Full { place: folder.display().to_string() };
                }
                kind => kind.is_some_and(may_io_pass),
            },
        };
        let describe = if may_pass { absent } else { unusable };
        describe(&self.location, self.describe(error))
    }

    /// A server may repeat what it was sent, so secrets are removed.
    fn describe(&self, error: &Error) -> String {
        let secrets = if let Kind::Bucket { secrets, .. } = &self.kind { secrets.as_slice() } else { &[] };
        let text = secrets.iter().fold(error.to_string(), |text, secret| secret.redact(&text));
        harmless(&text.replace('\n', " ")).chars().take(MAX_SHOWN_CHARS).collect()
    }

    /// Files that killed writers left in a group, and when they were last written.
    pub(crate) fn abandoned(&self, group: &str) -> Vec<(PathBuf, i64)> {
        let Kind::Folder(folder) = &self.kind else { return Vec::new() };
        let Ok(entries) = std::fs::read_dir(folder.join("objects").join(group)) else { return Vec::new() };
        let file = |entry: std::fs::DirEntry| {
            let modified = entry.metadata().ok()?.modified().ok()?;
            let modified = jiff::Timestamp::try_from(modified).ok()?.as_millisecond();
            entry.file_name().to_str()?.contains('#').then(|| (entry.path(), modified))
        };
        entries.filter_map(|entry| file(entry.ok()?)).collect()
    }

    fn shown(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn path(&self, key: &str) -> Path {
        Path::from(self.shown(key))
    }
}

/// The key of an object below the prefix, from its name: the hash of the artifact, with an ending if it is packed.
fn key(name: &str) -> String {
    format!("objects/{}/{name}", name.get(..2).unwrap_or_default())
}

fn open_bucket(bucket: &Bucket, variable: &dyn Fn(&str) -> Option<String>) -> Result<(AmazonS3Builder, Kind), String> {
    let filled = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let needed = |name: &str| filled(name).ok_or_else(|| format!("the variable {name} is not set"));
    let (id, secret) = (needed("AWS_ACCESS_KEY_ID")?, needed("AWS_SECRET_ACCESS_KEY")?);
    let token = filled("AWS_SESSION_TOKEN");
    let hidden = [Some(&secret), token.as_ref()];
    let secrets = hidden.into_iter().flatten().filter_map(|value| Secret::new("[key]", value)).collect();
    let amazon = format!("https://s3.{}.amazonaws.com", bucket.region);
    let endpoint = bucket.endpoint.as_ref().unwrap_or(&amazon);
    let last = Arc::new(LastResponse::default());
    let builder = AmazonS3Builder::new()
        .with_bucket_name(&bucket.name)
        .with_endpoint(endpoint)
        .with_region(&bucket.region)
        .with_access_key_id(id)
        .with_secret_access_key(secret)
        // Checked when the location was read.
        .with_allow_http(true)
        .with_retry(RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(5),
                base: 2.,
            },
            max_retries: 4,
            retry_timeout: Duration::from_secs(60),
        })
        .with_http_connector(Transport::new(endpoint, Arc::clone(&last))?);
    let builder = token.into_iter().fold(builder, AmazonS3Builder::with_token);
    Ok((builder, Kind::Bucket { last, secrets }))
}

fn unusable(location: &ObjectLocation, detail: String) -> StoreError {
    StoreError::ObjectStorage { location: location.to_string(), detail }
}

/// An error that may pass.
fn absent(location: &ObjectLocation, detail: String) -> StoreError {
    StoreError::NoObjectStorage { location: location.to_string(), detail }
}

fn modified_ms(meta: &ObjectMeta) -> i64 {
    meta.last_modified.timestamp_millis()
}

fn io_kind(error: &Error) -> Option<ErrorKind> {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return Some(error.kind());
        }
        source = error.source();
    }
    None
}

/// Whether a failure of a file server may pass.
fn may_io_pass(kind: ErrorKind) -> bool {
    use ErrorKind::*;
    matches!(
        kind,
        TimedOut
            | Interrupted
            | StaleNetworkFileHandle
            | NetworkDown
            | NetworkUnreachable
            | HostUnreachable
            | ConnectionReset
            | ConnectionAborted
            | ConnectionRefused
            | ResourceBusy
    )
}
