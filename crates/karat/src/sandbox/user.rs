//! Which user a tool runs as. Under root it is an unprivileged one wherever that can work: the owner of system files may write to
//! them even without capabilities.

use super::isolation::Isolation;
use super::job::View;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};

/// The user and group that own nothing, by convention `nobody` and `nogroup`.
pub(super) const UNPRIVILEGED: u32 = 65_534;

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
    /// What belongs in the line about isolation; nothing where there is nothing to add.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Own => None,
            Self::Unprivileged => Some("unprivileged user".to_owned()),
            Self::Root(why) => Some(format!("as root ({why})")),
        }
    }
}

/// The user that a tool runs as which is given `root` as its own folder and `view` beside it.
pub fn tool_user(isolation: Isolation, root: &Path, view: &View) -> ToolUser {
    if !rustix::process::geteuid().is_root() {
        return ToolUser::Own;
    }
    if cfg!(not(target_os = "linux")) {
        return ToolUser::Root("only on Linux tools run as another user".to_owned());
    }
    if let Some(path) = view.writable.first() {
        return ToolUser::Root(format!("it may write to {}", path.display()));
    }
    let own_mounts = isolation == Isolation::Bubblewrap;
    if own_mounts && super::available().bubblewrap.as_ref().is_ok_and(|bubblewrap| bubblewrap.setpriv.is_none()) {
        return ToolUser::Root("`setpriv` of util-linux is not installed".to_owned());
    }
    // In a file system of its own only the last part of a path counts: the folders above it are made anew.
    let readable = |path: &Path| is_readable_by_others(path) && (own_mounts || is_reachable_by_others(path));
    let readable_paths = view.readable.iter().filter_map(|path| path.canonicalize().ok());
    let closed = readable_paths.into_iter().find(|path| !readable(path));
    let closed = closed.or_else(|| (!own_mounts && !is_reachable_by_others(root)).then(|| root.to_owned()));
    match closed {
        Some(path) => ToolUser::Root(format!("no other user can read {}", path.display())),
        None => ToolUser::Unprivileged,
    }
}

fn is_readable_by_others(path: &Path) -> bool {
    let needed = if path.is_dir() { 0o005 } else { 0o004 };
    path.metadata().is_ok_and(|about| about.mode() & needed == needed)
}

/// Whether every folder above a path lets other users pass.
fn is_reachable_by_others(path: &Path) -> bool {
    path.ancestors().skip(1).all(|folder| folder.metadata().is_ok_and(|about| about.mode() & 0o001 != 0))
}

/// Gives a folder and all that lies in it to the unprivileged user. Links are given, not followed.
pub(super) fn give_to_unprivileged(folder: &Path) -> io::Result<()> {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    lchown(folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            lchown(entry.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}
