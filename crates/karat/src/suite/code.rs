//! The code of a case, wherever it is: in its folder, among the suite's objects, or in a local mirror of its repository.
//! Whoever reads the code of a case reads it here.

use super::objects::{
    FileMode, LeftOut, Listing, StoredFile, TreeError, list_tree, object_path, read_object, usable_files,
};
use karat_core::suite::{Case, Trees};
use karat_format::diagnostic::Diagnostic;
use karat_io::files::Files;
use karat_source::git::{BlobReader, CommitId, GitError, Repository};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl Side {
    fn folder(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct CodeFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: FileMode,
    /// Where these bytes are.
    pub(crate) on_disk: Option<PathBuf>,
}

/// The code of a case that has some, or that has a folder where it could be.
#[derive(Debug)]
pub(super) struct CaseCode {
    pub(super) source: CodeSource,
    /// The files as the change left them.
    pub(super) after: Listing,
    /// Whether there were files and the change deleted all of them.
    pub(super) is_deletion: bool,
}

#[derive(Debug)]
pub(super) enum CodeSource {
    /// `before/` and `after/` in this folder of the suite.
    Folder(String),
    Objects(Trees),
    Mirror(Mirror),
}

/// Two commits of a repository on this machine.
#[derive(Debug)]
pub(super) struct Mirror {
    repo: Repository,
    before: Option<CommitId>,
    after: CommitId,
}

/// Why the code of a case cannot be read.
#[derive(Debug)]
pub(super) struct CodeFault {
    code: &'static str,
    message: String,
    help: Option<String>,
}

impl CodeFault {
    pub(super) fn in_file(self, file: String) -> Diagnostic {
        Diagnostic { help: self.help, ..Diagnostic::of_file(file, self.code, self.message) }
    }
}

impl From<io::Error> for CodeFault {
    fn from(error: io::Error) -> Self {
        Self { code: "unreadable", message: error.to_string(), help: None }
    }
}

impl From<GitError> for CodeFault {
    fn from(error: GitError) -> Self {
        Self { code: "unreadable", message: error.to_string(), help: None }
    }
}

/// The files of one side.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) files: Listing,
    /// Links that lead out of their side of the case.
    pub(super) refused: Vec<String>,
    /// Files of a mirror that could do harm.
    pub(super) left_out: LeftOut,
}

impl CodeSource {
    /// Where the code of a case is; `None` if it has no place for code.
    pub(super) fn find(files: &Files, case: &Case, folder: Option<&str>) -> Result<Option<Self>, CodeFault> {
        let elsewhere = case.trees.is_some() || case.rev.is_some();
        let has_own = |folder: &str| {
            let sides = [Side::Before, Side::After];
            sides.iter().any(|side| files.has_folder(&format!("{folder}/{}", side.folder())))
        };
        if elsewhere && folder.is_some_and(has_own) {
            return Err(CodeFault {
                code: "code-twice",
                message: format!("`{}` has its code in `before/` and `after/`, and elsewhere", case.id),
                help: Some("remove these folders, or the keys `trees`, `rev` and `base_rev`".to_owned()),
            });
        }
        // Names that cannot be right are reported where they stand.
        let trees = case.trees.iter().flat_map(|trees| trees.before.iter().chain([&trees.after]));
        if trees.chain(&case.rev).chain(&case.base_rev).any(|name| !matches!(name.len(), 40 | 64)) {
            return Ok(None);
        }
        if let Some(trees) = &case.trees {
            return Ok(Some(Self::Objects(trees.clone())));
        }
        if let (Some(repo), Some(rev)) = (&case.repo, &case.rev) {
            return mirror(files, repo, rev, case.base_rev.as_deref()).map(|mirror| Some(Self::Mirror(mirror)));
        }
        Ok(folder.map(|folder| Self::Folder(folder.to_owned())))
    }

    /// Whether the code is stored by content, and not in a folder that has the changed files alone.
    pub(super) fn is_whole(&self) -> bool {
        !matches!(self, Self::Folder(_))
    }

