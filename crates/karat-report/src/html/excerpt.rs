//! Code excerpts around the goldens and findings of a case.

use crate::report_view::Sources;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_source::colour::colours;
use karat_source::language::Language;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
pub(super) struct ExcerptLimits {
    /// Files with up to this many lines are shown completely.
    pub(super) whole: u32,
    pub(super) around: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct FileData {
    pub(super) path: String,
    length: u32,
    lines: Vec<(u32, String, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Places {
    order: Vec<String>,
    of: BTreeMap<String, Vec<(u32, u32)>>,
}

/// Browsers are slow to lay out more.
const MOST_LINES: usize = 4_000;
const MOST_FILES: usize = 24;
/// A finding may claim a whole file.
const LONGEST_PLACE: u32 = 60;
/// Longer lines are not written by hand.
const LONGEST_LINE: usize = 400;

impl Places {
    pub(super) fn add(&mut self, file: Option<&str>, start: Option<u32>, end: Option<u32>) {
        let Some(file) = file else { return };
        if !self.of.contains_key(file) {
            self.order.push(file.to_owned());
        }
        let places = self.of.entry(file.to_owned()).or_default();
        if let Some(start) = start {
            places.push((start, end.unwrap_or(start).clamp(start, start.saturating_add(LONGEST_PLACE))));
        }
    }

    pub(super) fn show(&self, case: &CaseId, sources: &Sources<'_>, limits: ExcerptLimits) -> Vec<FileData> {
        let read = |file: &String| {
            let path = RepoPath::new(file)?;
            let source = (sources.code)(case, &path)?;
            Some(excerpt(&path, &source, self.of.get(file)?, limits))
        };
        self.order.iter().filter_map(read).filter(|file| !file.lines.is_empty()).take(MOST_FILES).collect()
    }
}

fn excerpt(path: &RepoPath, source: &str, places: &[(u32, u32)], limits: ExcerptLimits) -> FileData {
    let length = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
    let shown = merged(places, limits.around);
    let near = |number: u32| {
        let at = shown.partition_point(|(_, end)| *end < number);
        length <= limits.whole || shown.get(at).is_some_and(|(start, _)| *start <= number)
    };
    let colours = Language::from_path(path).and_then(|language| colours(language, source)).unwrap_or_default();
    let mut lines = Vec::new();
    for (number, text) in (1_u32..).zip(source.lines()).filter(|(number, _)| near(*number)).take(MOST_LINES) {
        let runs = colours.get(number as usize - 1).map_or(&[][..], Vec::as_slice);
        let (text, packed) = line(text, runs);
        lines.push((number, text, packed));
    }
    FileData { path: path.to_string(), length, lines }
}

/// Merges the line ranges around all places: one file may have thousands of them.
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

/// A line and its colours; lengths are in UTF-16 units, as browsers count.
fn line(text: &str, runs: &[(usize, karat_source::colour::Colour)]) -> (String, String) {
    let end = text.char_indices().nth(LONGEST_LINE).map_or(text.len(), |(end, _)| end);
    let mut packed = String::new();
    let mut at = 0;
    for (length, colour) in runs {
        let until = (at + length).min(end);
        // Colour runs normally end at character boundaries; a line where they do not is shown without colours.
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
