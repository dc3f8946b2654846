//! Features of located pairs: the finding names a rule or a CWE number, or is terse and near the golden.
//!
//! Words of such a message are few, so that what the scanner states beside them decides: the rule's name, the relation of CWE
//! numbers, and the kind of weakness that words and numbers speak of.

use super::cwe::{CweRelation, CweTable, Lineage, relation};
use super::features::{Feature, Sign, share};
use super::rarity::{Weights, ln};
use super::weaknesses::{Strengths, Weaknesses};
use super::words::{is_stop_word, sequence};
use super::{finding_text, golden_text};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::lines::Lines;
use std::collections::HashMap;

pub(super) const COUNT: usize = 15;

/// Every feature, in the order in which they are computed.
pub static FEATURES: [Feature; COUNT] = {
    use Sign::{Against, Either, For};
    const fn feature(name: &'static str, sign: Sign, meaning: &'static str) -> Feature {
        Feature { name, meaning, sign }
    }
    [
        feature("texts", For, "log-odds of the texts alone, by the weights for prose"),
        feature("cwe_equal", For, "a CWE number in common"),
        feature("cwe_parent", For, "a CWE number is the parent of one of the other side"),
        feature("cwe_related", For, "a CWE number is above one of the other side, or a peer of it"),
        feature("cwe_sibling", Either, "CWE numbers with a parent in common"),
        feature("cwe_other", Against, "CWE numbers on both sides, none related"),
        feature("golden_words", For, "share of the golden's words in the message or rule, weighted by rarity"),
        feature("finding_words", For, "share of the words of message and rule in the golden, weighted by rarity"),
        feature("shared_words", For, "total information of the shared words"),
        feature("rarest_word", For, "information of the rarest shared word"),
        feature("weakness", For, "how tellingly both speak of the same kind of weakness"),
        feature("other_weakness", Against, "how much more tellingly they speak of different kinds"),
        feature("main_weakness", For, "the kind that one of them speaks of most is one of the other's"),
        feature("shared_word", For, "at least one word in common"),
        feature("nothing_shared", Against, "no word, no kind of weakness and no related CWE number in common"),
    ]
};

/// Words of scanners' messages and rule ids that are about no weakness.
const GENERIC: &[&str] = &[
    "audit",
    "call",
    "code",
    "common",
    "consider",
    "cpp",
    "cwe",
    "detect",
    "function",
    "golang",
    "java",
    "javascript",
    "lang",
    "lint",
    "line",
    "no",
    "not",
    "potential",
    "possible",
    "python",
    "rule",
    "rules",
    "security",
    "squid",
    "value",
];

/// What the judge knows of scanners' findings.
pub(super) struct ScannerModel {
    /// Weights over spread and means, in the order of the features.
    scale: [(f64, f64); COUNT],
    base: f64,
    words: Weights,
    weaknesses: Weaknesses,
    cwe: CweTable,
}

/// A case's goldens and a trial's findings as this model reads them.
pub(super) struct ScannerTexts {
    goldens: Vec<(Option<Lines>, Described)>,
    /// Nothing for findings that are in no located pair.
    findings: Vec<Option<(Place, Described)>>,
}

/// A comment of more words says what it is about.
const TERSE: usize = 25;

/// A terse comment further from a golden is about something else, or has to say more.
const NEAR: u32 = 5;

/// What locates a finding.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A rule or a CWE number, whatever the golden states.
    Stated,
    /// Lines of a terse text, if the golden is there.
    Lines(Lines),
}

impl Place {
    fn new(finding: &Finding) -> Option<Self> {
        if finding.is_from_scanner() {
            return Some(Self::Stated);
        }
        let is_terse = || finding_text(finding).split_whitespace().nth(TERSE).is_none();
        finding.lines().filter(|_| is_terse()).map(Self::Lines)
    }
}

