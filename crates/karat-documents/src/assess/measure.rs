//! Scores search results and answers against the records, with intervals and differences.

use super::assessor::{Assessed, CitedPart};
use super::bundle::EvidenceLocation;
use super::evaluate::EvaluationResult;
use super::search::{RequirementSearch, SearchCost, SearchedBundle};
use crate::ingest::Document;
use crate::retrieval::{Hit, SearchOptions};
use karat_core::assessment::items::{AnswerPair, Item, compare, with_intervals};
use karat_core::assessment::part_match::{Category, Near};
use karat_core::assessment::record::{Compliance, Requirement};
use karat_core::assessment::retrieval::Retrieval;
use karat_core::assessment::scores::{self, Assessment, Citation, RequirementScore, Stage};
use karat_core::comparison::Rules;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::scorecard::Intervals;
use karat_core::wording::{count, first_few, plural};
use karat_format::assessment::{
    AssessedV1, AssessmentReportV1, AssessmentV1, BundleV1, CitationV1, CutV1, DocumentV1, FoundV1, InexactV1,
    IntervalsV1, MeasuredV1, ModelSpentV1, PairV1, PartV1, RankedV1, RequirementAnswersV1, RetrievalV1, RetrievedV1,
    SCHEMA, SearchedV1, SideBySideV1, StageV1, UnansweredV1, UnreadableV1,
};
use karat_format::comparison::DifferenceV1;
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;
use std::collections::BTreeMap;

