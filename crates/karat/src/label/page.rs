//! Shows a pair, an extra, or an audited finding or response with the code around it, but not the tools that reported it.

use anstyle::Style;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::Verdict;
use karat_format::diagnostic::harmless;
use karat_report::TerminalStyle;
use karat_report::grid::fit;
use karat_store::label::{FindingText, GoldenText, LabelKind, ResponseText, Subject};
use serde::Serialize;
use std::collections::BTreeSet;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

const AROUND: u32 = 5;
/// The most lines of a place that are shown.
const LONGEST_PLACE: u32 = 30;
/// The most characters of a text that are shown.
const LONGEST_TEXT: usize = 8_000;

/// Code around the places of a pair, in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Excerpt {
    pub file: String,
    pub lines: Vec<CodeLine>,
}

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CodeLine {
    /// Counted from 1.
    pub number: u32,
    pub text: String,
    pub golden: bool,
    pub finding: bool,
}

/// Reads a file of a case.
pub type SourceOf<'a> = dyn Fn(&CaseId, &RepoPath) -> Option<String> + 'a;

/// The code around the golden and the finding, the golden's file first; unavailable files are left out.
pub fn excerpts(subject: &Subject, source: &SourceOf<'_>) -> Vec<Excerpt> {
    let place = |file: Option<&str>, lines: Option<(u32, u32)>| Some((file.and_then(RepoPath::new)?, lines?));
    let golden = subject.golden.as_ref().and_then(|golden| place(golden.file.as_deref(), golden.lines));
    let listed = subject.response.iter().flat_map(|response| &response.findings);
    let reported = std::iter::once(&subject.finding).chain(listed);
    let findings: Vec<_> = reported.filter_map(|finding| place(finding.file.as_deref(), finding.lines)).collect();
    let mut shown: Vec<(&RepoPath, BTreeSet<u32>)> = Vec::new();
    for (path, (start, end)) in golden.iter().chain(&findings) {
        let end = (*end).min(start.saturating_add(LONGEST_PLACE)).saturating_add(AROUND);
        let numbers = start.saturating_sub(AROUND).max(1)..=end;
        match shown.iter_mut().find(|(other, _)| *other == path) {
            Some((_, wanted)) => wanted.extend(numbers),
            None => shown.push((path, numbers.collect())),
        }
    }
    let excerpt = |(path, wanted): (&RepoPath, BTreeSet<u32>)| {
        let text = source(&subject.case, path)?;
        let numbered = (1_u32..).zip(text.lines()).filter(|(number, _)| wanted.contains(number));
        let line = |(number, text): (u32, &str)| {
            let has = |(own, (start, end)): &(RepoPath, (u32, u32))| own == path && (*start..=*end).contains(&number);
            let (golden, finding) = (golden.iter().any(has), findings.iter().any(has));
            CodeLine { number, text: text.to_owned(), golden, finding }
        };
        let lines: Vec<CodeLine> = numbered.map(line).collect();
        (!lines.is_empty()).then(|| Excerpt { file: path.to_string(), lines })
    };
    shown.into_iter().filter_map(excerpt).collect()
}

/// Formats an item for a terminal.
pub fn draw(subject: &Subject, code: &[Excerpt], look: &TerminalStyle) -> String {
    let (title, noun, legend) = match subject.kind {
        LabelKind::Pair => ("Known problem", "pair", "g: the known problem's lines · r: the report's lines"),
        LabelKind::Extra => ("Report that names no known problem", "extra", "r: the report's lines"),
        LabelKind::Audit => {
            let noun = if subject.response.is_some() { "response" } else { "finding" };
            ("Target", noun, "g: the target's lines · r: the report's lines")
        }
    };
    let mut page = Page { out: String::new(), look };
    page.title(title, &format!("{noun} {} · case {}", subject.key().short(), subject.case));
    if subject.kind != LabelKind::Extra {
        match &subject.golden {
            Some(golden) => page.known(golden),
            None => page.text(Some("none: the case is safe"), DIM),
        }
        page.title(if subject.response.is_some() { "Response" } else { "Report" }, "");
    }
    match &subject.response {
        Some(response) => page.response(response),
        None => page.report(&subject.finding),
    }
    page.title("Code", if code.is_empty() { "not at hand" } else { legend });
    code.iter().for_each(|excerpt| page.excerpt(excerpt));
    page.out
}

struct Page<'a> {
    out: String,
    look: &'a TerminalStyle,
}

