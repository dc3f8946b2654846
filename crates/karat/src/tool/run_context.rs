//! What all trials of a run share: folders, environment, and what no tool may see.

use super::free_disk::FreeDisk;
use crate::suite::LoadedSuite;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_io::regular_file;
use karat_sandbox::{OutputStream, Supervisor};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Observes the lines that tools print in their trials, as they are printed.
pub type OutputObserver = dyn Fn(OutputStream, &str) + Sync;

pub(crate) struct RunContext<'a> {
    pub(crate) loaded: &'a LoadedSuite,
    /// The folder that contains the folder of each trial.
    pub(crate) scratch: PathBuf,
    pub(crate) supervisor: &'a Supervisor,
    pub(crate) cancel: Cancel,
    /// What no tool may ever see: suite, store, and what would give their content away.
    pub(crate) secret: Vec<PathBuf>,
    /// The user's environment, of which tools see only what is allowed.
    environment: &'a BTreeMap<String, OsString>,
    pub(crate) seed: u64,
    pub(crate) room: FreeDisk,
    pub(crate) output: Option<&'a OutputObserver>,
    next: AtomicUsize,
}

impl<'a> RunContext<'a> {
    /// A context whose secrets are those of the suite and of Karat itself.
    pub(crate) fn new(
        loaded: &'a LoadedSuite,
        scratch: PathBuf,
        supervisor: &'a Supervisor,
        cancel: Cancel,
        environment: &'a BTreeMap<String, OsString>,
        seed: u64,
    ) -> Self {
        let mut secret = Vec::new();
        if let Files::Disk(root) = &loaded.files {
            let root = root.canonicalize().unwrap_or_else(|_| root.clone());
            secret.extend(histories(&root));
            secret.push(root);
        }
        // The program contains suites with their goldens, and so do other copies of it that a tool could find.
        secret.extend(supervisor.program.canonicalize());
        let path = environment.get("PATH").cloned().unwrap_or_default();
        let copies = std::env::split_paths(&path).filter_map(|folder| folder.join("karat").canonicalize().ok());
        secret.extend(copies.filter(|copy| copy.is_file()));
        let (room, next) = (FreeDisk::new(&scratch), AtomicUsize::new(0));
        Self { loaded, scratch, supervisor, cancel, secret, environment, seed, room, output: None, next }
    }

    /// The path of a folder that does not exist yet; its name tells nothing about the trial.
    pub(crate) fn new_folder(&self) -> PathBuf {
        self.scratch.join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    pub(crate) fn path(&self) -> OsString {
        self.variable("PATH").cloned().unwrap_or_default()
    }

    /// A variable of the user's, if it is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }
}

/// What else contains the goldens of a suite: the git folders of the repositories around it, those they borrow objects
/// from, their other work trees, and stores.
fn histories(suite: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in suite.ancestors() {
        let store = folder.join(".karat");
        found.extend(store.is_dir().then_some(store));
        let git = folder.join(".git");
        let shared = if git.is_dir() {
            Some(git)
        } else {
            // The folder of a work tree is below the one that all work trees share.
            let text = regular_file::read_to_string(&git).unwrap_or_default();
            text.strip_prefix("gitdir:").map(|place| {
                let own = folder.join(place.trim());
                own.ancestors().find(|above| above.join("objects").is_dir()).unwrap_or(&own).to_owned()
            })
        };
        let Some(shared) = shared else { continue };
        let lent = regular_file::read_to_string(&shared.join("objects/info/alternates")).unwrap_or_default();
        found.extend(lent.lines().map(|line| shared.join("objects").join(line)));
        // The same suite may be checked out elsewhere: in the main work tree, and in others.
        let below = suite.strip_prefix(folder).unwrap_or(Path::new(""));
        let trees = std::fs::read_dir(shared.join("worktrees")).into_iter().flatten().flatten();
        let trees = trees.filter_map(|tree| regular_file::read_to_string(&tree.path().join("gitdir")).ok());
        let trees = trees.filter_map(|place| PathBuf::from(place.trim()).parent().map(Path::to_owned));
        let trees = trees.chain(shared.parent().map(Path::to_owned));
        found.extend(trees.map(|tree| tree.join(below)).filter(|copy| copy.is_dir() && !suite.starts_with(copy)));
        found.push(shared);
    }
    found.retain(|path| path.exists() && path != Path::new("/"));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_around_a_suite_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("repo/.git/objects")).unwrap();
        std::fs::create_dir_all(root.join("repo/.git/worktrees/tree")).unwrap();
        std::fs::create_dir_all(root.join("repo/suites/mine")).unwrap();
        std::fs::create_dir_all(root.join("tree/suites/mine")).unwrap();
        let place = root.join("repo/.git/worktrees/tree");
        std::fs::write(root.join("tree/.git"), format!("gitdir: {}\n", place.display())).unwrap();
        let near = |suite: &str| {
            let all = histories(&root.join(suite));
            all.into_iter().filter(|path| path.starts_with(root)).collect::<Vec<_>>()
        };
        assert_eq!(near("repo/suites/mine"), [root.join("repo/.git")]);
        // The same suite in the main work tree is hidden with it.
        assert_eq!(near("tree/suites/mine"), [root.join("repo/suites/mine"), root.join("repo/.git")]);
    }
}
