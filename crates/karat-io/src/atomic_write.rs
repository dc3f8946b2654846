//! Atomic file writes.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

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
    let unfinished = folder.join(format!(".{name}.{}.unfinished", std::process::id()));
    // An existing file of this name is not ours.
    let mut file = BufWriter::new(File::create_new(&unfinished)?);
    let result = content(&mut file).and_then(|()| file.flush()).and_then(|()| std::fs::rename(&unfinished, &real));
    if result.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    result
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
