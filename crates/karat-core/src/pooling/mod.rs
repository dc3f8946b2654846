//! Groups extras that report the same issue, over all tools and trials of a case.
//!
//! Every member of a pool is similar to its lead finding. Similarity to another member is not enough, so chains
//! of small steps cannot join distant findings.

use crate::finding::Finding;
use crate::golden::{Golden, Severity};
use crate::ids::ToolName;
use crate::lines::Lines;
use crate::local_judge::{finding_text, golden_text, stems};
use crate::path::{FilePattern, RepoPath};
use crate::scorecard::{CaseScore, Scorecard, TrialScore};
use crate::suite::Suite;
use crate::trial::Trial;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A finding and the trial that reported it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Member<'a> {
    pub trial: &'a Trial,
    pub finding: &'a Finding,
}

/// Findings that report the same issue.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Pool<'a> {
    /// Index of the case in the suite.
    pub case: usize,
    pub lead: &'a Finding,
    pub members: Vec<Member<'a>>,
}

impl<'a> Pool<'a> {
    /// The tools that report it.
    pub fn tools(&self) -> BTreeSet<&'a ToolName> {
        self.members.iter().map(|member| &member.trial.tool).collect()
    }

    /// In how many trials it is reported.
    pub fn trials(&self) -> usize {
        self.members.iter().map(|member| (&member.trial.tool, member.trial.number)).collect::<BTreeSet<_>>().len()
    }

    /// The worst that anybody calls it.
    pub fn severity(&self) -> Option<Severity> {
        self.members.iter().filter_map(|member| member.finding.severity).min()
    }

    /// The place of a pool among those of all cases: first what most tools report, then what is reported most often, then the
    /// worst, then in the order of the cases.
    pub fn rank(&self) -> PoolRank {
        let severity = self.severity().map_or(u8::MAX, |severity| severity as u8);
        (Reverse(self.tools().len()), Reverse(self.trials()), severity, self.case)
    }
}

/// What pools of all cases are sorted by; pools of one case with the same rank keep their order.
pub type PoolRank = (Reverse<usize>, Reverse<usize>, u8, usize);

/// The extras of all cases that are wanted, by index in their trial, in pools: first what most tools report, then what is
/// reported most often, then the worst, then in the order of the cases. Neither the order of tools nor that of trials matters.
pub fn pool_extras<'a>(
    suite: &Suite,
    trials: &'a [Trial],
    scorecard: &Scorecard,
    reach: u32,
    wanted: impl Fn(&TrialScore) -> Vec<usize> + Sync,
) -> Vec<Pool<'a>> {
    let of_case = |case: usize| -> Vec<Pool<'a>> {
        let scores = scorecard.tools.iter().filter_map(|tool| tool.cases.get(case));
        pool_case(case, scores, trials, reach, &wanted)
    };
    let mut pools: Vec<Pool<'a>> = (0..suite.cases.len()).into_par_iter().flat_map_iter(of_case).collect();
    pools.sort_by_cached_key(Pool::rank);
    pools
}

/// The same of one case, with the scores of every tool on it.
pub fn pool_case<'a, 's>(
    case: usize,
    scores: impl IntoIterator<Item = &'s CaseScore>,
    trials: &'a [Trial],
    reach: u32,
    wanted: impl Fn(&TrialScore) -> Vec<usize>,
) -> Vec<Pool<'a>> {
    let scores = scores.into_iter().flat_map(|score| &score.trials);
    let extras = scores.filter_map(|score| Some((&trials[score.line?], wanted(score))));
    let members = extras.flat_map(|(trial, findings)| {
        findings.into_iter().map(move |finding| Member { trial, finding: &trial.findings[finding] })
    });
    pool_findings(case, members.collect(), reach)
}

