//! The site on the disk.

use super::check::Drawn;
use super::layout::RunContext;
use super::schemas;
use std::path::Path;

/// Writes all pages and downloads into a folder, which is made where it is absent. Other files in it stay.
pub(crate) fn site(root: &Path, out: &Path, pages: &[Drawn]) -> Result<(), String> {
    let site = RunContext::new(pages);
    let mut files: Vec<(String, String)> = Vec::new();
    for (place, page) in pages.iter().enumerate() {
        files.extend(site.page(place).map(|drawn| (page.entry.file.to_owned(), drawn)));
    }
    files.push(("search.html".to_owned(), site.search()));
    files.push(("404.html".to_owned(), site.missing()));
    for name in schemas::names(root)? {
        let path = format!("{}{name}", schemas::SOURCE);
        let text = std::fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
        files.push((path, text));
    }
    // A host that would run pages through a generator of its own leaves them as they are.
    files.push((".nojekyll".to_owned(), String::new()));
    for (name, content) in files {
        let path = out.join(name);
        let wrong = |error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(wrong)?;
        }
        std::fs::write(&path, content).map_err(wrong)?;
    }
    Ok(())
}
