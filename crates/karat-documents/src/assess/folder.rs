//! A folder below a root, displayed as the user knows it.

use karat_io::files::{Entries, Files};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A folder whose files are read by name. Nothing outside its root can be reached.
#[derive(Clone, Debug)]
pub struct Folder {
    files: Files,
    path: String,
    /// Empty for the current folder.
    shown: String,
}

pub(super) enum Bounded {
    Whole(Vec<u8>),
    TooLarge,
    /// Missing, or a link out of the root.
    Absent,
}

impl Folder {
    /// A folder on disk, as typed.
    pub fn on_disk(folder: &Path) -> Self {
        let root = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let shown = folder.display().to_string();
        Self { files: Files::Disk(root.to_owned()), path: String::new(), shown }
    }

    /// A folder of a bundled suite or of another root.
    pub fn within(files: &Files, path: &str) -> Self {
        Self { files: files.clone(), path: path.to_owned(), shown: files.display(path) }
    }

    /// The folder and its ancestors, nearest first, up to the first with a `karat.toml` or the root.
    pub fn and_above(&self) -> Vec<Self> {
        let mut chain = vec![self.clone()];
        match &self.files {
            Files::Disk(root) if self.path.is_empty() => chain.extend(ancestors(root).iter().map(|f| Self::on_disk(f))),
            _ => {
                let above = Path::new(&self.path).ancestors().skip(1);
                chain.extend(above.map(|f| Self::within(&self.files, &f.to_string_lossy())));
            }
        }
        if let Some(root) = chain.iter().position(|folder| folder.has("karat.toml")) {
            chain.truncate(root + 1);
        }
        chain
    }

    /// The path of an entry, as the user knows it.
    pub fn display(&self, name: &str) -> String {
        match (self.shown.as_str(), name) {
            ("", "") => ".".to_owned(),
            ("", name) => name.to_owned(),
            (shown, "") => shown.to_owned(),
            (shown, name) => format!("{}/{name}", shown.trim_end_matches('/')),
        }
    }

    /// The path of a file on disk; `None` if missing or bundled.
    pub fn disk_path(&self, name: &str) -> Option<PathBuf> {
        self.files.on_disk(&self.inner(name))
    }

    /// The same folder as its own root, so that links cannot reach its siblings.
    pub(super) fn alone(&self) -> Self {
        match &self.files {
            Files::Disk(_) => Self::on_disk(Path::new(&self.shown)),
            Files::Embedded(..) => self.clone(),
        }
    }

    /// A subfolder.
    pub fn join(&self, name: &str) -> Self {
        Self { files: self.files.clone(), path: self.inner(name), shown: self.display(name) }
    }

    pub(super) fn entries(&self) -> io::Result<Entries> {
        self.files.entries(&self.path)
    }

    pub(super) fn folders(&self, name: &str) -> Vec<String> {
        self.files.folders(&self.inner(name)).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let inner = self.inner(name);
        self.files.has_folder(&inner) || matches!(self.files.open(&inner), Ok(Some(_)))
    }

    pub(super) fn leads_out(&self, name: &str) -> bool {
        self.files.links_outside(&self.inner(name))
    }

    pub(super) fn read(&self, name: &str, most: usize) -> io::Result<Bounded> {
        let Some(reader) = self.files.open(&self.inner(name))? else { return Ok(Bounded::Absent) };
        let mut bytes = Vec::new();
        reader.take(most as u64 + 1).read_to_end(&mut bytes)?;
        Ok(if bytes.len() > most { Bounded::TooLarge } else { Bounded::Whole(bytes) })
    }

    /// Identifies the folder, however it was typed.
    pub(super) fn identity(&self) -> String {
        match &self.files {
            Files::Disk(root) => {
                let full = root.join(&self.path);
                full.canonicalize().unwrap_or(full).display().to_string()
            }
            Files::Embedded(..) => self.shown.clone(),
        }
    }

    fn inner(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

/// The ancestors of a folder on disk, nearest first: as typed up to the current folder, then as absolute paths.
fn ancestors(folder: &Path) -> Vec<PathBuf> {
    let climbs = folder.components().any(|part| matches!(part, Component::ParentDir));
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let folder = if climbs { real(folder) } else { folder.to_owned() };
    let is_current = |path: &&Path| path.as_os_str().is_empty() || *path == Path::new(".");
    let above = |folder: &Path| folder.ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
    if folder.is_absolute() {
        return above(&folder);
    }
    let typed = folder.ancestors().take_while(|path| !is_current(path)).skip(1).map(Path::to_owned);
    let current = Some(PathBuf::new()).filter(|_| !is_current(&folder.as_path()));
    typed.chain(current).chain(above(&real(Path::new(".")))).collect()
}
