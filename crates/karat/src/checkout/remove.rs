//! Removing what a tool left behind, however it left it.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder and all below it; links are removed, never followed. Folders that were made unreadable are opened up first.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

#[cfg(unix)]
fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        // What cannot be opened up cannot be removed, and the removal says so.
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
}

#[cfg(not(unix))]
fn open_up(_folder: &Path) {}
