//! Content-addressed artifacts: each distinct content is stored once, compressed, under its BLAKE3 hash; large ones in object
//! storage, if there is any.

use super::object_storage::{UploadedObject, confirm_objects};
use super::record::TrialKey;
use super::tables::{ARTIFACTS, TRIAL_ARTIFACTS};
use super::{Database, OnConflict, Result, Row, RunId, Store, StoreError, Value};
use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use serde::Serialize;
use std::io::Read;

/// An artifact of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ArtifactInfo {
    /// What it is: `stdout`, `stderr`, `output`.
    pub name: String,
    /// The BLAKE3 hash of its bytes, in hex.
    pub hash: String,
    pub size: u64,
}

impl Store {
    /// The artifacts of the latest attempt at a trial.
    pub fn artifacts(&mut self, run: &RunId, key: &TrialKey) -> Result<Vec<ArtifactInfo>> {
        let values: Vec<Value> =
            vec![run.into(), key.tool.as_str().into(), key.case.as_str().into(), key.number.into()];
        let latest = "WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = \
                      (SELECT MAX(t.attempt) FROM trials t WHERE t.run_id = $1 AND t.tool = $2 AND t.case_id = $3 \
                      AND t.number = $4) ORDER BY name";
        let mut infos = Vec::new();
        for row in self.database.select(&TRIAL_ARTIFACTS, latest, values)? {
            let (name, hash): (String, String) = (row.get(5)?, row.get(6)?);
            let size = u64::try_from(self.artifact_row(&hash)?.get::<i64>(1)?).unwrap_or(0);
            infos.push(ArtifactInfo { name, hash, size });
        }
        Ok(infos)
    }

    /// The content stored under a hash, verified against it.
    pub fn artifact(&mut self, hash: &str) -> Result<Vec<u8>> {
        let row = self.artifact_row(hash)?;
        self.artifact_content(hash, &row)
    }

    /// The content of a row of [`ARTIFACTS`].
    pub(super) fn artifact_content(&mut self, hash: &str, row: &Row) -> Result<Vec<u8>> {
        let (size, coding): (i64, String) = (row.get(1)?, row.get(2)?);
        match coding.strip_prefix(OBJECT_CODING) {
            Some(packing) => self.read_object(hash, size, packing),
            None => unpack(hash, size, &coding, row.get(3)?).map_err(|detail| self.database.damaged(detail)),
        }
    }

    /// The artifact of a row of [`ARTIFACTS`] as a database would keep it.
    pub(super) fn packed_artifact(&mut self, row: &Row) -> Result<Packed> {
        let (hash, size, coding): (String, i64, &str) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let Some(coding) = ["plain", "deflate"].into_iter().find(|known| *known == coding) else {
            return Ok(Packed::new(&self.artifact_content(&hash, row)?));
        };
        Ok(Packed { hash, size: usize::try_from(size).unwrap_or(0), coding, content: row.get(3)?, object: None })
    }

    fn artifact_row(&mut self, hash: &str) -> Result<Row> {
        let row = self.database.select_one(&ARTIFACTS, "WHERE hash = $1", vec![hash.into()])?;
        row.ok_or_else(|| StoreError::NoArtifact { hash: hash.to_owned() })
    }
}

/// What the coding of an artifact in object storage begins with.
pub(super) const OBJECT_CODING: &str = "object-";

#[derive(Clone)]
pub(super) struct Packed {
    pub(super) hash: String,
    size: usize,
    pub(super) coding: &'static str,
    pub(super) content: Vec<u8>,
    /// Where the content is if it is not in the database.
    pub(super) object: Option<UploadedObject>,
}

impl Packed {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Packer::default().pack(bytes)
    }
}

/// Compresses with one compressor, made on first use: making one costs more than compressing something small.
#[derive(Default)]
pub(super) struct Packer(Option<Compress>);

impl Packer {
    /// Hashes and compresses; content that does not shrink is stored as it is.
    pub(super) fn pack(&mut self, bytes: &[u8]) -> Packed {
        let compressed = self.compress(bytes).map(|content| ("deflate", content));
        let (coding, content) = compressed.unwrap_or_else(|| ("plain", bytes.to_vec()));
        Packed { hash: hash(bytes), size: bytes.len(), coding, content, object: None }
    }

