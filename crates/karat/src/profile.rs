//! Profiles: shipped in the binary, printable, and open to single changes by a suite, a file or a flag.

use crate::failure::{Category, Failure, Result};
use crate::suggestion;
use crate::suite::LoadedSuite;
use karat_core::profile::Profile;
use karat_format::document::Segment;
use karat_format::document::suggest::nearest;
use karat_llm::provider::ProviderEnv;
use karat_llm::providers::judge_model;
use std::io;
use std::path::Path;
use toml::{Table, Value};

/// A profile shipped in the binary.
#[expect(missing_docs, reason = "field names say it")]
pub struct Shipped {
    pub name: &'static str,
    pub toml: &'static str,
}

/// All shipped profiles, in the order in which they are listed.
pub static SHIPPED: &[Shipped] = &[
    Shipped { name: "karat", toml: include_str!("../profiles/karat.toml") },
    Shipped { name: "crb", toml: include_str!("../profiles/crb.toml") },
    Shipped { name: "identity", toml: include_str!("../profiles/identity.toml") },
    Shipped { name: "audit", toml: include_str!("../profiles/audit.toml") },
    Shipped { name: "audit-strict", toml: include_str!("../profiles/audit-strict.toml") },
    Shipped { name: "owasp", toml: include_str!("../profiles/owasp.toml") },
    Shipped { name: "recorded", toml: include_str!("../profiles/recorded.toml") },
];

/// Why a profile could not be resolved.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProfileError {
    #[error("unknown profile `{name}`{hint} `karat profile list` shows them, and a path to a .toml file works too")]
    Unknown { name: String, hint: String },
    #[error("the profile `{name}` could not be read: {source}")]
    Unreadable { name: String, source: io::Error },
    #[error("profile {place}: {message}")]
    Invalid {
        place: String,
        /// Dotted; empty if unknown.
        key: String,
        message: String,
    },
}

impl ProfileError {
    fn invalid(place: impl Into<String>, key: &str, message: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), key: key.to_owned(), message: message.into() }
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        let category = Category::usage_if(matches!(error, ProfileError::Unknown { .. }));
        Self::Message(category, error.to_string())
    }
}

/// Where changes to single values came from, such as `[scoring.override] of karat.toml` or `--set`, and the new values.
pub type Override = (String, Table);

/// Reads the text of a file; `None` if there is none of that name.
pub type ReadFile<'a> = dyn Fn(&str) -> io::Result<Option<String>> + 'a;

/// For shipped profiles, which need no files.
pub fn no_files(_: &str) -> io::Result<Option<String>> {
    Ok(None)
}

/// Resolves a profile by name, or by path if `read` finds such a file, with overrides applied in order.
/// A file may state `extends = "crb"` to start from another profile than `karat`, and then only what differs.
pub fn resolve(name: &str, read: &ReadFile<'_>, overrides: &[Override]) -> Result<Profile, ProfileError> {
    let mut table = read_table(name, read, 0)?;
    let mut profile = parse_profile(&table, &format!("`{name}`"))?;
    // Each layer is checked separately, so that the error names the right one.
    for (place, values) in overrides {
        merge(&mut table, values, place, "")?;
        profile = parse_profile(&table, place)?;
    }
    Ok(profile)
}

fn parse_profile(table: &Table, place: &str) -> Result<Profile, ProfileError> {
    let invalid = |message: &str| {
        // Messages about a value start with its key.
        ProfileError::invalid(place, message.split([' ', ':']).next().unwrap_or_default(), message)
    };
    let profile: Profile = table.clone().try_into().map_err(|error: toml::de::Error| invalid(error.message()))?;
    match profile.faults().as_slice() {
        [] => Ok(profile),
        faults => Err(invalid(&faults.join("; "))),
    }
}

