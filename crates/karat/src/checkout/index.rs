//! Git's index: what is checked out, with what the system says of each file, so that git sees a clean folder at once.

use super::object::{Mode, ObjectId};
use sha1_smol::Sha1;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// One checked-out file.
pub(super) struct Entry<'a> {
    pub(super) path: &'a str,
    pub(super) mode: Mode,
    pub(super) id: ObjectId,
    pub(super) meta: Metadata,
}

/// The index of these files, which are sorted by path.
pub(super) fn index(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut out = b"DIRC\0\0\0\x02".to_vec();
    out.extend(u32::try_from(entries.len()).unwrap_or(u32::MAX).to_be_bytes());
    for entry in entries {
        let start = out.len();
        for number in status(&entry.meta, entry.mode) {
            out.extend(number.to_be_bytes());
        }
        out.extend(entry.id.bytes());
        let length = u16::try_from(entry.path.len()).unwrap_or(u16::MAX).min(0xfff);
        out.extend(length.to_be_bytes());
        out.extend(entry.path.as_bytes());
        // Each entry ends in one to eight zero bytes, so that the next begins at a multiple of eight.
        let padded = (out.len() - start) / 8 * 8 + 8;
        out.resize(start + padded, 0);
    }
    let own = Sha1::from(&out).digest().bytes();
    out.extend(own);
    out
}

/// Changed, modified, device, inode, mode, owner, group and size; git keeps the low 32 bits of each.
fn status(meta: &Metadata, mode: Mode) -> [u32; 10] {
    let low = |number: u64| (number & u64::from(u32::MAX)) as u32;
    let signed = |number: i64| low(number.cast_unsigned());
    [
        signed(meta.ctime()),
        signed(meta.ctime_nsec()),
        signed(meta.mtime()),
        signed(meta.mtime_nsec()),
        low(meta.dev()),
        low(meta.ino()),
        mode.bits(),
        meta.uid(),
        meta.gid(),
        low(meta.size()),
    ]
}
