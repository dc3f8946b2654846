//! `karat judge`: judges asked, probed, fitted and measured, and how far to trust them.

mod agree;
mod ask;
mod eval;
mod fit;
pub(super) mod labels;
mod probe;
mod show;

use crate::args::{JudgeArgs, JudgeCommand};
use crate::exit::{Exit, Failure};

/// So much of an exchange's key is shown, and enough to find it by.
const SHORT_KEY: usize = 12;

pub(crate) fn run(args: &JudgeArgs) -> Result<Exit, Failure> {
    match &args.command {
        JudgeCommand::Agree(args) => agree::run(args),
        JudgeCommand::Ask(args) => ask::run(args),
        JudgeCommand::Show(args) => show::run(args),
        JudgeCommand::Probe(args) => probe::run(args),
        JudgeCommand::Fit(args) => fit::run(args),
        JudgeCommand::Eval(args) => eval::run(args),
    }
}
