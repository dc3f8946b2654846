//! What is kept of fixers: a file for each result in the store's folder, named after a hash of everything that it depends on.

use crate::failure::{Failure, Result};
use crate::tool::placeholders::fill;
use karat_format::run::ToolFactsV1;
use karat_format::tool::ToolManifestV1;
use karat_io::atomic_write;
use karat_store::StoreLocation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// The folder below that of the store.
const FOLDER: &str = "fixes";

/// Results that are kept on this machine.
pub(super) struct KeptResults {
    folder: PathBuf,
}

impl KeptResults {
    /// Those beside a store; of a store on a server in the user's cache.
    pub(super) fn open(store: &StoreLocation) -> Result<Self> {
        let folder = store.local_folder().join(FOLDER);
        // Like the store itself, they belong to this machine.
        let made = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(".gitignore"), "*\n"));
        made.map_err(|error| Failure::unwritten(folder.display(), error))?;
        Ok(Self { folder })
    }

    /// The name of what depends on this.
    pub(super) fn key(subject: &impl Serialize) -> String {
        blake3::hash(&serde_json::to_vec(subject).unwrap_or_default()).to_hex().to_string()
    }

    /// What is kept under a key. A file that cannot be read is made again.
    pub(super) fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.file(key)).ok()?).ok()
    }

    pub(super) fn write(&self, key: &str, value: &impl Serialize) -> Result<()> {
        let path = self.file(key);
        let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
        text.push('\n');
        atomic_write::write(&path, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(path.display(), error))
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }
}

/// A hash of all that a fixer is: its manifest, model, version and program, and the files that its command names.
pub(super) fn hash_fixer(manifest: &ToolManifestV1, model: Option<&str>, facts: &ToolFactsV1) -> String {
    let folder =
        manifest.manifest_dir.iter().map(|folder| ("manifest_dir", folder.clone())).collect::<BTreeMap<_, _>>();
    let words = manifest.command.iter().filter_map(|word| fill(word, &folder).ok()).map(PathBuf::from);
    let named = words.filter(|path| path.is_absolute()).chain(facts.program.as_ref().map(PathBuf::from));
    let files: BTreeSet<PathBuf> = named.filter(|path| path.is_file()).collect();
    let contents: Vec<Option<String>> =
        files.iter().map(|path| fs::read(path).ok().map(|bytes| karat_io::content_hash(&bytes))).collect();
    KeptResults::key(&(manifest, model, &facts.version, contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_script_makes_another_fixer() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("fix.sh");
        fs::write(&script, "one").unwrap();
        let facts = ToolFactsV1::default();
        let manifest = |command: &str| ToolManifestV1 {
            command: vec!["sh".to_owned(), command.to_owned(), "{checkout}".to_owned()],
            manifest_dir: Some(folder.path().display().to_string()),
            ..ToolManifestV1::default()
        };
        let by_path = manifest(&script.display().to_string());
        let by_placeholder = manifest("{manifest_dir}/fix.sh");
        let hashes = || [&by_path, &by_placeholder].map(|manifest| hash_fixer(manifest, None, &facts));
        let before = hashes();
        assert_eq!(before, hashes());
        assert_ne!(before[0], hash_fixer(&by_path, Some("model"), &facts));
        fs::write(&script, "two").unwrap();
        let after = hashes();
        assert!(before[0] != after[0] && before[1] != after[1]);
    }
}
