//! Scores trials case by case: only the trials and pairs of a few cases are in memory at a time.

use crate::case_observer::{CaseObserver, ObservedCase, judgements_by_case};
use crate::failure::Result;
use crate::judge::run::uncovered_notes;
use crate::judge::session::CaseSession;
use crate::run_facts::RunFacts;
use crate::sensitivity::{
    CaseVariants, SensitivityContext, VariantJudgements, Variants, decides, may_depend_on_judge, without_judge,
};
use crate::suite::LoadedSuite;
use crate::trial_index::TrialIndex;
use crate::work::{ReportFacts, Scoring, fill_symbols};
use karat_core::ids::{CaseId, JudgeName, ToolName};
use karat_core::judgement::Judgement;
use karat_core::profile::Method;
use karat_core::scorecard::{
    CaseInput, CaseScore, JudgementsByTrial, Scorecard, ScoredCase, Scorer, TrialPlan, lines_by_case, mark_unjudged_in,
};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::report::{DetailV1, JudgeV1, SensitivityV1};
use karat_report::build::{CasePairs, CaseReport, PairReports};
use karat_store::Store;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Findings and trials that are scored together: enough to keep all processors busy, and little memory.
const BATCH: usize = 8192;

/// Judgements by the case they are about.
#[derive(Default)]
pub(crate) struct JudgementsByCase(HashMap<CaseId, Vec<Judgement>>);

impl JudgementsByCase {
    pub(crate) fn new(judgements: Vec<Judgement>) -> Self {
        let mut by_case: HashMap<CaseId, Vec<Judgement>> = HashMap::new();
        for judgement in judgements {
            by_case.entry(judgement.case.clone()).or_default().push(judgement);
        }
        Self(by_case)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Judgement> {
        self.0.values().flatten()
    }

    fn take(&mut self, cases: &[Case]) -> Vec<Judgement> {
        cases.iter().filter_map(|case| self.0.remove(&case.id)).flatten().collect()
    }
}

/// People's labels of the trials of some cases.
pub(crate) type LabelSource<'a> = dyn Fn(&[Case], &[Trial]) -> Vec<Judgement> + 'a;

/// Who decides about the pairs that given judgements leave open.
pub(crate) enum CaseJudge<'a> {
    /// Nobody: these judges must have decided about all pairs of a trial of which they decided any.
    Nobody(BTreeSet<JudgeName>),
    Session(CaseSession<'a>),
}

/// Trials that are read case by case, and what they are scored with.
pub(crate) struct CaseWork<'a> {
    pub(crate) loaded: &'a LoadedSuite,
    pub(crate) index: &'a TrialIndex,
    pub(crate) given: JudgementsByCase,
    /// Adds what people said about the trials of some cases.
    pub(crate) labels: &'a LabelSource<'a>,
    pub(crate) judge: CaseJudge<'a>,
    pub(crate) store: Option<&'a mut Store>,
    pub(crate) run: Option<&'a RunFacts>,
    pub(crate) detail: DetailV1,
    /// Whether all judgements are kept to be saved.
    pub(crate) keep_voices: bool,
}

