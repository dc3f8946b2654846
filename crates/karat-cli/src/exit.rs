//! Every exit code, and what leads to it.

use karat::diagnostic::Faults;
use karat::import::ImportError;
use karat::import::placement::PlacementError;
use karat::profile::ProfileError;
use karat::run::execute::LoadError;
use karat::run::lookup::LookupError;
use karat::run::replay::RecordingError;
use karat::store::StoreError;
use karat::tool::manifest::NO_MODEL;
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

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Inputs with places to point at.
    Faults(Faults),
    /// A sentence, and the code to end with.
    Message(Exit, String),
    /// The reader of our output went away, which is its right.
    BrokenPipe,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Message(Exit::Usage, message.into())
    }

    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self::Message(Exit::BadInput, message.into())
    }

    /// It in words, for a log.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Faults(faults) => faults.to_string(),
            Self::Message(_, message) => message.clone(),
            Self::BrokenPipe => "the reader of the output went away".to_owned(),
        }
    }

    /// A file that could not be written, named: the input is not at fault.
    pub(crate) fn unwritten(what: impl std::fmt::Display, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Message(Exit::Failed, format!("{what} cannot be written: {error}")),
        }
    }

    /// A file that could not be read, named.
    pub(crate) fn io(what: impl std::fmt::Display, error: std::io::Error) -> Self {
        use std::io::ErrorKind::{AlreadyExists, BrokenPipe, InvalidData, IsADirectory, NotFound, PermissionDenied};
        let code = match error.kind() {
            BrokenPipe => return Self::BrokenPipe,
            NotFound | InvalidData | IsADirectory | PermissionDenied | AlreadyExists => Exit::BadInput,
            _ => Exit::Failed,
        };
        Self::Message(code, format!("{what}: {error}"))
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
            ProfileError::Invalid { .. } => Self::bad_input(error.to_string()),
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
            _ => Self::Message(Exit::Failed, error.to_string()),
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
        match error {
            LoadError::Manifest { ref faults, .. } if faults.iter().any(|fault| fault.code == NO_MODEL) => {
                Self::usage(error.to_string())
            }
            LoadError::Recording { source: RecordingError::Faults(faults), .. } | LoadError::Rules { faults, .. } => {
                Self::Faults(faults)
            }
            other => Self::bad_input(other.to_string()),
        }
    }
}
