//! One trial: its findings, matches, misses and extras.

use super::one_line;
use super::pairs::CasePairs;
use crate::reason::{self, Names, matched_by};
use crate::refused::refused;
use karat_core::finding::Finding;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::matching::outcome::{Candidate, DecidedBy, Duplicate, Extra, Flag, Match, Miss};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{AuditSummary, TrialScore};
use karat_core::suite::Case;
use karat_format::report::{
    AuditInfoV1, CandidateV1, DetailV1, DuplicateV1, ExtraV1, FindingInfoV1, JudgementInfoV1, MatchV1, MissV1,
    RefusedV1, TrialResultV1, VoteV1,
};
use std::collections::BTreeSet;
use thin_vec::ThinVec;

/// Which lists of a trial count against the tool, beside its extras.
#[derive(Clone, Copy)]
pub(super) struct FalseLists {
    pub(super) duplicates: bool,
    pub(super) acceptable: bool,
}

/// A trial with everything that is known of its pairs.
pub(super) fn trial_result(score: &TrialScore, case: &Case, input: &CasePairs<'_>, profile: &Profile) -> TrialResultV1 {
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
        judgement: m.judgement.map(|index| match m.votes.is_empty() {
            true => judgement_info(&input.judgements[index]),
            false => votes_info(m, input.judgements),
        }),
        votes: votes(&m.votes, input.judgements),
        runner_up: m.runner_up.as_ref().map(of_golden),
        flags: m.flags.clone(),
    };
    let refused_findings = |all: &[Candidate]| {
        let one = |c: &Candidate| {
            let found = refused(c, input.judgements, profile)?;
            Some(RefusedV1 { finding: Some(finding(c.index)), ..found })
        };
        all.iter().filter_map(one).collect()
    };
    let refused_goldens = |all: &[Candidate]| {
        let one = |c: &Candidate| {
            let found = refused(c, input.judgements, profile)?;
            Some(RefusedV1 { golden: Some(golden(c.index)), ..found })
        };
        all.iter().filter_map(one).collect()
    };
    let result = &score.result;
    let names = Names { case, findings, judgements: input.judgements, rules: &profile.identity };
    let duplicate = |d: &Duplicate| DuplicateV1 {
        finding: finding(d.finding),
        golden: d.golden.map(golden),
        score: d.score,
        votes: votes(&d.votes, input.judgements),
        flags: d.flags.clone(),
    };
    let miss = |m: &Miss| {
        let reason = names.miss(m.golden, m.why);
        MissV1 {
            golden: golden(m.golden),
            why: why_in_words(reason::miss_in_words(&reason), &m.flags, &m.votes, input.judgements),
            reason: Some(reason),
            best: m.best.as_ref().map(of_golden),
            refused: refused_findings(&m.refused),
            votes: votes(&m.votes, input.judgements),
            flags: m.flags.clone(),
        }
    };
    let untouched = match profile.method {
        Method::Verdict => BTreeSet::new(),
        _ => BTreeSet::from_iter(score.untouched_extras(profile)),
    };
    let extra = |e: &Extra| {
        let reason = names.extra(e.finding, e.why);
        ExtraV1 {
            finding: finding(e.finding),
            why: why_in_words(reason::extra_in_words(&reason), &e.flags, &e.votes, input.judgements),
            reason: Some(reason),
            best: e.best.as_ref().map(of_finding),
            refused: refused_goldens(&e.refused),
            votes: votes(&e.votes, input.judgements),
            flags: e.flags.clone(),
            left_out: untouched.contains(&e.finding),
        }
    };
    TrialResultV1 {
        detail: DetailV1::All,
        notes: score.line.map_or_else(ThinVec::new, |line| input.trials[line].notes.iter().cloned().collect()),
        findings: findings.iter().map(finding_info).collect(),
        matches: result.matches.iter().map(matched).collect(),
        misses: result.misses.iter().map(miss).collect(),
        extras: result.extras.iter().map(extra).collect(),
        duplicates: result.duplicates.iter().map(duplicate).collect(),
        acceptable: result.acceptable.iter().map(matched).collect(),
        audit: score.audited.as_ref().and_then(|audited| audit_info(audited, input.judgements)).map(Box::new),
        ..trial_figures(score, profile)
    }
}

/// A trial without its pairs.
pub(super) fn trial_figures(score: &TrialScore, profile: &Profile) -> TrialResultV1 {
    TrialResultV1 {
        trial: score.number,
        detail: DetailV1::None,
        outcome: score.outcome,
        counted: score.counted,
        notes: ThinVec::new(),
        verdict: score.verdict,
        verdict_correct: score.verdict_correct,
        lucky_guess: score.lucky_guess,
        confidence: score.confidence,
        calibration_error: score.calibration_error(),
        tp: score.counts.tp,
        fp: score.counts.fp,
        r#fn: score.counts.fn_,
        untouched_extras: if profile.method == Method::Verdict { 0 } else { score.untouched },
        findings: ThinVec::new(),
        matches: ThinVec::new(),
        misses: ThinVec::new(),
        extras: ThinVec::new(),
        duplicates: ThinVec::new(),
        acceptable: ThinVec::new(),
        audit: None,
    }
}

