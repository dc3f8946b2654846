//! The change of a case as a unified diff, in the form git prints.

use crate::suite::objects::FileMode as Mode;
use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter};
use karat_source::git::is_binary;
use std::fmt::{self, Write};

type Side<'a> = Option<(Mode, &'a [u8])>;

pub(super) fn append(out: &mut String, path: &str, before: Side<'_>, after: Side<'_>) {
    if before == after {
        return;
    }
    let (a, b) = (quoted("a/", path), quoted("b/", path));
    out.push_str(&format!("diff --git {a} {b}\n"));
    let (old, new) = match (before, after) {
        (None, Some((mode, _))) => {
            out.push_str(&format!("new file mode {:o}\n", mode as u32));
            ("/dev/null".to_owned(), b)
        }
        (Some((mode, _)), None) => {
            out.push_str(&format!("deleted file mode {:o}\n", mode as u32));
            (a, "/dev/null".to_owned())
        }
        (Some((old, _)), Some((new, _))) if old != new => {
            out.push_str(&format!("old mode {:o}\nnew mode {:o}\n", old as u32, new as u32));
            (a, b)
        }
        _ => (a, b),
    };
    let (before, after) = (before.map(|(_, bytes)| bytes), after.map(|(_, bytes)| bytes));
    if before == after {
        return;
    }
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if is_binary(before) || is_binary(after) {
        out.push_str(&format!("Binary files {old} and {new} differ\n"));
        return;
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let input = InternedInput::new(&*before, &*after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks = diff.unified_diff(&AsGit(&input.interner), UnifiedDiffConfig::default(), &input).to_string();
    if !hunks.is_empty() {
        out.push_str(&format!("--- {old}\n+++ {new}\n{hunks}"));
    }
}

/// A path as git writes it: in quotes if it contains control characters, quotes or backslashes.
fn quoted(prefix: &str, path: &str) -> String {
    if !path.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        return format!("{prefix}{path}");
    }
    let mut out = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => c.to_string().bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}"))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Prints hunks as git does, with a remark if the last line of a file has no newline.
struct AsGit<'a>(&'a Interner<&'a str>);

impl AsGit<'_> {
    fn line(&self, out: &mut impl Write, mark: char, token: Token) -> fmt::Result {
        let line = self.0[token];
        write!(out, "{mark}{line}")?;
        if line.ends_with('\n') { Ok(()) } else { out.write_str("\n\\ No newline at end of file\n") }
    }
}

impl UnifiedDiffPrinter for AsGit<'_> {
    fn display_header(
        &self,
        mut out: impl Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> fmt::Result {
        // A side without lines begins before its first line.
        let start = |start: u32, len: u32| if len == 0 { start } else { start + 1 };
        let (old, new) = (start(start_before, len_before), start(start_after, len_after));
        writeln!(out, "@@ -{old},{len_before} +{new},{len_after} @@")
    }

    fn display_context_token(&self, mut out: impl Write, token: Token) -> fmt::Result {
        self.line(&mut out, ' ', token)
    }

    fn display_hunk(&self, mut out: impl Write, before: &[Token], after: &[Token]) -> fmt::Result {
        before.iter().try_for_each(|token| self.line(&mut out, '-', *token))?;
        after.iter().try_for_each(|token| self.line(&mut out, '+', *token))
    }
}
