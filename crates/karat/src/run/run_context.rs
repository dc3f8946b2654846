//! Where trials take place: the folders and rules that all trials of a run share.

use super::room::Room;
use crate::suite::LoadedSuite;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_io::regular_file;
use karat_sandbox::Supervisor;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all trials of a run share.
pub struct RunContext<'a> {
    /// The suite.
    pub loaded: &'a LoadedSuite,
    /// A folder for the trials' own folders; nobody else's.
    pub scratch: PathBuf,
    /// How the process that watches over a tool is started.
    pub supervisor: Supervisor,
    /// Ends what is going on.
    pub cancel: Cancel,
    /// What no tool may ever see: suite, store, and what would give their content away.
    pub secret: Vec<PathBuf>,
    /// The user's environment, of which tools see what is allowed only.
    pub environment: BTreeMap<String, OsString>,
    /// Where random numbers start from.
    pub seed: u64,
    pub(super) room: Room,
    next: AtomicUsize,
}

impl<'a> RunContext<'a> {
    /// A site with an empty scratch folder. The suite's own secrets are added to those given.
    pub fn new(
        loaded: &'a LoadedSuite,
        scratch: PathBuf,
        supervisor: Supervisor,
        cancel: Cancel,
        environment: BTreeMap<String, OsString>,
        seed: u64,
    ) -> Self {
        let mut secret = Vec::new();
        if let Files::Disk(root) = &loaded.files {
            let root = root.canonicalize().unwrap_or_else(|_| root.clone());
            secret.extend(histories(&root));
            secret.push(root);
        }
        // The program carries suites with their goldens, and so do other copies of it that a tool could find.
        secret.extend(supervisor.program.canonicalize());
        let path = environment.get("PATH").cloned().unwrap_or_default();
        let copies = std::env::split_paths(&path).filter_map(|folder| folder.join("karat").canonicalize().ok());
        secret.extend(copies.filter(|copy| copy.is_file()));
        let (room, next) = (Room::new(&scratch), AtomicUsize::new(0));
        Self { loaded, scratch, supervisor, cancel, secret, environment, seed, room, next }
    }

    /// A folder name that no other trial of this run has, and that says nothing about the trial.
    pub(super) fn folder(&self) -> PathBuf {
        self.scratch.join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// Makes room on the disk, where a trial has used it up; `false` where none did.
    pub fn make_room(&self) -> bool {
        self.room.make(&self.cancel)
    }

    /// A variable of the user's, where it is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }
}

/// What lies around a suite and holds its goldens too: git's own folders of the repositories it lies in, what they borrow
/// objects from, their other work trees, and stores.
fn histories(suite: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in suite.ancestors() {
        let store = folder.join(".karat");
        found.extend(store.is_dir().then_some(store));
        let git = folder.join(".git");
        let shared = if git.is_dir() {
            Some(git)
        } else {
            // A work tree's folder of its own lies below the one that all work trees share.
            let place = regular_file::read_to_string(&git).ok().as_deref().and_then(linked);
            place.map(|place| {
                let own = folder.join(place);
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

/// Where a `.git` file leads.
fn linked(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(text.strip_prefix("gitdir:")?.trim()))
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
