//! Why a use case could not be completed, for any front end.

use crate::judge::registry::RegistryError;
use crate::judge::session::AskError;
use crate::profile::ProfileError;
use crate::run::tool_lookup::LookupError;
use crate::tool::manifest::NO_MODEL;
use crate::tool::{LoadError, LoadFault, RecordingError};
use karat_documents::assess::evaluate::EvaluationError;
use karat_documents::assess::log::LogError;
use karat_documents::ingest::IngestError;
use karat_documents::retrieval::RetrievalError;
use karat_format::diagnostic::Faults;
use karat_import::ImportError;
use karat_import::placement::PlacementError;
use karat_llm::engine::EngineError;
use karat_store::StoreError;

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

impl Failure {
    /// The caller asked for something that cannot be done.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Message(Category::Usage, message.into())
    }

    /// A tool, a judge, the store or the system failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Message(Category::Failed, message.into())
    }

    /// An input cannot be used.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::Message(Category::BadInput, message.into())
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
    pub fn unwritten(what: impl std::fmt::Display, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            std::io::ErrorKind::NotFound => Self::failed(format!(
                "{what} cannot be written: its folder does not exist; create the folder first, or choose another"
            )),
            _ => Self::failed(format!("{what} cannot be written: {error}")),
        }
    }

    /// A file that could not be read, named.
    pub fn io(what: impl std::fmt::Display, error: std::io::Error) -> Self {
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
        match error {
            PlacementError::NoCases | PlacementError::NoTool => Self::usage(error.to_string()),
            PlacementError::UnknownCase { .. } | PlacementError::SeveralTools { .. } => {
                Self::bad_input(error.to_string())
            }
        }
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::Unknown { .. } => Self::usage(error.to_string()),
            ProfileError::Invalid { .. } | ProfileError::Unreadable { .. } => Self::bad_input(error.to_string()),
        }
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

impl From<LookupError> for Failure {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::Unknown { .. } | LookupError::BadModel { .. } => Self::usage(error.to_string()),
            LookupError::Io { file, source } => Self::io(file, source),
            LookupError::Faults(faults) => Self::Faults(faults),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let text = error.to_string();
        match error.fault {
            LoadFault::Manifest(faults) if faults.iter().any(|fault| fault.code == NO_MODEL) => Self::usage(text),
            LoadFault::Recording(RecordingError::Faults(faults)) | LoadFault::Rules(faults) => Self::Faults(faults),
            _ => Self::bad_input(text),
        }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Unknown { .. } => Self::usage(error.to_string()),
            _ => Self::bad_input(error.to_string()),
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<EvaluationError> for Failure {
    fn from(error: EvaluationError) -> Self {
        match error {
            EvaluationError::Provider { .. } => Self::bad_input(error.to_string()),
            _ => Self::usage(error.to_string()),
        }
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

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::UnknownFormat { .. } => Self::usage(error.to_string()),
            _ => Self::bad_input(error.to_string()),
        }
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
