//! The profile of a suite: what the caller asks for, over what the suite says.

use super::{Override, ProfileError, parse_set, resolve};
use crate::failure::Failure;
use crate::suite::LoadedSuite;
use karat_core::profile::Profile;
use karat_format::document::Segment;
use std::io;
use toml::Table;

/// The rules that a caller asks for.
#[derive(Clone, Debug, Default)]
pub struct ProfileRequest {
    /// The name of a profile or the path of a file; default: the suite's.
    pub profile: Option<String>,
    /// Changes of single values, `KEY=VALUE`.
    pub sets: Vec<String>,
}

impl ProfileRequest {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.profile.is_none() && self.sets.is_empty()
    }
}

/// The profile: the suite's or the one asked for, then the suite's changes, then those of flags.
pub fn resolve_for_suite(request: &ProfileRequest, suite: Option<&LoadedSuite>) -> Result<Profile, Failure> {
    let scoring = suite.map(|s| &s.config.scoring);
    let stated = scoring.and_then(|s| s.profile.as_deref());
    let name = request.profile.as_deref().or(stated).unwrap_or("karat");
    let mut overrides = Vec::new();
    if let Some(scoring) = scoring.filter(|s| !s.overrides.is_empty()) {
        let values = Table::try_from(&scoring.overrides)
            .map_err(|error| ProfileError::invalid(OVERRIDE, "", error.to_string()))?;
        overrides.push(Override { place: OVERRIDE.to_owned(), values });
    }
    for set in &request.sets {
        overrides.push(Override {
            place: format!("--set {set}"),
            values: parse_set(set).map_err(|error| Failure::usage(error.to_string()))?,
        });
    }
    // Profiles named by the suite are files of the suite; those named by a flag are relative to the working directory.
    let read = |path: &str| {
        let bytes = match suite.filter(|_| request.profile.is_none()) {
            Some(suite) => suite.files.read(path)?,
            None => match std::fs::read(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                read => Some(read?),
            },
        };
        let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        bytes.map(String::from_utf8).transpose().map_err(not_text)
    };
    resolve(name, &read, &overrides).map_err(|error| match (suite, &error) {
        (Some(suite), ProfileError::Unknown { .. } | ProfileError::Unreadable { .. }) if request.profile.is_none() => {
            in_config(suite, &["scoring", "profile"], &error)
        }
        (Some(suite), ProfileError::Invalid { place, key, .. }) if place == OVERRIDE => {
            let path: Vec<&str> = ["scoring", "override"].into_iter().chain(key.split('.')).collect();
            in_config(suite, &path, &error)
        }
        // Errors in flags are usage errors, those in files are bad input.
        (_, ProfileError::Invalid { place, .. }) if place.starts_with("--set") => Failure::usage(error.to_string()),
        _ => error.into(),
    })
}

const OVERRIDE: &str = "[scoring.override] of karat.toml";

/// A fault of the profile at its place in the suite's `karat.toml`.
fn in_config(suite: &LoadedSuite, path: &[&str], error: &ProfileError) -> Failure {
    let steps: Vec<Segment<'_>> = path.iter().map(|key| Segment::Key(key)).collect();
    let diagnostic = suite.in_config(&steps, "bad-profile", error.to_string());
    Failure::Faults(vec![diagnostic].into())
}
