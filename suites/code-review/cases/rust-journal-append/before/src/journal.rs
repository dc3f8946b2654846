use std::io::{self, Write};

use crate::checksum::checksum;

/// The largest payload of a record.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// Appends records to a writer.
pub struct Journal<W> {
    out: W,
    position: u64,
}

impl<W: Write> Journal<W> {
    /// Continues a journal whose next byte has the given position.
    pub fn new(out: W, position: u64) -> Self {
        Self { out, position }
    }

    /// Appends a record and returns its position.
    pub fn append(&mut self, payload: &[u8]) -> io::Result<u64> {
        if payload.len() > MAX_PAYLOAD {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "payload is too large"));
        }
        self.out.write_all(&(payload.len() as u32).to_le_bytes())?;
        self.out.write_all(&checksum(payload).to_le_bytes())?;
        self.out.write_all(payload)?;
        let start = self.position;
        self.position += 8 + payload.len() as u64;
        Ok(start)
    }

    /// Passes everything on to the device.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