/// Whether any pair is weighed by these features: its finding names a rule or a CWE number, or is terse and both sides have lines, so
/// that its text need not say everything.
pub fn has_located_pair(goldens: &[Golden], findings: &[Finding]) -> bool {
    let golden_has_lines = goldens.iter().any(|golden| golden.lines.is_some());
    findings.iter().filter_map(Place::new).any(|place| place == Place::Stated || golden_has_lines)
}

struct Described {
    /// Distinct words by number, with their weights.
    words: Vec<(u32, f64)>,
    weight: f64,
    weaknesses: Strengths,
    cwe: Vec<Lineage>,
}

impl ScannerModel {
    pub(super) fn new(scale: [(f64, f64); COUNT], base: f64, words: Weights) -> Self {
        Self { scale, base, words, weaknesses: Weaknesses::new(), cwe: CweTable::new() }
    }

    /// Reads texts, if any pair is located.
    pub(super) fn read(&self, goldens: &[Golden], findings: &[Finding]) -> Option<ScannerTexts> {
        if !has_located_pair(goldens, findings) {
            return None;
        }
        let mut numbers = HashMap::new();
        Some(ScannerTexts {
            goldens: goldens
                .iter()
                .map(|own| (own.lines, self.describe(&golden_words(own), &own.cwe, &mut numbers)))
                .collect(),
            findings: findings
                .iter()
                .map(|own| {
                    let place = Place::new(own)?;
                    Some((place, self.describe(&finding_words(own), &own.cwe, &mut numbers)))
                })
                .collect(),
        })
    }

    fn describe(&self, words: &[String], cwe: &[u32], numbers: &mut HashMap<String, u32>) -> Described {
        let mut own: Vec<(u32, f64)> = Vec::new();
        for word in words.iter().filter(|word| is_content(word)) {
            let new = numbers.len() as u32;
            let number = *numbers.entry(word.clone()).or_insert(new);
            own.push((number, self.words.get(word)));
        }
        own.sort_by_key(|(number, _)| *number);
        own.dedup_by_key(|(number, _)| *number);
        Described {
            weight: own.iter().map(|(_, weight)| weight).sum(),
            words: own,
            weaknesses: self.weaknesses.strengths(words, cwe, &self.words),
            cwe: cwe.iter().map(|&number| self.cwe.lineage(number)).collect(),
        }
    }

    pub(super) fn base(&self) -> f64 {
        self.base
    }

    /// What each feature adds.
    pub(super) fn scaled(&self, mut features: [f64; COUNT]) -> [f64; COUNT] {
        for (value, (weight, mean)) in features.iter_mut().zip(&self.scale) {
            *value = weight * (*value - mean);
        }
        features
    }
}

impl ScannerTexts {
    /// The features of a pair whose texts amount to `texts`; nothing if the pair is not located.
    pub(super) fn features(&self, g: usize, f: usize, texts: f64) -> Option<[f64; COUNT]> {
        let ((own, golden), (place, finding)) = (&self.goldens[g], self.findings[f].as_ref()?);
        if let Place::Lines(lines) = place
            && own.is_none_or(|own| own.gap(*lines) > NEAR)
        {
            return None;
        }
        let shared = shared_words(&golden.words, &finding.words);
        let weight: f64 = shared.iter().sum();
        let cwe = relation(&golden.cwe, &finding.cwe);
        let is = |wanted: CweRelation| f64::from(cwe == Some(wanted));
        let both = in_common(&golden.weaknesses, &finding.weaknesses);
        let strongest = |of: &Strengths| of.iter().map(|(_, strength)| *strength).fold(0.0, f64::max);
        let less = strongest(&golden.weaknesses).min(strongest(&finding.weaknesses));
        Some([
            texts,
            is(CweRelation::Equal),
            is(CweRelation::Parent),
            is(CweRelation::Related),
            is(CweRelation::Sibling),
            is(CweRelation::Other),
            share(weight, golden.weight),
            share(weight, finding.weight),
            ln(1.0 + weight),
            shared.iter().copied().fold(0.0, f64::max),
            both.unwrap_or(0.0),
            less - both.unwrap_or(0.0),
            f64::from(both.is_some_and(|both| both >= less)),
            f64::from(!shared.is_empty()),
            f64::from(shared.is_empty() && both.is_none() && cwe.is_none_or(|cwe| cwe == CweRelation::Other)),
        ])
    }
}

