//! Small pieces that several pages have.

use karat::report::page::text;
use karat::store::moment::shown;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What may stand in any part of an address as it is.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text as a part of an address, which no quote and no markup ends.
pub(crate) fn escaped(part: &str) -> String {
    utf8_percent_encode(part, &PLAIN).to_string()
}

/// A moment, in UTC, to the minute; all of it where one points at it.
pub(crate) fn time(ms: i64) -> String {
    let whole = shown(ms);
    let short = whole.get(..16).filter(|_| whole.len() == 19).unwrap_or(&whole);
    format!(
        "<time datetime=\"{}Z\" title=\"{} UTC\">{}</time>",
        text(&whole.replacen(' ', "T", 1)),
        text(&whole),
        text(short)
    )
}
