//! The assessors of an assessment as sides of a comparison. A case is a requirement of a bundle.

use super::measure::share_columns;
use super::side::{CaseSide, Side, SideKind, rules_digest, short_hash};
use karat_core::assessment::items::{Adds, Item};
use karat_core::assessment::record::{Compliance, Role};
use karat_core::assessment::retrieval::{PartRetrieval, Retrieval};
use karat_core::assessment::scores::RequirementScore;
use karat_core::clusters::ClusterBy;
use karat_core::comparison::FoundCount;
use karat_core::metric::Undefined;
use karat_format::assessment::{AssessedV1, AssessmentReportV1, FoundV1, RankedV1, RetrievedV1};
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;
use karat_report::assessment::templates;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the only side of an assessment that measured the search alone.
const SEARCH: &str = "search";

/// The metric of the search beside those of answers.
const RECALL: &str = "retrieval_recall";

/// What the rules of scoring are called where reports of tools name their profile.
const PROFILE: &str = "assessment";

impl Side {
    /// The assessors of an assessment, in order; without any, its search. What the search found counts for all of them.
    pub fn of_assessment(report: &AssessmentReportV1) -> Vec<Self> {
        let shared = Shared::new(report);
        if report.assessments.is_empty() {
            return shared.retrieval_metrics().map(|metrics| shared.side(SEARCH, metrics, &[])).into_iter().collect();
        }
        let assessors = report.assessments.iter();
        assessors.map(|(name, own)| shared.side(name, &own.metrics, &own.requirements)).collect()
    }
}

/// A requirement of a bundle: bundle, template, requirement.
type RequirementKey<'r> = (&'r str, &'r str, &'r str);

struct Shared<'r> {
    report: &'r AssessmentReportV1,
    suite: String,
    digest: String,
    rules: BTreeMap<String, Value>,
    retrieved: BTreeMap<RequirementKey<'r>, &'r RetrievedV1>,
}

impl<'r> Shared<'r> {
    fn new(report: &'r AssessmentReportV1) -> Self {
        let retrieved = report.retrieval.iter().flat_map(|retrieval| &retrieval.requirements);
        Self {
            report,
            suite: templates(report),
            digest: report_digest(report),
            rules: rules(report),
            retrieved: retrieved.map(|one| ((&*one.bundle_id, &*one.template_id, &*one.requirement_id), one)).collect(),
        }
    }

    fn retrieval_metrics(&self) -> Option<&'r OrderedMap<EstimateV1>> {
        self.report.retrieval.as_ref().map(|retrieval| &retrieval.metrics)
    }

    fn side(&self, name: &str, metrics: &OrderedMap<EstimateV1>, assessed: &[AssessedV1]) -> Side {
        let of_search = self.retrieval_metrics();
        let mut headline: Vec<String> = metrics.names().map(str::to_owned).collect();
        if !assessed.is_empty() && of_search.is_some_and(|metrics| metrics.get(RECALL).is_some()) {
            headline.push(RECALL.to_owned());
        }
        let all = of_search.into_iter().chain([metrics]).flat_map(OrderedMap::iter);
        let mut cases: BTreeMap<String, CaseSide> = BTreeMap::new();
        for one in assessed {
            let key = (&*one.bundle_id, &*one.template_id, &*one.requirement_id);
            let (id, case) = self.case(key);
            cases.insert(id, add_answer(case, one));
        }
        if assessed.is_empty() {
            for (key, found) in &self.retrieved {
                let (id, case) = self.case(*key);
                let goldens = goldens(None, found.parts.iter().map(|part| (part.part.as_str(), part.role)));
                let hits = found.parts.iter().map(|part| (part.part.as_str(), part.category.is_hit()));
                cases.insert(id, CaseSide { goldens, found: found_parts(hits), ..case });
            }
        }
        Side {
            label: name.to_owned(),
            tool: name.to_owned(),
            recorded: None,
            suite: self.suite.clone(),
            digest: self.digest.clone(),
            twisted_from: None,
            profile: PROFILE.to_owned(),
            profile_digest: rules_digest(&self.rules),
            rules: self.rules.clone(),
            resolved: None,
            headline,
            macro_by: None,
            over_parts: BTreeSet::new(),
            stated: all.map(|(id, estimate)| (id.to_owned(), estimate.clone())).collect(),
            kept: SideKind::Report,
            judges: Vec::new(),
            judge_identities: BTreeMap::new(),
            clusters: Some(ClusterBy::parse(self.report.intervals.cluster.as_deref())),
            source: String::new(),
            cases,
        }
    }

    /// A requirement under its id, with what the search found for it.
    fn case(&self, key: RequirementKey<'_>) -> (String, CaseSide) {
        let (bundle, template, requirement) = key;
        let id = self.report.case_id(bundle, template, requirement);
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = [field("bundle", bundle), field("template", template), field("requirement", requirement)];
        let mut case = CaseSide { fields: fields.into(), counted: true, ..CaseSide::default() };
        if let (Some(found), Some(retrieval)) = (self.retrieved.get(&key), &self.report.retrieval) {
            let k = self.report.scoring.get(template).map_or(retrieval.k, |rules| rules.k);
            add_item(&mut case, &search_result(found).adds(k));
            case.titles = found.parts.iter().map(|part| (part.part.clone(), part.title.clone())).collect();
        }
        (id, case)
    }
}

