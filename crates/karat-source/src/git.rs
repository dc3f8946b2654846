//! A thin wrapper of the `git` program.
//!
//! Repositories are untrusted: nothing a repository configures is run (no pager, hooks, external diffs or signature checks),
//! revisions that look like options are rejected, and after [`Repository::resolve`] only full commit ids are passed on.

mod apply;
mod blame;
mod tree;

pub use apply::apply_patch;
pub use blame::BlamedLine;
pub use tree::{BlobReader, CommitTree, FileKind, TreeFile};

use karat_core::path::RepoPath;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository, opened from a folder inside it.
#[derive(Clone, Debug)]
pub struct Repository {
    dir: PathBuf,
    /// Given where no folder above `dir` may be searched for a repository.
    git_dir: Option<PathBuf>,
}

/// The full id of an existing commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitId(String);

impl CommitId {
    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for display.
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One side of a changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Entry {
    /// From the root of the repository.
    pub path: RepoPath,
    /// Rather than a symbolic link, or another repository without content here.
    pub is_file: bool,
    pub content: String,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// `None` where the file was added.
    pub old: Option<Entry>,
    /// `None` where the file was deleted.
    pub new: Option<Entry>,
}

/// The files that differ between two commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// In the order of their paths.
    pub files: Vec<FileChange>,
    /// Changed paths that are not portable, such as names that are not UTF-8 or contain backslashes.
    pub odd_paths: Vec<String>,
}

/// An error of a git command.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum GitError {
    #[error("the `git` program was not found; install it (https://git-scm.com/downloads) and add it to the PATH")]
    NotInstalled,
    #[error("{}: no such folder", .dir.display())]
    NoSuchFolder { dir: PathBuf },
    #[error("{}: this folder is not in a git repository; name one that is, or run `git init` there", .dir.display())]
    NotARepository { dir: PathBuf },
    #[error("invalid revision {rev:?}: expected a commit id, a branch or a tag, without options")]
    BadRevision { rev: String },
    #[error("{rev:?} names no commit in {}; see `git log`, or run `git fetch` if it is on a remote", .dir.display())]
    UnknownRevision { rev: String, dir: PathBuf },
    #[error(
        "the parent of {commit} is not in this clone; run `git fetch --deepen=1`, or `git fetch --unshallow` for everything"
    )]
    MissingParent { commit: CommitId },
    #[error("git {verb}: {source}")]
    Io { verb: String, source: io::Error },
    #[error("git {verb} failed: {message}")]
    Failed { verb: String, message: String },
    #[error("git {verb} gave an unexpected answer ({answer:?}); git 2.30 or newer is needed")]
    Unexpected { verb: String, answer: String },
}

impl Repository {
    /// The repository that `dir` lies in.
    pub fn open(dir: &Path) -> Result<Self, GitError> {
        let repository = Self { dir: dir.to_owned(), git_dir: None };
        if !dir.is_dir() {
            return Err(GitError::NoSuchFolder { dir: dir.to_owned() });
        }
        match repository.run(&["rev-parse", "--show-prefix"]) {
            Err(GitError::Failed { message, .. }) if message.contains("not a git repository") => {
                Err(GitError::NotARepository { dir: dir.to_owned() })
            }
            answer => answer.map(|_| repository),
        }
    }

    /// The repository in this very folder, with a working tree or bare. Folders above it are not searched, and a `.git` that
    /// points elsewhere is not followed.
    pub fn open_exactly(dir: &Path) -> Result<Self, GitError> {
        if !dir.is_dir() {
            return Err(GitError::NoSuchFolder { dir: dir.to_owned() });
        }
        let own = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let inner = dir.join(".git");
        let git_dir = if own(&inner) { inner } else { dir.to_owned() };
        if !own(&git_dir.join("objects")) || git_dir.join("commondir").exists() {
            return Err(GitError::NotARepository { dir: dir.to_owned() });
        }
        let git_dir = git_dir.canonicalize().map_err(|source| GitError::Io { verb: "open".to_owned(), source })?;
        Ok(Self { dir: dir.to_owned(), git_dir: Some(git_dir) })
    }