/// Golden parts that are named in a warning.
const MOST_NAMED: usize = 8;

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
    let retrieval = (how.stage != StageV1::Assess).then(|| retrieval(&shared));
    let scored: Vec<ScoredAnswers<'_>> = all.iter().map(|answers| score_answers(&shared, answers)).collect();
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
        scoring: bundles
            .iter()
            .map(|own| &own.bundle.template)
            .map(|own| (own.id.clone(), own.config.scoring))
            .collect(),
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
    let document = |(document, hash): (&Document, &String)| DocumentV1 {
        name: document.name.clone(),
        format: document.format.to_owned(),
        sections: document.sections.len(),
        hash: hash.clone(),
        notes: document.notes.clone(),
    };
    let inexact = |(requirement, locations): (&Requirement, &Vec<Option<EvidenceLocation>>)| {
        let parts = requirement.evidence_parts().zip(locations).filter_map(|((_, part), location)| {
            let coverage = location.as_ref()?.golden_coverage;
            let (requirement_id, part) = (requirement.id.to_string(), part.id.to_string());
            (coverage < 1.0).then_some(InexactV1 { requirement_id, part, coverage })
        });
        parts.collect::<Vec<_>>()
    };
    BundleV1 {
        bundle_id: own.record.bundle.clone(),
        template_id: own.template.id.clone(),
        record: own.record_path.clone(),
        language: bundles.analysis.language.code.to_owned(),
        documents: own.documents.iter().zip(&own.hashes).map(document).collect(),
        unreadable: own.unreadable.clone(),
        inexact: own.record.requirements.iter().zip(&own.evidence_locations).flat_map(inexact).collect(),
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
    for bundle in &report.bundles {
        for UnreadableV1 { name, why, golden_parts } in &bundle.unreadable {
            let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(why);
            let missed = match golden_parts {
                0 => String::new(),
                n => format!("; {} as missed", plural(*n, "golden part in it counts", "golden parts in it count")),
            };
            warnings.push(format!("{}: {name} is left out, since it cannot be read: {why}{missed}", bundle.bundle_id));
        }
        if !bundle.inexact.is_empty() {
            let share = |part: &InexactV1| format!("{} ({:.0} %)", part.part, (part.coverage * 100.0).floor());
            let shares: Vec<String> = bundle.inexact.iter().map(share).collect();
            let shares: Vec<&str> = shares.iter().map(String::as_str).collect();
            let parts = plural(shares.len(), "golden part differs", "golden parts differ");
            let shares = first_few(&shares, MOST_NAMED);
            warnings.push(format!(
                "{}: {parts} from the document, with these shares of the same words: {shares}",
                bundle.bundle_id
            ));
        }
    }
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
            let treatment = assessment.treatment_of_unanswered();
            warnings.push(format!("{name}: {missing} of {all} requirements got no answer ({kinds}), and {treatment}"));
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

fn retrieval(shared: &Shared<'_>) -> RetrievalV1 {
    let (mut items, mut requirements): (Vec<Item>, Vec<RetrievedV1>) = (Vec::new(), Vec::new());
    let mut categories: BTreeMap<Category, usize> = BTreeMap::new();
    let mut k = None;
    for bundle in shared.bundles {
        let own = bundle.bundle.template.config.scoring.k;
        k.get_or_insert(own);
        for search in &bundle.requirements {
            let found = Retrieval::new(&search.matches, &search.ranked());
            found.parts.iter().for_each(|part| *categories.entry(part.category).or_default() += 1);
            items.push(found.adds(own));
            requirements.push(retrieved(bundle, search, &found));
        }
    }
    RetrievalV1 { k: k.unwrap_or_default(), metrics: shared.metrics(&items), categories, requirements }
}

fn retrieved(bundle: &SearchedBundle<'_>, search: &RequirementSearch<'_>, found: &Retrieval) -> RetrievedV1 {
    let goldens: Vec<_> = search.requirement.evidence_parts().collect();
    let parts = goldens.iter().zip(&found.parts).enumerate().map(|(at, ((role, part), found))| {
        let best = found.rank.and_then(|rank| match_with(search, at, search.hits[rank - 1].part));
        FoundV1 {
            part: part.id.to_string(),
            role: *role,
            document: part.document.clone(),
            title: part.title.clone(),
            category: found.category,
            rank: found.rank,
            golden_coverage: best.map_or(0.0, |near| near.found.golden_coverage),
            part_coverage: best.map_or(0.0, |near| near.found.part_coverage),
        }
    });
    RetrievedV1 {
        bundle_id: bundle.bundle.record.bundle.clone(),
        template_id: bundle.bundle.template.id.clone(),
        requirement_id: search.requirement.id.to_string(),
        query: search.query.clone(),
        recall: found.recall().ok(),
        ranked: search.hits.iter().enumerate().map(|(at, hit)| ranked(bundle, search, at + 1, hit)).collect(),
        parts: parts.collect(),
    }
}

fn match_with<'a>(search: &'a RequirementSearch<'_>, golden: usize, part: usize) -> Option<&'a Near> {
    search.matches.near_parts(golden).iter().find(|near| near.part == part)
}

fn ranked(bundle: &SearchedBundle<'_>, search: &RequirementSearch<'_>, rank: usize, hit: &Hit) -> RankedV1 {
    let part = &bundle.parts[hit.part];
    let golden = search.requirement.evidence_parts().enumerate().filter_map(|(at, (_, golden))| {
        match_with(search, at, hit.part).map(|near| (golden.id.to_string(), near.found.category))
    });
    RankedV1 {
        rank,
        part: part.section.id.clone(),
        document: part.document.to_owned(),
        heading: part.section.heading.clone(),
        place: part.section.place.to_string(),
        score: hit.score,
        bm25: hit.bm25,
        embedding: hit.embedding,
        rerank: hit.rerank,
        golden: golden.collect(),
    }
}

struct ScoredAnswers<'a> {
    name: &'a str,
    items: Vec<Item>,
    report: AssessmentV1,
}

fn score_answers<'a>(shared: &Shared<'_>, answers: &EvaluationResult<'a>) -> ScoredAnswers<'a> {
    let mut all: Vec<(RequirementScore, AssessedV1)> = Vec::new();
    for (bundle, assessed) in shared.bundles.iter().zip(&answers.assessed) {
        let asked = bundle.requirements.iter().zip(assessed);
        all.extend(asked.map(|(search, assessed)| score_requirement(bundle, search, assessed)));
    }
    let items: Vec<Item> = all.iter().map(|(score, _)| score.adds()).collect();
    let answered = all.iter().filter(|(score, _)| score.is_answered).count();
    let left_out = all.iter().filter(|(score, _)| score.is_left_out).count();
    let in_part = 0 < answered && answered + left_out < all.len();
    let answered_only = if in_part { only_answered(shared, &all) } else { OrderedMap::default() };
    let (mut lost, mut kept): (BTreeMap<Stage, usize>, usize) = (BTreeMap::new(), 0);
    let mut unanswered: BTreeMap<String, usize> = BTreeMap::new();
    let mut verdicts: BTreeMap<Compliance, BTreeMap<String, usize>> = BTreeMap::new();
    for (score, one) in &all {
        for part in score.parts.iter().filter(|_| !score.is_left_out) {
            match part.lost {
                Some(stage) => *lost.entry(stage).or_default() += 1,
                None => kept += 1,
            }
        }
        if let Some(why) = &one.unanswered {
            *unanswered.entry(why.kind.clone()).or_default() += 1;
        }
        let verdict = one.said.map_or("unanswered", Compliance::as_str);
        *verdicts.entry(one.golden).or_default().entry(verdict.to_owned()).or_default() += 1;
    }
    let (provider, model) = answers.assessor.provider_and_model();
    let report = AssessmentV1 {
        provider: provider.to_owned(),
        model: model.to_owned(),
        prompts: answers.assessor.prompts(),
        metrics: shared.metrics(&items),
        answered_only,
        answered,
        unanswered,
        left_out,
        lost,
        kept,
        verdicts,
        requirements: all.into_iter().map(|(_, one)| one).collect(),
    };
    ScoredAnswers { name: &answers.assessor.name, items, report }
}

