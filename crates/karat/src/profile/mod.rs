//! Profiles: shipped in the binary, printable, and open to single changes by a suite, a file or a flag.

pub mod request;

use karat_core::profile::Profile;
use karat_format::document::suggest::nearest;
use std::io;
use toml::{Table, Value};

/// A profile shipped in the binary.
pub struct Shipped {
    /// The name it is asked for by.
    pub name: &'static str,
    /// The file, as it is.
    pub toml: &'static str,
}

/// All shipped profiles, in the order in which they are listed.
pub static SHIPPED: &[Shipped] = &[
    Shipped { name: "karat", toml: include_str!("../../profiles/karat.toml") },
    Shipped { name: "crb", toml: include_str!("../../profiles/crb.toml") },
    Shipped { name: "identity", toml: include_str!("../../profiles/identity.toml") },
    Shipped { name: "audit", toml: include_str!("../../profiles/audit.toml") },
    Shipped { name: "owasp", toml: include_str!("../../profiles/owasp.toml") },
    Shipped { name: "recorded", toml: include_str!("../../profiles/recorded.toml") },
];

/// Why a profile could not be resolved.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No shipped profile and no file of that name.
    #[error("unknown profile `{name}`{}; `karat profile list` shows them, and a path to a .toml file works too", did_you_mean(.suggestion))]
    Unknown {
        /// What was asked for.
        name: String,
        /// A shipped one of a similar name.
        suggestion: Option<String>,
    },
    /// The file of that name cannot be read.
    #[error("the profile `{name}` could not be read: {source}")]
    Unreadable {
        /// What was asked for.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// A value does not fit.
    #[error("profile {place}: {message}")]
    Invalid {
        /// Where the value came from.
        place: String,
        /// The value, dotted; empty where it is not known.
        key: String,
        /// What is wrong, and what was expected.
        message: String,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|s| format!(", did you mean `{s}`?")).unwrap_or_default()
}

/// A change to single values, and where it came from, for messages.
pub struct Override {
    /// Such as `[scoring.override] of karat.toml` or `--set`.
    pub place: String,
    /// The values, tables nested as in a profile's file.
    pub values: Table,
}

/// Reads the text of a file; `None` if there is none of that name.
pub type ReadFile<'a> = dyn Fn(&str) -> io::Result<Option<String>> + 'a;

/// For profiles that are shipped: there are no files.
pub fn no_files(_: &str) -> io::Result<Option<String>> {
    Ok(None)
}

/// Resolves a profile by name, or by path when `read` finds such a file, with overrides applied in order.
///
/// A file may state `extends = "crb"` to start from another profile than `karat`, and then only what differs.
pub fn resolve(name: &str, read: &ReadFile<'_>, overrides: &[Override]) -> Result<Profile, ProfileError> {
    let mut table = table_of(name, read, 0)?;
    let mut profile = checked(&table, &format!("`{name}`"))?;
    // Each layer is checked by itself, so that the one that is wrong is the one that is named.
    for change in overrides {
        merge(&mut table, &change.values, &change.place, "")?;
        profile = checked(&table, &change.place)?;
    }
    Ok(profile)
}

fn checked(table: &Table, place: &str) -> Result<Profile, ProfileError> {
    let invalid = |message: String| {
        // Messages start with the value they are about, where they are about one.
        let key = message.split([' ', ':']).next().unwrap_or_default().to_owned();
        ProfileError::Invalid { place: place.to_owned(), key, message }
    };
    let profile: Profile =
        table.clone().try_into().map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?;
    match profile.faults().as_slice() {
        [] => Ok(profile),
        faults => Err(invalid(faults.join("; "))),
    }
}

