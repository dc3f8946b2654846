//! Builds a report from a scorecard.

#[cfg(test)]
mod tests;

use super::reason::{self, Names, matched_by};
use super::refused::refused;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::judgement::{Decision, Judgement};
use karat_core::matching::outcome::{Candidate, DecidedBy, Duplicate, Extra, Match, Miss};
use karat_core::metric::estimate::Estimate;
use karat_core::metric::sums::Sums;
use karat_core::metric::sweep::Sweep;
use karat_core::metric::table;
use karat_core::pooling::{Member, Pool, pool_extras};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{
    AuditSummary, CaseScore, CorrectedMetric, CorrectedTool, Intervals, Scorecard, Slice, ToolScore, TrialScore,
};
use karat_core::stats::correct::{CorrectedEstimate, CorrectionError};
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording;
use karat_format::report::{
    AuditInfoV1, CandidateV1, CaseInfoV1, CaseResultV1, CorrectedMetricV1, CorrectedToolV1, CorrectedV1, CostV1,
    DuplicateV1, EstimateV1, ExtraV1, FindingInfoV1, IntervalsV1, IssueInfoV1, JudgeSpentV1, JudgeV1, JudgementInfoV1,
    LatencyV1, MatchV1, MeasuredV1, MetricsV1, MissV1, PooledExtraV1, PooledMemberV1, ProfileV1, RefusedV1, ReportV1,
    SCHEMA, SliceV1, StatusV1, SuiteV1, SweepV1, ToolV1, TrialResultV1,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a report is built from.
#[expect(missing_docs, reason = "field names say it")]
pub struct ReportInput<'a> {
    pub suite: &'a Suite,
    pub trials: &'a [Trial],
    pub judgements: &'a [Judgement],
    pub profile: &'a Profile,
    pub seed: u64,
    pub intervals: &'a Intervals,
    pub scorecard: &'a Scorecard,
    /// Figures corrected for judge errors, for tools with labels.
    pub corrected: &'a [CorrectedTool],
    pub notes: &'a [String],
    pub isolation: &'a BTreeMap<String, String>,
    pub asked: &'a [JudgeV1],
    /// Cost of this run, by model judge.
    pub spent: &'a BTreeMap<String, JudgeSpentV1>,
}

