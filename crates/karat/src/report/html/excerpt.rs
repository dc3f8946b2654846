//! The code of a case, as much of it as goldens and findings need around them.

use crate::report::exhibit::Sources;
use crate::source::colour::colours;
use crate::source::language::Language;
use karat_core::ids::CaseId;
use karat_core::path::{FilePattern, RepoPath};
use serde::Serialize;
use std::collections::BTreeMap;

/// How much code is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Files of up to so many lines are shown whole.
    pub(super) whole: u32,
    /// So many lines before and after a place.
    pub(super) around: u32,
}

/// A file, or what is shown of it.
#[derive(Debug, Serialize)]
pub(super) struct FileData {
    pub(super) path: String,
    /// How many lines it has.
    length: u32,
    /// Number, text, and colours as lengths and letters.
    lines: Vec<(u32, String, String)>,
}

impl FileData {
    /// Whether a pattern means this file.
    pub(super) fn fits(&self, pattern: &FilePattern) -> bool {
        RepoPath::new(&self.path).is_some_and(|path| pattern.matches(&path))
    }
}

/// Places to show in files, the most telling file first.
#[derive(Debug, Default)]
pub(super) struct Places {
    order: Vec<String>,
    of: BTreeMap<String, Vec<(u32, u32)>>,
}

/// So many lines of a file are shown: a browser takes long to lay out more.
const MOST_LINES: usize = 4_000;
/// So many files of a case are shown.
const MOST_FILES: usize = 24;
/// So many lines of a place are shown: a finding may claim a whole file.
const LONGEST_PLACE: u32 = 60;
/// So much of a line is shown; more is not written by hand.
const LONGEST_LINE: usize = 400;

impl Places {
    pub(super) fn add(&mut self, file: Option<&str>, start: Option<u32>, end: Option<u32>) {
        let Some(file) = file else { return };
        if !self.of.contains_key(file) {
            self.order.push(file.to_owned());
        }
        let places = self.of.entry(file.to_owned()).or_default();
        if let Some(start) = start {
            let end = end.unwrap_or(start).clamp(start, start.saturating_add(LONGEST_PLACE));
            places.push((start, end));
        }
    }

    /// The code around all places, as far as it is at hand.
    pub(super) fn show(&self, case: &CaseId, sources: &Sources<'_>, room: Room) -> Vec<FileData> {
        let read = |file: &String| {
            let path = RepoPath::new(file)?;
            let source = (sources.code)(case, &path)?;
            Some(excerpt(&path, &source, self.of.get(file)?, room))
        };
        self.order.iter().filter_map(read).filter(|file| !file.lines.is_empty()).take(MOST_FILES).collect()
    }
}

fn excerpt(path: &RepoPath, source: &str, places: &[(u32, u32)], room: Room) -> FileData {
    let length = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
    let shown = merged(places, room.around);
    let near = |number: u32| {
        let at = shown.partition_point(|(_, end)| *end < number);
        length <= room.whole || shown.get(at).is_some_and(|(start, _)| *start <= number)
    };
    let colours = Language::of_path(path).and_then(|language| colours(language, source)).unwrap_or_default();
    let mut lines = Vec::new();
    for (number, text) in (1_u32..).zip(source.lines()).filter(|(number, _)| near(*number)).take(MOST_LINES) {
        let runs = colours.get(number as usize - 1).map_or(&[][..], Vec::as_slice);
        let (text, packed) = line(text, runs);
        lines.push((number, text, packed));
    }
    FileData { path: path.to_string(), length, lines }
}

/// The stretches of lines around all places, in order and apart: thousands of places may lie in one file.
fn merged(places: &[(u32, u32)], around: u32) -> Vec<(u32, u32)> {
    let mut sorted: Vec<(u32, u32)> =
        places.iter().map(|(start, end)| (start.saturating_sub(around), end.saturating_add(around))).collect();
    sorted.sort_unstable();
    sorted.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    sorted
}

/// A line as it is shown, and its colours in units of the text's UTF-16, which is what a browser counts in.
fn line(text: &str, runs: &[(usize, crate::source::colour::Colour)]) -> (String, String) {
    let end = text.char_indices().nth(LONGEST_LINE).map_or(text.len(), |(end, _)| end);
    let mut packed = String::new();
    let mut at = 0;
    for (length, colour) in runs {
        let until = (at + length).min(end);
        // A stretch never parts a character, but hostile code may; such a line simply has no colours.
        let Some(part) = text.get(at..until) else { return (cut(text, end), String::new()) };
        if !part.is_empty() {
            packed.push_str(&format!("{}{}", part.encode_utf16().count(), colour.letter()));
        }
        at = until;
    }
    (cut(text, end), packed)
}

fn cut(text: &str, end: usize) -> String {
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}
