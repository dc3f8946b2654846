//! Suites and trials of any size, drawn from a seed: what a benchmark of code reviewers looks like from afar.

use crate::random::Random;
use karat_core::finding::Finding;
use karat_core::golden::{Golden, Severity};
use karat_core::ids::{CaseId, ToolName};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::Profile;
use karat_core::suite::{Case, Difficulty, Suite, Verdict};
use karat_core::trial::Trial;

/// How many goldens the cases have, in turn; 20 on average. Findings take the same turns, shifted.
const SIZES: [usize; 5] = [8, 14, 20, 26, 32];
const SEVERITIES: [Severity; 5] = [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info];
const CATEGORIES: [&str; 6] = ["sql-injection", "race", "leak", "logic", "performance", "style"];
const DIRECTORIES: [&str; 6] = ["src", "api", "store", "web", "jobs", "tests"];
const LANGUAGES: [&str; 4] = ["rust", "python", "go", "typescript"];
const TERMS: [&str; 40] = [
    "cache", "token", "lock", "query", "cursor", "buffer", "index", "offset", "thread", "session", "cookie", "header",
    "payload", "schema", "retry", "timeout", "socket", "stream", "parser", "escape", "pointer", "overflow", "bounds",
    "default", "password", "digest", "random", "secret", "path", "symlink", "upload", "queue", "worker", "handle",
    "callback", "promise", "null", "unicode", "locale", "timezone",
];
const FILLERS: [&str; 32] = [
    "the",
    "this",
    "value",
    "is",
    "never",
    "checked",
    "before",
    "use",
    "and",
    "may",
    "fail",
    "when",
    "a",
    "caller",
    "passes",
    "more",
    "than",
    "one",
    "should",
    "be",
    "closed",
    "after",
    "call",
    "which",
    "leads",
    "to",
    "wrong",
    "state",
    "under",
    "load",
    "in",
    "production",
];

/// A shipped profile, without its judge: this is about matching.
pub(crate) fn profile(text: &str) -> Profile {
    let shipped = toml::from_str(text).expect("a shipped profile");
    Profile { judge: "none".to_owned(), ..shipped }
}

/// A suite with 20 goldens a case on average. `keywords` is how many each golden has; with none, prose is compared.
pub(crate) fn suite(cases: usize, keywords: usize) -> Suite {
    let cases = (0..cases).map(|index| case(index, keywords)).collect();
    Suite { name: "drawn".to_owned(), digest: String::new(), cases }
}

fn case(index: usize, keywords: usize) -> Case {
    let mut random = Random::new(index as u64 * 2);
    let mut case = Case::new(format!("case-{index}"));
    case.verdict = Verdict::Vulnerable;
    case.language = Some(pick(&mut random, &LANGUAGES).to_owned());
    case.difficulty = Some([Difficulty::Easy, Difficulty::Medium, Difficulty::Hard][index % 3]);
    case.goldens = (0..SIZES[index % SIZES.len()]).map(|number| golden(&mut random, number, keywords)).collect();
    case
}

fn golden(random: &mut Random, number: usize, keywords: usize) -> Golden {
    let start = 1 + random.below(400) as u32;
    let named: Vec<String> = (0..4).map(|_| term(random)).collect();
    let said = prose(random, 14, &named);
    Golden {
        severity: Some(SEVERITIES[random.below(5) as usize]),
        category: Some(pick(random, &CATEGORIES).to_owned()),
        file: FilePattern::new(&file(random)),
        lines: Some(Lines { start, end: start + random.below(5) as u32 }),
        title: Some(format!("The {} of the {} is wrong", named[0], named[1])),
        description: Some(said),
        keywords: named.into_iter().take(keywords).collect(),
        ..Golden::new(format!("g{number}"))
    }
}

/// One trial of a tool for every case: reports of goldens, some of them twice, near misses and noise.
pub(crate) fn trials(suite: &Suite, tool: &str, number: u32) -> Vec<Trial> {
    let tool_seed = tool.bytes().fold(u64::from(number), |seed, byte| seed * 31 + u64::from(byte));
    let of_case = |(index, case): (usize, &Case)| {
        let mut random = Random::new(tool_seed << 32 | (index as u64 * 2 + 1));
        let mut trial = Trial::reported(CaseId::new(case.id.as_str()), ToolName::new(tool), number);
        let count = SIZES[(index * 2 + 3) % SIZES.len()];
        trial.findings = (0..count).map(|number| finding(&mut random, case, number)).collect();
        trial
    };
    suite.cases.iter().enumerate().map(of_case).collect()
}

fn finding(random: &mut Random, case: &Case, number: usize) -> Finding {
    let mut finding = Finding::new(format!("f{number}"));
    let about = &case.goldens[random.below(case.goldens.len() as u64) as usize];
    let place = about.file.as_ref().map(|file| file.path().clone());
    let line = about.lines.map_or(1, |lines| lines.start);
    let named: Vec<String> = about.title.iter().flat_map(|t| t.split(' ')).map(str::to_owned).collect();
    let (file, line, said) = match random.below(10) {
        // A report of the golden, a little off. Goldens are drawn again and again, so some are reported twice.
        0..=5 => {
            let told = random.below(4) as usize;
            let keywords: Vec<String> = about.keywords.iter().skip(told).cloned().collect();
            (place, line + random.below(7) as u32, if keywords.is_empty() { named } else { keywords })
        }
        // The right file, nothing else.
        6 | 7 => (place, 1 + random.below(400) as u32, vec![term(random)]),
        // Noise.
        _ => (RepoPath::new(&self::file(random)), 1 + random.below(400) as u32, vec![term(random), term(random)]),
    };
    finding.file = file;
    finding.line_start = Some(line);
    finding.line_end = Some(line + random.below(3) as u32);
    finding.message = Some(prose(random, 18, &said));
    finding.rule_id = Some(format!("R{:03}", random.below(200)));
    finding.severity = Some(SEVERITIES[random.below(5) as usize]);
    finding.category = Some(pick(random, &CATEGORIES).to_owned());
    finding.confidence = Some(random.below(101) as f64 / 100.0);
    finding
}

fn file(random: &mut Random) -> String {
    let directory = pick(random, &DIRECTORIES);
    format!("{directory}/{}/{}.rs", pick(random, &DIRECTORIES), pick(random, &TERMS[..12]))
}

/// A word of the trade, or two joined: 1,640 of them, some within others.
fn term(random: &mut Random) -> String {
    let first = pick(random, &TERMS);
    if random.below(4) == 0 { first.to_owned() } else { format!("{first}_{}", pick(random, &TERMS)) }
}

/// A sentence that uses all the words given.
fn prose(random: &mut Random, fillers: usize, words: &[String]) -> String {
    let mut text = String::from("Here");
    for i in 0..fillers.max(words.len()) {
        text.push(' ');
        text.push_str(pick(random, &FILLERS));
        if let Some(word) = words.get(i) {
            text.push_str(" `");
            text.push_str(word);
            text.push('`');
        }
    }
    text.push('.');
    text.shrink_to_fit();
    text
}

fn pick<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    of[random.below(of.len() as u64) as usize]
}
