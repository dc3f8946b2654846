//! The code of a case: files with goldens and findings, and files that its change touched, as far as the page has room for them.

use crate::report_view::{ChangedFile, CodeProvider};
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_source::change::{ReplacedRange, replaced_ranges};
use karat_source::colour::{Colour, colours};
use karat_source::language::Language;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
pub(super) struct ExcerptLimits {
    /// Files with up to this many lines are shown completely.
    whole: u32,
    around: u32,
    /// Whether changes are shown where there is no golden or finding.
    changes: bool,
}

impl ExcerptLimits {
    pub(super) const fn new(whole: u32, around: u32, changes: bool) -> Self {
        Self { whole, around, changes }
    }
}

/// The number of a line, its text and its colours.
type LineData = (u32, String, String);

#[derive(Debug, Serialize)]
pub(super) struct FileData {
    pub(super) path: String,
    /// Lines after the change; of a removed file, before it.
    length: u32,
    lines: Vec<LineData>,
    /// `None` where there is no state before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<FileChangeData>,
}

#[derive(Debug, Default, Serialize)]
struct FileChangeData {
    kind: ChangeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// First line and number of lines, before and after the change. Lines count from 1.
    hunks: Vec<[u32; 4]>,
    /// Removed lines.
    old: Vec<LineData>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ChangeKind {
    Added,
    Removed,
    Renamed,
    Changed,
    /// Not text, or too large.
    NotCompared,
    #[default]
    Unchanged,
}

#[derive(Debug, Default)]
pub(super) struct Places {
    order: Vec<String>,
    of: BTreeMap<String, Vec<(u32, u32)>>,
}

/// Of a file at once, and of a case before its other files are shortened.
const MOST_LINES: usize = 20_000;
const MOST_FILES: usize = 24;
/// The longest file that is shown completely after so many lines.
const SHORT_FILE: u32 = 300;
/// A finding may claim a whole file, and a change may replace one.
const LONGEST_PLACE: u32 = 60;
/// Longer lines are not written by hand.
const LONGEST_LINE: usize = 400;
/// Larger files are not compared line by line.
const LARGEST_COMPARED: usize = 4 << 20;

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

    /// The files with places, then the other files of the change, and how many of those are left out.
    pub(super) fn show(
        &self,
        case: &CaseId,
        code: &dyn CodeProvider,
        change: Option<&[ChangedFile]>,
        limits: ExcerptLimits,
    ) -> (Vec<FileData>, usize) {
        let changed = change.unwrap_or_default();
        let mut files: Vec<FileData> = Vec::new();
        let limits_after = |files: &[FileData]| {
            let is_long = files.iter().map(FileData::line_count).sum::<usize>() > MOST_LINES;
            ExcerptLimits { whole: limits.whole.min(if is_long { SHORT_FILE } else { u32::MAX }), ..limits }
        };
        for (name, places) in self.order.iter().filter_map(|name| Some((RepoPath::new(name)?, self.of.get(name)?))) {
            if files.len() == MOST_FILES {
                break;
            }
            let limits = limits_after(&files);
            let file = match changed.binary_search_by(|file| file.path.cmp(&name)) {
                Ok(at) => Some(excerpt_of_changed(&changed[at], places, limits)),
                Err(_) => code.file(case, &name).map(|text| {
                    let change = change.map(|_| FileChangeData::default());
                    excerpt(&name, Sides { before: None, after: Some(&text) }, change, places, limits)
                }),
            };
            files.extend(file.filter(FileData::shows_something));
        }
        for file in changed.iter().filter(|_| limits.changes) {
            if files.len() < MOST_FILES && !files.iter().any(|shown| shown.path == file.path.as_str()) {
                let limits = limits_after(&files);
                files.push(excerpt_of_changed(file, &[], limits));
            }
        }
        let is_changed = |file: &&FileData| file.change.as_ref().is_some_and(|own| own.kind != ChangeKind::Unchanged);
        let left_out = changed.len().saturating_sub(files.iter().filter(is_changed).count());
        (files, left_out)
    }
}

impl FileData {
    fn line_count(&self) -> usize {
        self.lines.len() + self.change.as_ref().map_or(0, |change| change.old.len())
    }

    /// Of files that are not compared, the name says something.
    fn shows_something(&self) -> bool {
        let is_named = |change: &FileChangeData| change.kind == ChangeKind::NotCompared;
        self.line_count() > 0 || self.change.as_ref().is_some_and(is_named)
    }
}

