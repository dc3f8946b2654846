//! Rankings against judged documents.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct TrecArgs {
    /// The judgements; `-` is standard input.
    #[arg(value_name = "QRELS")]
    pub(crate) qrels: PathBuf,
    /// The ranking; `-` is standard input.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// A measure such as map, P, P_5 or P.3,7, or `all`; may be given again. The official ones where absent.
    #[arg(short = 'm', long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Show each topic too.
    #[arg(short = 'q', long)]
    pub(crate) per_query: bool,
    /// Count judged topics that the run lacks as 0, where they are else left out.
    #[arg(short = 'c', long)]
    pub(crate) complete: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
