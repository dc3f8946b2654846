//! Reviews in Markdown: list items, paragraphs and sections that name a location in the code become findings.
//!
//! A location is a file with a line, or a file in a heading, between backticks or behind a word such as "File:". Prose without a
//! location is not a finding but is counted, and a text without any finding gets a note, so that it is not mistaken for a reviewer
//! who found nothing.

mod blocks;
mod location;

use super::github_review::markdown;
use super::note_counter::NoteCounter;
use super::{ImportError, ImportedData, Input, ToolFailure, fields, input, json};
use blocks::{Block, BlockKind};
use karat_core::finding::Finding;
use karat_core::golden::Severity;
use karat_core::lines::Lines;
use location::CodeLocation;
use regex::Regex;
use std::io::Read;
use std::sync::LazyLock;

/// A longer text is not a review of one change.
const MAX_BYTES: u64 = 8 << 20;
/// No real review has more findings.
const MAX_FINDINGS: usize = 10_000;
/// Longer titles are truncated; the message has the whole text.
const MAX_TITLE_CHARS: usize = 200;

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let mut text = String::new();
    input.reader.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| input::read_error(path, error))?;
    if text.len() as u64 > MAX_BYTES {
        let message = format!("the text is longer than {} MiB, the limit for a review", MAX_BYTES >> 20);
        return Err(json::malformed(path, message));
    }
    let mut reader = Reader::default();
    for block in blocks::split(&text) {
        reader.add_block(block);
    }
    reader.close();
    if reader.found.is_empty() && !says_nothing_is_wrong(&text) {
        let words = text.split_whitespace().count();
        let message =
            format!("no finding could be recognised in {words} words of prose; a finding names a file and a line");
        data.failures.push(ToolFailure { tool: None, file: None, message, fatal: false });
    }
    if reader.found.len() > MAX_FINDINGS {
        let message = format!("{} locations are named, too many for a review", reader.found.len());
        return Err(json::malformed(path, message));
    }
    reader.found.into_iter().for_each(|finding| data.add_finding(None, finding));
    data.counter = reader.counter;
    Ok(())
}

/// Whether a text is one short statement that all is well, without a "but".
fn says_nothing_is_wrong(text: &str) -> bool {
    static WELL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = r"(?i)\b(no (?:\w+ )?(?:issues?|problems?|findings?|concerns?|bugs?)\b|lgtm\b|looks? good\b|nothing to report\b)";
        Regex::new(words).ok()
    });
    static DOUBT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\b(but|however|except|although|though|other than|apart)\b").ok());
    let found = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(text));
    text.trim().chars().count() <= 200 && found(&WELL) && !found(&DOUBT)
}

#[derive(Default)]
struct Reader {
    found: Vec<Finding>,
    counter: NoteCounter,
    headings: Vec<Heading>,
    /// The enclosing list items, with the locations they name.
    items: Vec<(usize, Option<CodeLocation>)>,
    open: Option<OpenFinding>,
}

struct Heading {
    level: usize,
    title: Option<String>,
    place: Option<CodeLocation>,
    severity: Option<Severity>,
    /// Whether a finding already has this heading's title.
    used: bool,
}

/// A finding whose text may continue.
struct OpenFinding {
    finding: Finding,
    text: String,
    /// The level of the heading it began with; `None` where it began with an item or a paragraph.
    heading: Option<usize>,
    indent: usize,
    item: bool,
}

impl Reader {
    fn add_block(&mut self, block: Block<'_>) {
        match block.kind {
            BlockKind::Heading(level) => self.heading(level, &block),
            BlockKind::Code => self.append(&block),
            BlockKind::Item | BlockKind::Paragraph => self.prose(&block),
        }
    }