fn read_table(name: &str, read: &ReadFile<'_>, depth: usize) -> Result<Table, ProfileError> {
    let place = format!("`{name}`");
    let parse = |text: &str| -> Result<Table, ProfileError> {
        text.parse().map_err(|e: toml::de::Error| ProfileError::invalid(&place, "", e.to_string()))
    };
    if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == name) {
        return parse(shipped.toml);
    }
    let text = read(name).map_err(|source| ProfileError::Unreadable { name: name.to_owned(), source })?;
    let Some(text) = text else {
        let hint = suggestion(name, SHIPPED.iter().map(|shipped| shipped.name), ";");
        return Err(ProfileError::Unknown { name: name.to_owned(), hint });
    };
    let mut own = parse(&text)?;
    let base = match own.remove("extends") {
        None => "karat".to_owned(),
        Some(Value::String(base)) => base,
        Some(_) => return Err(ProfileError::invalid(place, "extends", "extends: expected the name of a profile")),
    };
    if depth >= 8 {
        return Err(ProfileError::invalid(place, "extends", "profiles extend each other in a circle"));
    }
    let mut table = read_table(&base, read, depth + 1)?;
    if !own.contains_key("name") {
        let stem = std::path::Path::new(name).file_stem().map_or(name.to_owned(), |s| s.to_string_lossy().into_owned());
        table.insert("name".to_owned(), Value::String(stem));
    }
    merge(&mut table, &own, &place, "")?;
    Ok(table)
}

const OPTIONAL: &[&str] = &["line_tolerance", "headline_macro_by"];

fn merge(into: &mut Table, from: &Table, place: &str, prefix: &str) -> Result<(), ProfileError> {
    for (key, value) in from {
        let path = format!("{prefix}{key}");
        let known: Vec<String> = into.keys().cloned().chain(OPTIONAL.iter().map(|k| (*k).to_owned())).collect();
        match (into.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(own)) => merge(inner, own, place, &format!("{path}."))?,
            (Some(Value::Float(slot)), Value::Integer(whole)) => *slot = *whole as f64,
            (Some(Value::Array(slot)), Value::String(one)) => *slot = vec![Value::String(one.clone())],
            (Some(slot), value) if slot.type_str() == value.type_str() => *slot = value.clone(),
            (Some(slot), value) => {
                let message = format!("{path}: expected {}, found {}", slot.type_str(), value.type_str());
                return Err(ProfileError::invalid(place, &path, message));
            }
            (None, value) if prefix.is_empty() && OPTIONAL.contains(&key.as_str()) => {
                into.insert(key.clone(), value.clone());
            }
            (None, _) => {
                let near = nearest(key, known.iter().map(String::as_str));
                let hint = near.map(|near| format!(", did you mean `{prefix}{near}`?"));
                let message = format!("unknown key `{path}`{}", hint.unwrap_or_default());
                return Err(ProfileError::invalid(place, &path, message));
            }
        }
    }
    Ok(())
}

/// Parses `key=value` as given by `--set`; a dotted key reaches into a table, and a bare word is text.
pub fn parse_set(text: &str) -> Result<Table, ProfileError> {
    let invalid = |message: &str| ProfileError::invalid(format!("--set {text}"), "", message);
    let (key, value) = text.split_once('=').ok_or_else(|| invalid("expected KEY=VALUE"))?;
    let (key, value) = (key.trim(), value.trim());
    let as_is = format!("{key} = {value}").parse::<Table>();
    let quoted = || format!("{key} = {}", Value::String(value.to_owned())).parse::<Table>();
    as_is.or_else(|_| quoted()).map_err(|e| invalid(e.message()))
}

/// A profile as a TOML file.
pub fn to_toml(profile: &Profile) -> String {
    toml::to_string(profile).unwrap_or_default()
}

