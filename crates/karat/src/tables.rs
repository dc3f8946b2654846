//! Writes what was scored as Parquet tables.

mod by_case;

pub use by_case::CaseTables;

use crate::failure::Result;
use crate::judge::run::JudgeObserver;
use crate::profile::ProfileRequest;
use crate::run_facts::RunFacts;
use crate::run_loader;
use crate::work::{Scoring, Work};
use karat_core::judgement::{Decision, Judgement};
use karat_core::trial::Trial;
use karat_format::report::{CaseInfoV1, ReportV1};
use karat_store::Store;
use karat_store::record::TrialKey;
use karat_tables::{ScoredCase, TablesHead, TablesWriter, TrialRecord};
pub use karat_tables::{TableCounts, check_target};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The extension of a folder of tables.
pub const EXTENSION: &str = "parquet";

/// What tables are written from.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TablesInput<'a> {
    pub report: &'a ReportV1,
    pub run: Option<&'a RunFacts>,
    /// In any order. Of a trial that is not among them, tables have what the report says.
    pub trials: &'a [Trial],
    pub judgements: &'a [Judgement],
    /// The judgements of every judge that was asked, including each member of a panel.
    pub voices: &'a [Judgement],
}

impl<'a> TablesInput<'a> {
    /// Of a report alone, and the trials that it is about, if they are known.
    pub fn of_report(report: &'a ReportV1, trials: &'a [Trial]) -> Self {
        Self { report, run: None, trials, judgements: &[], voices: &[] }
    }

    /// Of a scoring, and the run that was scored, if it was one.
    pub fn of_scoring(scoring: &'a Scoring, run: Option<&'a RunFacts>) -> Self {
        let Scoring { report, trials, judgements, voices, .. } = scoring;
        Self { report, run, trials, judgements, voices }
    }

    /// Writes the tables to a folder, which appears when they are complete. Returns the number of rows.
    pub fn write(&self, folder: &Path) -> Result<TableCounts> {
        let run_id = self.run.map(|run| run.id.as_str());
        let mut tables = TablesWriter::create(folder, &TablesHead::of_report(self.report, run_id))?;
        let cases: HashMap<&str, &CaseInfoV1> =
            self.report.cases.iter().map(|case| (case.case.as_str(), case)).collect();
        let mut trials: HashMap<(&str, &str), Vec<TrialRecord<'_>>> = HashMap::new();
        for trial in self.trials {
            let stored = self.run.and_then(|run| run.details.get(&TrialKey::from_trial(trial)));
            let record = TrialRecord { trial, stored: stored.map(|(attempt, detail)| (*attempt, detail)) };
            trials.entry((trial.tool.as_str(), trial.case.as_str())).or_default().push(record);
        }
        for tool in &self.report.tools {
            let facts = self.run.and_then(|run| run.tools.get(tool.tool.as_str()));
            let model = self.run.and_then(|run| run.models.get(&tool.tool)).map(String::as_str);
            for result in &tool.cases {
                // A report names each of its cases.
                let Some(case) = cases.get(result.case.as_str()) else { continue };
                let own = trials.get(&(tool.tool.as_str(), result.case.as_str())).map_or(&[][..], Vec::as_slice);
                tables.add_case(&ScoredCase { case, tool: &tool.tool, facts, model, result, trials: own })?;
            }
        }
        tables.add_figures(self.report)?;
        let order: HashMap<&str, usize> = self.report.cases.iter().map(|case| case.case.as_str()).zip(0..).collect();
        let mut judgements: Vec<&Judgement> = self.judgements.iter().collect();
        judgements.sort_by_key(|judgement| order.get(judgement.case.as_str()));
        judgements.into_iter().try_for_each(|judgement| tables.add_judgement(judgement, true))?;
        let deciding: HashSet<JudgementKey<'_>> = match self.voices {
            [] => HashSet::new(),
            _ => self.judgements.iter().map(judgement_key).collect(),
        };
        for voice in self.voices.iter().filter(|voice| !deciding.contains(&judgement_key(voice))) {
            tables.add_judgement(voice, false)?;
        }
        Ok(tables.finish()?)
    }
}

/// Case, tool, trial, judge, golden and finding.
type JudgementKey<'a> = (&'a str, &'a str, u32, &'a str, Option<&'a str>, Option<&'a str>);

fn judgement_key(judgement: &Judgement) -> JudgementKey<'_> {
    let (golden, finding) = match &judgement.decision {
        Decision::Pair(pair) => (pair.golden.as_ref(), Some(&pair.finding)),
        Decision::Unjudged(pair) => (Some(&pair.golden), Some(&pair.finding)),
        Decision::Extra(extra) => (None, Some(&extra.finding)),
        Decision::Audit(_) => (None, None),
    };
    let Judgement { case, tool, trial, judge, .. } = judgement;
    let (golden, finding) = (golden.map(|golden| golden.as_str()), finding.map(|finding| finding.as_str()));
    (case.as_str(), tool.as_str(), *trial, judge.as_str(), golden, finding)
}

/// What a store has of a run: its report, trials and judgements.
pub struct StoredResults {
    report: ReportV1,
    run: RunFacts,
    trials: Vec<Trial>,
    judgements: Vec<Judgement>,
    voices: Vec<Judgement>,
}

impl StoredResults {
    /// Reads a run by id, prefix, name or `latest`. One without a report is scored, which may ask a judge; one whose report has
    /// less detail is scored with its own judgements.
    pub fn load(store: &mut Store, reference: &str, observer: &mut dyn JudgeObserver) -> Result<Self> {
        let info = store.find_findings(reference)?;
        let mut run = run_loader::run(store, info.id.as_str())?;
        if !info.has_report {
            let Scoring { report, trials, judgements, voices, .. } = run_loader::score_run(store, &mut run, observer)?;
            return Ok(Self { report, run: run.take_facts(), trials, judgements, voices });
        }
        let (_, report) = run_loader::report(store, info.id.as_str(), observer)?;
        let judgements = run_loader::judgements(store, &info)?;
        if report.detail.is_all() {
            let trials = run.take_trials();
            return Ok(Self { report, run: run.take_facts(), trials, judgements, voices: Vec::new() });
        }
        let work = Work { judgements, ..run.work(run.profile(&ProfileRequest::default())?, None) };
        let Scoring { report, trials, judgements, .. } = work.score(&run.loaded);
        Ok(Self { report, run: run.take_facts(), trials, judgements, voices: Vec::new() })
    }

    /// What tables are written from.
    pub fn tables(&self) -> TablesInput<'_> {
        let Self { report, run, trials, judgements, voices } = self;
        TablesInput { report, run: Some(run), trials, judgements, voices }
    }
}
