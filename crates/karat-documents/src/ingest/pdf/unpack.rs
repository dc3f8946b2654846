//! Unpacks PDF streams within limits.

use crate::ingest::{DocumentError, Result, Source, size};
use flate2::read::ZlibDecoder;
use pdf_extract::{Object, Stream, dictionary};
use std::io::Read;

/// LZW expands by at most this factor: a 12-bit code stands for at most 4,096 bytes.
const MOST_OF_LZW: usize = 2731;

pub(super) struct Unpacker<'a> {
    source: &'a Source<'a>,
    left: usize,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(source: &'a Source<'a>) -> Self {
        Self { source, left: source.limits.unpacked_bytes }
    }

    /// Rejects object streams that would fill the memory when opened. Other streams stay packed until used.
    pub(super) fn check_objects(&mut self) -> Result<()> {
        let bytes = self.source.bytes;
        let mut previous = 0;
        for at in memchr::memmem::find_iter(bytes, b"stream") {
            let before = &bytes[previous..at];
            previous = at;
            if before.ends_with(b"end") {
                continue;
            }
            let from = memchr::memmem::rfind(before, b"obj").unwrap_or_default();
            let dictionary = &before[from..];
            let states = |word: &[u8]| memchr::memmem::find(dictionary, word).is_some();
            // Names may contain escapes, so those are examined too.
            if !(states(b"ObjStm") || states(b"XRef") || dictionary.contains(&b'#')) {
                continue;
            }
            let packed = bytes[at + b"stream".len()..].trim_ascii_start();
            let twice = memchr::memmem::find_iter(dictionary, b"Decode")
                .filter(|at| !dictionary[*at..].starts_with(b"DecodeParms"));
            if twice.count() > 1 || states(b"LZW") {
                let message = "its objects are packed in a way that no program uses; open it and print it to a new PDF";
                return Err(self.source.unreadable(message));
            }
            self.left -= self.inflated(packed)?;
        }
        Ok(())
    }

    /// The content of a stream; `None` for images and unknown filters.
    pub(super) fn stream(&mut self, stream: &Stream, most: usize) -> Result<Option<Vec<u8>>> {
        let filters: Vec<Vec<u8>> = stream.filters().unwrap_or_default().into_iter().map(<[u8]>::to_vec).collect();
        let mut content = stream.content.clone();
        for filter in filters {
            let likely = match filter.as_slice() {
                b"FlateDecode" => self.inflated(&content)?,
                b"LZWDecode" => content.len().saturating_mul(MOST_OF_LZW),
                b"ASCII85Decode" => content.len().saturating_mul(4),
                _ => return Ok(None),
            };
            if likely > self.left.min(most) {
                return Err(self.too_much());
            }
            let mut dictionary = dictionary! { "Filter" => Object::Name(filter) };
            if let Ok(Object::Dictionary(parameters)) = stream.dict.get(b"DecodeParms") {
                dictionary.set("DecodeParms", parameters.clone());
            }
            match Stream::new(dictionary, content).decompressed_content() {
                Ok(unpacked) => content = unpacked,
                Err(_) => return Ok(None),
            }
            self.left = self.left.saturating_sub(content.len());
        }
        Ok(Some(content))
    }

    /// The inflated size; damaged data counts up to the damage.
    fn inflated(&self, packed: &[u8]) -> Result<usize> {
        let most = self.left;
        let mut decoder = ZlibDecoder::new(packed);
        let (mut block, mut size) = (vec![0; 1 << 16], 0);
        while let Ok(n @ 1..) = decoder.read(&mut block) {
            size += n;
            if size > most {
                return Err(self.too_much());
            }
        }
        Ok(size)
    }

    fn too_much(&self) -> DocumentError {
        self.source.too_much("what is packed in it", size(self.source.limits.unpacked_bytes))
    }
}
