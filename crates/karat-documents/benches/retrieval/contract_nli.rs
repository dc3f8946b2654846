//! Contracts with requirements, verdicts and the clauses that show them, as golden records, and how well they are searched.

use karat_core::assessment::record::{Compliance, GoldenPart, GoldenRecord, Requirement};
use karat_core::ids::{PartId, RequirementId};
use karat_core::trec::Ranking;
use karat_documents::DocumentError;
use karat_documents::retrieval::rerank::{Reranker, open_reranker};
use karat_documents::retrieval::{Analysis, Index, Language, Passage, SearchOptions};
use karat_format::retrieval::RerankProviderV1;
use karat_llm::provider::ProviderEnv;
use serde_json::Value;
use std::path::Path;

/// A contract: its clauses, and what is true of it.
pub(crate) struct Contract {
    /// The clauses, in the order of the text.
    pub(crate) clauses: Vec<Passage>,
    /// What is true of it. The parts are named by the numbers of their clauses.
    pub(crate) record: GoldenRecord,
}

/// A requirement and what is searched for it.
pub(crate) struct Query {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// All contracts of a file, and what is searched for: a hypothesis for each requirement.
pub(crate) fn read(text: &str) -> Option<(Vec<Contract>, Vec<Query>)> {
    let data: Value = serde_json::from_str(text).ok()?;
    let labels = data["labels"].as_object()?;
    let query =
        |(id, label): (&String, &Value)| Some(Query { id: id.clone(), text: label["hypothesis"].as_str()?.to_owned() });
    let queries: Vec<Query> = labels.iter().map(query).collect::<Option<_>>()?;
    let contracts = data["documents"].as_array()?.iter().map(|document| contract(document, &queries));
    Some((contracts.collect::<Option<_>>()?, queries))
}

fn contract(document: &Value, queries: &[Query]) -> Option<Contract> {
    // Places are counted in characters.
    let text: Vec<char> = document["text"].as_str()?.chars().collect();
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let clause = |span: &Value| {
        let body = text.get(number(&span[0])?..number(&span[1])?)?.iter().collect();
        Some(Passage { heading: String::new(), body })
    };
    let clauses: Vec<Passage> = document["spans"].as_array()?.iter().map(clause).collect::<Option<_>>()?;
    let name = document["file_name"].as_str()?;
    let requirement = |query: &Query| {
        let annotation = &document["annotation_sets"][0]["annotations"][&query.id];
        let part = |at: &Value| {
            let text = clauses.get(number(at)?)?.body.clone();
            Some(GoldenPart { id: PartId::new(at.to_string()), document: name.to_owned(), title: String::new(), text })
        };
        Some(Requirement {
            id: RequirementId::new(&query.id),
            assessment: match annotation["choice"].as_str()? {
                "Entailment" => Compliance::Yes,
                "Contradiction" => Compliance::No,
                "NotMentioned" => Compliance::NotApplicable,
                _ => return None,
            },
            primary: annotation["spans"].as_array()?.iter().map(part).collect::<Option<_>>()?,
            supporting: Vec::new(),
            rationale: String::new(),
        })
    };
    let requirements = queries.iter().map(requirement).collect::<Option<_>>()?;
    let record = GoldenRecord {
        bundle: name.to_owned(),
        template: "contract-nli".to_owned(),
        question_answers: Vec::new(),
        requirements,
    };
    Some(Contract { clauses, record })
}

/// A way to search.
pub(crate) struct Way {
    /// What it is called.
    pub(crate) name: &'static str,
    options: SearchOptions,
}

/// All ways that are compared.
pub(crate) fn ways() -> [Way; 2] {
    let reranked = SearchOptions::default();
    [
        Way { name: "words alone (BM25)", options: SearchOptions { rerank: false, ..reranked } },
        Way { name: "words, reranked", options: reranked },
    ]
}

/// How well a way of searching does, averaged over requirements that have evidence.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// The share of the evidence among the first ten.
    pub(crate) recall: f64,
    /// 1 over the place of the first evidence.
    pub(crate) mrr: f64,
    /// How much of the evidence stands how far above, by nDCG on ten places.
    pub(crate) ndcg: f64,
    /// How many requirements have evidence.
    pub(crate) requirements: usize,
}

/// The figures of all ways over contracts. Each is indexed once.
pub(crate) fn figures(contracts: &[&Contract], queries: &[Query]) -> Result<Vec<Figures>, DocumentError> {
    let around = ProviderEnv { variable: &|_| None, folder: Path::new(".") };
    let texts: Vec<String> = queries.iter().map(|query| query.text.clone()).collect();
    let reranker = RerankProviderV1 { provider: "embedded".into(), ..RerankProviderV1::default() };
    let reranker: Option<Box<dyn Reranker>> = open_reranker(&reranker, &around)?;
    let mut sums = ways().map(|_| Figures::default());
    for contract in contracts {
        let analysis = Analysis::new(Language::resolve(None, &contract.clauses)?, &[]);
        let index = Index::new(&contract.clauses, &analysis, None)?;
        for (way, sum) in ways().iter().zip(&mut sums) {
            let searched = index.search(&texts, &way.options, None, reranker.as_deref())?;
            for (requirement, hits) in contract.record.requirements.iter().zip(&searched.ranked) {
                let is_evidence =
                    |part: usize| requirement.primary.iter().any(|own| own.id.as_str() == part.to_string());
                let found = hits.iter().map(|hit| Some(i64::from(is_evidence(hit.part))));
                let ranking = Ranking::new(found, requirement.primary.iter().map(|_| 1));
                if ranking.relevant() > 0 {
                    sum.recall += ranking.recall(10);
                    sum.mrr += ranking.reciprocal_rank();
                    sum.ndcg += ranking.ndcg(10);
                    sum.requirements += 1;
                }
            }
        }
    }
    let mean = |sum: Figures| {
        let n = sum.requirements.max(1) as f64;
        Figures { recall: sum.recall / n, mrr: sum.mrr / n, ndcg: sum.ndcg / n, requirements: sum.requirements }
    };
    Ok(sums.map(mean).to_vec())
}