    fn compress(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        // Below this, a row occupies one database page either way.
        const MIN_COMPRESSED_LEN: usize = 512;
        if bytes.len() < MIN_COMPRESSED_LEN {
            return None;
        }
        let compress = self.0.get_or_insert_with(|| Compress::new(Compression::fast(), false));
        compress.reset();
        // No more room than the original: compression stops as soon as it does not pay.
        let mut content = Vec::with_capacity(bytes.len() - bytes.len() / 16);
        let status = compress.compress_vec(bytes, &mut content, FlushCompress::Finish).ok()?;
        content.shrink_to_fit();
        (status == Status::StreamEnd).then_some(content)
    }
}

pub(super) fn insert_artifacts(database: &mut Database, mut packed: Vec<Packed>) -> Result<()> {
    let objects: Vec<&UploadedObject> = packed.iter().filter_map(|packed| packed.object.as_ref()).collect();
    confirm_objects(database, &objects)?;
    // Two writes that insert the same artifacts in another order would wait for each other.
    packed.sort_unstable_by(|one, other| one.hash.cmp(&other.hash));
    let row = |packed: Packed| {
        let size = i64::try_from(packed.size).unwrap_or(i64::MAX);
        vec![packed.hash.into(), size.into(), packed.coding.into(), packed.content.into()]
    };
    database.insert(&ARTIFACTS, packed.into_iter().map(row).collect(), OnConflict::Ignore)
}

pub(super) fn unpack(hash: &str, size: i64, coding: &str, content: Vec<u8>) -> Result<Vec<u8>, String> {
    let stated = u64::try_from(size).map_err(|_| format!("the artifact {hash} has a size below 0"))?;
    let bytes = match coding {
        "plain" => content,
        "deflate" => {
            let mut bytes = Vec::new();
            // One byte beyond the recorded size is enough to detect a mismatch.
            let mut reader = DeflateDecoder::new(content.as_slice()).take(stated.saturating_add(1));
            let read = reader.read_to_end(&mut bytes);
            read.map_err(|error| format!("the artifact {hash} cannot be decompressed ({error})"))?;
            bytes
        }
        other => return Err(format!("the artifact {hash} is coded as `{other}`, which is unknown")),
    };
    if u64::try_from(bytes.len()) != Ok(stated) {
        return Err(format!("the artifact {hash} should have {stated} bytes and has another number of them"));
    }
    if self::hash(&bytes) != hash {
        return Err(format!("the artifact {hash} has other bytes than were stored"));
    }
    Ok(bytes)
}

pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_artifacts_round_trip() {
        let mut packer = Packer::default();
        let mut noise = vec![0; 5000];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        for (bytes, coding) in [
            (Vec::new(), "plain"),
            (b"short".to_vec(), "plain"),
            (b"the same again ".repeat(1000), "deflate"),
            (noise, "plain"),
        ] {
            let packed = packer.pack(&bytes);
            assert_eq!(packed.coding, coding);
            assert!(packed.content.len() <= bytes.len());
            assert_eq!(unpack(&packed.hash, bytes.len() as i64, packed.coding, packed.content), Ok(bytes));
        }
    }

    #[test]
    fn changed_artifacts_are_detected() {
        let packed = Packed::new(&b"the same again ".repeat(1000));
        let check = |size: i64, coding: &str, change: fn(&mut Vec<u8>), expect: &str| {
            let mut content = packed.content.clone();
            change(&mut content);
            let error = unpack(&packed.hash, size, coding, content).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(14_999, "deflate", |_| {}, "should have 14999 bytes");
        check(15_001, "deflate", |_| {}, "should have 15001 bytes");
        check(-1, "deflate", |_| {}, "size below 0");
        check(15_000, "zstd", |_| {}, "coded as `zstd`");
        check(15_000, "deflate", |content| content.truncate(20), "artifact");
        check(15_000, "deflate", |content| content[5] ^= 1, "artifact");
        let short = Packed::new(b"short");
        let error = unpack(&short.hash, 5, short.coding, b"shirt".to_vec()).unwrap_err();
        assert!(error.contains("other bytes than were stored"), "{error}");
    }
}
