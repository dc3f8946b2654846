//! A decision of a judge as rows: one, and for an audit one more for each finding.

use crate::error::Result;
use crate::rows::JudgementRow;
use crate::writer::TablesWriter;
use karat_core::judgement::{AuditDecision, Classification, Decision, Expressed, Judgement};

pub(crate) fn add_judgement(tables: &mut TablesWriter, judgement: &Judgement, decides: bool) -> Result<()> {
    let run_id = tables.origin.run_id.clone();
    let plain = JudgementRow {
        tool: judgement.tool.as_str(),
        run_id: run_id.as_deref(),
        case_id: judgement.case.as_str(),
        trial: i64::from(judgement.trial),
        judge: judgement.judge.as_str(),
        is_person: judgement.judge.is_human(),
        decides,
        kind: "pair",
        decision: "unjudged",
        golden_id: None,
        finding_id: None,
        partial: None,
        confidence: None,
        probability: None,
        threshold: None,
        target_found: None,
        type_match: None,
        root_cause: None,
        attack_vector: None,
        fix: None,
        explanation: None,
        exchange: judgement.exchange.as_deref(),
    };
    match &judgement.decision {
        Decision::Pair(pair) => tables.add(&JudgementRow {
            decision: if pair.matched { "match" } else { "no_match" },
            golden_id: pair.golden.as_ref().map(|golden| golden.as_str()),
            finding_id: Some(pair.finding.as_str()),
            partial: pair.partial,
            confidence: pair.confidence,
            probability: pair.probability,
            threshold: pair.grounds.as_ref().map(|grounds| grounds.threshold),
            explanation: pair.explanation.as_deref(),
            ..plain
        }),
        Decision::Unjudged(pair) => tables.add(&JudgementRow {
            golden_id: Some(pair.golden.as_str()),
            finding_id: Some(pair.finding.as_str()),
            explanation: Some(&pair.why),
            ..plain
        }),
        Decision::Extra(extra) => tables.add(&JudgementRow {
            kind: "extra",
            decision: if extra.valid { "valid" } else { "invalid" },
            finding_id: Some(extra.finding.as_str()),
            probability: extra.probability,
            explanation: extra.explanation.as_deref(),
            ..plain
        }),
        Decision::Audit(audit) => add_audit(tables, audit, &plain),
    }
}

fn add_audit(tables: &mut TablesWriter, audit: &AuditDecision, plain: &JudgementRow<'_>) -> Result<()> {
    let target = audit.target.as_ref();
    tables.add(&JudgementRow {
        kind: "audit",
        decision: match audit.said_vulnerable {
            Some(Expressed::Value(true)) => "vulnerable",
            Some(Expressed::Value(false)) => "safe",
            Some(Expressed::Nothing) => "no_verdict",
            None => "not_asked",
        },
        finding_id: target.and_then(|target| target.finding.as_ref()).map(|finding| finding.as_str()),
        confidence: audit.confidence_expressed.and_then(Expressed::value),
        target_found: target.and_then(|target| target.found),
        type_match: target.and_then(|target| target.type_match).map(|fits| fits.as_str()),
        root_cause: target.and_then(|target| target.rcir),
        attack_vector: target.and_then(|target| target.ava),
        fix: target.and_then(|target| target.fsv),
        explanation: audit.explanation.as_deref(),
        ..plain.clone()
    })?;
    audit.findings.iter().try_for_each(|found| {
        tables.add(&JudgementRow {
            kind: "audit_finding",
            decision: found.classification.map_or("not_asked", Classification::as_str),
            finding_id: Some(found.finding.as_str()),
            ..plain.clone()
        })
    })
}
