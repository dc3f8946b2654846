//! `karat judge`: judges fitted and measured.

mod eval;
mod fit;
mod labels;

use crate::args::{JudgeArgs, JudgeCommand};
use crate::exit::{Exit, Failure};

pub(crate) fn run(args: &JudgeArgs) -> Result<Exit, Failure> {
    match &args.command {
        JudgeCommand::Fit(args) => fit::run(args),
        JudgeCommand::Eval(args) => eval::run(args),
    }
}
