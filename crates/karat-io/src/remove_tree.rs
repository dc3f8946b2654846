//! Removes a folder that a tool left behind, whatever its permissions and depth.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Removes a folder and all below it; links are removed, never followed. Unreadable folders are made accessible first.
///
/// A tool may nest folders deeper than the stack or the limit on open files. So nothing recurses here: nested folders are
/// moved up to the top first, and no path grows longer than three names.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_dir() => return fs::remove_file(path),
        Ok(_) => make_accessible(path),
    }
    let mut next = 0_u64;
    loop {
        let folders = clear(path)?;
        if folders.is_empty() {
            break;
        }
        for folder in folders {
            make_accessible(&folder);
            for inner in clear(&folder)? {
                // A folder can only be moved when it may be written to itself.
                make_accessible(&inner);
                move_up(&inner, path, &mut next)?;
            }
            fs::remove_dir(&folder)?;
        }
    }
    fs::remove_dir(path)
}

/// Removes everything in a folder but folders, which are returned.
fn clear(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { folders.push(entry.path()) } else { fs::remove_file(entry.path())? }
    }
    Ok(folders)
}

/// Moves a folder into another, under a name that nothing there has.
fn move_up(folder: &Path, into: &Path, next: &mut u64) -> io::Result<()> {
    loop {
        let place = into.join(format!("{next}"));
        *next += 1;
        if fs::symlink_metadata(&place).is_err() {
            return fs::rename(folder, place);
        }
    }
}

fn make_accessible(folder: &Path) {
    // If this fails, the removal fails and reports it.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}
