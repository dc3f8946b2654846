//! A text taken apart: words, names of code, numbers, operators, and whether it denies something.

/// Words too common to tell anything. `not` and its like are no such words.
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
    "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "don", "down", "each", "eg", "etc",
    "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "his", "how", "ie", "if", "in",
    "instead", "into", "is", "it", "its", "just", "may", "might", "more", "most", "now", "of", "off", "on", "once",
    "only", "or", "other", "our", "out", "over", "own", "per", "same", "she", "should", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "too", "under", "up", "use",
    "used", "using", "very", "via", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why",
    "will", "with", "would", "you", "your",
];

/// Words by which a text denies something or says that it is not there.
const NEGATIONS: &[&str] =
    &["cannot", "fail", "fails", "lack", "lacks", "missing", "never", "no", "none", "not", "unable", "without"];

/// Operators that are told apart from punctuation; longer ones stand before their beginnings.
const OPERATORS: &[&str] = &["===", "!==", "==", "!=", "&&", "||", "<=", ">=", "=>", "->", "??", "?."];

/// So many characters of a text are read, so that no text costs more than another.
const MOST_CHARACTERS: usize = 4000;

/// A text taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Words {
    /// Stems of the words, names split into theirs, in the order of the text.
    pub(super) stems: Vec<String>,
    /// Names of code, whole and in lowercase.
    pub(super) names: Vec<String>,
    /// Numbers as they are written.
    pub(super) numbers: Vec<String>,
    /// Operators of programming languages.
    pub(super) operators: Vec<&'static str>,
    /// Letters and digits in lowercase, with one blank for everything between them.
    pub(super) plain: Vec<char>,
    /// Whether it denies something.
    pub(super) denies: bool,
}

impl Words {
    /// Takes a text apart.
    pub(super) fn of(text: &str) -> Self {
        let text = bounded(text);
        let quoted = quoted(text);
        let mut words = Self { plain: plain(text), ..Self::default() };
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            if first.is_ascii_digit() {
                let end = at + number(rest);
                words.numbers.push(text[at..end].to_owned());
                words.stems.push(text[at..end].to_owned());
                at = end;
            } else if first.is_alphanumeric() || first == '_' {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                at += words.word(text, at, at + length, &quoted);
            } else if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
                words.operators.push(operator);
                at += operator.len();
            } else {
                at += first.len_utf8();
            }
        }
        words
    }

    /// Takes the word from `start` to `end`, and returns how many bytes it took.
    fn word(&mut self, text: &str, start: usize, end: usize, quoted: &[(usize, usize)]) -> usize {
        let (mut word, after) = (&text[start..end], &text[end..]);
        let mut taken = word.len();
        if let Some(tail) = ["'t", "\u{2019}t"].iter().find(|tail| after.starts_with(**tail))
            && let Some(without) = word.strip_suffix('n')
        {
            (word, taken, self.denies) = (without, taken + tail.len(), true);
            self.stems.push("not".to_owned());
        }
        let lower = word.to_lowercase();
        self.denies |= NEGATIONS.contains(&lower.as_str());
        let within = quoted.iter().any(|&(from, to)| from <= start && end <= to) && word.len() > 2;
        if (within || is_code(word, &text[..start], after)) && !is_stop_word(&lower) {
            self.names.push(lower);
        }
        for part in parts(word) {
            let part = part.to_lowercase();
            if part.chars().nth(1).is_some() && !is_stop_word(&part) {
                self.stems.push(stem(&part));
            }
        }
        taken
    }
}

/// The stem of a lowercase word: the commonest endings cut off, lightly.
pub(super) fn stem(word: &str) -> String {
    const ENDINGS: &[(&str, &str)] = &[
        ("ization", "iz"),
        ("isation", "iz"),
        ("ational", "at"),
        ("ations", "at"),
        ("ation", "at"),
        ("ements", "ement"),
        ("ingly", ""),
        ("edly", ""),
        ("ness", ""),
        ("ively", "iv"),
        ("ities", "ity"),
        ("ies", "y"),
        ("ing", ""),
        ("ied", "y"),
        ("ers", "er"),
        ("ed", ""),
        ("ly", ""),
        ("es", "e"),
        ("s", ""),
    ];
    let mut stem = word.to_owned();
    if !word.is_ascii() || word.len() <= 3 {
        return stem;
    }
    let plural = |ending: &str| ending == "s" && ["ss", "us", "is"].iter().any(|kept| word.ends_with(kept));
    for (ending, instead) in ENDINGS {
        if word.ends_with(ending) && word.len() - ending.len() >= 3 && !plural(ending) {
            stem.truncate(word.len() - ending.len());
            stem.push_str(instead);
            break;
        }
    }
    if let [.., a, b] = stem.as_bytes()
        && stem.len() > 4
        && a == b
        && !b"lsz".contains(b)
    {
        stem.pop();
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The beginning of a text, of bounded length.
pub(super) fn bounded(text: &str) -> &str {
    text.char_indices().nth(MOST_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

/// What stands between backticks on one line, from and to.
fn quoted(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    for (start, line) in text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at - line.len(), line))
    }) {
        let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| start + at).collect();
        ranges.extend(ticks.chunks_exact(2).map(|pair| (pair[0], pair[1])));
    }
    ranges
}