fn table_of(name: &str, read: &ReadFile<'_>, depth: usize) -> Result<Table, ProfileError> {
    let parse = |text: &str| -> Result<Table, ProfileError> {
        text.parse().map_err(|e: toml::de::Error| ProfileError::Invalid {
            place: format!("`{name}`"),
            key: String::new(),
            message: e.to_string(),
        })
    };
    if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == name) {
        return parse(shipped.toml);
    }
    let text = read(name).map_err(|source| ProfileError::Unreadable { name: name.to_owned(), source })?;
    let Some(text) = text else {
        let near = nearest(name, SHIPPED.iter().map(|shipped| shipped.name));
        return Err(ProfileError::Unknown { name: name.to_owned(), suggestion: near.map(str::to_owned) });
    };
    let mut own = parse(&text)?;
    let base = match own.remove("extends") {
        None => "karat".to_owned(),
        Some(Value::String(base)) => base,
        Some(_) => {
            let message = "extends: expected the name of a profile".to_owned();
            return Err(ProfileError::Invalid { place: format!("`{name}`"), key: "extends".to_owned(), message });
        }
    };
    if depth >= 8 {
        let message = "profiles extend each other in a circle".to_owned();
        return Err(ProfileError::Invalid { place: format!("`{name}`"), key: "extends".to_owned(), message });
    }
    let mut table = table_of(&base, read, depth + 1)?;
    if !own.contains_key("name") {
        let stem = std::path::Path::new(name).file_stem().map_or(name.to_owned(), |s| s.to_string_lossy().into_owned());
        table.insert("name".to_owned(), Value::String(stem));
    }
    merge(&mut table, &own, &format!("`{name}`"), "")?;
    Ok(table)
}

/// Values that a profile may leave out, so that their absence from the base is no fault.
const OPTIONAL: &[&str] = &["line_tolerance", "headline_macro_by"];

fn merge(into: &mut Table, from: &Table, place: &str, prefix: &str) -> Result<(), ProfileError> {
    for (key, value) in from {
        let path = format!("{prefix}{key}");
        let known: Vec<String> = into.keys().cloned().chain(OPTIONAL.iter().map(|k| (*k).to_owned())).collect();
        match (into.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(own)) => merge(inner, own, place, &format!("{path}."))?,
            (Some(Value::Float(slot)), Value::Integer(whole)) => *slot = *whole as f64,
            (Some(slot), value) if slot.type_str() == value.type_str() => *slot = value.clone(),
            (Some(slot), value) => {
                let message = format!("{path}: expected {}, found {}", slot.type_str(), value.type_str());
                return Err(ProfileError::Invalid { place: place.to_owned(), key: path.clone(), message });
            }
            (None, value) if prefix.is_empty() && OPTIONAL.contains(&key.as_str()) => {
                into.insert(key.clone(), value.clone());
            }
            (None, _) => {
                let near = nearest(key, known.iter().map(String::as_str));
                let hint = near.map(|near| format!(", did you mean `{prefix}{near}`?"));
                let message = format!("unknown key `{path}`{}", hint.unwrap_or_default());
                return Err(ProfileError::Invalid { place: place.to_owned(), key: path.clone(), message });
            }
        }
    }
    Ok(())
}

/// Parses `key=value` as given by `--set`; a dotted key reaches into a table, and a bare word is text.
pub fn parse_set(text: &str) -> Result<Table, ProfileError> {
    let invalid =
        |message: String| ProfileError::Invalid { place: format!("--set {text}"), key: String::new(), message };
    let (key, value) = text.split_once('=').ok_or_else(|| invalid("expected KEY=VALUE".to_owned()))?;
    let (key, value) = (key.trim(), value.trim());
    let as_is = format!("{key} = {value}").parse::<Table>();
    let quoted = || format!("{key} = {}", Value::String(value.to_owned())).parse::<Table>();
    as_is.or_else(|_| quoted()).map_err(|e| invalid(e.message().to_owned()))
}

/// Changes as a suite's configuration holds them.
pub fn from_json(values: &serde_json::Map<String, serde_json::Value>) -> Result<Table, ProfileError> {
    let place = "[scoring.override] of karat.toml".to_owned();
    Table::try_from(values).map_err(|error| ProfileError::Invalid {
        place,
        key: String::new(),
        message: error.to_string(),
    })
}

/// A profile as a TOML file.
pub fn to_toml(profile: &Profile) -> String {
    toml::to_string(profile).unwrap_or_default()
}

/// A profile as a file that states what differs from the shipped one that it is nearest to. Taken for a profile, the file gives
/// the same rules, under its own name.
pub fn to_difference(profile: &Profile) -> String {
    let mut own = Table::try_from(profile).unwrap_or_default();
    let named = |table: &mut Table| ["name", "description"].iter().for_each(|key| drop(table.remove(*key)));
    named(&mut own);
    let mut nearest: Option<(usize, &str, Table)> = None;
    for shipped in SHIPPED {
        let Ok(mut base) = shipped.toml.parse::<Table>() else { continue };
        named(&mut base);
        // What a base states and the profile does not could not be taken back.
        if base.keys().any(|key| !own.contains_key(key)) {
            continue;
        }
        let differs = difference(&own, &base);
        let size = leaves(&differs);
        if nearest.as_ref().is_none_or(|(least, ..)| size < *least) {
            nearest = Some((size, shipped.name, differs));
        }
    }
    let (_, base, differs) = nearest.unwrap_or((0, "karat", own));
    let text = differs.to_string();
    let apart = if text.starts_with('[') { "\n" } else { "" };
    format!("extends = {}\n{apart}{text}", Value::String(base.to_owned()))
}

