//! Every exit code, and what leads to it.

pub(crate) use karat::failure::{Category, Failure};
use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Ok = 0,
    /// A gate is not met, or an expectation failed.
    NotMet = 1,
    /// The command was called wrongly.
    Usage = 2,
    /// The data cannot tell.
    Inconclusive = 3,
    /// An input is bad.
    BadInput = 4,
    /// A tool, a judge, the store or the system failed.
    Failed = 5,
    /// Karat itself is at fault.
    Internal = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Category> for Exit {
    fn from(category: Category) -> Self {
        match category {
            Category::Usage => Self::Usage,
            Category::BadInput => Self::BadInput,
            Category::Failed => Self::Failed,
            Category::Internal => Self::Internal,
        }
    }
}
