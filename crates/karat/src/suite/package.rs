//! A suite as parts that travel through a store by their content hash, so that a worker needs no checkout of it.
//!
//! Each case is a part of its own: runs of a suite in which few cases changed share the parts of the others.

use crate::failure::{Failure, Result};
use karat_io::files::Files;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path};

/// The most bytes of a suite that is sent to a store.
const MAX_BYTES: usize = 2 << 30;

/// Small files that belong to no case are put together up to this size.
const MAX_SHARED_PART: usize = 4 << 20;

/// What a suite's folder may also contain, and no trial needs.
const LEFT_OUT: [&str; 3] = [".git", ".karat", "target"];

const PLAIN: u8 = b'f';
const EXECUTABLE: u8 = b'x';
const LINK: u8 = b'l';

/// The files of a suite as parts, in a fixed order: equal suites give equal parts.
pub(crate) fn pack(files: &Files) -> Result<Vec<Vec<u8>>> {
    let named = || files.display("");
    let found = files.walk("").map_err(|error| Failure::io(named(), error))?;
    // A link that leads out of the suite is sent as it is, and leads nowhere there.
    let mut paths: Vec<String> = found.files.into_iter().chain(found.refused).collect();
    paths.retain(|path| !LEFT_OUT.contains(&path.split('/').next().unwrap_or_default()));
    paths.sort();
    let mut cases: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut shared = vec![Vec::new()];
    let mut total = 0_usize;
    for path in paths {
        let (mode, contents) = read_entry(files, &path).map_err(|error| Failure::io(files.display(&path), error))?;
        total = total.saturating_add(contents.len());
        if total > MAX_BYTES {
            return Err(Failure::bad_input(format!(
                "{} has more than {} MiB of files, which is too much to send to workers; move what is no part of the \
                 suite out of its folder",
                named(),
                MAX_BYTES >> 20
            )));
        }
        let part = match case_of(&path) {
            Some(case) => cases.entry(case.to_owned()).or_default(),
            None => {
                if shared.last().is_some_and(|part| part.len() + contents.len() > MAX_SHARED_PART) {
                    shared.push(Vec::new());
                }
                // There is always one.
                let last = shared.len() - 1;
                &mut shared[last]
            }
        };
        append(part, mode, &path, &contents).ok_or_else(|| {
            Failure::bad_input(format!("{} is larger than 4 GiB, which is too much to send", files.display(&path)))
        })?;
    }
    shared.retain(|part| !part.is_empty());
    Ok(shared.into_iter().chain(cases.into_values()).collect())
}

/// Writes the files of a part into a folder. Nothing is written outside of it, whatever the part says.
pub(crate) fn unpack(mut part: &[u8], folder: &Path) -> io::Result<()> {
    while !part.is_empty() {
        let (mode, path, contents) = take_entry(&mut part).ok_or_else(|| invalid("a part of the suite is damaged"))?;
        let relative = Path::new(path);
        let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || path.is_empty() {
            return Err(invalid(format!("a part of the suite names the file `{path}`, which is outside of it")));
        }
        let full = folder.join(relative);
        make_parents(folder, relative)?;
        match mode {
            LINK => symlink(std::ffi::OsString::from_vec(contents.to_vec()), &full)?,
            _ => {
                let mut options = fs::OpenOptions::new();
                // An existing entry could be a link that leads out of the folder.
                let mut file = options.write(true).create_new(true).open(&full)?;
                io::Write::write_all(&mut file, contents)?;
                let permissions = if mode == EXECUTABLE { 0o755 } else { 0o644 };
                file.set_permissions(fs::Permissions::from_mode(permissions))?;
            }
        }
    }
    Ok(())
}

