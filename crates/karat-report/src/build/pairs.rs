//! What the pairs of cases add to a report, case by case.

use super::one_line;
use super::trial::{FalseLists, keep_misses, trial_result};
use karat_core::judgement::{Decision, Judgement};
use karat_core::matching::outcome::{DecidedBy, Match};
use karat_core::panel::AuditRatings;
use karat_core::pooling::{Member, Pool, PoolRank, pool_case};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{CaseScore, Scorecard, TrialScore};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_format::report::{DetailV1, PooledExtraV1, PooledMemberV1, TrialResultV1};
use std::collections::BTreeMap;

const MOST_POOLS: usize = 100;
const MOST_MEMBERS: usize = 50;

/// One scored case, with what its indices point into.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CasePairs<'a> {
    /// Index of the case in the suite.
    pub case: usize,
    /// By tool.
    pub scores: &'a [&'a CaseScore],
    pub trials: &'a [Trial],
    pub judgements: &'a [Judgement],
}

/// What one case adds.
pub struct CaseReport {
    /// By tool; empty where only figures are kept.
    trials: Vec<Vec<TrialResultV1>>,
    pools: Vec<(PoolRank, PooledExtraV1)>,
    beyond: BTreeMap<String, usize>,
}

/// What the pairs of all cases add to a report. Memory grows with the trials by as much as the detail asks for.
pub struct PairReports<'a> {
    suite: &'a Suite,
    profile: &'a Profile,
    pub(super) detail: DetailV1,
    /// By tool, then by case; empty where only figures are kept.
    pub(super) trials: Vec<Vec<Vec<TrialResultV1>>>,
    pools: Vec<(PoolRank, PooledExtraV1)>,
    /// By judge: matches that file, lines and words alone would not make.
    pub(super) beyond: BTreeMap<String, usize>,
    /// By judge: judgements given, and pairs that none of them covers.
    pub(super) judgements: BTreeMap<String, (usize, usize)>,
    /// What each judge decided in audits.
    pub(super) audits: AuditRatings,
}

impl<'a> PairReports<'a> {
    /// Nothing yet, of so many tools.
    pub fn new(suite: &'a Suite, profile: &'a Profile, detail: DetailV1, tools: usize) -> Self {
        Self {
            suite,
            profile,
            detail,
            trials: vec![Vec::new(); tools],
            pools: Vec::new(),
            beyond: BTreeMap::new(),
            judgements: BTreeMap::new(),
            audits: AuditRatings::default(),
        }
    }

    /// All cases of a scorecard that has kept its pairs.
    pub fn of_scorecard(
        suite: &'a Suite,
        trials: &[Trial],
        judgements: &[Judgement],
        profile: &'a Profile,
        scorecard: &Scorecard,
        detail: DetailV1,
    ) -> Self {
        let mut reports = Self::new(suite, profile, detail, scorecard.tools.len());
        for case in 0..suite.cases.len() {
            let scores: Vec<&CaseScore> = scorecard.tools.iter().map(|tool| &tool.cases[case]).collect();
            reports.add(reports.of_case(&CasePairs { case, scores: &scores, trials, judgements }));
        }
        reports.count_judgements(judgements);
        reports
    }

    /// What one case adds. Cases can be taken in any order and on any thread.
    pub fn of_case(&self, pairs: &CasePairs<'_>) -> CaseReport {
        let case = &self.suite.cases[pairs.case];
        let result = |score: &TrialScore| {
            let mut result = trial_result(score, case, pairs, self.profile);
            if self.detail == DetailV1::Misses {
                let Profile { duplicates_are_false, acceptable_are_false, .. } = *self.profile;
                let are_false = FalseLists { duplicates: duplicates_are_false, acceptable: acceptable_are_false };
                keep_misses(&mut result, are_false);
            }
            result
        };
        let of_tool = |score: &&CaseScore| score.trials.iter().map(result).collect();
        let trials = match self.detail {
            DetailV1::None => Vec::new(),
            DetailV1::Misses | DetailV1::All => pairs.scores.iter().map(of_tool).collect(),
        };
        CaseReport { trials, pools: self.pools(pairs), beyond: self.beyond(pairs) }
    }

