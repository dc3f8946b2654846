//! Why a tool cannot be run.

use crate::tool::placeholders::PlaceholderError;
use karat_llm::engine::EngineError;
use karat_llm::provider::ProviderError;
use karat_sandbox::SandboxError;
use std::io;

/// Why a tool cannot be run at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadyError {
    /// The program is not there.
    #[error("the program `{program}` was not found on the PATH{}", install.as_ref().map(|how| format!("; install it with: {how}")).unwrap_or_default())]
    NoProgram {
        /// The program.
        program: String,
        /// How to install it.
        install: Option<String>,
    },
    /// The program lies where no tool may look.
    #[error("{program} lies in the suite or the store, which no tool may see; keep it elsewhere")]
    InsideSecret {
        /// The program.
        program: String,
    },
    /// The set-up command failed.
    #[error("its set-up command failed: {why}")]
    SetupFailed {
        /// What happened.
        why: String,
    },
    /// None of the variables it asks for is set.
    #[error("it needs {names}, which is not set; set it in the environment that Karat is started from")]
    NoVariable {
        /// The variables.
        names: String,
    },
    /// Something it is to read or write would give the goldens away.
    #[error(
        "`{path}` would let it see the suite or the store, which no tool may; take it out of `expose` and `writable`"
    )]
    Reveals {
        /// The path.
        path: String,
    },
    /// Something it is to write to is not there.
    #[error("`{path}`, which it is to write to, does not exist; make it, or take it out of `writable`")]
    Missing {
        /// The path.
        path: String,
    },
    /// There is no room left for trials, which is nobody's fault but the disk's.
    #[error("less than 1 MiB free in {folder}; free some space, or name another folder with TMPDIR")]
    DiskFull {
        /// Where trials take place.
        folder: String,
    },
    /// A checkout could not be prepared.
    #[error("the checkout of {case} could not be created: {source}")]
    Checkout {
        /// The case.
        case: String,
        /// What the system said.
        source: io::Error,
    },
    /// A placeholder has no value.
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    /// The system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The sandbox could not be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The model cannot be asked as things are.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The model cannot be asked any more.
    #[error(transparent)]
    Asking(#[from] EngineError),
    /// The run was stopped before the tool was ready.
    #[error("the run was stopped")]
    Cancelled,
}

impl ReadyError {
    pub(super) fn is_full_disk(&self) -> bool {
        match self {
            Self::DiskFull { .. } => true,
            Self::Io(error) => matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded),
            _ => false,
        }
    }
}
