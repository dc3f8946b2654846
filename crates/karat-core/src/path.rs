//! Paths inside a checkout, written one way on every system, and the globs that goldens may use for them.

use std::borrow::Borrow;
use std::fmt;

/// A path with forward slashes, no leading `./` or `/`, no doubled slashes; letter case is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

impl RepoPath {
    /// Normalises `raw`; `None` when nothing is left of it.
    pub fn new(raw: &str) -> Option<Self> {
        let mut path = String::with_capacity(raw.len());
        for c in raw.trim().chars() {
            let c = if c == '\\' { '/' } else { c };
            if !(c == '/' && path.ends_with('/')) {
                path.push(c);
            }
        }
        // Blanks may hide a further prefix, so they are trimmed as often as one is removed.
        let mut rest = path.trim();
        while let Some(shorter) = rest.strip_prefix("./").or_else(|| rest.strip_prefix('/')) {
            rest = shorter.trim();
        }
        (!rest.is_empty()).then(|| Self(rest.to_owned()))
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The segments before the last.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        let cut = self.0.rfind('/').unwrap_or(0);
        self.0[..cut].split('/').filter(|segment| !segment.is_empty())
    }

    /// Whether the path climbs out of its root or names a drive.
    pub fn escapes(&self) -> bool {
        self.0.split('/').any(|segment| segment == "..") || self.0.get(1..2) == Some(":")
    }
}

impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a golden lies: one path, or all paths that fit a glob.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilePattern {
    /// One file.
    Exact(RepoPath),
    /// `*` within a segment, `**` across segments; every other character stands for itself.
    Glob(RepoPath),
}

impl FilePattern {
    /// Normalises `raw` and sees whether it is a glob.
    pub fn new(raw: &str) -> Option<Self> {
        let path = RepoPath::new(raw)?;
        Some(if path.as_str().contains('*') { Self::Glob(path) } else { Self::Exact(path) })
    }

    /// The path or the glob, as text.
    pub fn path(&self) -> &RepoPath {
        match self {
            Self::Exact(path) | Self::Glob(path) => path,
        }
    }

    /// Whether this is a glob.
    pub fn is_glob(&self) -> bool {
        matches!(self, Self::Glob(_))
    }

    /// Whether `path` is the file, or fits the glob.
    pub fn matches(&self, path: &RepoPath) -> bool {
        match self {
            Self::Exact(own) => own == path,
            Self::Glob(glob) => glob_matches(glob.as_str(), path.as_str()),
        }
    }
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().fmt(f)
    }
}

/// Matches a whole path in time proportional to the product of the lengths. Brackets and question marks are ordinary
/// characters, because frameworks put them in file names (`app/[id]/page.tsx`).
pub fn glob_matches(glob: &str, path: &str) -> bool {
    // reachable[i]: the glob so far can have consumed exactly the first i bytes of the path.
    let path = path.as_bytes();
    let mut reachable = vec![false; path.len() + 1];
    reachable[0] = true;
    let (mut rest, mut at_start) = (glob.as_bytes(), true);
    while let Some(&first) = rest.first() {
        let stars = rest.iter().take_while(|&&b| b == b'*').count();
        // `**/`, which may also stand for nothing at all.
        let any_directories = stars > 1 && at_start && rest.get(stars) == Some(&b'/');
        let before = std::mem::replace(&mut reachable, vec![false; path.len() + 1]);
        let mut open = false;
        for i in 0..=path.len() {
            let was_open = open;
            open = before[i] || (open && (stars > 1 || path[i - 1] != b'/'));
            reachable[i] = match stars {
                0 => i > 0 && before[i - 1] && path[i - 1] == first,
                _ if any_directories => before[i] || (was_open && path[i - 1] == b'/'),
                _ => open,
            };
        }
        at_start = any_directories || first == b'/';
        rest = &rest[if any_directories { stars + 1 } else { stars.max(1) }..];
    }
    reachable[path.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_one_way() {
        let check = |raw: &str, expect: Option<&str>| {
            assert_eq!(RepoPath::new(raw).as_ref().map(RepoPath::as_str), expect, "{raw:?}");
        };
        check(
            "./cases\\supabase-baseline/frontend//utils/api.ts",
            Some("cases/supabase-baseline/frontend/utils/api.ts"),
        );
        check(" .//./src/A.ts ", Some("src/A.ts"));
        check("/abs/x", Some("abs/x"));
        check("/ ./ /a", Some("a"));
        check("././/", None);
        check("  ", None);
        check(".hidden/x", Some(".hidden/x"));
    }

    #[test]
    fn globs_follow_segments() {
        let check = |glob: &str, path: &str, expect: bool| {
            assert_eq!(glob_matches(glob, path), expect, "{glob} on {path}");
        };
        check("src/*.ts", "src/a.ts", true);
        check("src/*.ts", "src/b/a.ts", false);
        check("src/**/a.ts", "src/a.ts", true);
        check("src/**/a.ts", "src/x/y/a.ts", true);
        check("**/a.ts", "a.ts", true);
        check("**/a.ts", "ba.ts", false);
        check("src/**", "src/x/y", true);
        check("src/**", "srcs/x", false);
        check("app/[id]/*.tsx", "app/[id]/page.tsx", true);
        check("a*b*c", "axxbxxc", true);
        check("a*b*c", "axx/bxxc", false);
        check("**", "", true);
        check("", "", true);
    }

    #[test]
    fn hostile_globs_end() {
        let glob = "*a".repeat(500);
        assert!(!glob_matches(&glob, &"a".repeat(400)));
    }

    #[test]
    fn escaping_paths_are_seen() {
        for (raw, expect) in [("../x", true), ("a/../../x", true), ("C:/x", true), ("a/..b", false)] {
            assert_eq!(RepoPath::new(raw).map(|p| p.escapes()), Some(expect), "{raw}");
        }
    }
}
