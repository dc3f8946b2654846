//! Runs a judge with progress on standard error.

use crate::exit::Failure;
use crate::progress::JudgeProgress;
use crate::store_path;
use karat::judge::run::{JudgeEnv, JudgeRequest, JudgeSession, run_judge};
use karat::scoring::Work;
use karat::suite::LoadedSuite;
use karat_store::Store;
use std::path::Path;

/// What a command passes to a judge.
pub(crate) struct JudgeCall<'a> {
    pub(crate) request: JudgeRequest,
    pub(crate) loaded: &'a LoadedSuite,
    /// The store folder from the command line.
    pub(crate) folder: Option<&'a Path>,
    /// The store, if it is already open.
    pub(crate) store: Option<&'a mut Store>,
    /// The known models of tools.
    pub(crate) models: Vec<(String, String)>,
    pub(crate) quiet: bool,
}

impl JudgeCall<'_> {
    /// Asks the judge about the pairs without a judgement.
    pub(crate) fn run(self, work: &mut Work) -> Result<(), Failure> {
        let folder = store_path::folder(self.folder);
        let mut progress = JudgeProgress::new(self.quiet);
        let env =
            JudgeEnv { request: &self.request, store_folder: &folder, store: self.store, observer: &mut progress };
        run_judge(JudgeSession { env, loaded: self.loaded, models: self.models }, work)
    }
}
