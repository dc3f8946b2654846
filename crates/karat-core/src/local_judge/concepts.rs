//! Synonym groups: a golden says "nil" where a finding says "undefined".
//!
//! The groups are about software at large and hold no name of any project. They were written by hand, after reading some
//! pairs of the benchmark that the shipped parameters are fitted on, so that figures on it flatter them a little.

use super::hashing::FastHash;
use super::words::stem;
use std::collections::HashMap;

/// One group a line; a word may stand in several.
const GROUPS: &[&str] = &[
    "null nil none undefined nullable nullptr npe optional",
    "race concurrent concurrently concurrency simultaneous simultaneously parallel atomic toctou thread racy interleave",
    "crash panic exception throw raise error typeerror runtime abort fault attributeerror keyerror",
    "lock mutex transaction deadlock semaphore synchronize serialize",
    "wrong incorrect incorrectly invalid flawed bug broken buggy mistake erroneous mistaken faulty",
    "inconsistent inconsistency mismatch differ different differently diverge unlike discrepancy conflict",
    "missing lack omit absent forget without fail neglect unimplemented",
    "typo misspell spelling misspelled misspelling",
    "rename name naming misleading confusing confusion misnomer",
    "slow performance inefficient latency expensive overhead costly quadratic",
    "cache memoize memo stale invalidate outdated",
    "security vulnerability vulnerable exploit attack attacker malicious unsafe insecure",
    "inject injection sanitize escape xss unsanitized",
    "auth authorization authorize permission access privilege unauthorized forbidden role admin",
    "authentication login credential password token session oauth",
    "leak memory resource unbounded grow",
    "test tests flaky assertion assert mock coverage fixture brittle",
    "unused dead unreachable redundant unnecessary duplicate useless",
    "always unconditional unconditionally regardless every",
    "never ignored ignore skip skipped bypass",
    "async await promise asynchronous asynchronously unawaited fire forget",
    "delete remove deletion cleanup orphan purge",
    "update modify mutate overwrite change set",
    "create insert add new instantiate construct",
    "return returned result output",
    "log logging logger",
    "metric metrics tag label telemetry instrumentation",
    "time timestamp timezone utc date clock datetime duration",
    "timeout deadline hang hung block blocking stuck sleep wait",
    "loop iterate iteration foreach",
    "sort order ordering sorted",
    "compare comparison equality equal equals identical",
    "reference identity instance object",
    "type typed cast typing annotation",
    "default fallback",
    "validate validation check verify guard",
    "case lowercase uppercase sensitive insensitive",
    "limit bound exceed maximum max count",
    "negative slice slicing offset pagination paginate cursor index",
    "hash digest deterministic nondeterministic randomization",
    "sql query database db",
    "abstract implement implementation interface override inherit subclass",
    "mutable shared share immutable",
    "empty blank length zero",
    "compile build compilation syntax",
    "config configuration setting option flag",
    "translation locale i18n language localize",
    "css style layout ui visual",
    "api endpoint route request http",
    "retry backoff",
    "regression break breaking compatibility backward",
    "document documentation comment docstring",
    "scope variable shadow closure",
    "copy paste",
    "swap reversed invert inverted opposite negate negated negation",
];

/// A set of groups, one bit each.
pub(super) type Groups = u128;

/// The groups of every word that has one, by its stem.
pub(super) struct Concepts(HashMap<String, Groups, FastHash>);

impl Concepts {
    pub(super) fn new() -> Self {
        let mut table: HashMap<String, Groups, FastHash> = HashMap::default();
        for (number, group) in GROUPS.iter().enumerate() {
            for word in group.split(' ') {
                *table.entry(stem(word).into_owned()).or_default() |= 1 << number;
            }
        }
        Self(table)
    }

    pub(super) fn get(&self, stem: &str) -> Groups {
        self.0.get(stem).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_meet() {
        let concepts = Concepts::new();
        let check = |a: &str, b: &str, expect: bool| {
            assert_eq!(concepts.get(&stem(a)) & concepts.get(&stem(b)) != 0, expect, "{a} and {b}");
        };
        check("nil", "undefined", true);
        check("concurrently", "race", true);
        check("throws", "panics", true);
        check("nil", "race", false);
        check("zebra", "zebra", false);
    }

    #[test]
    fn every_group_has_its_bit() {
        assert!(GROUPS.len() <= 128);
        for group in GROUPS {
            assert!(
                group.split(' ').all(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_alphanumeric())),
                "{group}"
            );
        }
    }
}
