//! One side of a comparison: a tool of a report, an assessor of an assessment, or either of a baseline.

use super::twisted::Place;
use karat_core::clusters::{ClusterBy, DEFAULT_FIELD};
use karat_core::comparison::FoundCount;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::metric::table::{Basis, Source, Track, basis, direction, find};
use karat_core::profile::Profile;
use karat_format::baseline::{BaselineMetricV1, BaselineToolV1, BaselineV1};
use karat_format::report::{
    CaseInfoV1, CaseResultV1, EstimateV1, FiguresV1, IssueInfoV1, JudgeIdentityV1, JudgeV1, ProfileV1, RecordedV1,
    ReportV1, ToolV1, TrialResultV1,
};
use karat_llm::ledger::sorted;
use karat_report::number::stated;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A tool of a report, an assessor of an assessment, or either of a baseline: what is stated of each metric, and what each
/// case, or each requirement of a bundle, adds to it.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Side {
    pub label: String,
    pub tool: String,
    /// The recording that its trials were repeated from.
    pub recorded: Option<RecordedV1>,
    pub suite: String,
    /// Hash of the suite.
    pub digest: String,
    /// Hash of the suite that its cases are variants of.
    pub twisted_from: Option<String>,
    pub profile: String,
    /// Hash of the profile's values that scores depend on.
    pub profile_digest: String,
    /// These values by name; empty if only the hash is known.
    pub rules: BTreeMap<String, Value>,
    /// The whole profile, if known.
    pub resolved: Option<Profile>,
    pub headline: Vec<String>,
    /// The dimension whose values the macro averages are over.
    pub macro_by: Option<String>,
    /// The metrics that are macro averages.
    pub over_parts: BTreeSet<String>,
    /// What is stated of each metric over all cases.
    pub stated: BTreeMap<String, EstimateV1>,
    pub kept: SideKind,
    /// Who decided; a panel without its members.
    pub judges: Vec<String>,
    /// What their decisions depend on, and those of a panel's members; of given decisions, nothing is known.
    pub judge_identities: BTreeMap<String, JudgeIdentityV1>,
    /// What was asked for about cases that are alike; none where nothing is known, as of a baseline.
    pub clusters: Option<ClusterBy>,
    /// What its report is called: a file, or a run.
    pub source: String,
    pub cases: BTreeMap<String, CaseSide>,
}

/// What a side was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideKind {
    /// A report, which states everything.
    Report,
    /// A baseline, which states what its metrics are computed from.
    Baseline,
}

/// The part of a case that a comparison needs.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CaseSide {
    /// Hash of the verdict and of the ids of the goldens.
    pub goldens: String,
    /// Fields that may define clusters.
    pub fields: BTreeMap<String, String>,
    /// The values of the dimension of macro averages.
    pub parts: Vec<String>,
    pub counted: bool,
    /// Whether it is a variant of a case of another suite.
    pub twisted: bool,
    /// What was done to its code where it is one.
    pub operations: Vec<String>,
    /// Values of metrics that are means of cases.
    pub values: FiguresV1,
    /// Summands of metrics that are sums over cases.
    pub sums: FiguresV1,
    /// In how many trials each required golden was found.
    pub found: BTreeMap<String, FoundCount>,
    /// The same, of findings at the golden's place; empty if findings or their places are not known.
    pub found_in_place: BTreeMap<String, FoundCount>,
    /// Where each required golden is.
    pub places: BTreeMap<String, Place>,
    pub titles: BTreeMap<String, String>,
}

impl Side {
    /// Whether it is a tool or an assessor; none where it states no metric.
    pub fn track(&self) -> Option<Track> {
        self.stated.keys().find_map(|id| find(id)).map(|metric| metric.track)
    }

    /// A hash of what two sides must have in common to be compared on all of their cases: suite, cases, goldens and rules.
    pub fn basis(&self) -> String {
        let mut text = format!("{} {}", self.digest, self.profile_digest);
        self.cases.iter().for_each(|(id, case)| text.push_str(&format!("\n{id} {}", case.goldens)));
        short_hash(text.as_bytes())
    }

    /// All tools of a report, in order.
    pub fn of_tools(report: &ReportV1) -> Vec<Self> {
        report.tools.iter().map(|tool| Self::of_report(report, tool, &tool.tool)).collect()
    }