/// The length of the number a text starts with, a fraction included.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    match text[whole..].strip_prefix('.').map(digits) {
        Some(fraction) if fraction > 0 => whole + 1 + fraction,
        _ => whole,
    }
}

/// Whether a word is a name of code by its look, or by what stands around it.
fn is_code(word: &str, before: &str, after: &str) -> bool {
    let mut last = ' ';
    let camel = word.chars().any(|c| std::mem::replace(&mut last, c).is_lowercase() && c.is_uppercase());
    let member = before.strip_suffix('.').is_some_and(|owner| owner.ends_with(char::is_alphanumeric));
    let owner = after.strip_prefix('.').is_some_and(|member| member.starts_with(char::is_alphabetic));
    camel || word.trim_matches('_').contains('_') || after.starts_with('(') || member || owner
}

/// The words a name is made of: `getUserID_v2` is get, User, ID, v and 2.
fn parts(name: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        '_' => 0,
        c if c.is_uppercase() => 1,
        c if c.is_numeric() => 3,
        _ => 2,
    };
    let chars: Vec<(usize, u8)> = name.char_indices().map(|(at, c)| (at, kind(c))).collect();
    let mut cuts = vec![0];
    for (i, &(at, kind)) in chars.iter().enumerate().skip(1) {
        let before = chars[i - 1].1;
        let capital = before == 1 && kind == 1 && chars.get(i + 1).is_some_and(|next| next.1 == 2);
        if (before != kind && !(before == 1 && kind == 2)) || capital {
            cuts.push(at);
        }
    }
    cuts.push(name.len());
    cuts.windows(2).map(|cut| &name[cut[0]..cut[1]]).filter(|part| !part.starts_with('_') && !part.is_empty()).collect()
}

fn plain(text: &str) -> Vec<char> {
    let mut plain = vec![' '];
    for c in text.chars() {
        if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        } else if plain.last() != Some(&' ') {
            plain.push(' ');
        }
    }
    if plain.last() != Some(&' ') {
        plain.push(' ');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_so_that_they_are_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(NEGATIONS.iter().all(|word| !is_stop_word(word)));
    }

    #[test]
    fn texts_are_taken_apart() {
        let check = |text: &str, stems: &str, names: &str| {
            let words = Words::of(text);
            assert_eq!((words.stems.join(" "), words.names.join(" ")), (stems.to_owned(), names.to_owned()), "{text}");
        };
        check("getUserID leaks the HTTPServer_v2", "get user id leak http server", "getuserid httpserver_v2");
        check("`key` and d.Log, call open(x)", "key log call open", "key d log open");
        check("It doesn't wait 0.5 s", "not wait 0.5", "");
        check("", "", "");
        check("\0\u{202e}🦀 ` é", "", "");
    }

    #[test]
    fn words_of_one_kind_have_one_stem() {
        for group in
            ["caches cached caching", "validation validate validates", "query queries", "stopped stopping stops"]
        {
            let stems: Vec<String> = group.split(' ').map(stem).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
        assert_eq!([stem("process"), stem("status"), stem("is")], ["process", "status", "is"]);
    }

    #[test]
    fn denials_numbers_and_operators_are_seen() {
        let words = Words::of("a === b never happens before 3.25 or 7");
        assert!(words.denies);
        assert_eq!((words.numbers.join(" "), words.operators), ("3.25 7".to_owned(), vec!["==="]));
        assert!(!Words::of("a note on knots").denies);
    }

    #[test]
    fn no_text_costs_more_than_its_beginning() {
        let long = "word ".repeat(300_000);
        assert_eq!(Words::of(&long), Words::of(&long[..4000]));
    }
}
