//! Applies a unified diff to a folder that is no repository.

use super::{GitError, Repository, start_error};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Applies a unified diff whose paths begin with one folder, as those of `git diff` do, to the files of a folder: all of it or nothing.
/// Paths that lead out of the folder, or through a link, are refused.
pub fn apply_patch(folder: &Path, patch: &[u8]) -> Result<(), GitError> {
    let verb = "apply";
    let mut command =
        Repository { dir: folder.to_owned(), git_dir: None }.command(&[verb, "--whitespace=nowarn", "-p1", "-"]);
    // A repository above the folder would make git skip files that it ignores.
    command.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder)).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(|source| start_error(verb, source))?;
    let failed = |source| GitError::Io { verb: verb.to_owned(), source };
    // It reads everything before it answers. If it refuses earlier, it says why.
    let _ = child.stdin.take().map(|mut input| input.write_all(patch));
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().replace("error: ", "").replace('\n', "; ");
    Err(GitError::Failed { verb: verb.to_owned(), message: message.chars().take(500).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn patch_is_applied_whole_or_not_at_all_and_only_inside() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("copy");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), "one\ntwo\n").unwrap();
        let change = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
        let outside = "--- /dev/null\n+++ b/../escaped\n@@ -0,0 +1 @@\n+x\n";
        assert!(apply_patch(&folder, format!("{change}{outside}").as_bytes()).is_err());
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "one\ntwo\n");
        assert!(!parent.path().join("escaped").exists());
        apply_patch(&folder, change.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "one\nthree\n");
        let error = apply_patch(&folder, change.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("patch does not apply"), "{error}");
    }
}