    /// Adds a case. Cases are added in the order of the suite, each once.
    pub fn add(&mut self, case: CaseReport) {
        for (all, own) in self.trials.iter_mut().zip(case.trials) {
            all.push(own);
        }
        for (judge, matches) in case.beyond {
            *self.beyond.entry(judge).or_default() += matches;
        }
        if !case.pools.is_empty() {
            self.pools.extend(case.pools);
            // The order of pools of the same rank is that of the cases.
            self.pools.sort_by_key(|(rank, _)| *rank);
            self.pools.truncate(MOST_POOLS);
        }
    }

    /// Counts judgements by judge, and keeps the decisions of audits to compare them.
    pub fn count_judgements<'j>(&mut self, judgements: impl IntoIterator<Item = &'j Judgement>) {
        for judgement in judgements {
            self.audits.add(judgement);
            let counts = match self.judgements.get_mut(judgement.judge.as_str()) {
                Some(counts) => counts,
                None => self.judgements.entry(judgement.judge.to_string()).or_default(),
            };
            match judgement.decision {
                Decision::Unjudged(_) => counts.1 += 1,
                _ => counts.0 += 1,
            }
        }
    }

    pub(super) fn pooled_extras(&mut self) -> Vec<PooledExtraV1> {
        std::mem::take(&mut self.pools).into_iter().map(|(_, pool)| pool).collect()
    }

    /// What several tools report of one case.
    fn pools(&self, pairs: &CasePairs<'_>) -> Vec<(PoolRank, PooledExtraV1)> {
        if pairs.scores.len() < 2 {
            return Vec::new();
        }
        let profile = self.profile;
        let wanted = |trial: &TrialScore| match profile.method != Method::Verdict && trial.counted {
            true => trial.unlabelled_extras(profile),
            false => Vec::new(),
        };
        let scores = pairs.scores.iter().copied();
        let pools = pool_case(pairs.case, scores, pairs.trials, profile.line.reach, wanted);
        let mut shared: Vec<(PoolRank, &Pool<'_>)> =
            pools.iter().filter(|pool| pool.tools().len() > 1).map(|pool| (pool.rank(), pool)).collect();
        shared.sort_by_key(|(rank, _)| *rank);
        shared.into_iter().take(MOST_POOLS).map(|(rank, pool)| (rank, self.pooled_extra(pool))).collect()
    }

    fn pooled_extra(&self, pool: &Pool<'_>) -> PooledExtraV1 {
        let member = |member: &Member<'_>| PooledMemberV1 {
            tool: member.trial.tool.to_string(),
            trial: member.trial.number,
            finding: member.finding.id.to_string(),
        };
        let lines = pool.lead.lines();
        PooledExtraV1 {
            case: self.suite.cases[pool.case].id.to_string(),
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

    fn beyond(&self, pairs: &CasePairs<'_>) -> BTreeMap<String, usize> {
        let (mut beyond, profile) = (BTreeMap::new(), self.profile);
        if profile.method != Method::Score || profile.heuristic_share <= 0.0 {
            return beyond;
        }
        let rests_on = |found: &Match| {
            let (score, judged) = (found.score?, found.parts.judge?);
            let alone = (score - (1.0 - profile.heuristic_share) * judged) / profile.heuristic_share;
            match &found.decided_by {
                DecidedBy::Judge(name) if alone + 1e-9 < profile.threshold => Some(name.to_string()),
                _ => None,
            }
        };
        let trials = pairs.scores.iter().flat_map(|score| &score.trials);
        for judge in trials.flat_map(|trial| &trial.result.matches).filter_map(rests_on) {
            *beyond.entry(judge).or_default() += 1;
        }
        beyond
    }
}
