//! Carries a suite's goldens from one revision of a git repository to another.

use super::edit::{Edit, apply};
use super::write::write_changed;
use super::{LoadedSuite, load_suite};
use crate::failure::{Failure, Result};
use karat_core::golden::Golden;
use karat_core::identity::key;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_io::files::Files;
use karat_source::drift::{DriftOutcome, Location, drift};
use karat_source::git::Repository;
use serde_json::json;
use std::path::PathBuf;

/// The suite, and the revisions.
#[expect(missing_docs, reason = "field names say it")]
pub struct DriftRequest {
    pub suite: String,
    pub repo: PathBuf,
    /// Folder of the repository that the goldens' paths are relative to.
    pub prefix: Option<String>,
    pub from: String,
    pub to: String,
}

/// Where the goldens are in the new revision.
#[expect(missing_docs, reason = "field names say it")]
pub struct DriftReport {
    pub outcomes: Vec<DriftOutcome>,
    loaded: LoadedSuite,
}

/// Finds the goldens of a suite in another revision.
pub fn drift_suite(request: &DriftRequest) -> Result<DriftReport> {
    let loaded = load_suite(&request.suite)?;
    let repository = Repository::open(&request.repo).map_err(Failure::bad_input)?;
    let prefix = request.prefix.as_deref().and_then(RepoPath::new);
    let all = loaded.suite.cases.iter().flat_map(|case| case.goldens.iter().map(move |golden| (&case.id, golden)));
    let goldens: Vec<(&CaseId, &Golden)> = all.collect();
    let outcomes = drift(&repository, &request.from, &request.to, prefix.as_ref(), &goldens);
    Ok(DriftReport { outcomes: outcomes.map_err(Failure::bad_input)?, loaded })
}

impl DriftReport {
    /// Writes the new locations to the suite's files, and returns these.
    pub fn write(&self) -> Result<Vec<PathBuf>> {
        let Files::Disk(root) = &self.loaded.files else {
            return Err(Failure::usage("a built-in suite is read-only; copy it first"));
        };
        let edits: Vec<Edit> = self.outcomes.iter().flat_map(|outcome| edits(&self.loaded, outcome)).collect();
        let changed = apply(&self.loaded, &edits).map_err(|error| Failure::io(root.display(), error))?;
        write_changed(root, &changed)
    }
}

fn edits(loaded: &LoadedSuite, outcome: &DriftOutcome) -> Vec<Edit> {
    let Some((from, to)) = outcome.status.change() else { return Vec::new() };
    let Some(case) = loaded.suite.cases.iter().find(|c| c.id == outcome.case) else { return Vec::new() };
    let Some(index) = case.goldens.iter().position(|g| g.id == outcome.golden) else { return Vec::new() };
    let golden = &case.goldens[index];
    let edit = |key, value| Edit { case: case.id.clone(), golden: index, key, value, needless: false };
    let mut edits = Vec::new();
    if from.file != to.file {
        edits.push(edit("file", json!(to.file.as_str())));
    }
    if let Some(new) = to.lines {
        edits.push(edit("line_start", json!(new.start)));
        edits.push(Edit { needless: new.start == new.end, ..edit("line_end", json!(new.end)) });
    }
    // A stated key of the old location is updated to the new one.
    if golden.identity_key.is_some() && golden.identity_key == key_at(golden, from) {
        edits.extend(key_at(golden, to).map(|key| edit("identity_key", json!(key))));
    }
    edits
}

fn key_at(golden: &Golden, place: &Location) -> Option<String> {
    key::build(Some(&place.file), golden.rule_id.as_deref(), place.lines.map(key::Anchor::Lines).as_ref(), None)
}
