//! The JSON Schemas, as downloads and as a page that lists them.

use serde_json::Value;
use std::path::Path;

/// Where they lie. The page that lists them is written here and has no file of its own.
pub(crate) const SOURCE: &str = "schemas/";

/// The names of all schemas, in order.
pub(crate) fn names(root: &Path) -> Result<Vec<String>, String> {
    let wrong = |error: std::io::Error| format!("schemas: {error}");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join(SOURCE)).map_err(wrong)? {
        names.push(entry.map_err(wrong)?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    Ok(names)
}

/// The page.
pub(crate) fn page(root: &Path) -> Result<String, String> {
    let mut text = String::from(
        "# JSON Schemas\n\nEvery file that Karat reads or writes has a schema, made from the types in the code. Editors complete and \
         check files by them; [formats](../docs/formats.md) explains the fields.\n\n| schema | what it describes |\n|---|---|\n",
    );
    for name in names(root)? {
        let path = format!("{SOURCE}{name}");
        let read = std::fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
        let schema: Value = serde_json::from_str(&read).map_err(|error| format!("{path}: {error}"))?;
        let said = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().replace(['|', '\n'], " ");
        text.push_str(&format!("| [{name}]({name}) | **{}**: {} |\n", said("title"), said("description")));
    }
    Ok(text)
}
