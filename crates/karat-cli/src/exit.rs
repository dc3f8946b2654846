//! All exit codes.

pub(crate) use karat::failure::{Category, Failure, Result};
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// A gate or an expectation failed.
    NotMet = 1,
    Usage = 2,
    /// The data allows no conclusion.
    Inconclusive = 3,
    BadInput = 4,
    /// A tool, a judge, the store or the system failed.
    Failed = 5,
    /// A bug in Karat.
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
