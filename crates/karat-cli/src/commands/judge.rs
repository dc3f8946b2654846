//! `karat judge`.

mod agree;
mod ask;
mod eval;
mod fit;
mod probe;
mod show;

use crate::args::JudgeCommand;
use crate::exit::{Exit, Failure};

/// Number of characters of an exchange's key that are shown; enough to find it.
const SHORT_KEY: usize = 12;

pub(crate) fn run(command: &JudgeCommand) -> Result<Exit, Failure> {
    match command {
        JudgeCommand::Agree(args) => agree::run(args),
        JudgeCommand::Ask(args) => ask::run(args),
        JudgeCommand::Show(args) => show::run(args),
        JudgeCommand::Probe(args) => probe::run(args),
        JudgeCommand::Fit(args) => fit::run(args),
        JudgeCommand::Eval(args) => eval::run(args),
    }
}
