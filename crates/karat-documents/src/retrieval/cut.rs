//! Truncates and splits texts that exceed what a model reads.

/// At most `most` characters, and how many were left out. Cuts between words, unless the first word is too long.
pub fn truncate_at_whitespace(text: &str, most: usize) -> (&str, usize) {
    let Some((end, next)) = text.char_indices().nth(most) else { return (text, 0) };
    let whole = &text[..end];
    let kept = match next.is_whitespace() {
        true => whole.trim_end(),
        false => whole.rfind(char::is_whitespace).map_or(whole, |at| whole[..at].trim_end()),
    };
    // A text that starts with white space still has a beginning.
    let kept = if kept.is_empty() { whole } else { kept };
    (kept, text[kept.len()..].chars().count())
}

/// Splits a text into overlapping windows of at most `size` estimated tokens, at most `most` of them; returns also the
/// characters left out. Windows begin and end at white space; a longer word is a window by itself.
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
        // The next window begins with the end of this one, and always further on.
        let (mut next, mut shared) = (last + 1, 0);
        while next > first + 1 && shared + words[next - 1].tokens <= overlap {
            next -= 1;
            shared += words[next].tokens;
        }
        first = next;
    }
    (windows, 0)
}

struct Span {
    start: usize,
    end: usize,
    tokens: usize,
}

fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    for word in text.split_whitespace() {
        // Words come in order, so each is searched from the end of the previous one.
        let start = at + text[at..].find(word).unwrap_or_default();
        at = start + word.len();
        spans.push(Span { start, end: at, tokens: tokens(word) });
    }
    spans
}

/// An estimate: English words are one token, others one per three letters; digits, punctuation and rare letters are one each.
fn tokens(word: &str) -> usize {
    let thirds: usize = word.chars().map(|char| if char.is_ascii_alphabetic() { 1 } else { 3 }).sum();
    thirds.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_word_boundaries() {
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