/// Pools the findings of one case; the order depends on their content alone.
pub fn pool_findings<'a>(case: usize, members: Vec<Member<'a>>, reach: u32) -> Vec<Pool<'a>> {
    let mut by_content: BTreeMap<_, Vec<Member<'a>>> = BTreeMap::new();
    for member in members {
        by_content.entry(content(member.finding)).or_default().push(member);
    }
    let item = |members: Vec<Member<'a>>| {
        let lead = members.iter().min_by_key(|member| (&member.trial.tool, member.trial.number, &member.finding.id))?;
        Some(Item { lead: lead.finding, claim: Claim::from_finding(lead.finding), members })
    };
    let items: Vec<Item<'a>> = by_content.into_values().filter_map(item).collect();
    let mut files: BTreeMap<Option<&RepoPath>, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        files.entry(item.lead.file.as_ref()).or_default().push(index);
    }
    let anywhere = files.get(&None).cloned().unwrap_or_default();
    // Findings of different files are never alike, so most pairs are skipped.
    let near = |index: usize| -> Vec<(usize, f64)> {
        let own = match items[index].lead.file.as_ref() {
            None => (0..items.len()).collect(),
            file => files.get(&file).into_iter().flatten().chain(&anywhere).copied().collect::<Vec<_>>(),
        };
        let like = |other: usize| Some((other, items[index].claim.likeness(&items[other].claim, reach)?));
        own.into_iter().filter(|other| *other != index).filter_map(like).collect()
    };
    let alike: Vec<Vec<(usize, f64)>> = (0..items.len()).map(near).collect();

    let mut order: Vec<usize> = (0..items.len()).collect();
    // The most central leads. What is said comes last, and settles every tie.
    order.sort_by_cached_key(|&index| {
        let severity = items[index].lead.severity.map_or(u8::MAX, |severity| severity as u8);
        (Reverse(alike[index].len()), Reverse(items[index].members.len()), severity, index)
    });
    let mut pools: Vec<Pool<'a>> = Vec::new();
    let mut place: Vec<Option<usize>> = vec![None; items.len()];
    let mut rank = vec![0; items.len()];
    for &index in &order {
        let leads = alike[index].iter().filter_map(|&(other, like)| place[other].map(|pool| (like, pool)));
        // Of equally good leads the one that came first.
        let best = leads.fold(None, |best: Option<(f64, usize)>, (like, pool)| match best {
            Some((most, first)) if like < most || (like == most && first < pool) => Some((most, first)),
            _ => Some((like, pool)),
        });
        rank[index] = best.map_or(pools.len(), |(_, pool)| pool);
        if best.is_none() {
            place[index] = Some(pools.len());
            pools.push(Pool { case, lead: items[index].lead, members: Vec::new() });
        }
    }
    for (item, pool) in items.into_iter().zip(rank) {
        pools[pool].members.extend(item.members);
    }
    for pool in &mut pools {
        pool.members.sort_by_key(|member| (&member.trial.tool, member.trial.number, &member.finding.id));
    }
    pools
}

/// The visible content of a finding; findings with equal content are one item.
fn content(finding: &Finding) -> impl Ord + use<'_> {
    let Finding { file, title, message, rule_id, category, severity, .. } = finding;
    let speechless = title.is_none() && message.is_none();
    (file, finding.lines(), title, message, rule_id.as_ref().filter(|_| speechless), category, severity)
}

struct Item<'a> {
    lead: &'a Finding,
    claim: Claim<'a>,
    members: Vec<Member<'a>>,
}

/// Minimum share of the shorter claim's words for claims at the same place.
const AT_ONE_PLACE: f64 = 0.5;
/// Minimum word overlap, both ways, for claims without lines.
const BY_WORDS: f64 = 0.6;
/// A single shared word may be chance.
const FEWEST_WORDS: usize = 2;

/// What is claimed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    file: Option<&'a RepoPath>,
    lines: Option<Lines>,
    words: BTreeSet<String>,
}

impl<'a> Claim<'a> {
    /// What a finding claims.
    pub fn from_finding(finding: &'a Finding) -> Self {
        let words = stems(&finding_text(finding)).into_iter().collect();
        Self { file: finding.file.as_ref(), lines: finding.lines(), words }
    }

    /// What a golden claims; one whose file is a pattern claims no file.
    pub fn from_golden(golden: &'a Golden) -> Self {
        let file = match &golden.file {
            Some(FilePattern::Exact(path)) => Some(path),
            Some(FilePattern::Glob(_)) | None => None,
        };
        Self { file, lines: golden.lines, words: stems(&golden_text(golden)).into_iter().collect() }
    }

    /// Similarity from 0 to 1, if it is enough to be about the same issue.
    pub fn likeness(&self, other: &Self, reach: u32) -> Option<f64> {
        if self.file.zip(other.file).is_some_and(|(own, theirs)| own != theirs) {
            return None;
        }
        let one_file = self.file.is_some() && other.file.is_some();
        let gap = self.lines.zip(other.lines).filter(|_| one_file).map(|(own, theirs)| own.gap(theirs));
        if gap.is_some_and(|gap| gap > reach) {
            return None;
        }
        if self.words == other.words {
            return Some(1.0);
        }
        let shared = self.words.intersection(&other.words).count();
        let (own, theirs) = (self.words.len(), other.words.len());
        let both = 2.0 * shared as f64 / (own + theirs).max(1) as f64;
        let enough = match gap {
            Some(_) => shared as f64 >= AT_ONE_PLACE * own.min(theirs) as f64,
            None => both >= BY_WORDS,
        };
        (shared >= FEWEST_WORDS && enough).then_some(both)
    }
}

#[cfg(test)]
mod tests;
