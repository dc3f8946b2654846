//! Splits text into words.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer words are data and are not searched for.
const LONGEST_WORD: usize = 256;

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