/// Creates the folders above a file, refusing to pass through a link that another entry has put there.
pub(super) fn make_parents(folder: &Path, relative: &Path) -> io::Result<()> {
    let mut here = folder.to_owned();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        here.push(part);
        match fs::symlink_metadata(&here) {
            Ok(there) if there.is_dir() => {}
            Ok(_) => return Err(invalid(format!("{} is no folder", here.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&here)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The case that a path belongs to, where cases are folders.
fn case_of(path: &str) -> Option<&str> {
    let (case, _) = path.strip_prefix("cases/")?.split_once('/')?;
    Some(case)
}

fn read_entry(files: &Files, path: &str) -> io::Result<(u8, Vec<u8>)> {
    if let Files::Disk(root) = files {
        let full = root.join(path);
        let meta = fs::symlink_metadata(&full)?;
        if meta.is_symlink() {
            return Ok((LINK, fs::read_link(&full)?.as_os_str().as_bytes().to_vec()));
        }
        let contents = karat_io::regular_file::read(&full)?;
        let is_executable = meta.permissions().mode() & 0o111 != 0;
        return Ok((if is_executable { EXECUTABLE } else { PLAIN }, contents));
    }
    let contents = files.read(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    Ok((PLAIN, contents))
}

/// Adds a file: its mode, the length of its path, the path, the length of its contents and the contents, with lengths of four
/// bytes, the lowest first. `None` where a length does not fit.
fn append(part: &mut Vec<u8>, mode: u8, path: &str, contents: &[u8]) -> Option<()> {
    part.push(mode);
    for bytes in [path.as_bytes(), contents] {
        part.extend(u32::try_from(bytes.len()).ok()?.to_le_bytes());
        part.extend(bytes);
    }
    Some(())
}

fn take_entry<'b>(part: &mut &'b [u8]) -> Option<(u8, &'b str, &'b [u8])> {
    let mode = *part.split_off_first()?;
    let path = std::str::from_utf8(take_counted(part)?).ok()?;
    Some((mode, path, take_counted(part)?))
}

fn take_counted<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
    bytes.split_off(..usize::try_from(length).ok()?)
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(parts: &[Vec<u8>]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        parts.iter().for_each(|part| unpack(part, folder.path()).unwrap());
        folder
    }

    #[test]
    fn suite_round_trips_with_modes_and_links() {
        let suite = tempfile::tempdir().unwrap();
        let root = suite.path();
        for folder in ["cases/a/after", "cases/b", ".karat", ".git", "tools"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let files = [
            ("karat.toml", "x"),
            ("cases/a/after/f.py", "print()"),
            ("cases/b/case.yaml", ""),
            (".karat/karat.db", "secret"),
            (".git/HEAD", "ref"),
            ("tools/run.sh", "#!/bin/sh"),
        ];
        for (path, contents) in files {
            fs::write(root.join(path), contents).unwrap();
        }
        fs::set_permissions(root.join("tools/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("f.py", root.join("cases/a/after/link.py")).unwrap();
        let parts = pack(&Files::Disk(root.to_owned())).unwrap();
        assert_eq!(parts.len(), 3, "what is shared, and each case");
        let folder = unpacked(&parts);
        let there = |path: &str| folder.path().join(path);
        assert_eq!(fs::read_to_string(there("cases/a/after/f.py")).unwrap(), "print()");
        assert_eq!(fs::read_link(there("cases/a/after/link.py")).unwrap(), Path::new("f.py"));
        assert_eq!(fs::metadata(there("tools/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(!there(".karat").exists() && !there(".git").exists());
        assert_eq!(pack(&Files::Disk(folder.path().to_owned())).unwrap(), parts, "packing is repeatable");
    }

    #[test]
    fn nothing_is_written_outside_the_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("suite");
        fs::create_dir(&folder).unwrap();
        for path in ["../escaped", "/tmp/karat-escaped", "a/../../escaped", ""] {
            let mut part = Vec::new();
            append(&mut part, PLAIN, path, b"x").unwrap();
            assert!(unpack(&part, &folder).is_err(), "{path:?}");
        }
        let mut part = Vec::new();
        append(&mut part, LINK, "out", b"..").unwrap();
        append(&mut part, PLAIN, "out/escaped", b"x").unwrap();
        assert!(unpack(&part, &folder).is_err());
        let mut part = Vec::new();
        append(&mut part, LINK, "file", b"../escaped").unwrap();
        append(&mut part, PLAIN, "file", b"x").unwrap();
        assert!(unpack(&part, &folder).is_err());
        assert!(!parent.path().join("escaped").exists());
        assert!(unpack(&[PLAIN, 9, 0, 0, 0, b'x'], &folder).is_err(), "cut off");
    }
}
