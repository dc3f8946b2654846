//! Why a use case could not be completed, for any front end.

use crate::judge::registry::RegistryError;
use karat_documents::assess::evaluate::EvaluationError;
use karat_documents::assess::log::LogError;
use karat_documents::ingest::IngestError;
use karat_documents::retrieval::RetrievalError;
use karat_format::diagnostic::Faults;
use karat_import::ImportError;
use karat_import::placement::PlacementError;
use karat_llm::engine::EngineError;
use karat_store::StoreError;
use std::fmt::Display;

/// The kind of a failure; front ends map it to exit codes or HTTP statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Category {
    /// The caller asked for something that cannot be done.
    Usage,
    BadInput,
    /// A tool, a judge, the store or the system failed.
    Failed,
    /// Karat itself is at fault.
    Internal,
}

/// Why a use case could not be completed.
#[derive(Debug)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Failure {
    /// Inputs with places to point at.
    Faults(Faults),
    Message(Category, String),
    /// The reader of our output closed it, which is not a fault.
    BrokenPipe,
}

/// What a use case returns.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The caller asked for something that cannot be done.
    pub fn usage(message: impl Display) -> Self {
        Self::Message(Category::Usage, message.to_string())
    }

    /// A tool, a judge, the store or the system failed.
    pub fn failed(message: impl Display) -> Self {
        Self::Message(Category::Failed, message.to_string())
    }

    /// An input cannot be used.
    pub fn bad_input(message: impl Display) -> Self {
        Self::Message(Category::BadInput, message.to_string())
    }

    /// An error in what the caller asked for, or else in an input.
    pub(crate) fn usage_if(by_caller: bool, error: &impl Display) -> Self {
        let category = if by_caller { Category::Usage } else { Category::BadInput };
        Self::Message(category, error.to_string())
    }

    /// The failure in words.
    pub fn text(&self) -> String {
        match self {
            Self::Faults(faults) => faults.to_string(),
            Self::Message(_, message) => message.clone(),
            Self::BrokenPipe => "the reader of the output closed it".to_owned(),
        }
    }

    /// A file that could not be written, named: the input is not at fault.
    pub fn unwritten(what: impl Display, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            std::io::ErrorKind::NotFound => Self::failed(format!(
                "{what} cannot be written: its folder does not exist; create the folder first, or choose another"
            )),
            _ => Self::failed(format!("{what} cannot be written: {error}")),
        }
    }

    /// A file that could not be read, named.
    pub fn io(what: impl Display, error: std::io::Error) -> Self {
        use std::io::ErrorKind::{AlreadyExists, BrokenPipe, InvalidData, IsADirectory, NotFound, PermissionDenied};
        let category = match error.kind() {
            BrokenPipe => return Self::BrokenPipe,
            NotFound | InvalidData | IsADirectory | PermissionDenied | AlreadyExists => Category::BadInput,
            _ => Category::Failed,
        };
        Self::Message(category, format!("{what}: {error}"))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::Faults(faults)
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::bad_input(error.to_string())
    }
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        Self::usage_if(matches!(error, PlacementError::NoCases | PlacementError::NoTool), &error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        match error {
            E::Unwritten(error) => Self::unwritten("the export", error),
            E::NoRun { .. }
            | E::Ambiguous { .. }
            | E::BadName { .. }
            | E::NameTaken { .. }
            | E::NoArtifact { .. }
            | E::Labelled { .. } => Self::usage(error.to_string()),
            E::BadExport { .. }
            | E::Differs { .. }
            | E::BadLabel { .. }
            | E::BadLedger { .. }
            | E::LedgerDiffers { .. } => Self::bad_input(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        Self::usage_if(matches!(error, RegistryError::Unknown { .. }), &error)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<EvaluationError> for Failure {
    fn from(error: EvaluationError) -> Self {
        Self::usage_if(!matches!(error, EvaluationError::Provider { .. }), &error)
    }
}

impl From<RetrievalError> for Failure {
    fn from(error: RetrievalError) -> Self {
        use RetrievalError as E;
        match error {
            E::UnknownProvider { .. } | E::BadValue { .. } | E::NoVectors { .. } | E::Needs { .. } => {
                Self::usage(error.to_string())
            }
            E::UnknownLanguage { .. } | E::BadModel { .. } => Self::bad_input(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        Self::usage_if(matches!(error, IngestError::UnknownFormat { .. }), &error)
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Unknown { .. } | LogError::Ambiguous { .. } => Self::usage(error.to_string()),
            LogError::Io { path, source } => Self::io(path.display(), source),
        }
    }
}
