//! The folder of the tables: written beside its name and renamed when complete. A folder that holds anything else is never
//! replaced. What a process left behind that was killed is removed by the next one.

use crate::TABLES;
use crate::error::{Result, TablesError};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders and files below the folder of a tool have one of these beginnings.
const TOOL: &str = "tool=";
const PART: &str = "part-";
const EXTENSION: &str = ".parquet";

/// The longest name of a tool's folder. File systems allow 255 bytes.
const LONGEST_NAME: usize = 200;

/// A folder under another name, until all of it is written.
pub(crate) struct UnfinishedFolder {
    /// Its name in the end.
    target: PathBuf,
    path: PathBuf,
    /// Locked while its process lives.
    _lock: File,
    finished: bool,
}

/// What unfinished and replaced folders end with.
const UNFINISHED: &str = "unfinished";
const REPLACED: &str = "replaced";

impl UnfinishedFolder {
    pub(crate) fn create(target: &Path) -> Result<Self> {
        check_target(target)?;
        // A link is resolved, so that the folder it names is replaced, in its own place.
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        remove_leftovers(&target);
        // A process with the same id may have been killed before, in a container.
        for number in 0..MOST_ATTEMPTS {
            let path = beside(&target, number, UNFINISHED);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let lock = File::open(&path).map_err(|error| TablesError::unwritten(&target, error))?;
                    // Before it was locked, another process may have taken it for a leftover. Where folders cannot be locked,
                    // none is.
                    let _ = lock.try_lock();
                    if is_same(&lock, &path) {
                        return Ok(Self { target, path, _lock: lock, finished: false });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(TablesError::NoFolder { path: target });
                }
                Err(error) => return Err(TablesError::unwritten(&target, error)),
            }
        }
        Err(TablesError::unwritten(&target, io::ErrorKind::AlreadyExists.into()))
    }

    /// Where a file is written now, and what it will be called.
    pub(crate) fn file(&self, table: &str, tool: Option<&str>, part: usize) -> Result<(PathBuf, PathBuf)> {
        let mut inner = PathBuf::from(table);
        inner.extend(tool.map(tool_folder));
        let folder = self.path.join(&inner);
        inner.push(format!("{PART}{part}{EXTENSION}"));
        let shown = self.target.join(&inner);
        fs::create_dir_all(folder).map_err(|error| TablesError::unwritten(&shown, error))?;
        Ok((self.path.join(inner), shown))
    }

    /// Gives the folder its name, in place of older tables.
    pub(crate) fn finish(mut self) -> Result<()> {
        let failed = |error| TablesError::unwritten(&self.target, error);
        // Somebody may have put something there in the meantime.
        check_target(&self.target)?;
        if !self.target.exists() {
            fs::rename(&self.path, &self.target).map_err(failed)?;
            self.finished = true;
            return Ok(());
        }
        let old = match exchange(&self.path, &self.target) {
            Ok(()) => self.path.clone(),
            Err(_) => self.replace().map_err(failed)?,
        };
        self.finished = true;
        match fs::remove_dir_all(&old) {
            // Another process may have removed it as a leftover.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TablesError::unwritten(&old, error)),
            _ => Ok(()),
        }
    }

    /// Puts the folder in place of older tables, and says where these are now. In between there are none under the name.
    fn replace(&self) -> io::Result<PathBuf> {
        let free = (0..MOST_ATTEMPTS).map(|number| beside(&self.target, number, REPLACED)).find(|path| !path.exists());
        let old = free.ok_or(io::ErrorKind::AlreadyExists)?;
        fs::rename(&self.target, &old)?;
        if let Err(error) = fs::rename(&self.path, &self.target) {
            let _ = fs::rename(&old, &self.target);
            return Err(error);
        }
        Ok(old)
    }
}

/// Gives each of two folders the name of the other.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes what processes left that ended before they finished. Tables that one of them had moved away, and not yet replaced, get
/// their name again. What cannot be removed does no harm.
fn remove_leftovers(target: &Path) {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(kind) = leftover_kind(target, &path) else { continue };
        let Ok(folder) = File::open(&path) else { continue };
        if folder.try_lock().is_err() || !is_same(&folder, &path) || check_target(&path).is_err() {
            continue;
        }
        if kind == REPLACED && !target.exists() {
            let _ = fs::rename(&path, target);
        } else {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether a folder is named like one that was not finished, or like one that was replaced.
fn leftover_kind(target: &Path, path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let rest = name.strip_prefix('.')?.strip_prefix(target.file_name()?.to_str()?)?.strip_prefix('.')?;
    let (numbers, kind) = rest.rsplit_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !numbers.split('.').all(is_number) {
        return None;
    }
    [UNFINISHED, REPLACED].into_iter().find(|own| *own == kind)
}

/// Whether an open folder still has that name.
fn is_same(folder: &File, path: &Path) -> bool {
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    folder.metadata().ok().map(id).is_some_and(|own| fs::metadata(path).ok().map(id) == Some(own))
}

const MOST_ATTEMPTS: usize = 1000;

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn beside(target: &Path, number: usize, kind: &str) -> PathBuf {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".{name}.{}.{number}.{kind}", std::process::id()))
}

/// Refuses a name under which there is anything but an empty folder or tables of Karat.
pub fn check_target(target: &Path) -> Result<()> {
    let foreign = |found: String| TablesError::Foreign { path: target.to_owned(), found };
    match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(TablesError::unwritten(target, error)),
        Ok(there) if !there.is_dir() => return Err(foreign("it is no folder".to_owned())),
        Ok(_) => {}
    }
    match foreign_entry(target, 0) {
        Ok(None) => Ok(()),
        Ok(Some(entry)) => Err(foreign(entry.strip_prefix(target).unwrap_or(&entry).display().to_string())),
        Err(error) => Err(TablesError::unwritten(target, error)),
    }
}

