//! How fast documents are searched, and how well.
//!
//! `cargo bench -p karat --bench retrieval` draws 10,000 sections and 1,000 queries from a fixed seed, indexes the sections by
//! their words and answers the queries. With `KARAT_BENCH_PYTHON` naming a Python that has bm25s, bm25s does the same with the
//! same texts, and the command fails where it is faster. Set it up by
//! `python3 -m venv /tmp/karat-bm25s && /tmp/karat-bm25s/bin/pip install bm25s numba PyStemmer`.
//! `cargo bench -p karat --bench retrieval -- contract-nli FILE` searches the contracts of ContractNLI in every way there is.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and may stop at the first fault")]

mod contract_nli;

use karat_core::stats::random::Random;
use karat_documents::retrieval::{Analysis, Index, Language, Passage, SearchOptions};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

const SECTIONS: usize = 10_000;
const QUERIES: usize = 1_000;
const VOCABULARY: usize = 30_000;
const TOP: usize = 10;
const RUNS: usize = 5;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("contract-nli") => contracts(arguments.get(1).map(String::as_str)),
        _ => race(),
    }
}

fn contracts(file: Option<&str>) -> ExitCode {
    let Some(file) = file else {
        println!("skipped: name the file, as in -- contract-nli /path/to/contract-nli/dev.json");
        return ExitCode::SUCCESS;
    };
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let (contracts, queries) = contract_nli::read(&text).expect("the file is ContractNLI's");
    let start = Instant::now();
    let all: Vec<_> = contracts.iter().collect();
    let figures = contract_nli::figures(&all, &queries).expect("the contracts can be searched");
    let evidence: usize =
        contracts.iter().flat_map(|contract| &contract.record.requirements).map(|one| one.primary.len()).sum();
    let clauses: usize = contracts.iter().map(|contract| contract.clauses.len()).sum();
    println!("{} contracts, {clauses} clauses, {evidence} of them evidence", contracts.len());
    println!("| | recall@10 | MRR | nDCG@10 |");
    println!("|---|--:|--:|--:|");
    for (way, one) in contract_nli::ways().iter().zip(&figures) {
        println!("| {} | {:.4} | {:.4} | {:.4} |", way.name, one.recall, one.mrr, one.ndcg);
    }
    println!("{:.1} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

/// Texts of made-up words, a few of which are in most texts and most in few, as words are.
struct Texts {
    words: Vec<String>,
    /// The sum of the weights of all words up to each.
    sums: Vec<f64>,
}

impl Texts {
    fn new() -> Self {
        let mut random = Random::new(1, 0);
        let syllables: Vec<String> =
            "bcdfglmnprstv".chars().flat_map(|c| "aeiou".chars().map(move |v| format!("{c}{v}"))).collect();
        let word = |_| (0..2 + random.below(3)).map(|_| syllables[random.below(syllables.len())].as_str()).collect();
        let words = (0..VOCABULARY).map(word).collect();
        let mut sum = 0.0;
        let weight = |rank: usize| {
            sum += 1.0 / (rank as f64 + 2.7);
            sum
        };
        Self { words, sums: (0..VOCABULARY).map(weight).collect() }
    }

    fn text(&self, random: &mut Random, words: usize) -> String {
        let all = self.sums.last().copied().unwrap_or_default();
        let draw = |_| {
            let at = random.unit() * all;
            self.words[self.sums.partition_point(|sum| *sum <= at).min(VOCABULARY - 1)].as_str()
        };
        (0..words).map(draw).collect::<Vec<_>>().join(" ")
    }
}

fn race() -> ExitCode {
    let (texts, mut random) = (Texts::new(), Random::new(1, 1));
    let sections: Vec<String> = (0..SECTIONS)
        .map(|_| {
            let words = 40 + random.below(240);
            texts.text(&mut random, words)
        })
        .collect();
    let queries: Vec<String> = (0..QUERIES)
        .map(|_| {
            let words = 6 + random.below(14);
            texts.text(&mut random, words)
        })
        .collect();
    let passages: Vec<Passage> =
        sections.iter().map(|body| Passage { heading: String::new(), body: body.clone() }).collect();
    let analysis = Analysis::new(Language::by_name("en").expect("English"), &[]);
    let options = SearchOptions {
        bm25_weight: 1.0,
        search_limit: TOP,
        rerank_top_n: TOP,
        rerank: false,
        ..SearchOptions::default()
    };
    let run = || {
        let start = Instant::now();
        let index = Index::new(&passages, &analysis, None).expect("an index");
        let indexed = start.elapsed().as_secs_f64();
        let searched = index.search(&queries, &options, None, None).expect("an answer");
        (indexed, start.elapsed().as_secs_f64() - indexed, searched)
    };
    let mut best = run();
    for _ in 1..RUNS {
        let again = run();
        (best.0, best.1) = (best.0.min(again.0), best.1.min(again.1));
    }
    let (index, search, searched) = best;
    println!(
        "{SECTIONS} sections and {QUERIES} queries, the first {TOP}, best of {RUNS}, {} threads:",
        rayon::current_num_threads()
    );
    println!("karat: index {index:.3} s, search {search:.3} s, together {:.3} s", index + search);
    let Ok(python) = std::env::var("KARAT_BENCH_PYTHON") else {
        println!("bm25s: skipped: KARAT_BENCH_PYTHON does not name a Python with bm25s");
        return ExitCode::SUCCESS;
    };
    let found: Vec<Vec<usize>> = searched.ranked.iter().map(|hits| hits.iter().map(|hit| hit.part).collect()).collect();
    beside(&python, &json!({ "sections": sections, "queries": queries, "found": found, "top": TOP }), index, search)
}

/// bm25s with the same texts.
fn beside(python: &str, given: &Value, index: f64, search: f64) -> ExitCode {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/search_bm25s.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
    child.stdin.take().expect("a pipe").write_all(given.to_string().as_bytes()).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    let mut ahead = output.status.success();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let one: Value = serde_json::from_str(line).expect("a line of JSON");
        let number = |name: &str| one[name].as_f64().unwrap_or(f64::NAN);
        let (own_index, own_search) = (number("index"), number("search"));
        let together = own_index + own_search;
        println!(
            "bm25s, {}: index {own_index:.3} s, search {own_search:.3} s, together {together:.3} s; karat is {:.1}, {:.1} and {:.1} \
             times as fast; {:.1} % of the hits are the same",
            one["name"].as_str().unwrap_or_default(),
            own_index / index,
            own_search / search,
            together / (index + search),
            100.0 * number("shared"),
        );
        ahead &= together > index + search;
    }
    if ahead { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
