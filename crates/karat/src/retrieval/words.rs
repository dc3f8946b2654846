//! From text to the words that are searched for.

use super::language::{Language, PLAIN};
use super::split::each_word;
use std::collections::{BTreeSet, HashMap};
use tantivy::tokenizer::{RawTokenizer, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

/// How words are read: a language, and words that are not searched for beside its own.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The language.
    pub language: &'static Language,
    stop_words: BTreeSet<String>,
}

impl Analysis {
    /// Words of a language, without its stop words and without others that somebody does not want. What is given as several
    /// words counts as each of them.
    pub fn new(language: &'static Language, others: &[String]) -> Self {
        let mut stop_words: BTreeSet<String> = language.stop_words.iter().map(|word| (*word).to_owned()).collect();
        for other in others {
            each_word(other, &mut |word| {
                stop_words.insert(word.to_owned());
            });
        }
        Self { language, stop_words }
    }

    /// The words of a text that are searched for, as they are compared: lower-cased, by their stems, without stop words.
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Reader::new(self).read(text, |word| words.push(word.to_owned()));
        words
    }
}

impl Default for Analysis {
    fn default() -> Self {
        Self::new(&PLAIN, &[])
    }
}

/// Reads words and remembers what became of each: texts repeat their words, and finding a stem takes longer than looking one up.
#[derive(Clone)]
pub(super) struct Reader {
    stop_words: BTreeSet<String>,
    stemmer: Option<TextAnalyzer>,
    known: HashMap<String, Option<String>>,
}

impl Reader {
    pub(super) fn new(analysis: &Analysis) -> Self {
        let stem = |language| TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(language)).build();
        let stemmer = analysis.language.stemmer.map(stem);
        Self { stop_words: analysis.stop_words.clone(), stemmer, known: HashMap::new() }
    }

    /// Calls for each word of a text that is searched for.
    pub(super) fn read(&mut self, text: &str, mut hear: impl FnMut(&str)) {
        let Self { stop_words, stemmer, known } = self;
        each_word(text, &mut |word| {
            if let Some(known) = known.get(word) {
                if let Some(stem) = known {
                    hear(stem);
                }
                return;
            }
            let stem = (!stop_words.contains(word)).then(|| match stemmer {
                Some(stemmer) => {
                    let mut stem = String::new();
                    stemmer.token_stream(word).process(&mut |token| stem.push_str(&token.text));
                    stem
                }
                None => word.to_owned(),
            });
            if let Some(stem) = &stem {
                hear(stem);
            }
            known.insert(word.to_owned(), stem);
        });
    }
}

/// The same for an index, which takes a text's words one after the other.
#[derive(Clone)]
pub(super) struct IndexWords {
    reader: Reader,
    /// The words of the text, one after the other, and where each ends.
    text: String,
    ends: Vec<usize>,
}

impl IndexWords {
    pub(super) fn new(analysis: &Analysis) -> Self {
        Self { reader: Reader::new(analysis), text: String::new(), ends: Vec::new() }
    }
}

impl Tokenizer for IndexWords {
    type TokenStream<'a> = IndexWordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> IndexWordStream<'a> {
        let Self { reader, text: words, ends } = self;
        words.clear();
        ends.clear();
        reader.read(text, |word| {
            words.push_str(word);
            ends.push(words.len());
        });
        IndexWordStream { words, ends, next: 0, token: Token::default() }
    }
}

/// The words of one text.
pub(super) struct IndexWordStream<'a> {
    words: &'a str,
    ends: &'a [usize],
    next: usize,
    token: Token,
}

impl TokenStream for IndexWordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.ends.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.token.text.clear();
        self.token.text.push_str(&self.words[start..end]);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, text: &str, expect: &str) {
        let analysis = Analysis::new(Language::named(language).unwrap(), &[]);
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
    fn words_are_whole_however_they_are_written() {
        // A ring apart from its letter, letters joined, a word that may be broken, and wide letters.
        check("sv", "a\u{30a}tga\u{308}rd åtgärd", "åtgärd åtgärd");
        check("none", "ef\u{fb01}cient soft\u{ad}ware ＡＢＣ", "efficient software abc");
        check("none", "§ 5.2(b) GDPR-2016/679", "5 2 b gdpr 2016 679");
        check("none", "\u{301}\u{301} \0 \u{1b}[31m", "31m");
        check("none", &format!("a {} b", "x".repeat(10_000)), "a b");
    }

    #[test]
    fn others_may_be_left_out_too() {
        let analysis = Analysis::new(Language::named("en").unwrap(), &["Agreement".into(), "Receiving Party".into()]);
        assert_eq!(analysis.words("the receiving party of this agreement survives"), ["surviv"]);
    }
}
