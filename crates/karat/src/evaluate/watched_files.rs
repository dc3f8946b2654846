//! The files that a watch looks at: the suite, manifests with their folders, and the files and programs that they name.
//!
//! They are polled: times and sizes are compared, and a round compares contents before it executes anything.

use super::request::EvaluateRequest;
use crate::tool::placeholders::fill;
use karat_format::shipped_suites::locate;
use karat_format::tool::ToolManifestV1;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const POLL: Duration = Duration::from_millis(300);
/// Polling takes at most one part in so many of the time.
const MAX_SHARE: u32 = 10;
/// A change is taken up when nothing has changed for so long.
const SETTLED: Duration = Duration::from_millis(150);
/// From this many files on, a manifest's folder is more than its tool, and only the files directly in it are looked at.
const MAX_TOOL_FILES: usize = 5_000;
/// Larger files are compared by time and size.
const MAX_HASHED: u64 = 64 << 20;
/// Folders beside a tool that it or its language writes itself.
const GENERATED: &[&str] = &["__pycache__", "node_modules", "target", "venv"];

/// The time and size of each file.
pub(super) type Stamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

#[derive(PartialEq, Eq)]
pub(super) struct WatchedFiles {
    /// The suite's folder; `None` for one inside the binary.
    pub(super) suite: Option<PathBuf>,
    /// The folders of manifests.
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    /// What Karat itself writes.
    ignored: Vec<PathBuf>,
}

impl WatchedFiles {
    /// What a request names. That is known even if none of it can be read.
    pub(super) fn new(request: &EvaluateRequest, ignored: &[PathBuf]) -> Self {
        let suite = match locate(request.suite.as_deref().unwrap_or(".")) {
            Files::Disk(root) => Some(real(&root)),
            Files::Embedded(..) => None,
        };
        let named = request.tools.iter().filter_map(|tool| {
            let file = tool.strip_prefix("replay:").unwrap_or(tool);
            (file.len() < tool.len() || tool.ends_with(".toml")).then(|| real(Path::new(file)))
        });
        let store = request.store.local_folder();
        let ignored = ignored.iter().map(PathBuf::as_path).chain([store.as_path()]).map(real).collect();
        Self { suite, folders: BTreeSet::new(), files: named.collect(), ignored }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.suite.is_none() && self.files.is_empty() && self.folders.is_empty()
    }

    /// The suite and the manifests, as they are shown.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let tools = self.folders.iter().chain(self.files.iter().filter(|file| !self.is_within_folder(file)));
        self.suite.iter().chain(tools).cloned().collect()
    }

    fn is_within_folder(&self, file: &Path) -> bool {
        self.folders.iter().chain(&self.suite).any(|folder| file.starts_with(folder))
    }

    /// Adds the files of a tool.
    pub(super) fn add_tool(&mut self, manifest: &ToolManifestV1, folder: Option<&str>, path: Option<&OsStr>) {
        self.folders.extend(folder.map(PathBuf::from));
        self.files.extend(self.named_files(manifest, path));
    }

    /// The files that a manifest names, and its program.
    fn named_files(&self, manifest: &ToolManifestV1, path: Option<&OsStr>) -> Vec<PathBuf> {
        let named = [&manifest.submission, &manifest.rules, &manifest.rule_map, &manifest.llm.file];
        let in_suite = |file: &String| match &self.suite {
            Some(root) => Some(root.join(file)),
            None => Some(PathBuf::from(file)).filter(|file| file.is_absolute()),
        };
        let mut files: Vec<PathBuf> = named.into_iter().flatten().filter_map(in_suite).collect();
        let words = manifest.command.iter().filter_map(|word| fill(word, &BTreeMap::new()).ok());
        files.extend(words.map(PathBuf::from).filter(|file| file.is_absolute()));
        let program = manifest.command.first().filter(|word| !word.contains('/'));
        let found = program.zip(path).and_then(|(name, path)| {
            std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
        });
        files.extend(found);
        files
    }

    /// A hash of the contents of all files of a tool.
    pub(super) fn hash_tool(
        &self,
        manifest: &ToolManifestV1,
        folder: Option<&str>,
        path: Option<&OsStr>,
    ) -> blake3::Hash {
        let mut stamps = Stamps::new();
        if let Some(folder) = folder {
            self.scan_tool_folder(Path::new(folder), &mut stamps);
        }
        for file in self.named_files(manifest, path) {
            scan_file(&file, &mut stamps);
        }
        let mut hasher = blake3::Hasher::new();
        for (file, stamp) in &stamps {
            hasher.update(file.as_os_str().as_encoded_bytes()).update(&[0]);
            let content = if stamp.1 > MAX_HASHED { None } else { fs::read(file).ok() };
            match content {
                Some(content) => hasher.update(blake3::hash(&content).as_bytes()),
                None => hasher.update(format!("{stamp:?}").as_bytes()),
            };
        }
        hasher.finalize()
    }

    /// The folders of manifests of which only the files directly in them are watched, since they have too many.
    pub(super) fn large_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter().filter(|folder| self.scan_tool_folder(folder, &mut Stamps::new()))
    }

    pub(super) fn scan(&self) -> Stamps {
        let mut stamps = Stamps::new();
        if let Some(suite) = &self.suite {
            let is_skipped = |path: &Path| path.file_name() == Some(OsStr::new(".git")) || self.is_ignored(path);
            scan_folder(suite, &is_skipped, usize::MAX, &mut stamps);
        }
        for folder in &self.folders {
            self.scan_tool_folder(folder, &mut stamps);
        }
        for file in &self.files {
            scan_file(file, &mut stamps);
        }
        stamps
    }

    /// Scans, with the earlier stamps of files that were scanned before.
    pub(super) fn scan_since(&self, earlier: &Stamps) -> Stamps {
        let mut stamps = self.scan();
        for (file, stamp) in &mut stamps {
            *stamp = earlier.get(file).copied().unwrap_or(*stamp);
        }
        stamps
    }

    /// Whether there are too many files in the folder.
    fn scan_tool_folder(&self, folder: &Path, stamps: &mut Stamps) -> bool {
        let is_skipped = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with('.')
                || name.ends_with('~')
                || GENERATED.contains(&name.as_ref())
                || self.suite.as_deref() == Some(path)
                || self.is_ignored(path)
        };
        let mut own = Stamps::new();
        let is_large = !scan_folder(folder, &is_skipped, MAX_TOOL_FILES, &mut own);
        if is_large {
            own.retain(|file, _| file.parent() == Some(folder));
        }
        stamps.extend(own);
        is_large
    }

    fn is_ignored(&self, path: &Path) -> bool {
        self.ignored.iter().any(|ignored| ignored == path)
    }

    /// Waits until the files differ from what they were and have settled; `false` if it was cancelled.
    pub(super) fn wait_for_change(&self, before: &Stamps, cancel: &Cancel) -> bool {
        let mut pause = POLL;
        while cancel.sleep(pause) {
            let began = Instant::now();
            let mut now = self.scan();
            if now == *before {
                pause = POLL.max(began.elapsed() * MAX_SHARE);
                continue;
            }
            while cancel.sleep(SETTLED) {
                let next = self.scan();
                if next == now {
                    return true;
                }
                now = next;
            }
        }
        false
    }
}

