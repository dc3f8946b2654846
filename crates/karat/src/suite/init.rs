//! A small working suite to start from.

use karat_io::atomic_write;
use std::io;
use std::path::Path;

macro_rules! template {
    ($path:literal) => {
        ($path, include_str!(concat!("../../templates/suite/", $path)))
    };
}

/// The files of the suite that `karat init` writes, with their paths.
pub static TEMPLATE: &[(&str, &str)] = &[
    template!("karat.toml"),
    template!("cases/unchecked-index/case.yaml"),
    template!("cases/unchecked-index/before/pager.py"),
    template!("cases/unchecked-index/after/pager.py"),
    template!("cases/tidy-rename/case.yaml"),
    template!("cases/tidy-rename/before/greet.py"),
    template!("cases/tidy-rename/after/greet.py"),
    template!("submissions/example-reviewer.jsonl"),
];

/// Writes the template into a folder that has no suite yet, and says which files it wrote. Nothing is overwritten.
pub fn write(folder: &Path) -> io::Result<Vec<String>> {
    for (path, _) in TEMPLATE {
        let full = folder.join(path);
        if std::fs::symlink_metadata(&full).is_ok() {
            let message = format!("{} already exists; choose a folder without a suite", full.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
    }
    for (path, content) in TEMPLATE {
        let full = folder.join(path);
        full.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        atomic_write::write(&full, &mut |out| out.write_all(content.as_bytes()))?;
    }
    Ok(TEMPLATE.iter().map(|(path, _)| (*path).to_owned()).collect())
}
