//! Writes texts as YAML scalars.

use std::fmt::Write as _;

/// A double-quoted scalar, in which everything that could be taken for YAML or break a line is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_plain(c) => out.push(c),
            c => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

/// A literal block where the text has lines and all of them are plain; a quoted scalar otherwise.
pub(super) fn block_or_quoted(text: &str, indent: &str) -> String {
    let plain = text.chars().all(|c| c == '\n' || c == '\t' || is_plain(c));
    if !plain || !text.contains('\n') || text.starts_with('\n') || text.ends_with('\n') {
        return quoted(text);
    }
    // The indentation is stated, because the first line of the text may be indented itself.
    let mut out = String::from("|2-");
    for row in text.split('\n') {
        out.push('\n');
        if !row.is_empty() {
            out.push_str(indent);
            out.push_str(row);
        }
    }
    out
}

/// Characters that YAML allows and no reader takes for a line break or a mark of direction.
fn is_plain(c: char) -> bool {
    let invisible =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let outside = matches!(c, '\u{fff0}'..='\u{ffff}') || (u32::from(c) & 0xFFFE) == 0xFFFE;
    !c.is_control() && !invisible && !outside
}

#[cfg(test)]
mod tests {
    use super::*;
    use saphyr_parser::{Event, Parser};

    fn scalars(yaml: &str) -> Vec<String> {
        let mut scalars = Vec::new();
        for event in Parser::new_from_str(yaml) {
            let (event, _) = event.unwrap_or_else(|error| panic!("{error}\n{yaml}"));
            if let Event::Scalar(value, ..) = event {
                scalars.push(value.to_string());
            }
        }
        scalars
    }

    #[test]
    fn any_text_comes_back() {
        let check = |text: &str| {
            let yaml = format!("a:\n  b: {}\n  c: {}\nd: end\n", quoted(text), block_or_quoted(text, "    "));
            assert_eq!(scalars(&yaml), ["a", "b", text, "c", text, "d", "end"], "{yaml}");
        };
        check("");
        check("plain");
        check("a: b # c");
        check("\"quotes\" 'and' \\slashes\\ %x &y *z !t {[,]}");
        check("- x\n- y");
        check("  indented first\nsecond\n\n\n    third");
        check("tab\tinside\n\ttab first");
        check("trailing \nspaces  ");
        check("ends in break\n");
        check("\nbegins with break");
        check("---\n...\n# no comment\n");
        check("bell \u{7} escape \u{1b} nul \0 del \u{7f} c1 \u{9b} nel \u{85}");
        check("ls \u{2028} ps \u{2029} bom \u{feff} rtl \u{202e}\nx");
        check("gr\u{fc}n \u{1f600} \u{10ffff} \u{fffd}\nx");
        check("carriage\r\nreturn\rx");
    }
}
