//! Texts that are longer than what a model takes.

/// How much of the texts was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// How many texts were cut.
    pub texts: usize,
    /// How many characters of them were left out, all in all.
    pub chars: usize,
}

impl Cut {
    /// Counts a text of which so many characters were left out; none is not cut.
    pub fn count(&mut self, chars: usize) {
        self.texts += usize::from(chars > 0);
        self.chars += chars;
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: Self) {
        self.texts += other.texts;
        self.chars += other.chars;
    }
}

/// The beginning of a text, of at most so many characters, and how many characters were left out. It ends where a word does,
/// unless the only word is longer than that.
pub fn truncate_at_whitespace(text: &str, most: usize) -> (&str, usize) {
    let Some((end, next)) = text.char_indices().nth(most) else { return (text, 0) };
    let whole = &text[..end];
    let kept = match next.is_whitespace() {
        true => whole.trim_end(),
        false => whole.rfind(char::is_whitespace).map_or(whole, |at| whole[..at].trim_end()),
    };
    // A text that begins with nothing but white space still has its beginning.
    let kept = if kept.is_empty() { whole } else { kept };
    (kept, text[kept.len()..].chars().count())
}

/// A text as windows that overlap, each of at most `size` by its estimated tokens, and the characters behind the last of the
/// windows where there would be more than `most`. Windows begin and end at white space; a word that is longer than a window is
/// a window by itself, and the model takes of it what it can.
pub(super) fn windows(text: &str, size: usize, overlap: usize, most: usize) -> (Vec<&str>, usize) {
    let words = spans(text);
    let (mut windows, mut first) = (Vec::new(), 0);
    while first < words.len() {
        let (mut last, mut sum) = (first, words[first].tokens);
        while last + 1 < words.len() && sum + words[last + 1].tokens <= size {
            last += 1;
            sum += words[last].tokens;
        }
        windows.push(&text[words[first].start..words[last].end]);
        if last + 1 == words.len() {
            break;
        }
        if windows.len() == most {
            return (windows, text[words[last].end..].chars().count());
        }
        // The next window begins with the end of this one, and always further on than this one did.
        let (mut next, mut shared) = (last + 1, 0);
        while next > first + 1 && shared + words[next - 1].tokens <= overlap {
            next -= 1;
            shared += words[next].tokens;
        }
        first = next;
    }
    (windows, 0)
}

/// A word, with the punctuation on it.
struct Span {
    start: usize,
    end: usize,
    tokens: usize,
}

fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    for word in text.split_whitespace() {
        // The words come in order, and each is found from the end of the one before.
        let start = at + text[at..].find(word).unwrap_or_default();
        at = start + word.len();
        spans.push(Span { start, end: at, tokens: tokens(word) });
    }
    spans
}

/// How many pieces a model is likely to take a word for: it knows English words, takes others in pieces of about three letters,
/// and letters it hardly knows, digits and punctuation one by one.
fn tokens(word: &str) -> usize {
    let thirds: usize = word.chars().map(|char| if char.is_ascii_alphabetic() { 1 } else { 3 }).sum();
    thirds.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_a_word_ends() {
        let check = |text: &str, most: usize, expect: &str| {
            let (kept, left_out) = truncate_at_whitespace(text, most);
            assert_eq!(kept, expect);
            assert_eq!(kept.chars().count() + left_out, text.chars().count());
            assert!(kept.chars().count() <= most);
        };
        check("one two three", 13, "one two three");
        check("one two three", 12, "one two");
        check("one two three", 7, "one two");
        check("one two three", 8, "one two");
        check("one two three", 2, "on");
        check("åtgärder för säkerhet", 9, "åtgärder");
        check("åtgärder", 3, "åtg");
        check("   x", 2, "  ");
        check("", 5, "");
        check("abc", 0, "");
    }

    #[test]
    fn windows_overlap_and_cover_everything() {
        let check = |text: &str, size: usize, overlap: usize, expect: &[&str]| {
            assert_eq!(windows(text, size, overlap, 64), (expect.to_vec(), 0));
        };
        check("a b c", 3, 1, &["a b c"]);
        check("a b c d e", 3, 1, &["a b c", "c d e"]);
        check("a b c d e f", 3, 1, &["a b c", "c d e", "e f"]);
        check("a b c d", 2, 0, &["a b", "c d"]);
        check("a b c", 2, 9, &["a b", "b c"]);
        check("  a \n b ", 2, 0, &["a \n b"]);
        check("", 2, 1, &[]);
        check("a unbelievable b", 2, 1, &["a", "unbelievable", "b"]);
        assert_eq!(windows("a b c d e f", 2, 0, 2), (vec!["a b", "c d"], 4));
    }
}
