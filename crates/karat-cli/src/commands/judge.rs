//! `karat judge`: who decides, and how far to trust them.

mod agree;

use crate::args::{JudgeArgs, JudgeCommand};
use crate::exit::{Exit, Failure};

pub(crate) fn run(args: &JudgeArgs) -> Result<Exit, Failure> {
    match &args.command {
        JudgeCommand::Agree(args) => agree::run(args),
    }
}