    /// The commit of a branch, a tag, an id or another expression.
    pub fn resolve(&self, rev: &str) -> Result<CommitId, GitError> {
        if rev.trim().is_empty() || rev.starts_with('-') || rev.chars().any(char::is_control) {
            return Err(GitError::BadRevision { rev: rev.to_owned() });
        }
        let peeled = format!("{rev}^{{commit}}");
        match self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]) {
            Ok(answer) => object_id("rev-parse", &answer).map(CommitId),
            Err(GitError::Failed { .. }) => {
                Err(GitError::UnknownRevision { rev: rev.to_owned(), dir: self.dir.clone() })
            }
            Err(other) => Err(other),
        }
    }

    /// All parents, in order. A parent that is missing in a shallow clone is an error.
    pub fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        // The raw commit names its parents even in a shallow clone.
        let raw = self.run(&["cat-file", "commit", commit.as_str()])?;
        let header = raw.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
        let ids = header.filter_map(|line| line.strip_prefix(b"parent "));
        let parents = ids.map(|id| object_id("cat-file", id).map(CommitId)).collect::<Result<Vec<_>, _>>()?;
        for parent in &parents {
            if let Err(GitError::Failed { .. }) = self.run(&["cat-file", "-e", parent.as_str()]) {
                return Err(GitError::MissingParent { commit: commit.clone() });
            }
        }
        Ok(parents)
    }

    /// The title and the body of a commit's message.
    pub fn message(&self, commit: &CommitId) -> Result<(String, String), GitError> {
        let args = ["log", "-1", "--no-show-signature", "--no-notes", "--encoding=UTF-8", "--format=%s%x00%b"];
        let answer = self.run(&[&args[..], &[commit.as_str(), "--"]].concat())?;
        let answer = String::from_utf8_lossy(&answer);
        let (title, body) = answer.split_once('\0').ok_or_else(|| unexpected("log", answer.as_bytes()))?;
        Ok((title.trim().to_owned(), body.trim().to_owned()))
    }

    /// The files that differ, with renames detected; `from` is `None` for the state before the first commit.
    pub fn changed_files(&self, from: Option<&CommitId>, to: &CommitId) -> Result<Changes, GitError> {
        let from = match from {
            Some(commit) => commit.as_str().to_owned(),
            // The id of the empty tree, in the hash of the repository.
            None => object_id("hash-object", &self.run(&["hash-object", "-t", "tree", "--stdin"])?)?,
        };
        let flags = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "-M", "-l2000"];
        let answer = self.run(&[&flags[..], &[from.as_str(), to.as_str(), "--"]].concat())?;
        parse_changes(&answer)
    }

    /// The entry at a path in a commit; `None` for a folder or a missing path.
    pub fn entry(&self, commit: &CommitId, path: &RepoPath) -> Result<Option<Entry>, GitError> {
        if path.escapes() {
            return Ok(None);
        }
        let answer = self.run(&["ls-tree", "-z", "--full-tree", commit.as_str(), "--", path.as_str()])?;
        for record in answer.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let text = String::from_utf8_lossy(record);
            let (head, name) = text.split_once('\t').ok_or_else(|| unexpected("ls-tree", record))?;
            let mut words = head.split(' ');
            let (mode, kind, id) = (words.next(), words.next(), words.next());
            if name == path.as_str() && kind != Some("tree") {
                let content = object_id("ls-tree", id.unwrap_or_default().as_bytes())?;
                return Ok(Some(Entry { path: path.clone(), is_file: mode.is_some_and(is_file), content }));
            }
        }
        Ok(None)
    }

    /// The content of a file; `None` where it is longer than `limit` bytes.
    pub fn content(&self, entry: &Entry, limit: u64) -> Result<Option<Vec<u8>>, GitError> {
        let failed = |source| GitError::Io { verb: "cat-file".to_owned(), source };
        let mut command = self.command(&["cat-file", "blob", &entry.content]);
        command.stderr(Stdio::null());
        let mut child = command.spawn().map_err(|source| start_error("cat-file", source))?;
        let mut bytes = Vec::new();
        let read = match child.stdout.take() {
            Some(stdout) => stdout.take(limit.saturating_add(1)).read_to_end(&mut bytes),
            None => Ok(0),
        };
        let too_long = bytes.len() as u64 > limit;
        if too_long {
            // Fails if it has already exited.
            let _ = child.kill();
        }
        let status = child.wait().map_err(failed)?;
        read.map_err(failed)?;
        if too_long {
            return Ok(None);
        }
        if !status.success() {
            let message = format!("the content of {} could not be read", entry.path);
            return Err(GitError::Failed { verb: "cat-file".to_owned(), message });
        }
        Ok(Some(bytes))
    }

    fn run(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let verb = args.first().copied().unwrap_or_default();
        let output = self.command(args).output().map_err(|source| start_error(verb, source))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stderr = stderr.trim().trim_start_matches("fatal: ");
        let message = if stderr.is_empty() { output.status.to_string() } else { stderr.chars().take(2_000).collect() };
        Err(GitError::Failed { verb: verb.to_owned(), message })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        if let Some(git_dir) = &self.git_dir {
            command.arg("--git-dir").arg(git_dir);
        }
        command.args(["--no-pager", "--literal-pathspecs", "--no-replace-objects"]);
        for setting in
            ["core.quotePath=false", "core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false"]
        {
            command.args(["-c", setting]);
        }
        command.args(args).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("LC_ALL", "C").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
        // Inside a hook these point to another repository than the folder.
        for name in
            ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF"]
        {
            command.env_remove(name);
        }
        command
    }
}

