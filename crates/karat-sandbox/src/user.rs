//! Which user a tool runs as. Root could write to the system's files even without capabilities, so it is avoided if possible.

use super::availability::available;
use super::isolation::Isolation;
use super::job::Access;
use super::system_paths::NOBODY;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};

/// The user a tool runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolUser {
    /// The user that Karat runs as, who is not root.
    Own,
    /// Karat runs as root, and the tool as an unprivileged user.
    Unprivileged,
    /// Karat runs as root and so does the tool, on Linux without capabilities, for this reason.
    Root(String),
}

impl ToolUser {
    /// A note for the description of a run's isolation, where there is something to say.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Own => None,
            Self::Unprivileged => Some("unprivileged user".to_owned()),
            Self::Root(why) => Some(format!("as root ({why})")),
        }
    }
}

/// The user that a tool with the folder `root` and this access runs as.
pub fn tool_user(isolation: Isolation, root: &Path, access: &Access) -> ToolUser {
    if !rustix::process::geteuid().is_root() {
        return ToolUser::Own;
    }
    if cfg!(not(target_os = "linux")) {
        return ToolUser::Root("only on Linux tools run as another user".to_owned());
    }
    if let Some(path) = access.writable.first() {
        return ToolUser::Root(format!("it may write to {}", path.display()));
    }
    let own_mounts = isolation == Isolation::Bubblewrap;
    if own_mounts && available().bubblewrap.as_ref().is_ok_and(|bubblewrap| bubblewrap.setpriv.is_none()) {
        return ToolUser::Root("`setpriv` of util-linux is not installed".to_owned());
    }
    // Bubblewrap creates the parent folders anew, so only the permissions of the path itself count there.
    let readable = |path: &Path| is_readable_by_others(path) && (own_mounts || is_reachable_by_others(path));
    let readable_paths = access.readable.iter().filter_map(|path| path.canonicalize().ok());
    let closed = readable_paths.into_iter().find(|path| !readable(path));
    let closed = closed.or_else(|| (!own_mounts && !is_reachable_by_others(root)).then(|| root.to_owned()));
    let because = |path: PathBuf| ToolUser::Root(format!("no other user can read {}", path.display()));
    closed.map_or(ToolUser::Unprivileged, because)
}

fn is_readable_by_others(path: &Path) -> bool {
    let needed = if path.is_dir() { 0o005 } else { 0o004 };
    path.metadata().is_ok_and(|about| about.mode() & needed == needed)
}

fn is_reachable_by_others(path: &Path) -> bool {
    path.ancestors().skip(1).all(|folder| folder.metadata().is_ok_and(|about| about.mode() & 0o001 != 0))
}

/// Makes the unprivileged user the owner of a folder and everything in it. Links are not followed.
pub(super) fn give_to_nobody(folder: &Path) -> io::Result<()> {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    lchown(folder, Some(NOBODY), Some(NOBODY))?;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            lchown(entry.path(), Some(NOBODY), Some(NOBODY))?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}
