//! Documents against requirements, and the logs of that.

use super::{IntervalArgs, StorePlace};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct AssessArgs {
    /// Golden records (*.golden-assessment.yml), folders of them with -r, a suite of kind `assessment`, or the name of a built-in
    /// one.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<String>,
    /// Look for golden records in folders and all folders below.
    #[arg(short = 'r', long)]
    pub(crate) recursive: bool,
    /// What to measure: retrieve, assess or full.
    #[arg(long, value_name = "STAGE", default_value = "full", hide_default_value = true)]
    #[arg(value_parser = ["retrieve", "assess", "full"], hide_possible_values = true)]
    pub(crate) stage: String,
    /// Who assesses: a name under llm_endpoints of the template, PROVIDER/MODEL, or baseline, which goes by rules and needs no
    /// model; may be given again. baseline where absent.
    #[arg(long, value_name = "NAME")]
    pub(crate) evaluation: Vec<String>,
    /// Only this requirement; may be given again.
    #[arg(long, value_name = "ID")]
    pub(crate) requirement: Vec<String>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Keep documents as they were read under this name, and take what has not changed from there the next time.
    #[arg(long, value_name = "ID", value_parser = session)]
    pub(crate) session: Option<String>,
    /// What is done with the ledger of exchanges with models: read-write, read, only (nobody is asked; what is not recorded is
    /// an error), or off.
    #[arg(long, value_name = "MODE", default_value = "read-write", hide_default_value = true)]
    #[arg(value_parser = ["read-write", "read", "only", "off"], hide_possible_values = true)]
    pub(crate) judge_cache: String,
    #[command(flatten)]
    pub(crate) intervals: IntervalArgs,
    /// Where random numbers start from; from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Differences between models within ± this do not matter.
    #[arg(long, value_name = "X", default_value_t = karat_core::comparison::MARGIN)]
    pub(crate) margin: f64,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print the whole report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every golden part, what was found, and what was cited.
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
    /// Write the report to a file too, by its extension .json, .md, .csv or .html; may be given again.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Write what was found as run.txt and qrels.txt into this folder, for `karat trec` and trec_eval.
    #[arg(long, value_name = "DIR")]
    pub(crate) trec: Option<PathBuf>,
    /// Tell nothing on the way.
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
}

/// A name that people type and lists show.
fn session(text: &str) -> Result<String, String> {
    match text.trim().is_empty() || text.chars().any(char::is_control) || text.chars().count() > 100 {
        true => Err("expected a name of at most 100 characters, none of them a control character".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// How documents are searched. What is not given is the template's, or the usual.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What turns texts into vectors: embedded, none, a name under embedding_providers of the template, or a folder with a
    /// model.
    #[arg(long, value_name = "NAME")]
    pub(crate) embedding: Option<String>,
    /// What puts candidates into a better order: embedded, none, a name under rerank_providers, or a folder with a model.
    #[arg(long, value_name = "NAME")]
    pub(crate) reranking: Option<String>,
    /// How many candidates each half of the search gives.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) search_limit: Option<u32>,
    /// The weight of words against that of vectors, from 0 to 1; at 1 no vectors are made.
    #[arg(long, value_name = "W")]
    pub(crate) bm25_weight: Option<f64>,
    /// How many parts an assessor is shown.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rerank_top_n: Option<u32>,
    /// The fewest characters of a part's body.
    #[arg(long, value_name = "N")]
    pub(crate) min_candidate_length: Option<u32>,
    /// Leave candidates in the order in which they were found.
    #[arg(long, conflicts_with = "reranking")]
    pub(crate) no_rerank: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    #[command(subcommand)]
    pub(crate) command: LogsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogsCommand {
    /// Sum up one execution: calls, tokens, times and failures, by stage and model.
    #[command(
        after_help = "Examples:\n  karat logs summarize --run latest\n  karat logs summarize --run 01a1ddc8 --json"
    )]
    Summarize {
        /// The id, the beginning of one, or `latest`.
        #[arg(long, value_name = "ID")]
        run: String,
        #[command(flatten)]
        store: StorePlace,
        /// Print everything as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the executions that left a log, the oldest first.
    #[command(after_help = "Example:\n  karat logs list")]
    List {
        #[command(flatten)]
        store: StorePlace,
        /// Print everything as JSON.
        #[arg(long)]
        json: bool,
    },
}
