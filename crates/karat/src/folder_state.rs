//! What is in a folder: a suite, and a store with runs. A front end says from it what to do next.

use crate::failure::Result;
use karat_documents::assess::discover::ENDINGS;
use karat_format::config::{ConfigV1, SuiteKind};
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::report::ReportV1;
use karat_io::files::Files;
use karat_store::{RunInfo, Store, StoreLocation};
use std::path::Path;

/// What is in a folder.
#[expect(missing_docs, reason = "field names say it")]
#[derive(Debug, Default)]
pub struct FolderState {
    pub suite: Option<SuiteState>,
    pub store: Option<StoredRuns>,
}

/// The suite of a folder.
#[expect(missing_docs, reason = "field names say it")]
#[derive(Debug, PartialEq, Eq)]
pub struct SuiteState {
    /// From `karat.toml`, if it has one that can be read.
    pub name: Option<String>,
    pub kind: SuiteKind,
    pub has_cases: bool,
}

/// The runs of the store that commands in the folder use.
#[derive(Debug)]
pub struct StoredRuns {
    /// The latest run.
    pub latest: Option<LatestRun>,
    /// The latest run that was stopped or interrupted, if it is not complete since.
    pub unfinished: Option<RunInfo>,
}

/// The latest run of a store.
#[expect(missing_docs, reason = "field names say it")]
#[derive(Debug)]
pub struct LatestRun {
    pub info: RunInfo,
    /// Its state in a word, such as `complete` or `interrupted`.
    pub state: &'static str,
    /// The stored report, for a run of tools.
    pub report: Option<ReportV1>,
}

/// Looks at a folder and at the store that commands in it use. Nothing is changed, and no other folder is searched.
pub fn read_folder_state(folder: &Path, store: &StoreLocation) -> Result<FolderState> {
    let store = if Store::is_at(store) { Some(read_store(store)?) } else { None };
    Ok(FolderState { suite: find_suite(folder), store })
}

/// The suite of a folder, if it has one. It is not loaded.
pub fn find_suite(folder: &Path) -> Option<SuiteState> {
    let has = |name: &str| folder.join(name).exists();
    let is_record = |name: &str| ENDINGS.iter().any(|ending| name.ends_with(ending));
    let names = || std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let has_records = names().any(|name| is_record(&name.to_string_lossy()));
    let filled = |name: &str| std::fs::read_dir(folder.join(name)).is_ok_and(|mut entries| entries.next().is_some());
    let challenges = || names().any(|name| folder.join(name).join("challenge.yaml").is_file());
    let has_cases = has("cases.jsonl") || filled("cases") || filled("challenges");
    if let Ok(Some(bytes)) = Files::Disk(folder.to_owned()).read("karat.toml") {
        let decoded = decode_bytes::<ConfigV1>("", &bytes, Syntax::Toml, &schema_of::<ConfigV1>());
        let suite = decoded.value.map(|(config, _)| config.suite);
        let kind = suite.as_ref().map_or(SuiteKind::Findings, |suite| suite.kind);
        // Where the records of an assessment are is not looked for.
        let has_cases = has_cases || challenges() || has_records || kind == SuiteKind::Assessment && filled("bundles");
        return Some(SuiteState {
            name: suite.map(|suite| suite.name).filter(|name| !name.is_empty()),
            kind,
            has_cases,
        });
    }
    if has_records {
        return Some(SuiteState { name: None, kind: SuiteKind::Assessment, has_cases: true });
    }
    let is_suite = has_cases || challenges();
    is_suite.then_some(SuiteState { name: None, kind: SuiteKind::Findings, has_cases: true })
}

fn read_store(location: &StoreLocation) -> Result<StoredRuns> {
    let mut store = Store::read_only(location)?;
    let runs = store.overview()?;
    let is_unfinished =
        |run: &&RunInfo| run.kind == SuiteKind::Findings && matches!(store.state_word(run), "interrupted" | "stopped");
    let unfinished = runs.iter().find(is_unfinished).cloned();
    let latest = match runs.first() {
        None => None,
        Some(run) => {
            let info = store.find(run.id.as_str())?;
            let state = store.state_word(&info);
            let report = match info.kind {
                SuiteKind::Findings => store.report(&info.id)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
                SuiteKind::Assessment => None,
            };
            Some(LatestRun { info, state, report })
        }
    };
    Ok(StoredRuns { latest, unfinished })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(files: &[(&str, &str)], expect: Option<(Option<&str>, SuiteKind, bool)>) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = read_folder_state(folder.path(), &folder.path().join(".karat").into()).unwrap();
        let expect =
            expect.map(|(name, kind, has_cases)| SuiteState { name: name.map(str::to_owned), kind, has_cases });
        assert_eq!(found.suite, expect, "{files:?}");
        assert!(found.store.is_none());
    }

    #[test]
    fn suites_are_recognised() {
        let (findings, assessment) = (SuiteKind::Findings, SuiteKind::Assessment);
        let named = ("karat.toml", "[suite]\nname = \"mine\"\n");
        let documents = ("karat.toml", "[suite]\nname = \"mine\"\nkind = \"assessment\"\n");
        check(&[], None);
        check(&[("README.md", "cases")], None);
        check(&[named], Some((Some("mine"), findings, false)));
        check(&[named, ("cases/a/case.yaml", "id: a\n")], Some((Some("mine"), findings, true)));
        check(&[documents, ("bundles/a/a.golden-assessment.yml", "")], Some((Some("mine"), assessment, true)));
        check(&[("karat.toml", "[suite")], Some((None, findings, false)));
        check(&[("cases.jsonl", "")], Some((None, findings, true)));
        check(&[("one/challenge.yaml", "")], Some((None, findings, true)));
        check(&[("a.golden-assessment.yml", "")], Some((None, assessment, true)));
    }
}
