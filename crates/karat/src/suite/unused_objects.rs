//! Objects of a suite that no case uses any more, because cases were removed or given other code.

use super::LoadedSuite;
use super::objects::{object_path, read_tree};
use crate::failure::{Failure, Result};
use karat_io::files::Files;
use std::collections::HashSet;
use std::fs;
use std::io;

/// Objects that no case uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct UnusedObjects {
    /// Paths in the suite, sorted.
    pub paths: Vec<String>,
    pub bytes: u64,
}

/// Finds the objects that no case uses. A suite whose objects cannot all be read is refused: a damaged tree does not say what it uses.
pub fn find_unused_objects(loaded: &LoadedSuite) -> Result<UnusedObjects> {
    let files = &loaded.files;
    let failed = |error: io::Error| Failure::bad_input(format!("{error}; nothing was removed"));
    let mut used = HashSet::new();
    for trees in loaded.suite.cases.iter().filter_map(|case| case.trees.as_ref()) {
        for tree in trees.before.iter().chain([&trees.after]) {
            add_used(files, tree, &mut used).map_err(failed)?;
        }
    }
    let mut unused = UnusedObjects::default();
    for below in files.walk("objects").map_err(failed)?.files {
        let path = format!("objects/{below}");
        let name = below.replacen('/', "", 1);
        // Whatever else somebody put there is not an object.
        let is_object =
            name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) && object_path(&name) == path;
        if is_object && !used.contains(&path) {
            let metadata = files.on_disk(&path).map(fs::symlink_metadata).transpose().map_err(failed)?;
            unused.bytes += metadata.map_or(0, |metadata| metadata.len());
            unused.paths.push(path);
        }
    }
    Ok(unused)
}

/// Adds the paths of all objects of a tree.
fn add_used(files: &Files, tree: &str, used: &mut HashSet<String>) -> io::Result<()> {
    let mut walked = HashSet::new();
    let mut open = vec![tree.to_owned()];
    while let Some(name) = open.pop() {
        if !walked.insert(name.clone()) {
            continue;
        }
        used.insert(object_path(&name));
        for entry in read_tree(files, &name)? {
            used.insert(object_path(&entry.object));
            if entry.is_folder() {
                open.push(entry.object);
            }
        }
    }
    Ok(())
}

/// Removes these objects, and the folders that are empty without them.
pub fn remove_objects(loaded: &LoadedSuite, unused: &UnusedObjects) -> Result<()> {
    let Files::Disk(root) = &loaded.files else {
        return Err(Failure::usage(format!("{} is built in and cannot be changed", loaded.suite.name)));
    };
    for path in &unused.paths {
        let full = root.join(path);
        fs::remove_file(&full).map_err(|error| Failure::io(full.display(), error))?;
        // A folder that still has objects stays.
        drop(full.parent().map(fs::remove_dir));
    }
    drop(fs::remove_dir(root.join("objects")));
    Ok(())
}
