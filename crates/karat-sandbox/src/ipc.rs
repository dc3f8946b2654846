//! Length-prefixed JSON messages over a socket pair between Karat and a process it started of itself.
//!
//! The child's end is its standard input. A pair of pipes would need a fourth inheritable file, which other children started at
//! the same moment would inherit too.

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// How often a blocking wait checks for cancellation.
pub(super) const CANCEL_POLL: Duration = Duration::from_millis(50);

/// Whether an error means that the other side is gone.
pub(super) fn is_disconnected(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// Both ends, neither of which is inherited by default.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(not(target_vendor = "apple"))]
    let flags = SocketFlags::CLOEXEC;
    #[cfg(target_vendor = "apple")]
    let flags = SocketFlags::empty();
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    if cfg!(target_vendor = "apple") {
        for end in [&ours, &theirs] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
    }
    Ok((ours, theirs))
}

/// The end that this process was started with, duplicated so that its children do not inherit it.
pub(super) fn inherited() -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?)
}

pub(super) fn send(to: BorrowedFd<'_>, value: &impl Serialize) -> io::Result<()> {
    send_frame(to, &serde_json::to_vec(value)?)
}

/// Sends bytes with a length prefix.
pub(super) fn send_frame(to: BorrowedFd<'_>, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(|_| io::Error::other("the message is longer than 4 GiB"))?;
    send_bytes(to, &length.to_le_bytes())?;
    send_bytes(to, body)
}

/// Sends bytes without a length prefix.
pub(super) fn send_bytes(to: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let sent = rustix::io::retry_on_intr(|| rustix::io::write(to, bytes))?;
        bytes = bytes.get(sent..).unwrap_or_default();
    }
    Ok(())
}

/// Receives a value and reads not one byte beyond it. `None` where the other side closed without sending anything.
pub(super) fn receive<T: DeserializeOwned>(from: BorrowedFd<'_>) -> io::Result<Option<T>> {
    let Some(body) = receive_frame(from)? else { return Ok(None) };
    Ok(Some(serde_json::from_slice(&body)?))
}

/// Receives bytes with a length prefix. `None` where the other side closed without sending anything.
pub(super) fn receive_frame(from: BorrowedFd<'_>) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if !fill(from, &mut length)? {
        return Ok(None);
    }
    let mut body = Vec::new();
    let mut left = u32::from_le_bytes(length) as usize;
    let mut chunk = [0; 64 << 10];
    while left > 0 {
        let most = left.min(chunk.len());
        let count = rustix::io::retry_on_intr(|| rustix::io::read(from, chunk.get_mut(..most).unwrap_or_default()))?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        body.extend_from_slice(chunk.get(..count).unwrap_or_default());
        left -= count;
    }
    Ok(Some(body))
}

/// Reads until `into` is full; `false` at once at the end of the stream.
fn fill(from: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::io::retry_on_intr(|| rustix::io::read(from, &mut *rest))? {
            0 if filled == 0 => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiving_a_value_reads_nothing_beyond_it() {
        let (ours, theirs) = pair().unwrap();
        send(ours.as_fd(), &vec!["a", "ü\n"]).unwrap();
        send_bytes(ours.as_fd(), b"t").unwrap();
        assert_eq!(receive::<Vec<String>>(theirs.as_fd()).unwrap().unwrap(), ["a", "ü\n"]);
        let mut byte = [0; 4];
        assert_eq!(rustix::io::read(&theirs, &mut byte).unwrap(), 1);
        drop(ours);
        assert!(receive::<String>(theirs.as_fd()).unwrap().is_none());
    }

    #[test]
    fn truncated_message_is_an_error() {
        let (ours, theirs) = pair().unwrap();
        send_bytes(ours.as_fd(), &[9, 0, 0, 0, b'"']).unwrap();
        drop(ours);
        assert!(receive::<String>(theirs.as_fd()).is_err());
    }
}
