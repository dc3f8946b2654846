//! Paths, globs and identity keys.

use karat_core::finding::Finding;
use karat_core::identity::key::{self, Anchor, finding_anchor};
use karat_core::path::{FilePattern, RepoPath, glob_matches};

/// Paths and rules are normalised once and for all, globs mean what a plain reading says, and keys come apart as built.
///
/// The lines of the text are a path, a glob, a rule, a scanner's locator and a source.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split('\n');
    let [path, glob, rule, locator, source] = [(); 5].map(|()| parts.next().unwrap_or_default());
    globs(glob, path);
    if let Some(rule) = key::normalize_rule(rule) {
        assert_eq!(key::normalize_rule(&rule).as_ref(), Some(&rule));
    }
    let Some(normal) = RepoPath::new(path) else { return };
    paths(&normal);
    let (line_start, line_end) = (u32::try_from(rule.len()).ok(), u32::try_from(glob.len()).ok());
    let places = [
        finding_anchor(&Finding { anchor: Some(locator.to_owned()), ..Finding::default() }),
        finding_anchor(&Finding { line_start, line_end, ..Finding::default() }),
        finding_anchor(&Finding { chunk: line_start, ..Finding::default() }),
        Some(Anchor::Symbol(locator.to_owned())),
    ];
    for anchor in places.into_iter().flatten() {
        for source in [None, Some(source)] {
            keys(&normal, rule, &anchor, source);
        }
    }
}

fn paths(path: &RepoPath) {
    let text = path.as_str();
    assert_eq!(RepoPath::new(text).as_ref(), Some(path), "normalising again changes it");
    assert!(
        !text.contains('\\') && !text.contains("//") && !text.starts_with('/') && !text.starts_with("./"),
        "{text:?}"
    );
    assert!(text.ends_with(path.file_name()));
    assert!(path.directories().all(|folder| text.contains(folder)));
    assert!(FilePattern::new(text).is_some_and(|pattern| pattern.matches(path)), "{text:?} does not fit itself");
}

fn globs(glob: &str, path: &str) {
    let matched = glob_matches(glob, path);
    if glob.len() <= 16 && path.len() <= 24 {
        assert_eq!(matched, fits(glob.as_bytes(), path.as_bytes(), true), "{glob:?} on {path:?}");
    }
}

/// The meaning of a glob, said as plainly as possible and without regard to time.
fn fits(glob: &[u8], path: &[u8], segment_starts: bool) -> bool {
    let stars = glob.iter().take_while(|byte| **byte == b'*').count();
    let rest = &glob[stars..];
    let mut ends = 0..=path.len();
    match (stars, glob.first()) {
        (0, None) => path.is_empty(),
        (0, Some(byte)) => path.first() == Some(byte) && fits(&glob[1..], &path[1..], *byte == b'/'),
        (1, _) => ends.any(|end| !path[..end].contains(&b'/') && fits(rest, &path[end..], false)),
        (_, _) if segment_starts && rest.first() == Some(&b'/') => {
            ends.any(|end| (end == 0 || path[end - 1] == b'/') && fits(&rest[1..], &path[end..], true))
        }
        _ => ends.any(|end| fits(rest, &path[end..], false)),
    }
}

fn keys(path: &RepoPath, rule: &str, anchor: &Anchor, source: Option<&str>) {
    let Some(key) = key::build(Some(path), Some(rule), Some(anchor), source) else {
        assert!(rule.trim().is_empty(), "no key of {path:?}, {rule:?} and {anchor:?}");
        return;
    };
    let Some(parts) = key::parse(&key) else { panic!("{key:?} cannot be taken apart") };
    assert_eq!(parts.version, if matches!(anchor, Anchor::Symbol(_)) { "v3" } else { "v2" });
    assert_eq!(parts.path, path.as_str().replace('|', "/"));
    assert_eq!(parts.anchor, anchor.to_string());
    assert_eq!(format!("{}|{}|{}", parts.version, parts.path, parts.rest), key);
    assert_eq!(key.matches('|').count(), if source.is_some() { 4 } else { 3 }, "{key:?}");
}
