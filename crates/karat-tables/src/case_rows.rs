//! One case of one tool as rows: its trials, findings and pairs.

use crate::column::Timestamp;
use crate::error::Result;
use crate::rows::{FindingRow, PairRow, TrialRow};
use crate::writer::TablesWriter;
use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Severity};
use karat_core::matching::outcome::{Flag, Parts};
use karat_core::suite::Verdict;
use karat_core::trial::Trial;
use karat_format::report::{
    CaseInfoV1, CaseResultV1, DuplicateV1, ExtraReasonV1, ExtraV1, FindingInfoV1, IssueInfoV1, MatchV1, MissV1,
    RefusedV1, TrialResultV1,
};
use karat_format::run::{ToolFactsV1, TrialDetailV1};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// One case of one tool, scored.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ScoredCase<'a> {
    pub case: &'a CaseInfoV1,
    pub tool: &'a str,
    /// What was found out about the tool, where it was run.
    pub facts: Option<&'a ToolFactsV1>,
    /// The model of the tool, where it is known.
    pub model: Option<&'a str>,
    pub result: &'a CaseResultV1,
    /// The trials in full, in any order; without one, its row has what the result says.
    pub trials: &'a [TrialRecord<'a>],
}

/// A trial in full.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialRecord<'a> {
    pub trial: &'a Trial,
    /// What is stored beside it: the number of the attempt, and how it went.
    pub stored: Option<(u32, &'a TrialDetailV1)>,
}

pub(crate) fn add_case(tables: &mut TablesWriter, scored: &ScoredCase<'_>) -> Result<()> {
    let goldens: HashMap<&str, &IssueInfoV1> =
        scored.case.issues.iter().map(|golden| (golden.id.as_str(), golden)).collect();
    for result in &scored.result.trials {
        let record = scored.trials.iter().find(|record| record.trial.number == result.trial);
        let trial = TrialRows { scored, goldens: &goldens, result, record, run_id: tables.origin.run_id.clone() };
        trial.add_trial(tables)?;
        trial.add_findings(tables)?;
        trial.add_pairs(tables)?;
    }
    Ok(())
}

struct TrialRows<'a> {
    scored: &'a ScoredCase<'a>,
    goldens: &'a HashMap<&'a str, &'a IssueInfoV1>,
    result: &'a TrialResultV1,
    record: Option<&'a TrialRecord<'a>>,
    run_id: Option<String>,
}

/// What became of a finding.
struct FindingFate<'a> {
    outcome: &'static str,
    false_positive: bool,
    golden: Option<&'a str>,
    extra: Option<&'a ExtraV1>,
    flags: &'a [Flag],
}