    /// Whether there is a state before the change, which it can be compared with. Git keeps no empty folder, so `after/` is missing
    /// where everything was deleted.
    pub(super) fn is_compared(&self, files: &Files, is_deletion: bool) -> bool {
        match self {
            Self::Folder(_) if is_deletion => true,
            Self::Folder(folder) => {
                files.has_folder(&format!("{folder}/before")) && files.has_folder(&format!("{folder}/after"))
            }
            Self::Objects(trees) => trees.before.is_some(),
            Self::Mirror(mirror) => mirror.before.is_some(),
        }
    }

    /// The hash of each side's content; nothing for a folder, whose files have to be read.
    pub(super) fn hashes(&self) -> Result<Vec<(String, blake3::Hash)>, GitError> {
        let named = |side: Side, name: &str| (side.folder().to_owned(), blake3::hash(name.as_bytes()));
        let mut hashes = Vec::new();
        match self {
            Self::Folder(_) => {}
            Self::Objects(trees) => {
                hashes.extend(trees.before.as_ref().map(|name| named(Side::Before, name)));
                hashes.push(named(Side::After, &trees.after));
            }
            Self::Mirror(Mirror { repo, before, after }) => {
                if let Some(before) = before {
                    hashes.push(named(Side::Before, &repo.tree_id(before)?));
                }
                hashes.push(named(Side::After, &repo.tree_id(after)?));
            }
        }
        Ok(hashes)
    }

    pub(super) fn list(&self, files: &Files, side: Side) -> io::Result<Listed> {
        match self {
            Self::Folder(folder) => {
                let walked = files.walk(&format!("{folder}/{}", side.folder()))?;
                let own = |path: &String| !path.split('/').any(|part| part.eq_ignore_ascii_case(".git"));
                // The mode is looked up when the file is read.
                let stored = || StoredFile { mode: FileMode::Plain, id: String::new() };
                let listing = walked.files.into_iter().filter(own).map(|path| (path, stored())).collect();
                Ok(Listed { files: listing, refused: walked.refused, left_out: LeftOut::new() })
            }
            Self::Objects(trees) => {
                let name = match side {
                    Side::Before => trees.before.as_ref(),
                    Side::After => Some(&trees.after),
                };
                let listing = name.map_or_else(|| Ok(Listing::new()), |name| list_tree(files, name))?;
                Ok(Listed { files: listing, ..Listed::default() })
            }
            Self::Mirror(mirror) => mirror.list(side).map_err(io::Error::other),
        }
    }
}

impl Mirror {
    fn list(&self, side: Side) -> Result<Listed, TreeError> {
        let commit = match side {
            Side::Before => self.before.as_ref(),
            Side::After => Some(&self.after),
        };
        let mut listed = Listed::default();
        let Some(commit) = commit else { return Ok(listed) };
        let mut blobs = self.repo.blobs()?;
        for file in usable_files(&self.repo, commit, &mut blobs, &mut listed.left_out)? {
            listed.files.insert(file.path.to_string(), StoredFile { mode: file.kind.into(), id: file.id });
        }
        Ok(listed)
    }
}

impl CaseCode {
    /// Whether there is any code, after the change or only before it.
    pub(super) fn has_files(&self) -> bool {
        !self.after.is_empty() || self.is_deletion
    }

    /// Reads files after the change.
    pub(super) fn after<'a>(&'a self, files: &'a Files) -> CodeReader<'a> {
        CodeReader::new(files, &self.source, Listing::new(), Cow::Borrowed(&self.after))
    }

    /// Reads both sides.
    pub(super) fn both<'a>(&'a self, files: &'a Files) -> io::Result<CodeReader<'a>> {
        let before = self.source.list(files, Side::Before)?.files;
        Ok(CodeReader::new(files, &self.source, before, Cow::Borrowed(&self.after)))
    }
}

/// Reads the code of one case.
pub(crate) struct CodeReader<'a> {
    files: &'a Files,
    source: &'a CodeSource,
    before: Listing,
    after: Cow<'a, Listing>,
    /// Started when first needed.
    blobs: Option<BlobReader>,
}