/// Builds the report.
pub fn report(input: &ReportInput<'_>) -> ReportV1 {
    let suite = input.suite;
    let tools: Vec<ToolV1> = input.scorecard.tools.iter().enumerate().map(|(at, t)| tool(at, t, input)).collect();
    ReportV1 {
        schema: SCHEMA.to_owned(),
        status: StatusV1::of_tools(&tools),
        suite: SuiteV1 {
            name: suite.name.clone(),
            digest: suite.digest.clone(),
            cases: suite.cases.len(),
            issues: suite.cases.iter().map(|c| c.goldens.len()).sum(),
        },
        profile: profile_as_printed(input.profile),
        seed: input.seed,
        intervals: IntervalsV1::new(input.intervals, input.intervals.cluster.decide(suite).used_field()),
        cases: suite.cases.iter().map(case_info).collect(),
        tools,
        ranking: None,
        pooled_extras: pooled_extras(input),
        judges: judges(input),
        sensitivity: None,
        measured: measured(input),
        warnings: input.notes.iter().chain(&input.scorecard.warnings).cloned().collect(),
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

fn case_info(case: &Case) -> CaseInfoV1 {
    let issue = |g: &Golden| IssueInfoV1 {
        id: g.id.to_string(),
        title: one_line(g.headline()),
        severity: g.severity,
        category: g.category.clone(),
        file: g.file.as_ref().map(ToString::to_string),
        line_start: g.lines.map(|l| l.start),
        line_end: g.lines.map(|l| l.end),
        acceptance: g.acceptance,
    };
    CaseInfoV1 {
        case: case.id.to_string(),
        name: case.name.clone(),
        verdict: case.verdict,
        categories: case.categories.clone(),
        fields: case.fields().map(|(field, value)| (field, value.to_owned())).collect(),
        issues: case.goldens.iter().map(issue).collect(),
    }
}

fn one_line(text: &str) -> String {
    wording::truncate(text.trim().lines().next().unwrap_or_default(), 300)
}

fn tool(at: usize, score: &ToolScore, input: &ReportInput<'_>) -> ToolV1 {
    let slice = |s: &Slice| SliceV1 { metrics: metrics(&s.metrics), cases: s.cases };
    let slices = |values: &BTreeMap<String, Slice>| {
        values.iter().map(|(value, s)| (value.clone(), slice(s))).collect::<BTreeMap<_, _>>()
    };
    let trials = || score.cases.iter().flat_map(|case| &case.trials);
    let compared = || trials().filter(|trial| trial.counted && input.profile.method != Method::Verdict);
    ToolV1 {
        tool: score.tool.to_string(),
        trials: score.trials,
        outcomes: Outcome::ALL.iter().map(|o| (*o, score.outcomes.get(o).copied().unwrap_or(0))).collect(),
        incomplete: score.incomplete,
        pass: score.pass,
        counts: score.counts,
        extras: compared().map(|trial| trial.result.extras.len()).sum(),
        untouched_extras: compared().map(|trial| trial.untouched_extras(input.profile).len()).sum(),
        unlabelled_extras: trials().map(|trial| unlabelled_extras(trial, input.profile).len()).sum(),
        one_to_one: score.one_to_one,
        verdicts: score.verdicts,
        metrics: metrics(&score.metrics),
        micro: metrics(&score.micro),
        by: score.by.iter().map(|(dimension, values)| (dimension.clone(), slices(values))).collect(),
        macro_by: score.macro_by.iter().map(|(dimension, m)| (dimension.clone(), metrics(m))).collect(),
        corrected: input.corrected.iter().find(|own| own.tool == at).map(corrected),
        flaky: score.flaky.clone(),
        lucky: score.lucky.clone(),
        reliability: score.reliability.clone(),
        sweeps: score.sweeps.iter().map(sweep).collect(),
        cases: score.cases.iter().map(|c| case_result(c, input)).collect(),
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

fn case_result(score: &CaseScore, input: &ReportInput<'_>) -> CaseResultV1 {
    let case = &input.suite.cases[score.case];
    let trials = score.counted().count();
    let estimate = |id: &'static str, value| {
        let direction = table::find(id).map_or(table::Direction::Up, |m| m.direction);
        let estimate = Estimate::new(value, trials, direction);
        EstimateV1 { unreliable: false, method: Some("mean over trials".to_owned()), ..(&estimate).into() }
    };
    let bins = input.profile.calibration.bins as usize;
    let sums = Sums::names(bins).into_iter().zip(score.sums.to_row(bins));
    let trial_results: Vec<TrialResultV1> = score.trials.iter().map(|t| trial_result(t, case, input)).collect();
    CaseResultV1 {
        case: case.id.to_string(),
        pass: score.pass,
        metrics: score.values.iter().map(|(id, value)| ((*id).to_owned(), estimate(id, *value))).collect(),
        sums: sums.chain(score.levels.by_name()).filter(|(_, value)| *value != 0.0).collect(),
        untouched_extras: trial_results.iter().filter(|t| t.counted).map(|t| t.untouched_extras).sum(),
        trials: trial_results,
    }
}

fn trial_result(score: &TrialScore, case: &Case, input: &ReportInput<'_>) -> TrialResultV1 {
    let findings: &[Finding] = score.line.map_or(&[], |line| &input.trials[line].findings);
    let golden = |index: usize| case.goldens[index].id.to_string();
    let finding = |index: usize| findings[index].id.to_string();
    let of_golden = |c: &Candidate| CandidateV1 { golden: None, finding: Some(finding(c.index)), ..candidate(c) };
    let of_finding = |c: &Candidate| CandidateV1 { golden: Some(golden(c.index)), finding: None, ..candidate(c) };
    let matched = |m: &Match| MatchV1 {
        golden: golden(m.golden),
        finding: finding(m.finding),
        score: m.score,
        parts: m.parts,
        decided_by: decided_by(&m.decided_by).to_owned(),
        judgement: m.judgement.map(|index| judgement_info(&input.judgements[index])),
        runner_up: m.runner_up.as_ref().map(of_golden),
        flags: m.flags.clone(),
    };
    let refused_findings = |refused: &[Candidate]| {
        let one = |c: &Candidate| {
            let found = self::refused(c, input.judgements, input.profile)?;
            Some(RefusedV1 { finding: Some(finding(c.index)), ..found })
        };
        refused.iter().filter_map(one).collect()
    };
    let refused_goldens = |refused: &[Candidate]| {
        let one = |c: &Candidate| {
            let found = self::refused(c, input.judgements, input.profile)?;
            Some(RefusedV1 { golden: Some(golden(c.index)), ..found })
        };
        refused.iter().filter_map(one).collect()
    };
    let result = &score.result;
    let names = Names { case, findings, judgements: input.judgements, rules: &input.profile.identity };
    let duplicate = |d: &Duplicate| DuplicateV1 {
        finding: finding(d.finding),
        golden: d.golden.map(golden),
        score: d.score,
        flags: d.flags.clone(),
    };
    let miss = |m: &Miss| {
        let reason = names.miss(m.golden, m.why);
        MissV1 {
            golden: golden(m.golden),
            why: reason::miss_in_words(&reason),
            reason: Some(reason),
            best: m.best.as_ref().map(of_golden),
            refused: refused_findings(&m.refused),
            flags: m.flags.clone(),
        }
    };
    let untouched = match input.profile.method {
        Method::Verdict => BTreeSet::new(),
        _ => BTreeSet::from_iter(score.untouched_extras(input.profile)),
    };
    let extra = |e: &Extra| {
        let reason = names.extra(e.finding, e.why);
        ExtraV1 {
            finding: finding(e.finding),
            why: reason::extra_in_words(&reason),
            reason: Some(reason),
            best: e.best.as_ref().map(of_finding),
            refused: refused_goldens(&e.refused),
            flags: e.flags.clone(),
            left_out: untouched.contains(&e.finding),
        }
    };
    TrialResultV1 {
        trial: score.number,
        outcome: score.outcome,
        counted: score.counted,
        notes: score.line.map_or_else(Vec::new, |line| input.trials[line].notes.clone()),
        verdict: score.verdict,
        verdict_correct: score.verdict_correct,
        lucky_guess: score.lucky_guess,
        confidence: score.confidence,
        calibration_error: score.calibration_error(),
        tp: score.counts.tp,
        fp: score.counts.fp,
        r#fn: score.counts.fn_,
        untouched_extras: untouched.len(),
        findings: findings.iter().map(finding_info).collect(),
        matches: result.matches.iter().map(matched).collect(),
        misses: result.misses.iter().map(miss).collect(),
        extras: result.extras.iter().map(extra).collect(),
        duplicates: result.duplicates.iter().map(duplicate).collect(),
        acceptable: result.acceptable.iter().map(matched).collect(),
        audit: score.audited.as_ref().and_then(|audited| audit_info(audited, input.judgements)),
    }
}

fn audit_info(audited: &AuditSummary, judgements: &[Judgement]) -> Option<AuditInfoV1> {
    let target = audited.target.as_ref();
    Some(AuditInfoV1 {
        judgement: judgement_info(judgements.get(audited.judgement?)?),
        target_found: target.is_some(),
        type_match: target.and_then(|target| target.type_match),
        rcir: target.and_then(|target| target.rcir),
        ava: target.and_then(|target| target.ava),
        fsv: target.and_then(|target| target.fsv),
        findings: audited.findings.iter().map(|(finding, class)| (finding.to_string(), *class)).collect(),
    })
}

/// A candidate; the caller fills in the id of its other side.
pub(super) fn candidate(c: &Candidate) -> CandidateV1 {
    CandidateV1 {
        golden: None,
        finding: None,
        score: c.score,
        heuristic: c.judged.map(|_| c.heuristic),
        parts: c.parts,
        judged: c.judged,
    }
}

fn decided_by(decided: &DecidedBy) -> &'static str {
    match decided {
        DecidedBy::Score => "score",
        DecidedBy::Judge(_) => "judge",
        DecidedBy::Identity(via) => matched_by(*via),
    }
}

fn judgement_info(judgement: &Judgement) -> JudgementInfoV1 {
    let (confidence, explanation) = match &judgement.decision {
        Decision::Pair(pair) => (pair.confidence, pair.explanation.clone()),
        Decision::Audit(audit) => (None, audit.explanation.clone()),
        Decision::Unjudged(pair) => (None, Some(pair.why.clone())),
        Decision::Extra(extra) => (None, extra.explanation.clone()),
    };
    JudgementInfoV1 {
        judge: judgement.judge.to_string(),
        confidence,
        explanation,
        exchange: judgement.exchange.clone(),
    }
}

fn finding_info(f: &Finding) -> FindingInfoV1 {
    FindingInfoV1 {
        id: f.id.to_string(),
        title: one_line(f.headline()),
        rule_id: f.rule_id.clone(),
        severity: f.severity,
        file: f.file.as_ref().map(ToString::to_string),
        line_start: f.line_start,
        line_end: f.line_end,
    }
}

fn judges(input: &ReportInput<'_>) -> Vec<JudgeV1> {
    // By judge: judgements given, and pairs that none of them covers.
    let mut by_judge: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for judgement in input.judgements {
        let (given, unjudged) = by_judge.entry(judgement.judge.as_str()).or_default();
        let count = if matches!(judgement.decision, Decision::Unjudged(_)) { unjudged } else { given };
        *count += 1;
    }
    for asked in input.asked {
        by_judge.remove(asked.judge.as_str());
    }
    let given = by_judge.into_iter().map(|(name, (cached, unjudged))| JudgeV1 {
        judge: name.to_owned(),
        cached,
        unjudged,
        ..JudgeV1::default()
    });
    let mut judges: Vec<JudgeV1> = input.asked.iter().cloned().chain(given).collect();
    for judge in &mut judges {
        judge.beyond = beyond(input, &judge.judge);
    }
    judges
}

/// The number of matches that file, lines and words alone would not make.
fn beyond(input: &ReportInput<'_>, judge: &str) -> usize {
    let profile = input.profile;
    if profile.method != Method::Score || profile.heuristic_share <= 0.0 {
        return 0;
    }
    let trials = input.scorecard.tools.iter().flat_map(|tool| &tool.cases).flat_map(|case| &case.trials);
    let rests = |found: &&Match| {
        let (Some(score), Some(judged)) = (found.score, found.parts.judge) else { return false };
        let alone = (score - (1.0 - profile.heuristic_share) * judged) / profile.heuristic_share;
        matches!(&found.decided_by, DecidedBy::Judge(name) if name.as_str() == judge)
            && alone + 1e-9 < profile.threshold
    };
    trials.flat_map(|trial| &trial.result.matches).filter(rests).count()
}

fn measured(input: &ReportInput<'_>) -> MeasuredV1 {
    let mut measured =
        MeasuredV1 { isolation: input.isolation.clone(), judges: input.spent.clone(), ..MeasuredV1::default() };
    let found: HashMap<&str, usize> = input.scorecard.tools.iter().map(|t| (t.tool.as_str(), t.counts.tp)).collect();
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (outages, trials): (Vec<&Trial>, Vec<&Trial>) =
        input.trials.iter().partition(|trial| trial.outcome == Outcome::Unavailable);
    // How long an outage took, and what it cost, says nothing about a tool; but it was paid.
    for trial in outages {
        if let Some(usd) = trial.cost_usd.filter(|usd| *usd > 0.0) {
            let sum = measured.outages_usd.entry(trial.tool.to_string()).or_default();
            *sum = (*sum + usd).min(f64::MAX);
        }
    }
    for trial in trials {
        if let Some(latency) = trial.latency_ms {
            times.entry(trial.tool.as_str()).or_default().push(latency);
        }
        if trial.cost_usd.is_some() || trial.tokens_in.is_some() || trial.tokens_out.is_some() {
            let cost = measured.cost.entry(trial.tool.to_string()).or_default();
            cost.usd = (cost.usd + trial.cost_usd.unwrap_or_default()).min(f64::MAX);
            cost.tokens_in = cost.tokens_in.saturating_add(trial.tokens_in.unwrap_or_default());
            cost.tokens_out = cost.tokens_out.saturating_add(trial.tokens_out.unwrap_or_default());
            cost.n += 1;
        }
    }
    for (tool, cost) in &mut measured.cost {
        let tp = found.get(tool.as_str()).copied().unwrap_or_default();
        let tokens = cost.tokens_in.saturating_add(cost.tokens_out) as f64;
        let per_tp = |sum: f64| (tp > 0).then(|| sum / tp as f64);
        *cost = CostV1 {
            usd_per_case: cost.usd / cost.n as f64,
            usd_per_tp: per_tp(cost.usd),
            tokens_per_case: tokens / cost.n as f64,
            tokens_per_tp: per_tp(tokens),
            ..*cost
        };
    }
    for (tool, values) in times {
        let mean_ms = karat_core::stats::summary::mean(&values).unwrap_or_default().min(f64::MAX);
        let tp = found.get(tool).copied().unwrap_or_default();
        let ms_per_tp = (tp > 0).then(|| (mean_ms * values.len() as f64 / tp as f64).min(f64::MAX));
        measured.latency.insert(tool.to_owned(), LatencyV1 { mean_ms, ms_per_tp, n: values.len() });
    }
    measured
}

const MOST_POOLS: usize = 100;
const MOST_MEMBERS: usize = 50;

fn pooled_extras(input: &ReportInput<'_>) -> Vec<PooledExtraV1> {
    let (card, profile) = (input.scorecard, input.profile);
    if card.tools.len() < 2 {
        return Vec::new();
    }
    let reach = profile.line.reach;
    let pools = pool_extras(input.suite, input.trials, card, reach, |trial| unlabelled_extras(trial, profile));
    // Pools are sorted by the number of tools.
    let shared = pools.iter().take_while(|pool| pool.tools().len() > 1);
    shared.take(MOST_POOLS).map(|pool| pooled_extra(pool, input)).collect()
}

fn unlabelled_extras(trial: &TrialScore, profile: &Profile) -> Vec<usize> {
    if profile.method != Method::Verdict && trial.counted { trial.unlabelled_extras(profile) } else { Vec::new() }
}

fn pooled_extra(pool: &Pool<'_>, input: &ReportInput<'_>) -> PooledExtraV1 {
    let member = |member: &Member<'_>| PooledMemberV1 {
        tool: member.trial.tool.to_string(),
        trial: member.trial.number,
        finding: member.finding.id.to_string(),
    };
    let lines = pool.lead.lines();
    PooledExtraV1 {
        case: input.suite.cases[pool.case].id.to_string(),
        file: pool.lead.file.as_ref().map(ToString::to_string),
        line_start: lines.map(|lines| lines.start),
        line_end: lines.map(|lines| lines.end),
        title: one_line(pool.lead.headline()),
        severity: pool.severity(),
        tools: pool.tools().into_iter().map(ToString::to_string).collect(),
        reports: pool.members.len(),
        members: pool.members.iter().take(MOST_MEMBERS).map(member).collect(),
    }
}
