//! Small pieces that several pages have.

use karat_report::page::text;
use karat_store::timestamp::format_utc;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What may stand in any part of an address as it is.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text as a part of an address, which no quote and no markup ends.
pub(crate) fn escaped(part: &str) -> String {
    utf8_percent_encode(part, &PLAIN).to_string()
}

/// A moment, in UTC, to the minute; all of it where one points at it.
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

/// What is said, with what stands between backticks as code.
pub(crate) fn said(words: &str) -> String {
    let shown = text(words);
    let parts: Vec<&str> = shown.split('`').collect();
    // One that stands alone is a sign like any other.
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
        assert_eq!(said("no run `<b>`; `x` has"), "no run <code>&lt;b&gt;</code>; <code>x</code> has");
        assert_eq!(said("a ` alone"), "a ` alone");
    }
}
