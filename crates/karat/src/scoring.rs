//! Scoring a loaded suite: the pure core between reading and drawing.

use crate::comparison::{self, Side};
use crate::suite::LoadedSuite;
use karat_core::clusters::{ClusterBy, Clustering};
use karat_core::judgement::Judgement;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{
    CorrectionInput, Intervals, LabelSampling, Scorecard, correct_scores, label_sampling, score,
};
use karat_core::stats::cluster::design_effect;
use karat_core::trial::Trial;
use karat_format::report::{ClustersV1, JudgeSpentV1, JudgeV1, ReportV1, ToolV1};
use karat_report::build::{ReportInput, report, seed_from};
use karat_report::number::rank_metric;
use karat_source::symbols::SymbolCache;
use std::collections::BTreeMap;

/// Everything one scoring came from and led to.
pub struct Scoring {
    /// The trials, with symbols filled in where keys need them.
    pub trials: Vec<Trial>,
    /// The judgements that were heard.
    pub judgements: Vec<Judgement>,
    /// What every judge said that was asked, each member of a panel for itself.
    pub voices: Vec<Judgement>,
    /// The rules.
    pub profile: Profile,
    /// What came of it.
    pub scorecard: Scorecard,
    /// The same, ready to be drawn.
    pub report: ReportV1,
}

/// What is to be scored, and by which rules.
pub struct Work {
    /// The trials.
    pub trials: Vec<Trial>,
    /// The judgements to hear.
    pub judgements: Vec<Judgement>,
    /// The rules.
    pub profile: Profile,
    /// Where random numbers start from; taken from the data where absent.
    pub seed: Option<u64>,
    /// What people said of some pairs. It decides nothing, and shows how far the judge errs.
    pub labels: Vec<Judgement>,
    /// How intervals are made; their seed is that above.
    pub intervals: Intervals,
    /// Things noticed on the way, for the report's warnings.
    pub notes: Vec<String>,
    /// By tool: the isolation that was in force when it ran.
    pub isolation: BTreeMap<String, String>,
    /// What every judge said that was asked, each member of a panel for itself.
    pub voices: Vec<Judgement>,
    /// What the judges did that were asked.
    pub asked: Vec<JudgeV1>,
    /// By judge that is a model: what it cost this time.
    pub spent: BTreeMap<String, JudgeSpentV1>,
}

impl Work {
    /// Trials to score by these rules, with nothing else known of them.
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
            voices: Vec::new(),
            asked: Vec::new(),
            spent: BTreeMap::new(),
        }
    }
}

/// Scores trials against a suite.
pub fn run(loaded: &LoadedSuite, work: Work) -> Scoring {
    let Work { mut trials, judgements, profile, seed, labels, intervals, mut notes, isolation, voices, asked, spent } =
        work;
    if profile.method == Method::Identity {
        fill_symbols(loaded, &mut trials);
    }
    let mut scorecard = score(&loaded.suite, &trials, &judgements, &profile);
    let seed = seed.unwrap_or_else(|| seed_from(&loaded.suite));
    let intervals = Intervals { seed: Some(seed), ..intervals };
    scorecard.add_intervals(&loaded.suite, &profile, &intervals);
    let clustering = intervals.cluster.decide(&loaded.suite);
    let labelled = CorrectionInput {
        suite: &loaded.suite,
        trials: &trials,
        judgements: &judgements,
        labels: &labels,
        profile: &profile,
        cluster: clustering.used_field(),
        level: Intervals::LEVEL,
    };
    let corrected = correct_scores(&scorecard, labelled);
    notes.extend(on_labels(&labels, corrected.len()));
    notes.extend(clustering.warning());
    let notes: Vec<String> = loaded.notes.iter().cloned().chain(notes).collect();
    let mut report = report(&ReportInput {
        suite: &loaded.suite,
        trials: &trials,
        judgements: &judgements,
        profile: &profile,
        seed,
        intervals: &intervals,
        corrected: &corrected,
        scorecard: &scorecard,
        notes: &notes,
        isolation: &isolation,
        asked: &asked,
        spent: &spent,
    });
    report.intervals.clusters = clusters(&report, &clustering);
    report.ranking = comparison::ranking(&report);
    Scoring { trials, judgements, voices, profile, scorecard, report }
}

/// What is known of cases that are alike, with the design effect of every tool; nothing where none are.
fn clusters(report: &ReportV1, clustering: &Clustering) -> Option<ClustersV1> {
    if clustering.shared_cases == 0 && !clustering.used {
        return None;
    }
    let metric = rank_metric(report);
    let by = ClusterBy::Field(clustering.field.clone());
    let effect = |tool: &ToolV1| {
        let side = Side::of_report(report, tool, &tool.tool);
        let by_case = comparison::single(&side, metric, &by).ok()?;
        Some((tool.tool.clone(), design_effect(&by_case.values, by_case.clusters.as_deref()?)?))
    };
    Some(ClustersV1 {
        field: clustering.field.clone(),
        used: clustering.used,
        asked: clustering.asked,
        groups: clustering.groups,
        shared_cases: clustering.shared_cases,
        metric: metric.to_owned(),
        design_effect: report.tools.iter().filter_map(effect).collect(),
    })
}

/// What to know of labels before believing what they correct.
fn on_labels(labels: &[Judgement], tools: usize) -> Option<String> {
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

/// Reads the symbol around every finding of the cases whose goldens are named by symbol; parsing the others would be in vain.
pub fn fill_symbols(loaded: &LoadedSuite, trials: &mut [Trial]) {
    let by_symbol = |key: &Option<String>| key.as_ref().is_some_and(|k| k.starts_with("v3|"));
    let wanted = loaded.suite.cases.iter().filter(|c| c.goldens.iter().any(|g| by_symbol(&g.identity_key)));
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