/// Keeps what people look at first: missed goldens and all that counts against the tool, and the findings that these name.
pub(super) fn keep_misses(trial: &mut TrialResultV1, are_false: FalseLists) {
    trial.detail = DetailV1::Misses;
    trial.matches = ThinVec::new();
    if !are_false.duplicates {
        trial.duplicates = ThinVec::new();
    }
    if !are_false.acceptable {
        trial.acceptable = ThinVec::new();
    }
    trial.extras.retain(|extra| extra.is_false_alarm() || extra.is_unaudited());
    let refused = trial.misses.iter().flat_map(|miss| &miss.refused).filter_map(|own| own.finding.as_ref());
    let best = trial.misses.iter().filter_map(|miss| miss.best.as_ref()?.finding.as_ref());
    let extras = trial.extras.iter().map(|extra| &extra.finding);
    let duplicates = trial.duplicates.iter().map(|duplicate| &duplicate.finding);
    let acceptable = trial.acceptable.iter().map(|found| &found.finding);
    let named: BTreeSet<&String> = refused.chain(best).chain(extras).chain(duplicates).chain(acceptable).collect();
    let keep: Vec<bool> = trial.findings.iter().map(|finding| named.contains(&finding.id)).collect();
    let mut keep = keep.into_iter();
    trial.findings.retain(|_| keep.next().unwrap_or_default());
}

fn audit_info(audited: &AuditSummary, judgements: &[Judgement]) -> Option<AuditInfoV1> {
    let target = audited.target.as_ref();
    let judges: Vec<&str> = audited.judges.iter().map(JudgeName::as_str).collect();
    let nearest = judgement_info(judgements.get(audited.judgement?)?);
    Some(AuditInfoV1 {
        judgement: JudgementInfoV1 { judge: judges.join(", "), ..nearest },
        target_found: audited.target_found,
        type_match: target.and_then(|target| target.type_match),
        rcir: target.and_then(|target| target.rcir),
        ava: target.and_then(|target| target.ava),
        fsv: target.and_then(|target| target.fsv),
        findings: audited.findings.iter().map(|(finding, class)| (finding.to_string(), *class)).collect(),
        ties: audited.ties.iter().map(ToString::to_string).collect(),
    })
}

/// A candidate; the caller fills in the id of its other side.
pub(crate) fn candidate(c: &Candidate) -> CandidateV1 {
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

/// What each of several judges said, in the order of these judgements.
fn votes(indices: &[usize], judgements: &[Judgement]) -> Vec<VoteV1> {
    let vote = |index: &usize| {
        let judgement = judgements.get(*index)?;
        let yes = match &judgement.decision {
            Decision::Pair(pair) => pair.matched,
            Decision::Extra(extra) => extra.valid,
            Decision::Audit(_) | Decision::Unjudged(_) => return None,
        };
        Some(VoteV1 { judge: judgement.judge.to_string(), yes })
    };
    indices.iter().filter_map(vote).collect()
}

/// What several judges decided together.
fn votes_info(found: &Match, judgements: &[Judgement]) -> JudgementInfoV1 {
    let judges: Vec<String> = votes(&found.votes, judgements).into_iter().map(|vote| vote.judge).collect();
    JudgementInfoV1 {
        judge: judges.join(", "),
        confidence: found.parts.judge,
        explanation: Some(votes_in_words(&found.votes, judgements)),
        exchange: None,
    }
}

/// Such as `ann: yes, ben: no`; empty without votes.
pub(crate) fn votes_in_words(indices: &[usize], judgements: &[Judgement]) -> String {
    let word = |vote: VoteV1| format!("{}: {}", vote.judge, if vote.yes { "yes" } else { "no" });
    votes(indices, judgements).into_iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The reason with both sides of an even split; where the split left a pair open, it is the reason.
pub(crate) fn why_in_words(reason: String, flags: &[Flag], votes: &[usize], judgements: &[Judgement]) -> String {
    match split_in_words(votes, judgements) {
        None => reason,
        Some(split) if flags.contains(&Flag::Unjudged) => split,
        Some(split) => format!("{reason}; {split}"),
    }
}

/// Both sides of an even split; `None` if there are no votes.
pub(crate) fn split_in_words(indices: &[usize], judgements: &[Judgement]) -> Option<String> {
    let votes = votes(indices, judgements);
    let side = |yes: bool| {
        let names: Vec<&str> = votes.iter().filter(|vote| vote.yes == yes).map(|vote| vote.judge.as_str()).collect();
        format!("{} {}", names.join(", "), if yes { "yes" } else { "no" })
    };
    (!votes.is_empty()).then(|| format!("the judges are evenly split: {}; {}", side(true), side(false)))
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
