//! Fresh checkouts: a case as a git repository, prepared once and written for every trial.
//!
//! The branch `main` is the code before the change, `change` the code after it. Author and dates are fixed, so the same case
//! has the same commit ids everywhere. Nothing in a checkout tells which case it is, and it contains no golden.

mod object;
mod patch;

pub use object::ObjectId;

use crate::suite::LoadedSuite;
use crate::suite::code::{CodeFile, Side};
use crate::suite::objects::FileMode;
use karat_core::suite::Case;
use object::{ADDRESS, AUTHOR, Pack, Packed, index};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// The branch with the code before the change.
pub const BASE: &str = "main";
/// The branch with the code after it.
pub const HEAD: &str = "change";

/// New Year 2024, and an hour later.
const BEFORE_SECONDS: u64 = 1_704_067_200;
const AFTER_SECONDS: u64 = BEFORE_SECONDS + 3_600;

/// Larger files, and those of whole trees, are copied from the suite each time, and not kept in memory. Where the file system can
/// share the blocks of a copy, the kernel does; a tool that writes to its copy never changes the original.
const MAX_IN_MEMORY: usize = 1 << 20;

/// A case that can be checked out any number of times.
pub struct Template {
    pub(crate) base: ObjectId,
    pub(crate) head: ObjectId,
    /// Of the pull request.
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) diff: String,
    files: Vec<CheckedFile>,
    folders: BTreeSet<String>,
    packed: Packed,
}

struct CheckedFile {
    path: String,
    mode: FileMode,
    id: ObjectId,
    content: Content,
}

enum Content {
    InMemory(Vec<u8>),
    OnDisk(PathBuf),
}

impl Template {
    /// Prepares a case. `None` if it comes without code.
    pub fn build(loaded: &LoadedSuite, case: &Case) -> io::Result<Option<Self>> {
        let Some(mut code) = loaded.read_code(&case.id)? else { return Ok(None) };
        let mut pack = Pack::default();
        let mut diff = String::new();
        let mut old_tree = Vec::new();
        let mut files = Vec::new();
        for path in code.paths() {
            let unchanged = code.is_unchanged(&path);
            let read_old = !unchanged && code.has(Side::Before, &path);
            let old = if read_old { code.read(Side::Before, &path)? } else { None };
            let new = if code.has(Side::After, &path) { code.read(Side::After, &path)? } else { None };
            if !unchanged {
                let [before, after] = [&old, &new].map(|side| side.as_ref().map(|side| (side.mode, &side.bytes[..])));
                patch::append(&mut diff, &path, before, after);
            }
            if let Some(old) = old {
                old_tree.push((path.clone(), old.mode, pack.blob(&old.bytes)?));
            }
            let Some(CodeFile { bytes, mode, on_disk }) = new else { continue };
            let id = pack.blob(&bytes)?;
            if unchanged {
                old_tree.push((path.clone(), mode, id));
            }
            let copied = mode != FileMode::Link && (code.is_whole() || bytes.len() > MAX_IN_MEMORY);
            let content = match on_disk.filter(|_| copied) {
                Some(path) => Content::OnDisk(path),
                None => Content::InMemory(bytes),
            };
            files.push(CheckedFile { path, mode, id, content });
        }
        let old_tree: Vec<_> = old_tree.iter().map(|(path, mode, id)| (path.as_str(), *mode, *id)).collect();
        let new_tree: Vec<_> = files.iter().map(|f| (f.path.as_str(), f.mode, f.id)).collect();
        let (old_tree, new_tree) = (pack.tree(&old_tree)?, pack.tree(&new_tree)?);
        let pr = case.pr.clone().unwrap_or_default();
        let base = pack.commit(&old_tree, None, BEFORE_SECONDS, "Before the change")?;
        let head = pack.commit(&new_tree, Some(&base), AFTER_SECONDS, &message(&pr.title, &pr.description))?;
        // Outer folders sort before inner ones.
        let parents =
            |file: &CheckedFile| file.path.match_indices('/').map(|(at, _)| file.path[..at].to_owned()).collect();
        let folders = files.iter().flat_map::<Vec<String>, _>(parents).collect();
        let packed = pack.finish();
        Ok(Some(Self { base, head, title: pr.title, description: pr.description, diff, files, folders, packed }))
    }

    /// Writes the repository into a folder that does not exist yet.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)?;
        for inner in &self.folders {
            fs::create_dir(folder.join(inner))?;
        }
        let mut entries = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let meta = file.write(&folder.join(&file.path))?;
            entries.push((file.path.as_str(), file.mode, file.id, meta));
        }
        let git = folder.join(".git");
        // Git recognizes a repository by these folders. Others, which it creates itself, would cost time in each trial.
        for inner in ["", "objects", "objects/pack", "refs"] {
            fs::create_dir(git.join(inner))?;
        }
        let pack = git.join("objects/pack");
        let Packed { name, pack: objects, index: places } = &self.packed;
        fs::write(pack.join(format!("{name}.pack")), objects)?;
        fs::write(pack.join(format!("{name}.idx")), places)?;
        let refs = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{} refs/heads/{HEAD}\n{} refs/heads/{BASE}\n",
            self.head, self.base
        );
        fs::write(git.join("packed-refs"), refs)?;
        fs::write(git.join("HEAD"), format!("ref: refs/heads/{HEAD}\n"))?;
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
             [user]\n\tname = {AUTHOR}\n\temail = {ADDRESS}\n[gc]\n\tauto = 0\n"
        );
        fs::write(git.join("config"), config)?;
        fs::write(git.join("index"), index(&entries))
    }
}

impl CheckedFile {
    fn write(&self, target: &Path) -> io::Result<fs::Metadata> {
        if let (FileMode::Link, Content::InMemory(bytes)) = (self.mode, &self.content) {
            symlink(std::ffi::OsStr::from_bytes(bytes), target)?;
            return fs::symlink_metadata(target);
        }
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(self.mode as u32 & 0o777).open(target)?;
        match &self.content {
            Content::InMemory(bytes) => file.write_all(bytes)?,
            Content::OnDisk(path) => {
                io::copy(&mut karat_io::regular_file::open(path)?, &mut file)?;
            }
        }
        file.metadata()
    }
}

fn message(title: &str, description: &str) -> String {
    match (title.trim(), description.trim()) {
        ("", "") => "The change".to_owned(),
        (title, "") => title.to_owned(),
        ("", description) => format!("The change\n\n{description}"),
        (title, description) => format!("{title}\n\n{description}"),
    }
}

#[cfg(test)]
mod tests;