impl TrialRows<'_> {
    fn add_trial(&self, tables: &mut TablesWriter) -> Result<()> {
        let (result, case) = (self.result, self.scored.case);
        let trial = self.record.map(|record| record.trial);
        let stored = self.record.and_then(|record| record.stored);
        let detail = stored.map(|(_, detail)| detail);
        let cost_usd = trial.and_then(|trial| trial.cost_usd);
        let suite = tables.origin.suite.clone();
        let findings = trial.map_or(result.findings.len(), |trial| trial.findings.len());
        tables.add(&TrialRow {
            tool: self.scored.tool,
            run_id: self.run_id.as_deref(),
            suite: &suite,
            case_id: &case.case,
            language: case.fields.get("language").map(String::as_str),
            trial: i64::from(result.trial),
            attempt: stored.map(|(attempt, _)| i64::from(attempt)),
            outcome: result.outcome.as_str(),
            reason: detail.and_then(|detail| detail.reason.as_deref()),
            counted: result.counted,
            verdict: result.verdict.map(verdict_name),
            true_verdict: verdict_name(case.verdict),
            verdict_correct: result.verdict_correct,
            lucky_guess: result.lucky_guess,
            confidence: result.confidence,
            true_positives: integer(result.tp),
            false_positives: integer(result.fp),
            false_negatives: integer(result.r#fn),
            findings: integer(findings),
            untouched_extras: integer(result.untouched_extras),
            started_at: detail.map(|detail| Timestamp(detail.started_ms)).filter(|started| started.0 > 0),
            latency_ms: trial.and_then(|trial| trial.latency_ms),
            tokens_in: trial.and_then(|trial| trial.tokens_in).map(integer),
            tokens_out: trial.and_then(|trial| trial.tokens_out).map(integer),
            cost_usd,
            cost_micro_usd: cost_usd.and_then(micro_dollars),
            tool_version: self.scored.facts.and_then(|facts| facts.version.as_deref()),
            model: self.scored.model,
            isolation: detail.and_then(|detail| detail.isolation.as_deref()),
            exit_code: detail.and_then(|detail| detail.exit).map(i64::from),
            signal: detail.and_then(|detail| detail.signal).map(i64::from),
            notes: (!result.notes.is_empty()).then(|| Cow::Owned(result.notes.join("\n"))),
        })
    }

    fn add_findings(&self, tables: &mut TablesWriter) -> Result<()> {
        let fates = self.fates(tables);
        match self.record {
            // The trial has more to say of its findings than the report.
            Some(record) => record.trial.findings.iter().try_for_each(|finding| {
                let fate = fates.get(finding.id.as_str());
                tables.add(&full_finding(finding, self.finding(finding.id.as_str(), fate)))
            }),
            None => self.result.findings.iter().try_for_each(|finding| {
                let fate = fates.get(finding.id.as_str());
                tables.add(&reported_finding(finding, self.finding(&finding.id, fate)))
            }),
        }
    }

    /// What became of each finding, by id. A finding of recorded matches can be in several lists; the best counts.
    fn fates(&self, tables: &TablesWriter) -> HashMap<&str, FindingFate<'_>> {
        let (result, origin) = (self.result, &tables.origin);
        let mut fates = HashMap::new();
        for m in &result.matches {
            let (golden, flags) = (Some(m.golden.as_str()), m.flags.as_slice());
            let fate = FindingFate { outcome: "match", false_positive: false, golden, extra: None, flags };
            fates.entry(m.finding.as_str()).or_insert(fate);
        }
        for m in &result.acceptable {
            let (golden, false_positive) = (Some(m.golden.as_str()), origin.acceptable_are_false);
            let fate = FindingFate { outcome: "acceptable", false_positive, golden, extra: None, flags: &m.flags };
            fates.entry(m.finding.as_str()).or_insert(fate);
        }
        for d in &result.duplicates {
            let (golden, false_positive) = (d.golden.as_deref(), origin.duplicates_are_false);
            let fate = FindingFate { outcome: "duplicate", false_positive, golden, extra: None, flags: &d.flags };
            fates.entry(d.finding.as_str()).or_insert(fate);
        }
        for extra in &result.extras {
            let false_positive = extra.is_false_alarm();
            let golden = extra.best.as_ref().and_then(|best| best.golden.as_deref());
            let golden = golden.or_else(|| extra.reason.as_ref().and_then(ExtraReasonV1::golden));
            let flags = extra.flags.as_slice();
            let fate = FindingFate { outcome: "extra", false_positive, golden, extra: Some(extra), flags };
            fates.entry(extra.finding.as_str()).or_insert(fate);
        }
        fates
    }

    /// A finding with what became of it, and nothing of what it says.
    fn finding<'s>(&'s self, id: &'s str, fate: Option<&'s FindingFate<'s>>) -> FindingRow<'s> {
        let extra = fate.and_then(|fate| fate.extra);
        let golden = fate.and_then(|fate| fate.golden);
        let audit = self.result.audit.as_deref();
        FindingRow {
            tool: self.scored.tool,
            run_id: self.run_id.as_deref(),
            case_id: &self.scored.case.case,
            trial: i64::from(self.result.trial),
            finding_id: id,
            counted: self.result.counted,
            outcome: fate.map(|fate| fate.outcome),
            false_positive: fate.map(|fate| fate.false_positive),
            reason: extra.and_then(|extra| extra.reason.as_ref()).map(ExtraReasonV1::kind),
            why: extra.map(|extra| extra.why.as_str()),
            golden_id: golden,
            golden_severity: golden.and_then(|id| self.goldens.get(id)?.severity).map(Severity::as_str),
            classification: audit.and_then(|audit| audit.findings.get(id)).map(|class| class.as_str()),
            flags: fate.and_then(|fate| flag_list(fate.flags)),
            rule_id: None,
            title: None,
            message: None,
            file: None,
            line_start: None,
            line_end: None,
            severity: None,
            confidence: None,
            category: None,
            cwe: None,
            function: None,
            source: None,
        }
    }

    fn add_pairs(&self, tables: &mut TablesWriter) -> Result<()> {
        let result = self.result;
        // A pair that was refused is named by its golden and by its finding.
        let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
        for m in &result.matches {
            named.insert((&m.golden, &m.finding));
            tables.add(&self.matched("match", m))?;
        }
        for m in &result.acceptable {
            named.insert((&m.golden, &m.finding));
            tables.add(&self.matched("acceptable", m))?;
        }
        for duplicate in &result.duplicates {
            named.extend(duplicate.golden.as_deref().map(|golden| (golden, duplicate.finding.as_str())));
            tables.add(&self.duplicate(duplicate))?;
        }
        for miss in &result.misses {
            tables.add(&self.miss(miss))?;
        }
        let of_misses = result.misses.iter().flat_map(|miss| {
            let golden = miss.golden.as_str();
            miss.refused.iter().filter_map(move |refused| Some((golden, refused.finding.as_deref()?, refused)))
        });
        let of_extras = result.extras.iter().flat_map(|extra| {
            let finding = extra.finding.as_str();
            extra.refused.iter().filter_map(move |refused| Some((refused.golden.as_deref()?, finding, refused)))
        });
        for (golden, finding, refused) in of_misses.chain(of_extras) {
            if named.insert((golden, finding)) {
                tables.add(&self.refused(golden, finding, refused))?;
            }
        }
        Ok(())
    }

    fn matched<'s>(&'s self, outcome: &'static str, m: &'s MatchV1) -> PairRow<'s> {
        let judgement = m.judgement.as_ref();
        PairRow {
            finding_id: Some(&m.finding),
            score: m.score,
            decided_by: Some(&m.decided_by),
            judge: judgement.map(|judgement| judgement.judge.as_str()),
            judge_confidence: judgement.and_then(|judgement| judgement.confidence),
            explanation: judgement.and_then(|judgement| judgement.explanation.as_deref()),
            exchange: judgement.and_then(|judgement| judgement.exchange.as_deref()),
            flags: flag_list(&m.flags),
            ..self.pair(outcome, Some(&m.golden), Some(&m.parts))
        }
    }

    fn duplicate<'s>(&'s self, duplicate: &'s DuplicateV1) -> PairRow<'s> {
        PairRow {
            finding_id: Some(&duplicate.finding),
            score: duplicate.score,
            flags: flag_list(&duplicate.flags),
            ..self.pair("duplicate", duplicate.golden.as_deref(), None)
        }
    }

    fn miss<'s>(&'s self, miss: &'s MissV1) -> PairRow<'s> {
        let best = miss.best.as_ref();
        PairRow {
            score: best.map(|best| best.score),
            reason: miss.reason.as_ref().map(|reason| reason.kind()),
            why: Some(&miss.why),
            best_finding_id: best.and_then(|best| best.finding.as_deref()),
            flags: flag_list(&miss.flags),
            ..self.pair("miss", Some(&miss.golden), best.map(|best| &best.parts))
        }
    }

    fn refused<'s>(&'s self, golden: &'s str, finding: &'s str, refused: &'s RefusedV1) -> PairRow<'s> {
        // A score that refuses a pair is no judge.
        let by_score = refused.judge == "score";
        PairRow {
            finding_id: Some(finding),
            score: refused.probability.filter(|_| by_score),
            decided_by: Some(if by_score { "score" } else { "judge" }),
            judge: (!by_score).then_some(refused.judge.as_str()),
            probability: refused.probability.filter(|_| !by_score),
            threshold: refused.threshold,
            explanation: refused.explanation.as_deref(),
            ..self.pair("refused", Some(golden), None)
        }
    }

    /// A row of a golden, with nothing of what is known of the pair but the parts of its score.
    fn pair<'s>(&'s self, outcome: &'static str, golden_id: Option<&'s str>, parts: Option<&Parts>) -> PairRow<'s> {
        let golden = golden_id.and_then(|id| self.goldens.get(id).copied());
        PairRow {
            tool: self.scored.tool,
            run_id: self.run_id.as_deref(),
            case_id: &self.scored.case.case,
            trial: i64::from(self.result.trial),
            counted: self.result.counted,
            outcome,
            golden_id,
            golden_title: golden.map(|golden| golden.title.as_str()),
            golden_severity: golden.and_then(|golden| golden.severity).map(Severity::as_str),
            golden_category: golden.and_then(|golden| golden.category.as_deref()),
            golden_acceptance: golden.map(|golden| acceptance_name(golden.acceptance)),
            golden_file: golden.and_then(|golden| golden.file.as_deref()),
            golden_line_start: golden.and_then(|golden| golden.line_start).map(i64::from),
            golden_line_end: golden.and_then(|golden| golden.line_end).map(i64::from),
            finding_id: None,
            score: None,
            score_file: parts.and_then(|parts| parts.file),
            score_line: parts.and_then(|parts| parts.line),
            score_keyword: parts.and_then(|parts| parts.keyword),
            score_text: parts.and_then(|parts| parts.text),
            score_judge: parts.and_then(|parts| parts.judge),
            decided_by: None,
            judge: None,
            judge_confidence: None,
            probability: None,
            threshold: None,
            explanation: None,
            exchange: None,
            reason: None,
            why: None,
            best_finding_id: None,
            flags: None,
        }
    }
}

