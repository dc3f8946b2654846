//! Scores search results and answers against the records, with intervals and differences.

mod answers;
mod retrieved;

use self::answers::ScoredAnswers;
use super::evaluate::EvaluationResult;
use super::search::{SearchCost, SearchedBundle};
use crate::retrieval::SearchOptions;
use karat_core::assessment::items::{AnswerPair, Item, compare, with_intervals};
use karat_core::comparison::Rules;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::scorecard::Intervals;
use karat_core::wording::count;
use karat_format::assessment::{
    AssessedV1, AssessmentReportV1, BundleV1, CutV1, DocumentV1, IntervalsV1, MeasuredV1, ModelSpentV1, PairV1,
    RequirementAnswersV1, SCHEMA, SearchedV1, SideBySideV1, StageV1,
};
use karat_format::comparison::DifferenceV1;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;

pub struct MeasureOptions<'a> {
    pub stage: StageV1,
    /// Clusters, if requested, are bundles.
    pub intervals: &'a Intervals,
    pub margin: f64,
    pub search: SearchOptions,
    pub embedding: Option<String>,
    pub reranking: Option<String>,
}

/// Scores everything.
pub fn report(
    bundles: &[SearchedBundle<'_>],
    took: &SearchCost,
    all: &[EvaluationResult<'_>],
    how: &MeasureOptions<'_>,
    measured: MeasuredV1,
) -> AssessmentReportV1 {
    let clusters: Vec<usize> =
        bundles.iter().enumerate().flat_map(|(at, bundle)| bundle.requirements.iter().map(move |_| at)).collect();
    let shared = Shared { bundles, clusters: how.intervals.cluster.named().map(|_| clusters), how };
    let retrieval = (how.stage != StageV1::Assess).then(|| retrieved::retrieval(&shared));
    let scored: Vec<ScoredAnswers<'_>> = all.iter().map(|answers| answers::scored(&shared, answers)).collect();
    let assessments = scored.iter().map(|one| (one.name.to_owned(), one.report.clone())).collect();
    let comparison = (scored.len() > 1).then(|| side_by_side(&shared, &scored));
    let mut cut = took.cut.clone();
    for answers in all.iter().filter(|answers| answers.cut != CutV1::default()) {
        cut.insert(answers.assessor.name.clone(), answers.cut);
    }
    let search = SearchedV1 {
        search_limit: how.search.search_limit,
        bm25_weight: how.search.bm25_weight,
        rerank_top_n: how.search.rerank_top_n,
        min_candidate_length: how.search.min_candidate_length,
        embedding: how.embedding.clone(),
        reranking: how.reranking.clone(),
        searches: took.searches,
        cut,
    };
    let mut report = AssessmentReportV1 {
        schema: SCHEMA.to_owned(),
        stage: how.stage,
        bundles: bundles.iter().map(bundle).collect(),
        search,
        intervals: IntervalsV1 {
            level: Intervals::LEVEL,
            resamples: how.intervals.resamples,
            seed: how.intervals.seed,
            cluster: how.intervals.cluster.named().map(str::to_owned),
        },
        retrieval,
        assessments: OrderedMap(assessments),
        comparison,
        warnings: Vec::new(),
        measured: MeasuredV1 { models: all.iter().filter_map(spent).collect(), ..measured },
    };
    report.warnings = warnings(&report, all);
    let without = bundles.iter().flat_map(|bundle| &bundle.requirements).filter(|own| own.hits.is_empty()).count();
    if without > 0 {
        let requirements = count(without, "requirement");
        report.warnings.push(format!("{requirements}: no part was found, by any word or vector, that is long enough"));
    }
    report
}

struct Shared<'s> {
    bundles: &'s [SearchedBundle<'s>],
    /// The bundle of each requirement, if intervals are clustered.
    clusters: Option<Vec<usize>>,
    how: &'s MeasureOptions<'s>,
}

impl Shared<'_> {
    fn metrics(&self, items: &[Item]) -> OrderedMap<EstimateV1> {
        let found = with_intervals(items, self.clusters.as_deref(), self.how.intervals);
        OrderedMap(found.iter().map(|(id, estimate)| ((*id).to_owned(), estimate.into())).collect())
    }
}

fn bundle(bundles: &SearchedBundle<'_>) -> BundleV1 {
    let own = bundles.bundle;
    let document = |(document, hash): (&crate::ingest::Document, &String)| DocumentV1 {
        name: document.name.clone(),
        format: document.format.to_owned(),
        sections: document.sections.len(),
        hash: hash.clone(),
    };
    BundleV1 {
        bundle_id: own.record.bundle.clone(),
        template_id: own.template.id.clone(),
        record: own.record_path.clone(),
        language: bundles.analysis.language.code.to_owned(),
        documents: own.documents.iter().zip(&own.hashes).map(document).collect(),
        requirements: bundles.requirements.len(),
        golden_parts: bundles.requirements.iter().map(|search| search.matches.goldens()).sum(),
    }
}

