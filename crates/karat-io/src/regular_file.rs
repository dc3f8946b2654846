//! Opens files that were found in a folder rather than named by the user: regular ones only, since opening a named pipe blocks
//! and reading a device may never end. Paths on the command line are not opened through here, so that `/dev/stdin` and `<(…)` work.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file for reading, following links. Never blocks.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening some devices has side effects.
    check(path, std::fs::metadata(path)?.file_type())?;
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // It may have been replaced in between.
    check(path, file.metadata()?.file_type())?;
    Ok(file)
}

/// The bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// The text of a file that a setting names. Paths below `/dev`, such as those from a shell, are opened as they are.
pub fn read_named(path: &Path) -> io::Result<String> {
    if path.starts_with("/dev") { std::fs::read_to_string(path) } else { read_to_string(path) }
}

fn check(path: &Path, kind: FileType) -> io::Result<()> {
    let what = if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        // Reading a folder fails by itself.
        return Ok(());
    };
    let message = format!("{} is {what}, not a regular file; replace it with a regular file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert_eq!(read_to_string(&at("link")).unwrap(), "text");
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("to-pipe")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("to-device")).unwrap();
        for (name, what) in
            [("pipe", "a named pipe"), ("to-pipe", "a named pipe"), ("socket", "a socket"), ("to-device", "a device")]
        {
            let error = read(&at(name)).unwrap_err();
            let expect =
                format!("{} is {what}, not a regular file; replace it with a regular file", at(name).display());
            assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::InvalidInput, expect));
        }
        assert_eq!(read(&at("absent")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(read(folder.path()).is_err());
    }
}
