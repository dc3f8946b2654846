//! Converts the URIs of a SARIF file to paths inside the checkout.

use super::model::{Artifact, ArtifactLocation};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct UriResolver {
    bases: BTreeMap<String, Base>,
    /// The absolute path of the checkout, if the run has it.
    root: Option<String>,
}

/// A base below an absolute path, or below the root of the checkout.
#[derive(Clone, Debug, Default, PartialEq)]
struct Base {
    absolute: Option<String>,
    below: String,
}

/// The longest chain of bases or nested files; a longer one is a cycle.
const MAX_CHAIN: usize = 16;

impl UriResolver {
    pub(super) fn new(stated: &BTreeMap<String, ArtifactLocation>) -> Self {
        let bases: BTreeMap<String, Base> =
            stated.keys().map(|name| (name.clone(), follow(stated, name, MAX_CHAIN))).collect();
        let absolute = || bases.iter().filter_map(|(name, base)| Some((name, base.absolute.as_ref()?, &base.below)));
        let named = absolute().find(|(name, ..)| name.trim_matches('%').eq_ignore_ascii_case("srcroot"));
        // A base with another name is the root only if it is the only one.
        let only = || Some(absolute().next()?).filter(|_| absolute().count() == 1);
        let root = named.or_else(only).map(|(_, absolute, below)| joined(absolute, below));
        Self { bases, root }
    }

    /// The path of a file, relative to the checkout if possible.
    pub(super) fn path(&self, location: &ArtifactLocation, artifacts: &[Artifact]) -> Option<String> {
        if location.uri.as_ref().is_none_or(|uri| uri.is_empty()) {
            return self.artifact(location.index?, artifacts, MAX_CHAIN);
        }
        let uri = location.uri.as_deref()?;
        let path = path_of(uri);
        if is_absolute(&path) {
            return Some(self.below_root(&path).unwrap_or_else(|| without_dots(&path)));
        }
        let own = location.base.as_ref().and_then(|base| self.bases.get(base));
        let Some(base) = own else { return Some(without_dots(&path)) };
        let below = joined(&base.below, &path);
        let full = base.absolute.as_ref().map(|absolute| joined(absolute, &below));
        Some(full.and_then(|full| self.below_root(&full)).unwrap_or_else(|| without_dots(&below)))
    }

    fn artifact(&self, index: u32, artifacts: &[Artifact], depth: usize) -> Option<String> {
        let artifact = artifacts.get(index as usize)?;
        let own = artifact.location.uri.as_ref().filter(|uri| !uri.is_empty());
        let own = own.and_then(|_| self.path(&artifact.location, artifacts));
        let parent = artifact.parent.filter(|_| depth > 0);
        match (parent.and_then(|parent| self.artifact(parent, artifacts, depth - 1)), own) {
            (Some(parent), Some(own)) => Some(joined(&parent, own.trim_start_matches('/'))),
            (parent, own) => own.or(parent),
        }
    }

    fn below_root(&self, path: &str) -> Option<String> {
        let path = without_dots(path);
        let root = without_dots(self.root.as_ref()?);
        let root = root.trim_end_matches('/');
        let head = path.get(..root.len())?;
        let same = if drive(root) { head.eq_ignore_ascii_case(root) } else { head == root };
        let rest = path[root.len()..].strip_prefix('/')?;
        (same && !rest.is_empty()).then(|| rest.to_owned())
    }
}

fn follow(stated: &BTreeMap<String, ArtifactLocation>, name: &str, depth: usize) -> Base {
    let Some(own) = stated.get(name) else { return Base::default() };
    let path = own.uri.as_deref().map(path_of).unwrap_or_default();
    if is_absolute(&path) {
        return Base { absolute: Some(path), below: String::new() };
    }
    match own.base.as_ref().filter(|_| depth > 0) {
        Some(parent) => {
            let parent = follow(stated, parent, depth - 1);
            Base { below: joined(&parent.below, &path), absolute: parent.absolute }
        }
        None => Base { absolute: None, below: path },
    }
}

/// The decoded path of a URI, with forward slashes.
fn path_of(uri: &str) -> String {
    let uri = uri.trim().replace('\\', "/");
    let uri = uri.strip_prefix("%SRCROOT%/").unwrap_or(&uri);
    let scheme = uri.get(..5).filter(|start| start.eq_ignore_ascii_case("file:"));
    let rest = if scheme.is_some() { &uri[5..] } else { uri };
    let decoded = percent_decode_str(rest).decode_utf8_lossy();
    if scheme.is_none() {
        return decoded.into_owned();
    }
    let path = match decoded.strip_prefix("//") {
        // `file:////host/share` and `file://host/share` both name a share; `file://localhost/` names none.
        Some(rest) => rest.strip_prefix("localhost/").map(|path| format!("/{path}")).unwrap_or_else(|| {
            if rest.starts_with('/') || drive(rest) { rest.to_owned() } else { format!("//{rest}") }
        }),
        None => decoded.into_owned(),
    };
    match path.strip_prefix('/') {
        Some(rest) if drive(rest) => rest.to_owned(),
        _ => path,
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || drive(path)
}

fn drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes.get(2), None | Some(b'/'))
}

