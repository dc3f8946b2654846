//! Files with which people set things: profiles, manifests of tools, rules of the built-in tool, and demands.

use super::document::check_faults;
use karat::gate;
use karat::profile;
use karat::tool::manifest::{Context, Manifest};
use karat::tool::patterns::Patterns;
use karat::tool::{catalogue, placeholders};
use karat_core::profile::Profile;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::tool::ToolManifestV1;
use std::path::Path;

/// A profile is taken or refused; what is taken survives being written, and single values can be set in it.
pub fn profile(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = |name: &str| Ok((name == "own.toml").then(|| text.clone().into_owned()));
    let profile = match profile::resolve("own.toml", &read, &[]) {
        Err(error) => return assert!(!error.to_string().is_empty(), "refused without a reason"),
        Ok(profile) => profile,
    };
    for text in [profile::to_toml(&profile), profile::to_difference(&profile)] {
        let again = profile::resolve("own.toml", &|name| Ok((name == "own.toml").then(|| text.clone())), &[]);
        // A difference says neither what it is called nor what it is for.
        let (name, description) = (profile.name.clone(), profile.description.clone());
        let again = again.map(|again| Profile { name, description, ..again });
        assert_eq!(again.map_err(|error| error.to_string()).as_ref(), Ok(&profile), "{text}");
    }
    for line in text.lines() {
        let _ = profile::parse_set(line);
    }
}

/// By the first byte a manifest, the rules of the built-in tool or demands: taken or refused, with faults that lie in the text.
pub fn manifest(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match choice % 3 {
        0 => tool(bytes),
        1 => {
            if let Err(faults) = Patterns::load(&text, "in.toml") {
                check_faults(&faults.0, text.as_bytes());
            }
        }
        _ => {
            if let Err(faults) = gate::read(&text, "in.toml") {
                check_faults(&faults.0, text.as_bytes());
            }
        }
    }
}

fn tool(bytes: &[u8]) {
    let schema = schema_of::<ToolManifestV1>();
    let raw = match decode_bytes::<ToolManifestV1>("in.toml", bytes, Syntax::Toml, &schema).into_result() {
        Err(faults) => return check_faults(&faults, bytes),
        Ok((raw, _)) => raw,
    };
    for files_anywhere in [false, true] {
        let context = Context { model: Some("m"), home: Some(Path::new("/home/of")), files_anywhere };
        if let Err(faults) = Manifest::resolve("tool", &raw, &context) {
            assert!(faults.iter().all(|fault| !fault.to_string().is_empty()) && !faults.is_empty());
        }
    }
    for word in &raw.command {
        let _ = placeholders::used(word);
    }
    let text = catalogue::to_toml("tool", &raw);
    assert!(!text.is_empty());
}
