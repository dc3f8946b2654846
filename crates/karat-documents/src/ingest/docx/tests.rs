use crate::ingest::tests::{draw, refusal};
use crate::ingest::{IngestLimits, ingest};
use insta::assert_snapshot;
use std::io::{Cursor, Write};
use zip::write::{SimpleFileOptions, ZipWriter};

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn body(text: &str) -> String {
    format!(r#"<w:document xmlns:w="w" xmlns:mc="mc"><w:body>{text}<w:sectPr/></w:body></w:document>"#)
}

/// A document with this body and some styles and lists.
fn docx(text: &str) -> Vec<u8> {
    let styles = r#"<w:styles xmlns:w="w">
      <w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="20"/></w:rPr></w:rPrDefault></w:docDefaults>
      <w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
      <w:style w:type="paragraph" w:styleId="Rubrik1"><w:name w:val="heading 1"/>
        <w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
      <w:style w:type="paragraph" w:styleId="Rubrik2"><w:name w:val="heading 2"/><w:basedOn w:val="Rubrik1"/>
        <w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
      <w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My Clause"/><w:basedOn w:val="Rubrik2"/></w:style>
      <w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>
      <w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
      <w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>
    </w:styles>"#;
    let level = |n: u32, format: &str, text: &str| {
        format!(
            r#"<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>"#
        )
    };
    let numbering = format!(
        r#"<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7">{}{}</w:abstractNum>
        <w:abstractNum w:abstractNumId="8">{}{}{}</w:abstractNum><w:abstractNum w:abstractNumId="9">{}</w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
        <w:num w:numId="3"><w:abstractNumId w:val="9"/></w:num>
        <w:num w:numId="4"><w:abstractNumId w:val="8"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
        </w:numbering>"#,
        level(0, "decimal", "%1."),
        level(1, "decimal", "%1.%2"),
        level(0, "lowerLetter", "(%1)"),
        level(1, "lowerRoman", "(%2)"),
        level(2, "upperLetter", "%1-%2-%3"),
        level(0, "bullet", ""),
    );
    let notes = r#"<w:footnotes xmlns:w="w"><w:footnote w:id="0"><w:p/></w:footnote>
      <w:footnote w:id="5"><w:p><w:r><w:t>As told &amp; kept.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    archive(&[
        ("[Content_Types].xml", "<Types/>"),
        ("word/styles.xml", styles),
        ("word/numbering.xml", &numbering),
        ("word/footnotes.xml", notes),
        ("word/document.xml", &body(text)),
    ])
}

/// A paragraph in a style or a list, with one run.
fn p(properties: &str, text: &str) -> String {
    format!(r#"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>"#)
}

fn style(name: &str) -> String {
    format!(r#"<w:pStyle w:val="{name}"/>"#)
}

fn list(id: u32, level: u32) -> String {
    format!(r#"<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{id}"/></w:numPr>"#)
}

fn bold(text: &str) -> String {
    format!(r#"<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>"#)
}

fn tree(text: &str) -> String {
    draw("a.docx", &docx(text))
}

#[test]
fn styles_and_automatic_numbers_give_headings() {
    let text = [
        p(&style("Rubrik1"), "Scope"),
        p("", "All of it."),
        p(&style("Rubrik2"), "Parts"),
        p(&style("Mine"), "More Parts"),
        p(&style("Rubrik1"), "Security"),
        p(&style("Rubrik2"), "Access and Use. Everybody may look at it, and nobody may change it."),
        p(&style("Rubrik2"), "the provider makes no promise, whatever it may have said before that, and none since;"),
        p(&style("Rubrik2"), "“Log” means what is kept."),
        p(&style("Loop"), "Text in a style that is based on itself."),
        p(r#"<w:outlineLvl w:val="2"/>"#, "By its level alone"),
    ];
    assert_snapshot!(tree(&text.concat()), @r"
    1 «1. Scope» [1] paragraphs 1–2
      All of it.
    2 «1.1 Parts» [1.1] paragraph 3 in «1. Scope»
    2 «1.2 More Parts» [1.2] paragraph 4 in «1. Scope»
    1 «2. Security» [2] paragraph 5
    2 «2.1 Access and Use» [2.1] paragraphs 6–9 in «2. Security»
      Everybody may look at it, and nobody may change it.

        2.2 the provider makes no promise, whatever it may have said before that, and none since;
        2.3 “Log” means what is kept.

      Text in a style that is based on itself.
    3 «By its level alone» paragraph 10 in «2.1 Access and Use»
    ");
}

#[test]
fn lists_are_numbered_by_their_definition() {
    let text = [
        p(&list(2, 0), "one"),
        p(&list(2, 1), "deep"),
        p(&list(2, 1), "deeper"),
        p(&list(2, 2), "deepest"),
        p(&list(2, 0), "two"),
        p(&list(2, 1), "anew"),
        p(&list(4, 0), "from five on"),
        p(&list(3, 0), "a bullet"),
        p(&list(99, 0), "a list that is not there"),
        p(&list(0, 0), "no list"),
    ];
    assert_snapshot!(tree(&text.concat()), @r"
    0 «» paragraphs 1–10
      (a) one
        (i) deep
        (ii) deeper
          a-ii-A deepest
      (b) two
        (i) anew
      (e) from five on
      - a bullet

      a list that is not there

      no list
    ");
}

#[test]
fn headings_are_recognised_by_formatting() {
    let text = [
        format!("<w:p>{}</w:p>", r#"<w:r><w:rPr><w:b/><w:sz w:val="36"/></w:rPr><w:t>Agreement</w:t></w:r>"#),
        p("", "A long text in the usual size, which is what most of this document is written in."),
        format!("<w:p>{}</w:p>", bold("Key Terms")),
        p("", "Words."),
        format!("<w:p>{}</w:p>", bold("2.3 Security Measures")),
        p("", "The processor shall act."),
        format!("<w:p>{}<w:r><w:t>. It starts today.</w:t></w:r></w:p>", bold("2.4 Term")),
        r#"<w:p><w:r><w:rPr><w:b/><w:sz w:val="14"/></w:rPr><w:t>Small print</w:t></w:r></w:p>"#.to_owned(),
    ];
    assert_snapshot!(tree(&text.concat()), @r"
    1 «Agreement» paragraphs 1–2
      A long text in the usual size, which is what most of this document is written in.
    2 «Key Terms» paragraphs 3–4 in «Agreement»
      Words.
    4 «2.3 Security Measures» [2.3] paragraphs 5–6 in «Key Terms»
      The processor shall act.
    4 «2.4 Term» [2.4] paragraphs 7–8 in «Key Terms»
      It starts today.

      Small print
    ");
}

#[test]
fn text_of_tables_notes_and_fields_is_read() {
    let text = [
        r#"<w:p><w:r><w:t>It is </w:t></w:r><w:del><w:r><w:delText>not </w:delText></w:r></w:del>
           <w:ins><w:r><w:t>surely </w:t></w:r></w:ins><w:hyperlink><w:r><w:t>linked</w:t></w:r></w:hyperlink>
           <w:r><w:footnoteReference w:id="5"/></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"#
            .to_owned(),
        r#"<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText><w:t>no</w:t></w:r>
           <w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>result</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>
           <w:r><w:br w:type="page"/><w:t xml:space="preserve"> and</w:t><w:br/><w:t>a line</w:t></w:r></w:p>"#
            .to_owned(),
        p(&style("TOC1"), "1. Scope 3"),
        r#"<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>Boxed.</w:t></w:r></w:p></w:txbxContent>
           </mc:Choice><mc:Fallback><w:t>Boxed again.</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"#
            .to_owned(),
        "<w:tbl><w:tblPr/>".to_owned(),
        ["Name", "Kept"].map(|cell| format!("<w:tc>{}</w:tc>", p("", cell))).concat().replacen("<w:tc>", "<w:tr><w:tc>", 1),
        "</w:tr><w:tr>".to_owned(),
        format!("<w:tc>{}</w:tc><w:tc>{}{}</w:tc></w:tr></w:tbl>", p("", "Log"), p("", "30 days"), p(&list(2, 0), "or less")),
        "<w:tbl><w:tr><w:tc>".to_owned(),
        p("", "A table of one column is text."),
        "</w:tc></w:tr></w:tbl>".to_owned(),
    ];
    assert_snapshot!(tree(&text.concat()), @r"
    0 «» paragraphs 1–11
      It is surely linked[1]

      result and
      a line

      Boxed.

      Name | Kept
      Log | 30 days (a) or less

      A table of one column is text.

      [1] As told & kept.
    note: hidden text left out (1)
    note: lines of a table of contents left out (1)
    note: tracked deletions left out (1)
    note: tracked insertions taken (1)
    ");
}

#[track_caller]
fn check_refused(bytes: &[u8], limits: &IngestLimits, expect: &str) {
    let error =
        ingest("a.docx", bytes, limits).map(|document| document.sections.len()).expect_err("the document was accepted");
    assert!(error.to_string().contains(expect), "{error}");
}

#[test]
fn damaged_and_malicious_archives_are_refused() {
    let limits = IngestLimits {
        part_bytes: 1 << 20,
        unpacked_bytes: 3 << 20,
        entries: 20,
        depth: 50,
        ..IngestLimits::default()
    };
    let with = |text: &str| archive(&[("word/document.xml", text)]);
    check_refused(b"no archive at all", &limits, "this is no .docx, which is a zip archive");
    check_refused(b"\xd0\xcf\x11\xe0 old", &limits, "an old .doc, or a .docx with a password");
    check_refused(&archive(&[("x", "y")]), &limits, "(word/document.xml): there is no such part");
    let whole = docx(&p("", "x"));
    check_refused(&whole[..whole.len() / 2], &limits, "this is no .docx");
    check_refused(&with("<w:document><w:body><w:p>"), &limits, "it ends in the middle");
    check_refused(&with("<a></b>"), &limits, "this part is damaged XML");
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><w:document>&b;</w:document>";
    check_refused(&with(bomb), &limits, "it declares a DTD");
    check_refused(&with("<w:document>&b;</w:document>"), &limits, "it uses an entity");
    check_refused(
        &with(&"<w:p>".repeat(60)),
        &limits,
        "the nesting of word/document.xml exceeds the limit for one document",
    );
    check_refused(
        &with(&" ".repeat(2 << 20)),
        &limits,
        "word/document.xml, unpacked, exceeds the limit for one document",
    );
    let filler = "<x/>".repeat(200_000);
    let parts: Vec<(&str, &str)> =
        ["word/styles.xml", "word/numbering.xml", "word/footnotes.xml", "word/endnotes.xml", "word/document.xml"]
            .map(|name| (name, filler.as_str()))
            .to_vec();
    check_refused(&archive(&parts), &limits, "unpacked, exceeds the limit for one document");
    let few = IngestLimits { xml_events: 100, ..limits.clone() };
    check_refused(
        &with(&body(&p("", "x").repeat(100))),
        &few,
        "exceeds the limit for one document (100 tags and texts)",
    );
    let names: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    let parts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    check_refused(&archive(&parts), &limits, "the number of entries of the archive exceeds the limit for one document");
}

#[test]
fn paths_in_an_archive_are_not_followed() {
    let outside = "../../../../tmp/karat-ingest-evil";
    let bytes = archive(&[(outside, "x"), ("/etc/karat-evil", "x"), ("word/document.xml", &body(&p("", "Text.")))]);
    assert_snapshot!(draw("a.docx", &bytes), @r"
    0 «» paragraph 1
      Text.
    ");
    assert!(!std::path::Path::new("/tmp/karat-ingest-evil").exists());
    let elsewhere =
        r#"<Relationships><Relationship Type="x/officeDocument" Target="../../etc/passwd"/></Relationships>"#;
    let bytes = archive(&[("_rels/.rels", elsewhere), ("word/document.xml", &body(""))]);
    assert!(refusal("a.docx", &bytes).contains("(../../etc/passwd): there is no such part in the archive"));
}
