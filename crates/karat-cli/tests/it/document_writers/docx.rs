//! Writes a Word document as word processors do: headings by style, automatic numbers and letters, header and footer.

use super::{Block, Document};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

const W: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const R: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const KIND: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";
/// The numbering definitions: headings and bullets. Each lettered list has its own, from here on.
const HEADINGS: usize = 1;
const BULLETS: usize = 2;
const LETTERS: usize = 3;

/// Writes a document. Nothing is compressed, so that the bytes do not depend on a compressor.
pub(crate) fn docx(source: &Document) -> Vec<u8> {
    let mut body = Body::default();
    body.paragraph(r#"<w:pStyle w:val="Title"/>"#, &source.title);
    source.blocks.iter().for_each(|block| body.block(block));
    let parts = [
        ("[Content_Types].xml", content_types()),
        ("_rels/.rels", relations(&[("officeDocument", "word/document.xml")], &format!("{PACKAGE}/relationships"))),
        ("word/document.xml", document(&body.xml)),
        (
            "word/_rels/document.xml.rels",
            relations(
                &[
                    ("styles", "styles.xml"),
                    ("numbering", "numbering.xml"),
                    ("header", "header1.xml"),
                    ("footer", "footer1.xml"),
                ],
                &format!("{PACKAGE}/relationships"),
            ),
        ),
        ("word/styles.xml", styles()),
        ("word/numbering.xml", numbering(body.lettered)),
        ("word/header1.xml", header_or_footer("hdr", &run(&source.title))),
        (
            "word/footer1.xml",
            header_or_footer("ftr", r#"<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>"#),
        ),
    ];
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The body of the document, with the state of its numbering.
#[derive(Default)]
struct Body {
    xml: String,
    counters: Vec<usize>,
    /// The number of lettered lists so far.
    lettered: usize,
    next_letter: Option<char>,
}

impl Body {
    fn block(&mut self, block: &Block) {
        if !matches!(block, Block::Item { .. }) {
            self.next_letter = None;
        }
        match block {
            Block::Heading { level, number, words } => self.heading(*level, number.as_deref(), words),
            Block::Paragraph(text) => self.paragraph(r#"<w:pStyle w:val="BodyText"/>"#, text),
            Block::Item { letter: None, text } => self.item(BULLETS, text),
            Block::Item { letter: Some(letter), text } => {
                if *letter == 'a' {
                    self.lettered += 1;
                } else {
                    assert_eq!(self.next_letter, Some(*letter), "automatic numbering does not give ({letter}) {text}");
                }
                self.next_letter = char::from_u32(u32::from(*letter) + 1);
                self.item(LETTERS + self.lettered - 1, text);
            }
            Block::Table(rows) => self.table(rows),
        }
    }

    fn heading(&mut self, level: usize, number: Option<&str>, words: &str) {
        let style = format!(r#"<w:pStyle w:val="Heading{level}"/>"#);
        let Some(number) = number else {
            let unnumbered = r#"<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>"#;
            return self.paragraph(&format!("{style}{unnumbered}"), words);
        };
        self.counters.resize(level, 0);
        self.counters[level - 1] += 1;
        let counted: Vec<String> = self.counters.iter().map(ToString::to_string).collect();
        assert_eq!(counted.join("."), number, "automatic numbering gives another number at {words}");
        self.paragraph(&style, words);
    }

    fn item(&mut self, list: usize, text: &str) {
        let numbered = format!(r#"<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{list}"/></w:numPr>"#);
        self.paragraph(&format!(r#"<w:pStyle w:val="ListParagraph"/>{numbered}"#), text);
    }

    fn paragraph(&mut self, properties: &str, text: &str) {
        self.xml += &format!("<w:p><w:pPr>{properties}</w:pPr>{}</w:p>\n", run(text));
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.first().map_or(0, Vec::len);
        let width = 9000 / columns.max(1);
        let grid = format!(r#"<w:gridCol w:w="{width}"/>"#).repeat(columns);
        self.xml += r#"<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="9000" w:type="dxa"/></w:tblPr>"#;
        self.xml += &format!("<w:tblGrid>{grid}</w:tblGrid>\n");
        for (n, row) in rows.iter().enumerate() {
            assert_eq!(row.len(), columns, "a row of {columns} cells: {row:?}");
            self.xml += "<w:tr>";
            self.xml += if n == 0 { "<w:trPr><w:tblHeader/></w:trPr>" } else { "" };
            for cell in row {
                let bold = if n == 0 { "<w:rPr><w:b/></w:rPr>" } else { "" };
                self.xml += &format!(r#"<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>"#);
                self.xml += &format!("<w:p><w:r>{bold}<w:t>{}</w:t></w:r></w:p></w:tc>", escape(cell));
            }
            self.xml += "</w:tr>\n";
        }
        self.xml += "</w:tbl>\n";
    }
}

/// The text in two runs, as in edited documents: a word processor starts a run with every correction.
fn run(text: &str) -> String {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    let one = |text: &str| format!(r#"<w:r><w:t xml:space="preserve">{}</w:t></w:r>"#, escape(text));
    if first.is_empty() { one(second) } else { format!("{}{}", one(first), one(second)) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const XML_DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

fn document(body: &str) -> String {
    let edges = r#"<w:headerReference w:type="default" r:id="rId3"/><w:footerReference w:type="default" r:id="rId4"/>"#;
    let page = r#"<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1418" w:right="1418" w:bottom="1418" w:left="1418" w:header="709" w:footer="709" w:gutter="0"/>"#;
    format!(
        "{XML_DECLARATION}<w:document xmlns:w=\"{W}\" xmlns:r=\"{R}\"><w:body>\n{body}<w:sectPr>{edges}{page}</w:sectPr></w:body></w:document>\n"
    )
}

fn header_or_footer(kind: &str, content: &str) -> String {
    format!("{XML_DECLARATION}<w:{kind} xmlns:w=\"{W}\"><w:p>{content}</w:p></w:{kind}>\n")
}

fn content_types() -> String {
    let mut text = format!("{XML_DECLARATION}<Types xmlns=\"{PACKAGE}/content-types\">\n");
    text += "<Default Extension=\"xml\" ContentType=\"application/xml\"/>\n";
    text += "<Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\n";
    for (part, kind) in [
        ("document", "document.main"),
        ("styles", "styles"),
        ("numbering", "numbering"),
        ("header1", "header"),
        ("footer1", "footer"),
    ] {
        text += &format!("<Override PartName=\"/word/{part}.xml\" ContentType=\"{KIND}.{kind}+xml\"/>\n");
    }
    text + "</Types>\n"
}

fn relations(targets: &[(&str, &str)], namespace: &str) -> String {
    let mut text = format!("{XML_DECLARATION}<Relationships xmlns=\"{namespace}\">\n");
    for (n, (kind, target)) in targets.iter().enumerate() {
        text += &format!("<Relationship Id=\"rId{}\" Type=\"{R}/{kind}\" Target=\"{target}\"/>\n", n + 1);
    }
    text + "</Relationships>\n"
}

fn styles() -> String {
    let mut text = format!("{XML_DECLARATION}<w:styles xmlns:w=\"{W}\">\n");
    text += r#"<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="21"/></w:rPr></w:rPrDefault></w:docDefaults>"#;
    text +=
        "\n<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/></w:style>\n";
    let mut style = |id: &str, name: &str, paragraph: &str, look: &str| {
        text += &format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"{id}\"><w:name w:val=\"{name}\"/><w:basedOn w:val=\"Normal\"/><w:pPr>{paragraph}</w:pPr><w:rPr>{look}</w:rPr></w:style>\n"
        );
    };
    style("Title", "Title", r#"<w:spacing w:after="240"/>"#, r#"<w:b/><w:sz w:val="36"/>"#);
    for (level, size) in [(1, 28), (2, 24), (3, 22)] {
        let depth = level - 1;
        let numbered = format!(r#"<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{HEADINGS}"/></w:numPr>"#);
        let outline = format!(
            r#"<w:keepNext/>{numbered}<w:spacing w:before="240" w:after="120"/><w:outlineLvl w:val="{depth}"/>"#
        );
        let look = format!(r#"<w:b/><w:sz w:val="{size}"/>"#);
        style(&format!("Heading{level}"), &format!("heading {level}"), &outline, &look);
    }
    style("BodyText", "Body Text", r#"<w:spacing w:after="120"/>"#, "");
    style("ListParagraph", "List Paragraph", r#"<w:ind w:left="720"/>"#, "");
    text += "<w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/></w:style>\n";
    text + "</w:styles>\n"
}

/// How headings, bullets and lettered lists are numbered.
fn numbering(lettered: usize) -> String {
    let level = |n: usize, format: &str, format_text: &str, style: &str| {
        format!(
            r#"<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{format}"/>{style}<w:lvlText w:val="{format_text}"/><w:lvlJc w:val="left"/></w:lvl>"#
        )
    };
    let headings: String = ["%1", "%1.%2", "%1.%2.%3"]
        .iter()
        .enumerate()
        .map(|(n, format_text)| level(n, "decimal", format_text, &format!(r#"<w:pStyle w:val="Heading{}"/>"#, n + 1)))
        .collect();
    let mut text = format!("{XML_DECLARATION}<w:numbering xmlns:w=\"{W}\">\n");
    for (id, kind, levels) in [
        (0, "multilevel", headings),
        (1, "hybridMultilevel", level(0, "bullet", "•", "")),
        (2, "hybridMultilevel", level(0, "lowerLetter", "(%1)", "")),
    ] {
        text += &format!(
            "<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"{kind}\"/>{levels}</w:abstractNum>\n"
        );
    }
    text += &format!("<w:num w:numId=\"{HEADINGS}\"><w:abstractNumId w:val=\"0\"/></w:num>\n");
    text += &format!("<w:num w:numId=\"{BULLETS}\"><w:abstractNumId w:val=\"1\"/></w:num>\n");
    for list in 0..lettered {
        let anew = r#"<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>"#;
        text += &format!("<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"2\"/>{anew}</w:num>\n", LETTERS + list);
    }
    text + "</w:numbering>\n"
}