/// The real path of what exists, and the full path of what does not.
fn real(path: &Path) -> PathBuf {
    let full = || {
        let full = std::path::absolute(path).ok()?;
        Some(full.parent()?.canonicalize().ok()?.join(full.file_name()?))
    };
    path.canonicalize().ok().or_else(full).unwrap_or_else(|| path.to_owned())
}

fn scan_file(file: &Path, stamps: &mut Stamps) {
    if let Ok(metadata) = fs::metadata(file).map(|metadata| (metadata.modified().ok(), metadata.len())) {
        stamps.insert(file.to_owned(), metadata);
    }
}

/// Stamps all files below a folder; `false` if there are more than `most`, which then are not all stamped. Files that come and
/// go meanwhile are found the next time.
fn scan_folder(folder: &Path, is_skipped: &dyn Fn(&Path) -> bool, most: usize, stamps: &mut Stamps) -> bool {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    // The files of a folder come before those of the folders in it, so that a large folder has its own in any case.
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if is_skipped(&path) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(_) => scan_file(&path, stamps),
                Err(_) => {}
            }
        }
        if stamps.len() > most {
            return false;
        }
    }
    true
}

/// The PATH that tools are looked for on.
pub(super) fn path_variable(request: &EvaluateRequest) -> Option<&OsStr> {
    request.environment.get("PATH").map(OsString::as_os_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(root: &Path, tools: &[&str]) -> WatchedFiles {
        let suite = root.join("suite").display().to_string();
        let request = EvaluateRequest {
            suite: Some(suite),
            tools: tools.iter().map(|tool| root.join(tool).display().to_string()).collect(),
            store: root.join("suite/.karat").into(),
            ..EvaluateRequest::default()
        };
        WatchedFiles::new(&request, &[root.join("report.html")])
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_karat_and_other_programs_write_is_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in [
            "suite/cases/a/case.yaml",
            "suite/.karat/karat.db",
            "suite/.git/HEAD",
            "tool.toml",
            "lib/part.py",
            "report.html",
            "node_modules/x.js",
            ".venv/y.py",
            "tool.py~",
        ] {
            write(&root.join(file), "x");
        }
        let mut files = watched(&root, &["tool.toml"]);
        let manifest = ToolManifestV1::default();
        files.add_tool(&manifest, root.to_str(), None);
        let scanned = files.scan();
        let seen: Vec<&str> = scanned.keys().map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        assert_eq!(seen, ["lib/part.py", "suite/cases/a/case.yaml", "tool.toml"]);
        assert!(files.large_folders().next().is_none());

        let before = files.hash_tool(&manifest, root.to_str(), None);
        write(&root.join("suite/cases/a/case.yaml"), "y");
        write(&root.join("lib/part.py"), "x");
        assert_eq!(files.hash_tool(&manifest, root.to_str(), None), before, "same contents");
        write(&root.join("lib/part.py"), "y");
        assert_ne!(files.hash_tool(&manifest, root.to_str(), None), before);
    }

    #[test]
    fn programs_and_named_files_belong_to_their_tool() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in ["suite/karat.toml", "bin/scan", "else/rules.toml", "suite/map.csv"] {
            write(&root.join(file), "x");
        }
        let files = watched(&root, &[]);
        let manifest = ToolManifestV1 {
            command: vec!["scan".to_owned(), "{checkout}".to_owned()],
            rules: Some(root.join("else/rules.toml").display().to_string()),
            rule_map: Some("map.csv".to_owned()),
            ..ToolManifestV1::default()
        };
        let path = root.join("bin").into_os_string();
        let hash = || files.hash_tool(&manifest, None, Some(&path));
        let mut last = hash();
        for file in ["bin/scan", "else/rules.toml", "suite/map.csv"] {
            write(&root.join(file), "y");
            assert_ne!(hash(), last, "{file}");
            last = hash();
        }
    }
}
