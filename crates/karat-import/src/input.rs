//! Opens files to import as streams: decompressed, decoded to UTF-8, and guarded.

mod guard;

pub use guard::Limits;

use crate::{ImportError, Input};
use encoding_rs::Encoding;
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::bufread::MultiGzDecoder;
use guard::{GuardError, GuardedReader};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

/// Opens a file; `-` is standard input.
pub fn open(path: &Path) -> Result<Input<'_>, ImportError> {
    if path == Path::new("-") {
        return from_reader(path, Box::new(io::stdin().lock()));
    }
    from_reader(path, Box::new(File::open(path).map_err(|error| read_error(path, error))?))
}

/// Whether a path is a file whose bytes are the text that is read from it, so that a line can be read again by its offset.
pub fn is_plain_text(path: &Path) -> bool {
    let head = || -> io::Result<Vec<u8>> { peek(&mut File::open(path)?) };
    let is_file = path != Path::new("-") && path.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file
        && head().is_ok_and(|head| {
            let is_marked = [&[0x1f, 0x8b][..], &[0xef, 0xbb, 0xbf], &[0xff, 0xfe], &[0xfe, 0xff]];
            !is_marked.iter().any(|mark| head.starts_with(mark)) && encoding(&head) == encoding_rs::UTF_8
        })
}

/// Makes an input of a reader, with the default limits.
pub fn from_reader<'a>(path: &'a Path, reader: Box<dyn Read + 'a>) -> Result<Input<'a>, ImportError> {
    from_reader_within(path, reader, Limits::default())
}

/// Makes an input of a reader, with these limits.
pub fn from_reader_within<'a>(
    path: &'a Path,
    reader: Box<dyn Read + 'a>,
    limits: Limits,
) -> Result<Input<'a>, ImportError> {
    let (mut reader, mut limits) = (reader, limits);
    let mut head = peek(&mut reader).map_err(|error| read_error(path, error))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let compressed = Cursor::new(head).chain(reader);
        reader = Box::new(MultiGzDecoder::new(BufReader::with_capacity(BLOCK, compressed)));
        head = peek(&mut reader).map_err(|error| read_error(path, error))?;
        limits.total = limits.total.min(limits.unpacked);
    }
    let decoded = DecodeReaderBytesBuilder::new()
        .encoding(Some(encoding(&head)))
        .bom_override(true)
        .build_with_buffer(Cursor::new(head).chain(reader), vec![0; BLOCK])
        .map_err(|error| read_error(path, error))?;
    Ok(Input { path, reader: Box::new(GuardedReader::new(decoded, limits)), sources: &|_| None })
}

/// Explains a read error: errors of the guard and of decompression are faults of the text, with a position.
pub fn read_error(path: &Path, error: io::Error) -> ImportError {
    let guard_error = error.get_ref().and_then(|inner| inner.downcast_ref::<GuardError>());
    let (line, column, message) = if let Some(guard_error) = guard_error {
        (guard_error.position.line, guard_error.position.column, guard_error.message.clone())
    } else if matches!(error.kind(), io::ErrorKind::UnexpectedEof) {
        (0, 0, "the compressed data ends in the middle; copy the whole file, or run the tool to its end".to_owned())
    } else if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) {
        (0, 0, format!("the compressed data is damaged ({error}); try `gzip --test` on it"))
    } else {
        (0, 0, error.to_string())
    };
    ImportError { path: display_path(path), line, column, message }
}

/// The path as shown in messages.
pub fn display_path(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}

const BLOCK: usize = 64 * 1024;

/// Reads the first bytes, which reveal compression and encoding.
fn peek(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(4);
    reader.take(4).read_to_end(&mut head)?;
    Ok(head)
}

