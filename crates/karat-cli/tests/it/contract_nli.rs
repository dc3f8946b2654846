//! Real contracts with requirements and evidence: what they hold, and how much of it the search finds.

#[path = "../../../karat/benches/retrieval/contract_nli.rs"]
mod contracts;

use crate::data::shared;
use contracts::{Contract, Figures, figures, read, ways};
use karat_core::assessment::record::{Compliance, Requirement};

/// Every so many contracts are searched here; `cargo bench -p karat --bench retrieval -- contract-nli` searches all of them.
const EVERY: usize = 4;

#[test]
fn contracts_become_golden_records() {
    let Some(file) = shared("contract-nli/dev.json") else { return };
    let (contracts, queries) = read(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((contracts.len(), queries.len()), (61, 17));
    let all: Vec<&Requirement> = contracts.iter().flat_map(|contract| &contract.record.requirements).collect();
    let verdicts = |verdict: Compliance| all.iter().filter(|one| one.assessment == verdict).count();
    assert_eq!(all.len(), 1037);
    assert_eq!([Compliance::Yes, Compliance::NotApplicable, Compliance::No].map(verdicts), [519, 423, 95]);
    assert_eq!(all.iter().map(|one| one.evidence_parts().count()).sum::<usize>(), 1228);
    // Evidence is a clause of the contract, word for word, and no clause stands twice.
    assert!(all.iter().all(|one| one.repeated_parts().is_empty()));
    for contract in &contracts {
        for (_, part) in contract.record.requirements.iter().flat_map(Requirement::evidence_parts) {
            let at: usize = part.id.as_str().parse().unwrap();
            assert_eq!(part.text, contract.clauses[at].body);
        }
    }
}

#[test]
fn both_halves_find_no_less_than_the_better_of_them() {
    let Some(file) = shared("contract-nli/dev.json") else { return };
    let (contracts, queries) = read(&std::fs::read_to_string(file).unwrap()).unwrap();
    let some: Vec<&Contract> = contracts.iter().step_by(EVERY).collect();
    let figures = figures(&some, &queries).unwrap();
    for (way, figures) in ways().iter().zip(&figures) {
        eprintln!("{:24} {figures:?}", way.name);
    }
    let [words, vectors, both, reranked, _]: [Figures; 5] = figures.try_into().unwrap();
    assert_eq!(words.requirements, 170);
    assert!(both.recall >= words.recall.max(vectors.recall) - 0.01, "{both:?}");
    // What the reranker adds is much, and must not get lost unnoticed.
    assert!(reranked.recall >= both.recall && reranked.ndcg >= both.ndcg + 0.05, "{reranked:?}");
}
