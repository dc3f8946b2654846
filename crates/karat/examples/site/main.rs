//! Builds the documentation as a site of plain files: `scripts/site OUT`.
//!
//! Every page of [`plan::SECTIONS`] becomes one HTML file in the shell that reports use. Pages load nothing, not even from
//! each other, so they work from a folder, from a server and from an archive alike. A link that leads nowhere, an anchor that
//! is not there or a page that no list names is a fault, and a site with faults is not written.

mod check;
mod layout;
mod links;
mod markdown;
mod outline;
mod plan;
mod schemas;
mod search;
mod source;
mod write;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]
fn main() -> ExitCode {
    let out = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/site"), PathBuf::from);
    match build(&root(), &out) {
        Ok(pages) => {
            println!("{pages} pages are in {}; start with index.html", out.display());
            ExitCode::SUCCESS
        }
        Err(faults) => {
            faults.iter().for_each(|fault| eprintln!("error: {fault}"));
            eprintln!("\n{} to mend; nothing was written", faults.len());
            ExitCode::FAILURE
        }
    }
}

/// The whole site of a repository, written to a folder; how many pages it has, or everything that is wrong.
fn build(root: &Path, out: &Path) -> Result<usize, Vec<String>> {
    let sources = source::read(root)?;
    let pages = check::pages(root, &sources)?;
    write::site(root, out, &pages).map_err(|fault| vec![fault])?;
    Ok(pages.len())
}

/// The repository that this was built from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[cfg(test)]
mod tests;
