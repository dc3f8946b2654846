//! Markup shared by several pages.

use karat_report::page::text;
use karat_store::timestamp::format_utc;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that need no escaping in any part of an address.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Escapes a text for an address and an HTML attribute.
pub(crate) fn percent_encode(part: &str) -> String {
    utf8_percent_encode(part, &PLAIN).to_string()
}

/// A time in UTC to the minute, with the full time as a tooltip.
pub(crate) fn time(ms: i64) -> String {
    let whole = format_utc(ms);
    let short = whole.get(..16).filter(|_| whole.len() == 19).unwrap_or(&whole);
    format!(
        "<time datetime=\"{}Z\" title=\"{} UTC\">{}</time>",
        text(&whole.replacen(' ', "T", 1)),
        text(&whole),
        text(short)
    )
}

/// Escapes a message, with text between backticks as code.
pub(crate) fn code_spans(words: &str) -> String {
    let shown = text(words);
    let parts: Vec<&str> = shown.split('`').collect();
    // A single backtick is an ordinary character.
    if parts.len().is_multiple_of(2) {
        return shown;
    }
    let part =
        |(at, part): (usize, &&str)| if at % 2 == 1 { format!("<code>{part}</code>") } else { (*part).to_owned() };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_code_and_never_markup() {
        assert_eq!(code_spans("no run `<b>`; `x` has"), "no run <code>&lt;b&gt;</code>; <code>x</code> has");
        assert_eq!(code_spans("a ` alone"), "a ` alone");
    }
}
