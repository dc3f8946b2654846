//! What a search found in the text formats of the Text REtrieval Conferences, for other programs to measure.

use super::search::{Looked, Sought};
use karat_core::assessment::retrieval::{Place, Retrieval};

/// A run, and the judgements it is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trec {
    /// `topic Q0 document rank score name`, a line each.
    pub run: String,
    /// `topic 0 document relevance`, a line each.
    pub qrels: String,
}

/// The name of the run in its lines.
const NAME: &str = "karat";

/// Topics are requirements, documents are golden parts and the others that were found. A golden part stands where it is first found
/// whole; a part that holds several takes as many places. So measured, the figures are those of the report.
pub fn trec(looked: &[Looked<'_>]) -> Trec {
    let mut trec = Trec::default();
    for bundle in looked {
        for sought in &bundle.sought {
            let own = bundle.corpus.bundle;
            let topic = plain(&format!("{}/{}/{}", own.template.id, own.record.bundle, sought.requirement.id));
            let golden: Vec<String> =
                sought.requirement.evidence_parts().map(|(_, part)| plain(&format!("golden:{}", part.id))).collect();
            trec.qrels.extend(golden.iter().map(|part| format!("{topic} 0 {part} 1\n")));
            let places = Retrieval::new(&sought.matches, &sought.ranked()).places();
            for (at, place) in places.iter().enumerate() {
                let document = match place {
                    Place::Golden(part) => golden[*part].clone(),
                    Place::Other(rank) => other(bundle, sought, *rank),
                };
                // Scores only say the order; those of several stages could not be held against each other.
                trec.run.push_str(&format!("{topic} Q0 {document} {} {} {NAME}\n", at + 1, places.len() - at));
            }
        }
    }
    trec
}

fn other(bundle: &Looked<'_>, sought: &Sought<'_>, rank: usize) -> String {
    let part = &bundle.corpus.parts[sought.hits[rank - 1].part];
    plain(&format!("{}:{}", part.document, part.section.id))
}

/// A name without blanks, which part the columns of these formats; other names stay other names.
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
