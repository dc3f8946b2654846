//! Where links lead: to another page, to a file that is put beside the pages, or to the repository.

use super::outline::Outline;
use super::{plan, schemas};
use std::collections::BTreeMap;
use std::path::Path;

/// What links can lead to.
pub(crate) struct Targets<'a> {
    pub(crate) root: &'a Path,
    /// The headings of every page, by the file it becomes.
    pub(crate) outlines: &'a BTreeMap<&'static str, Outline>,
    /// The address of the repository that files outside the site are linked to; without one they are named only.
    pub(crate) repository: Option<&'a str>,
}

impl Targets<'_> {
    /// What a link in a page becomes, or why it leads nowhere; empty where it is to a file outside the site and the address of the
    /// repository is not known.
    pub(crate) fn resolve(&self, source: &str, link: &str) -> Result<String, String> {
        if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
            return Ok(link.to_owned());
        }
        let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
        let path = if path.is_empty() { source.to_owned() } else { beside(source, path)? };
        let anchored = |file: &str| anchor.map_or_else(|| file.to_owned(), |anchor| format!("{file}#{anchor}"));
        if let Some(page) = plan::by_source(&path) {
            let has = |anchor: &str| self.outlines.get(page.file).is_some_and(|outline| outline.has(anchor));
            return match anchor.filter(|anchor| !has(anchor)) {
                Some(anchor) => Err(format!("{path} has no heading #{anchor}")),
                None => Ok(anchored(page.file)),
            };
        }
        let there = self.root.join(&path);
        match &path {
            path if path.starts_with(schemas::SOURCE) && there.is_file() => Ok(path.clone()),
            path if there.exists() => {
                let kind = if there.is_dir() { "tree" } else { "blob" };
                let address = |repository| anchored(&format!("{repository}/{kind}/main/{path}"));
                Ok(self.repository.map(address).unwrap_or_default())
            }
            path => Err(format!("there is no {path}")),
        }
    }

    /// The file of a picture.
    pub(crate) fn picture(&self, source: &str, link: &str) -> Result<std::path::PathBuf, String> {
        if link.contains("://") {
            return Err(format!("{link} would be loaded from elsewhere; put the picture into docs/pictures"));
        }
        let path = beside(source, link)?;
        let there = self.root.join(&path);
        if there.is_file() { Ok(there) } else { Err(format!("there is no {path}; scripts/pictures makes pictures")) }
    }
}

/// A path as a file writes it, from the root of the repository.
fn beside(source: &str, path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        return Err(format!("{path} is absolute; links are relative to their own page"));
    }
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Err(format!("{path} leaves the repository")),
            ".." => {}
            part => parts.push(part),
        }
    }
    let folder = if path.ends_with('/') { "/" } else { "" };
    Ok(format!("{}{folder}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, link: &str, expected: Result<&str, &str>) {
        let root = crate::root();
        let outline = Outline::parse("# Gates\n\n## gate\n");
        let outlines = BTreeMap::from([("compare.html", outline.clone()), ("index.html", outline)]);
        let found =
            Targets { root: &root, outlines: &outlines, repository: Some("https://host/karat") }.resolve(source, link);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{link} in {source}");
    }

    #[test]
    fn links_lead_to_pages_downloads_and_the_repository() {
        check("docs/reports.md", "compare.md", Ok("compare.html"));
        check("docs/reports.md", "compare.md#gate", Ok("compare.html#gate"));
        check("docs/reports.md", "../README.md", Ok("index.html"));
        check("docs/compare.md", "#gate", Ok("compare.html#gate"));
        check("README.md", "docs/compare.md", Ok("compare.html"));
        check("docs/reports.md", "../schemas/report.json", Ok("schemas/report.json"));
        check("README.md", "LICENSE-MIT", Ok("https://host/karat/blob/main/LICENSE-MIT"));
        check("README.md", "suites", Ok("https://host/karat/tree/main/suites"));
        check("README.md", "https://example.org/a", Ok("https://example.org/a"));
    }

    #[test]
    fn links_that_lead_nowhere_say_so() {
        check("docs/reports.md", "nowhere.md", Err("there is no docs/nowhere.md"));
        check("docs/reports.md", "compare.md#nothing", Err("docs/compare.md has no heading #nothing"));
        check("docs/reports.md", "../../x.md", Err("../../x.md leaves the repository"));
        check("docs/reports.md", "/README.md", Err("/README.md is absolute; links are relative to their own page"));
    }
}