    /// A tool of a report.
    pub fn of_report(report: &ReportV1, tool: &ToolV1, label: impl Into<String>) -> Self {
        let rules = rules(&report.profile);
        let resolved: Option<Profile> = serde_json::to_value(&report.profile).and_then(serde_json::from_value).ok();
        let macro_by = report.profile.headline_macro_by.clone().filter(|by| tool.macro_by.contains_key(by));
        let averaged = macro_by.iter().filter_map(|by| tool.macro_by.get(by));
        let over_parts: BTreeSet<String> = averaged.flat_map(|metrics| metrics.keys().cloned()).collect();
        let ids: BTreeSet<&String> = tool.metrics.keys().chain(&over_parts).collect();
        let stated = ids.into_iter().filter_map(|id| Some((id.clone(), stated(report, tool, id)?.clone()))).collect();
        let case = |(info, result): (&CaseInfoV1, &CaseResultV1)| {
            let parts = macro_by.as_deref().map_or_else(Vec::new, |dimension| parts(info, dimension));
            (info.case.clone(), CaseSide { parts, ..case(info, result) })
        };
        Self {
            label: label.into(),
            tool: tool.tool.clone(),
            recorded: tool.recorded.clone(),
            suite: report.suite.name.clone(),
            digest: report.suite.digest.clone(),
            twisted_from: report.suite.twisted_from.clone(),
            profile: report.profile.name.clone(),
            profile_digest: rules_digest(&rules),
            rules,
            resolved,
            headline: report.profile.headline.clone(),
            judges: judges(report),
            judge_identities: judge_identities(report),
            clusters: Some(report.intervals.cluster_by()),
            source: String::new(),
            cases: report.cases.iter().zip(&tool.cases).map(case).collect(),
            macro_by,
            over_parts,
            stated,
            kept: SideKind::Report,
        }
    }

    /// Keeps of every case only what one metric is computed from, as there may be many tools.
    pub(super) fn for_metric(mut self, id: &str) -> Self {
        let basis = basis(id).unwrap_or(Basis::Values);
        for case in self.cases.values_mut() {
            let kept = match basis {
                Basis::Values => Some(id),
                Basis::Spread(of) => Some(of),
                _ => None,
            };
            let value = kept.and_then(|id| Some((id, case.values.get(id)?)));
            case.values = value.into_iter().collect();
            if kept.is_some() {
                case.sums = FiguresV1::default();
            }
            if !depends_on_trials(id) {
                case.found = BTreeMap::new();
            }
            case.found_in_place = BTreeMap::new();
            case.places = BTreeMap::new();
            case.titles = BTreeMap::new();
        }
        self
    }

    /// A tool of a baseline.
    pub fn of_baseline(baseline: &BaselineV1, tool: &BaselineToolV1, label: impl Into<String>) -> Self {
        let tally = |[found, trials]: [usize; 2]| FoundCount { found, trials };
        let estimate = |(id, metric): (&String, &BaselineMetricV1)| {
            let undefined = metric.value.is_none().then(|| "it had no value when it was written".to_owned());
            let BaselineMetricV1 { value, ci, n } = *metric;
            let (direction, unreliable) = (direction(id), n < RELIABLE_N);
            (id.clone(), EstimateV1 { value, undefined, ci, n, direction, unreliable, ..EstimateV1::default() })
        };
        let case = |case: &karat_format::baseline::BaselineCaseV1| {
            let side = CaseSide {
                goldens: case.goldens.clone(),
                fields: case.repo.iter().map(|repo| (DEFAULT_FIELD.to_owned(), repo.clone())).collect(),
                parts: case.parts.clone(),
                counted: case.counted,
                values: case.values.iter().map(|(id, value)| (id, *value)).collect(),
                sums: case.sums.iter().map(|(name, sum)| (name, *sum)).collect(),
                found: case.found.iter().map(|(golden, counts)| (golden.clone(), tally(*counts))).collect(),
                ..CaseSide::default()
            };
            (case.case.clone(), side)
        };
        Self {
            label: label.into(),
            tool: tool.tool.clone(),
            recorded: None,
            suite: baseline.suite.name.clone(),
            digest: baseline.suite.digest.clone(),
            twisted_from: None,
            profile: baseline.profile.name.clone(),
            profile_digest: baseline.profile.digest.clone(),
            rules: BTreeMap::new(),
            resolved: None,
            headline: tool.metrics.keys().cloned().collect(),
            macro_by: None,
            over_parts: BTreeSet::new(),
            stated: tool.metrics.iter().map(estimate).collect(),
            kept: SideKind::Baseline,
            judges: baseline.judges.clone(),
            judge_identities: baseline.judge_identities.clone(),
            clusters: None,
            source: String::new(),
            cases: tool.cases.iter().map(case).collect(),
        }
    }
}

/// Whether a metric is about all trials of a case together, so that its value depends on how many there are.
pub(super) fn depends_on_trials(id: &str) -> bool {
    find(id).is_some_and(|metric| metric.source == Source::Trials)
}

/// Values of a profile that change no score of a case.
const NO_RULES: [&str; 4] = ["name", "description", "judge", "judge_by_variable"];

