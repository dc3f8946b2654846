//! Tables that are written while cases are scored, so that neither trials nor pairs have to stay in memory.

use super::{TableCounts, judgement_key};
use crate::case_observer::{CaseObserver, ObservedCase};
use crate::failure::{Failure, Result};
use crate::work::Scoring;
use karat_core::ids::ToolName;
use karat_core::scorecard::CaseScore;
use karat_core::scorecard::TWIN_METRICS;
use karat_format::report::{CaseResultV1, EstimateV1};
use karat_report::build::{CasePairs, case_estimate, case_info, full_case_results, profile_as_printed};
use karat_store::record::TrialKey;
use karat_tables::{ScoredCase, TablesHead, TablesWriter, TrialRecord};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Writes one folder of tables, case by case.
pub struct CaseTables {
    folder: PathBuf,
    writer: Option<TablesWriter>,
    /// What went wrong first. Scoring goes on, so that its result is not lost.
    failure: Option<Failure>,
}

impl CaseTables {
    /// Tables in a folder, which appears when they are complete.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, writer: None, failure: None }
    }

    /// The folder that was asked for.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds what is known of all cases together and completes the folder. Returns the number of rows.
    pub fn finish(self, scoring: &Scoring) -> Result<TableCounts> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut tables = match self.writer {
            Some(writer) => writer,
            None => TablesWriter::create(&self.folder, &TablesHead::of_report(&scoring.report, None))?,
        };
        tables.add_figures(&scoring.report)?;
        for tool in &scoring.report.tools {
            for (case, info) in tool.cases.iter().zip(&scoring.report.cases) {
                for (id, estimate) in whole_suite_metrics(case) {
                    tables.add_case_figure(&tool.tool, &info.case, id, &estimate)?;
                }
            }
        }
        // Where judgements were not kept, those that decide are written already, and there are no others.
        let deciding: HashSet<_> = scoring.judgements.iter().map(judgement_key).collect();
        let others = scoring.voices.iter().filter(|voice| !deciding.contains(&judgement_key(voice)));
        for voice in others.filter(|_| !deciding.is_empty()) {
            tables.add_judgement(voice, false)?;
        }
        Ok(tables.finish()?)
    }

    fn add(&mut self, observed: &ObservedCase<'_>) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let head = TablesHead {
                    suite: observed.suite,
                    profile: &profile_as_printed(observed.profile),
                    tools: observed.tools.iter().map(ToolName::as_str).collect(),
                    run_id: observed.run.map(|run| run.id.as_str()),
                };
                self.writer.insert(TablesWriter::create(&self.folder, &head)?)
            }
        };
        let mut trials: HashMap<&ToolName, Vec<TrialRecord<'_>>> = HashMap::new();
        for at in observed.own_trials {
            let trial = &observed.trials[*at];
            let in_memory = observed.run.and_then(|run| run.details.get(&TrialKey::from_trial(trial)));
            let stored = observed.stored.get(*at).and_then(Option::as_ref).or(in_memory);
            let stored = stored.map(|(attempt, detail)| (*attempt, detail));
            trials.entry(&trial.tool).or_default().push(TrialRecord { trial, stored });
        }
        let scores: Vec<&CaseScore> = observed.scores.iter().collect();
        let number = scores.first().map_or(0, |score| score.case);
        let ObservedCase { case, judgements, .. } = *observed;
        let pairs = CasePairs { case: number, scores: &scores, trials: observed.trials, judgements };
        let info = case_info(case, observed.profile);
        for (tool, mut result) in observed.tools.iter().zip(full_case_results(case, &pairs, observed.profile)) {
            // Known of all cases only at the end, so added there.
            TWIN_METRICS.iter().for_each(|id| drop(result.metrics.remove(*id)));
            let facts = observed.run.and_then(|run| run.tools.get(tool));
            let model = observed.run.and_then(|run| run.models.get(tool.as_str())).map(String::as_str);
            let own = trials.get(tool).map_or(&[][..], Vec::as_slice);
            let scored = ScoredCase { case: &info, tool: tool.as_str(), facts, model, result: &result, trials: own };
            writer.add_case(&scored)?;
        }
        for at in observed.own_judgements {
            writer.add_judgement(&judgements[*at], true)?;
        }
        Ok(())
    }
}

/// What a report says of the metrics of a case that depend on other cases.
fn whole_suite_metrics(case: &CaseResultV1) -> impl Iterator<Item = (&'static str, EstimateV1)> + '_ {
    TWIN_METRICS.into_iter().filter_map(|id| {
        let of_value = |value| case_estimate(id, Ok(value), case.counted().count());
        let estimate = case.metrics.get(id).cloned().or_else(|| case.values.get(id).map(of_value));
        Some((id, estimate?))
    })
}

impl CaseObserver for Vec<CaseTables> {
    fn observe(&mut self, case: &ObservedCase<'_>) -> Result<()> {
        for tables in self.iter_mut().filter(|tables| tables.failure.is_none()) {
            tables.failure = tables.add(case).err();
        }
        Ok(())
    }
}
