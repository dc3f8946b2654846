//! Writes a PDF that looks like a printed agreement: headings by size and weight, a running head, page numbers,
//! hyphenation, and text that flows over pages and, justified, over columns.

use super::{Block, Document};

/// How text is set on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    One,
    Two,
}

const PAGE: (f64, f64) = (595.0, 842.0);
const LEFT: f64 = 64.0;
const RIGHT: f64 = 64.0;
const TOP: f64 = 766.0;
const BOTTOM: f64 = 76.0;
const GUTTER: f64 = 26.0;
const TEXT: Face = Face { font: 1, size: 10.0 };
const LEADING: f64 = 1.3;
/// Space between paragraphs, in points.
const PARAGRAPH_SPACE: f64 = 7.0;

#[derive(Clone, Copy, PartialEq)]
struct Face {
    /// 1 is plain, 2 is bold.
    font: u8,
    size: f64,
}

/// Writes a document. Streams are not compressed, so that the bytes do not depend on a compressor.
pub(crate) fn pdf(source: &Document, columns: Columns) -> Vec<u8> {
    let mut pages = Pages::new(columns);
    pages.title(&source.title);
    source.blocks.iter().for_each(|block| pages.block(block));
    let count = pages.done.len();
    let contents: Vec<Vec<u8>> = pages
        .done
        .into_iter()
        .enumerate()
        .map(|(n, mut content)| {
            let small = Face { font: 1, size: 8.0 };
            let foot = format!("Page {} of {count}", n + 1);
            show(&mut content, LEFT, PAGE.1 - 44.0, small, &source.title);
            show(&mut content, PAGE.0 - RIGHT - width(&foot, small), 42.0, small, &foot);
            content
        })
        .collect();
    file(&source.title, &contents)
}

/// Pages, filled from top to bottom.
struct Pages {
    done: Vec<Vec<u8>>,
    columns: Columns,
    column: usize,
    y: f64,
    /// Where the columns of the current page begin, below the title.
    top: f64,
}

impl Pages {
    fn new(columns: Columns) -> Self {
        Self { done: vec![Vec::new()], columns, column: 0, y: TOP, top: TOP }
    }

    fn width(&self) -> f64 {
        let all = PAGE.0 - LEFT - RIGHT;
        if self.columns == Columns::One { all } else { (all - GUTTER) / 2.0 }
    }

    fn x(&self) -> f64 {
        LEFT + self.column as f64 * (self.width() + GUTTER)
    }

    /// Makes room for lines of this height together, in the next column or page if needed.
    fn ensure_room(&mut self, height: f64) {
        if self.y - height >= BOTTOM {
            return;
        }
        if self.columns == Columns::Two && self.column == 0 {
            self.column = 1;
        } else {
            self.done.push(Vec::new());
            self.column = 0;
            self.top = TOP;
        }
        self.y = self.top;
    }

    fn line(&mut self, indent: f64, face: Face, text: &str) {
        self.line_spread(indent, face, text, 0.0);
    }

    fn line_spread(&mut self, indent: f64, face: Face, text: &str, spread: f64) {
        let (x, y) = (self.x() + indent, self.y);
        if let Some(page) = self.done.last_mut() {
            if spread > 0.0 {
                page.extend(format!("{spread:.3} Tw ").bytes());
            }
            show(page, x, y, face, text);
            if spread > 0.0 {
                page.extend(b"0 Tw\n");
            }
        }
    }