impl<'a> CodeReader<'a> {
    pub(super) fn new(files: &'a Files, source: &'a CodeSource, before: Listing, after: Cow<'a, Listing>) -> Self {
        Self { files, source, before, after, blobs: None }
    }

    pub(super) fn into_after(self) -> Listing {
        self.after.into_owned()
    }

    /// The paths of both sides.
    pub(crate) fn paths(&self) -> BTreeSet<String> {
        self.before.keys().chain(self.after.keys()).cloned().collect()
    }

    /// The paths of files after the change.
    pub(crate) fn after_paths(&self) -> Vec<String> {
        self.after.keys().cloned().collect()
    }

    /// Whether the tree is whole, so that most of it has nothing to do with the change.
    pub(crate) fn is_whole(&self) -> bool {
        self.source.is_whole()
    }

    /// Whether a file is known to be the same on both sides without reading it.
    pub(crate) fn is_unchanged(&self, path: &str) -> bool {
        self.before.get(path).is_some_and(|old| !old.id.is_empty() && self.after.get(path) == Some(old))
    }

    pub(crate) fn has(&self, side: Side, path: &str) -> bool {
        self.listing(side).contains_key(path)
    }

    fn listing(&self, side: Side) -> &Listing {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }

    /// A file of one side; `None` if there is none.
    pub(crate) fn read(&mut self, side: Side, path: &str) -> io::Result<Option<CodeFile>> {
        if let CodeSource::Folder(folder) = self.source {
            let path = format!("{folder}/{}/{path}", side.folder());
            let Some(bytes) = self.files.read(&path)? else { return Ok(None) };
            let on_disk = self.files.on_disk(&path);
            let meta = on_disk.as_deref().and_then(|path| fs::metadata(path).ok());
            let is_executable = meta.is_some_and(|meta| meta.permissions().mode() & 0o100 != 0);
            let mode = if is_executable { FileMode::Executable } else { FileMode::Plain };
            return Ok(Some(CodeFile { bytes, mode, on_disk }));
        }
        let Some(StoredFile { mode, id }) = self.listing(side).get(path).cloned() else { return Ok(None) };
        match self.source {
            CodeSource::Mirror(mirror) => {
                let blobs = match self.blobs.take() {
                    Some(blobs) => blobs,
                    None => mirror.repo.blobs().map_err(io::Error::other)?,
                };
                let bytes = self.blobs.insert(blobs).read(&id).map_err(io::Error::other)?;
                Ok(Some(CodeFile { bytes, mode, on_disk: None }))
            }
            _ => {
                let bytes = read_object(self.files, &id)?;
                Ok(Some(CodeFile { bytes, mode, on_disk: self.files.on_disk(&object_path(&id)) }))
            }
        }
    }
}

/// The objects of a case that are missing or damaged, in words.
pub(super) fn damaged_objects(files: &Files, code: &CaseCode, sound: &mut BTreeSet<String>) -> Vec<String> {
    let CodeSource::Objects(_) = &code.source else { return Vec::new() };
    let before = code.source.list(files, Side::Before).map(|listed| listed.files).unwrap_or_default();
    let mut damaged = Vec::new();
    for StoredFile { id, .. } in before.values().chain(code.after.values()) {
        if !sound.contains(id) {
            match read_object(files, id) {
                Ok(_) => drop(sound.insert(id.clone())),
                Err(error) => damaged.push(error.to_string()),
            }
        }
    }
    damaged.sort();
    damaged.dedup();
    damaged
}

/// Folders with mirrors that the user named, separated as in `PATH`.
const MIRRORS: &str = "KARAT_MIRRORS";

