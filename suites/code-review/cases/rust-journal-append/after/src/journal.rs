use std::io::{self, Write};

use crate::checksum::checksum;

/// The largest payload of a record.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// Appends records to a writer.
pub struct Journal<W> {
    out: W,
    position: u64,
    record: Vec<u8>,
}

impl<W: Write> Journal<W> {
    /// Continues a journal whose next byte has the given position.
    pub fn new(out: W, position: u64) -> Self {
        Self { out, position, record: Vec::new() }
    }

    /// Appends a record and returns its position.
    pub fn append(&mut self, payload: &[u8]) -> io::Result<u64> {
        if payload.len() > MAX_PAYLOAD {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "payload is too large"));
        }
        let length = payload.len() as u32;
        self.record.clear();
        self.record.extend_from_slice(&length.to_le_bytes());
        self.record.extend_from_slice(&checksum(payload).to_le_bytes());
        self.record.extend_from_slice(payload);
        let start = self.position;
        let written = self.out.write(&self.record)?;
        self.position += written as u64;
        Ok(start)
    }

    /// Appends several records and returns their positions. Those before an error stay in the journal.
    pub fn append_all<'a>(&mut self, payloads: impl IntoIterator<Item = &'a [u8]>) -> io::Result<Vec<u64>> {
        payloads.into_iter().map(|payload| self.append(payload)).collect()
    }

    /// The position of the next record.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Passes everything on to the device.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Gives the writer back, for instance to rotate the file.
    pub fn into_inner(self) -> W {
        self.out
    }
}