/// What of a table is not so in another.
fn difference(own: &Table, base: &Table) -> Table {
    let mut differs = Table::new();
    for (key, value) in own {
        match (value, base.get(key)) {
            (Value::Table(own), Some(Value::Table(base))) => {
                let inner = difference(own, base);
                if !inner.is_empty() {
                    differs.insert(key.clone(), Value::Table(inner));
                }
            }
            (value, there) if there == Some(value) => {}
            (value, _) => drop(differs.insert(key.clone(), value.clone())),
        }
    }
    differs
}

fn leaves(table: &Table) -> usize {
    table.values().map(|value| value.as_table().map_or(1, leaves)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(name: &str, file: &str, sets: &[&str]) -> Result<Profile, String> {
        let overrides: Vec<Override> = sets
            .iter()
            .map(|set| Override { place: format!("--set {set}"), values: parse_set(set).unwrap() })
            .collect();
        let read = |asked: &str| Ok((asked == "mine.toml").then(|| file.to_owned()));
        resolve(name, &read, &overrides).map_err(|e| e.to_string())
    }

    #[test]
    fn every_shipped_profile_resolves_under_its_name() {
        for shipped in SHIPPED {
            let profile = resolved(shipped.name, "", &[]).unwrap();
            assert_eq!(profile.name, shipped.name);
            for id in &profile.headline {
                assert!(karat_core::metric::table::find(id).is_some(), "{}: {id}", shipped.name);
            }
        }
    }

    #[test]
    fn single_values_can_be_changed() {
        let profile =
            resolved("karat", "", &["line_tolerance=3", "require=[\"file\", \"category\"]", "weights.file=1"]).unwrap();
        assert_eq!((profile.line_tolerance, profile.require.len(), profile.weights.file), (Some(3), 2, 1.0));
        assert_eq!(
            resolved("karat", "", &["failed_trials=exclude"]).unwrap().failed_trials,
            karat_core::profile::FailedTrials::Exclude
        );
    }

    #[test]
    fn a_file_states_only_what_differs() {
        let profile = resolved("mine.toml", "extends = \"crb\"\nthreshold = 0.5\n", &[]).unwrap();
        assert_eq!((profile.name.as_str(), profile.threshold, profile.duplicates_are_false), ("mine", 0.5, true));
    }

    #[test]
    fn what_differs_gives_the_same_rules_again() {
        let check = |name: &str, sets: &[&str], expect: &str| {
            let profile = resolved(name, "", sets).unwrap();
            let text = to_difference(&profile);
            assert_eq!(text, expect);
            let again = resolved("mine.toml", &text, &[]).unwrap();
            assert_eq!(
                Profile { name: profile.name.clone(), description: profile.description.clone(), ..again },
                profile
            );
        };
        check("crb", &[], "extends = \"crb\"\n");
        check("owasp", &["beta=2.0"], "extends = \"owasp\"\nbeta = 2.0\n");
        check(
            "karat",
            &["weights.file=1", "line_tolerance=3", "threshold=0.45"],
            "extends = \"karat\"\nline_tolerance = 3\nthreshold = 0.45\n\n[weights]\nfile = 1.0\n",
        );
        check("audit", &["sui.reasoning=1"], "extends = \"audit\"\n\n[sui]\nreasoning = 1.0\n");
    }

    #[test]
    fn mistakes_are_named() {
        let check = |name: &str, file: &str, sets: &[&str], expect: &str| {
            let said = resolved(name, file, sets).unwrap_err();
            assert!(said.contains(expect), "{said}");
        };
        check("karot", "", &[], "did you mean `karat`?");
        check("karat", "", &["line_tolerence=3"], "did you mean `line_tolerance`?");
        check("karat", "", &["identity.chunk_anchor=true"], "did you mean `identity.chunk_anchors`?");
        check("karat", "", &["threshold=high"], "threshold: expected float, found string");
        check("karat", "", &["threshold=3.0"], "expected a number from 0 to 1");
        check("karat", "", &["assignment=best"], "unknown variant `best`");
        check("mine.toml", "extends = \"mine.toml\"", &[], "circle");
    }
}