/// A profile as a file that states the differences from the most similar shipped one.
pub fn to_difference(profile: &Profile) -> String {
    let mut own = Table::try_from(profile).unwrap_or_default();
    let remove_name = |table: &mut Table| ["name", "description"].iter().for_each(|key| drop(table.remove(*key)));
    remove_name(&mut own);
    let differences = SHIPPED.iter().filter_map(|shipped| {
        let mut base = shipped.toml.parse::<Table>().ok()?;
        remove_name(&mut base);
        // A value of the base could not be removed again.
        let fits = base.keys().all(|key| own.contains_key(key));
        fits.then(|| (shipped.name, difference(&own, &base)))
    });
    let nearest = differences.min_by_key(|(_, differs)| leaves(differs));
    let (base, differs) = nearest.unwrap_or(("karat", own));
    let text = differs.to_string();
    let apart = if text.starts_with('[') { "\n" } else { "" };
    format!("extends = {}\n{apart}{text}", Value::String(base.to_owned()))
}

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
pub fn resolve_for_suite(request: &ProfileRequest, suite: Option<&LoadedSuite>) -> Result<Profile> {
    let scoring = suite.map(|s| &s.config.scoring);
    let name = request.profile.as_deref().or(scoring.and_then(|s| s.profile.as_deref())).unwrap_or("karat");
    let mut overrides = Vec::new();
    if let Some(scoring) = scoring.filter(|s| !s.overrides.is_empty()) {
        let values = Table::try_from(&scoring.overrides)
            .map_err(|error| ProfileError::invalid(OVERRIDE, "", error.to_string()))?;
        overrides.push((OVERRIDE.to_owned(), values));
    }
    for set in &request.sets {
        let values = parse_set(set).map_err(|error| Failure::usage(error.to_string()))?;
        overrides.push((format!("--set {set}"), values));
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
    let resolved = resolve(name, &read, &overrides).map(|mut profile| {
        // Whoever runs such a folder as the benchmark says names the judge by its variable.
        profile.judge_by_variable |= request.profile.is_none() && suite.is_some_and(has_judge_by_variable);
        profile
    });
    resolved.map_err(|error| match (suite, &error) {
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

/// Whether it is a folder of challenges, and a variable names the judge of challenges.
fn has_judge_by_variable(suite: &LoadedSuite) -> bool {
    let env = ProviderEnv { variable: &|name| std::env::var(name).ok(), folder: Path::new("") };
    suite.is_challenge_folder() && judge_model(&env).is_some()
}

const OVERRIDE: &str = "[scoring.override] of karat.toml";

/// A fault of the profile at its place in the suite's `karat.toml`.
fn in_config(suite: &LoadedSuite, path: &[&str], error: &ProfileError) -> Failure {
    let steps: Vec<Segment<'_>> = path.iter().map(|key| Segment::Key(key)).collect();
    Failure::Faults(vec![suite.in_config(&steps, "bad-profile", error.to_string())].into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::profile::{CompositeMean, CompositeRules, DetectionPart, PrecisionPart};

    fn resolved(name: &str, file: &str, sets: &[&str]) -> Result<Profile, String> {
        let overrides = sets.iter().map(|set| (format!("--set {set}"), parse_set(set).unwrap()));
        let overrides: Vec<Override> = overrides.collect();
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

    /// The published figures stay as they are, and the strict ones differ from them in nothing but the composites.
    #[test]
    fn strict_audits_differ_in_their_composites_alone() {
        let (plain, strict) = (resolved("audit", "", &[]).unwrap(), resolved("audit-strict", "", &[]).unwrap());
        for shipped in SHIPPED.iter().filter(|shipped| shipped.name != "audit-strict") {
            let published = resolved(shipped.name, "", &[]).unwrap().composites;
            assert_eq!(published, CompositeRules::default(), "{}", shipped.name);
        }
        assert_eq!(
            strict.composites,
            CompositeRules {
                detection: DetectionPart::PartialCreditDetection,
                precision: PrecisionPart::FindingPrecisionConfirmed,
                mean: CompositeMean::Geometric,
            }
        );
        let Profile { name, description, composites, .. } = plain;
        assert_eq!(Profile { name, description, composites, ..strict }, resolved("audit", "", &[]).unwrap());
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
