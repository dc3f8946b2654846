//! Builds a report from a scorecard.

mod costs;
mod pairs;
mod reduce;
#[cfg(test)]
mod tests;
mod trial;

pub use costs::TrialCosts;
pub use pairs::{CasePairs, CaseReport, PairReports};
pub use reduce::reduce;
pub(crate) use trial::{candidate, split_in_words, votes_in_words, why_in_words};

use karat_core::golden::Golden;
use karat_core::metric::Undefined;
use karat_core::metric::estimate::Estimate;
use karat_core::metric::sums::Sums;
use karat_core::metric::sweep::Sweep;
use karat_core::metric::table;
use karat_core::panel::{AGREEMENT_SEED, AuditRatings, FieldAgreement};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{CaseScore, CorrectedMetric, CorrectedTool, Intervals, Scorecard, Slice, TrialScore};
use karat_core::stats::agreement::{Estimate as AgreementEstimate, Level};
use karat_core::stats::correct::{CorrectedEstimate, CorrectionError};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Outcome;
use karat_core::wording;
use karat_format::report::{
    AgreementLevelV1, AuditAgreementV1, CaseInfoV1, CaseResultV1, CorrectedMetricV1, CorrectedToolV1, CorrectedV1,
    DetailV1, EstimateV1, FieldAgreementV1, FiguresV1, IntervalsV1, IssueInfoV1, JudgeSpentV1, JudgeV1, MeasuredV1,
    MetricsV1, ProfileV1, RecordedV1, ReportV1, SCHEMA, SliceV1, StatusV1, SuiteV1, SweepV1, ToolV1, TrialResultV1,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use trial::{trial_figures, trial_result};

/// What a report is built from.
#[expect(missing_docs, reason = "field names say it")]
pub struct ReportInput<'a> {
    pub suite: &'a Suite,
    pub profile: &'a Profile,
    pub seed: u64,
    pub intervals: &'a Intervals,
    pub scorecard: &'a mut Scorecard,
    /// Whether the scorecard keeps its cases: those of a large suite are not held twice.
    pub keep_cases: bool,
    /// Figures corrected for judge errors, for tools with labels.
    pub corrected: &'a [CorrectedTool],
    pub notes: &'a [String],
    pub isolation: &'a BTreeMap<String, String>,
    /// By tool whose trials were repeated from a recording.
    pub recorded: &'a BTreeMap<String, RecordedV1>,
    pub asked: &'a [JudgeV1],
    /// Cost of this run, by model judge.
    pub spent: &'a BTreeMap<String, JudgeSpentV1>,
}

/// Builds the report from figures, the pairs of all cases, and what trials took.
pub fn report(mut input: ReportInput<'_>, mut pairs: PairReports<'_>, costs: &TrialCosts) -> ReportV1 {
    let (suite, detail) = (input.suite, pairs.detail);
    let mut trials = std::mem::take(&mut pairs.trials).into_iter();
    let tools: Vec<ToolV1> = (0..input.scorecard.tools.len())
        .map(|at| tool(at, trials.next().unwrap_or_default(), detail, &mut input))
        .collect();
    let warnings = input.notes.iter().chain(&input.scorecard.warnings);
    ReportV1 {
        schema: SCHEMA.to_owned(),
        status: StatusV1::of_tools(&tools),
        detail,
        suite: SuiteV1 {
            name: suite.name.clone(),
            digest: suite.digest.clone(),
            cases: suite.cases.len(),
            issues: suite.cases.iter().map(|c| c.goldens.len()).sum(),
            twisted_from: suite.twisted_from().map(str::to_owned),
        },
        profile: profile_as_printed(input.profile),
        seed: input.seed,
        intervals: IntervalsV1::new(input.intervals, input.intervals.cluster.decide(suite).used_field()),
        cases: suite.cases.iter().map(|case| case_info_with(case, input.profile, detail)).collect(),
        tools,
        ranking: None,
        pooled_extras: pairs.pooled_extras(),
        judges: judges(&input, &pairs),
        audit_agreement: audit_agreement(&pairs.audits, AGREEMENT_SEED),
        sensitivity: None,
        measured: measured(&input, costs),
        warnings: detail.statement().into_iter().chain(warnings.cloned()).collect(),
    }
}

