//! Malicious inputs.

use super::{Sample, brief, check, faults};
use crate::diagnostic_render::render;
use crate::document::lines::decode_lines_within;
use crate::document::{Syntax, decode_bytes, schema_of};

const ALL: [Syntax; 3] = [Syntax::Yaml, Syntax::Toml, Syntax::Json];

#[test]
fn aliases_of_aliases_are_refused() {
    let mut text = "id: a\nmeta:\n  a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in "bcdefghij".chars().zip("abcdefghi".chars()) {
        let aliases = vec![format!("*{before}"); 9].join(", ");
        text.push_str(&format!("  {name}: &{name} [{aliases}]\n"));
    }
    check(
        Syntax::Yaml,
        &text,
        "8:6 too-many-aliases: anchors and aliases expand to more than 1000000 values [write the values out instead]",
    );
}

#[test]
fn aliases_of_a_long_text_are_bounded() {
    let text = format!("id: a\nmeta:\n  a: &a {}\n  b: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 10_000].join(", "));
    assert!(brief(&faults(Syntax::Yaml, &text)).contains("too-many-aliases"));
}

#[test]
fn depth_is_bounded_in_every_syntax() {
    const DEEP: usize = 100_000;
    let check = |syntax, text: String, code: &str| {
        let found = brief(&faults(syntax, &text));
        assert!(found.contains(code), "{syntax:?} {}", &found[..found.len().min(2000)]);
    };
    check(Syntax::Json, "[".repeat(DEEP), "too-deep");
    check(Syntax::Json, "{\"a\":".repeat(DEEP), "too-deep");
    check(Syntax::Yaml, "[".repeat(DEEP), "too-deep");
    check(Syntax::Yaml, "{a: ".repeat(DEEP), "too-deep");
    check(Syntax::Yaml, "- ".repeat(DEEP), "too-deep");
    check(Syntax::Yaml, "? ".repeat(DEEP), "too-deep");
    check(Syntax::Toml, format!("a = {}", "[".repeat(DEEP)), "too-deep");
    check(Syntax::Toml, format!("{} = 1", vec!["a"; DEEP].join(".")), "too-deep");
    check(Syntax::Toml, format!("[{}]", vec!["a"; DEEP].join(".")), "too-deep");
    check(Syntax::Toml, format!("a = {}", "{a=".repeat(DEEP)), "too-deep");
}

#[test]
fn depth_within_the_limit_is_accepted() {
    let nested = |n: usize| format!("{{\"id\":\"a\",\"meta\":{{\"x\":{}1{}}}}}", "[".repeat(n), "]".repeat(n));
    check(Syntax::Json, &nested(125), "");
    check(Syntax::Yaml, &nested(125), "");
    check(Syntax::Json, &nested(126), "1:148 too-deep: lists and mappings are nested more than 127 levels deep");
}

#[test]
fn number_of_reported_faults_is_bounded() {
    let check = |syntax, text: String| {
        let faults = faults(syntax, &text);
        assert!(faults.len() <= 15 && faults.iter().any(|fault| fault.more > 1_000), "{syntax:?} {}", brief(&faults));
    };
    let keys = |separator: &str| (0..50_000).map(|n| format!("k{n}{separator}")).collect::<String>();
    check(Syntax::Yaml, keys(": 1\n"));
    check(Syntax::Toml, keys(" = 1\n"));
    check(Syntax::Toml, keys(" =\n"));
    check(Syntax::Json, format!("{{{}\"id\":1}}", keys("\":1,").replace('k', "\"k")));
    check(Syntax::Json, format!("\"{}\"", "\u{1}".repeat(1 << 20)));
    check(Syntax::Yaml, "a: 1\n".repeat(50_000));
    assert_eq!(faults(Syntax::Toml, &keys(" =                    \n")).len(), 1);
}

#[test]
fn invalid_utf8_is_reported_with_its_position() {
    let bytes = b"id: a\nname: \xc3\xa9\xff\n";
    let faults = decode_bytes::<Sample>("case", bytes, Syntax::Yaml, &schema_of::<Sample>())
        .into_result()
        .expect_err("not UTF-8");
    assert_eq!(brief(&faults), "2:8 not-utf8: the byte 0xff is not UTF-8 text [save the file as UTF-8]");
}

/// Mutates valid and invalid texts and reads them in every syntax and as lines.
#[test]
fn mutated_texts_do_not_panic() {
    let seeds = [
        "id: &a é\nissues:\n  - {id: *a, line_start: 0x1F}\n  - id: \"\\u00e9\"\n    weight: .5\nmeta: {? a : b}\r\n",
        "id = \"a\"\ncwe = [1, 2]\n[pr]\ntitle = '''x'''\n[[issues]]\nid = 'b'\nline_start = 1_0\n",
        "{\"id\":\"\\ud83d\\ude00\",\"issues\":[{\"id\":\"b\",\"weight\":1e-3}],\"judge\":{\"kind\":\"local\"}}\n",
    ];
    let splices: [&[u8]; 18] = [
        b"\xff",
        b"\xe6\x97\xa5",
        b"\0",
        b"\x1b[2J",
        b"\r",
        b"\t",
        b"\n",
        b"{",
        b"]",
        b"\"",
        b"'",
        b"*a",
        b"&a ",
        b"!!x ",
        b"--- ",
        b": ",
        b"- ",
        b"\\u",
    ];
    let schema = schema_of::<Sample>();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below.max(1)
    };
    for _ in 0..4_000 {
        let mut bytes = seeds[random(seeds.len())].as_bytes().to_vec();
        for _ in 0..=random(6) {
            let at = random(bytes.len() + 1);
            match random(4) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.extend_from_within(at..),
                _ => drop(bytes.splice(at..at, splices[random(splices.len())].iter().copied()).count()),
            }
        }
        for syntax in ALL {
            let faults =
                decode_bytes::<Sample>("case", &bytes, syntax, &schema).into_result().err().unwrap_or_default();
            let drawn = render(&faults, false, 100);
            assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
            for fault in &faults {
                let span = fault.span.clone().unwrap_or_default();
                assert!(span.start <= span.end && span.end <= bytes.len(), "{fault:?}");
            }
        }
        let found = decode_lines_within::<Sample>(80, "x", bytes.as_slice(), &schema, |_, _, _| Vec::new());
        assert!(found.len() <= 60);
    }
}
