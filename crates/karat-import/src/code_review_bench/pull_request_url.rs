//! URLs of pull requests, and case ids made from them.

use karat_core::ids::CaseId;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of `https://host/owner/repo/pull/7`.
#[derive(Debug, PartialEq)]
pub(super) struct PullRequestUrl<'a> {
    owner: &'a str,
    repo: &'a str,
    number: &'a str,
}

impl<'a> PullRequestUrl<'a> {
    /// `None` where the text is not the URL of a pull request.
    pub(super) fn parse(url: &'a str) -> Option<Self> {
        let (_, rest) = url.trim().split_once("://")?;
        let rest = rest.split(['?', '#']).next()?;
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        let at = parts.iter().position(|part| matches!(*part, "pull" | "pulls" | "merge_requests"))?;
        let number = *parts.get(at + 1)?;
        let before: Vec<&str> = parts.get(1..at)?.iter().copied().filter(|part| *part != "-").collect();
        let &[.., owner, repo] = before.as_slice() else { return None };
        (number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty()).then_some(Self { owner, repo, number })
    }

    pub(super) fn repository(&self) -> String {
        format!("{}/{}", self.owner, self.repo)
    }
}

/// A case id for each URL, by the URLs alone: `<repo>-<number>`, or with the owner where that is ambiguous.
pub(super) fn case_ids<'a>(urls: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, CaseId> {
    let mut by_short: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for url in urls {
        let short =
            PullRequestUrl::parse(url).map_or_else(|| slug(url), |at| slug(&format!("{}-{}", at.repo, at.number)));
        let same = by_short.entry(short).or_default();
        if !same.contains(&url) {
            same.push(url);
        }
    }
    let mut ids = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (short, mut same) in by_short {
        same.sort_unstable();
        let alone = same.len() == 1;
        for (index, url) in same.into_iter().enumerate() {
            let id = match PullRequestUrl::parse(url) {
                _ if alone => short.clone(),
                Some(at) => slug(&format!("{}-{}-{}", at.owner, at.repo, at.number)),
                None => format!("{short}-{}", index + 1),
            };
            // Hyphens in names can still make two ids equal.
            let mut unique = id.clone();
            let mut further = 2;
            while !taken.insert(unique.clone()) {
                unique = format!("{id}-{further}");
                further += 1;
            }
            ids.insert(url.to_owned(), CaseId::new(unique));
        }
    }
    ids
}

fn slug(text: &str) -> String {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }).collect();
    let plain = plain.trim_matches(['-', '.']);
    if plain.is_empty() { "case".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_unique() {
        let check = |urls: &[&str], expect: &[&str]| {
            let ids = case_ids(urls.iter().copied());
            let ids: Vec<&str> = urls.iter().filter_map(|url| ids.get(*url)).map(CaseId::as_str).collect();
            assert_eq!(ids, expect, "{urls:?}");
        };
        check(&["https://github.com/getsentry/sentry/pull/93824"], &["sentry-93824"]);
        check(&["https://github.com/calcom/cal.com/pull/8087/files?x=1"], &["cal.com-8087"]);
        check(&["https://gitlab.test/group/sub/repo/-/merge_requests/7"], &["repo-7"]);
        check(&["https://h/b/r/pull/1", "https://h/a/r/pull/1"], &["b-r-1", "a-r-1"]);
        check(&["https://h/a/r/pull/1", "https://h/a/r/pull/1"], &["r-1", "r-1"]);
        check(&["https://h/a/r/pull/1", "http://h/a/r/pull/1"], &["a-r-1-2", "a-r-1"]);
        check(&["not an address", "../x", ""], &["not-an-address", "x", "case"]);
        check(&["a b", "a/b"], &["a-b-1", "a-b-2"]);
    }
}