/// UTF-16 without a byte order mark is recognised by the zero bytes of the ASCII characters that every known format starts with.
/// A byte order mark takes precedence.
fn encoding(head: &[u8]) -> &'static Encoding {
    match head {
        [a, 0, b, 0] if *a != 0 && *b != 0 => encoding_rs::UTF_16LE,
        [0, a, 0, b] if *a != 0 && *b != 0 => encoding_rs::UTF_16BE,
        _ => encoding_rs::UTF_8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn text(bytes: &[u8], limits: Limits) -> String {
        let path = Path::new("in.json");
        let mut input = match from_reader_within(path, Box::new(bytes), limits) {
            Ok(input) => input,
            Err(error) => return error.to_string(),
        };
        let mut text = String::new();
        match input.reader.read_to_string(&mut text) {
            Ok(_) => text,
            Err(error) => read_error(path, error).to_string(),
        }
    }

    fn check(bytes: &[u8], expect: &str) {
        assert_eq!(text(bytes, Limits::default()), expect, "{bytes:?}");
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn every_encoding_becomes_utf8() {
        check(b"", "");
        check(b"{", "{");
        check("{\"é\":1}".as_bytes(), "{\"é\":1}");
        check(b"\xef\xbb\xbf{}", "{}");
        check(&utf16("\u{feff}{\"é😀\":1}", u16::to_le_bytes), "{\"é😀\":1}");
        check(&utf16("\u{feff}{\"é😀\":1}", u16::to_be_bytes), "{\"é😀\":1}");
        check(&utf16("{\"é😀\":1}", u16::to_le_bytes), "{\"é😀\":1}");
        check(&utf16("{\"é😀\":1}", u16::to_be_bytes), "{\"é😀\":1}");
        check(b"\"\xe9\"", "\"\u{fffd}\"");
    }

    #[test]
    fn compressed_input_is_read_and_damage_is_reported() {
        let whole = gzip(b"{\"a\": 1}");
        check(&whole, "{\"a\": 1}");
        check(&[whole.clone(), gzip(b" []")].concat(), "{\"a\": 1} []");
        check(&gzip(&utf16("\u{feff}[]", u16::to_le_bytes)), "[]");
        let truncated =
            "in.json: the compressed data ends in the middle; copy the whole file, or run the tool to its end";
        check(&whole[..whole.len() - 9], truncated);
        assert!(text(b"\x1f\x8bgarbage, not gzip", Limits::default()).contains("the compressed data is damaged"));
    }

    #[test]
    fn binary_content_is_detected() {
        let expect = "in.json: this is not text: it contains zero bytes; is it the right file?";
        check(b"\x7fELF\x02\x01\x01\0\0\0", expect);
        check(&gzip(b"\x7fELF\x02\x01\x01\0\0\0"), expect);
    }

    #[test]
    fn oversized_input_is_an_error() {
        let limits = Limits { string: Some(10), total: 1000, unpacked: 500, help: "unpack it" };
        let check = |input: &str, expect: &str| assert_eq!(text(input.as_bytes(), limits), expect, "{input}");
        check("{\"0123456789\": 1}", "{\"0123456789\": 1}");
        check(
            "{\n \"01234567890\": 1}",
            "in.json:2:2: a string of more than 10 bytes starts here, which is too long for a finding",
        );
        check(
            "{\"01234\\\"6789\": 1}",
            "in.json:1:2: a string of more than 10 bytes starts here, which is too long for a finding",
        );
        check("{\"a\\\\\": \"b\", \"c\": 12345678901234567890}", "{\"a\\\\\": \"b\", \"c\": 12345678901234567890}");
        check("a,b\n\"01234567890\"\n", "a,b\n\"01234567890\"\n");
        let longer =
            |limit| format!("in.json: the text is longer than {limit} bytes, the limit for one input; unpack it");
        check(&" ".repeat(1001), &longer(1000));
        assert_eq!(text(&gzip(&[b' '; 501]), limits), longer(500));
        assert_eq!(text(&gzip(&[b' '; 500]), limits), " ".repeat(500));
        let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
        check(&deep, &deep);
        check(&"[".repeat(600), "in.json:1:513: nested more than 512 levels deep; no known format does that");
    }
}
