//! Suites: loading, checking, creating and editing.

pub mod add;
pub mod adopt;
pub(crate) mod code;
pub mod drift;
pub mod edit;
pub mod from_commit;
mod from_fix;
pub mod init;
pub(crate) mod kept_proofs;
pub mod lint;
mod load;
pub(crate) mod objects;
pub(crate) mod package;
pub mod prove;
pub mod twist;
pub mod unused_objects;
pub mod write;
mod yaml_text;

pub use from_fix::OriginCandidate;
pub use load::{load, load_suite, load_what_is_there};

use code::{CaseCode, CodeFile, CodeReader, Side};
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, CutoffSide, Suite};
use karat_core::wording::{count, first_few};
use karat_format::config::ConfigV1;
use karat_format::diagnostic::{Diagnostic, Fault};
use karat_format::document::{Segment, Source, toml};
use karat_format::snapshot::{SnapshotCaseV1, SnapshotV1};
use karat_io::files::Files;
use karat_report::report_view::{ChangedFile, CodeProvider};
use load::find_renames;
use objects::FileMode;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;

/// A suite with the place it came from.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct LoadedSuite {
    pub suite: Suite,
    /// From `karat.toml`, or the defaults.
    pub config: ConfigV1,
    pub files: Files,
    pub notes: Vec<String>,
    codes: HashMap<CaseId, CaseCode>,
    /// A hash of the code of each case that comes with it.
    code_hashes: HashMap<CaseId, String>,
    pub(crate) stated_in: BTreeMap<CaseId, StatedIn>,
    /// The day until which the model that is scored was trained, as `YYYY-MM-DD`.
    model_cutoff: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatedIn {
    File(String),
    Line(usize),
}

impl LoadedSuite {
    /// The text of a file after the case's change; `None` if the suite does not have it or it is not text.
    pub fn source(&self, case: &CaseId, path: &RepoPath) -> Option<String> {
        if path.escapes() {
            return None;
        }
        read_text(&mut self.codes.get(case)?.after(&self.files), path)
    }

    /// The text files of a case after its change that its change touched, or all if that is unknown.
    pub(crate) fn touched_sources(&self, case: &Case) -> impl Iterator<Item = (RepoPath, String)> {
        let mut reader = self.codes.get(&case.id).map(|code| code.after(&self.files));
        let touched = |path: &RepoPath| case.change.as_ref().is_none_or(|change| change.touched.contains_key(path));
        let paths = self.after_paths(&case.id).into_iter().filter(touched);
        paths.filter_map(move |path| Some((path.clone(), read_text(reader.as_mut()?, &path)?)))
    }

