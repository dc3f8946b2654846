//! Files that appear whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file beside its final name and then renames it, so that nobody ever sees half of it.
pub fn write(path: &Path, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let unfinished = folder.join(format!(".{name}.{}.unfinished", std::process::id()));
    let mut file = BufWriter::new(std::fs::File::create(&unfinished)?);
    let result = content(&mut file).and_then(|()| file.flush()).and_then(|()| std::fs::rename(&unfinished, path));
    if result.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    result
}
