//! Removing what a tool left behind, however it left it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Removes a folder and all below it; links are removed, never followed. Folders that were made unreadable are opened up.
///
/// A tool may nest folders deeper than any stack or table of open files is. So nothing recurses here: folders inside folders
/// are moved up to the top before their own turn comes, and no path grows longer than three names.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_dir() => return fs::remove_file(path),
        Ok(_) => open_up(path),
    }
    let mut next = 0_u64;
    loop {
        let folders = clear(path)?;
        if folders.is_empty() {
            break;
        }
        for folder in folders {
            open_up(&folder);
            for inner in clear(&folder)? {
                // A folder can only be moved when it may be written to itself.
                open_up(&inner);
                lift(&inner, path, &mut next)?;
            }
            fs::remove_dir(&folder)?;
        }
    }
    fs::remove_dir(path)
}

/// Removes everything in a folder but folders, which are given back.
fn clear(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { folders.push(entry.path()) } else { fs::remove_file(entry.path())? }
    }
    Ok(folders)
}

/// Moves a folder into another, under a name that nothing there has.
fn lift(folder: &Path, into: &Path, next: &mut u64) -> io::Result<()> {
    loop {
        let place = into.join(format!("{next}"));
        *next += 1;
        if fs::symlink_metadata(&place).is_err() {
            return fs::rename(folder, place);
        }
    }
}

fn open_up(folder: &Path) {
    // What cannot be opened up cannot be removed, and the removal says so.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}
