//! Compresses the cases into the page: an index that is unpacked at once, and details in portions that are unpacked when a
//! case is opened.

use super::detail::{DetailLevel, Lookup, case};
use super::index;
use crate::report_view::ReportView;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;

const BUDGET: usize = 13_000_000;
const PORTION: usize = 256 * 1024;
/// Cases that are in memory at once.
const BATCH: usize = 64;

/// The index, the portions, and what was left out to keep the page small enough to send.
pub(super) fn pack(view: &ReportView<'_>) -> (Markup, Markup, Option<&'static str>) {
    let lookup = Lookup::new(view);
    let (mut packed, mut leaves_out) = (Vec::new(), None);
    for (number, level) in DetailLevel::ALL.into_iter().enumerate() {
        let budget = if number + 1 < DetailLevel::ALL.len() { BUDGET } else { usize::MAX };
        leaves_out = level.leaves_out;
        if let Some(fitting) = portions(view, &lookup, level, budget) {
            packed = fitting;
            break;
        }
    }
    let mut portion_of = Vec::with_capacity(view.report.cases.len());
    for (number, (cases, _)) in packed.iter().enumerate() {
        portion_of.extend(std::iter::repeat_n(number, *cases));
    }
    let index = element("index", &compressed(&json(&index::build(view.report, &portion_of))));
    let portions = html! {
        @for (number, (_, text)) in packed.iter().enumerate() { (element(&format!("portion-{number}"), text)) }
    };
    (index, portions, leaves_out)
}

/// Each portion with its number of cases; `None` as soon as they are larger than the budget.
fn portions(
    view: &ReportView<'_>,
    lookup: &Lookup<'_>,
    level: DetailLevel,
    budget: usize,
) -> Option<Vec<(usize, String)>> {
    let all: Vec<usize> = (0..view.report.cases.len()).collect();
    let mut portions = Vec::new();
    for batch in all.chunks(BATCH) {
        let drawn: Vec<String> = batch.par_iter().map(|at| json(&case(view, lookup, *at, level))).collect();
        let mut groups: Vec<Vec<&str>> = Vec::new();
        let mut length = PORTION;
        for text in &drawn {
            if length >= PORTION {
                groups.push(Vec::new());
                length = 0;
            }
            length += text.len();
            groups.iter_mut().last().into_iter().for_each(|group| group.push(text));
        }
        let pack = |group: &Vec<&str>| (group.len(), compressed(&format!("[{}]", group.join(","))));
        portions.par_extend(groups.par_iter().map(pack));
        if portions.iter().map(|(_, text): &(usize, String)| text.len()).sum::<usize>() > budget {
            return None;
        }
    }
    Some(portions)
}

/// A data element that no browser runs as a script. Base64 needs no escaping.
fn element(id: &str, data: &str) -> Markup {
    html! { script type="application/octet-stream" id=(id) { (data) } }
}

fn json(value: &impl Serialize) -> String {
    // The packed data has no non-text keys and no NaN.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Compressed by gzip, in base64.
pub(super) fn compressed(text: &str) -> String {
    let mut out = GzEncoder::new(Vec::new(), Compression::new(6));
    // Writing to memory cannot fail.
    let done = out.write_all(text.as_bytes()).and_then(|()| out.finish());
    STANDARD.encode(done.unwrap_or_default())
}