    /// Reads both sides of a case; `None` if it comes without code. A change that deletes everything has code before it.
    pub(crate) fn read_code(&self, case: &CaseId) -> io::Result<Option<CodeReader<'_>>> {
        let code = self.codes.get(case).filter(|code| code.has_files());
        code.map(|code| code.both(&self.files)).transpose()
    }

    /// A hash of all that a tool sees of a case: its code, and the pull request it is dressed as. Goldens are not part of it.
    pub(crate) fn tool_input_hash(&self, case: &Case) -> blake3::Hash {
        let code = self.code_hashes.get(&case.id);
        let input = (code, case.change.is_some(), &case.pr);
        blake3::hash(&serde_json::to_vec(&input).unwrap_or_default())
    }

    /// The text of a file that exactly one case has, or that is in the suite under this path.
    pub fn source_anywhere(&self, path: &RepoPath) -> Option<String> {
        let mut having = self.suite.cases.iter().filter(|case| self.has_file(&case.id, path));
        match (having.next(), having.next()) {
            (Some(only), None) => self.source(&only.id, path),
            _ => as_text(self.files.read(path.as_str()).ok()??),
        }
    }

    fn text(&self, file: &str) -> Option<String> {
        String::from_utf8(self.files.read(file).ok()??).ok()
    }

    /// Whether it is a folder of challenges of the code review benchmark, without a `karat.toml`.
    pub fn is_challenge_folder(&self) -> bool {
        let is_challenge = |at: &StatedIn| matches!(at, StatedIn::File(file) if file.ends_with("challenge.yaml"));
        !self.stated_in.is_empty()
            && self.stated_in.values().all(is_challenge)
            && !matches!(self.files.read("karat.toml"), Ok(Some(_)))
    }

    /// The suite as it is stored with a run.
    pub fn snapshot(&self) -> SnapshotV1 {
        SnapshotV1::new(&self.suite, &self.config, &self.code_hashes)
    }

    /// A suite without its code, as it is stored with a run.
    pub fn remembered(snapshot: SnapshotV1) -> Self {
        let code_hashes = snapshot.cases.iter().filter_map(SnapshotCaseV1::code_by_id).collect();
        let (suite, config) = snapshot.into_suite();
        Self {
            code_hashes,
            suite,
            config,
            files: Files::Disk(PathBuf::new()),
            notes: Vec::new(),
            codes: HashMap::new(),
            stated_in: BTreeMap::new(),
            model_cutoff: None,
        }
    }

    /// Adds the code of the cases whose code has not changed since.
    pub fn with_code_of(mut self, mut now: Self) -> Self {
        let same =
            |case: &CaseId| self.code_hashes.get(case).is_some_and(|hash| now.code_hashes.get(case) == Some(hash));
        now.codes.retain(|case, _| same(case));
        (self.files, self.codes) = (now.files, now.codes);
        self
    }

    /// States the day until which the model that is scored was trained, as `YYYY-MM-DD`: reports then slice by the date of cases.
    pub(crate) fn set_model_cutoff(&mut self, cutoff: Option<&str>) {
        if let Some(cutoff) = cutoff {
            self.suite.mark_cutoff(cutoff);
            self.model_cutoff = Some(cutoff.to_owned());
        }
    }

    /// What a reader must know of cases that the model may have been trained on.
    pub(crate) fn cutoff_notes(&self) -> Vec<String> {
        let Some(cutoff) = &self.model_cutoff else { return Vec::new() };
        let on = |side| self.suite.cases.iter().filter(|case| case.cutoff == side).count();
        let (before, after, undated) = (on(Some(CutoffSide::Before)), on(Some(CutoffSide::After)), on(None));
        let mut notes = Vec::new();
        if before > 0 {
            let made = format!("made until the model's cutoff, {cutoff}");
            let seen = "may have been in its training data";
            notes.push(match after {
                0 => format!("all {} with a date were {made}: they {seen}", count(before, "case")),
                _ => format!(
                    "{} {} {made}, and {seen}; the slice `made` has them apart",
                    count(before, "case"),
                    were(before)
                ),
            });
        }
        if undated > 0 {
            let says = if undated == 1 { "does" } else { "do" };
            notes
                .push(format!("{} {says} not say when made, so --model-cutoff leaves it open", count(undated, "case")));
        }
        notes
    }

    /// Removes all other cases.
    pub fn restrict(&mut self, cases: &HashSet<&str>) {
        self.suite.cases.retain(|case| cases.contains(case.id.as_str()));
    }

    pub(crate) fn has_file(&self, case: &CaseId, path: &RepoPath) -> bool {
        self.codes.get(case).is_some_and(|code| code.after.contains_key(path.as_str()))
    }

    /// The files of a case after its change, sorted.
    pub(crate) fn after_paths(&self, case: &CaseId) -> Vec<RepoPath> {
        let files = self.codes.get(case).into_iter().flat_map(|code| code.after.keys());
        let mut paths: Vec<RepoPath> = files.filter_map(|file| RepoPath::new(file)).collect();
        paths.sort();
        paths
    }

    pub(crate) fn has_tree(&self, case: &CaseId) -> bool {
        self.codes.get(case).is_some_and(CaseCode::has_files)
    }

    /// A fault at a place in the suite's `karat.toml`, or at the nearest existing value around it.
    pub(crate) fn in_config(&self, path: &[Segment<'_>], code: &'static str, message: impl Into<String>) -> Diagnostic {
        let shown = self.files.display("karat.toml");
        match self.text("karat.toml").as_deref().map(|text| (text, toml::parse_recoverable(text).0)) {
            Some((text, Some(node))) => {
                Source::new(shown, text).diagnostic(Fault::new(code, node.place(path), message))
            }
            _ => Diagnostic::of_file(shown, code, message),
        }
    }

    /// The submissions in the suite itself. A link that leads out of it is an error.
    pub fn own_submissions(&self) -> io::Result<Vec<String>> {
        let found = self.files.walk("submissions")?;
        if let Some(link) = found.refused.iter().find(|link| !link.contains('/') && link.ends_with(".jsonl")) {
            return Err(io::Error::other(format!("submissions/{link} is a link that leads out of the suite")));
        }
        let direct = found.files.into_iter().filter(|file| !file.contains('/') && file.ends_with(".jsonl"));
        Ok(direct.map(|file| format!("submissions/{file}")).collect())
    }
}

