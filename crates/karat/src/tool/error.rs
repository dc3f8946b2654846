//! Why a tool cannot be used, or cannot be run.

use super::manifest::ManifestFault;
use super::placeholders::PlaceholderError;
use karat_core::ids::ToolName;
use karat_format::diagnostic::Faults;
use karat_import::ImportError;
use karat_llm::engine::EngineError;
use karat_llm::provider::ProviderError;
use karat_sandbox::SandboxError;
use std::io;

/// Why a tool cannot be used as it is declared.
#[derive(Debug, thiserror::Error)]
#[error("the tool `{tool}`: {fault}")]
#[expect(missing_docs, reason = "field names say it")]
pub struct LoadError {
    pub tool: String,
    pub fault: LoadFault,
}

/// What is wrong with the declaration of a tool, or with a file that it names.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum LoadFault {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Manifest(Vec<ManifestFault>),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error(transparent)]
    RuleMap(#[from] ImportError),
    #[error("its rules cannot be used: {0}")]
    Rules(#[from] Faults),
    #[error("{file}: {why}")]
    File { file: String, why: String },
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RecordingError {
    #[error("{file}: {source}")]
    Io { file: String, source: io::Error },
    #[error(transparent)]
    Faults(#[from] Faults),
    #[error("{file} contains no trial of {tool}; it contains {}", if there.is_empty() { "none".to_owned() } else { format!("those of {}", there.join(", ")) })]
    NoTrials { file: String, tool: ToolName, there: Vec<String> },
}

/// Why a tool cannot be run at all.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ReadyError {
    #[error("the program `{program}` was not found on the PATH{}", install.as_ref().map(|how| format!("; install it with: {how}")).unwrap_or_default())]
    NoProgram { program: String, install: Option<String> },
    #[error("{program} is in the suite or the store, which no tool may see; keep it elsewhere")]
    InsideSecret { program: String },
    #[error("its set-up command failed: {why}")]
    SetupFailed { why: String },
    #[error("it needs {names}, which is not set; set it in the environment that Karat is started from")]
    NoVariable { names: String },
    #[error(
        "`{path}` would let it see the suite or the store, which no tool may; take it out of `expose` and `writable`"
    )]
    Reveals { path: String },
    #[error("`{path}`, which it is to write to, does not exist; make it, or take it out of `writable`")]
    Missing { path: String },
    #[error("less than 1 MiB free in {folder}; free some space, or name another folder with TMPDIR")]
    DiskFull { folder: String },
    #[error("the checkout of {case} could not be created: {source}")]
    Checkout { case: String, source: io::Error },
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Asking(#[from] EngineError),
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
