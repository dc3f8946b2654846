//! `karat assess`, `logs`, `ingest` and `trec`.

use super::read::CACHE_MODES;
use super::{IntervalArgs, StorePlace, choice};
use clap::{Args, Subcommand};
use karat_format::assessment::StageV1::{self, Assess, Full, Retrieve};
use karat_llm::ledger::CacheMode;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct AssessArgs {
    /// Golden records, folders of them, or a suite.
    ///
    /// Golden records are files *.golden-assessment.yml; folders of them need -r; a suite is of kind `assessment`, or the name
    /// of a built-in one. Default: the current folder.
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub(crate) paths: Vec<String>,
    /// Search folders recursively.
    #[arg(short = 'r', long)]
    pub(crate) recursive: bool,
    /// Name of the stored assessment.
    ///
    /// `karat report`, `compare` and `gate` take it by this name.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Stage to measure: retrieve, assess or full.
    #[arg(long, value_name = "STAGE", default_value = "full", hide_default_value = true, hide_possible_values = true)]
    #[arg(value_parser = choice(&[("retrieve", Retrieve), ("assess", Assess), ("full", Full)]))]
    pub(crate) stage: StageV1,
    /// Assessor; repeatable.
    ///
    /// A name under llm_endpoints of the template, PROVIDER/MODEL, or baseline, which is rule-based and needs no model.
    /// Default: baseline.
    #[arg(long, value_name = "NAME")]
    pub(crate) evaluation: Vec<String>,
    /// Assess only this requirement; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) requirement: Vec<String>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Cache parsed documents under this name.
    ///
    /// The next assessment with this name reuses the unchanged ones, and those whose files are gone. `karat ingest` also fills it.
    #[arg(long, value_name = "ID", value_parser = session)]
    pub(crate) session: Option<String>,
    /// Ledger of model exchanges: read-write … off.
    ///
    /// read-write, read, only (no model is called; an unrecorded exchange is an error), or off.
    #[arg(long, value_name = "MODE", default_value = "read-write", hide_default_value = true)]
    #[arg(hide_possible_values = true, value_parser = choice(CACHE_MODES))]
    pub(crate) judge_cache: CacheMode,
    #[command(flatten)]
    pub(crate) intervals: IntervalArgs,
    /// Random seed; default: derived from the data.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Differences of models counted as none.
    ///
    /// Differences between models within ± this are equivalent.
    #[arg(long, value_name = "X", default_value_t = karat_core::comparison::MARGIN)]
    pub(crate) margin: f64,
    /// Refuse unreadable documents and inexact goldens.
    ///
    /// Without it, the former are left out with exit code 4, and goldens that differ slightly from their document are warnings.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print the whole report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write to .json .md .csv .html; repeatable.
    ///
    /// The file's extension selects the format of the report.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Write retrieval results as TREC files.
    ///
    /// The folder receives run.txt and qrels.txt, for `karat trec` and trec_eval.
    #[arg(long, value_name = "DIR")]
    pub(crate) trec: Option<PathBuf>,
}

fn session(text: &str) -> Result<String, String> {
    match text.trim().is_empty() || text.chars().any(char::is_control) || text.chars().count() > 100 {
        true => Err("expected a name of at most 100 characters, none of them a control character".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Retrieval options. Default: the template's value, else the built-in one.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Embedding model; default: none.
    ///
    /// none, a name under embedding_providers of the template, or a folder with a model.
    #[arg(long, value_name = "NAME")]
    pub(crate) embedding: Option<String>,
    /// Reranking model; default: embedded.
    ///
    /// embedded, none, a name under rerank_providers of the template, or a folder with a model.
    #[arg(long, value_name = "NAME")]
    pub(crate) reranking: Option<String>,
    /// Number of candidates of each search.
    ///
    /// This many come from the word search and from the vector search each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) search_limit: Option<u32>,
    /// Weight of the word search, from 0 to 1.
    ///
    /// The word search is BM25; at 1, no vectors are computed.
    #[arg(long, value_name = "W")]
    pub(crate) bm25_weight: Option<f64>,
    /// Number of parts shown to an assessor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rerank_top_n: Option<u32>,
    /// Minimum characters in a part's body.
    #[arg(long, value_name = "N")]
    pub(crate) min_candidate_length: Option<u32>,
    /// Keep candidates in retrieval order.
    #[arg(long, conflicts_with = "reranking")]
    pub(crate) no_rerank: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogsCommand {
    /// Summarise one execution.
    ///
    /// Calls, tokens, times and failures, by stage and model.
    #[command(
        after_help = "Examples:\n  karat logs summarize --run latest\n  karat logs summarize --run 01a1ddc8 --json"
    )]
    Summarize {
        /// Name of the assessment, id, id prefix, or `latest`.
        #[arg(long, value_name = "ID")]
        run: String,
        #[command(flatten)]
        store: StorePlace,
        /// Print everything as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List executions with a log, oldest first.
    #[command(after_help = "Example:\n  karat logs list")]
    List {
        #[command(flatten)]
        store: StorePlace,
        /// Print everything as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Documents: .md, .docx or .pdf.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Keep the parsed documents under this name.
    ///
    /// `karat assess --session` with this name no longer needs their files.
    #[arg(long, value_name = "ID", value_parser = session)]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrecArgs {
    /// Relevance judgements; `-` is standard input.
    #[arg(value_name = "QRELS")]
    pub(crate) qrels: PathBuf,
    /// Ranking; `-` is standard input.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Measure such as map, P_5 or all; repeatable.
    ///
    /// A measure may have cut-offs, such as P.3,7. Default: the official measures.
    #[arg(short = 'm', long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Also show each topic.
    #[arg(short = 'q', long)]
    pub(crate) per_query: bool,
    /// Count topics missing from the run as 0.
    ///
    /// By default, judged topics that the run does not have are skipped.
    #[arg(short = 'c', long)]
    pub(crate) complete: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
