//! Writes documents from plain sources as Markdown, Word and PDF. A source is a small subset of Markdown: numbered
//! headings, paragraphs, lists and tables. The output depends only on the source, so that a committed file can be
//! generated again and compared byte by byte.

mod docx;
mod pdf;

pub(crate) use docx::docx;
pub(crate) use pdf::{Columns, pdf};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Document {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A block of a document.
#[derive(Debug, PartialEq)]
pub(crate) enum Block {
    /// Level 1 is the first below the title. The number is separate, as some formats number headings automatically.
    Heading {
        level: usize,
        number: Option<String>,
        words: String,
    },
    Paragraph(String),
    /// An item of a list, with its letter, or without for a bullet.
    Item {
        letter: Option<char>,
        text: String,
    },
    Table(Vec<Vec<String>>),
}

impl Document {
    /// Parses a source, and panics on any unsupported markup.
    #[track_caller]
    pub(crate) fn read(source: &str) -> Self {
        let mut document = Self::default();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for line in source.lines() {
            if !line.starts_with('|') && !rows.is_empty() {
                document.blocks.push(Block::Table(std::mem::take(&mut rows)));
            }
            if line.is_empty() {
                continue;
            }
            assert!(line.trim() == line && !line.contains(['*', '`', '<', '>', '[']), "unsupported markup: {line}");
            let marks = line.chars().take_while(|c| *c == '#').count();
            if marks == 1 {
                assert!(document == Self::default(), "a second title: {line}");
                document.title = line[2..].to_owned();
            } else if marks > 1 {
                document.blocks.push(heading(marks - 1, line[marks..].trim()));
            } else if let Some(row) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) {
                // The line below a table's head is only markup.
                if row.chars().any(char::is_alphanumeric) {
                    rows.push(row.split('|').map(|cell| cell.trim().to_owned()).collect());
                }
            } else {
                document.blocks.push(text(line));
            }
        }
        if !rows.is_empty() {
            document.blocks.push(Block::Table(rows));
        }
        assert!(!document.title.is_empty(), "the source has no title");
        document
    }
}

fn heading(level: usize, line: &str) -> Block {
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let (number, words) = match line.split_once(' ') {
        Some((first, rest)) if is_number(first) => (Some(first.to_owned()), rest),
        _ => (None, line),
    };
    Block::Heading { level, number, words: words.to_owned() }
}

fn text(line: &str) -> Block {
    if let Some(text) = line.strip_prefix("- ") {
        return Block::Item { letter: None, text: text.to_owned() };
    }
    let lettered = line.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    match lettered.map(|(letter, text)| (letter.chars().collect::<Vec<_>>(), text)) {
        Some((letter, text)) if letter.len() == 1 => {
            Block::Item { letter: letter.first().copied(), text: text.to_owned() }
        }
        _ => Block::Paragraph(line.to_owned()),
    }
}

#[test]
fn source_is_parsed_into_blocks() {
    let source = "# Terms\n\nWords.\n\n## 1 Scope\n\n### 1.1 Parts\n\n- one\n- two\n\n(a) three\n\n| a | b |\n|---|---|\n| c | d |\n\n## Annex\n";
    let document = Document::read(source);
    assert_eq!(document.title, "Terms");
    let heading = |level, number: Option<&str>, words: &str| Block::Heading {
        level,
        number: number.map(str::to_owned),
        words: words.to_owned(),
    };
    let item = |letter, text: &str| Block::Item { letter, text: text.to_owned() };
    let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
    let expect = [
        Block::Paragraph("Words.".to_owned()),
        heading(1, Some("1"), "Scope"),
        heading(2, Some("1.1"), "Parts"),
        item(None, "one"),
        item(None, "two"),
        item(Some('a'), "three"),
        Block::Table(vec![row(["a", "b"]), row(["c", "d"])]),
        heading(1, None, "Annex"),
    ];
    assert_eq!(document.blocks, expect);
}
