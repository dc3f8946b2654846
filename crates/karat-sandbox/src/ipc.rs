//! Length-prefixed JSON messages over a socket pair between Karat and a process it started of itself.
//!
//! The child's end is its standard input. A pair of pipes would need a fourth inheritable file, which other children started at
//! the same moment would inherit too.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

/// How often a blocking wait checks for cancellation.
pub(super) const CANCEL_POLL: Duration = Duration::from_millis(50);

pub(super) fn is_disconnected(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

pub(super) fn this_executable() -> io::Result<PathBuf> {
    // The link in /proc leads to what is running even where a newer version has replaced the file.
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Starts this process once more, with the same arguments.
pub(super) fn spawn_self() -> io::Result<(Child, Connection)> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new(this_executable()?);
    command.args(std::env::args_os().skip(1)).env_clear().stdin(OwnedFd::from(theirs));
    Ok((command.spawn()?, Connection(ours)))
}

/// One end of the connection between Karat and a process it started of itself.
pub struct Connection(pub(super) UnixStream);

impl Connection {
    /// The end that this process was started with, duplicated so that its children do not inherit it.
    pub(super) fn inherited() -> io::Result<Self> {
        Ok(Self(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?.into()))
    }

    /// Sends a value.
    pub fn send(&self, value: &impl Serialize) -> io::Result<()> {
        self.send_bytes(&serde_json::to_vec(value)?)
    }

    /// Sends bytes.
    pub fn send_bytes(&self, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len()).map_err(|_| io::Error::other("the message is longer than 4 GiB"))?;
        (&self.0).write_all(&length.to_le_bytes())?;
        (&self.0).write_all(body)
    }

    /// Waits for a value. A closed connection is an error.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<T> {
        Ok(serde_json::from_slice(&self.receive_bytes()?)?)
    }

    /// Waits for bytes. A closed connection is an error.
    pub fn receive_bytes(&self) -> io::Result<Vec<u8>> {
        self.receive_frame()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Waits for a value; `None` where the other side closed without sending anything.
    pub(super) fn receive_or_end<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        let Some(body) = self.receive_frame()? else { return Ok(None) };
        Ok(Some(serde_json::from_slice(&body)?))
    }

    /// Receives bytes with a length prefix and reads not one byte beyond them.
    fn receive_frame(&self) -> io::Result<Option<Vec<u8>>> {
        let mut length = Vec::new();
        (&self.0).take(4).read_to_end(&mut length)?;
        if length.is_empty() {
            return Ok(None);
        }
        let length: [u8; 4] = length.try_into().map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let length = u64::from(u32::from_le_bytes(length));
        let mut body = Vec::new();
        let count = (&self.0).take(length).read_to_end(&mut body)?;
        if count as u64 == length { Ok(Some(body)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiving_a_value_reads_nothing_beyond_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut ours, theirs) = (Connection(ours), Connection(theirs));
        ours.send(&vec!["a", "ü\n"]).unwrap();
        ours.0.write_all(b"t").unwrap();
        assert_eq!(theirs.receive::<Vec<String>>().unwrap(), ["a", "ü\n"]);
        let mut byte = [0; 4];
        assert_eq!(rustix::io::read(&theirs.0, &mut byte).unwrap(), 1);
        drop(ours);
        assert!(theirs.receive_or_end::<String>().unwrap().is_none());
    }

    #[test]
    fn truncated_message_is_an_error() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(&[9, 0, 0, 0, b'"']).unwrap();
        drop(ours);
        assert!(Connection(theirs).receive_or_end::<String>().is_err());
    }
}