fn full_finding<'s>(finding: &'s Finding, row: FindingRow<'s>) -> FindingRow<'s> {
    let numbers = || finding.cwe.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    FindingRow {
        rule_id: finding.rule_id.as_deref(),
        title: finding.title.as_deref(),
        message: finding.message.as_deref(),
        file: finding.file.as_ref().map(|file| Cow::Owned(file.to_string())),
        line_start: finding.line_start.map(i64::from),
        line_end: finding.line_end.map(i64::from),
        severity: finding.severity.map(Severity::as_str),
        confidence: finding.confidence,
        category: finding.category.as_deref(),
        cwe: (!finding.cwe.is_empty()).then(|| Cow::Owned(numbers())),
        function: finding.function.as_deref(),
        source: finding.source.as_deref(),
        ..row
    }
}

fn reported_finding<'s>(finding: &'s FindingInfoV1, row: FindingRow<'s>) -> FindingRow<'s> {
    FindingRow {
        rule_id: finding.rule_id.as_deref(),
        title: Some(&finding.title),
        file: finding.file.as_deref().map(Cow::Borrowed),
        line_start: finding.line_start.map(i64::from),
        line_end: finding.line_end.map(i64::from),
        severity: finding.severity.map(Severity::as_str),
        ..row
    }
}

