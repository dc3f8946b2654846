//! Files of the store build on each other in one direction.

use std::collections::BTreeMap;
use std::path::Path;

/// The files of a folder by name, with the names of those they use. What only tests use does not count.
fn uses(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.extend(std::fs::read_dir(folder.join("portable")).unwrap().map(|entry| entry.unwrap().path()));
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let part = file.parent().unwrap() != folder;
        let name = if part { "portable" } else { file.file_stem().unwrap().to_str().unwrap() };
        let prefix = if part { "crate::" } else { "super::" };
        let used = text.match_indices(prefix).map(|(at, _)| &text[at + prefix.len()..]);
        let used = used.map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap());
        found.entry(name.to_owned()).or_default().extend(used.map(str::to_owned));
    }
    let names: Vec<String> = found.keys().cloned().collect();
    found.values_mut().for_each(|used| used.retain(|name| names.contains(name)));
    found
}

#[test]
fn imports_run_one_way() {
    let mut left = uses(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    left.remove("lib");
    assert!(left["runs"].contains(&"artifacts".to_owned()), "{left:?}");
    // What uses nothing that is left goes, until nothing is left or all of it is in circles.
    while let Some(leaf) = left.iter().find(|(_, used)| used.iter().all(|name| !left.contains_key(name))) {
        let leaf = leaf.0.clone();
        left.remove(&leaf);
    }
    assert!(left.is_empty(), "these files are in a circle, or use one that is: {left:?}");
}
