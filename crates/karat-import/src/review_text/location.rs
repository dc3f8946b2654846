//! Locations in prose: a file and its lines.

use crate::fields;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use regex::Regex;
use std::sync::LazyLock;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CodeLocation {
    pub(super) file: RepoPath,
    pub(super) lines: Option<Lines>,
}

/// Extensions by which a word is recognised as a file.
const EXTENSIONS: &str = "bash c cc cfg cjs clj conf cpp cs css cts cxx dart erb erl ex exs fs go gradle graphql h hcl hh hpp hs htm \
    html hxx ini java jl js json jsx kt kts lua m md mjs mm mts php pl properties proto ps1 py pyi r rake rb rs \
    scala scss sh sol sql svelte swift tf toml ts tsx txt vue vy xml yaml yml zig";

/// A word that may be a file, with line numbers that may follow at once.
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let lines = r"(?::(?P<a>\d{1,7})(?:(?:-|–|:L?)(?P<b>\d{1,7}))?|#L(?P<c>\d{1,7})(?:-L?(?P<d>\d{1,7}))?)?";
    let name = r"(?P<file>[\w.@+~-][\w.@+~()\[\]/-]*?\.(?P<extension>[A-Za-z][A-Za-z0-9]{0,9}))";
    Regex::new(&format!(
        r"(?P<before>^|[\s`'\x22(\[<*_|,;:/])(?P<slash>/?){name}{lines}(?P<after>[`'\x22)\]>*_|,;:.!?\s]|$)"
    ))
    .ok()
});

/// Lines named by a word: "line 12", "lines 12-15", "L12", "Lines: 12 to 15".
static LINES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:lines?\b[^\w\n]{0,6}|L)(\d{1,7})(?:\s*(?:-|–|—|to|through|and)\s*L?(\d{1,7}))?\b").ok()
});

/// The first location in a text. A bare file name, without folder, line and backticks, counts only where a file is expected.
pub(super) fn find(text: &str, expected: bool) -> Option<CodeLocation> {
    let captures = first(text, expected)?;
    let file = RepoPath::new(captures.name("file")?.as_str())?;
    let number = |name: &str| line_number(captures.name(name));
    let start = number("a").or_else(|| number("c"));
    // `:12:5` is a line and a column, `:12-15` two lines.
    let range = captures.name("b").is_none_or(|b| !text[..b.start()].ends_with([':', 'L']));
    let end = number("b").filter(|_| range).or_else(|| number("d"));
    Some(CodeLocation { file, lines: Lines::from_start(start, end).or_else(|| find_lines(text)) })
}

pub(super) fn find_lines(text: &str) -> Option<Lines> {
    let captures = LINES.as_ref()?.captures(text)?;
    Lines::from_start(line_number(captures.get(1)), line_number(captures.get(2)))
}

/// The text without a leading location and the words that introduce it; a location within a sentence is part of it and stays.
pub(super) fn strip_leading(text: &str) -> String {
    static LEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let lines = r"(?:\(?(?:lines?\b[^\w\n]{0,6}|L)\d+(?:\s*(?:-|–|to)\s*L?\d+)?\)?)?";
        let signs = r"[\s>*_`\[\](){}#|:,.–—-]*";
        Regex::new(&format!(r"(?i)^{signs}(?:(?:in|at|file|path|location)\b\W*)?{lines}{signs}")).ok()
    });
    static LINES_FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:lines?\b[^\w\n]{0,6}|L)\d+(?:\s*(?:-|–|to)\s*L?\d+)?\b[\s*_`\])|:,.–—-]*").ok()
    });
    let found = first(text, true);
    let span = found.and_then(|captures| Some((captures.name("slash")?.start(), captures.name("after")?.start())));
    let (rest, lead) = match span {
        Some((start, end)) if leads(&text[..start]) => (format!("{}{}", &text[..start], &text[end..]), &LEAD),
        _ => (text.to_owned(), &LINES_FIRST),
    };
    let cut = lead.as_ref().and_then(|regex| regex.find(&rest)).map_or(0, |found| found.end());
    rest[cut..].to_owned()
}

/// Whether words only introduce a location: "In", "File:", a number, or a severity.
fn leads(words: &str) -> bool {
    let lead = |word: &str| {
        matches!(word.to_ascii_lowercase().as_str(), "in" | "at" | "file" | "path" | "location")
            || word.chars().all(|c| c.is_ascii_digit())
            || fields::severity_of_word(word).is_some()
    };
    words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(4).all(lead)
}

fn first(text: &str, expected: bool) -> Option<regex::Captures<'_>> {
    let is_place = |captures: &regex::Captures<'_>| {
        let part = |name: &str| captures.name(name).map_or("", |found| found.as_str());
        let extension = part("extension").to_ascii_lowercase();
        let known = EXTENSIONS.split(' ').any(|known| known == extension);
        let lines = captures.name("a").or(captures.name("c")).is_some();
        let folder = part("file").contains('/');
        let quoted = part("before") == "`";
        let file = (known && (expected || lines || folder || quoted)) || (lines && folder);
        file && !is_address(text, captures.name("file").map_or(0, |found| found.start()))
    };
    FILE.as_ref()?.captures_iter(text).find(is_place)
}

