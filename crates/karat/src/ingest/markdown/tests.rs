use crate::ingest::testing::{draw, refusal};
use insta::assert_snapshot;

fn tree(text: &str) -> String {
    draw("a.md", text.as_bytes())
}

#[test]
fn headings_make_a_tree() {
    assert_snapshot!(tree("Preface.\n\n# One\n\nText of *one*\nin two lines.\n\nTwo\n---\n\n### Deep #\nx\n\n# Two\n"), @r"
    0 «» lines 1
      Preface.
    1 «One» lines 3–6
      Text of one
      in two lines.
    2 «Two» lines 8–9
    3 «Deep» lines 11–12
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
"), @"");
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
"), @"");
}

#[test]
fn footnotes_html_and_front_matter() {
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
"), @"");
}

#[test]
fn equal_sections_are_told_apart() {
    let ids = crate::ingest::testing::read("a.md", b"# A\nx\n# A\nx\n# A\ny\n").sections;
    let ids: Vec<&str> = ids.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(format!("{}#2", ids[0]), ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn hostile_markdown_comes_to_an_end() {
    for (text, expect) in [
        ("> ".repeat(100_000), "the nesting of line 1 is more than is taken"),
        (format!("# a\n{}", "- ".repeat(50_000) + "x"), "the nesting of line 2 is more than is taken"),
        ("# x\n\n".repeat(60_000), "the number of its sections is more than is taken"),
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
        crate::ingest::testing::read("a.md", text.as_bytes());
    }
}
