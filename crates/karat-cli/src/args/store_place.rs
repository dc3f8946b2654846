//! `--store` and `KARAT_STORE`: a folder, or a database on a server.

use crate::exit::{Failure, Result};
use crate::terminal::{flags, note};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use karat::folder_state::find_suite;
use karat_store::{FOLDER, LocationError, Store, StoreError, StoreLocation};
use std::path::Path;
use std::sync::Once;

#[derive(Debug, Args)]
pub(crate) struct StorePlace {
    /// Store: a folder, or a database.
    ///
    /// A folder, or a database as in postgres://karat@db.example.org/karat, whose password may be in PGPASSWORD or ~/.pgpass.
    /// Default: KARAT_STORE, else the nearest .karat in the current or a parent folder.
    #[arg(long = "store", id = "store", value_name = "DIR|URL", value_parser = store_parser())]
    pub(crate) location: Option<StoreLocation>,
}

/// Reads `--store`, and other arguments that name a store.
pub(crate) fn store_parser() -> impl TypedValueParser<Value = StoreLocation> {
    OsStringValueParser::new().try_map(StoreLocation::parse)
}

impl StorePlace {
    /// The store: the flag, else `KARAT_STORE`, else the nearest store in a parent folder, else the default for a new one.
    /// A server must answer, so that no command works without the store that it was told to use.
    pub(crate) fn location(&self) -> Result<StoreLocation> {
        let location = self.named()?;
        require_answer(&location)?;
        Ok(location)
    }

    /// Like [`Self::location`], also if it is a server that does not answer.
    pub(crate) fn named(&self) -> Result<StoreLocation> {
        let named = match &self.location {
            Some(location) => Some(location.clone()),
            None => store_variable()?,
        };
        let Some(location) = named else {
            return Ok(nearest_store());
        };
        Ok(within_folder(location))
    }

    pub(crate) fn open(&self) -> Result<Store> {
        Ok(Store::open(&self.named()?)?)
    }

    /// The flag with which another command finds the same store; empty if none is needed.
    pub(crate) fn flag(&self) -> String {
        let location = self.location.iter().map(|location| ("--store", location.to_string()));
        flags(&location.collect::<Vec<_>>())
    }
}

/// The nearest store of this folder or a parent folder, else the default for a new one. Unless it is that of the suite that this
/// folder is in, a note says so: what another project keeps above is easily taken for one's own.
fn nearest_store() -> StoreLocation {
    static NOTED: Once = Once::new();
    let Some(location) = Store::locate(Path::new(".")) else { return StoreLocation::default() };
    let parent = location.as_folder().and_then(Path::parent);
    let is_own = |folder: &Path| std::path::absolute(".").is_ok_and(|here| here == folder);
    if let Some(folder) = parent.filter(|folder| !is_own(folder) && find_suite(folder).is_none()) {
        NOTED.call_once(|| {
            let store = folder.join(FOLDER);
            let choice = "choose another with --store DIR or KARAT_STORE, such as --store .karat";
            note(&format!("using the store of a parent folder, {}; {choice}", store.display()));
        });
    }
    location
}

/// A flag may name the store, or the folder that contains it.
pub(crate) fn within_folder(location: StoreLocation) -> StoreLocation {
    let Some(folder) = location.as_folder() else { return location };
    let inner = StoreLocation::from(folder.join(FOLDER));
    if !Store::is_at(&location) && Store::is_at(&inner) { inner } else { location }
}

/// Fails if a location is a server that cannot be used.
pub(crate) fn require_answer(location: &StoreLocation) -> Result<()> {
    let Some(server) = location.as_server() else { return Ok(()) };
    match Store::ask_server(server) {
        // What writes makes the store, or brings it up to date.
        Ok(()) | Err(StoreError::Missing { .. } | StoreError::ReadOnly { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Refuses what names no store in `KARAT_STORE`, as the command line does in `--store`.
pub(crate) fn check_store_variable() -> Result<()> {
    store_variable().map(|_| ())
}

fn store_variable() -> Result<Option<StoreLocation>> {
    let Some(text) = std::env::var_os("KARAT_STORE").filter(|value| !value.is_empty()) else { return Ok(None) };
    let refused = |error: LocationError| Failure::usage(format!("invalid value of KARAT_STORE: {error}"));
    StoreLocation::parse(text).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, CommandFactory};
    use std::any::TypeId;

    #[test]
    fn every_flag_for_a_store_takes_a_folder_or_a_url() {
        fn check(command: &Command, count: &mut usize) {
            for arg in command.get_arguments().filter(|arg| arg.get_long() == Some("store")) {
                assert_eq!(arg.get_value_parser().type_id(), TypeId::of::<StoreLocation>(), "{}", command.get_name());
                assert_eq!(
                    arg.get_value_names().map(|names| names[0].as_str()),
                    Some("DIR|URL"),
                    "{}",
                    command.get_name()
                );
                *count += 1;
            }
            command.get_subcommands().for_each(|sub| check(sub, count));
        }
        let mut count = 0;
        check(&crate::args::Arguments::command(), &mut count);
        assert!(count > 15, "{count} commands take a store");
    }

    #[test]
    fn flag_for_other_commands_has_no_password() {
        let location = StoreLocation::parse("postgres://karat:hidden@db.example.org/karat").ok();
        assert_eq!(StorePlace { location }.flag(), " --store postgres://karat@db.example.org/karat");
    }
}
