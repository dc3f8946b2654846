//! A requirement of a bundle, with everything that the report says of it.

use karat_core::assessment::record::Compliance;
use karat_format::assessment::{AssessedV1, AssessmentReportV1, RetrievedV1};
use std::collections::BTreeMap;

/// What an assessor that gave no answer said.
pub(super) const UNANSWERED: &str = "unanswered";

pub(super) struct Unit<'r> {
    /// Its place in the report, which its anchor is made of.
    at: usize,
    pub(super) case: String,
    pub(super) bundle: &'r str,
    pub(super) template: &'r str,
    pub(super) requirement: &'r str,
    /// By assessor, in order.
    pub(super) answers: Vec<(&'r str, &'r AssessedV1)>,
    pub(super) retrieved: Option<&'r RetrievedV1>,
}

/// All requirements of all bundles, in the order of the report.
pub(super) fn all_units<'r>(report: &'r AssessmentReportV1) -> Vec<Unit<'r>> {
    let retrieved = || report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
    let keyed: BTreeMap<(&str, &str, &str), &RetrievedV1> =
        retrieved().map(|one| ((&*one.bundle_id, &*one.template_id, &*one.requirement_id), one)).collect();
    let keys: Vec<(&str, &str, &str)> = match report.assessments.0.first() {
        Some((_, first)) => {
            let all = first.requirements.iter();
            all.map(|one| (&*one.bundle_id, &*one.template_id, &*one.requirement_id)).collect()
        }
        None => retrieved().map(|one| (&*one.bundle_id, &*one.template_id, &*one.requirement_id)).collect(),
    };
    let unit = |(at, key): (usize, (&'r str, &'r str, &'r str))| {
        let (bundle, template, requirement) = key;
        // Assessors are asked about the same requirements, in the same order.
        let answers = report.assessments.iter().filter_map(|(name, own)| Some((name, own.requirements.get(at)?)));
        Unit {
            at,
            case: report.case_id(bundle, template, requirement),
            bundle,
            template,
            requirement,
            answers: answers.collect(),
            retrieved: keyed.get(&key).copied(),
        }
    };
    keys.into_iter().enumerate().map(unit).collect()
}

impl Unit<'_> {
    pub(super) fn anchor(&self) -> String {
        format!("r{}", self.at + 1)
    }

    /// The verdict of the record; none if nobody was asked.
    pub(super) fn golden(&self) -> Option<Compliance> {
        self.answers.first().map(|(_, own)| own.golden)
    }

    /// The verdicts of all assessors, for the filter.
    pub(super) fn verdicts(&self) -> String {
        let verdicts = self.answers.iter().map(|(_, own)| own.said.map_or(UNANSWERED, Compliance::as_str));
        verdicts.collect::<Vec<_>>().join(" ")
    }

    /// Whether some assessor is wrong, or a search without assessors missed a golden part.
    pub(super) fn is_wrong(&self) -> bool {
        match self.answers.is_empty() {
            false => self.answers.iter().any(|(_, own)| own.said != Some(own.golden)),
            true => self.retrieved.and_then(|one| one.recall).is_some_and(|recall| recall < 1.0),
        }
    }
}
