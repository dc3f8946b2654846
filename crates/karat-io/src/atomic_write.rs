//! Atomic file writes.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a temporary file and renames it, so that nobody ever sees half of it. An existing device or pipe is written to
/// directly, since a rename would replace it. The folder must exist.
pub fn write(path: &Path, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut file = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        return content(&mut file).and_then(|()| file.flush());
    }
    // A link is resolved, so that its target is replaced in its own folder.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let (unfinished, file) = create_beside(folder, &name)?;
    let mut file = BufWriter::new(file);
    let result = content(&mut file).and_then(|()| file.flush()).and_then(|()| std::fs::rename(&unfinished, &real));
    if result.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    result
}

/// Creates a file of its own for this write. One that exists belongs to another thread, or was left by a killed process with the same id.
fn create_beside(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".{name}.{}-{number}.unfinished", std::process::id()));
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((path, created?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, &mut |out| out.write_all(b"old")).unwrap();
        let failed = write(&path, &mut |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn threads_may_write_the_same_file_and_leftovers_stop_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let leftovers: Vec<_> = (0..3).map(|_| create_beside(folder.path(), "a.txt").unwrap().0).collect();
        let barrier = std::sync::Barrier::new(8);
        let write_at_once = || {
            write(&path, &mut |out| {
                barrier.wait();
                out.write_all(b"whole")
            })
        };
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|_| scope.spawn(write_at_once)).collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
        });
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1 + leftovers.len());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.txt"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, &mut |out| out.write_all(b"new")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        write(Path::new("/dev/null"), &mut |out| out.write_all(b"gone")).unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
}
