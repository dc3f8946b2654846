use super::decode;
use crate::ingest::tests::{draw, refusal};
use crate::ingest::{IngestLimits, Source};
use insta::assert_snapshot;

fn tree(text: &str) -> String {
    draw("a.md", text.as_bytes())
}

#[test]
fn headings_give_a_tree() {
    assert_snapshot!(tree("Preface.\n\n# One\n\nText of *one*\nin two lines.\n\nTwo\n---\n\n### Deep #\nx\n\n# Two\n"), @r"
    0 «» line 1
      Preface.
    1 «One» lines 3–6
      Text of one
      in two lines.
    2 «Two» lines 8–9 in «One»
    3 «Deep» lines 11–12 in «Two»
      x
    1 «Two» line 14
    ");
}

#[test]
fn clauses_are_headings_by_style_or_number() {
    assert_snapshot!(tree("\
# Agreement

**1. Scope**

Words.

**2.3 Security Measures**
The processor shall act.

2.4 Audit
The customer may look.

2.5 Breaches

(a) Tell us.

(b) Tell *them*.

3. **Term**. It starts today.
4. **End.** It ends.

   Some day.

**Schedule**

Annex II

Text of the annex.
"), @r"
    1 «Agreement» line 1
    2 «1. Scope» [1] lines 3–5 in «Agreement»
      Words.
    3 «2.3 Security Measures» [2.3] lines 7–8 in «Agreement»
      The processor shall act.
    3 «2.4 Audit» [2.4] lines 10–11 in «Agreement»
      The customer may look.
    3 «2.5 Breaches» [2.5] lines 13–17 in «Agreement»
      (a) Tell us.

      (b) Tell them.
    2 «3. Term» [3] line 19 in «Agreement»
      It starts today.
    2 «4. End» [4] lines 20–22 in «Agreement»
      It ends.

      Some day.
    3 «Schedule» line 24 in «4. End»
    2 «Annex II» [Annex II] lines 26–28 in «Agreement»
      Text of the annex.
    ");
}

#[test]
fn lists_tables_and_code_keep_their_shape() {
    assert_snapshot!(tree("\
# Data

- one
  more of one
- two
  1. deep
  2. deeper

     and on
- [x] done
- [ ] open

| name | kept |
|---|---|
| log | 30 days |
| **mail** | `never` |

```sh
rm -r x

y
```

> A quote
> in lines.
"), @r"
    1 «Data» lines 1–25
      - one
        more of one
      - two
        1. deep
        2. deeper

          and on

      - [x] done
      - [ ] open

      name | kept
      log | 30 days
      mail | never

      rm -r x

      y

      A quote
      in lines.
    ");
}

#[test]
fn footnotes_html_and_front_matter_are_read() {
    assert_snapshot!(tree("\
---
title: x
---

# One <a id=\"x\"></a>

See it[^n], a <b>bold</b> word<br>and [a link](https://example.com).

<div>Boxed &amp; kept<!-- not this --></div>

# Two

Again[^n].

[^n]: What there is to say,
    in two lines.
"), @r"
    1 «One» lines 5–9
      See it[n], a bold word
      and a link.

      Boxed & kept

      [n] What there is to say, in two lines.
    1 «Two» lines 11–13
      Again[n].
    note: front matter left out (lines 1–3)
    note: comments, scripts and styles of HTML left out (1)
    ");
}

#[test]
fn equal_sections_have_different_ids() {
    let ids = crate::ingest::tests::read("a.md", b"# A\nx\n# A\nx\n# A\ny\n").sections;
    let ids: Vec<&str> = ids.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(format!("{}#2", ids[0]), ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn malicious_markdown_is_bounded() {
    for (text, expect) in [
        ("> ".repeat(100_000), "the nesting of line 1 exceeds the limit for one document"),
        (format!("# a\n{}", "- ".repeat(50_000) + "x"), "the nesting of line 2 exceeds the limit for one document"),
        ("# x\n\n".repeat(60_000), "the number of its sections exceeds the limit for one document"),
    ] {
        let error = refusal("a.md", text.as_bytes());
        assert!(error.contains(expect), "{error}");
    }
    for text in [
        "x".repeat(10 << 20),
        "[".repeat(200_000),
        "*a ".repeat(200_000),
        "*".repeat(200_000),
        "<a".repeat(200_000),
        "<script></script>".repeat(50_000),
        "`".repeat(200_000),
        "| a ".repeat(50_000),
        "# \n".repeat(1_000),
        "\r".repeat(10_000),
        "---\n".to_owned(),
    ] {
        crate::ingest::tests::read("a.md", text.as_bytes());
    }
}

#[track_caller]
fn check_decoded(bytes: &[u8], expect: &str, notes: &[&str]) {
    let source = Source { name: "a.md", bytes, limits: &IngestLimits::default() };
    match decode(&source) {
        Ok((text, found)) => {
            assert_eq!((text.as_str(), found), (expect, notes.iter().map(|n| (*n).into()).collect()))
        }
        Err(error) => assert_eq!(error.to_string(), expect),
    }
}

#[test]
fn every_encoding_is_decoded() {
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    check_decoded("# Å".as_bytes(), "# Å", &[]);
    check_decoded(b"\xef\xbb\xbf# A", "# A", &[]);
    check_decoded(&utf16("\u{feff}# Å😀", u16::to_le_bytes), "# Å😀", &["read as UTF-16LE"]);
    check_decoded(&utf16("\u{feff}# Å😀", u16::to_be_bytes), "# Å😀", &["read as UTF-16BE"]);
    check_decoded(b"caf\xe9 \xff", "caf\u{fffd} \u{fffd}", &["bytes that are no UTF-8 were replaced (2)"]);
    check_decoded(
        b"a long enough text with one \0 byte",
        "a long enough text with one  byte",
        &["zero bytes were left out (1)"],
    );
    check_decoded(
        b"\x7fELF\0\0\0\0",
        "a.md: this is not text: there are many zero bytes in it; is it the right file?",
        &[],
    );
}
