//! Text features of a pair: evidence for a match as numbers.

use super::rarity::ln;
use super::shared::SharedText;
use super::text_index::{IndexedText, PartKind};

/// One number about a pair of texts.
#[expect(missing_docs, reason = "field names say it")]
pub struct Feature {
    pub name: &'static str,
    pub meaning: &'static str,
    pub(super) sign: Sign,
}

/// The sign a feature's weight may have. A weight of the wrong sign is chance and is left out of a fit.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sign {
    For,
    Against,
    Either,
}

/// The version of the features: parameters fitted for another version do not fit.
pub const VERSION: u32 = 3;

pub(super) const COUNT: usize = 20;

/// Every feature, in the order in which they are computed.
pub static FEATURES: [Feature; COUNT] = {
    use Sign::{Against, Either, For};
    const fn feature(name: &'static str, sign: Sign, meaning: &'static str) -> Feature {
        Feature { name, meaning, sign }
    }
    [
        feature("golden_words", For, "share of the golden's words in the finding, weighted by rarity"),
        feature("finding_words", For, "share of the finding's words in the golden, weighted by rarity"),
        feature("shared_words", For, "total information of the shared words"),
        feature("golden_words_here", For, "as golden_words, weighted by how well words separate the case's texts"),
        feature("finding_words_here", For, "as finding_words, weighted by how well words separate the case's texts"),
        feature("both_words_here", For, "share of both texts' words that are shared, weighted the same way"),
        feature("rarest_word", For, "information of the rarest shared word"),
        feature("golden_names", For, "share of the golden's code identifiers in the finding"),
        feature("finding_names", For, "share of the finding's code identifiers in the golden"),
        feature("shared_names", For, "number of shared code identifiers, at most four"),
        feature("phrases", For, "number of word pairs that follow each other in both"),
        feature("numbers", For, "a number is shared, or both have numbers and share none"),
        feature("operators", For, "an operator is shared"),
        feature("golden_concepts", For, "share of the golden's concepts in the finding"),
        feature("finding_concepts", For, "share of the finding's concepts in the golden"),
        feature("shared_concepts", For, "number of shared concepts"),
        feature("denial", Against, "only one of the two contains a negation"),
        feature("length", Either, "length of the golden relative to the finding"),
        feature("letters", For, "similarity of four-letter sequences"),
        feature("golden_letters", For, "share of the golden's four-letter sequences in the finding"),
    ]
};

/// The features of a pair that has so much in common, in the order of [`FEATURES`].
pub(super) fn features(golden: &IndexedText, finding: &IndexedText, shared: &SharedText) -> [f64; COUNT] {
    let (word_weight, local_word_weight) = (shared.word_weight, shared.local_word_weight);
    let [phrases, names, numbers, grams] = shared.parts;
    let (names, grams) = (f64::from(names), f64::from(grams));
    let concepts = (golden.concepts & finding.concepts).count_ones();
    let of_concepts = |reading: &IndexedText| share(f64::from(concepts), f64::from(reading.concepts.count_ones()));
    let [golden_grams, finding_grams] = [golden, finding].map(|text| text.count(PartKind::Gram) as f64);
    [
        share(word_weight, golden.weight),
        share(word_weight, finding.weight),
        ln(1.0 + word_weight),
        share(local_word_weight, golden.local_weight),
        share(local_word_weight, finding.local_weight),
        share(2.0 * local_word_weight, golden.local_weight + finding.local_weight),
        shared.rarest,
        share(names, golden.count(PartKind::Name) as f64),
        share(names, finding.count(PartKind::Name) as f64),
        names.min(4.0),
        ln_of_count(phrases),
        match (numbers, golden.count(PartKind::Number), finding.count(PartKind::Number)) {
            (1.., ..) => 1.0,
            (0, 0, _) | (0, _, 0) => 0.0,
            _ => -1.0,
        },
        f64::from(golden.operators & finding.operators != 0),
        of_concepts(golden),
        of_concepts(finding),
        ln_of_count(concepts),
        f64::from(golden.denies != finding.denies),
        ln((golden.length as f64 + 1.0) / (finding.length as f64 + 1.0)),
        share(grams, (golden_grams * finding_grams).sqrt()),
        share(grams, golden_grams),
    ]
}

/// The logarithm of one more than `n`. Most pairs share nothing, which needs no logarithm.
fn ln_of_count(n: u32) -> f64 {
    if n == 0 { 0.0 } else { ln(1.0 + f64::from(n)) }
}

pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_judge::concepts::Concepts;
    use crate::local_judge::rarity::Rarity;
    use crate::local_judge::shared::GoldenLookup;
    use crate::local_judge::text_index::{TextIndexer, TextParts};

    /// A feature of a golden's and a finding's texts, by name.
    fn value(name: &str, golden: &str, finding: &str) -> f64 {
        let weights = Rarity { texts: 100, words: [("a".to_owned(), 50)].into() }.weights();
        let concepts = Concepts::new();
        let mut reader = TextIndexer::new(&weights, &concepts, TextParts { phrases: true, grams: true }, 99);
        let (mut golden, sizes, mut finding) = (reader.read(golden), reader.end_goldens(), reader.read(finding));
        reader.weigh([&mut golden, &mut finding].into_iter(), |uses, all| ln((all as f64 + 1.0) / (uses as f64 + 0.5)));
        let mut lookup = GoldenLookup::new(sizes);
        lookup.load(&golden);
        let at = FEATURES.iter().position(|feature| feature.name == name).unwrap();
        features(&golden, &finding, &lookup.shared(&finding))[at]
    }

    #[test]
    fn features_by_hand() {
        let check = |name: &str, golden: &str, finding: &str, expect: f64| {
            let found = value(name, golden, finding);
            assert!((found - expect).abs() < 1e-12, "{name} of {golden:?} and {finding:?} is {found}");
        };
        check("golden_words", "cursor leak", "leak of memory here now", 0.5);
        check("finding_words", "cursor leak", "leak memory pool table", 0.25);
        check("golden_names", "openFile and readFile", "openFile fails", 0.5);
        check("finding_names", "openFile and readFile", "openFile fails", 1.0);
        check("shared_names", "openFile", "nothing", 0.0);
        check("phrases", "token cache grows here", "the token_cache leaks", ln(2.0));
        check("phrases", "call resetTokens() twice", "resetTokens is called", ln(2.0));
        check("numbers", "limit of 10", "limit of 10 or 20", 1.0);
        check("numbers", "limit of 10", "limit of 20", -1.0);
        check("numbers", "limit of 10", "limit", 0.0);
        check("operators", "a === b", "use `===`", 1.0);
        check("denial", "does not wait", "waits", 1.0);
        check("denial", "does not wait", "never waits", 0.0);
        check("golden_concepts", "nil", "undefined race", 1.0);
        check("finding_concepts", "nil", "undefined race", 0.5);
        check("letters", "same text", "same text", 1.0);
        check("golden_letters", "abcd", "xyz", 0.0);
        for feature in &FEATURES {
            check(feature.name, "", "", 0.0);
        }
    }
}
