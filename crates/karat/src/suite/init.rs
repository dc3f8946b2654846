//! A small working suite to start from.

use karat_io::atomic_write;
use std::io;
use std::path::Path;

/// The files of the suite that `karat init` writes, with their paths.
pub static TEMPLATE: &[(&str, &str)] = &[
    ("karat.toml", include_str!("../../templates/suite/karat.toml")),
    ("cases/unchecked-index/case.yaml", include_str!("../../templates/suite/cases/unchecked-index/case.yaml")),
    (
        "cases/unchecked-index/before/pager.py",
        include_str!("../../templates/suite/cases/unchecked-index/before/pager.py"),
    ),
    (
        "cases/unchecked-index/after/pager.py",
        include_str!("../../templates/suite/cases/unchecked-index/after/pager.py"),
    ),
    ("cases/tidy-rename/case.yaml", include_str!("../../templates/suite/cases/tidy-rename/case.yaml")),
    ("cases/tidy-rename/before/greet.py", include_str!("../../templates/suite/cases/tidy-rename/before/greet.py")),
    ("cases/tidy-rename/after/greet.py", include_str!("../../templates/suite/cases/tidy-rename/after/greet.py")),
    ("submissions/example-reviewer.jsonl", include_str!("../../templates/suite/submissions/example-reviewer.jsonl")),
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
