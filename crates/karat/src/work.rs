//! Scores trials that are loaded and judged, and builds their report.

use crate::case_observer::{CaseObserver, ObservedCase, judgements_by_case};
use crate::comparison::{self, Side};
use crate::failure::Result;
use crate::run_facts::RunFacts;
use crate::sensitivity::{SensitivityInput, is_plain, sensitivity};
use crate::suite::LoadedSuite;
use karat_core::clusters::{ClusterBy, Clustering};
use karat_core::ids::ToolName;
use karat_core::judgement::Judgement;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{
    CaseScore, CorrectedTool, CorrectionInput, Intervals, LabelSampling, Scorecard, correct_scores, label_sampling,
    lines_by_case, score,
};
use karat_core::stats::summary::design_effect;
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::report::{ClustersV1, DetailV1, JudgeSpentV1, JudgeV1, RecordedV1, ReportV1, SensitivityV1};
use karat_report::build::{PairReports, ReportInput, TrialCosts, report, seed_from};
use karat_report::number::rank_metric;
use karat_source::symbols::SymbolCache;
use std::collections::BTreeMap;

/// The inputs and results of one scoring. After scoring case by case there are neither trials nor judgements, and the scorecard has
/// the figures of tools alone.
#[expect(missing_docs, reason = "field names say it")]
pub struct Scoring {
    /// With symbols filled in if keys need them.
    pub trials: Vec<Trial>,
    pub judgements: Vec<Judgement>,
    pub voices: Vec<Judgement>,
    pub profile: Profile,
    pub scorecard: Scorecard,
    pub report: ReportV1,
}

impl Scoring {
    /// Hands every case to an observer, in the order of the suite.
    pub(crate) fn observe(&self, suite: &Suite, run: Option<&RunFacts>, observer: &mut dyn CaseObserver) -> Result<()> {
        let tools: Vec<ToolName> = self.scorecard.tools.iter().map(|tool| tool.tool.clone()).collect();
        let Self { trials, judgements, profile, .. } = self;
        let lines = lines_by_case(&suite.cases, trials);
        let judged = judgements_by_case(&suite.cases, judgements);
        for (at, case) in suite.cases.iter().enumerate() {
            let scores: Vec<CaseScore> = self.scorecard.tools.iter().map(|tool| tool.cases[at].clone()).collect();
            let (own_trials, own_judgements) = (&lines[at], &judged[at]);
            let (tools, scores) = (tools.as_slice(), scores.as_slice());
            observer.observe(&ObservedCase {
                suite: &suite.name,
                case,
                profile,
                run,
                tools,
                scores,
                trials,
                stored: &[],
                own_trials,
                judgements,
                own_judgements,
            })?;
        }
        Ok(())
    }
}

/// What is to be scored, and by which rules.
#[expect(missing_docs, reason = "field names say it")]
pub struct Work {
    pub trials: Vec<Trial>,
    pub judgements: Vec<Judgement>,
    pub profile: Profile,
    /// By default computed from the suite.
    pub seed: Option<u64>,
    /// Human labels of some pairs. They decide no match: they measure the judge's errors.
    pub labels: Vec<Judgement>,
    /// Their seed is that above.
    pub intervals: Intervals,
    /// For the report's warnings.
    pub notes: Vec<String>,
    pub isolation: BTreeMap<String, String>,
    /// By tool whose trials were repeated from a recording.
    pub recorded: BTreeMap<String, RecordedV1>,
    /// The judgements of every judge that was asked, including each member of a panel.
    pub voices: Vec<Judgement>,
    pub asked: Vec<JudgeV1>,
    /// The cost of each judge that is a model, this time.
    pub spent: BTreeMap<String, JudgeSpentV1>,
    /// What follows `karat label next` to select the same trials and judge; `None` where it cannot.
    pub label_source: Option<String>,
    /// What the report holds of single trials.
    pub detail: DetailV1,
}

