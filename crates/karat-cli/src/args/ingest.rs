//! Documents taken apart.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Documents: .md, .docx or .pdf.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print the text of each section too, and its id.
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
