//! Which commit each line of a file comes from.

use super::{CommitId, GitError, Repository, object_id, portable_path, unexpected};
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use std::collections::HashMap;

/// A line, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    /// In the commit that was asked about.
    pub line: u32,
    /// The commit that introduced it.
    pub commit: CommitId,
    /// The file in that commit; `None` if its name is not portable.
    pub file: Option<RepoPath>,
    /// Its number in that commit.
    pub line_there: u32,
}

impl Repository {
    /// Whether a commit is part of the history of another.
    pub fn is_ancestor(&self, commit: &CommitId, of: &CommitId) -> bool {
        self.run(&["merge-base", "--is-ancestor", commit.as_str(), of.as_str()]).is_ok()
    }

    /// The origin of some lines of a file. Changes of white space alone, and moves within a file, are looked through.
    pub fn blame(&self, commit: &CommitId, file: &RepoPath, lines: &[Lines]) -> Result<Vec<BlamedLine>, GitError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let mut args: Vec<String> = ["blame", "--porcelain", "-w", "-M", "--no-textconv"].map(str::to_owned).to_vec();
        args.extend(lines.iter().map(|Lines { start, end }| format!("-L{start},{end}")));
        args.extend([commit.as_str().to_owned(), "--".to_owned(), file.to_string()]);
        let answer = self.run(&args.iter().map(String::as_str).collect::<Vec<_>>())?;
        parse(&answer)
    }
}

/// Parses `<commit> <line there> <line> [<lines>]`, details of the commit when it is first named, and the line after a tab.
fn parse(answer: &[u8]) -> Result<Vec<BlamedLine>, GitError> {
    let mut files: HashMap<String, Option<RepoPath>> = HashMap::new();
    let mut blamed: Vec<BlamedLine> = Vec::new();
    let mut head: Option<(CommitId, u32, u32)> = None;
    for row in answer.split(|&byte| byte == b'\n') {
        let Some((commit, line_there, line)) = head.take() else {
            if row.is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(row);
            let words: Vec<&str> = text.split(' ').collect();
            let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
            let (Some(there), Some(here)) = (number(1), number(2)) else { return Err(unexpected("blame", row)) };
            head = Some((CommitId(object_id("blame", words[0].as_bytes())?), there, here));
            continue;
        };
        if row.starts_with(b"\t") {
            let file = files.get(commit.as_str()).cloned().flatten();
            blamed.push(BlamedLine { line, commit, file, line_there });
            continue;
        }
        if let Some(name) = row.strip_prefix(b"filename ") {
            files.insert(commit.as_str().to_owned(), portable_path(name));
        }
        head = Some((commit, line_there, line));
    }
    Ok(blamed)
}