/// Whether the position is inside a URL, after `://` or a host.
fn is_address(text: &str, start: usize) -> bool {
    // Hosts are short, and searching further back would take quadratic time in a text without blanks.
    let before = &text[text.floor_char_boundary(start.saturating_sub(400))..start];
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.contains("://") || word.contains("www.")
}

fn line_number(digits: Option<regex::Match<'_>>) -> Option<u32> {
    digits?.as_str().parse().ok().filter(|&line| line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_found_in_prose() {
        let check = |text: &str, expect: &str| {
            let found = find(text, false).map_or("-".to_owned(), |place| {
                let lines = place.lines.map_or(String::new(), |lines| format!(" {}-{}", lines.start, lines.end));
                format!("{}{lines}", place.file)
            });
            assert_eq!(found, expect, "{text:?}");
        };
        check("`src/a.py:12`: bad", "src/a.py 12-12");
        check("src/a.py:12-15 bad", "src/a.py 12-15");
        check("src/a.py:12:5 bad", "src/a.py 12-12");
        check("see [a.py](https://x.test/a.py#L9)", "-");
        check("[src/a.py#L12-L15](https://x.test/blob/src/a.py)", "src/a.py 12-15");
        check("in `a.py`, lines 3 to 5,", "a.py 3-5");
        check("In `a.py` (L7) the", "a.py 7-7");
        check("lib/x.rb is odd", "lib/x.rb");
        check("**src/app/[id]/page.tsx:4**", "src/app/[id]/page.tsx 4-4");
        check("/abs/src/a.py:3", "abs/src/a.py 3-3");
        check("a.py is odd", "-");
        check("Node.js and e.g. example.com/x.y", "-");
        check("https://example.com/src/a.py:12", "-");
        check("`self.value` is odd", "-");
        check("build/Makefile.unknown:7", "build/Makefile.unknown 7-7");
        check("a.py:0", "a.py");
        check("é `ü.py:1` é", "ü.py 1-1");
        check("", "-");
        assert_eq!(find("a.py", true).map(|place| place.file.to_string()).as_deref(), Some("a.py"));
    }

    #[test]
    fn leading_locations_are_stripped() {
        let check = |text: &str, expect: &str| assert_eq!(strip_leading(text), expect, "{text:?}");
        check("`src/a.py:12` - The query is built by hand", "The query is built by hand");
        check("**src/a.py** (lines 3-5): The loop", "The loop");
        check("In `src/a.py`, line 3: the loop", "the loop");
        check("The loop in `src/a.py:3` never ends", "The loop in `src/a.py:3` never ends");
        check("**[HIGH]** `src/a.py:3`: the loop", "HIGH]** ``: the loop");
        check("Lines 3-5: the loop", "the loop");
        check("In the loop of line 3", "In the loop of line 3");
        check("src/a.py:3", "");
        check("no place", "no place");
    }
}