#[derive(Clone, Copy, Debug)]
struct Sides<'a> {
    before: Option<&'a str>,
    after: Option<&'a str>,
}

fn excerpt_of_changed(file: &ChangedFile, places: &[(u32, u32)], limits: ExcerptLimits) -> FileData {
    let ChangedFile { path, renamed_from, before, after } = file;
    let sides = Sides { before: before.as_deref(), after: after.as_deref() };
    let is_large = [sides.before, sides.after].into_iter().flatten().any(|text| text.len() > LARGEST_COMPARED);
    let kind = match (sides.before, sides.after) {
        (None, None) => ChangeKind::NotCompared,
        _ if is_large => ChangeKind::NotCompared,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Removed,
        _ if renamed_from.is_some() => ChangeKind::Renamed,
        _ => ChangeKind::Changed,
    };
    let from = renamed_from.as_ref().map(RepoPath::to_string);
    let change = FileChangeData { kind, from, ..FileChangeData::default() };
    excerpt(path, sides, Some(change), places, limits)
}

fn excerpt(
    path: &RepoPath,
    Sides { before, after }: Sides<'_>,
    mut change: Option<FileChangeData>,
    places: &[(u32, u32)],
    limits: ExcerptLimits,
) -> FileData {
    let kind = change.as_ref().map_or(ChangeKind::Unchanged, |change| change.kind);
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let hunks = match kind {
        ChangeKind::Unchanged | ChangeKind::NotCompared => Vec::new(),
        _ => replaced_ranges(before, after),
    };
    let is_removed = kind == ChangeKind::Removed;
    let [old_length, new_length] = [before, after].map(|text| u32::try_from(text.lines().count()).unwrap_or(u32::MAX));
    let length = if is_removed { old_length } else { new_length };
    let mut places = places.to_vec();
    if limits.changes {
        let own = hunks.iter().map(|hunk| if is_removed { &hunk.before } else { &hunk.after });
        places
            .extend(own.map(|lines| (lines.start + 1, lines.end.clamp(lines.start + 1, lines.start + LONGEST_PLACE))));
    }
    let shown = merged(&places, limits.around);
    let is_whole = old_length.max(new_length) <= limits.whole;
    // Whether a line, or one of several, is to be shown.
    let near = |first: u32, last: u32| {
        let at = shown.partition_point(|(_, end)| *end < first);
        is_whole || shown.get(at).is_some_and(|(start, _)| *start <= last)
    };
    let language = Language::from_path(path);
    let lines = lines_with_colours(language, after, |number| near(number, number));
    if let Some(change) = &mut change {
        // Removed lines are between the lines around them.
        let removed = |number: u32| {
            let at = hunks.partition_point(|hunk| hunk.before.end < number);
            let Some(hunk) = hunks.get(at).filter(|hunk| hunk.before.contains(&(number - 1))) else { return false };
            let ReplacedRange { before, after } = hunk;
            let is_early = is_whole || number - before.start <= LONGEST_PLACE;
            if is_removed { near(number, number) } else { is_early && near(after.start, after.end + 1) }
        };
        if !hunks.is_empty() {
            change.old = lines_with_colours(language, before, removed);
        }
        let counted = |lines: &Range<u32>| [lines.start + 1, lines.end - lines.start];
        let packed = hunks.iter().map(|hunk| {
            let ([old, removed], [new, added]) = (counted(&hunk.before), counted(&hunk.after));
            [old, removed, new, added]
        });
        change.hunks = packed.collect();
    }
    FileData { path: path.to_string(), length, lines, change }
}

fn lines_with_colours(language: Option<Language>, source: &str, is_shown: impl Fn(u32) -> bool) -> Vec<LineData> {
    let shown = (1_u32..).zip(source.lines()).filter(|(number, _)| is_shown(*number)).take(MOST_LINES);
    let shown: Vec<(u32, &str)> = shown.collect();
    // Parsing takes longer than everything else.
    if shown.is_empty() {
        return Vec::new();
    }
    let colours = language.and_then(|language| colours(language, source)).unwrap_or_default();
    let with_colours = shown.into_iter().map(|(number, text)| {
        let runs = colours.get(number as usize - 1).map_or(&[][..], Vec::as_slice);
        let (text, packed) = line(text, runs);
        (number, text, packed)
    });
    with_colours.collect()
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
fn line(text: &str, runs: &[(usize, Colour)]) -> (String, String) {
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
