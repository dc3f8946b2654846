//! Whole trees in a suite, stored by content: identical files and folders of all cases exist once, under `objects/`.
//!
//! An object is named by the BLAKE3 hash of its content, which is checked whenever it is read. A tree is a text with one line
//! for each entry: mode, object and name. Trees may come from anybody, so every name and link in them is checked.

use super::write::write_below;
use karat_core::path::RepoPath;
use karat_io::content_hash;
use karat_io::files::Files;
use karat_source::git::{BlobReader, CommitId, FileKind, GitError, Repository, TreeFile};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Longer files of a tree are left out.
const MAX_FILE: u64 = 64 << 20;
const MAX_TREE: u64 = 1 << 30;
const MAX_FILES: usize = 200_000;
const MAX_PATH: usize = 4_096;
const MAX_LINK: u64 = 4_096;

const FOLDER: &str = "40000";

/// The mode of a file, by the number that git writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    Plain = 0o100_644,
    Executable = 0o100_755,
    /// A symbolic link, whose content is its target.
    Link = 0o120_000,
}

/// A file as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredFile {
    pub(super) mode: FileMode,
    /// Equal for equal contents; empty in a folder.
    pub(super) id: String,
}

pub(super) type Listing = BTreeMap<String, StoredFile>;

/// Paths that were left out, by the reason.
pub(super) type LeftOut = BTreeMap<&'static str, Vec<String>>;

/// The path of an object in its suite.
pub(super) fn object_path(name: &str) -> String {
    let (first, rest) = name.split_at_checked(2).unwrap_or((name, ""));
    format!("objects/{first}/{rest}")
}

pub(super) fn read_object(files: &Files, name: &str) -> io::Result<Vec<u8>> {
    let path = object_path(name);
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{} is missing", files.display(&path)));
    let bytes = files.read(&path)?.ok_or_else(missing)?;
    if content_hash(&bytes) != name {
        return Err(invalid(format!("{} is damaged: its content does not fit its name", files.display(&path))));
    }
    Ok(bytes)
}

/// A line of a tree.
pub(super) struct TreeEntry {
    mode: String,
    pub(super) object: String,
    name: String,
}

impl TreeEntry {
    pub(super) fn is_folder(&self) -> bool {
        self.mode == FOLDER
    }
}

/// The entries of one folder, unchecked.
pub(super) fn read_tree(files: &Files, tree: &str) -> io::Result<Vec<TreeEntry>> {
    let text = String::from_utf8(read_object(files, tree)?)
        .map_err(|_| invalid(format!("the object {tree} is not a tree: it is not UTF-8 text")))?;
    let entry = |line: &str| {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let [mode, object, name] = words[..] else {
            return Err(invalid(format!("the object {tree} is not a tree: {line:?}")));
        };
        Ok(TreeEntry { mode: mode.to_owned(), object: object.to_owned(), name: name.to_owned() })
    };
    text.lines().map(entry).collect()
}

/// All files of a tree. A tree that could harm anybody is refused.
pub(super) fn list_tree(files: &Files, name: &str) -> io::Result<Listing> {
    let mut listing = Listing::new();
    let mut open = vec![(String::new(), name.to_owned())];
    while let Some((prefix, name)) = open.pop() {
        let mut seen = HashSet::new();
        for entry in read_tree(files, &name)? {
            let path = format!("{prefix}{}", entry.name);
            let refused = |why: &str| invalid(format!("the tree {name} is refused: {path:?} {why}"));
            if !is_safe_name(&entry.name) || path.len() > MAX_PATH {
                return Err(refused("is no name of a file"));
            }
            if !seen.insert(entry.name.to_lowercase()) {
                return Err(refused("is there twice, or differs from another name only in case"));
            }
            let mode = match entry.mode.as_str() {
                FOLDER => {
                    open.push((format!("{path}/"), entry.object));
                    continue;
                }
                "100644" => FileMode::Plain,
                "100755" => FileMode::Executable,
                "120000" => FileMode::Link,
                _ => return Err(refused("has an unknown mode")),
            };
            if mode == FileMode::Link && !link_stays_inside(&path, &read_object(files, &entry.object)?) {
                return Err(refused("is a link that leads out of the tree"));
            }
            listing.insert(path, StoredFile { mode, id: entry.object });
        }
        // A small tree can name itself so often that it has no end.
        if listing.len() + open.len() > MAX_FILES {
            return Err(invalid(format!("the tree {name} has more than {MAX_FILES} files")));
        }
    }
    Ok(listing)
}