/// A hash of the values that scores depend on.
pub(super) fn rules_digest(rules: &BTreeMap<String, Value>) -> String {
    let entries = rules.iter().map(|(name, value)| (name.clone(), value.clone()));
    short_hash(sorted(&Value::Object(entries.collect())).to_string().as_bytes())
}

fn rules(profile: &ProfileV1) -> BTreeMap<String, Value> {
    let method = serde_json::to_value(profile.method).unwrap_or_default();
    let others = profile.others.iter().filter(|(name, _)| !NO_RULES.contains(&name.as_str()));
    others.map(|(name, value)| (name.clone(), value.clone())).chain([("method".to_owned(), method)]).collect()
}

pub(super) fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}

/// The judges whose decisions counted, and the one that would have been asked; a panel counts, its members do not.
fn judges(report: &ReportV1) -> Vec<String> {
    let voted = report.judges.iter().filter_map(|judge| judge.agreement.as_ref()).flat_map(|own| &own.judges);
    let stated = report.judges.iter().filter_map(|judge| judge.identity.as_ref()).flat_map(|own| &own.members);
    let members: BTreeSet<&String> = voted.chain(stated).collect();
    let decides = |judge: &&JudgeV1| judge.asked + judge.cached > 0 || judge.identity.is_some();
    let own = report.judges.iter().filter(decides).filter(|judge| !members.contains(&judge.judge));
    own.map(|judge| judge.judge.clone()).collect()
}

fn judge_identities(report: &ReportV1) -> BTreeMap<String, JudgeIdentityV1> {
    let known = |judge: &JudgeV1| Some((judge.judge.clone(), judge.identity.clone()?));
    report.judges.iter().filter_map(known).collect()
}

fn case(info: &CaseInfoV1, result: &CaseResultV1) -> CaseSide {
    let trials: Vec<&TrialResultV1> = result.counted().collect();
    let mut goldens = format!("{:?}", info.verdict);
    let (mut found, mut found_in_place) = (BTreeMap::new(), BTreeMap::new());
    let (mut places, mut titles) = (BTreeMap::new(), BTreeMap::new());
    for issue in &info.issues {
        goldens.push_str(&format!("\n{:?} {}", issue.acceptance, issue.id));
        if issue.counts() {
            // A report without details does not say what was found, which is not the same as nothing.
            let hits = trials.iter().map(|trial| trial.found(&issue.id)).collect();
            found.extend(count_hits(hits).map(|tally| (issue.id.clone(), tally)));
            let place = Place::of_issue(issue);
            let hits = trials.iter().map(|trial| is_reported_at(&place, issue, trial)).collect();
            found_in_place.extend(count_hits(hits).map(|tally| (issue.id.clone(), tally)));
            places.insert(issue.id.clone(), place);
            titles.insert(issue.id.clone(), issue.title.clone());
        }
    }
    let values: FiguresV1 = result.defined_values().collect();
    CaseSide {
        goldens: short_hash(goldens.as_bytes()),
        fields: fields(info),
        parts: Vec::new(),
        counted: !(trials.is_empty() && values.is_empty() && result.sums.is_empty()),
        twisted: info.twisted,
        operations: info.operations.clone(),
        values,
        sums: result.sums.clone(),
        found,
        found_in_place,
        places,
        titles,
    }
}

/// `None` if a trial does not say whether it is a hit.
fn count_hits(hits: Option<Vec<bool>>) -> Option<FoundCount> {
    let hits = hits?;
    Some(FoundCount { found: hits.iter().filter(|hit| **hit).count(), trials: hits.len() })
}

/// Whether a golden was found, and one of the findings that report it is at its place; `None` if the report does not say.
fn is_reported_at(place: &Place, issue: &IssueInfoV1, trial: &TrialResultV1) -> Option<bool> {
    if !trial.detail.is_all() {
        return None;
    }
    if !trial.found(&issue.id)? {
        return Some(false);
    }
    let matched = trial.matches.iter().filter(|own| own.golden == issue.id).map(|own| &own.finding);
    let repeated = trial.duplicates.iter().filter(|own| own.golden.as_ref() == Some(&issue.id));
    let reports: BTreeSet<&String> = matched.chain(repeated.map(|own| &own.finding)).collect();
    let mut findings = trial.findings.iter().filter(|finding| reports.contains(&finding.id));
    Some(findings.any(|finding| place.is_of(finding)))
}

fn parts(info: &CaseInfoV1, dimension: &str) -> Vec<String> {
    match dimension {
        "category" => info.categories.clone(),
        field => info.fields.get(field).cloned().into_iter().collect(),
    }
}

fn fields(info: &CaseInfoV1) -> BTreeMap<String, String> {
    let mut fields = info.fields.clone();
    if !info.categories.is_empty() {
        fields.insert("category".to_owned(), info.categories.join(", "));
    }
    fields
}
