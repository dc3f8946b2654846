//! Runs a judge with progress on standard error.

use crate::exit::Failure;
use crate::progress::JudgeProgress;
use crate::store_place;
use karat::judge::run::{JudgeEnv, JudgeRequest, JudgeSession, run_judge};
use karat::scoring::Work;
use karat::suite::LoadedSuite;
use karat_store::Store;
use std::path::Path;

/// What a command knows when it runs a judge.
pub(crate) struct JudgeCall<'a> {
    pub(crate) request: JudgeRequest,
    pub(crate) loaded: &'a LoadedSuite,
    /// The store's folder, where it was typed.
    pub(crate) folder: Option<&'a Path>,
    /// The store, where it is open already.
    pub(crate) store: Option<&'a mut Store>,
    /// The tools and their models, as far as they are known.
    pub(crate) models: Vec<(String, String)>,
    pub(crate) quiet: bool,
}

impl JudgeCall<'_> {
    /// Puts to the judge what the given judgements leave open.
    pub(crate) fn run(self, work: &mut Work) -> Result<(), Failure> {
        let folder = store_place::folder(self.folder);
        let mut progress = JudgeProgress::new(self.quiet);
        let env =
            JudgeEnv { request: &self.request, store_folder: &folder, store: self.store, observer: &mut progress };
        run_judge(JudgeSession { env, loaded: self.loaded, models: self.models }, work)
    }
}
