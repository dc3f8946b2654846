//! The code of a case: what its change touched, and a hash of it all.

use karat_core::path::RepoPath;
use karat_core::suite::{Case, Change};
use karat_format::case::CaseV1;
use karat_io::files::Files;
use karat_source::change::touched_lines;
use std::collections::BTreeSet;
use std::io;

/// Larger files are not compared line by line.
const LARGEST_COMPARED: usize = 4 << 20;

/// A case's before and after folders.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) change: Option<Change>,
    pub(super) refused: Vec<String>,
    pub(super) after: Vec<String>,
    /// Side, path and hash of every file.
    hashes: Vec<(String, blake3::Hash)>,
}

pub(super) fn read(files: &Files, folder: Option<&str>) -> io::Result<Tree> {
    let mut tree = Tree::default();
    let Some(folder) = folder else { return Ok(tree) };
    let before = files.walk(&format!("{folder}/before"))?;
    let after = files.walk(&format!("{folder}/after"))?;
    let compared = files.has_folder(&format!("{folder}/before")) && files.has_folder(&format!("{folder}/after"));
    let mut change = Change::default();
    let names: BTreeSet<&String> = before.files.iter().chain(&after.files).collect();
    for name in names {
        let old = files.read(&format!("{folder}/before/{name}"))?;
        let new = files.read(&format!("{folder}/after/{name}"))?;
        for (side, content) in [("before", &old), ("after", &new)] {
            if let Some(content) = content {
                tree.hashes.push((format!("{side}/{name}"), blake3::hash(content)));
            }
        }
        if let (true, Some(new), Some(path)) = (old != new, new, RepoPath::new(name)) {
            let small = new.len() <= LARGEST_COMPARED && old.as_ref().is_none_or(|old| old.len() <= LARGEST_COMPARED);
            let whole = vec![karat_core::lines::Lines { start: 1, end: u32::MAX }];
            let lines = if small {
                let old = String::from_utf8_lossy(old.as_deref().unwrap_or_default());
                touched_lines(&old, &String::from_utf8_lossy(&new))
            } else {
                whole
            };
            change.touched.insert(path, lines);
        }
    }
    tree.refused = before.refused.into_iter().map(|link| format!("before/{link}")).collect();
    tree.refused.extend(after.refused.into_iter().map(|link| format!("after/{link}")));
    tree.change = compared.then_some(change);
    tree.after = after.files;
    Ok(tree)
}

impl Tree {
    /// A hash of the code; `None` without code.
    pub(super) fn code(&self) -> Option<String> {
        if self.hashes.is_empty() {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        self.add_to(&mut hasher);
        Some(hasher.finalize().to_hex().to_string())
    }

    fn add_to(&self, hasher: &mut blake3::Hasher) {
        for (name, hash) in &self.hashes {
            hasher.update(name.as_bytes());
            hasher.update(&[0]);
            hasher.update(hash.as_bytes());
        }
    }
}

pub(super) fn digest(case: &Case, tree: &Tree) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    // The mirror's serialisation is the canonical form: same meaning, same bytes.
    hasher.update(&serde_json::to_vec(&CaseV1::from(case)).unwrap_or_default());
    tree.add_to(&mut hasher);
    *hasher.finalize().as_bytes()
}
