//! Writing into a folder that may come from a stranger, such as a suite's: a link in it could lead to any file of the user's.

use super::package::make_parents;
use crate::failure::{Failure, Result};
use karat_io::atomic_write;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file below a folder, whole or not at all, with the folders above it. A link in its place or above it is refused.
pub fn write_below(folder: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    make_parents(folder, Path::new(path))?;
    refuse_links(folder, path)?;
    atomic_write::write(&folder.join(path), &mut |out| out.write_all(bytes))
}

/// Writes changed files of a suite by their paths in it, or none of them if one could lead out of it.
pub fn write_changed(suite: &Path, changed: &BTreeMap<String, String>) -> Result<Vec<PathBuf>> {
    let failed = |path: &str, error| Failure::unwritten(suite.join(path).display(), error);
    for path in changed.keys() {
        refuse_links(suite, path).map_err(|error| failed(path, error))?;
    }
    let mut written = Vec::new();
    for (path, text) in changed {
        write_below(suite, path, text.as_bytes()).map_err(|error| failed(path, error))?;
        written.push(suite.join(path));
    }
    Ok(written)
}

/// Refuses a path below a folder that could not be written without leaving the folder. Nothing is written.
pub fn refuse_links(folder: &Path, path: &str) -> io::Result<()> {
    let mut here = folder.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        here.push(part);
        let is_expected = match fs::symlink_metadata(&here) {
            Ok(there) if parts.peek().is_none() => there.is_file(),
            Ok(there) => there.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if !is_expected {
            let what = if parts.peek().is_none() { "file" } else { "folder" };
            let message = format!("{} is not a {what}, and a link is not followed; remove it", here.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_refused_and_not_followed() {
        let all = tempfile::tempdir().unwrap();
        let (suite, other) = (all.path().join("suite"), all.path().join("other"));
        fs::create_dir_all(suite.join("cases")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("profile"), "mine").unwrap();
        symlink(other.join("profile"), suite.join("proofs.json")).unwrap();
        symlink("cases.jsonl", suite.join("inner")).unwrap();
        symlink(&other, suite.join("away")).unwrap();
        symlink(other.join("missing"), suite.join("dangling")).unwrap();
        for path in ["proofs.json", "inner", "away/profile", "away/new", "away/deep/new", "dangling", "cases"] {
            assert!(write_below(&suite, path, b"theirs").is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(other.join("profile")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
        let changed = |path: &str| {
            BTreeMap::from([("a.yaml", "new"), (path, "new")].map(|(path, text)| (path.to_owned(), text.to_owned())))
        };
        assert!(write_changed(&suite, &changed("away/profile")).is_err());
        assert!(!suite.join("a.yaml").exists(), "none of several is written");
        assert_eq!(
            write_changed(&suite, &changed("b.yaml")).unwrap(),
            ["a.yaml", "b.yaml"].map(|path| suite.join(path))
        );
        for text in ["one", "two"] {
            write_below(&suite, "cases/a/case.yaml", text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(suite.join("cases/a/case.yaml")).unwrap(), text);
        }
    }
}
