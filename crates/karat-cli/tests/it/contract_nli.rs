//! ContractNLI, real contracts with requirements and evidence: conversion to golden records, and retrieval quality.

#[path = "../../../karat-documents/benches/retrieval/contract_nli.rs"]
mod contracts;

use crate::data::shared;
use crate::project::{Project, number};
use contracts::{Figures, Way, figures, read, ways};
use karat_core::assessment::record::{Compliance, Requirement};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

#[test]
fn contracts_are_converted_to_golden_records() {
    let Some(file) = shared("contract-nli/dev.json") else { return };
    let (contracts, queries) = read(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((contracts.len(), queries.len()), (61, 17));
    let all: Vec<&Requirement> = contracts.iter().flat_map(|contract| &contract.record.requirements).collect();
    let verdicts = |verdict: Compliance| all.iter().filter(|one| one.assessment == verdict).count();
    assert_eq!(all.len(), 1037);
    assert_eq!([Compliance::Yes, Compliance::NotApplicable, Compliance::No].map(verdicts), [519, 423, 95]);
    assert_eq!(all.iter().map(|one| one.evidence_parts().count()).sum::<usize>(), 1228);
    // Evidence is a clause of the contract, word for word, and clauses are unique.
    let ids = |one: &Requirement| one.evidence_parts().map(|(_, part)| part.id.clone()).collect::<BTreeSet<_>>();
    assert!(all.iter().all(|one| ids(one).len() == one.evidence_parts().count()));
    for contract in &contracts {
        for (_, part) in contract.record.requirements.iter().flat_map(Requirement::evidence_parts) {
            let at: usize = part.id.as_str().parse().unwrap();
            assert_eq!(part.text, contract.clauses[at].body);
        }
    }
}

/// The figures of docs/retrieval.md.
#[test]
fn search_finds_evidence_as_documented() {
    let Some(file) = shared("contract-nli/dev.json") else { return };
    let (contracts, queries) = read(&std::fs::read_to_string(file).unwrap()).unwrap();
    let figures = figures(&contracts.iter().collect::<Vec<_>>(), &queries).unwrap();
    let line = |(way, one): (&Way, &Figures)| {
        format!("{}: {:.4} {:.4} {:.4} of {}", way.name, one.recall, one.mrr, one.ndcg, one.requirements)
    };
    let lines: Vec<String> = ways().iter().zip(&figures).map(line).collect();
    let documented =
        ["words alone (BM25): 0.6939 0.5778 0.5328 of 614", "words, reranked: 0.7208 0.6649 0.6010 of 614"];
    assert_eq!(lines, documented);
}

/// A clause as one list item, so that nothing in it is parsed as markup. Three evidence clauses are empty.
fn clause_as_item(clause: &str) -> (String, String) {
    let line = clause.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = if line.chars().any(char::is_alphanumeric) { line } else { "(blank)".to_owned() };
    let escape = |c: char| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() };
    (line.chars().map(escape).collect(), line)
}

/// The contracts as records and documents on disk: the strict loader accepts them, and the command evaluates them.
#[test]
fn records_on_disk_are_checked_and_searched() {
    let Some(file) = shared("contract-nli/dev.json") else { return };
    let (contracts, queries) = read(&std::fs::read_to_string(file).unwrap()).unwrap();
    let project = Project::new();
    let requirement = |text: &str| json!({ "title": text, "description": text, "queries": { "en": text } });
    let requirements: Map<String, Value> =
        queries.iter().map(|query| (query.id.clone(), requirement(&query.text))).collect();
    // JSON is valid YAML.
    let template = json!({ "requirements": requirements, "search": { "language": "en" } });
    project.write("templates/nda/config.yml", template.to_string());
    for (at, contract) in contracts.iter().enumerate() {
        let clauses: Vec<(String, String)> =
            contract.clauses.iter().map(|clause| clause_as_item(&clause.body)).collect();
        let sections: String =
            clauses.iter().enumerate().map(|(n, (text, _))| format!("## Span {n}\n\n- {text}\n\n")).collect();
        project.write(&format!("nda/{at}/contract.md"), format!("# Contract\n\n{sections}"));
        let part = |n: usize| json!({ "document": "contract.md", "title": format!("Span {n}"), "text": clauses[n].1 });
        let one = |requirement: &Requirement| {
            let numbers = requirement.evidence_parts().map(|(_, part)| part.id.as_str().parse::<usize>().unwrap());
            let parts: Map<String, Value> = numbers.map(|n| (format!("span-{n}"), part(n))).collect();
            let value = json!({
                "assessment": requirement.assessment, "primary_evidence": parts, "supporting_evidence": {},
                "rationale": "As annotated."
            });
            (requirement.id.to_string(), value)
        };
        let requirements: Map<String, Value> = contract.record.requirements.iter().map(one).collect();
        let record = json!({
            "schema_version": "0.4", "bundle_id": format!("nda-{at}"), "template_id": "nda",
            "assumptions": { "question_answers": {} }, "requirements": requirements
        });
        project.write(&format!("nda/{at}/nda.golden-assessment.yml"), record.to_string());
    }
    let output = project.ok("check nda");
    let counts = "61 bundles, 1037 requirements (519 yes, 0 partial, 95 no, 423 not_applicable), 1228 golden parts";
    assert!(output.contains(counts), "{}", output.lines().last().unwrap_or_default());
    let words = "--bm25-weight 1 --no-rerank --resamples 200";
    let report = project.json(&format!("assess nda -r --stage retrieve {words} --json -q"));
    assert_eq!((number(&report, "/search/searches"), report["bundles"].as_array().unwrap().len()), (1037.0, 61));
    assert_eq!(number(&report, "/retrieval/metrics/retrieval_recall/n"), 1228.0);
    assert_eq!(number(&report, "/retrieval/metrics/recall_at_k/n"), 614.0);
    // By words alone over the bare clauses it is .694 (docs/retrieval.md); numbered headings change little.
    let recall = number(&report, "/retrieval/metrics/recall_at_k/value");
    assert!((recall - 0.694).abs() < 0.03, "{recall}");
}
