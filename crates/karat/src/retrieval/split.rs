//! A text taken apart into words, whatever its language.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Nobody writes words of more bytes; they are data, and are not searched for.
const LONGEST_WORD: usize = 256;

/// Calls for each word: letters and digits in a row, in their plain form and lower-cased. Marks belong to the letter before
/// them, and what only says where a word may be broken is no part of it.
pub(super) fn each_word(text: &str, hear: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut say = |word: &mut String| {
        if !word.is_empty() && word.len() <= LONGEST_WORD {
            hear(word);
        }
        word.clear();
    };
    if text.is_ascii() {
        for byte in text.bytes() {
            match byte {
                byte if byte.is_ascii_alphanumeric() => word.push(byte.to_ascii_lowercase().into()),
                _ => say(&mut word),
            }
        }
    } else {
        for char in text.nfkc() {
            match char {
                '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => {}
                char if char.is_alphanumeric() => word.extend(char.to_lowercase()),
                char if is_combining_mark(char) && !word.is_empty() => word.push(char),
                _ => say(&mut word),
            }
        }
    }
    say(&mut word);
}
