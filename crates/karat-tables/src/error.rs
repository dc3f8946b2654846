//! Why tables could not be written.

use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// Why tables could not be written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "field names say it")]
pub enum TablesError {
    /// The system refused to write or rename this file or folder.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    /// The Parquet library refused the content of this file.
    #[error("{} cannot be written: {reason}", path.display())]
    Unencoded { path: PathBuf, reason: String },
    /// Something else has the name of the folder.
    #[error("{} exists and holds more than Karat's tables ({found}); choose another name, or move it away", path.display())]
    Foreign { path: PathBuf, found: String },
    /// The folder in which the tables are to lie is missing.
    #[error("{} cannot be written: its folder does not exist; create the folder first, or choose another", path.display())]
    NoFolder { path: PathBuf },
}

/// What writing tables returns.
pub type Result<T, E = TablesError> = std::result::Result<T, E>;

impl TablesError {
    pub(crate) fn unwritten(path: &Path, source: io::Error) -> Self {
        Self::Unwritten { path: path.to_owned(), source }
    }

    pub(crate) fn parquet(path: &Path, error: ParquetError) -> Self {
        let path = path.to_owned();
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => Self::Unwritten { path, source: *source },
                Err(other) => Self::Unencoded { path, reason: other.to_string() },
            },
            other => Self::Unencoded { path, reason: other.to_string() },
        }
    }
}