/// Adds objects to a suite.
pub(super) struct ObjectWriter {
    suite: PathBuf,
    /// The objects of contents that git has, by git's id.
    known: HashMap<String, String>,
}

impl ObjectWriter {
    pub(super) fn new(suite: &Path) -> Self {
        Self { suite: suite.to_owned(), known: HashMap::new() }
    }

    /// Stores all files of a commit and returns the name of the tree.
    pub(super) fn put_commit(
        &mut self,
        repo: &Repository,
        commit: &CommitId,
        left_out: &mut LeftOut,
    ) -> Result<String, TreeError> {
        let mut blobs = repo.blobs()?;
        let mut listing = Listing::new();
        for TreeFile { path, kind, id, .. } in usable_files(repo, commit, &mut blobs, left_out)? {
            let object = match self.known.get(&id) {
                Some(object) => object.clone(),
                None => {
                    let object = self.put(&blobs.read(&id)?)?;
                    self.known.insert(id, object.clone());
                    object
                }
            };
            listing.insert(path.to_string(), StoredFile { mode: kind.into(), id: object });
        }
        Ok(self.put_tree(&listing)?)
    }

    fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let name = content_hash(bytes);
        let path = self.suite.join(object_path(&name));
        if fs::symlink_metadata(&path).is_ok_and(|there| there.is_file() && there.len() == bytes.len() as u64) {
            return Ok(name);
        }
        fs::create_dir_all(&self.suite)?;
        write_below(&self.suite, &object_path(&name), bytes)?;
        // Nobody has a reason to edit it.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444))?;
        Ok(name)
    }

    fn put_tree(&self, listing: &Listing) -> io::Result<String> {
        let mut lines: BTreeMap<&str, String> = BTreeMap::new();
        let mut folders: BTreeMap<&str, Listing> = BTreeMap::new();
        for (path, file) in listing {
            match path.split_once('/') {
                Some((folder, rest)) => {
                    folders.entry(folder).or_default().insert(rest.to_owned(), file.clone());
                }
                None => {
                    lines.insert(path, format!("{:o} {} {path}\n", file.mode as u32, file.id));
                }
            }
        }
        for (folder, inner) in &folders {
            lines.insert(folder, format!("{FOLDER} {} {folder}\n", self.put_tree(inner)?));
        }
        self.put(lines.into_values().collect::<String>().as_bytes())
    }
}

/// Why the tree of a commit cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum TreeError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the tree of {commit} is too large for a case: more than 1 GiB, or more than {MAX_FILES} files")]
    TooLarge { commit: CommitId },
}

impl From<FileKind> for FileMode {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::Executable => Self::Executable,
            FileKind::Link => Self::Link,
            FileKind::Plain | FileKind::Submodule => Self::Plain,
        }
    }
}