/// Whether a pair with these features has a CWE number or a word in common.
pub(super) fn shares_cwe_or_word(features: &[f64]) -> bool {
    let is_set =
        |name: &str| FEATURES.iter().zip(features).any(|(feature, value)| feature.name == name && *value > 0.0);
    is_set("cwe_equal") || is_set("shared_word")
}

/// What fitting reads of a golden and of a finding, to learn how rare words are.
pub(super) fn golden_words(golden: &Golden) -> Vec<String> {
    let mut words = sequence(&golden_text(golden));
    words.extend(golden.category.iter().chain(&golden.keywords).flat_map(|text| sequence(text)));
    words
}

pub(super) fn finding_words(finding: &Finding) -> Vec<String> {
    let mut words = sequence(&finding_text(finding));
    words.extend(finding.rules().chain(finding.category.as_deref()).flat_map(sequence));
    words
}

fn is_content(word: &str) -> bool {
    word.chars().nth(1).is_some() && !is_stop_word(word) && GENERIC.binary_search(&word).is_err()
}

/// The weights of the words of both.
fn shared_words(a: &[(u32, f64)], b: &[(u32, f64)]) -> Vec<f64> {
    let weight =
        |(number, weight): &(u32, f64)| b.binary_search_by_key(number, |(own, _)| *own).is_ok().then_some(*weight);
    a.iter().filter_map(weight).collect()
}

/// How tellingly both speak of the same kind; nothing if there is none.
fn in_common(a: &Strengths, b: &Strengths) -> Option<f64> {
    let both = a.iter().filter_map(|(kind, strength)| {
        let at = b.binary_search_by_key(kind, |(own, _)| *own).ok()?;
        Some(strength.min(b[at].1))
    });
    both.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use crate::finding::Finding;
    use crate::golden::Golden;
    use crate::lines::Lines;
    use crate::local_judge::LocalJudge;
    use crate::path::{FilePattern, RepoPath};

    /// How likely a message on the line of a golden about an SQL injection reports it, with the shipped parameters.
    fn likely(rule: &str, message: &str, cwe: &[u32]) -> f64 {
        let params = toml::from_str(include_str!("../../../karat/judges/local.toml")).unwrap();
        let judge = LocalJudge::new(params).unwrap();
        let mut golden = Golden::new("g");
        golden.title = Some("The search box can read other tables".to_owned());
        golden.file = FilePattern::new("shop.py");
        golden.lines = Some(Lines { start: 4, end: 4 });
        golden.cwe = vec![89];
        let mut finding = Finding::new("f");
        finding.rule_id = Some(rule.to_owned());
        finding.message = Some(message.to_owned());
        finding.file = RepoPath::new("shop.py");
        finding.line_start = Some(4);
        finding.cwe = cwe.to_vec();
        judge.probabilities(&[golden], &[finding])[0]
    }

    #[test]
    fn what_scanners_state_decides() {
        let injection = "Possible injection vector through string-based query construction.";
        assert!(likely("B608", injection, &[89]) > 0.6);
        assert!(likely("B608", injection, &[]) > 0.41, "the words speak of the same weakness");
        assert!(likely("B101", "Use of assert detected.", &[703]) < 0.2);
        assert!(likely("E501", "Line too long (134 > 100)", &[]) < 0.3, "being on the same line is not enough");
        // The nearer the numbers, the likelier.
        let by_number = [79, 564, 943, 89].map(|number| likely("X1", "See the documentation.", &[number]));
        assert!(by_number[0] < by_number[3] && by_number[0] < by_number[2], "{by_number:?}");
        assert!(likely("sql-injection", "See the documentation.", &[]) > likely("X1", "See the documentation.", &[]));
    }
}
