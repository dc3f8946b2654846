//! `karat completions`.

use crate::args::{self, CompletionsArgs};
use crate::exit::{Exit, Failure};
use crate::terminal::print;

pub(crate) fn run(completions: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut out = Vec::new();
    clap_complete::generate(completions.shell, &mut args::command(), "karat", &mut out);
    print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Ok)
}
