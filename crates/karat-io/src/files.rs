//! Access to files of a suite, in a folder on disk or inside the binary. Nothing outside that root can be reached.

use crate::regular_file;
use include_dir::{Dir, DirEntry};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A root folder. All paths given to it are relative, with forward slashes.
#[derive(Clone, Debug)]
pub enum Files {
    /// A folder on disk.
    Disk(PathBuf),
    /// A folder inside the binary, with its display name.
    Embedded(&'static str, &'static Dir<'static>),
}

impl Files {
    /// The path for display.
    pub fn display(&self, path: &str) -> String {
        match self {
            Self::Disk(root) if path.is_empty() => root.display().to_string(),
            Self::Disk(root) => root.join(path).display().to_string(),
            Self::Embedded(name, _) if path.is_empty() => format!("{name} (built in)"),
            Self::Embedded(name, _) => format!("{name} (built in)/{path}"),
        }
    }

    /// The bytes of a file; `None` where there is none.
    pub fn read(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = self.open(path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// The path of a file on disk; `None` where it is outside the root, missing, or inside the binary.
    pub fn on_disk(&self, path: &str) -> Option<PathBuf> {
        match self {
            Self::Disk(root) => resolve(root, path).ok().flatten(),
            Self::Embedded(..) => None,
        }
    }

    /// A file as a stream; `None` where there is none.
    pub fn open(&self, path: &str) -> io::Result<Option<Box<dyn io::BufRead>>> {
        match self {
            Self::Disk(root) => {
                let Some(full) = resolve(root, path)? else { return Ok(None) };
                let file = absent_as_none(regular_file::open(&full))?;
                Ok(file.map(|file| Box::new(io::BufReader::with_capacity(1 << 16, file)) as Box<dyn io::BufRead>))
            }
            Self::Embedded(_, dir) => {
                Ok(dir.get_file(path).map(|file| Box::new(file.contents()) as Box<dyn io::BufRead>))
            }
        }
    }

    /// Whether a path is a link to something outside the root, which reads as absent.
    pub fn links_outside(&self, path: &str) -> bool {
        match self {
            Self::Disk(root) => root.join(path).symlink_metadata().is_ok() && matches!(resolve(root, path), Ok(None)),
            Self::Embedded(..) => false,
        }
    }

    /// Whether a folder exists.
    pub fn has_folder(&self, path: &str) -> bool {
        match self {
            Self::Disk(root) => root.join(path).is_dir(),
            Self::Embedded(_, dir) => embedded(dir, path).is_some(),
        }
    }

    /// The names of the folders directly inside a folder, sorted.
    pub fn folders(&self, path: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        match self {
            Self::Disk(root) => {
                for entry in absent_as_none(std::fs::read_dir(root.join(path)))?.into_iter().flatten() {
                    let full = entry?.path();
                    names.extend(file_name(&full).filter(|_| full.is_dir()));
                }
            }
            Self::Embedded(_, dir) => {
                let folders = embedded(dir, path).into_iter().flat_map(Dir::dirs);
                names.extend(folders.filter_map(|folder| file_name(folder.path())));
            }
        }
        names.sort();
        Ok(names)
    }

    /// The entries of a folder, sorted. Links to files in the root count as files; no other link is followed. A pipe, a socket
    /// or a device is listed as a file, but cannot be read.
    pub fn entries(&self, path: &str) -> io::Result<Entries> {
        let mut found = Entries::default();
        match self {
            Self::Disk(root) => {
                let real_root = root.canonicalize()?;
                for entry in std::fs::read_dir(root.join(path))? {
                    let entry = entry?;
                    let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
                    if kind.is_dir() {
                        found.folders.push(name);
                    } else if !kind.is_symlink() {
                        found.files.push(name);
                    } else {
                        match entry.path().canonicalize() {
                            Ok(target) if target.starts_with(&real_root) && !target.is_dir() => found.files.push(name),
                            // The target of such a link is listed itself.
                            Ok(target) if target.starts_with(&real_root) => {}
                            _ => found.refused.push(name),
                        }
                    }
                }
            }
            Self::Embedded(_, dir) => {
                for entry in embedded(dir, path).into_iter().flat_map(Dir::entries) {
                    match entry {
                        DirEntry::Dir(folder) => found.folders.extend(file_name(folder.path())),
                        DirEntry::File(file) => found.files.extend(file_name(file.path())),
                    }
                }
            }
        }
        for names in [&mut found.files, &mut found.folders, &mut found.refused] {
            names.sort();
        }
        Ok(found)
    }

    /// Every file below a folder, as sorted paths relative to it with forward slashes; the folders are not listed. Links out of
    /// that folder are listed, not followed. A pipe, a socket or a device is listed as a file, but cannot be read.
    pub fn walk(&self, path: &str) -> io::Result<Entries> {
        let mut walk = Entries::default();
        match self {
            Self::Disk(root) => {
                let base = root.join(path);
                if !base.is_dir() {
                    return Ok(walk);
                }
                if self.links_outside(path) {
                    walk.refused.push(String::new());
                    return Ok(walk);
                }
                // A link may lead to another part of the suite, where goldens are.
                let real_base = base.canonicalize()?;
                let mut open = vec![base.clone()];
                while let Some(folder) = open.pop() {
                    for entry in std::fs::read_dir(&folder)? {
                        let entry = entry?;
                        let (full, kind) = (entry.path(), entry.file_type()?);
                        // A link to a folder may form a cycle, so only files are followed.
                        let is_inside = |target: PathBuf| target.starts_with(&real_base) && !target.is_dir();
                        if kind.is_dir() {
                            open.extend(Some(full).filter(|_| entry.file_name() != ".git"));
                        } else if !kind.is_symlink() || full.canonicalize().is_ok_and(is_inside) {
                            walk.files.push(relative(&base, &full));
                        } else {
                            walk.refused.push(relative(&base, &full));
                        }
                    }
                }
            }
            Self::Embedded(_, dir) => {
                let mut open: Vec<&Dir<'_>> = embedded(dir, path).into_iter().collect();
                while let Some(folder) = open.pop() {
                    for entry in folder.entries() {
                        match entry {
                            DirEntry::Dir(inner) => open.push(inner),
                            DirEntry::File(file) => walk.files.push(relative(Path::new(path), file.path())),
                        }
                    }
                }
            }
        }
        walk.files.sort();
        walk.refused.sort();
        Ok(walk)
    }
}

/// The names of a folder's entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Entries {
    pub files: Vec<String>,
    pub folders: Vec<String>,
    /// Links that lead out of the root or to nothing; those of a walk may also lead to folders or out of where it began.
    pub refused: Vec<String>,
}

fn embedded(root: &'static Dir<'static>, path: &str) -> Option<&'static Dir<'static>> {
    if path.is_empty() { Some(root) } else { root.get_dir(path) }
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn relative(base: &Path, full: &Path) -> String {
    let parts = full.strip_prefix(base).unwrap_or(full).components();
    parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}

/// The full path of a file below the root; `None` where the path leaves the root, by name or by a link.
fn resolve(root: &Path, path: &str) -> io::Result<Option<PathBuf>> {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !plain {
        return Ok(None);
    }
    let full = root.join(path);
    let Some(real) = absent_as_none(full.canonicalize())? else { return Ok(None) };
    Ok(real.starts_with(root.canonicalize()?).then_some(full))
}

fn absent_as_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}
