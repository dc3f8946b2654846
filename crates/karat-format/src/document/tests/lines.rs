//! JSONL.

use super::{Sample, brief};
use crate::diagnostic::{Diagnostic, Level};
use crate::document::lines::{MAX_DIAGNOSTICS, MAX_LINE_BYTES, decode_lines_within};
use crate::document::{decode_lines, schema_of};

fn read(line_bytes: usize, faults: usize, bytes: &[u8]) -> (Vec<(usize, String)>, Vec<Diagnostic>) {
    let mut ids = Vec::new();
    // A small buffer makes lines span several reads.
    let reader = std::io::BufReader::with_capacity(7, bytes);
    let schema = schema_of::<Sample>();
    let faults = decode_lines_within::<Sample>(line_bytes, faults, "cases.jsonl", reader, &schema, |n, value, line| {
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
    let (found, faults) = read(MAX_LINE_BYTES, MAX_DIAGNOSTICS, bytes);
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
    let (ids, faults) = read(100, MAX_DIAGNOSTICS, text.as_bytes());
    assert_eq!(ids, [(2, "b".to_owned())]);
    assert_eq!(brief(&faults), "1:1 line-too-long: a line of more than 100 bytes [write one value on each line]");
}

#[test]
fn faults_past_the_limit_are_counted() {
    let (_, faults) = read(MAX_LINE_BYTES, 2, "{}\n".repeat(10).as_bytes());
    assert_eq!(faults.len(), 3);
    assert_eq!(brief(&faults[2..]), "0:0 more-faults: 8 more errors are not shown");
    assert_eq!(faults[2].level, Level::Error);
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