/// The metrics of the answered requirements. They may be biased: hard requirements may fail more often.
fn only_answered(shared: &Shared<'_>, all: &[(RequirementScore, AssessedV1)]) -> OrderedMap<EstimateV1> {
    let places: Vec<usize> = (0..all.len()).filter(|at| all[*at].0.is_answered).collect();
    let items: Vec<Item> = places.iter().map(|at| all[*at].0.adds()).collect();
    let clusters = shared.clusters.as_ref().map(|names| places.iter().map(|at| names[*at]).collect());
    Shared { bundles: shared.bundles, clusters, how: shared.how }.metrics(&items)
}

fn score_requirement(
    bundle: &SearchedBundle<'_>,
    search: &RequirementSearch<'_>,
    assessed: &Assessed,
) -> (RequirementScore, AssessedV1) {
    let rules = &bundle.bundle.template.config.scoring;
    let part = |cited: &CitedPart| cited.part.and_then(|at| search.hits.get(at)).map(|hit| hit.part);
    let answer = assessed.as_ref().ok().map(|opinion| Assessment {
        verdict: opinion.verdict,
        citations: opinion.citations.iter().map(|cited| Citation { role: cited.role, part: part(cited) }).collect(),
    });
    let mut score = scores::score(search.requirement, answer.as_ref(), &search.matches, &search.ranked(), rules);
    score.is_left_out = assessed.as_ref().is_err_and(UnansweredV1::is_left_out);
    let known = |value: f64| (!score.is_left_out).then_some(value);
    let goldens: Vec<_> = search.requirement.evidence_parts().collect();
    let citation = |cited: &CitedPart| {
        let place = part(cited);
        let is_hit = |at: &usize| place.is_some_and(|part| search.matches.category(*at, part).is_hit());
        CitationV1 {
            name: cited.name.clone(),
            role: cited.role,
            part: place.map(|part| bundle.parts[part].section.id.clone()),
            golden: (0..goldens.len()).filter(is_hit).map(|at| goldens[at].1.id.to_string()).collect(),
        }
    };
    let parts = goldens.iter().zip(&score.parts).map(|((role, golden), part)| PartV1 {
        part: golden.id.to_string(),
        role: *role,
        weight: part.weight,
        cited: part.cited,
        credit: known(part.credit),
        lost: part.lost.filter(|_| !score.is_left_out),
    });
    let opinion = assessed.as_ref().ok();
    let report = AssessedV1 {
        bundle_id: bundle.bundle.record.bundle.clone(),
        template_id: bundle.bundle.template.id.clone(),
        requirement_id: search.requirement.id.to_string(),
        golden: search.requirement.assessment,
        said: opinion.map(|opinion| opinion.verdict),
        compliance: known(score.compliance),
        evidence: score.evidence.ok().and_then(known),
        combined: known(score.combined),
        rationale: opinion.map(|opinion| opinion.rationale.clone()).unwrap_or_default(),
        relevant: opinion.map_or(0, |opinion| opinion.relevant.len()),
        citations: opinion.map(|opinion| opinion.citations.iter().map(citation).collect()).unwrap_or_default(),
        parts: parts.collect(),
        unanswered: assessed.as_ref().err().cloned(),
    };
    (score, report)
}
