//! Whole trees of commits, and many contents at a time.

use super::{CommitId, GitError, Repository, object_id, portable_path, start_error, unexpected};
use karat_core::path::RepoPath;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// What a file of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum FileKind {
    Plain,
    Executable,
    /// A symbolic link, whose content is its target.
    Link,
    /// A commit of another repository, without content here.
    Submodule,
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TreeFile {
    /// From the root of the repository.
    pub path: RepoPath,
    pub kind: FileKind,
    /// The id of its content.
    pub id: String,
    pub size: u64,
}

/// All files of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitTree {
    /// In the order of git.
    pub files: Vec<TreeFile>,
    /// Paths that are not portable, such as names that are not UTF-8 or contain backslashes.
    pub odd_paths: Vec<String>,
}

impl Repository {
    /// The id of a commit's tree, which is a hash of all its files.
    pub fn tree_id(&self, commit: &CommitId) -> Result<String, GitError> {
        let peeled = format!("{commit}^{{tree}}");
        object_id("rev-parse", &self.run(&["rev-parse", "--verify", "--end-of-options", &peeled])?)
    }

    /// All files of a commit.
    pub fn tree(&self, commit: &CommitId) -> Result<CommitTree, GitError> {
        let answer = self.run(&["ls-tree", "-r", "-z", "-l", "--full-tree", commit.as_str()])?;
        let mut tree = CommitTree::default();
        for record in answer.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let tab = record.iter().position(|&byte| byte == b'\t').ok_or_else(|| unexpected("ls-tree", record))?;
            let (head, name) = (String::from_utf8_lossy(&record[..tab]), &record[tab + 1..]);
            let words: Vec<&str> = head.split_whitespace().collect();
            let [mode, _, id, size] = words[..] else { return Err(unexpected("ls-tree", record)) };
            let kind = match mode {
                "100755" => FileKind::Executable,
                "120000" => FileKind::Link,
                "160000" => FileKind::Submodule,
                mode if super::is_file(mode) => FileKind::Plain,
                _ => return Err(unexpected("ls-tree", record)),
            };
            match portable_path(name) {
                Some(path) => {
                    let id = object_id("ls-tree", id.as_bytes())?;
                    tree.files.push(TreeFile { path, kind, id, size: size.parse().unwrap_or_default() });
                }
                None => tree.odd_paths.push(String::from_utf8_lossy(name).into_owned()),
            }
        }
        Ok(tree)
    }

    /// Reads many contents with one process.
    pub fn blobs(&self) -> Result<BlobReader, GitError> {
        let mut command = self.command(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|source| start_error("cat-file", source))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        Ok(BlobReader { child, input: Some(input), output: BufReader::new(output) })
    }
}

/// A process that answers with contents.
#[derive(Debug)]
pub struct BlobReader {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl BlobReader {
    /// The content with this id.
    pub fn read(&mut self, id: &str) -> Result<Vec<u8>, GitError> {
        // Anything else could be an expression, or two questions.
        let id = object_id("cat-file", id.as_bytes())?;
        if let Some(input) = &mut self.input {
            input.write_all(format!("{id}\n").as_bytes()).and_then(|()| input.flush()).map_err(failed)?;
        }
        let mut head = String::new();
        self.output.read_line(&mut head).map_err(failed)?;
        let words: Vec<&str> = head.split_whitespace().collect();
        let size = match words[..] {
            [_, "blob", size] => size.parse::<usize>().map_err(|_| unexpected("cat-file", head.as_bytes()))?,
            [_, "missing"] => {
                let message = format!("the content {id} is not in this clone");
                return Err(GitError::Failed { verb: "cat-file".to_owned(), message });
            }
            _ => return Err(unexpected("cat-file", head.as_bytes())),
        };
        let mut bytes = vec![0; size];
        self.output.read_exact(&mut bytes).map_err(failed)?;
        self.output.read_exact(&mut [0]).map_err(failed)?;
        Ok(bytes)
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        // The process ends when nothing more is asked.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(source: io::Error) -> GitError {
    GitError::Io { verb: "cat-file".to_owned(), source }
}
