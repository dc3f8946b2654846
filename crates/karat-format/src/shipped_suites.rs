//! The suites that are embedded in the binary. `suites/` of this crate links to those of the repository, so that a package of the
//! crate contains them.

use include_dir::{Dir, include_dir};
use karat_io::files::Files;
use std::path::Path;

static STARTER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/suites/starter");
static SCANNED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/suites/scanned");
static AGREEMENTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/suites/agreements");

/// The name of the shipped suite of findings.
pub const NAME: &str = "starter";

/// All of them by name.
static EMBEDDED: &[(&str, &Dir<'static>)] = &[(NAME, &STARTER), ("scanned", &SCANNED), ("agreements", &AGREEMENTS)];

/// The shipped suite with this name.
pub fn embedded(name: &str) -> Option<Files> {
    let (name, dir) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
    Some(Files::Embedded(name, dir))
}

/// The names of the shipped suites.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// A folder on disk, or a suite shipped in the binary when there is no such folder.
pub fn locate(place: &str) -> Files {
    let path = Path::new(place);
    match embedded(place) {
        Some(embedded) if !path.exists() => embedded,
        _ => Files::Disk(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigV1;

    #[test]
    fn shipped_suites_have_the_names_in_their_config() {
        for name in names() {
            let bytes = embedded(name).unwrap().read("karat.toml").unwrap().unwrap();
            let config: ConfigV1 = toml::from_slice(&bytes).unwrap();
            assert_eq!(config.suite.name, name);
        }
        assert!(embedded("Starter").is_none());
    }
}