fn spent(answers: &EvaluationResult<'_>) -> Option<(String, ModelSpentV1)> {
    let tally = answers.tally.as_ref()?;
    let spent = ModelSpentV1 {
        questions: tally.questions,
        from_ledger: tally.cached,
        requests: tally.requests,
        tokens_in: tally.tokens_in,
        tokens_out: tally.tokens_out,
        usd: tally.usd,
    };
    Some((answers.assessor.name.clone(), spent))
}

fn warnings(report: &AssessmentReportV1, all: &[EvaluationResult<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for answers in all {
        let name = &answers.assessor.name;
        warnings.extend(answers.failed.iter().map(|why| format!("{name} could not be asked: {why}")));
        let adapted = answers.tally.as_ref().and_then(|tally| tally.adapted.describe());
        warnings.extend(adapted.map(|adapted| format!("{name}: {adapted}")));
    }
    for (name, assessment) in report.assessments.iter() {
        let missing: usize = assessment.unanswered.values().sum();
        if missing > 0 {
            let kinds: Vec<String> = assessment.unanswered.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
            let (kinds, all) = (kinds.join(", "), missing + assessment.answered);
            warnings
                .push(format!("{name}: {missing} of {all} requirements got no answer ({kinds}), and count as missed"));
        }
    }
    let n: usize = report.bundles.iter().map(|bundle| bundle.requirements).sum();
    if n < RELIABLE_N {
        warnings.push(format!("{}: too few to rely on ({RELIABLE_N} wanted)", count(n, "requirement")));
    }
    if report.intervals.cluster.is_some() && report.bundles.len() < RELIABLE_N {
        let bundles = count(report.bundles.len(), "bundle");
        let message = "drawn whole: intervals from so few clusters are too narrow";
        warnings.push(format!("{bundles} {message} ({RELIABLE_N} wanted)"));
    }
    for (who, cut) in &report.search.cut {
        let (texts, left_out) = (count(cut.texts, "text"), cut.characters);
        warnings.push(format!("{texts} longer than {who} takes: cut at white space, {left_out} characters left out"));
    }
    warnings
}

/// Compares every two assessors. The pairs of each metric form one family for adjusting p-values.
fn side_by_side(shared: &Shared<'_>, scored: &[ScoredAnswers<'_>]) -> SideBySideV1 {
    let both: Vec<_> = (0..scored.len()).flat_map(|a| (a + 1..scored.len()).map(move |b| (a, b))).collect();
    let sides: Vec<AnswerPair<'_>> =
        both.iter().map(|(a, b)| AnswerPair { a: &scored[*a].items, b: &scored[*b].items }).collect();
    let named = |at: usize| scored[at].name.to_owned();
    let mut pairs: Vec<_> =
        both.iter().map(|(a, b)| PairV1 { a: named(*a), b: named(*b), metrics: Vec::new() }).collect();
    let ids: Vec<&str> = scored.first().map(|one| one.report.metrics.names().collect()).unwrap_or_default();
    let requirements: usize = shared.bundles.iter().map(|bundle| bundle.requirements.len()).sum();
    let Intervals { seed, resamples, .. } = *shared.how.intervals;
    let rules = Rules { margin: shared.how.margin, resamples, seed, ..Rules::default() };
    for id in ids {
        let compared = compare(&sides, id, shared.clusters.as_deref(), &rules);
        for (pair, compared) in pairs.iter_mut().zip(&compared) {
            pair.metrics.push(DifferenceV1::new(id, compared, requirements - compared.n));
        }
    }
    SideBySideV1 { margin: shared.how.margin, pairs, requirements: answers_by_requirement(scored) }
}

fn answers_by_requirement(scored: &[ScoredAnswers<'_>]) -> Vec<RequirementAnswersV1> {
    let Some(first) = scored.first() else { return Vec::new() };
    let answers = |at: usize| scored.iter().map(move |one| (one.name.to_owned(), &one.report.requirements[at]));
    let one = |(at, requirement): (usize, &AssessedV1)| RequirementAnswersV1 {
        bundle_id: requirement.bundle_id.clone(),
        template_id: requirement.template_id.clone(),
        requirement_id: requirement.requirement_id.clone(),
        golden: requirement.golden,
        said: OrderedMap(answers(at).map(|(name, answer)| (name, answer.said)).collect()),
        combined: OrderedMap(answers(at).map(|(name, answer)| (name, answer.combined)).collect()),
    };
    first.report.requirements.iter().enumerate().map(one).collect()
}
