//! A suite as it was when a run began, so that the run can be scored even if the suite has changed or is gone.

use super::case::CaseV1;
use super::config::ConfigV1;
use karat_core::ids::CaseId;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Change, Suite};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The cases and rules of a suite, without its code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SnapshotV1 {
    /// What `karat.toml` said.
    pub config: ConfigV1,
    pub name: String,
    /// A hash of everything its cases say and hold.
    pub digest: String,
    pub cases: Vec<SnapshotCaseV1>,
}

/// A case of a snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SnapshotCaseV1 {
    pub case: CaseV1,
    /// First and last line of everything the change touched, by file; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched: Option<BTreeMap<String, Vec<(u32, u32)>>>,
    /// A hash of its code, to know the same code again; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl SnapshotV1 {
    /// The suite as it stands.
    pub fn new(suite: &Suite, config: &ConfigV1, code: &HashMap<CaseId, String>) -> Self {
        let lines = |all: &[Lines]| all.iter().map(|lines| (lines.start, lines.end)).collect();
        let touched =
            |change: &Change| change.touched.iter().map(|(path, all)| (path.to_string(), lines(all))).collect();
        let case = |case: &Case| SnapshotCaseV1 {
            case: CaseV1::from(case),
            touched: case.change.as_ref().map(touched),
            code: code.get(&case.id).cloned(),
        };
        Self {
            config: config.clone(),
            name: suite.name.clone(),
            digest: suite.digest.clone(),
            cases: suite.cases.iter().map(case).collect(),
        }
    }

    /// The suite as it stood.
    pub fn into_suite(self) -> (Suite, ConfigV1) {
        let cases = self.cases.into_iter().map(SnapshotCaseV1::into_case).collect();
        (Suite { name: self.name, digest: self.digest, cases }, self.config)
    }
}

impl SnapshotCaseV1 {
    /// The case, and the hash of its code.
    pub fn code_by_id(&self) -> Option<(CaseId, String)> {
        Some((CaseId::from(self.case.id.as_str()), self.code.clone()?))
    }

    fn into_case(self) -> Case {
        let lines = |all: Vec<(u32, u32)>| all.into_iter().map(|(start, end)| Lines { start, end }).collect();
        let change = self.touched.map(|touched| Change {
            touched: touched.into_iter().filter_map(|(path, all)| Some((RepoPath::new(&path)?, lines(all)))).collect(),
        });
        // Already checked when the suite was loaded.
        Case { change, ..self.case.into_case().0 }
    }
}
