//! What a model is shown of a case: its change or its code, with line numbers. What is too long is cut, with a note.

use crate::suite::LoadedSuite;
use crate::suite::code::Side;
use imara_diff::{Algorithm, Diff, InternedInput};
use karat_core::suite::Case;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_llm::prompt::truncate_text;
use karat_source::git::is_binary;
use std::collections::BTreeMap;
use std::io;

pub(super) struct PromptInput {
    pub(super) text: String,
    /// What was left out.
    pub(super) notes: Vec<String>,
}

/// Characters that are shown of a case: about 70,000 tokens, which most models can read.
const MAX_CHARS: usize = 240_000;
const MAX_DESCRIPTION: usize = 20_000;
/// Lines that are shown around a change; fewer if the whole would be too long.
const CONTEXT: [usize; 3] = [60, 20, 3];
const MAX_LISTED: usize = 20;

/// The change of a case. Without a `before`, everything is new.
pub(super) fn change(loaded: &LoadedSuite, case: &Case) -> io::Result<PromptInput> {
    let Some(mut code) = loaded.read_code(&case.id)? else { return Ok(fit(Vec::new(), "the change", MAX_CHARS)) };
    let mut changed = Vec::new();
    for path in code.paths() {
        if code.is_unchanged(&path) {
            continue;
        }
        let mut read = |side| Ok::<_, io::Error>(code.read(side, &path)?.map(|file| file.bytes));
        let (old, new) = (read(Side::Before)?, read(Side::After)?);
        if old != new {
            changed.push((path, old, new));
        }
    }
    let mut pieces = Vec::new();
    for context in CONTEXT {
        let drawn = changed.iter().map(|(path, old, new)| {
            let text = file_change(path, old.as_deref(), new.as_deref(), context);
            Piece { path: path.clone(), text }
        });
        pieces = drawn.collect();
        if length(&pieces) <= MAX_CHARS {
            break;
        }
    }
    Ok(fit(pieces, "the change", MAX_CHARS))
}

/// The code of a case. Of a whole tree, the files that the change touches.
pub(super) fn code(loaded: &LoadedSuite, case: &Case) -> io::Result<PromptInput> {
    let Some(mut code) = loaded.read_code(&case.id)? else { return Ok(fit(Vec::new(), "the code", MAX_CHARS)) };
    let mut pieces = Vec::new();
    let mut untouched = 0;
    for path in code.after_paths() {
        if code.is_whole() && case.change.is_some() && code.is_unchanged(&path) {
            untouched += 1;
        } else if let Some(file) = code.read(Side::After, &path)? {
            pieces.push(Piece { text: file_code(&path, &file.bytes), path });
        }
    }
    let mut input = fit(pieces, "the code", MAX_CHARS);
    if untouched > 0 {
        let others = count(untouched, "file");
        input.notes.push(format!("{others} of the repository that the change does not touch are not shown"));
    }
    Ok(input)
}

/// A pull request's description, cut if it is very long.
pub(super) fn description(text: &str, notes: &mut Vec<String>) -> String {
    let shown = truncate_text(text, MAX_DESCRIPTION);
    if shown != text {
        notes.push("incomplete: the description of the pull request was too long to be shown whole".to_owned());
    }
    shown
}

struct Piece {
    path: String,
    text: String,
}

fn length(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.text.chars().count()).sum()
}

/// As many files as fit, small ones first, in the order of their paths. Of the first that does not fit, as many lines as do.
fn fit(pieces: Vec<Piece>, what: &str, most: usize) -> PromptInput {
    let all = length(&pieces);
    if all <= most {
        return PromptInput { text: pieces.into_iter().map(|piece| piece.text).collect(), notes: Vec::new() };
    }
    let mut order: Vec<(usize, usize)> = pieces.iter().map(|piece| piece.text.chars().count()).zip(0..).collect();
    order.sort_unstable();
    let mut left = most;
    let mut cut: BTreeMap<usize, usize> = BTreeMap::new();
    for (length, index) in order {
        let given = length.min(left);
        left -= given;
        if given < length {
            cut.insert(index, given);
        }
    }
    let mut text = String::new();
    let mut listed = Vec::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        let Some(room) = cut.get(&index) else {
            text.push_str(&piece.text);
            continue;
        };
        let kept = whole_lines(&piece.text, *room);
        // A heading alone shows nothing.
        if kept.lines().count() > 1 {
            text.push_str(kept);
            text.push_str("... (the rest of this file is not shown)\n");
            listed.push(format!("{} in part", piece.path));
        } else {
            text.push_str(&format!("file {} (not shown)\n", harmless(&piece.path)));
            listed.push(format!("{} not at all", piece.path));
        }
    }
    let more = listed.len().saturating_sub(MAX_LISTED);
    listed.truncate(MAX_LISTED);
    let more = if more > 0 { format!(", and {}", count(more, "more file")) } else { String::new() };
    let listed = listed.join(", ");
    let note = format!("incomplete: {what} was too long to be shown whole ({all} characters): {listed}{more}");
    PromptInput { text, notes: vec![note] }
}