/// The first entry that is no part of tables: at depth 0 are tables, then tools and parts, then parts.
fn foreign_entry(folder: &Path, depth: usize) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let name = name.to_string_lossy();
        let is_folder = kind.is_dir()
            && match depth {
                0 => TABLES.iter().any(|table| table.name == name),
                1 => name.starts_with(TOOL),
                _ => false,
            };
        let is_part = kind.is_file() && depth > 0 && name.starts_with(PART) && name.ends_with(EXTENSION);
        let inner = if is_folder { foreign_entry(&entry.path(), depth + 1)? } else { None };
        if !is_folder && !is_part || inner.is_some() {
            return Ok(Some(inner.unwrap_or_else(|| entry.path())));
        }
    }
    Ok(None)
}

/// The folder of a tool, as `tool=NAME`. All but letters, digits, `_`, `-` and `.` is percent-encoded, so that no name leaves its
/// folder. A name that is too long for a file system is cut and gets a hash.
fn tool_folder(tool: &str) -> String {
    let mut name = TOOL.to_owned();
    for character in tool.chars() {
        let before = name.len();
        if character.is_ascii_alphanumeric() || "_-.".contains(character) {
            name.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                name.push_str(&format!("%{byte:02X}"));
            }
        }
        if name.len() > LONGEST_NAME {
            name.truncate(before);
            return format!("{name}~{}", &blake3::hash(tool.as_bytes()).to_hex()[..16]);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_stay_in_their_folder() {
        let check = |tool: &str, expected: &str| assert_eq!(tool_folder(tool), expected);
        check("bandit", "tool=bandit");
        check("../x", "tool=..%2Fx");
        check("a/b", "tool=a%2Fb");
        check("..", "tool=..");
        check("", "tool=");
        check("a=b c\0é~", "tool=a%3Db%20c%00%C3%A9%7E");
        let (one, other) = (tool_folder(&"x".repeat(300)), tool_folder(&format!("{}y", "x".repeat(299))));
        assert!(one.len() <= 220 && one != other && one.contains('~'), "{one}");
    }

    #[test]
    fn only_tables_are_replaced() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("t.parquet");
        check_target(&target).unwrap();
        fs::create_dir_all(target.join("trials/tool=a")).unwrap();
        fs::write(target.join("trials/tool=a/part-0.parquet"), "x").unwrap();
        check_target(&target).unwrap();
        fs::write(target.join("trials/notes.txt"), "mine").unwrap();
        let message = check_target(&target).unwrap_err().to_string();
        assert!(message.contains("holds more than Karat's tables (trials/notes.txt)"), "{message}");
        assert!(UnfinishedFolder::create(&target).is_err());
        let file = root.path().join("f.parquet");
        fs::write(&file, "mine").unwrap();
        assert!(check_target(&file).unwrap_err().to_string().contains("it is no folder"));
        let missing = UnfinishedFolder::create(&root.path().join("none/t.parquet")).err().unwrap().to_string();
        assert!(missing.contains("its folder does not exist"), "{missing}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_no_tables_but_a_link_to_tables_is_replaced_where_it_leads() {
        let root = tempfile::tempdir().unwrap();
        let (real, link) = (root.path().join("real"), root.path().join("t.parquet"));
        fs::create_dir_all(real.join("trials")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let folder = UnfinishedFolder::create(&link).unwrap();
        folder.file("pairs", None, 0).unwrap();
        folder.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && real.join("pairs").is_dir());
        assert!(!real.join("trials").exists());
        std::os::unix::fs::symlink("/etc", real.join("figures")).unwrap();
        assert!(check_target(&link).is_err());
    }

    #[test]
    fn leftovers_of_a_killed_process_are_removed_and_moved_tables_come_back() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("t.parquet");
        let make =
            |name: &str, tool: &str| fs::create_dir_all(root.path().join(name).join("trials").join(tool)).unwrap();
        // Killed between the two renames: there are no tables, and both folders are beside the name.
        make(".t.parquet.1.replaced", "tool=old");
        make(".t.parquet.1.0.unfinished", "tool=new");
        make(".other.parquet.1.0.unfinished", "tool=other");
        drop(UnfinishedFolder::create(&target).unwrap());
        assert!(target.join("trials/tool=old").exists());
        let mut names: Vec<String> =
            fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, [".other.parquet.1.0.unfinished", "t.parquet"]);
        // A name that is taken is in nobody's way.
        make(&format!(".t.parquet.{}.0.replaced", std::process::id()), "tool=left");
        let folder = UnfinishedFolder::create(&target).unwrap();
        make(&format!(".t.parquet.{}.0.replaced", std::process::id()), "tool=left");
        let old = folder.replace().unwrap();
        assert!(old.to_str().unwrap().ends_with(".1.replaced"), "{}", old.display());
        assert!(old.join("trials/tool=old").exists() && target.is_dir());
    }

    #[test]
    fn folder_of_a_living_process_is_no_leftover() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("t.parquet");
        let first = UnfinishedFolder::create(&target).unwrap();
        let second = UnfinishedFolder::create(&target).unwrap();
        assert!(first.path.exists() && first.path != second.path);
        second.finish().unwrap();
        first.finish().unwrap();
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn unfinished_folder_is_removed_and_old_tables_stay() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("t.parquet");
        fs::create_dir_all(target.join("trials/tool=old")).unwrap();
        drop(UnfinishedFolder::create(&target).unwrap());
        assert!(target.join("trials/tool=old").exists());
        UnfinishedFolder::create(&target).unwrap().finish().unwrap();
        assert!(!target.join("trials").exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