/// Finds the commits of a case in a repository on this machine. A suite cannot name a folder outside itself.
fn mirror(files: &Files, repo: &str, rev: &str, base_rev: Option<&str>) -> Result<Mirror, CodeFault> {
    let names = mirror_names(repo);
    let mut looked_in = Vec::new();
    let mut without_commit = None;
    let suite = if let Files::Disk(root) = files { Some(root.as_path()) } else { None };
    for (parent, inside) in mirror_folders(suite) {
        looked_in.push(parent.display().to_string());
        for folder in names.iter().map(|name| parent.join(name)) {
            let leads_out = |root: &PathBuf| !folder.canonicalize().is_ok_and(|real| real.starts_with(root));
            if inside.as_ref().is_some_and(leads_out) {
                continue;
            }
            let Ok(repository) = Repository::open_exactly(&folder) else { continue };
            match commits(repository, rev, base_rev) {
                Err(GitError::UnknownRevision { rev, .. }) => without_commit = Some((folder, rev)),
                found => return Ok(found?),
            }
        }
    }
    if let Some((folder, rev)) = without_commit {
        let message = format!("the commit {rev} of `{repo}` is not in {}", folder.display());
        let help = format!("fetch it: `git -C {} fetch`", folder.display());
        return Err(CodeFault { code: "no-commit", message, help: Some(help) });
    }
    let looked = if looked_in.is_empty() { "nowhere".to_owned() } else { looked_in.join(", ") };
    let example = names.first().map_or("NAME", String::as_str);
    let message = format!("there is no mirror of `{repo}` on this machine; looked in {looked}");
    let help =
        format!("clone it to `{}/{example}`, or set {MIRRORS} to the folder that has it", files.display("mirrors"));
    Err(CodeFault { code: "no-mirror", message, help: Some(help) })
}

fn commits(repo: Repository, rev: &str, base_rev: Option<&str>) -> Result<Mirror, GitError> {
    let after = repo.resolve(rev)?;
    let before = match base_rev {
        Some(base) => Some(repo.resolve(base)?),
        None => repo.parents(&after)?.into_iter().next(),
    };
    Ok(Mirror { repo, before, after })
}

/// Where mirrors are looked for; those in the suite with the folder that they must not leave.
pub(crate) fn mirror_folders(suite: Option<&Path>) -> Vec<(PathBuf, Option<PathBuf>)> {
    let mut folders = Vec::new();
    if let Some(root) = suite {
        folders.extend(root.canonicalize().ok().map(|real| (root.join("mirrors"), Some(real))));
    }
    let named = std::env::var_os(MIRRORS).unwrap_or_default();
    let named = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
    folders.extend(named.map(|path| (path, None)));
    folders
}

/// The names under which a mirror of a repository may lie in a folder, the most exact ones first.
fn mirror_names(repo: &str) -> Vec<String> {
    let address = repo.split_once("://").map_or(repo, |(_, rest)| rest);
    let address = address.rsplit_once('@').map_or(address, |(_, rest)| rest).replace(':', "/");
    let address = address.trim_matches('/').trim_end_matches(".git");
    let parts: Vec<&str> = address.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || part.starts_with('.') || part.contains(['\\', '\0'])) {
        return Vec::new();
    }
    let mut lengths = vec![parts.len(), 2.min(parts.len()), 1];
    lengths.dedup();
    let tails = lengths.into_iter().map(|length| parts[parts.len() - length..].join("/"));
    tails.flat_map(|name| [format!("{name}.git"), name]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_have_the_names_of_their_repositories() {
        let check = |repo: &str, expect: &[&str]| assert_eq!(mirror_names(repo), expect, "{repo}");
        check("app", &["app.git", "app"]);
        let long = ["host/owner/app.git", "host/owner/app", "owner/app.git", "owner/app", "app.git", "app"];
        check("https://host/owner/app.git", &long);
        check("git@host:owner/app", &long);
        check("owner/app/", &["owner/app.git", "owner/app", "app.git", "app"]);
        for hostile in ["../app", "/..", "a//b", "", ".git", "a/.hidden", "file:///"] {
            check(hostile, &[]);
        }
        check("/etc/app", &["etc/app.git", "etc/app", "app.git", "app"]);
    }
}
