//! The texts that pages are made from.

use super::plan::{self, Entry};
use super::schemas;
use std::path::Path;

/// A page and its Markdown.
pub(crate) struct Source {
    pub(crate) entry: &'static Entry,
    pub(crate) text: String,
}

/// All of them, in the order of the plan. What is planned and absent, and what is there and not planned, are faults.
pub(crate) fn read(root: &Path) -> Result<Vec<Source>, Vec<String>> {
    let (mut sources, mut faults) = (Vec::new(), Vec::new());
    for entry in plan::entries() {
        let text = match entry.source {
            schemas::SOURCE => schemas::page(root),
            path => std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}")),
        };
        match text {
            Ok(text) => sources.push(Source { entry, text }),
            Err(fault) => faults.push(fault),
        }
    }
    match unplanned(root) {
        Ok(found) => faults.extend(found),
        Err(error) => faults.push(format!("docs: {error}")),
    }
    if faults.is_empty() { Ok(sources) } else { Err(faults) }
}

fn unplanned(root: &Path) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("docs"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = format!("docs/{name}");
        if name.ends_with(".md") && plan::by_source(&path).is_none() {
            found.push(format!("{path} is not in the navigation: add its line to SECTIONS in examples/site/plan.rs"));
        }
    }
    found.sort();
    Ok(found)
}
