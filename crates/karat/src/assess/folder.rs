//! A folder below a root, shown as the user knows it.

use crate::suite::files::{Entries, Files};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A folder whose files are read by name. Nothing outside its root can be reached.
#[derive(Clone, Debug)]
pub struct Folder {
    files: Files,
    /// The folder, relative to the root.
    path: String,
    /// What its name is shown as; nothing for the folder the user is in.
    shown: String,
}

/// A file with no more bytes than are taken.
pub(super) enum Bounded {
    /// It is there.
    Whole(Vec<u8>),
    /// It is there, and larger.
    TooLarge,
    /// There is none, or a link leads out of the root.
    Absent,
}

impl Folder {
    /// A folder on disk, as it was typed.
    pub fn on_disk(folder: &Path) -> Self {
        let root = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let shown = folder.display().to_string();
        Self { files: Files::Disk(root.to_owned()), path: String::new(), shown }
    }

    /// A folder of a suite inside the binary, or of any root.
    pub fn within(files: &Files, path: &str) -> Self {
        Self { files: files.clone(), path: path.to_owned(), shown: files.display(path) }
    }

    /// The folder and those above it, the nearest first, up to the first with a `karat.toml` or else to the root.
    pub fn and_above(&self) -> Vec<Self> {
        let mut chain: Vec<Self> = Vec::new();
        let above: Vec<Self> = match &self.files {
            Files::Disk(root) if self.path.is_empty() => ancestors(root).iter().map(|f| Self::on_disk(f)).collect(),
            _ => {
                let path = Path::new(&self.path);
                path.ancestors().skip(1).map(|f| Self::within(&self.files, &f.to_string_lossy())).collect()
            }
        };
        for folder in std::iter::once(self.clone()).chain(above) {
            let is_root = folder.has("karat.toml");
            chain.push(folder);
            if is_root {
                break;
            }
        }
        chain
    }

    /// The name of something in it, as the user knows it.
    pub fn display(&self, name: &str) -> String {
        match (self.shown.as_str(), name) {
            ("", "") => ".".to_owned(),
            ("", name) => name.to_owned(),
            (shown, "") => shown.to_owned(),
            (shown, name) => format!("{}/{name}", shown.trim_end_matches('/')),
        }
    }

    /// Where a file of it lies on disk; `None` where it is not there or inside the binary.
    pub fn disk_path(&self, name: &str) -> Option<PathBuf> {
        self.files.on_disk(&self.inner(name))
    }

    /// The same folder as a root of its own: no link in it leads to what lies beside it.
    pub(super) fn alone(&self) -> Self {
        match &self.files {
            Files::Disk(_) => Self::on_disk(Path::new(&self.shown)),
            Files::Embedded(..) => self.clone(),
        }
    }

    /// The folder inside it.
    pub fn join(&self, name: &str) -> Self {
        Self { files: self.files.clone(), path: self.inner(name), shown: self.display(name) }
    }

    /// What lies directly in it.
    pub(super) fn entries(&self) -> io::Result<Entries> {
        self.files.entries(&self.path)
    }

    /// The folders inside a folder of it; none where there is no such folder.
    pub(super) fn folders(&self, name: &str) -> Vec<String> {
        self.files.folders(&self.inner(name)).unwrap_or_default()
    }

    /// Whether a file or a folder is there.
    pub(super) fn has(&self, name: &str) -> bool {
        let inner = self.inner(name);
        self.files.has_folder(&inner) || matches!(self.files.open(&inner), Ok(Some(_)))
    }

    /// Whether something of that name is there and lies, by a link, outside the root.
    pub(super) fn leads_out(&self, name: &str) -> bool {
        self.files.leads_out(&self.inner(name))
    }

    /// The bytes of a file, where there are not more than that.
    pub(super) fn read(&self, name: &str, most: usize) -> io::Result<Bounded> {
        let Some(reader) = self.files.open(&self.inner(name))? else { return Ok(Bounded::Absent) };
        let mut bytes = Vec::new();
        reader.take(most as u64 + 1).read_to_end(&mut bytes)?;
        Ok(if bytes.len() > most { Bounded::TooLarge } else { Bounded::Whole(bytes) })
    }

    /// What tells it from every other folder, however it was typed.
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

/// The folders above a folder on disk, the nearest first: as they were typed as far as that goes, then by their full names.
fn ancestors(folder: &Path) -> Vec<PathBuf> {
    let climbs = folder.components().any(|part| matches!(part, Component::ParentDir));
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut found = Vec::new();
    let mut here = if climbs { real(folder) } else { folder.to_owned() };
    while let Some(above) = here.parent().map(Path::to_owned) {
        let at_home = |path: &Path| path.as_os_str().is_empty() || path == Path::new(".");
        // What is typed ends at the folder the user is in; what is above it has a full name only.
        let above = match (at_home(&here), at_home(&above)) {
            (true, _) => match real(Path::new(".")).parent() {
                Some(above) => above.to_owned(),
                None => break,
            },
            (false, true) => PathBuf::new(),
            (false, false) => above,
        };
        found.push(above.clone());
        here = above;
        if here.as_os_str().is_empty() {
            // An empty path has no parent, and the folder the user is in has.
            here = PathBuf::from(".");
        }
    }
    found
}
