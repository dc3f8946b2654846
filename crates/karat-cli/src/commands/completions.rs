//! `karat completions`: for a shell.

use crate::args::{Arguments, CompletionsArgs};
use crate::exit::{Exit, Failure};
use crate::terminal::print;
use clap::CommandFactory;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "karat", &mut out);
    print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Ok)
}