/// The lines at the start of a text that fit into so many characters.
fn whole_lines(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    text[..end].rfind('\n').map_or("", |last| &text[..=last])
}

fn file_code(path: &str, bytes: &[u8]) -> String {
    if is_binary(bytes) {
        return format!("file {} (binary, not shown)\n", harmless(path));
    }
    let mut out = format!("file {}\n", harmless(path));
    let text = String::from_utf8_lossy(bytes);
    text.lines().zip(1_usize..).for_each(|(line, number)| out.push_str(&format!("{number:>5} {line}\n")));
    out
}

fn file_change(path: &str, before: Option<&[u8]>, after: Option<&[u8]>, context: usize) -> String {
    let what = match (before, after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if is_binary(before) || is_binary(after) {
        return format!("file {}{what} (binary, not shown)\n", harmless(path));
    }
    let mut out = format!("file {}{what}\n", harmless(path));
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let hunks: Vec<_> = diff.hunks().collect();
    let kept = |out: &mut String, range: std::ops::Range<usize>| {
        range.for_each(|at| out.push_str(&format!("{:>5}   {}\n", at + 1, new[at])));
    };
    // Everything before this line of the new file is drawn.
    let mut drawn = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let (start, end) = (hunk.after.start as usize, hunk.after.end as usize);
        let from = start.saturating_sub(context).max(drawn);
        if from > drawn {
            out.push_str("...\n");
        }
        kept(&mut out, from..start);
        old[hunk.before.start as usize..hunk.before.end as usize]
            .iter()
            .for_each(|line| out.push_str(&format!("      - {line}\n")));
        (start..end).for_each(|at| out.push_str(&format!("{:>5} + {}\n", at + 1, new[at])));
        let next = hunks.get(index + 1).map_or(new.len(), |next| next.after.start as usize);
        drawn = end.saturating_add(context).min(next);
        kept(&mut out, end..drawn);
    }
    if drawn < new.len() {
        out.push_str("...\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: Option<&str>, after: Option<&str>, expect: &str) {
        let drawn = file_change("a.py", before.map(str::as_bytes), after.map(str::as_bytes), 1);
        assert_eq!(drawn, expect);
    }

    #[test]
    fn changes_have_the_numbers_of_the_new_file() {
        check(
            Some("a\nb\nc\nd\ne\nf\ng\n"),
            Some("a\nb\nX\nY\nd\ne\nf\n"),
            "file a.py\n...\n    2   b\n      - c\n    3 + X\n    4 + Y\n    5   d\n...\n    7   f\n      - g\n",
        );
        check(None, Some("a\r\nb"), "file a.py (new)\n    1 + a\n    2 + b\n");
        check(Some("a\n"), None, "file a.py (removed)\n      - a\n");
        check(Some("x\ny\na\n"), Some("y\na\n"), "file a.py\n      - x\n    1   y\n...\n");
        check(Some("a"), Some("a\0"), "file a.py (binary, not shown)\n");
        assert_eq!(file_code("a\nb.py", b"x\n\ny"), "file a\u{240a}b.py\n    1 x\n    2 \n    3 y\n");
    }

    #[test]
    fn what_is_too_long_is_cut_and_said_to_be() {
        let piece = |path: &str, lines: usize| {
            let text = "line\n".repeat(lines);
            Piece { path: path.to_owned(), text: format!("file {path}\n{text}") }
        };
        let pieces = || vec![piece("a", 100), piece("b", 3), piece("c", 10), piece("d", 200)];
        let whole = fit(pieces(), "the code", 10_000);
        assert!(whole.notes.is_empty() && whole.text.matches("line\n").count() == 313);
        let part = fit(pieces(), "the code", 200);
        assert_eq!(part.text.matches("file ").count() - part.text.matches("this file").count(), 4, "{}", part.text);
        assert!(part.text.contains("file b\nline\nline\nline\nfile c\n"), "{}", part.text);
        assert!(part.text.contains("... (the rest of this file is not shown)\nfile b\n"), "{}", part.text);
        assert!(part.text.ends_with("file d (not shown)\n"), "{}", part.text);
        assert_eq!(
            part.notes,
            ["incomplete: the code was too long to be shown whole (1593 characters): a in part, d not at all"]
        );
        assert_eq!(whole_lines("é\né\né", 3), "é\n");
        let mut notes = Vec::new();
        assert_eq!(description("short", &mut notes), "short");
        assert!(notes.is_empty() && description(&"x".repeat(30_000), &mut notes).ends_with("[cut here]"));
        assert_eq!(notes.len(), 1);
    }
}
