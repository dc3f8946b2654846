//! Reads parts of the archive into memory; nothing is written, whatever the names.

use crate::ingest::{IngestError, Source, limits};
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::result::ZipError;

pub(super) struct Package<'a> {
    source: &'a Source<'a>,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    left: usize,
}

impl<'a> Package<'a> {
    pub(super) fn open(source: &'a Source<'a>) -> Result<Self, IngestError> {
        let archive = ZipArchive::new(Cursor::new(source.bytes)).map_err(|error| {
            let message = format!(
                "this is no .docx, which is a zip archive ({error}); open it in a word processor and save it again"
            );
            source.malformed("", message)
        })?;
        if archive.len() > source.limits.entries {
            return Err(source.too_much("the number of entries of the archive", source.limits.entries));
        }
        Ok(Self { source, archive, left: source.limits.unpacked_bytes })
    }

    /// A part as text; `None` if missing.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, IngestError> {
        let source = self.source;
        let damaged = |error: &dyn std::fmt::Display| {
            source
                .malformed(name, format!("this part cannot be unpacked ({error}); open the document and save it again"))
        };
        let entry = match self.archive.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                let what = "an archive with a password";
                return Err(IngestError::Encrypted { name: source.name.to_owned(), what });
            }
            Err(error) => return Err(damaged(&error)),
        };
        let most = self.left.min(source.limits.part_bytes);
        let mut bytes = Vec::new();
        // The sizes stated by the archive are not trusted.
        let read = entry.take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| damaged(&error))?;
        if bytes.len() > most {
            return Err(source.too_much(format!("{name}, unpacked,"), limits::bytes(most)));
        }
        self.left -= bytes.len();
        Ok(Some(encoding_rs::UTF_8.decode(&bytes).0.into_owned()))
    }
}