    /// The title spans all columns.
    fn title(&mut self, title: &str) {
        let face = Face { font: 2, size: 18.0 };
        for line in break_lines(title, face, PAGE.0 - LEFT - RIGHT, false) {
            self.line(0.0, face, &line);
            self.y -= face.size * LEADING;
        }
        self.y -= PARAGRAPH_SPACE * 2.0;
        self.top = self.y;
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading { level, number, words } => {
                let face = Face { font: 2, size: if *level == 1 { 13.0 } else { 11.0 } };
                let number = number.as_ref().map(|number| format!("{number} ")).unwrap_or_default();
                let lines = break_lines(&format!("{number}{words}"), face, self.width(), false);
                // A heading is never the last line of a page.
                self.ensure_room(
                    face.size * LEADING * lines.len() as f64 + 3.0 * TEXT.size * LEADING + PARAGRAPH_SPACE,
                );
                self.y -= if self.y < self.top { PARAGRAPH_SPACE } else { 0.0 };
                for line in lines {
                    self.line(0.0, face, &line);
                    self.y -= face.size * LEADING;
                }
                self.y -= 3.0;
            }
            Block::Paragraph(text) => self.text(text, ""),
            Block::Item { letter, text } => {
                let marker = letter.map_or_else(|| "•".to_owned(), |letter| format!("({letter})"));
                self.text(text, &marker);
            }
            Block::Table(rows) => self.table(rows),
        }
    }

    fn text(&mut self, text: &str, marker: &str) {
        let indent = if marker.is_empty() { 0.0 } else { 18.0 };
        let lines = break_lines(text, TEXT, self.width() - indent, true);
        for (n, line) in lines.iter().enumerate() {
            self.ensure_room(TEXT.size * LEADING);
            if n == 0 && !marker.is_empty() {
                self.line(4.0, TEXT, marker);
            }
            let last = n + 1 == lines.len();
            let spread = if last { 0.0 } else { self.spread(line, self.width() - indent) };
            self.line_spread(indent, TEXT, line, spread);
            self.y -= TEXT.size * LEADING;
        }
        self.y -= PARAGRAPH_SPACE;
    }

    /// The extra space between words that justifies a line in narrow columns.
    fn spread(&self, line: &str, room: f64) -> f64 {
        let gaps = line.matches(' ').count();
        let justified = self.columns == Columns::Two && gaps > 0;
        if justified { (room - width(line, TEXT)).max(0.0) / gaps as f64 } else { 0.0 }
    }

    /// Cells that do not fit on one line wrap.
    fn table(&mut self, rows: &[Vec<String>]) {
        const GAP: f64 = 24.0;
        let columns = rows.first().map_or(0, Vec::len);
        let face = |n: usize| Face { font: if n == 0 { 2 } else { 1 }, size: TEXT.size };
        let widest =
            |column: usize| rows.iter().enumerate().map(|(n, row)| width(&row[column], face(n))).fold(0.0, f64::max);
        let wanted: Vec<f64> = (0..columns).map(widest).collect();
        let room = self.width() - GAP * columns.saturating_sub(1) as f64;
        let share = room / columns.max(1) as f64;
        // Narrow columns get their full width, the others share the rest.
        let narrow: f64 = wanted.iter().filter(|width| **width <= share).sum();
        let wide = wanted.iter().filter(|width| **width > share).count().max(1);
        let widths: Vec<f64> = wanted.iter().map(|width| width.min(share.max((room - narrow) / wide as f64))).collect();
        let mut cells: Vec<Vec<Vec<String>>> = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            let lines = |(cell, width): (&String, &f64)| break_lines(cell, face(n), *width, false);
            cells.push(row.iter().zip(&widths).map(lines).collect());
        }
        let lines = |row: &[Vec<String>]| row.iter().map(Vec::len).max().unwrap_or_default();
        let height = |row: &[Vec<String>]| TEXT.size * (LEADING * lines(row) as f64 + 0.5);
        // A table is not split over pages.
        self.ensure_room(cells.iter().map(|row| height(row)).sum());
        for (n, row) in cells.iter().enumerate() {
            let top = self.y;
            for line in 0..lines(row) {
                let mut x = 0.0;
                for (cell, width) in row.iter().zip(&widths) {
                    if let Some(text) = cell.get(line) {
                        self.line(x, face(n), text);
                    }
                    x += width + GAP;
                }
                self.y -= TEXT.size * LEADING;
            }
            self.y = top - height(row);
        }
        self.y -= PARAGRAPH_SPACE;
    }
}

/// Breaks text into lines of at most this width. Long words at the end of a line may be hyphenated.
fn break_lines(text: &str, face: Face, room: f64, hyphenate: bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().map(std::mem::take).unwrap_or_default();
        let gap = if last.is_empty() { "" } else { " " };
        let longer = format!("{last}{gap}{word}");
        let at = lines.len() - 1;
        // A word wider than its cell overflows.
        if width(&longer, face) <= room || last.is_empty() {
            lines[at] = longer;
            continue;
        }
        let fits = |n: &usize| hyphenate && width(&format!("{last}{gap}{}-", &word[..*n]), face) <= room;
        let cut = hyphenation_points(word).into_iter().rev().find(fits);
        let (before, after) = word.split_at(cut.unwrap_or(0));
        lines[at] = if before.is_empty() { last } else { format!("{last}{gap}{before}-") };
        lines.push(after.to_owned());
    }
    lines
}