fn joined(base: &str, path: &str) -> String {
    match (base.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => base.to_owned(),
        _ => format!("{}/{}", base.trim_end_matches('/'), path),
    }
}

/// Resolves `.` and `..` as far as the path itself allows.
fn without_dots(path: &str) -> String {
    if !path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return path.to_owned();
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => (),
            ".." if segments.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(uri: &str, base: &str) -> ArtifactLocation {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ArtifactLocation { uri: text(uri), base: text(base), index: None }
    }

    fn uris(bases: &[(&str, &str, &str)]) -> UriResolver {
        UriResolver::new(&bases.iter().map(|(name, uri, base)| ((*name).to_owned(), location(uri, base))).collect())
    }

    #[test]
    fn uris_become_paths() {
        let check = |uri: &str, expect: &str| {
            let path = uris(&[]).path(&location(uri, "%SRCROOT%"), &[]);
            assert_eq!(path.as_deref(), Some(expect), "{uri}");
        };
        check("src/a.c", "src/a.c");
        check("src\\win\\a.c", "src/win/a.c");
        check("./src/./x/../a%20b.c", "src/a b.c");
        check("../up.c", "../up.c");
        check("a/../../up.c", "../up.c");
        check("%SRCROOT%/src/a.c", "src/a.c");
        check("file:///home/u/a.c", "/home/u/a.c");
        check("file:/home/u/a.c", "/home/u/a.c");
        check("file://localhost/home/a.c", "/home/a.c");
        check("file:///C:/x/a.c", "C:/x/a.c");
        check("FILE://C:/x/a.c", "C:/x/a.c");
        check("file://server/share/a.c", "//server/share/a.c");
        check("C:\\x\\a.c", "C:/x/a.c");
        check("100%.txt", "100%.txt");
        check("%ff.txt", "\u{fffd}.txt");
        check("file:", "");
    }

    #[test]
    fn bases_are_resolved_to_the_root() {
        let bases = [
            ("%SRCROOT%", "file:///home/u/proj/", ""),
            ("LIB", "lib/", "%SRCROOT%"),
            ("DEEP", "deep", "LIB"),
            ("OUT", "file:///home/u/proj/out", ""),
            ("ELSEWHERE", "file:///usr/include/", ""),
            ("EMPTY", "", ""),
            ("ROUND", "a/", "TRIP"),
            ("TRIP", "b/", "ROUND"),
        ];
        let uris = uris(&bases);
        let check = |uri: &str, base: &str, expect: &str| {
            assert_eq!(uris.path(&location(uri, base), &[]).as_deref(), Some(expect), "{uri} {base}");
        };
        check("a.c", "%SRCROOT%", "a.c");
        check("a.c", "LIB", "lib/a.c");
        check("../a.c", "DEEP", "lib/a.c");
        check("gen.c", "OUT", "out/gen.c");
        check("stdio.h", "ELSEWHERE", "stdio.h");
        check("a.c", "EMPTY", "a.c");
        check("a.c", "UNKNOWN", "a.c");
        check("file:///home/u/proj/x/a.c", "", "x/a.c");
        check("/home/u/project/a.c", "", "/home/u/project/a.c");
        let round = uris.path(&location("a.c", "ROUND"), &[]).unwrap();
        assert!(round.ends_with("b/a/a.c") && round.len() < 100, "{round}");
    }

    #[test]
    fn single_absolute_base_is_the_root() {
        let uris = uris(&[("PROJ", "file:///C:/Code/proj/", "")]);
        let path = uris.path(&location("file:///c:/code/proj/src/a.c", ""), &[]);
        assert_eq!(path.as_deref(), Some("src/a.c"));
    }

    #[test]
    fn files_may_be_nested() {
        let artifact = |uri: &str, parent| Artifact { location: location(uri, ""), parent, ..Artifact::default() };
        let artifacts = [
            artifact("app.zip", None),
            artifact("/docs/intro.docx", Some(0)),
            artifact("word/document.xml", Some(1)),
            artifact("loop", Some(3)),
        ];
        let path = |index| {
            let by_index = ArtifactLocation { index: Some(index), ..ArtifactLocation::default() };
            uris(&[]).path(&by_index, &artifacts)
        };
        assert_eq!(path(2).as_deref(), Some("app.zip/docs/intro.docx/word/document.xml"));
        assert!(path(3).unwrap().starts_with("loop/loop"));
        assert_eq!(path(4), None);
    }
}
