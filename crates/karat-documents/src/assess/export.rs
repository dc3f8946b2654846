//! Exports search results as TREC run and qrels files.

use super::search::{RequirementSearch, SearchedBundle};
use karat_core::assessment::retrieval::{RankedItem, Retrieval};

/// A run and its relevance judgements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trec {
    /// Lines of `topic Q0 document rank score name`.
    pub run: String,
    /// Lines of `topic 0 document relevance`.
    pub qrels: String,
}

const NAME: &str = "karat";

/// Topics are requirements; documents are golden parts and other retrieved parts. A golden part is ranked where it is first
/// found completely; a part with several takes as many ranks. Measures computed from these files equal those of the report.
pub fn trec(bundles: &[SearchedBundle<'_>]) -> Trec {
    let mut trec = Trec::default();
    for bundle in bundles {
        for search in &bundle.requirements {
            let own = bundle.corpus.bundle;
            let topic = plain(&format!("{}/{}/{}", own.template.id, own.record.bundle, search.requirement.id));
            let golden: Vec<String> =
                search.requirement.evidence_parts().map(|(_, part)| plain(&format!("golden:{}", part.id))).collect();
            trec.qrels.extend(golden.iter().map(|part| format!("{topic} 0 {part} 1\n")));
            let places = Retrieval::new(&search.matches, &search.ranked()).places();
            for (at, place) in places.iter().enumerate() {
                let document = match place {
                    RankedItem::Golden(part) => golden[*part].clone(),
                    RankedItem::Other(rank) => other(bundle, search, *rank),
                };
                // Scores only state the order; those of different stages are not comparable.
                trec.run.push_str(&format!("{topic} Q0 {document} {} {} {NAME}\n", at + 1, places.len() - at));
            }
        }
    }
    trec
}

fn other(bundle: &SearchedBundle<'_>, search: &RequirementSearch<'_>, rank: usize) -> String {
    let part = &bundle.corpus.parts[search.hits[rank - 1].part];
    plain(&format!("{}:{}", part.document, part.section.id))
}

/// Escapes blanks, which separate columns, keeping names distinct.
fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '%' => out.push_str("%25"),
            c if c.is_whitespace() || c.is_control() => out.push_str(&format!("%{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
