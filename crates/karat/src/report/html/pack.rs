//! The cases inside the page: an index that is unpacked at once, and the details of a few cases at a time, which wait until
//! somebody opens one of them.

use super::detail::{Fullness, Lookup, case};
use super::index;
use crate::report::exhibit::Exhibit;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;

/// All cases, ready to be put into a page.
pub(super) struct Packed {
    /// An element with what the grid shows.
    pub(super) index: String,
    /// Elements with the details of cases. They come last, so that a browser has shown all else before it reads them.
    pub(super) portions: String,
    /// What was left out so that the page stays small enough to be sent around; nothing where all is there.
    pub(super) left_out: Option<&'static str>,
}

/// A page should stay below this.
const BUDGET: usize = 13_000_000;
/// Details are packed together until they are this long: what a browser unpacks in a moment.
const PORTION: usize = 256 * 1024;
/// So many cases are worked on at once.
const BATCH: usize = 512;

/// Packs as much as fits.
pub(super) fn pack(exhibit: &Exhibit<'_>) -> Packed {
    let lookup = Lookup::of(exhibit);
    let mut packed = None;
    for fullness in Fullness::ALL {
        let portions = portions(exhibit, &lookup, fullness);
        let fits = portions.iter().map(|portion| portion.text.len()).sum::<usize>() <= BUDGET;
        let done = fits || fullness.is_last();
        packed = Some((portions, fullness));
        if done {
            break;
        }
    }
    let (portions, fullness) = packed.unwrap_or((Vec::new(), Fullness::ALL[0]));
    let mut portion_of = Vec::with_capacity(exhibit.report.cases.len());
    for (number, portion) in portions.iter().enumerate() {
        portion_of.extend(std::iter::repeat_n(number, portion.cases));
    }
    let index = element("index", &compressed(&json(&index::of(exhibit.report, &portion_of))));
    let numbered = portions.iter().enumerate();
    let portions = numbered.map(|(number, portion)| element(&format!("portion-{number}"), &portion.text)).collect();
    Packed { index, portions, left_out: fullness.leaves_out() }
}

struct Portion {
    cases: usize,
    text: String,
}

fn portions(exhibit: &Exhibit<'_>, lookup: &Lookup<'_>, fullness: Fullness) -> Vec<Portion> {
    let all: Vec<usize> = (0..exhibit.report.cases.len()).collect();
    let mut portions = Vec::new();
    for batch in all.chunks(BATCH) {
        let drawn: Vec<String> = batch.par_iter().map(|at| json(&case(exhibit, lookup, *at, fullness))).collect();
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
        let pack =
            |group: &Vec<&str>| Portion { cases: group.len(), text: compressed(&format!("[{}]", group.join(","))) };
        portions.par_extend(groups.par_iter().map(pack));
    }
    portions
}

/// A place for data that no browser takes for a script.
fn element(id: &str, data: &str) -> String {
    format!("<script type=\"application/octet-stream\" id=\"{id}\">{data}</script>\n")
}

fn json(value: &impl Serialize) -> String {
    // Maps with keys that are no text, and numbers that are none, do not occur in what is packed.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn compressed(text: &str) -> String {
    let mut out = GzEncoder::new(Vec::new(), Compression::new(6));
    // Memory takes all that is written to it.
    let done = out.write_all(text.as_bytes()).and_then(|()| out.finish());
    STANDARD.encode(done.unwrap_or_default())
}
