//! Paths as a tool saw them, made relative to its checkout.

use karat_core::finding::Finding;
use karat_core::path::RepoPath;
use karat_import::Sources;
use percent_encoding::percent_decode_str;

/// The paths under which the tool may have seen its checkout.
pub(super) struct Roots<'a> {
    /// With a slash at the end, longest first, so that the nearest is cut.
    absolute: Vec<String>,
    sources: Sources<'a>,
}

impl<'a> Roots<'a> {
    pub(super) fn new(roots: &[String], sources: Sources<'a>) -> Self {
        let whole = roots.iter().filter(|root| root.starts_with('/') && root.len() > 1);
        let mut absolute: Vec<String> = whole.map(|root| format!("{}/", root.trim_end_matches('/'))).collect();
        absolute.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Self { absolute, sources }
    }

    /// Makes the path of a finding relative, and removes the path of the checkout, which differs between runs, from its text.
    pub(super) fn strip(&self, finding: &mut Finding) {
        finding.file = finding.file.take().map(|file| self.relative(&file));
        for text in [&mut finding.title, &mut finding.message].into_iter().flatten() {
            *text = self.plain(text);
        }
    }

    /// The path below the checkout; the path itself if it does not lead there.
    pub(super) fn relative(&self, path: &RepoPath) -> RepoPath {
        // A `RepoPath` has no leading slash, and what was an address has no double slashes.
        let address = path.as_str().strip_prefix("file:").map(|rest| rest.trim_start_matches("/localhost/"));
        let text = address.unwrap_or(path.as_str());
        let decoded = percent_decode_str(text).decode_utf8_lossy();
        for candidate in [text, decoded.as_ref()] {
            let absolute = format!("/{}", candidate.trim_start_matches('/'));
            let below = self.absolute.iter().find_map(|root| absolute.strip_prefix(root.as_str()));
            let Some(below) = below.and_then(RepoPath::new) else { continue };
            // The code may contain a folder with the same path as the checkout.
            return if address.is_none() && (self.sources)(path).is_some() { path.clone() } else { below };
        }
        path.clone()
    }

    pub(super) fn source(&self, path: &RepoPath) -> Option<String> {
        (self.sources)(&self.relative(path))
    }

    /// A file that a tool names, for messages.
    pub(super) fn display(&self, file: &str) -> String {
        RepoPath::new(file).map_or_else(|| file.to_owned(), |path| self.relative(&path).to_string())
    }

    /// A text without the path of the checkout.
    pub(super) fn plain(&self, text: &str) -> String {
        self.absolute.iter().fold(text.to_owned(), |text, root| text.replace(root.as_str(), ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_relative() {
        let there = |path: &RepoPath| (path.as_str() == "tmp/a b/own.py").then(String::new);
        let roots = Roots::new(&["/tmp/a b", "/tmp/a b/deep/", "/"].map(String::from), &there);
        let check = |raw: &str, expect: &str| {
            assert_eq!(roots.relative(&RepoPath::new(raw).unwrap()).as_str(), expect, "{raw}");
        };
        check("/tmp/a b/src/x.py", "src/x.py");
        check("/tmp/a b/deep/x.py", "x.py");
        check("file:///tmp/a b/x.py", "x.py");
        check("file:///tmp/a%20b/caf%C3%A9.py", "café.py");
        check("file://localhost/tmp/a%20b/x.py", "x.py");
        check("/tmp/a%20b/x.py", "x.py");
        check("./src/x.py", "src/x.py");
        check("src/100%25.py", "src/100%25.py");
        check("/tmp/a bc/x.py", "tmp/a bc/x.py");
        check("/tmp/a b", "tmp/a b");
        check("/etc/passwd", "etc/passwd");
        check("tmp/a b/own.py", "tmp/a b/own.py");
        check("file:///tmp/a b/own.py", "own.py");
    }
}
