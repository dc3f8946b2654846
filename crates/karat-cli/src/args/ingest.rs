//! `karat ingest`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Documents: .md, .docx or .pdf.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Also print the text and id of each section.
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
