//! Why a use case could not be completed, for any front end.

use karat_documents::DocumentError;
use karat_documents::assess::log::LogError;
use karat_format::diagnostic::Faults;
use karat_import::ImportError;
use karat_import::placement::PlacementError;
use karat_llm::engine::EngineError;
use karat_source::git::GitError;
use karat_store::StoreError;
use karat_tables::TablesError;
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

impl Category {
    /// Of an error in what the caller asked for, or else in an input.
    pub(crate) fn usage_if(by_caller: bool) -> Self {
        if by_caller { Self::Usage } else { Self::BadInput }
    }
}

/// Why a use case could not be completed.
#[derive(Debug)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Failure {
    /// Inputs with places to point at.
    Faults(Faults),
    Message(Category, String),
    /// The store or its object storage is away; the same may succeed later.
    Outage(String),
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

    /// A name that is no file, where there is no store that could have a run of this name.
    pub(crate) fn no_store(name: &str) -> Self {
        Self::bad_input(format!(
            "there is no file `{name}`, and no store in this folder or above it that could have a run of this name; \
             `karat run` makes one, and --store or KARAT_STORE names another"
        ))
    }

    /// The failure in words.
    pub fn text(&self) -> String {
        match self {
            Self::Faults(faults) => faults.to_string(),
            Self::Message(_, message) | Self::Outage(message) => message.clone(),
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

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::Faults(faults)
    }
}

/// Converts errors whose text says everything; the error decides the category.
macro_rules! failure_from {
    ($($error:ty => $category:expr,)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let category: fn(&$error) -> Category = $category;
                Self::Message(category(&error), error.to_string())
            }
        }
    )*};
}

failure_from! {
    std::io::Error => |_| Category::Failed,
    GitError => |_| Category::BadInput,
    ImportError => |_| Category::BadInput,
    PlacementError => |error| Category::usage_if(matches!(error, PlacementError::NoCases | PlacementError::NoTool)),
    TablesError => |error| match error {
        TablesError::Foreign { .. } => Category::Usage,
        _ => Category::Failed,
    },
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let is_outage = match &error {
            EngineError::Ledger(error) => error.downcast_ref().is_some_and(StoreError::is_outage),
            _ => false,
        };
        if is_outage { Self::Outage(error.to_string()) } else { Self::failed(error) }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        if error.is_outage() {
            return Self::Outage(error.to_string());
        }
        let category = match error {
            E::Unwritten(error) => return Self::unwritten("the export", error),
            E::NoRun { .. }
            | E::Ambiguous { .. }
            | E::Assessment { .. }
            | E::BadName { .. }
            | E::NameTaken { .. }
            | E::NoArtifact { .. }
            | E::CopyToItself { .. }
            | E::Labelled { .. } => Category::Usage,
            E::BadExport { .. }
            | E::Differs { .. }
            | E::BadLabel { .. }
            | E::BadLedger { .. }
            | E::LedgerDiffers { .. } => Category::BadInput,
            _ => Category::Failed,
        };
        Self::Message(category, error.to_string())
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Usage(message) => Self::usage(message),
            DocumentError::BadInput(message) => Self::bad_input(message),
            DocumentError::Failed(message) => Self::failed(message),
        }
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Unknown { .. } | LogError::Ambiguous { .. } => Self::usage(error),
            LogError::Io { path, source } => Self::io(path.display(), source),
        }
    }
}
