//! The suites that are embedded in the binary, compressed by `build.rs`. `suites/` of this crate links to those of the repository, so
//! that a package of the crate contains them.

use karat_io::files::{Files, PackedFiles};
use miniz_oxide::inflate::decompress_to_vec;
use std::path::Path;
use std::sync::OnceLock;

struct ShippedSuite {
    name: &'static str,
    packed: &'static [u8],
    files: OnceLock<PackedFiles>,
}

macro_rules! shipped {
    ($name:literal) => {
        ShippedSuite {
            name: $name,
            packed: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)),
            files: OnceLock::new(),
        }
    };
}

static SUITES: [ShippedSuite; 4] =
    [shipped!("code-review"), shipped!("starter"), shipped!("scanned"), shipped!("agreements")];

/// The shipped suite with this name.
pub fn embedded(name: &str) -> Option<Files> {
    let suite = SUITES.iter().find(|suite| suite.name == name)?;
    Some(Files::Embedded(suite.name, suite.files.get_or_init(|| unpack(suite.packed))))
}

#[expect(clippy::expect_used, reason = "build.rs made the bytes, and a test unpacks all of them")]
fn unpack(packed: &[u8]) -> PackedFiles {
    let bytes = decompress_to_vec(packed).expect("it is compressed");
    PackedFiles::unpack(&bytes).expect("it is packed")
}

/// The names of the shipped suites.
pub fn names() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|suite| suite.name)
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
