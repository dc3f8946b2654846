//! `karat judge`: judges fitted and measured, and how far to trust them.

mod agree;
mod eval;
mod fit;
mod labels;

use crate::args::{JudgeArgs, JudgeCommand};
use crate::exit::{Exit, Failure};

pub(crate) fn run(args: &JudgeArgs) -> Result<Exit, Failure> {
    match &args.command {
        JudgeCommand::Agree(args) => agree::run(args),
        JudgeCommand::Fit(args) => fit::run(args),
        JudgeCommand::Eval(args) => eval::run(args),
    }
}
