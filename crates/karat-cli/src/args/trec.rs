//! `karat trec`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct TrecArgs {
    /// Relevance judgements; `-` is standard input.
    #[arg(value_name = "QRELS")]
    pub(crate) qrels: PathBuf,
    /// Ranking; `-` is standard input.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Measure such as map, P, P_5 or P.3,7, or `all`; repeatable; default: the official measures.
    #[arg(short = 'm', long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Also show each topic.
    #[arg(short = 'q', long)]
    pub(crate) per_query: bool,
    /// Count judged topics missing from the run as 0; by default, they are skipped.
    #[arg(short = 'c', long)]
    pub(crate) complete: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
