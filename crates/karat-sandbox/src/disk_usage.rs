//! Measures the disk usage of a folder in steps: a tool may create millions of files, and folders deeper than any path.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The least a file counts: its name and inode.
const MIN_FILE_BYTES: u64 = 1 << 10;
/// Systems refuse paths of 4096 bytes, so a path becomes relative to an open folder well before.
const MAX_PATH_LENGTH: usize = 2 << 10;

/// Counts the bytes of everything below a folder. Links are not followed; unreadable files do not count.
pub struct DiskUsage {
    root: PathBuf,
    open: Option<(Folder, Dir)>,
    pending: Vec<Folder>,
    bytes: u64,
}

/// A folder still to be listed: a path relative to an open folder, or absolute.
struct Folder {
    base: Option<Rc<OwnedFd>>,
    path: PathBuf,
}

impl Folder {
    fn open(&self) -> Option<Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let base = self.base.as_ref().map_or(rustix::fs::CWD, |base| base.as_fd());
        Dir::new(openat(base, &self.path, flags, Mode::empty()).ok()?).ok()
    }
}

impl DiskUsage {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), open: None, pending: Vec::new(), bytes: 0 }
    }

    /// The bytes of everything below a folder, counted at once.
    pub fn total(root: &Path) -> u64 {
        let mut usage = Self::new(root);
        while !usage.count(usize::MAX).1 {}
        usage.bytes
    }

    /// Counts up to `max` more files. Returns the bytes so far, and whether that is all; the next call then starts again.
    pub(super) fn count(&mut self, max: usize) -> (u64, bool) {
        if self.is_idle() {
            self.bytes = 0;
            self.pending.push(Folder { base: None, path: self.root.clone() });
        }
        for _ in 0..max {
            if self.open.is_none() {
                let Some(folder) = self.pending.pop() else { break };
                self.open = folder.open().map(|dir| (folder, dir));
                continue;
            }
            self.count_next();
        }
        (self.bytes, self.is_idle())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_none() && self.pending.is_empty()
    }

    fn count_next(&mut self) {
        let Some((folder, dir)) = &mut self.open else { return };
        let Some(Ok(entry)) = dir.read() else {
            self.open = None;
            return;
        };
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            return;
        }
        let Ok(fd) = dir.fd() else { return };
        let Ok(stat) = statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        // A file with several names counts once, a part for each name.
        let blocks = u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512);
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let names = if is_folder { 1 } else { u64::from(stat.st_nlink as u32).max(1) };
        self.bytes = self.bytes.saturating_add((blocks / names).max(MIN_FILE_BYTES));
        if !is_folder {
            return;
        }
        let name = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        if folder.path.as_os_str().len() < MAX_PATH_LENGTH {
            self.pending.push(Folder { base: folder.base.clone(), path: folder.path.join(name) });
        } else if let Ok(here) = openat(fd, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            self.pending.push(Folder { base: Some(Rc::new(here)), path: name.to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn everything_below_is_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        let empty = DiskUsage::total(&root);
        assert!((2 * MIN_FILE_BYTES..1 << 20).contains(&empty), "{empty}");
        fs::write(root.join("a/b/large"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(root.join("a/b/large"), root.join("again")).unwrap();
        fs::write(folder.path().join("outside"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(folder.path(), root.join("link")).unwrap();
        let more = DiskUsage::total(&root) - empty;
        assert!((1 << 20..(1 << 20) + (64 << 10)).contains(&more), "{more}");
        assert_eq!(DiskUsage::total(&folder.path().join("nowhere")), 0);
    }

    #[test]
    fn steps_add_up_to_the_total_and_start_again() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..40 {
            fs::create_dir(folder.path().join(format!("{n}"))).unwrap();
            fs::write(folder.path().join(format!("{n}/file")), "x").unwrap();
        }
        let mut usage = DiskUsage::new(folder.path());
        for _ in 0..2 {
            let mut steps = 0;
            let all = loop {
                steps += 1;
                let (bytes, whole) = usage.count(7);
                if whole {
                    break bytes;
                }
            };
            assert!(steps > 10 && all == DiskUsage::total(folder.path()), "{steps} {all}");
        }
    }

    /// A file below more folders than fit into a path is found.
    #[test]
    fn deeply_nested_files_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut here = openat(rustix::fs::CWD, folder.path(), flags, Mode::empty()).unwrap();
        for _ in 0..60 {
            let name = "n".repeat(200);
            rustix::fs::mkdirat(&here, &name, Mode::RWXU).unwrap();
            here = openat(&here, &name, flags, Mode::empty()).unwrap();
        }
        let before = DiskUsage::total(folder.path());
        let file = openat(&here, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).unwrap();
        std::io::Write::write_all(&mut fs::File::from(file), &vec![1; 1 << 20]).unwrap();
        assert!(DiskUsage::total(folder.path()) >= before + (1 << 20));
        karat_io::remove_tree::remove_tree(folder.path()).unwrap();
    }
}