/// The files of a commit that can be written anywhere without harm; the others are named with the reason.
pub(super) fn usable_files(
    repo: &Repository,
    commit: &CommitId,
    blobs: &mut BlobReader,
    left_out: &mut LeftOut,
) -> Result<Vec<TreeFile>, TreeError> {
    let tree = repo.tree(commit)?;
    let mut usable = Vec::new();
    let mut names = BTreeSet::new();
    let mut leave_out = |why, path: String| left_out.entry(why).or_default().push(path);
    tree.odd_paths.into_iter().for_each(|path| leave_out("having a name that not every system can hold", path));
    for file in tree.files {
        let why = if file.kind == FileKind::Submodule {
            "being a submodule"
        } else if !is_safe_path(&file.path) {
            "leading out of the case or into `.git`"
        } else if file.kind == FileKind::Link
            && (file.size > MAX_LINK || !link_stays_inside(file.path.as_str(), &blobs.read(&file.id)?))
        {
            "being a link that leads out of the tree"
        } else if file.size > MAX_FILE {
            "being longer than 64 MiB"
        } else if !names.insert(file.path.as_str().to_lowercase()) {
            "having a name that differs from another only in case"
        } else {
            usable.push(file);
            continue;
        };
        leave_out(why, file.path.to_string());
    }
    // A file or a link where others need a folder.
    let (usable, below): (Vec<_>, Vec<_>) = usable.into_iter().partition(|file| {
        let path = file.path.as_str().to_lowercase();
        !path.match_indices('/').any(|(at, _)| names.contains(&path[..at]))
    });
    below.into_iter().for_each(|file| leave_out("lying below another file", file.path.to_string()));
    let size: u64 = usable.iter().map(|file| file.size).sum();
    if size > MAX_TREE || usable.len() > MAX_FILES {
        return Err(TreeError::TooLarge { commit: commit.clone() });
    }
    Ok(usable)
}

/// Whether a path stays inside its folder and creates no repository there.
pub(super) fn is_safe_path(path: &RepoPath) -> bool {
    !path.escapes() && path.as_str().len() <= MAX_PATH && path.as_str().split('/').all(is_safe_name)
}

fn is_safe_name(name: &str) -> bool {
    let special = name.is_empty() || name == "." || name == ".." || is_git(name);
    !special && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'))
}

/// Also the short name of `.git` on Windows.
fn is_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

