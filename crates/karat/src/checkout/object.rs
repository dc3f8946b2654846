//! Git objects: blobs, trees and commits, the pack that contains them, and the index of what is checked out.
//!
//! A repository is written without starting git: a suite has thousands of cases, and a few processes for each of them would
//! cost more than many tools do.

use crate::suite::objects::FileMode as Mode;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1_smol::Sha1;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

/// The id of an object: the SHA-1 of its kind, length and content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId(pub(super) [u8; 20]);

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Objects that are being packed, each once.
#[derive(Default)]
pub(super) struct Pack {
    /// Where each object begins, and the checksum of its packed bytes.
    places: BTreeMap<ObjectId, (u32, u32)>,
    body: Vec<u8>,
}

pub(super) struct Packed {
    /// Without an extension.
    pub(super) name: String,
    pub(super) pack: Vec<u8>,
    pub(super) index: Vec<u8>,
}

/// A pack begins with its magic number, its version and the number of its objects.
const PACK_HEADER: usize = 12;

impl Pack {
    pub(super) fn blob(&mut self, content: &[u8]) -> io::Result<ObjectId> {
        self.add(3, "blob", content)
    }

    /// Adds the trees of all folders of these files, which are sorted by path.
    pub(super) fn tree(&mut self, files: &[(&str, Mode, ObjectId)]) -> io::Result<ObjectId> {
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut rest = files;
        while let Some((path, mode, id)) = rest.first() {
            let Some((folder, _)) = path.split_once('/') else {
                entries.push((path.as_bytes().to_vec(), entry(&format!("{:o}", *mode as u32), path, id)));
                rest = &rest[1..];
                continue;
            };
            let prefix = format!("{folder}/");
            let inside = rest.iter().take_while(|(path, ..)| path.starts_with(&prefix)).count();
            let inner: Vec<_> =
                rest[..inside].iter().map(|(path, mode, id)| (&path[prefix.len()..], *mode, *id)).collect();
            let id = self.tree(&inner)?;
            // Git sorts a folder as if its name ended in a slash.
            entries.push((prefix.as_bytes().to_vec(), entry("40000", folder, &id)));
            rest = &rest[inside..];
        }
        entries.sort();
        let content: Vec<u8> = entries.into_iter().flat_map(|(_, entry)| entry).collect();
        self.add(2, "tree", &content)
    }

    pub(super) fn commit(
        &mut self,
        tree: &ObjectId,
        parent: Option<&ObjectId>,
        seconds: u64,
        message: &str,
    ) -> io::Result<ObjectId> {
        let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        let who = format!("{AUTHOR} <{ADDRESS}> {seconds} +0000");
        self.add(1, "commit", format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{message}\n").as_bytes())
    }

    fn add(&mut self, kind: u8, name: &str, content: &[u8]) -> io::Result<ObjectId> {
        let mut hash = Sha1::new();
        hash.update(format!("{name} {}\0", content.len()).as_bytes());
        hash.update(content);
        let id = ObjectId(hash.digest().bytes());
        if self.places.contains_key(&id) {
            return Ok(id);
        }
        let start = self.body.len();
        let offset = u32::try_from(start + PACK_HEADER).ok().filter(|&offset| offset < 1 << 31);
        let offset =
            offset.ok_or_else(|| io::Error::other("a case with more than 2 GiB of packed code is too large"))?;
        header(&mut self.body, kind, content.len());
        let mut packed = ZlibEncoder::new(&mut self.body, Compression::fast());
        packed.write_all(content)?;
        packed.finish()?;
        let mut checksum = flate2::Crc::new();
        checksum.update(&self.body[start..]);
        self.places.insert(id, (offset, checksum.sum()));
        Ok(id)
    }

    pub(super) fn finish(self) -> Packed {
        let count = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let mut pack = Vec::with_capacity(self.body.len() + PACK_HEADER + 20);
        pack.extend(b"PACK\0\0\0\x02");
        pack.extend(count.to_be_bytes());
        pack.extend(self.body);
        let checksum = Sha1::from(&pack).digest().bytes();
        pack.extend(checksum);

        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..=u8::MAX {
            let upto = self.places.keys().filter(|id| id.0[0] <= first).count();
            index.extend(u32::try_from(upto).unwrap_or(u32::MAX).to_be_bytes());
        }
        self.places.keys().for_each(|id| index.extend(id.0));
        self.places.values().for_each(|(_, crc)| index.extend(crc.to_be_bytes()));
        self.places.values().for_each(|(offset, _)| index.extend(offset.to_be_bytes()));
        index.extend(checksum);
        index.extend(Sha1::from(&index).digest().bytes());
        Packed { name: format!("pack-{}", ObjectId(checksum)), pack, index }
    }
}

pub(super) const AUTHOR: &str = "Karat";
pub(super) const ADDRESS: &str = "karat@localhost";

fn entry(mode: &str, name: &str, id: &ObjectId) -> Vec<u8> {
    let mut entry = format!("{mode} {name}\0").into_bytes();
    entry.extend(id.0);
    entry
}

/// Kind and length before a packed object: four bits of the length first, then seven at a time, the lowest first.
fn header(out: &mut Vec<u8>, kind: u8, length: usize) {
    let mut rest = length >> 4;
    out.push((kind << 4) | (length & 15) as u8 | if rest > 0 { 128 } else { 0 });
    while rest > 0 {
        let low = (rest & 127) as u8;
        rest >>= 7;
        out.push(low | if rest > 0 { 128 } else { 0 });
    }
}

/// Git's index of these files, which are sorted by path, with their metadata: so git sees at once that nothing changed.
pub(super) fn index(entries: &[(&str, Mode, ObjectId, Metadata)]) -> Vec<u8> {
    let mut out = b"DIRC\0\0\0\x02".to_vec();
    out.extend(u32::try_from(entries.len()).unwrap_or(u32::MAX).to_be_bytes());
    for (path, mode, id, meta) in entries {
        let start = out.len();
        for number in status(meta, *mode) {
            out.extend(number.to_be_bytes());
        }
        out.extend(id.0);
        out.extend(u16::try_from(path.len()).unwrap_or(u16::MAX).min(0xfff).to_be_bytes());
        out.extend(path.as_bytes());
        // Each entry ends in one to eight zero bytes, so that the next begins at a multiple of eight.
        let padded = (out.len() - start) / 8 * 8 + 8;
        out.resize(start + padded, 0);
    }
    out.extend(Sha1::from(&out).digest().bytes());
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
        mode as u32,
        meta.uid(),
        meta.gid(),
        low(meta.size()),
    ]
}
