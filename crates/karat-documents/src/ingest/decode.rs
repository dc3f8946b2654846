//! Decodes text files.

use super::{IngestError, Source};

/// The text, and notes on how it was decoded.
pub(super) fn text(source: &Source<'_>) -> Result<(String, Vec<String>), IngestError> {
    let mut notes = Vec::new();
    let (text, encoding, damaged) = encoding_rs::UTF_8.decode(source.bytes);
    if encoding != encoding_rs::UTF_8 {
        notes.push(format!("read as {}", encoding.name()));
    }
    if damaged {
        let n = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
        notes.push(format!("bytes that are no {} were replaced ({n})", encoding.name()));
    }
    let zeros = text.bytes().filter(|byte| *byte == 0).count();
    if zeros * 20 > text.len() {
        return Err(source.malformed("", "this is not text: there are many zero bytes in it; is it the right file?"));
    }
    if zeros == 0 {
        return Ok((text.into_owned(), notes));
    }
    notes.push(format!("zero bytes were left out ({zeros})"));
    Ok((text.replace('\0', ""), notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::IngestLimits;

    #[track_caller]
    fn check(bytes: &[u8], expect: &str, notes: &[&str]) {
        let source = Source { name: "a.md", bytes, limits: &IngestLimits::default() };
        match text(&source) {
            Ok((text, told)) => {
                assert_eq!((text.as_str(), told), (expect, notes.iter().map(|n| (*n).into()).collect()))
            }
            Err(error) => assert_eq!(error.to_string(), expect),
        }
    }

    #[test]
    fn every_encoding_becomes_text() {
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        check("# Å".as_bytes(), "# Å", &[]);
        check(b"\xef\xbb\xbf# A", "# A", &[]);
        check(&utf16("\u{feff}# Å😀", u16::to_le_bytes), "# Å😀", &["read as UTF-16LE"]);
        check(&utf16("\u{feff}# Å😀", u16::to_be_bytes), "# Å😀", &["read as UTF-16BE"]);
        check(b"caf\xe9 \xff", "caf\u{fffd} \u{fffd}", &["bytes that are no UTF-8 were replaced (2)"]);
        check(
            b"a long enough text with one \0 byte",
            "a long enough text with one  byte",
            &["zero bytes were left out (1)"],
        );
        check(
            b"\x7fELF\0\0\0\0",
            "a.md: this is not text: there are many zero bytes in it; is it the right file?",
            &[],
        );
    }
}
