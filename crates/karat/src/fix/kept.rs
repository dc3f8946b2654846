//! What is kept of fixers: a file for each result in the store's folder, named after a hash of everything that it depends on.

use crate::failure::{Failure, Result};
use crate::suite::write::write_below;
use karat_format::run::ToolFactsV1;
use karat_format::tool::ToolManifestV1;
use karat_store::StoreLocation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
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
        let store = store.local_folder();
        let folder = store.join(FOLDER);
        let failed = |error| Failure::unwritten(folder.display(), error);
        fs::create_dir_all(&store).map_err(failed)?;
        // Like the store itself, they belong to this machine.
        write_below(&store, &format!("{FOLDER}/.gitignore"), b"*\n").map_err(failed)?;
        Ok(Self { folder })
    }

    /// The name of what depends on this.
    pub(super) fn key(subject: &impl Serialize) -> String {
        blake3::hash(&serde_json::to_vec(subject).unwrap_or_default()).to_hex().to_string()
    }

    /// What is kept under a key. A file that cannot be read is made again.
    pub(super) fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(Self::name(key))).ok()?).ok()
    }

    pub(super) fn write(&self, key: &str, value: &impl Serialize) -> Result<()> {
        let name = Self::name(key);
        let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
        text.push('\n');
        write_below(&self.folder, &name, text.as_bytes())
            .map_err(|error| Failure::unwritten(self.folder.join(&name).display(), error))
    }

    fn name(key: &str) -> String {
        format!("{key}.json")
    }
}

/// A hash of all that a fixer is: its manifest, model, version, program and isolation, and the files that its commands and variables
/// name.
pub(super) fn hash_fixer(manifest: &ToolManifestV1, model: Option<&str>, facts: &ToolFactsV1) -> String {
    let folder = manifest.manifest_dir.as_deref().filter(|folder| !folder.is_empty());
    let words = manifest.command.iter().chain(&manifest.setup).chain(manifest.env.values());
    let named = words.flat_map(|word| named_files(word, folder)).chain(facts.program.as_ref().map(PathBuf::from));
    let files: BTreeSet<PathBuf> = named.filter(|path| path.is_file()).collect();
    let contents: Vec<Option<String>> =
        files.iter().map(|path| fs::read(path).ok().map(|bytes| karat_io::content_hash(&bytes))).collect();
    KeptResults::key(&(manifest, model, &facts.version, facts.isolation_kind, contents))
}

/// The files that a word names: as a whole, or below the manifest's folder in any part of it, as in `--prompt={manifest_dir}/a.txt`.
fn named_files(word: &str, folder: Option<&str>) -> Vec<PathBuf> {
    let word = folder.map_or_else(|| word.to_owned(), |folder| word.replace("{manifest_dir}", folder));
    let mut files: Vec<PathBuf> = Some(PathBuf::from(&word)).filter(|path| path.is_absolute()).into_iter().collect();
    for (start, folder) in folder.into_iter().flat_map(|folder| word.match_indices(folder)) {
        // Where the path ends is not known, so the longest one that exists is taken.
        let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8()).rev();
        let mut paths = ends.take_while(|end| *end > start + folder.len()).map(|end| PathBuf::from(&word[start..end]));
        files.extend(paths.find(|path| path.is_file()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::run::IsolationV1;

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

    #[test]
    fn links_in_a_store_are_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mine) = (folder.path().join("store"), folder.path().join("mine"));
        fs::create_dir_all(store.join(FOLDER)).unwrap();
        fs::write(&mine, "mine").unwrap();
        let location = StoreLocation::from(store.as_path());
        let ignore = store.join(FOLDER).join(".gitignore");
        std::os::unix::fs::symlink(&mine, &ignore).unwrap();
        assert!(KeptResults::open(&location).is_err());
        fs::remove_file(&ignore).unwrap();
        let kept = KeptResults::open(&location).unwrap();
        std::os::unix::fs::symlink(&mine, store.join(FOLDER).join("k.json")).unwrap();
        assert!(kept.write("k", &1).is_err());
        fs::remove_dir_all(store.join(FOLDER)).unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("other"), store.join(FOLDER)).unwrap();
        assert!(KeptResults::open(&location).is_err());
        assert_eq!(fs::read_dir(folder.path().join("other")).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    }

    #[test]
    fn changed_files_and_isolation_make_another_fixer() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for name in ["prompt.txt", "rules é.txt", "key.json", "set-up.sh", "unnamed"] {
            write(name, "one");
        }
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let manifest = ToolManifestV1 {
            command: words(&["sh", "--files={manifest_dir}/prompt.txt,{manifest_dir}/rules é.txt:{model}"]),
            env: [("KEYS".to_owned(), "x:{manifest_dir}/key.json".to_owned())].into(),
            setup: words(&["sh", "{manifest_dir}/set-up.sh"]),
            manifest_dir: Some(folder.path().display().to_string()),
            ..ToolManifestV1::default()
        };
        let mut facts = ToolFactsV1::default();
        let mut seen = vec![hash_fixer(&manifest, None, &facts)];
        write("unnamed", "two");
        assert_eq!(seen[0], hash_fixer(&manifest, None, &facts));
        for name in ["prompt.txt", "rules é.txt", "key.json", "set-up.sh"] {
            write(name, "two");
            let hash = hash_fixer(&manifest, None, &facts);
            assert!(!seen.contains(&hash), "{name}");
            seen.push(hash);
        }
        facts.isolation_kind = Some(IsolationV1::Process);
        assert!(!seen.contains(&hash_fixer(&manifest, None, &facts)));
    }
}
