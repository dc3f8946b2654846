//! Goldens and findings drawn from a seed: texts as reviews write them, and everything else that either may say.

use super::random::Random;
use karat_core::finding::{Finding, MergedReport};
use karat_core::golden::{Golden, Severity};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};

/// Words of reviews, the commonest first.
const COMMON: &str = "the is a to in and of when not this that it for with returns if be can but never value error null \
    which code cache before check should was does using without request user token lock missing called function \
    on are by causing leads will from same key query instead null returned loop async state result data method \
    test after type validation handler timeout invalid race wrong retry concurrent promise index session config \
    unused typo incorrect always exception comparison buffer database path string parse header update deleted \
    process order response total limit thread overflow permission stale default field queue memory leak service \
    password injection counter transaction callback render client schema migration event object list stream \
    encoding metrics logger format window offset cursor pool worker shard socket closure regex locale";

/// What stands between words now and then.
const ODD: &[&str] = &[
    "doesn't",
    "can\u{2019}t",
    "===",
    "!=",
    "=>",
    "??",
    "->",
    "`x`",
    "0.5",
    "3600",
    "404",
    "10.",
    "user.id",
    "open(",
    "HTTPServer_v2",
    "\n",
    "naïve",
    "İstanbul",
    "日本",
    "🦀",
    "`a.b` and `c",
    "__init__",
    "TTLs",
    "X",
    "ß",
    "½",
    "e.g.",
];

/// A text of about so many words.
pub(crate) fn text(random: &mut Random, words: usize) -> String {
    let common: Vec<&str> = COMMON.split_whitespace().collect();
    let mut said: Vec<String> = Vec::with_capacity(words);
    while said.len() < words {
        let word = |random: &mut Random| {
            // Early words are far commoner than late ones.
            let reach = random.below(common.len() as u64) + 1;
            common[random.below(reach) as usize]
        };
        let (first, second) = (word(random), word(random));
        let number = random.below(40);
        said.push(match random.below(24) {
            0 => ODD[random.below(ODD.len() as u64) as usize].to_owned(),
            1 => format!("{first}{}{}", second[..1].to_uppercase(), &second[1..]),
            2 => format!("`{first}_{second}`"),
            3 => format!("{first}ing {second}{number}"),
            4 => format!("{first}.{second}({number})"),
            5 => format!("{first}s,"),
            6 => format!("{first}ed."),
            7 => number.to_string(),
            _ => first.to_owned(),
        });
    }
    said.join(" ")
}

/// Goldens that have nothing but a text.
pub(crate) fn plain_goldens(random: &mut Random, count: usize, words: usize) -> Vec<Golden> {
    let golden = |n: usize, text: String| Golden { description: Some(text), ..Golden::new(format!("g{n}")) };
    (0..count).map(|n| golden(n, text(random, words))).collect()
}

/// Findings that have nothing but a text.
pub(crate) fn plain_findings(random: &mut Random, count: usize, words: usize) -> Vec<Finding> {
    let finding = |n: usize, text: String| Finding { message: Some(text), ..Finding::new(format!("f{n}")) };
    (0..count).map(|n| finding(n, text(random, words))).collect()
}

const FILES: &[&str] = &["src/a.rs", "src/b.rs", "lib/a.rs", "src/**", "**/b.rs", "src/*.rs", "x/y/z.py", "z.py"];
const KINDS: &[&str] = &["sql-injection", "SQL injection", "race", "Race", "--", "memory_leak", "", "style"];
const FUNCTIONS: &[&str] = &["open", " Cache ", "", "getUser", "handler", "nowhere_at_all", "token"];
const KEYWORDS: &[&str] = &["cache", "Null", " leak ", "", "race", "src", "injection", "nothing like it", "ß", "e"];
const SEVERITIES: [Severity; 3] = [Severity::Low, Severity::High, Severity::Critical];

/// One of these, or none.
fn one<T: Clone>(random: &mut Random, of: &[T]) -> Option<T> {
    of.get(random.below(of.len() as u64 + 3) as usize).cloned()
}

fn word(random: &mut Random, of: &[&str]) -> Option<String> {
    one(random, of).map(str::to_owned)
}

fn several(random: &mut Random, of: &[&str], most: u64) -> Vec<String> {
    (0..random.below(most + 1)).filter_map(|_| word(random, of)).collect()
}

fn weaknesses(random: &mut Random) -> Vec<u32> {
    (0..random.below(3)).map(|_| random.below(4) as u32).collect()
}

fn prose(random: &mut Random, words: usize) -> Option<String> {
    (random.below(8) > 0).then(|| text(random, words))
}

/// Goldens that say all manner of things.
pub(crate) fn goldens(random: &mut Random, count: usize, words: usize) -> Vec<Golden> {
    let golden = |n: usize| {
        let start = random.below(60) as u32 + 1;
        Golden {
            severity: one(random, &SEVERITIES),
            category: word(random, KINDS),
            file: one(random, FILES).and_then(FilePattern::new),
            lines: (random.below(3) > 0).then_some(Lines { start, end: start + 5 }),
            function: word(random, FUNCTIONS),
            title: prose(random, 2),
            description: prose(random, words),
            keywords: several(random, KEYWORDS, 4),
            rule_id: word(random, KINDS),
            rule_aliases: several(random, KINDS, 2),
            cwe: weaknesses(random),
            ..Golden::new(format!("g{n}"))
        }
    };
    (0..count).map(golden).collect()
}

/// Findings that say all manner of things.
pub(crate) fn findings(random: &mut Random, count: usize, words: usize) -> Vec<Finding> {
    let finding = |n: usize| Finding {
        severity: one(random, &SEVERITIES),
        category: word(random, KINDS),
        file: one(random, FILES).and_then(RepoPath::new),
        line_start: (random.below(3) > 0).then(|| random.below(80) as u32 + 1),
        line_end: None,
        function: word(random, FUNCTIONS),
        title: prose(random, 2),
        message: prose(random, words),
        rule_id: word(random, KINDS),
        merged: several(random, KINDS, 2)
            .into_iter()
            .map(|rule| MergedReport { rule_id: Some(rule), ..MergedReport::default() })
            .collect(),
        cwe: weaknesses(random),
        ..Finding::new(format!("f{n}"))
    };
    (0..count).map(finding).collect()
}
