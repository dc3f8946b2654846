//! What the search looks through: headings on every page, and all text on one.

use super::check::Drawn;
use serde_json::json;

/// Scripts of every page, after the index.
pub(crate) const FIND: &[&str] = &[include_str!("search/rank.js"), include_str!("search/find.js")];

/// The script of the page that searches all text.
pub(crate) const PAGE: &str = include_str!("search/page.js");

/// The index as a script: page, heading, where it is, and the text below it, which is empty unless asked for.
pub(crate) fn index(pages: &[Drawn], with_text: bool) -> String {
    let mut rows = Vec::new();
    for page in pages {
        for (place, heading) in page.outline.headings.iter().enumerate() {
            let href = match place {
                0 => page.entry.file.to_owned(),
                _ => format!("{}#{}", page.entry.file, heading.id),
            };
            let below: Vec<&str> = if with_text { heading.below.split_whitespace().collect() } else { Vec::new() };
            rows.push(json!([page.entry.name, heading.title, href, below.join(" ")]));
        }
    }
    // A script ends at the first closing tag in it, wherever that stands.
    format!("const INDEX = {};", json!(rows).to_string().replace('<', "\\u003c"))
}
