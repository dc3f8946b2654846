//! Judgements and runs: read or refused whole, and measured within bounds.

use super::document::check_faults;
use karat::trec::{Evaluated, draw, read_qrels, read_run};
use karat_core::trec::{Evaluation, Measure};
use karat_format::recorded::NamedLines;

/// Judgements and a run, parted by the first byte 0: each is taken, or refused with places in it; every share lies between 0 and 1.
pub fn check(bytes: &[u8]) {
    let (qrels, run) = match bytes.iter().position(|byte| *byte == 0) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, bytes),
    };
    let (qrels, run) = match (read_qrels(lines(qrels)), read_run(lines(run))) {
        (Ok(qrels), Ok((run, _))) => (qrels, run),
        (left, right) => {
            left.err().iter().for_each(|faults| check_faults(&faults.0, qrels));
            right.err().iter().for_each(|faults| check_faults(&faults.0, run));
            return;
        }
    };
    let evaluation = Evaluation::new(&qrels, &run);
    assert_eq!(evaluation.topics.len() + evaluation.unjudged.len(), run.topics.len());
    let measures = Measure::parse("all").unwrap_or_default();
    for measure in measures.iter().filter(|measure| !measure.family.is_count()) {
        for complete in [false, true] {
            let value = evaluation.over_all(*measure, complete);
            assert!((0.0..=1.0 + 1e-9).contains(&value), "{} is {value}", measure.name());
        }
    }
    let drawn = draw(&Evaluated::new(&evaluation, &measures, true, false), true);
    assert!(!drawn.contains('\u{1b}'), "a terminal escape came through");
}

fn lines(bytes: &[u8]) -> NamedLines<'_> {
    NamedLines { file: "in.txt".to_owned(), reader: Box::new(bytes) }
}