impl Page<'_> {
    fn paint(&self, text: &str, style: Style) -> String {
        let plain = !self.look.colour || style == Style::new() || text.is_empty();
        if plain { text.to_owned() } else { format!("{}{text}{}", style.render(), style.render_reset()) }
    }

    fn line(&mut self, text: &str, style: Style) {
        let painted = self.paint(text, style);
        self.out.push_str(painted.trim_end());
        self.out.push('\n');
    }

    fn title(&mut self, title: &str, note: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let note = fit(&harmless(note), self.look.width.saturating_sub(title.len() + 2));
        let text = format!("{}  {}", self.paint(title, BOLD), self.paint(&note, DIM));
        self.line(&text, Style::new());
    }

    /// Untrusted text, wrapped to the width.
    fn text(&mut self, text: Option<&str>, style: Style) {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return };
        let (text, cut) = match text.char_indices().nth(LONGEST_TEXT) {
            None => (text, false),
            Some((end, _)) => (&text[..end], true),
        };
        for line in text.lines() {
            for part in wrapped(&harmless(&untabbed(line)), self.look.width.saturating_sub(2)) {
                self.line(&format!("  {part}"), style);
            }
        }
        if cut {
            self.line("  [cut here]", DIM);
        }
    }

    fn known(&mut self, known: &GoldenText) {
        self.text(known.title.as_deref(), BOLD);
        self.text(known.description.as_deref().filter(|text| known.title.as_deref() != Some(text)), Style::new());
        self.facts(known.file.as_deref(), known.lines, known.severity.as_deref(), known.category.as_deref());
        if !known.keywords.is_empty() {
            self.text(Some(&format!("expected words: {}", known.keywords.join(", "))), DIM);
        }
    }

    fn response(&mut self, response: &ResponseText) {
        let verdict = response.verdict.map(|verdict| match verdict {
            Verdict::Vulnerable => "verdict: vulnerable".to_owned(),
            Verdict::Safe => "verdict: safe".to_owned(),
        });
        let confidence = response.confidence.as_ref().map(|confidence| format!("confidence: {confidence}"));
        let stated: Vec<String> = verdict.into_iter().chain(confidence).collect();
        self.text(Some(&stated.join(" · ")), DIM);
        for (at, finding) in response.findings.iter().enumerate() {
            self.text(Some(&format!("finding {} of {}", at + 1, response.findings.len())), DIM);
            self.report(finding);
        }
        self.text(response.text.as_deref(), Style::new());
    }

    fn report(&mut self, reported: &FindingText) {
        self.text(reported.title.as_deref(), BOLD);
        self.text(reported.message.as_deref().filter(|text| reported.title.as_deref() != Some(text)), Style::new());
        self.text(reported.rule.as_deref().map(|rule| format!("the rule {rule}, and no words")).as_deref(), BOLD);
        let (severity, category) = (reported.severity.as_deref(), reported.category.as_deref());
        self.facts(reported.file.as_deref(), reported.lines, severity, category);
    }

    fn facts(&mut self, file: Option<&str>, lines: Option<(u32, u32)>, severity: Option<&str>, category: Option<&str>) {
        let lines = match lines {
            None => String::new(),
            Some((start, end)) if start == end => format!(":{start}"),
            Some((start, end)) => format!(":{start}-{end}"),
        };
        let place = file.map(|file| format!("{file}{lines}"));
        let facts: Vec<&str> = [place.as_deref(), severity, category].into_iter().flatten().collect();
        self.text(Some(&facts.join(" · ")), DIM);
    }

    fn excerpt(&mut self, excerpt: &Excerpt) {
        self.text(Some(&excerpt.file), DIM);
        let digits = excerpt.lines.last().map_or(1, |line| line.number.to_string().len());
        let mut before = None;
        for line in &excerpt.lines {
            if before.is_some_and(|before| before + 1 < line.number) {
                self.line("  ⋮", DIM);
            }
            before = Some(line.number);
            let mark = |here: bool, sign: &'static str| if here { sign } else { " " };
            let (golden, finding) = (mark(line.golden, "g"), mark(line.finding, "r"));
            let text = format!("  {golden}{finding} {:>digits$}  {}", line.number, harmless(&untabbed(&line.text)));
            let style = if line.golden || line.finding { Style::new() } else { DIM };
            self.line(&fit(&text, self.look.width), style);
        }
    }
}

/// Terminals differ in how far a tab moves.
fn untabbed(line: &str) -> String {
    line.replace('\t', "    ")
}

/// Wraps a line at blanks, and within words that are wider than `width`.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent: String = line.chars().take_while(|c| *c == ' ').take(width / 2).collect();
    let mut parts = Vec::new();
    let mut part = indent.clone();
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let begun = !part.trim().is_empty();
        if begun && part.width() + 1 + word.width() > width {
            parts.push(std::mem::replace(&mut part, indent.clone()));
        } else if begun {
            part.push(' ');
        }
        for c in word.chars() {
            if part.width() + c.width().unwrap_or(0) > width {
                parts.push(std::mem::replace(&mut part, indent.clone()));
            }
            part.push(c);
        }
    }
    parts.push(part);
    parts
}