/// Whether the target of a link lies in the tree. `..` may only come first: after a name, which may be a link itself, it could
/// lead anywhere.
fn link_stays_inside(path: &str, target: &[u8]) -> bool {
    let Ok(target) = str::from_utf8(target) else { return false };
    let parts: Vec<&str> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let up = parts.iter().take_while(|part| **part == "..").count();
    let plain = parts[up..].iter().all(|part| is_safe_name(part));
    !target.is_empty() && !target.starts_with('/') && plain && up <= path.matches('/').count()
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::from_commit::scratch_repository::Scratch;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn links_stay_in_their_tree() {
        let check = |path: &str, target: &str, expect: bool| {
            assert_eq!(link_stays_inside(path, target.as_bytes()), expect, "{path} -> {target}");
        };
        check("a", "b", true);
        check("a", "./b/c", true);
        check("d/a", "../b", true);
        check("d/a", "..", true);
        check("d/a", "../../b", false);
        check("a", "/etc/passwd", false);
        check("a", "", false);
        check("a", "b/../../c", false);
        check("p/q/r", "s/../..", false);
        check("a", ".git/config", false);
        check("a", "x/.GIT", false);
        check("a", "b\\c", false);
    }

    fn suite() -> (tempfile::TempDir, ObjectWriter, Files) {
        let folder = tempfile::tempdir().unwrap();
        let (writer, files) = (ObjectWriter::new(folder.path()), Files::Disk(folder.path().to_owned()));
        (folder, writer, files)
    }

    #[test]
    fn trees_come_back_and_equal_parts_exist_once() {
        let (folder, writer, files) = suite();
        let id = writer.put(b"x = 1\n").unwrap();
        let target = writer.put(b"../a.py").unwrap();
        let mut listing = Listing::new();
        let mut add = |path: &str, mode, id: &str| {
            listing.insert(path.to_owned(), StoredFile { mode, id: id.to_owned() });
        };
        add("a.py", FileMode::Plain, &id);
        add("a/b.py", FileMode::Executable, &id);
        add("a-b", FileMode::Plain, &id);
        add("c/b.py", FileMode::Executable, &id);
        add("d/link", FileMode::Link, &target);
        let tree = writer.put_tree(&listing).unwrap();
        assert_eq!(list_tree(&files, &tree).unwrap(), listing);
        assert_eq!(writer.put_tree(&listing).unwrap(), tree);
        // Two contents, and the trees of the root, of `a` and `c` together, and of `d`.
        assert_eq!(files.walk("objects").unwrap().files.len(), 5);
        let path = folder.path().join(object_path(&id));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&path, "x = 2\n").unwrap();
        assert!(read_object(&files, &id).unwrap_err().to_string().contains("is damaged"));
        fs::remove_file(&path).unwrap();
        assert!(read_object(&files, &id).unwrap_err().to_string().contains("is missing"));
    }

    #[test]
    fn hostile_trees_are_refused() {
        let (_folder, writer, files) = suite();
        let id = writer.put(b"x").unwrap();
        let out = writer.put(b"/etc/passwd").unwrap();
        let check = |text: &str, expect: &str| {
            let tree = writer.put(text.as_bytes()).unwrap();
            let error = list_tree(&files, &tree).expect_err(text).to_string();
            assert!(error.contains(expect), "{text}: {error}");
        };
        check(&format!("100644 {id} ..\n"), "is no name of a file");
        check(&format!("100644 {id} a/b\n"), "is no name of a file");
        check(&format!("40000 {id} .Git\n"), "is no name of a file");
        check(&format!("100644 {id} a\n100644 {id} A\n"), "only in case");
        check(&format!("120000 {out} a\n"), "leads out of the tree");
        check(&format!("160000 {id} a\n"), "unknown mode");
        check("what\n", "is not a tree");
        check(&format!("40000 {} a\n", "0".repeat(64)), "is missing");
        // Each of these has the one before ten times.
        let mut tree = writer.put(format!("100644 {id} f\n").as_bytes()).unwrap();
        for _ in 0..8 {
            let text: String = (0..10).map(|at| format!("40000 {tree} {at}\n")).collect();
            tree = writer.put(text.as_bytes()).unwrap();
        }
        assert!(list_tree(&files, &tree).unwrap_err().to_string().contains("more than"));
    }

    #[test]
    fn hostile_commits_are_made_harmless() {
        let scratch = Scratch::new();
        scratch.write("text", "README").commit("one");
        let ask = |args: &[&str], input: &str| {
            let mut command = Command::new("git");
            command
                .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
                .args(args)
                .current_dir(scratch.path());
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
        };
        let blob = ask(&["rev-parse", "HEAD:text"], "");
        let inner = ask(&["mktree"], &format!("100644 blob {blob}\tx\n"));
        let out = ask(&["hash-object", "-w", "--stdin"], "../../etc");
        let entries = [
            format!("100644 blob {blob}\tREADME\n100644 blob {blob}\treadme\n100755 blob {blob}\trun\n"),
            format!(
                "40000 tree {inner}\t..\n40000 tree {inner}\t.GIT\n160000 commit {}\tsub\n",
                ask(&["rev-parse", "HEAD"], "")
            ),
            format!("120000 blob {blob}\tlinked\n40000 tree {inner}\tlinked\n120000 blob {out}\tout\n"),
        ];
        let tree = ask(&["mktree"], &entries.concat());
        let commit = ask(&["commit-tree", "-m", "hostile", &tree], "");
        let repo = scratch.open();
        let (folder, mut writer, files) = suite();
        let mut left_out = LeftOut::new();
        let stored = writer.put_commit(&repo, &repo.resolve(&commit).unwrap(), &mut left_out).unwrap();
        let listed: Vec<_> =
            list_tree(&files, &stored).unwrap().into_iter().map(|(path, file)| (path, file.mode)).collect();
        let expect = [("README", FileMode::Plain), ("linked", FileMode::Link), ("run", FileMode::Executable)];
        assert_eq!(listed, expect.map(|(path, mode)| (path.to_owned(), mode)));
        let left_out: Vec<String> =
            left_out.into_iter().map(|(why, paths)| format!("{why}: {}", paths.join(" "))).collect();
        let expect = [
            "being a link that leads out of the tree: out",
            "being a submodule: sub",
            "having a name that differs from another only in case: readme",
            "leading out of the case or into `.git`: ../x .GIT/x",
            "lying below another file: linked/x",
        ];
        assert_eq!(left_out, expect);
        drop(folder);
    }
}
