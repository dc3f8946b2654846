//! What an error of a PostgreSQL server means: whether repeating helps, and what to tell people.

use crate::StoreError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

/// Why a transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The connection was lost, or the server is stopping or starting.
    Lost,
    /// No connection is free.
    Full,
    /// A deadlock, or a conflict with a concurrent transaction.
    Conflict,
    /// A lock was not free in time.
    Locked,
    /// A row that it refers to is missing.
    Reference,
    /// Any other error of a statement.
    Statement,
    /// The work itself gave up, and no statement failed.
    Work,
}

/// Why a statement failed; `None` if repeating it cannot help.
pub(super) fn failure(error: &sqlx::Error) -> Option<Failure> {
    let code = match error {
        sqlx::Error::Database(error) => error.code()?,
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => return Some(Failure::Lost),
        _ => return None,
    };
    match code.as_ref() {
        // cannot_connect_now, while it starts, and too_many_connections
        "57P03" | "53300" => Some(Failure::Full),
        "40001" | "40P01" => Some(Failure::Conflict),
        "55P03" => Some(Failure::Locked),
        "23503" => Some(Failure::Reference),
        // admin_shutdown, crash_shutdown, idle_session_timeout, idle_in_transaction_session_timeout, connection exceptions
        "57P01" | "57P02" | "57P05" | "25P03" => Some(Failure::Lost),
        code if code.starts_with("08") => Some(Failure::Lost),
        // PgBouncer reports a lost server with a code of its own, and closes the connection.
        _ if is_fatal(error) => Some(Failure::Lost),
        _ => None,
    }
}

/// Whether an error of COMMIT proves that nothing was stored.
pub(super) fn commit_is_refused(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(_)) && failure(error) != Some(Failure::Lost) && !is_fatal(error)
}

fn is_fatal(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    let severity = error.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::severity);
    matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic))
}

pub(super) fn map_error(place: &str, error: sqlx::Error) -> StoreError {
    let place = place.to_owned();
    let error = match error {
        sqlx::Error::Database(error) => error,
        sqlx::Error::Io(error) => return StoreError::Unreachable { place, detail: error.to_string() },
        sqlx::Error::Tls(error) => return StoreError::Unreachable { place, detail: format!("TLS: {error}") },
        sqlx::Error::Protocol(detail) => return StoreError::Unreachable { place, detail },
        other => return StoreError::Database { place, detail: other.to_string() },
    };
    let detail = error.message().to_owned();
    let fatal = error
        .try_downcast_ref::<PgDatabaseError>()
        .is_some_and(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic));
    match error.code().unwrap_or_default().as_ref() {
        // invalid_password, invalid_authorization_specification
        "28P01" | "28000" => StoreError::LoginRefused { place, detail },
        // invalid_catalog_name
        "3D000" => StoreError::NoDatabase { place, detail },
        // insufficient_privilege
        "42501" => StoreError::NoRights { place, detail },
        // disk_full
        "53100" => StoreError::Full { place },
        // too_many_connections
        "53300" => StoreError::TooManyConnections { place, detail },
        // read_only_sql_transaction
        "25006" => StoreError::ReadOnly { place, detail },
        // io_error
        "58030" => StoreError::Disk { place, detail },
        // data_corrupted, index_corrupted
        "XX001" | "XX002" => StoreError::Damaged { place, detail },
        // serialization_failure, deadlock_detected, lock_not_available
        "40001" | "40P01" | "55P03" => StoreError::InUse { place },
        // raise_exception, from our triggers
        "P0001" => StoreError::Conflict { place, detail },
        "57P01" | "57P02" | "57P03" | "57P05" | "25P03" => StoreError::Unreachable { place, detail },
        code if code.starts_with("23") => StoreError::Conflict { place, detail },
        code if code.starts_with("08") => StoreError::Unreachable { place, detail },
        _ if fatal => StoreError::Unreachable { place, detail },
        _ => StoreError::Database { place, detail },
    }
}
