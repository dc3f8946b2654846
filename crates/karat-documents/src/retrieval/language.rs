//! Languages: how words are told apart, stemmers and stop words.

use super::{DocumentError, Passage, Result};
use frostem::Algorithm as Stemmer;
use karat_format::document::suggest::nearest;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A language.
#[derive(Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Language {
    pub code: &'static str,
    pub name: &'static str,
    /// Words without content, by which the language is detected too. The lists are short on purpose: BM25 already gives
    /// common words little weight.
    stop_words: &'static str,
    /// `None` if words are compared as they are.
    pub(super) stemmer: Option<Stemmer>,
}

/// Detects the language.
pub const AUTO: &str = "auto";

/// For unknown languages: words are compared as they are.
pub static PLAIN: Language = Language { code: "none", name: "any language", stop_words: "", stemmer: None };

/// All languages, in listing order.
pub static LANGUAGES: &[Language] = &[
    language("en", "English", include_str!("../../stop_words/en.txt"), Stemmer::English),
    language("sv", "Swedish", include_str!("../../stop_words/sv.txt"), Stemmer::Swedish),
    language("ar", "Arabic", "", Stemmer::Arabic),
    language("da", "Danish", include_str!("../../stop_words/da.txt"), Stemmer::Danish),
    language("de", "German", include_str!("../../stop_words/de.txt"), Stemmer::German),
    language("el", "Greek", "", Stemmer::Greek),
    language("es", "Spanish", include_str!("../../stop_words/es.txt"), Stemmer::Spanish),
    language("fi", "Finnish", include_str!("../../stop_words/fi.txt"), Stemmer::Finnish),
    language("fr", "French", include_str!("../../stop_words/fr.txt"), Stemmer::French),
    language("hu", "Hungarian", "", Stemmer::Hungarian),
    language("it", "Italian", include_str!("../../stop_words/it.txt"), Stemmer::Italian),
    language("nl", "Dutch", include_str!("../../stop_words/nl.txt"), Stemmer::Dutch),
    language("no", "Norwegian", include_str!("../../stop_words/no.txt"), Stemmer::Norwegian),
    language("pt", "Portuguese", include_str!("../../stop_words/pt.txt"), Stemmer::Portuguese),
    language("ro", "Romanian", "", Stemmer::Romanian),
    language("ru", "Russian", "", Stemmer::Russian),
    language("ta", "Tamil", "", Stemmer::Tamil),
    language("tr", "Turkish", "", Stemmer::Turkish),
];

const fn language(code: &'static str, name: &'static str, stop_words: &'static str, stemmer: Stemmer) -> Language {
    Language { code, name, stop_words, stemmer: Some(stemmer) }
}

/// Longer words are data and are not searched for.
const LONGEST_WORD: usize = 256;

/// The least share of stop words by which a language is detected. Running text has a third and more.
const LEAST_SHARE: f64 = 0.05;

const MOST_WORDS: usize = 20_000;

impl Language {
    pub(super) fn stop_words(&self) -> impl Iterator<Item = &'static str> {
        self.stop_words.split_whitespace()
    }

    /// Finds a language by code or name; `none` is [`PLAIN`].
    pub fn by_name(word: &str) -> Option<&'static Self> {
        let is = |language: &&Self| language.code == word || language.name.eq_ignore_ascii_case(word);
        LANGUAGES.iter().chain([&PLAIN]).find(is)
    }

    /// The named language, or the detected one for `None` and `auto`.
    pub fn resolve(word: Option<&str>, passages: &[Passage]) -> Result<&'static Self> {
        let Some(word) = word.filter(|word| *word != AUTO) else { return Ok(Self::detect(passages)) };
        Self::by_name(word).ok_or_else(|| {
            let known = || LANGUAGES.iter().map(|language| language.code).chain([AUTO, PLAIN.code]);
            let near = nearest(word, LANGUAGES.iter().map(|language| language.name).chain(known()));
            let hint = near.map_or_else(
                || format!("there are {}", known().collect::<Vec<_>>().join(", ")),
                |near| format!("did you mean `{}`?", Self::by_name(near).map_or(near, |language| language.code)),
            );
            DocumentError::BadInput(format!("unknown language `{word}`; {hint}"))
        })
    }

    /// Detects the language by stop words, which count less where several have them; [`PLAIN`] if there are too few.
    pub fn detect(passages: &[Passage]) -> &'static Self {
        let mut speakers: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, language) in LANGUAGES.iter().enumerate() {
            language.stop_words().for_each(|word| speakers.entry(word).or_default().push(at));
        }
        let (mut scores, mut words) = (vec![0.0; LANGUAGES.len()], 0_usize);
        for passage in passages {
            if words >= MOST_WORDS {
                break;
            }
            let mut visit = |word: &str| {
                words += 1;
                let speakers = speakers.get(word).map(Vec::as_slice).unwrap_or_default();
                speakers.iter().for_each(|at| scores[*at] += 1.0 / speakers.len() as f64);
            };
            each_word(&passage.heading, &mut visit);
            each_word(&passage.body, &mut visit);
        }
        let mut best = (&PLAIN, LEAST_SHARE * words as f64);
        for (language, score) in LANGUAGES.iter().zip(scores) {
            if score > best.1 {
                best = (language, score);
            }
        }
        best.0
    }
}

