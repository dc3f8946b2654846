//! Turns text into the words that are searched.

use super::language::{Language, each_word};
use frostem::Stemmer;
use std::collections::{BTreeSet, HashMap};

/// How words are read: a language, and further stop words.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Analysis {
    pub language: &'static Language,
    stop_words: BTreeSet<String>,
}

impl Analysis {
    /// Uses the stop words of a language and further ones; an entry with several words counts as each of them.
    pub fn new(language: &'static Language, others: &[String]) -> Self {
        let mut stop_words: BTreeSet<String> = language.stop_words().map(str::to_owned).collect();
        for other in others {
            each_word(other, &mut |word| {
                stop_words.insert(word.to_owned());
            });
        }
        Self { language, stop_words }
    }

    /// The words of a text: lower-cased stems without stop words.
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Reader::new(self).read(text, |word| words.push(word.to_owned()));
        words
    }
}

/// Reads words with a cache, since stemming is slower than a lookup.
#[derive(Clone)]
pub(super) struct Reader {
    stop_words: BTreeSet<String>,
    stemmer: Option<Stemmer>,
    known: HashMap<String, Option<String>>,
}

impl Reader {
    pub(super) fn new(analysis: &Analysis) -> Self {
        let stemmer = analysis.language.stemmer.map(Stemmer::new);
        Self { stop_words: analysis.stop_words.clone(), stemmer, known: HashMap::new() }
    }

    /// Calls `visit` for each word that is searched.
    pub(super) fn read(&mut self, text: &str, mut visit: impl FnMut(&str)) {
        let Self { stop_words, stemmer, known } = self;
        each_word(text, &mut |word| {
            if let Some(stem) = known.get(word) {
                return stem.iter().for_each(|stem| visit(stem));
            }
            let stem = (!stop_words.contains(word)).then(|| match stemmer {
                Some(stemmer) => stemmer.stem(word).into_owned(),
                None => word.to_owned(),
            });
            if let Some(stem) = &stem {
                visit(stem);
            }
            known.insert(word.to_owned(), stem);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, text: &str, expect: &str) {
        let analysis = Analysis::new(Language::by_name(language).unwrap(), &[]);
        assert_eq!(analysis.words(text).join(" "), expect);
    }

    #[test]
    fn words_are_read_by_language() {
        check("en", "The Processors' obligations, and ITS obligation.", "processor oblig oblig");
        check("sv", "Biträdet och biträde, säkerheten samt säkerheter", "biträd biträd säker säker");
        check("de", "die Verträge und der Vertrag", "vertrag vertrag");
        check("none", "The Processors' obligations", "the processors obligations");
    }

    #[test]
    fn words_are_normalized() {
        // A combining ring, a ligature, a soft hyphen, and full-width letters.
        check("sv", "a\u{30a}tga\u{308}rd åtgärd", "åtgärd åtgärd");
        check("none", "ef\u{fb01}cient soft\u{ad}ware ＡＢＣ", "efficient software abc");
        check("none", "§ 5.2(b) GDPR-2016/679", "5 2 b gdpr 2016 679");
        check("none", "\u{301}\u{301} \0 \u{1b}[31m", "31m");
        check("none", &format!("a {} b", "x".repeat(10_000)), "a b");
    }

    #[test]
    fn additional_stop_words_are_removed() {
        let analysis = Analysis::new(Language::by_name("en").unwrap(), &["Agreement".into(), "Receiving Party".into()]);
        assert_eq!(analysis.words("the receiving party of this agreement survives"), ["surviv"]);
    }
}
