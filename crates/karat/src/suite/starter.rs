//! The suite that ships in the binary, so that Karat has something to show at once.

use super::files::Files;
use include_dir::{Dir, include_dir};

static STARTER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../suites/starter");

/// The name the shipped suite is asked for by.
pub const NAME: &str = "starter";

/// The shipped suite of that name.
pub fn embedded(name: &str) -> Option<Files> {
    (name == NAME).then_some(Files::Embedded(NAME, &STARTER))
}