impl CodeProvider for LoadedSuite {
    fn file(&self, case: &CaseId, path: &RepoPath) -> Option<String> {
        self.source(case, path)
    }

    fn changed_files(&self, case: &Case) -> Vec<ChangedFile> {
        let Some(change) = &case.change else { return Vec::new() };
        let Ok(Some(mut code)) = self.read_code(&case.id) else { return Vec::new() };
        let mut files = Vec::new();
        let (mut removed, mut added) = (BTreeMap::new(), BTreeMap::new());
        for path in change.touched.keys() {
            let mut read = |side| code.read(side, path.as_str()).ok().flatten();
            match (read(Side::Before), read(Side::After)) {
                (Some(old), Some(new)) => {
                    let (before, after) = text_of(old).zip(text_of(new)).unzip();
                    files.push(ChangedFile { path: path.clone(), renamed_from: None, before, after });
                }
                (Some(old), None) => drop(removed.insert(path.clone(), old.bytes)),
                (None, Some(new)) => drop(added.insert(path.clone(), new.bytes)),
                (None, None) => {}
            }
        }
        let renamed = find_renames(&removed, &added);
        for (path, new) in &added {
            let after = as_text(new.clone());
            let old = renamed.get(path).and_then(|old| Some((*old, removed.get(*old)?)));
            let (before, after) = match old {
                Some((_, old)) => as_text(old.clone()).zip(after).unzip(),
                None => (None, after),
            };
            files.push(ChangedFile {
                path: path.clone(),
                renamed_from: old.map(|(old, _)| old.clone()),
                before,
                after,
            });
        }
        let moved: HashSet<&RepoPath> = renamed.values().copied().collect();
        for (path, old) in removed.iter().filter(|(path, _)| !moved.contains(path)) {
            let before = as_text(old.clone());
            files.push(ChangedFile { path: path.clone(), renamed_from: None, before, after: None });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }
}

fn were(cases: usize) -> &'static str {
    if cases == 1 { "was" } else { "were" }
}

/// A text file after the change.
fn read_text(code: &mut CodeReader<'_>, path: &RepoPath) -> Option<String> {
    text_of(code.read(Side::After, path.as_str()).ok()??)
}

/// The text of a file. A link has none.
fn text_of(file: CodeFile) -> Option<String> {
    as_text(file.bytes).filter(|_| file.mode != FileMode::Link)
}

/// What was left out and why, in words.
fn left_out_notes(left_out: objects::LeftOut) -> impl Iterator<Item = String> {
    left_out.into_iter().map(|(reason, mut paths)| {
        paths.sort();
        paths.dedup();
        let named: Vec<String> = paths.iter().map(|path| format!("{path:?}")).collect();
        format!("left out for {reason}: {}", first_few(&named, 10))
    })
}