fn add_answer(mut case: CaseSide, one: &AssessedV1) -> CaseSide {
    let score = RequirementScore {
        compliance: one.compliance.unwrap_or_default(),
        evidence: one.evidence.ok_or(Undefined("no golden evidence")),
        combined: one.combined.unwrap_or_default(),
        is_left_out: one.combined.is_none(),
        is_exact: one.said == Some(one.golden),
        is_answered: one.said.is_some(),
        parts: Vec::new(),
        citations: one.citations.len(),
        right_citations: one.citations.iter().filter(|cited| !cited.golden.is_empty()).count(),
    };
    add_item(&mut case, &score.adds());
    let goldens = goldens(Some(one.golden), one.parts.iter().map(|part| (part.part.as_str(), part.role)));
    if score.is_left_out {
        return CaseSide { goldens, counted: false, titles: BTreeMap::new(), ..case };
    }
    let cited = one.parts.iter().map(|part| (part.part.as_str(), part.cited.is_some()));
    CaseSide { goldens, found: found_parts(cited), ..case }
}

fn add_item(case: &mut CaseSide, item: &Item) {
    for (id, adds) in item {
        match adds {
            Adds::Value(value) => case.values.extend(value.ok().map(|value| (*id, value))),
            Adds::Share(share) => case.sums.extend(share_columns(id).into_iter().zip([share.part, share.whole])),
        }
    }
}

/// Golden parts count as found where they were cited, or retrieved if nobody was asked.
fn found_parts<'p>(parts: impl Iterator<Item = (&'p str, bool)>) -> BTreeMap<String, FoundCount> {
    let count = |found| FoundCount { found: usize::from(found), trials: 1 };
    parts.map(|(part, found)| (part.to_owned(), count(found))).collect()
}

/// The search as it was scored, from what the report says of it.
fn search_result(one: &RetrievedV1) -> Retrieval {
    let part = |part: &FoundV1| {
        let is_hit = |ranked: &&RankedV1| ranked.golden.get(&part.part).is_some_and(|category| category.is_hit());
        let first_hit = one.ranked.iter().find(is_hit).map(|ranked| ranked.rank);
        PartRetrieval { category: part.category, rank: part.rank, first_hit }
    };
    Retrieval { parts: one.parts.iter().map(part).collect(), retrieved: one.ranked.len() }
}

fn goldens<'p>(verdict: Option<Compliance>, parts: impl Iterator<Item = (&'p str, Role)>) -> String {
    let mut text = verdict.map_or("", Compliance::as_str).to_owned();
    parts.for_each(|(part, role)| text.push_str(&format!("\n{role:?} {part}")));
    short_hash(text.as_bytes())
}

/// A hash of bundles: template, bundle, and the names and hashes of its documents. What is true of them is in each case.
pub(crate) fn digest<'d>(bundles: impl Iterator<Item = (&'d str, &'d str, Vec<(&'d str, &'d str)>)>) -> String {
    let line = |(template, bundle, documents): (&str, &str, Vec<(&str, &str)>)| {
        let documents = documents.iter().map(|(name, hash)| format!("\n {name} {hash}"));
        format!("{template} {bundle}{}", documents.collect::<String>())
    };
    let mut lines: Vec<String> = bundles.map(line).collect();
    lines.sort_unstable();
    format!("blake3:{}", karat_io::content_hash(lines.join("\n").as_bytes()))
}

fn report_digest(report: &AssessmentReportV1) -> String {
    digest(report.bundles.iter().map(|bundle| {
        let documents = bundle.documents.iter().map(|document| (document.name.as_str(), document.hash.as_str()));
        (bundle.template_id.as_str(), bundle.bundle_id.as_str(), documents.collect())
    }))
}

/// The rules of each template by its name.
fn rules(report: &AssessmentReportV1) -> BTreeMap<String, Value> {
    let value = |rules| serde_json::to_value(rules).unwrap_or_default();
    report.scoring.iter().map(|(template, rules)| (template.clone(), value(rules))).collect()
}
