//! JSONL.

use super::{Sample, brief};
use crate::diagnostic::{Diagnostic, Level};
use crate::diagnostic_groups::ERROR_LIMIT;
use crate::document::lines::{MAX_LINE_BYTES, decode_lines_within};
use crate::document::{decode_lines, schema_of};

fn read(line_bytes: usize, bytes: &[u8]) -> (Vec<(usize, String)>, Vec<Diagnostic>) {
    let mut ids = Vec::new();
    // A small buffer makes lines span several reads.
    let reader = std::io::BufReader::with_capacity(7, bytes);
    let schema = schema_of::<Sample>();
    let faults = decode_lines_within::<Sample>(line_bytes, "cases.jsonl", reader, &schema, |n, value, line| {
        ids.push((n, value.id.clone()));
        if value.id == "reserved" {
            return vec![line.at(&["id".into()], "reserved", "this name is reserved").with_level(Level::Warning)];
        }
        Vec::new()
    });
    (ids, faults)
}

#[track_caller]
fn check(bytes: &[u8], ids: &[(usize, &str)], expect: &str) {
    let (found, faults) = read(MAX_LINE_BYTES, bytes);
    let found: Vec<(usize, &str)> = found.iter().map(|(n, id)| (*n, id.as_str())).collect();
    assert_eq!(found, ids);
    let expect: Vec<&str> = expect.trim().lines().map(str::trim).collect();
    assert_eq!(brief(&faults), expect.join("\n"), "\n{}", brief(&faults));
    for fault in &faults {
        // The span is in bytes of the whole file, so its line can be counted there.
        let span = fault.span.clone().expect("a place");
        assert_eq!(bytes[..span.start].iter().filter(|b| **b == b'\n').count() + 1, fault.line);
    }
}

#[test]
fn valid_lines_are_read_and_blank_ones_skipped() {
    check(b"", &[], "");
    check(b"{\"id\":\"a\"}\n\n  \r\n{\"id\":\"b\"}", &[(1, "a"), (4, "b")], "");
    check(b"\xef\xbb\xbf{\"id\":\"a\"}\r\n", &[(1, "a")], "");
}

#[test]
fn all_faults_of_invalid_lines_are_reported() {
    let text =
        "\u{feff}{\"ix\":1}\n{\"id\":\"ok\"}\n{\"name\":\"é\",\"x\":\r\n{\"id\":\"é\",\"cwe\":[-1,\"y\"],\"prr\":1}\n";
    check(
        text.as_bytes(),
        // Recoverable values of invalid lines are passed on, so that the receiver reports its faults in the same pass.
        &[(1, ""), (2, "ok"), (4, "é")],
        "1:1 missing-key: the key `id` is missing (`id` is required here) [`id`: Unique within the suite.]
         1:2 unknown-key: unknown key `ix` (unknown here) [known keys: `id`, `name`, `difficulty`, `issues`, `cwe`, `allow_unexpected`, `meta`, `pr`, `judge`, `lines`]
         3:17 syntax: expected a value, found the end of the text
         4:18 out-of-range: expected a number from 0 to 4294967295 for an item of `cwe`, found the number -1 (expected a number from 0 to 4294967295)
         4:21 wrong-type: expected a whole number for an item of `cwe`, found the text \"y\" (expected a whole number)
         4:26 unknown-key: unknown key `prr` (did you mean `pr`?)",
    );
}

#[test]
fn receiver_can_report_positions_in_a_line() {
    check(b"\n{\"id\": \"reserved\"}\n", &[(2, "reserved")], "2:8 reserved: this name is reserved");
}

#[test]
fn invalid_utf8_is_reported_with_its_position() {
    check(
        b"{\"id\":\"a\"}\n{\"id\":\"\xc3\xa9\xff\"}\n{\"id\":\"b\"}\n",
        &[(1, "a"), (3, "b")],
        "2:9 not-utf8: the byte 0xff is not UTF-8 text [save the file as UTF-8]",
    );
}

#[test]
fn too_long_line_is_a_fault_and_the_next_is_read() {
    let text = format!("{{\"id\":\"{}\"}}\n{{\"id\":\"b\"}}\n", "a".repeat(500));
    let (ids, faults) = read(100, text.as_bytes());
    assert_eq!(ids, [(2, "b".to_owned())]);
    assert_eq!(brief(&faults), "1:1 line-too-long: a line of more than 100 bytes [write one value on each line]");
}

#[test]
fn repeated_faults_are_grouped_and_end_the_reading() {
    let (ids, faults) = read(MAX_LINE_BYTES, "{}\n".repeat(10).as_bytes());
    assert_eq!((ids.len(), faults.len(), faults[4].more), (10, 5, 5));
    let (ids, faults) = read(MAX_LINE_BYTES, "{}\n".repeat(1_000_000).as_bytes());
    assert_eq!((ids.len(), faults.len(), faults[4].more), (ERROR_LIMIT, 6, ERROR_LIMIT - 5));
    let expected = "0:0 stopped: reading stopped at line 1000, after 1000 faults; the rest was not checked";
    assert_eq!(brief(&faults[5..]), expected);
    assert_eq!(faults[5].level, Level::Note);
    // Warnings do not end it.
    let (ids, faults) = read(MAX_LINE_BYTES, "{\"id\":\"reserved\"}\n".repeat(2_000).as_bytes());
    assert_eq!((ids.len(), faults.len(), faults[4].more), (2_000, 5, 1_995));
}

#[test]
fn files_of_another_kind_are_named_and_read_no_further() {
    let check = |text: &str, expect: &str| {
        let (ids, faults) = read(MAX_LINE_BYTES, text.as_bytes());
        assert!(ids.is_empty());
        assert_eq!(brief(&faults), format!("1:1 not-jsonl: this is {expect}"), "{text}");
    };
    check("<!DOCTYPE html>\n<p>\n<p>\n", "HTML; expected one JSON object on each line");
    check("<?xml version='1.0'?>\n<a/>\n", "XML; expected one JSON object on each line");
    check("root:x:0:0\ndaemon:x:1:1\n", "not JSON; expected one JSON object on each line");
    check(
        "{\n  \"id\": 1\n}\n",
        "JSON over several lines; expected one JSON object on each line [write each object on a line of its own, such as with `jq -c .`]",
    );
}

#[test]
fn read_errors_are_faults() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let schema = schema_of::<Sample>();
    let reader = std::io::BufReader::new(Broken);
    let faults = decode_lines::<Sample>("x", reader, &schema, |_, _, _| Vec::new());
    assert_eq!(brief(&faults), "0:0 unreadable: could not be read after line 1: gone");
}