/// Decodes text. In older encodings, what is not ASCII is replaced, so that its lines can still be shown.
fn as_text(bytes: Vec<u8>) -> Option<String> {
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.as_bytes().contains(&0) => return None,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::shipped_suites::locate;
    use std::fs;
    use std::path::Path;

    fn written(folder: &Path, golden: &str, code: &[u8]) -> LoadedSuite {
        fs::create_dir_all(folder.join("cases/c/after")).unwrap();
        fs::write(folder.join("cases/c/after/a.py"), code).unwrap();
        let case = format!(
            "id: c\nverdict: vulnerable\nissues:\n  - id: g\n    title: {golden}\n    file: a.py\n    line_start: 1\n"
        );
        fs::write(folder.join("cases/c/case.yaml"), case).unwrap();
        load(Files::Disk(folder.to_owned())).unwrap_or_else(|faults| panic!("{faults}"))
    }

    #[test]
    fn a_run_knows_the_code_that_it_saw_though_goldens_changed() {
        let folder = tempfile::tempdir().unwrap();
        let then = written(folder.path(), "one", b"x = 1\n").snapshot();
        let (case, path) = (CaseId::from("c"), RepoPath::new("a.py").unwrap());
        let seen = |golden: &str, code: &[u8]| {
            let now = LoadedSuite::remembered(then.clone()).with_code_of(written(folder.path(), golden, code));
            assert_eq!(now.suite.cases[0].goldens[0].title.as_deref(), Some("one"), "goldens are those of the run");
            now.source(&case, &path)
        };
        assert_eq!(seen("another", b"x = 1\n").as_deref(), Some("x = 1\n"));
        assert_eq!(seen("one", b"x = 2\n"), None);
    }

    #[test]
    fn code_in_an_older_encoding_can_be_read() {
        assert_eq!(as_text(b"caf\xe9\n".to_vec()).as_deref(), Some("caf\u{fffd}\n"));
        assert_eq!(as_text(b"\xef\xbb\xbfx\n".to_vec()).as_deref(), Some("x\n"));
        assert_eq!(as_text(b"\xff\x00".to_vec()), None);
    }

    #[test]
    fn changed_files_have_both_sides() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = folder.path().join("cases/c").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        let body = b"one\ntwo\nthree\nfour\n";
        for (path, bytes) in [
            ("before/edited.py", &b"x = 0\n"[..]),
            ("after/edited.py", b"x = 1\n"),
            ("before/same.py", b"y = 0\n"),
            ("after/same.py", b"y = 0\n"),
            ("before/gone.py", b"z = 0\n"),
            ("after/new.py", b"w = 0\n"),
            ("before/old/name.py", body),
            ("after/new/name.py", b"one\ntwo\nthree\nfive\n"),
            ("before/logo.png", b"\x89PNG\x00\x01\xff"),
            ("after/logo.png", b"\x89PNG\x00\x02\xff"),
        ] {
            write(path, bytes);
        }
        write("case.yaml", b"id: c\nverdict: safe\n");
        let loaded = load(Files::Disk(folder.path().to_owned())).unwrap_or_else(|faults| panic!("{faults}"));
        let shown: Vec<String> = loaded
            .changed_files(&loaded.suite.cases[0])
            .iter()
            .map(|file| {
                let from = file.renamed_from.as_ref().map_or_else(String::new, |old| format!(" from {old}"));
                format!("{}{from}: {:?} {:?}", file.path, file.before, file.after)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "edited.py: Some(\"x = 0\\n\") Some(\"x = 1\\n\")",
                "gone.py: Some(\"z = 0\\n\") None",
                "logo.png: None None",
                "new.py: None Some(\"w = 0\\n\")",
                "new/name.py from old/name.py: Some(\"one\\ntwo\\nthree\\nfour\\n\") Some(\"one\\ntwo\\nthree\\nfive\\n\")",
            ]
        );
    }

    #[test]
    fn a_suite_comes_back_from_its_snapshot_as_it_was() {
        let loaded = load(locate("starter")).unwrap();
        let text = serde_json::to_vec(&loaded.snapshot()).unwrap();
        let back: SnapshotV1 = serde_json::from_slice(&text).unwrap();
        let (suite, config) = back.into_suite();
        assert!(suite.cases.iter().any(|case| case.change.as_ref().is_some_and(|change| !change.touched.is_empty())));
        assert_eq!(suite, loaded.suite);
        assert_eq!(config, loaded.config);
    }
}
