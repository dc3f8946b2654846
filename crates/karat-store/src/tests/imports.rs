//! The modules of the store have no import cycles.

use std::collections::BTreeMap;
use std::path::Path;

/// The modules of a folder with the modules they use, without tests.
fn module_imports(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for part in ["database", "portable"] {
        files.extend(std::fs::read_dir(folder.join(part)).unwrap().map(|entry| entry.unwrap().path()));
    }
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let part = file.parent().filter(|parent| *parent != folder);
        let name = part.unwrap_or(file).file_stem().unwrap().to_str().unwrap();
        let prefixes = if part.is_some() { ["super::", "crate::"].as_slice() } else { &["super::"] };
        let used =
            prefixes.iter().flat_map(|prefix| text.match_indices(prefix).map(|(at, _)| &text[at + prefix.len()..]));
        let used = used.map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap());
        found.entry(name.to_owned()).or_default().extend(used.map(str::to_owned));
    }
    let names: Vec<String> = found.keys().cloned().collect();
    found.iter_mut().for_each(|(own, used)| used.retain(|name| name != own && names.contains(name)));
    found
}

#[test]
fn modules_have_no_import_cycles() {
    let mut left = module_imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    left.remove("lib");
    assert!(left["runs"].contains(&"artifacts".to_owned()), "{left:?}");
    // Remove modules without remaining imports until none is left or the rest is cyclic.
    while let Some(leaf) = left.iter().find(|(_, used)| used.iter().all(|name| !left.contains_key(name))) {
        let leaf = leaf.0.clone();
        left.remove(&leaf);
    }
    assert!(left.is_empty(), "these modules are in a cycle or use one that is: {left:?}");
}