/// Calls `visit` for each run of letters and digits, normalised and lower-cased. Combining marks belong to the letter before
/// them; soft hyphens and the like are dropped.
pub(super) fn each_word(text: &str, visit: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut emit = |word: &mut String| {
        if !word.is_empty() && word.len() <= LONGEST_WORD {
            visit(word);
        }
        word.clear();
    };
    if text.is_ascii() {
        for byte in text.bytes() {
            match byte {
                byte if byte.is_ascii_alphanumeric() => word.push(byte.to_ascii_lowercase().into()),
                _ => emit(&mut word),
            }
        }
    } else {
        for char in text.nfkc() {
            match char {
                '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => {}
                char if char.is_alphanumeric() => word.extend(char.to_lowercase()),
                char if is_combining_mark(char) && !word.is_empty() => word.push(char),
                _ => emit(&mut word),
            }
        }
    }
    emit(&mut word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_one_code_and_normalized_stop_words() {
        let mut codes = std::collections::BTreeSet::new();
        for language in LANGUAGES {
            assert!(codes.insert(language.code), "{}", language.code);
            assert_eq!(Language::by_name(language.code), Some(language));
            assert_eq!(Language::by_name(&language.name.to_lowercase()), Some(language));
            for stop_word in language.stop_words() {
                let mut words = Vec::new();
                each_word(stop_word, &mut |word| words.push(word.to_owned()));
                assert_eq!(words, [stop_word], "{}", language.code);
            }
        }
    }

    #[test]
    fn language_is_detected_by_stop_words() {
        let check = |text: &str, expect: &str| {
            let passages = [Passage { heading: String::new(), body: text.to_owned() }];
            assert_eq!(Language::detect(&passages).code, expect, "{text}");
        };
        check("The processor shall notify the controller without delay if it becomes aware of a breach.", "en");
        check("Biträdet ska utan dröjsmål underrätta den ansvarige om det får kännedom om en incident.", "sv");
        check(
            "Databehandleren skal uden unødig forsinkelse underrette den ansvarlige, hvis der er sket et brud.",
            "da",
        );
        check("Databehandleren skal ikke gi noe av dette til andre uten å varsle den ansvarlige etter et brudd.", "no");
        check("Der Auftragnehmer hat den Verantwortlichen unverzüglich zu benachrichtigen, wenn es dazu kommt.", "de");
        check("Le prestataire ne doit pas communiquer les données à des tiers sans l'accord du client.", "fr");
        check("Käsittelijän on ilmoitettava siitä rekisterinpitäjälle, jos se saa tietää, että niin ei ole.", "fi");
        check("De verwerker mag de gegevens niet aan derden geven, tenzij dat door de wet wordt bepaald.", "nl");
        check("Przetwarzający niezwłocznie zawiadamia administratora", "none");
        check("", "none");
        check("12 34 § 5.6", "none");
    }

    #[test]
    fn unknown_languages_are_not_confused_with_known_ones() {
        let check = |word: &str, expect: &str| {
            let message = Language::resolve(Some(word), &[]).unwrap_err().to_string();
            assert!(message.contains(expect), "{message}");
        };
        check("swedisch", "did you mean `sv`?");
        check("klingonska", "there are en, sv");
        assert_eq!(Language::resolve(Some("none"), &[]).unwrap().code, "none");
        assert_eq!(Language::resolve(Some("auto"), &[]).unwrap().code, "none");
    }
}