impl Work {
    /// Trials to score by these rules.
    pub fn new(trials: Vec<Trial>, profile: Profile) -> Self {
        Self {
            trials,
            judgements: Vec::new(),
            profile,
            seed: None,
            labels: Vec::new(),
            intervals: Intervals::default(),
            notes: Vec::new(),
            isolation: BTreeMap::new(),
            recorded: BTreeMap::new(),
            voices: Vec::new(),
            asked: Vec::new(),
            spent: BTreeMap::new(),
            label_source: None,
            detail: DetailV1::All,
        }
    }

    /// Scores trials against a suite.
    pub fn score(self, loaded: &LoadedSuite) -> Scoring {
        let Self { mut trials, judgements, profile, labels, voices, detail, .. } = self;
        let suite = &loaded.suite;
        if profile.method == Method::Identity {
            fill_symbols(loaded, &suite.cases, &mut trials);
        }
        let facts = ReportFacts {
            profile: profile.clone(),
            seed: self.seed,
            intervals: self.intervals,
            notes: self.notes,
            isolation: self.isolation,
            recorded: self.recorded,
            asked: self.asked,
            spent: self.spent,
            label_source: self.label_source,
            keep_cases: true,
        };
        let scorecard = score(suite, &trials, &judgements, &profile);
        let pairs = PairReports::of_scorecard(suite, &trials, &judgements, &profile, &scorecard, detail);
        let (trials_given, judgements_given, profile_used) = (&trials, &judgements, &profile);
        let correct = |scorecard: &Scorecard, cluster: Option<&str>| {
            let input = CorrectionInput {
                suite,
                trials: trials_given,
                judgements: judgements_given,
                labels: &labels,
                profile: profile_used,
                cluster,
                level: Intervals::LEVEL,
            };
            let corrected = correct_scores(scorecard, input);
            let warning = label_warning(&labels, corrected.len());
            (corrected, warning)
        };
        let sensitivity = |scorecard: &Scorecard| {
            let (trials, judgements, profile) = (trials_given.as_slice(), judgements_given.as_slice(), profile_used);
            sensitivity(&SensitivityInput { suite, trials, judgements, profile, scorecard })
        };
        let costs = TrialCosts::new(&trials);
        let (scorecard, report) = facts.build(loaded, scorecard, pairs, &costs, correct, sensitivity);
        Scoring { trials, judgements, voices, profile, scorecard, report }
    }
}

/// What a report states beside scores and pairs.
pub(crate) struct ReportFacts {
    pub(crate) profile: Profile,
    /// By default computed from the suite.
    pub(crate) seed: Option<u64>,
    pub(crate) intervals: Intervals,
    pub(crate) notes: Vec<String>,
    pub(crate) isolation: BTreeMap<String, String>,
    pub(crate) recorded: BTreeMap<String, RecordedV1>,
    pub(crate) asked: Vec<JudgeV1>,
    pub(crate) spent: BTreeMap<String, JudgeSpentV1>,
    pub(crate) label_source: Option<String>,
    /// Whether the cases of the scorecard are kept; else they go as those of the report come.
    pub(crate) keep_cases: bool,
}

