//! Markup shared by several pages.

use karat_store::timestamp::format_utc;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// Characters that need no escaping in any part of an address.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(crate) fn percent_encode(part: &str) -> PercentEncode<'_> {
    utf8_percent_encode(part, &PLAIN)
}

/// Replaces each [`time`] of a page by how long ago it was.
pub(crate) const AGO: &str = include_str!("ago.js");

/// A time in UTC to the minute, with the full time as a tooltip.
pub(crate) fn time(ms: i64) -> Markup {
    let whole = format_utc(ms);
    let short = whole.get(..16).filter(|_| whole.len() == 19).unwrap_or(&whole);
    html! { time datetime={ (whole.replacen(' ', "T", 1)) "Z" } title={ (whole) " UTC" } { (short) " UTC" } }
}

/// A message, with text between backticks as code.
pub(crate) fn code_spans(words: &str) -> Markup {
    let parts: Vec<&str> = words.split('`').collect();
    // A single backtick is an ordinary character.
    if parts.len().is_multiple_of(2) {
        return html! { (words) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The section above a page's content that says what to be careful about.
pub(crate) fn note(title: &str, content: &Markup) -> Markup {
    html! { div.careful role="note" { h2 { (title) } (content) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_give_escaped_code_spans() {
        assert_eq!(code_spans("no run `<b>`; `x` has").0, "no run <code>&lt;b&gt;</code>; <code>x</code> has");
        assert_eq!(code_spans("a ` alone").0, "a ` alone");
    }
}