/// Scores all cases in the order of the suite. Judges are described once they were asked.
pub(crate) fn score_by_case(
    mut work: CaseWork<'_>,
    mut facts: ReportFacts,
    describe: &mut dyn FnMut(&mut JudgeV1),
    mut observer: Option<&mut dyn CaseObserver>,
) -> Result<Scoring> {
    let (loaded, index, detail) = (work.loaded, work.index, work.detail);
    let suite = &loaded.suite;
    let profile = facts.profile.clone();
    let plan = TrialPlan::new(suite, index.heads(suite), index.confidences.clone());
    let tools: Vec<ToolName> = plan.tools().cloned().collect();
    let unknown = work.given.iter().filter(|judgement| !plan.covers(judgement)).count();
    let mut scorer = Scorer::new(suite, &profile, &plan, unknown);
    let mut reports = PairReports::new(suite, &profile, detail, tools.len());
    let rules = without_judge(&profile);
    let may_be_judged = matches!(work.judge, CaseJudge::Session(_)) || work.given.iter().any(decides);
    let context = SensitivityContext { suite, profile: &profile, rules: &rules };
    let mut variants =
        (may_be_judged && may_depend_on_judge(&profile, tools.len())).then(|| Variants::new(context, &plan));
    let mut uncovered: BTreeMap<JudgeName, usize> = BTreeMap::new();
    let mut voices = Vec::new();
    let mut next = 0;
    while next < suite.cases.len() {
        let range = index.batch(next, BATCH);
        next = range.end;
        let cases = &suite.cases[range.clone()];
        let store = work.store.as_deref_mut().zip(work.run.map(RunFacts::id));
        let (mut trials, stored) = index.load(suite, range.clone(), store)?;
        let mut judgements = work.given.take(cases);
        judgements.extend((work.labels)(cases, &trials));
        let given = judgements.len();
        let of_cases = scorer.context(range.clone());
        match &mut work.judge {
            CaseJudge::Nobody(judges) => {
                let judges = judges.iter().collect();
                let open = mark_unjudged_in(of_cases, &trials, &judgements, &judges);
                for judgement in &open {
                    *uncovered.entry(judgement.judge.clone()).or_default() += 1;
                }
                judgements.extend(open);
            }
            CaseJudge::Session(session) => {
                judgements = session.ask(of_cases, &trials, judgements);
                if work.keep_voices {
                    voices.extend_from_slice(&judgements[given..]);
                }
            }
        }
        if profile.method == Method::Identity {
            fill_symbols(loaded, cases, &mut trials);
        }
        reports.count_judgements(&judgements);
        if let Some(variants) = &mut variants {
            variants.add_pairs(of_cases, &trials, &judgements);
        }
        let batch = Batch { first: range.start, trials: &trials, judgements: &judgements };
        let parts = batch.score(cases, &scorer, &reports, variants.as_ref());
        let mut observed = observer.as_deref_mut().map(|observer| {
            let lines = lines_by_case(cases, batch.trials);
            (observer, lines.into_iter().zip(judgements_by_case(cases, batch.judgements)))
        });
        for (case, (mut scored, report, other)) in cases.iter().zip(parts) {
            if let Some((observer, own)) = &mut observed {
                let (own_trials, own_judgements) = own.next().unwrap_or_default();
                observer.observe(&ObservedCase {
                    suite: &suite.name,
                    case,
                    profile: &profile,
                    run: work.run,
                    tools: &tools,
                    scores: &scored.scores,
                    trials: batch.trials,
                    stored: &stored,
                    own_trials: &own_trials,
                    judgements: batch.judgements,
                    own_judgements: &own_judgements,
                })?;
            }
            scored.drop_pairs();
            reports.add(report);
            if let (Some(variants), Some(other)) = (&mut variants, other) {
                variants.add(other, &scored);
            }
            scorer.add(scored);
        }
    }
    let scorecard = scorer.finish();
    facts.notes.extend(uncovered_notes(&uncovered));
    if let CaseJudge::Session(session) = work.judge {
        let mut result = session.finish();
        result.judges.iter_mut().for_each(describe);
        facts.asked = result.judges;
        facts.spent = result.spent;
        facts.notes.extend(result.notes);
    }
    let sensitivity =
        |scorecard: &Scorecard| -> Option<SensitivityV1> { variants.and_then(|variants| variants.finish(scorecard)) };
    let without_labels = |_: &Scorecard, _: Option<&str>| (Vec::new(), None);
    let (scorecard, report) = facts.build(loaded, scorecard, reports, &index.costs, without_labels, sensitivity);
    Ok(Scoring { trials: Vec::new(), judgements: Vec::new(), voices, profile, scorecard, report })
}

/// The trials of some cases, with all of their judgements.
struct Batch<'a> {
    /// Index of the first case.
    first: usize,
    trials: &'a [Trial],
    judgements: &'a [Judgement],
}

type ScoredParts = (ScoredCase, CaseReport, Option<CaseVariants>);

impl Batch<'_> {
    fn score(
        &self,
        cases: &[Case],
        scorer: &Scorer<'_>,
        reports: &PairReports<'_>,
        variants: Option<&Variants<'_>>,
    ) -> Vec<ScoredParts> {
        let lines = lines_by_case(cases, self.trials);
        let judged = JudgementsByTrial::new(self.judgements);
        let other_judgements = variants.map(|_| VariantJudgements::new(self.judgements));
        let varied = variants.zip(other_judgements.as_ref()).map(|(variants, own)| (variants, own, own.by_trial()));
        let score = |(at, own): (usize, &Vec<usize>)| {
            let case = self.first + at;
            let scored = scorer.score_case(CaseInput { case, trials: self.trials, own, judgements: &judged });
            let scores: Vec<&CaseScore> = scored.scores.iter().collect();
            let (trials, judgements) = (self.trials, self.judgements);
            let report = reports.of_case(&CasePairs { case, scores: &scores, trials, judgements });
            let other = varied
                .as_ref()
                .map(|(variants, judgements, by_trial)| variants.score_case(case, trials, own, judgements, by_trial));
            (scored, report, other)
        };
        lines.par_iter().enumerate().map(score).collect()
    }
}