impl ReportFacts {
    /// Adds intervals to a scorecard and builds its report. `correct` gives the figures corrected by labels, by the field that
    /// clusters cases, with a warning about the labels; `sensitivity` says what rests on the judge.
    pub(crate) fn build(
        self,
        loaded: &LoadedSuite,
        mut scorecard: Scorecard,
        pairs: PairReports<'_>,
        costs: &TrialCosts,
        correct: impl FnOnce(&Scorecard, Option<&str>) -> (Vec<CorrectedTool>, Option<String>),
        sensitivity: impl FnOnce(&Scorecard) -> Option<SensitivityV1>,
    ) -> (Scorecard, ReportV1) {
        let Self { profile, mut notes, .. } = self;
        let seed = self.seed.unwrap_or_else(|| seed_from(&loaded.suite));
        let intervals = Intervals { seed: Some(seed), ..self.intervals };
        scorecard.add_intervals(&loaded.suite, &profile, &intervals);
        let clustering = intervals.cluster.decide(&loaded.suite);
        let (corrected, label_warning) = correct(&scorecard, clustering.used_field());
        notes.extend(label_warning);
        notes.extend(clustering.warning());
        notes.extend(loaded.cutoff_notes());
        let notes: Vec<String> = loaded.notes.iter().cloned().chain(notes).collect();
        let sensitivity = sensitivity(&scorecard);
        let input = ReportInput {
            suite: &loaded.suite,
            profile: &profile,
            seed,
            intervals: &intervals,
            corrected: &corrected,
            scorecard: &mut scorecard,
            keep_cases: self.keep_cases,
            notes: &notes,
            isolation: &self.isolation,
            recorded: &self.recorded,
            asked: &self.asked,
            spent: &self.spent,
        };
        let mut report = report(input, pairs, costs);
        report.intervals.clusters = clusters(&report, &clustering);
        report.ranking = comparison::ranking(&report);
        report.sensitivity = sensitivity;
        let label_source = self.label_source.filter(|source| report.sensitivity.is_some() && is_plain(source));
        report.measured.label_source = label_source;
        (scorecard, report)
    }
}

/// What the report states about clusters of cases, with the design effect of every tool; `None` if there are none.
fn clusters(report: &ReportV1, clustering: &Clustering) -> Option<ClustersV1> {
    if clustering.shared_cases == 0 && !clustering.used {
        return None;
    }
    let metric = rank_metric(report);
    let by = ClusterBy::Field(clustering.field.clone());
    let effects = report.tools.iter().filter_map(|tool| {
        let by_case = comparison::by_case(None, &Side::of_report(report, tool, &tool.tool), metric, &by).ok()?;
        Some((tool.tool.clone(), design_effect(&by_case.values, by_case.clusters.as_deref()?)?))
    });
    let (metric, design_effect) = (metric.to_owned(), effects.collect());
    let Clustering { field, used, asked, groups, shared_cases, .. } = clustering.clone();
    Some(ClustersV1 { field, used, asked, groups, shared_cases, metric, design_effect })
}

fn label_warning(labels: &[Judgement], tools: usize) -> Option<String> {
    match label_sampling(labels) {
        _ if labels.is_empty() => None,
        _ if tools == 0 => Some("labels: none is about a finding or golden that was scored".to_owned()),
        LabelSampling::Alike => Some(
            "labels do not give the probability of picking their pairs; corrected figures are valid only if all were equally likely"
                .to_owned(),
        ),
        LabelSampling::Stated { left_out: 0 } => None,
        LabelSampling::Stated { left_out } => {
            Some(format!("labels without the probability of picking their pair: {left_out}; ignored"))
        }
    }
}

/// Reads the symbol around every finding of those of the cases whose goldens are identified by symbol; others need none.
pub fn fill_symbols(loaded: &LoadedSuite, cases: &[Case], trials: &mut [Trial]) {
    let by_symbol = |key: &Option<String>| key.as_ref().is_some_and(|k| k.starts_with("v3|"));
    let wanted = cases.iter().filter(|c| c.goldens.iter().any(|g| by_symbol(&g.identity_key)));
    let mut caches: BTreeMap<&str, SymbolCache> = wanted.map(|c| (c.id.as_str(), SymbolCache::default())).collect();
    for trial in trials {
        let case = trial.case.clone();
        let Some(cache) = caches.get_mut(case.as_str()) else { continue };
        for finding in &mut trial.findings {
            if let (Some(path), Some(lines)) = (&finding.file, finding.lines()) {
                finding.symbol = cache.symbol_of(&mut |path| loaded.source(&case, path), path, lines);
            }
        }
    }
}