/// Where a long word may be hyphenated: before a consonant followed by a vowel, far from its ends.
fn hyphenation_points(word: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    if letters.len() < 8 || !letters.iter().all(|(_, c)| c.is_lowercase() || ",.;".contains(*c)) {
        return Vec::new();
    }
    let vowel = |n: usize| "aeiouyåäöé".contains(letters[n].1);
    // Letter pairs of one sound stay together.
    let is_digraph =
        |n: usize| ["th", "ch", "sh", "ph", "ck", "qu"].contains(&&word[letters[n - 1].0..letters[n + 1].0]);
    let plain = |n: usize| letters[n - 2..n + 2].iter().all(|(_, c)| c.is_alphabetic());
    let fits = |n: &usize| plain(*n) && !vowel(*n) && vowel(*n + 1) && !is_digraph(*n);
    (3..letters.len() - 3).filter(fits).map(|n| letters[n].0).collect()
}

/// The approximate width of text. Readers have the fonts' own metrics; this must only not be too small.
fn width(text: &str, face: Face) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '\'' | ',' | '.' | ':' | ';' | '|' | ' ' => 285.0,
        'f' | 't' | 'r' | 'I' | '(' | ')' | '-' | '"' | '•' => 375.0,
        'm' | 'w' | 'M' | 'W' => 900.0,
        c if c.is_uppercase() => 740.0,
        _ => 570.0,
    };
    text.chars().map(of).sum::<f64>() * face.size / 1000.0
}

/// Draws text at a position.
fn show(page: &mut Vec<u8>, x: f64, y: f64, face: Face, text: &str) {
    page.extend(format!("BT /F{} {} Tf 1 0 0 1 {x:.2} {y:.2} Tm (", face.font, face.size).bytes());
    for c in text.chars() {
        if "()\\".contains(c) {
            page.push(b'\\');
        }
        page.push(code(c));
    }
    page.extend(b") Tj ET\n");
}

/// A character in the encoding of the fonts.
fn code(c: char) -> u8 {
    match c {
        '•' => 0x95,
        '–' => 0x96,
        '’' => 0x92,
        '“' => 0x93,
        '”' => 0x94,
        ' '..='~' | '\u{a1}'..='\u{ff}' => u8::try_from(u32::from(c)).unwrap(),
        _ => panic!("the fonts have no {c:?}"),
    }
}

/// The objects of a file in the order of their numbers, with their offsets.
fn file(title: &str, pages: &[Vec<u8>]) -> Vec<u8> {
    let font = |name: &str| {
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>").into_bytes()
    };
    let first = 6;
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", first + 2 * n)).collect();
    let mut named = b"<< /Title (".to_vec();
    named.extend(title.chars().map(code));
    named.extend(b") >>");
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!(
            "<< /Type /Pages /Kids [{}] /Count {} /MediaBox [0 0 {} {}] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>",
            kids.join(" "),
            pages.len(),
            PAGE.0,
            PAGE.1
        )
        .into_bytes(),
        font("Helvetica"),
        font("Helvetica-Bold"),
        named,
    ];
    for (n, page) in pages.iter().enumerate() {
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", first + 2 * n + 1).into_bytes());
        let head = format!("<< /Length {} >>\nstream\n", page.len());
        objects.push([head.as_bytes(), page, b"endstream"].concat());
    }
    let mut out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", n + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let table = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| out.extend(format!("{place:010} 00000 n \n").bytes()));
    out.extend(format!("trailer\n<< /Size {} /Root 1 0 R /Info 5 0 R >>\n", objects.len() + 1).bytes());
    out.extend(format!("startxref\n{table}\n%%EOF\n").bytes());
    out
}

#[test]
fn long_words_are_hyphenated_in_their_middle() {
    let parts = |word: &'static str| hyphenation_points(word).into_iter().map(|n| word.split_at(n)).collect::<Vec<_>>();
    assert_eq!(parts("organisation"), [("orga", "nisation"), ("organi", "sation"), ("organisa", "tion")]);
    assert_eq!(parts("permanently"), [("per", "manently"), ("perma", "nently")]);
    assert_eq!(parts("interruption,"), [("inter", "ruption,"), ("interrup", "tion,")]);
    assert_eq!(parts("återläsningar"), [("åter", "läsningar"), ("återläs", "ningar")]);
    assert_eq!(parts("otherwise"), [("other", "wise")]);
    assert_eq!(parts("Customer's"), []);
}

#[test]
fn lines_fit_their_column() {
    let text = "The interruption of permanently operated installations is announced by the organisation beforehand.";
    let lines = break_lines(text, TEXT, 120.0, true);
    assert!(lines.iter().all(|line| width(line, TEXT) <= 120.0), "{lines:#?}");
    assert!(lines.iter().any(|line| line.ends_with('-')), "{lines:#?}");
    let joined = lines.join(" ").replace("- ", "");
    assert_eq!(joined, text);
}