    fn heading(&mut self, level: usize, block: &Block<'_>) {
        let place = location::find(&block.text, true);
        // What follows a finding's own heading belongs to it, unless it names a location of its own.
        if place.is_none() && self.open.as_ref().is_some_and(|open| open.heading.is_some_and(|own| level > own)) {
            return self.append(block);
        }
        self.close();
        self.items.clear();
        self.headings.retain(|heading| heading.level < level);
        let title = markdown::title(&location::strip_leading(&block.text));
        let severity = heading_severity(title.as_deref());
        let starts = place.as_ref().is_some_and(|place| place.lines.is_some());
        self.headings.push(Heading { level, title, place: place.clone(), severity, used: starts });
        if let Some(place) = place.filter(|_| starts) {
            self.start(&place, block, Some(level));
        }
    }

    fn prose(&mut self, block: &Block<'_>) {
        let item = block.kind == BlockKind::Item;
        if item {
            self.items.retain(|(indent, _)| *indent < block.indent);
        } else if block.indent == 0 {
            self.items.clear();
        }
        let label = label_of(&block.text);
        let own = location::find(&block.text, matches!(label, Some("file" | "path" | "location")));
        if label.is_some() && self.field(block, own.as_ref()) {
            return;
        }
        let inherited = || {
            let above = self.items.iter().rev().filter_map(|(_, place)| place.as_ref());
            above.chain(self.headings.iter().rev().filter_map(|heading| heading.place.as_ref())).next()
        };
        let lines_only = location::find_lines(&block.text);
        let place = match (&own, lines_only, inherited()) {
            (Some(own), ..) => Some(own.clone()),
            (None, Some(lines), Some(above)) => Some(CodeLocation { file: above.file.clone(), lines: Some(lines) }),
            // Below a file's heading every item is about that file.
            (None, None, Some(above)) if item && self.items.is_empty() && above.lines.is_none() => Some(above.clone()),
            _ => None,
        };
        if item {
            self.items.push((block.indent, own.clone()));
        }
        let within =
            self.open.as_ref().is_some_and(|open| open.item && block.indent > open.indent && has_lines(&open.finding));
        match place {
            Some(place) if !within => {
                // An item that names only a file is a heading for the items below it, so it may stay empty.
                self.close();
                self.start(&place, block, None);
            }
            _ => self.append(block),
        }
    }

    /// Handles a labelled part, such as "Severity: high", of the open finding. Returns whether that lacked it.
    fn field(&mut self, block: &Block<'_>, own: Option<&CodeLocation>) -> bool {
        let Some(open) = &mut self.open else { return false };
        if let Some(own) = own {
            if open.finding.file.as_ref() != Some(&own.file) || has_lines(&open.finding) {
                return false;
            }
            set_lines(&mut open.finding, own.lines);
        } else if !has_lines(&open.finding) {
            set_lines(&mut open.finding, location::find_lines(&block.text));
        }
        self.append(block);
        true
    }

    fn start(&mut self, place: &CodeLocation, block: &Block<'_>, heading: Option<usize>) {
        let mut finding = Finding::new("");
        finding.file = Some(place.file.clone());
        set_lines(&mut finding, place.lines);
        let bare = location::strip_leading(&block.text);
        let own = if label_of(&block.text).is_some() { None } else { markdown::title(&bare) };
        let names = |heading: &&mut Heading| heading.place.is_none() && heading.severity.is_none();
        let above = self.headings.iter_mut().rev().filter(names).find(|heading| heading.title.is_some());
        finding.title = match (own, above) {
            (Some(own), _) => Some(truncated(&own)),
            (None, Some(above)) if !above.used => {
                above.used = true;
                above.title.as_deref().map(truncated)
            }
            _ => None,
        };
        finding.severity = stated_severity(&block.text)
            .or_else(|| stated_severity(&bare))
            .or_else(|| self.headings.iter().rev().find_map(|heading| heading.severity));
        let item = block.kind == BlockKind::Item;
        self.open = Some(OpenFinding { finding, text: block.text.to_string(), heading, indent: block.indent, item });
    }