/// The profile as printed in reports and plans.
pub fn profile_as_printed(profile: &Profile) -> ProfileV1 {
    let mut others = match serde_json::to_value(profile) {
        Ok(serde_json::Value::Object(values)) => values.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    for named in ["name", "method", "expect_pass", "headline", "headline_macro_by"] {
        others.remove(named);
    }
    ProfileV1 {
        name: profile.name.clone(),
        method: profile.method,
        expect_pass: profile.expect_pass,
        headline: profile.headline.clone(),
        headline_macro_by: profile.headline_macro_by.clone(),
        others,
    }
}

/// A seed derived from the suite.
pub fn seed_from(suite: &Suite) -> u64 {
    let hash = blake3::hash(suite.digest.as_bytes());
    hash.as_bytes().iter().take(4).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

fn case_info_with(case: &Case, profile: &Profile, detail: DetailV1) -> CaseInfoV1 {
    let mut info = case_info(case, profile);
    if detail == DetailV1::None {
        info.issues.iter_mut().for_each(keep_acceptance);
    }
    info
}

/// Leaves out what the suite says of a golden, beside what figures depend on.
fn keep_acceptance(golden: &mut IssueInfoV1) {
    let IssueInfoV1 { title, category, file, line_start, line_end, .. } = golden;
    (*title, *category, *file, *line_start, *line_end) = (String::new(), None, None, None, None);
}

/// What a report says of a case itself.
pub fn case_info(case: &Case, profile: &Profile) -> CaseInfoV1 {
    let compared = case.compared_goldens(profile.method);
    let issue = |(at, g): (usize, &Golden)| IssueInfoV1 {
        id: g.id.to_string(),
        title: one_line(g.headline()),
        severity: g.severity,
        category: g.category.clone(),
        file: g.file.as_ref().map(ToString::to_string),
        line_start: g.lines.map(|l| l.start),
        line_end: g.lines.map(|l| l.end),
        acceptance: g.acceptance,
        compared: !g.is_required() || compared.binary_search(&at).is_ok(),
    };
    CaseInfoV1 {
        case: case.id.to_string(),
        name: case.name.clone(),
        verdict: case.verdict,
        categories: case.categories.clone(),
        fields: case.fields().map(|(field, value)| (field, value.to_owned())).collect(),
        allow_unexpected: case.allow_unexpected,
        twisted: case.twisted_from.is_some(),
        operations: case.twisted_from.iter().flat_map(|from| from.operations.clone()).collect(),
        issues: case.goldens.iter().enumerate().map(issue).collect(),
    }
}

fn one_line(text: &str) -> String {
    wording::truncate(text.trim().lines().next().unwrap_or_default(), 300)
}

fn tool(at: usize, trials_by_case: Vec<Vec<TrialResultV1>>, detail: DetailV1, input: &mut ReportInput<'_>) -> ToolV1 {
    let scores = match input.keep_cases {
        true => Vec::new(),
        false => std::mem::take(&mut input.scorecard.tools[at].cases),
    };
    let score = &input.scorecard.tools[at];
    let mut given = trials_by_case.into_iter();
    let names = Sums::names(input.profile.calibration.bins as usize);
    let mut extras = ExtraCounts::default();
    let mut result = |case: &CaseScore| {
        case.trials.iter().for_each(|trial| extras.add(trial, input.profile));
        let figures = |trial: &TrialScore| trial_figures(trial, input.profile);
        let trials = given.next().unwrap_or_else(|| case.trials.iter().map(figures).collect());
        case_result(case, &input.suite.cases[case.case], trials, &names, detail)
    };
    let cases: Vec<CaseResultV1> = match input.keep_cases {
        true => score.cases.iter().map(&mut result).collect(),
        // Each case is gone before the next is there.
        false => scores.into_iter().map(|case| result(&case)).collect(),
    };
    let slice = |s: &Slice| SliceV1 { metrics: metrics(&s.metrics), cases: s.cases };
    let slices = |values: &BTreeMap<String, Slice>| {
        values.iter().map(|(value, s)| (value.clone(), slice(s))).collect::<BTreeMap<_, _>>()
    };
    ToolV1 {
        tool: score.tool.to_string(),
        trials: score.trials,
        recorded: input.recorded.get(score.tool.as_str()).cloned(),
        outcomes: Outcome::ALL.iter().map(|o| (*o, score.outcomes.get(o).copied().unwrap_or(0))).collect(),
        incomplete: score.incomplete,
        pass: score.pass,
        counts: score.counts,
        extras: extras.all,
        untouched_extras: extras.untouched,
        unlabelled_extras: extras.unlabelled,
        one_to_one: score.one_to_one,
        verdicts: score.verdicts,
        verdicts_derived: score.verdicts_derived,
        audited_findings: score.audited_findings,
        metrics: metrics(&score.metrics),
        micro: metrics(&score.micro),
        by: score.by.iter().map(|(dimension, values)| (dimension.clone(), slices(values))).collect(),
        macro_by: score.macro_by.iter().map(|(dimension, m)| (dimension.clone(), metrics(m))).collect(),
        corrected: input.corrected.iter().find(|own| own.tool == at).map(corrected),
        flaky: score.flaky.clone(),
        lucky: score.lucky.clone(),
        reliability: score.reliability.clone(),
        sweeps: score.sweeps.iter().map(sweep).collect(),
        cases,
    }
}

/// Extras of the trials that count.
#[derive(Default)]
struct ExtraCounts {
    all: usize,
    untouched: usize,
    unlabelled: usize,
}

impl ExtraCounts {
    fn add(&mut self, trial: &TrialScore, profile: &Profile) {
        if trial.counted && profile.method != Method::Verdict {
            self.all += trial.extras;
            self.untouched += trial.untouched;
            self.unlabelled += trial.unlabelled;
        }
    }
}

fn corrected(own: &CorrectedTool) -> CorrectedToolV1 {
    let figure = |found: Result<CorrectedEstimate, CorrectionError>| match found {
        Ok(CorrectedEstimate { value, interval }) => CorrectedV1::Value {
            value,
            ci: [interval.low, interval.high],
            level: interval.level,
            method: interval.method.to_owned(),
            n: interval.n,
        },
        Err(why) => CorrectedV1::Refused { refused: why.0.to_owned() },
    };
    let metric = |m: &CorrectedMetric| CorrectedMetricV1 {
        raw: m.raw,
        rogan_gladen: figure(m.rogan_gladen),
        ppi: figure(m.ppi),
    };
    CorrectedToolV1 {
        labelled_findings: own.findings,
        labelled_goldens: own.goldens,
        precision: metric(&own.precision),
        recall: metric(&own.recall),
        f1: metric(&own.f1),
    }
}

fn sweep(sweep: &Sweep) -> SweepV1 {
    SweepV1 {
        by: sweep.by.as_str().to_owned(),
        average_precision: sweep.average_precision.ok(),
        best: sweep.best,
        points: sweep.points.clone(),
    }
}

fn metrics(metrics: &[(&'static str, Estimate)]) -> MetricsV1 {
    metrics.iter().map(|(id, estimate)| ((*id).to_owned(), estimate.into())).collect()
}

/// One case of every tool with all of its pairs, whatever detail the report has.
pub fn full_case_results(case: &Case, pairs: &CasePairs<'_>, profile: &Profile) -> Vec<CaseResultV1> {
    let names = Sums::names(profile.calibration.bins as usize);
    let of_tool = |score: &&CaseScore| {
        let trials = score.trials.iter().map(|trial| trial_result(trial, case, pairs, profile)).collect();
        case_result(score, case, trials, &names, DetailV1::All)
    };
    pairs.scores.iter().map(of_tool).collect()
}

/// A figure of one case of one tool, over its counted trials.
pub fn case_estimate(id: &str, value: Result<f64, Undefined>, counted: usize) -> EstimateV1 {
    let direction = table::find(id).map_or(table::Direction::Up, |m| m.direction);
    let estimate = Estimate::new(value, counted, direction);
    EstimateV1 { unreliable: false, method: Some("mean over trials".to_owned()), ..(&estimate).into() }
}

fn case_result(
    score: &CaseScore,
    case: &Case,
    trials: Vec<TrialResultV1>,
    names: &[String],
    detail: DetailV1,
) -> CaseResultV1 {
    let counted = score.counted().count();
    let (mut metrics, mut values) = (MetricsV1::new(), FiguresV1::default());
    match detail {
        DetailV1::None => {
            values = score.values.iter().filter_map(|(id, value)| Some((*id, value.ok()?))).collect();
        }
        DetailV1::Misses | DetailV1::All => {
            let estimate = |(id, value): &(&str, _)| ((*id).to_owned(), case_estimate(id, *value, counted));
            metrics = score.values.iter().map(estimate).collect();
        }
    }
    let sums = score.sums.numbers().map(|(column, sum)| (Cow::Borrowed(names[column].as_str()), sum));
    let levels = score.levels.cells().filter(|(_, sum)| *sum != 0.0);
    CaseResultV1 {
        case: case.id.to_string(),
        pass: score.pass,
        metrics,
        values,
        sums: sums.chain(levels.map(|(cell, sum)| (Cow::Owned(cell.name()), sum))).collect(),
        untouched_extras: trials.iter().filter(|t| t.counted).map(|t| t.untouched_extras).sum(),
        trials,
    }
}

fn judges(input: &ReportInput<'_>, pairs: &PairReports<'_>) -> Vec<JudgeV1> {
    let is_asked = |name: &str| input.asked.iter().any(|asked| asked.judge == name);
    let given = pairs.judgements.iter().filter(|(name, _)| !is_asked(name));
    let given = given.map(|(name, &(cached, unjudged))| JudgeV1 {
        judge: name.clone(),
        cached,
        unjudged,
        ..JudgeV1::default()
    });
    let mut judges: Vec<JudgeV1> = input.asked.iter().cloned().chain(given).collect();
    for judge in &mut judges {
        // What a panel decides names its members.
        let mut members = judge.agreement.as_ref().map(|agreement| agreement.judges.clone()).unwrap_or_default();
        members.sort();
        let names = [judge.judge.clone(), members.join(", ")];
        judge.beyond = names.iter().find_map(|name| pairs.beyond.get(name)).copied().unwrap_or_default();
    }
    judges
}

/// How far judges agree on each decision of audits; `None` where no trial was audited by two of them.
pub fn audit_agreement(audits: &AuditRatings, seed: u64) -> Option<AuditAgreementV1> {
    let ends = |estimate: &AgreementEstimate| estimate.interval.ok().map(|interval| [interval.low, interval.high]);
    let of_field = |own: FieldAgreement| FieldAgreementV1 {
        field: own.field,
        level: match own.field.level() {
            Level::Nominal => AgreementLevelV1::Nominal,
            Level::Ordinal => AgreementLevelV1::Ordinal,
            Level::Interval => AgreementLevelV1::Interval,
        },
        n: own.alpha.n,
        percent: own.percent.value.ok(),
        alpha: own.alpha.value.ok(),
        alpha_ci: ends(&own.alpha),
        undefined: own.alpha.value.err().map(str::to_owned),
        kappa: own.kappa.and_then(|kappa| kappa.value.ok()),
        kappa_ci: own.kappa.as_ref().and_then(ends),
    };
    let fields: Vec<FieldAgreementV1> = audits.measure(seed).into_iter().map(of_field).collect();
    let judges = audits.judges().into_iter().map(ToString::to_string).collect();
    (!fields.is_empty()).then_some(AuditAgreementV1 { judges, fields })
}

fn measured(input: &ReportInput<'_>, costs: &TrialCosts) -> MeasuredV1 {
    let mut measured =
        MeasuredV1 { isolation: input.isolation.clone(), judges: input.spent.clone(), ..MeasuredV1::default() };
    costs.state(input.scorecard, &mut measured);
    measured
}