fn flag_list(flags: &[Flag]) -> Option<Cow<'static, str>> {
    match flags {
        [] => None,
        [one] => Some(Cow::Borrowed(one.as_str())),
        several => Some(Cow::Owned(several.iter().map(|flag| flag.as_str()).collect::<Vec<_>>().join(","))),
    }
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Vulnerable => "vulnerable",
        Verdict::Safe => "safe",
    }
}

fn acceptance_name(acceptance: Acceptance) -> &'static str {
    match acceptance {
        Acceptance::Required => "required",
        Acceptance::Acceptable => "acceptable",
        Acceptance::Trap => "trap",
    }
}

/// A count; one that no table could hold is the largest.
pub(crate) fn integer(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// Millionths of a dollar, if it is a whole number of them.
fn micro_dollars(usd: f64) -> Option<i64> {
    /// Above this, neighbouring numbers are more than a millionth of a dollar apart.
    const MOST: f64 = 9e9;
    let micro = (usd * 1e6).round();
    (usd.abs() < MOST && micro / 1e6 == usd).then_some(micro as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_or_absent() {
        assert_eq!(micro_dollars(0.0123), Some(12_300));
        assert_eq!(micro_dollars(0.1 + 0.2), None);
        assert_eq!(micro_dollars(0.000_000_4), None);
        assert_eq!(micro_dollars(0.0), Some(0));
        assert_eq!(micro_dollars(f64::INFINITY), None);
        assert_eq!(micro_dollars(f64::NAN), None);
    }
}