    /// Adds a block to the open finding; a block without one is counted.
    fn append(&mut self, block: &Block<'_>) {
        let belongs = |open: &OpenFinding| {
            open.heading.is_some() || !open.item || block.indent > open.indent || block.kind == BlockKind::Code
        };
        match &mut self.open {
            Some(open) if belongs(open) || label_of(&block.text).is_some() => {
                open.text.push_str("\n\n");
                open.text.push_str(&block.text);
                open.finding.severity = open.finding.severity.or_else(|| stated_severity(&block.text));
            }
            _ if block.kind == BlockKind::Code => {}
            _ => {
                self.close();
                self.counter.count("prose that names no location in the code ignored");
            }
        }
    }

    fn close(&mut self) {
        let Some(OpenFinding { mut finding, text, .. }) = self.open.take() else { return };
        let named = finding.title.is_some() && has_lines(&finding);
        let first = markdown::title(&location::strip_leading(&text));
        if !named && first.is_none() {
            // A file without text is a heading for what follows, not a remark.
            return;
        }
        if finding.title.is_none() && label_of(&text).is_none() {
            finding.title = first.as_deref().map(truncated);
        }
        finding.message = Some(text);
        self.found.push(finding);
    }
}

fn has_lines(finding: &Finding) -> bool {
    finding.line_start.is_some()
}

fn set_lines(finding: &mut Finding, lines: Option<Lines>) {
    finding.line_start = lines.map(|lines| lines.start);
    finding.line_end = lines.map(|lines| lines.end);
}

fn truncated(title: &str) -> String {
    static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(&format!(r"(?i)^\W*(?:\d{{1,3}}[.)]\s+)?(?:\W*(?:{LEVELS})[\])*:]+[\s:–—-]*)?")).ok()
    });
    let cut = MARKS.as_ref().and_then(|regex| regex.find(title)).map_or(0, |found| found.end());
    // Quotation marks and brackets at the start belong to the quoted text.
    let opening = title[..cut].len() - title[..cut].trim_end_matches(['"', '\'', '(', '[', '<', '$', '@', '_']).len();
    let title = &title[cut - opening..];
    match title.char_indices().nth(MAX_TITLE_CHARS) {
        Some((cut, _)) => format!("{}…", title[..cut].trim_end()),
        None => title.to_owned(),
    }
}

const LEVELS: &str = "critical|blocker|high|major|medium|moderate|low|minor|info|informational|nit";

fn label_of(text: &str) -> Option<&'static str> {
    const LABELS: &str = "file|path|location|line|lines|severity|priority|description|details|issue|problem|impact|fix|\
        suggestion|suggested fix|recommendation|confidence|category|type|why|rationale|explanation|cwe";
    let start: String = text.chars().take(40).collect::<String>().to_lowercase();
    let (word, _) = start.split_once(':')?;
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    LABELS.split('|').find(|label| *label == word)
}

fn stated_severity(text: &str) -> Option<Severity> {
    static STATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // "Severity: high", "high severity", or a mark at the very beginning such as [HIGH] or **Critical**:
        let ways = format!(
            r"(?i)\b(?:severity|priority)\b\W{{0,8}}({LEVELS})\b|\b({LEVELS})[ -](?:severity|priority|risk)\b|^\W{{0,8}}({LEVELS})[\])*:]"
        );
        Regex::new(&ways).ok()
    });
    let captures = STATED.as_ref()?.captures(text)?;
    fields::severity_of_word(captures.iter().skip(1).flatten().next()?.as_str())
}

/// "High", "Critical issues", "Low severity": a heading that groups findings by severity.
fn heading_severity(title: Option<&str>) -> Option<Severity> {
    let words: Vec<&str> = title?.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let sorts = ["issues", "issue", "severity", "priority", "findings", "problems", "bugs", "risk"];
    match words.as_slice() {
        [level] => fields::severity_of_word(level),
        [level, rest @ ..]
            if rest.len() <= 2 && rest.iter().all(|word| sorts.contains(&word.to_lowercase().as_str())) =>
        {
            fields::severity_of_word(level)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
