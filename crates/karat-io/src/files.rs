//! Access to files of a suite, in a folder on disk or inside the binary. Nothing outside that root can be reached.

use crate::regular_file;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// A root folder. All paths given to it are relative, with forward slashes.
#[derive(Clone, Debug)]
pub enum Files {
    /// A folder on disk.
    Disk(PathBuf),
    /// A folder inside the binary, with its display name.
    Embedded(&'static str, &'static PackedFiles),
}

/// Files by their path, as they were packed into the binary.
#[derive(Debug)]
pub struct PackedFiles(BTreeMap<String, Vec<u8>>);

impl PackedFiles {
    /// Unpacks what a build script packed: of each file the length of its path, the path, the length of its contents and the contents,
    /// with lengths of four bytes, the lowest first. `None` where the bytes are something else.
    pub fn unpack(mut bytes: &[u8]) -> Option<Self> {
        let mut files = BTreeMap::new();
        while !bytes.is_empty() {
            let path = std::str::from_utf8(take_counted(&mut bytes)?).ok()?;
            files.insert(path.to_owned(), take_counted(&mut bytes)?.to_vec());
        }
        Some(Self(files))
    }

    /// The paths below a folder, relative to it.
    fn below<'p>(&'p self, folder: &str) -> impl Iterator<Item = &'p str> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.0.keys().filter_map(move |path| path.strip_prefix(&prefix))
    }
}

fn take_counted<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
    bytes.split_off(..usize::try_from(length).ok()?)
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

    /// What is typed to name it.
    pub fn place(&self) -> String {
        match self {
            Self::Disk(root) => root.display().to_string(),
            Self::Embedded(name, _) => (*name).to_owned(),
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

    /// Whether a file can be executed by its owner; none inside the binary can.
    pub fn is_executable(&self, path: &str) -> bool {
        let about = self.on_disk(path).and_then(|path| std::fs::metadata(path).ok());
        about.is_some_and(|about| about.permissions().mode() & 0o100 != 0)
    }

    /// A file as a stream; `None` where there is none.
    pub fn open(&self, path: &str) -> io::Result<Option<Box<dyn io::BufRead>>> {
        match self {
            Self::Disk(root) => {
                let Some(full) = resolve(root, path)? else { return Ok(None) };
                let file = absent_as_none(regular_file::open(&full))?;
                Ok(file.map(|file| Box::new(io::BufReader::with_capacity(1 << 16, file)) as Box<dyn io::BufRead>))
            }
            Self::Embedded(_, files) => {
                Ok(files.0.get(path).map(|contents| Box::new(contents.as_slice()) as Box<dyn io::BufRead>))
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
            Self::Embedded(_, files) => files.below(path).next().is_some(),
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
            Self::Embedded(..) => return Ok(self.entries(path)?.folders),
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
            Self::Embedded(_, files) => {
                let mut folders = BTreeSet::new();
                for path in files.below(path) {
                    match path.split_once('/') {
                        Some((folder, _)) => _ = folders.insert(folder.to_owned()),
                        None => found.files.push(path.to_owned()),
                    }
                }
                found.folders.extend(folders);
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
            Self::Embedded(_, files) => walk.files.extend(files.below(path).map(str::to_owned)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let parts = files.iter().flat_map(|(path, contents)| [path, contents]);
        parts.flat_map(|part| [&u32::try_from(part.len()).unwrap().to_le_bytes(), part.as_bytes()].concat()).collect()
    }

    #[test]
    fn packed_files_are_listed_like_folders() {
        let bytes = packed(&[("a/b/c.txt", "c"), ("a/d.txt", ""), ("ab.txt", "ab")]);
        let files = Files::Embedded("name", Box::leak(Box::new(PackedFiles::unpack(&bytes).unwrap())));
        let entries = files.entries("").unwrap();
        assert_eq!((entries.files, entries.folders), (vec!["ab.txt".to_owned()], vec!["a".to_owned()]));
        assert_eq!(files.walk("a").unwrap().files, ["b/c.txt", "d.txt"]);
        assert_eq!(files.folders("a").unwrap(), ["b"]);
        assert_eq!(files.read("a/d.txt").unwrap().unwrap(), b"");
        assert!(files.has_folder("a/b") && !files.has_folder("a/b/c.txt") && !files.has_folder("ab"));
        assert!(files.read("a/b").unwrap().is_none());
    }

    #[test]
    fn truncated_packed_files_are_refused() {
        let bytes = packed(&[("a.txt", "text")]);
        for length in 1..bytes.len() {
            let cut = PackedFiles::unpack(&bytes[..length]);
            assert!(cut.is_none(), "{length} bytes were accepted");
        }
    }
}