/// Whether content is binary by git's rule: a zero byte near the beginning.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_000).any(|&byte| byte == 0)
}

/// Parses `:<old mode> <new mode> <old id> <new id> <status>`, then one path, or two for a rename, each ended by a zero byte.
fn parse_changes(answer: &[u8]) -> Result<Changes, GitError> {
    let mut changes = Changes::default();
    let mut fields = answer.split(|&byte| byte == 0);
    while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
        let text = String::from_utf8_lossy(head);
        let words: Vec<&str> = text.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, status] = words[..] else { return Err(unexpected("diff-tree", head)) };
        // Added, copied, deleted, modified, renamed, or of another type.
        if !status.starts_with(['A', 'C', 'D', 'M', 'R', 'T']) {
            return Err(unexpected("diff-tree", head));
        }
        let old_name = fields.next().ok_or_else(|| unexpected("diff-tree", head))?;
        let renamed = status.starts_with(['R', 'C']);
        let new_name = if renamed { fields.next().ok_or_else(|| unexpected("diff-tree", head))? } else { old_name };
        let mut side = |name: &[u8], mode: &str, id: &str| {
            let path = portable_path(name);
            if path.is_none() {
                let name = String::from_utf8_lossy(name).into_owned();
                if changes.odd_paths.last() != Some(&name) {
                    changes.odd_paths.push(name);
                }
            }
            Some(Entry { path: path?, is_file: is_file(mode), content: id.to_owned() })
        };
        let old = if status.starts_with(['A', 'C']) { None } else { side(old_name, old_mode, old_id) };
        let new = if status.starts_with('D') { None } else { side(new_name, new_mode, new_id) };
        if old.is_some() || new.is_some() {
            changes.files.push(FileChange { old, new });
        }
    }
    Ok(changes)
}

/// A path that every system can hold.
fn portable_path(name: &[u8]) -> Option<RepoPath> {
    let name = str::from_utf8(name).ok()?;
    RepoPath::new(name).filter(|path| path.as_str() == name)
}

fn is_file(mode: &str) -> bool {
    matches!(mode, "100644" | "100755" | "100664")
}

fn object_id(verb: &str, answer: &[u8]) -> Result<String, GitError> {
    let text = String::from_utf8_lossy(answer);
    let id = text.trim();
    let valid = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if valid { Ok(id.to_owned()) } else { Err(unexpected(verb, answer)) }
}

fn unexpected(verb: &str, answer: &[u8]) -> GitError {
    let answer = String::from_utf8_lossy(answer).chars().take(80).collect();
    GitError::Unexpected { verb: verb.to_owned(), answer }
}

fn start_error(verb: &str, source: io::Error) -> GitError {
    if source.kind() == io::ErrorKind::NotFound {
        GitError::NotInstalled
    } else {
        GitError::Io { verb: verb.to_owned(), source }
    }
}

#[cfg(test)]
pub(crate) mod tests;
