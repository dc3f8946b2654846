//! The suites that ship in the binary, so that Karat has something to show at once.

use super::files::Files;
use include_dir::{Dir, include_dir};

static STARTER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../suites/starter");
static SCANNED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../suites/scanned");
static AGREEMENTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../suites/agreements");

/// The name that the shipped suite of findings is asked for by.
pub const NAME: &str = "starter";

/// All of them, by the names they are asked for by.
static EMBEDDED: &[(&str, &Dir<'static>)] = &[(NAME, &STARTER), ("scanned", &SCANNED), ("agreements", &AGREEMENTS)];

/// The shipped suite of that name.
pub fn embedded(name: &str) -> Option<Files> {
    let (name, dir) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
    Some(Files::Embedded(name, dir))
}

/// The names of the shipped suites.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::config::ConfigV1;

    #[test]
    fn shipped_suites_are_named_as_they_name_themselves() {
        for name in names() {
            let bytes = embedded(name).unwrap().read("karat.toml").unwrap().unwrap();
            let config: ConfigV1 = toml::from_slice(&bytes).unwrap();
            assert_eq!(config.suite.name, name);
        }
        assert!(embedded("Starter").is_none());
    }
}
