//! The data of the case view: goldens, code, and the result of every trial of every tool.

use crate::number::ranked;
use crate::report_view::{ReportView, Sources};
use karat_core::golden::Golden;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Verdict};
use karat_core::trial::Trial;
use karat_format::report::{CaseInfoV1, CaseResultV1, IssueInfoV1, TrialResultV1};
use karat_source::colour::{Colour, colours};
use karat_source::language::Language;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, Debug)]
pub(super) struct DetailLevel {
    text: usize,
    limits: Option<ExcerptLimits>,
    pub(super) leaves_out: Option<&'static str>,
}

impl DetailLevel {
    /// From full detail to what a page with very many cases can hold.
    pub(super) const ALL: [Self; 4] = [
        Self { text: 4_000, limits: Some(ExcerptLimits { whole: 300, around: 12 }), leaves_out: None },
        Self { text: 1_000, limits: Some(ExcerptLimits { whole: 0, around: 5 }), leaves_out: Some(FAR_CODE) },
        Self { text: 300, limits: Some(ExcerptLimits { whole: 0, around: 1 }), leaves_out: Some(NEAR_CODE) },
        Self { text: 0, limits: None, leaves_out: Some(ALL_CODE) },
    ];
}

const FAR_CODE: &str =
    "To keep the page small, only the code around goldens and findings is shown, and long texts are cut.";
const NEAR_CODE: &str = "To keep the page small, only the code at goldens and findings is shown, and texts are cut.";
const ALL_CODE: &str =
    "There is so much to show that code and the full texts of findings are left out; `karat explain` has them.";

pub(super) struct Lookup<'a> {
    results: Vec<HashMap<&'a str, &'a CaseResultV1>>,
    tools: Vec<&'a str>,
    cases: HashMap<&'a str, &'a Case>,
    trials: HashMap<(&'a str, &'a str, u32), &'a Trial>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(view: &ReportView<'a>) -> Self {
        let tools = ranked(view.report);
        let by_case = |cases: &'a [CaseResultV1]| cases.iter().map(|case| (case.case.as_str(), case)).collect();
        let sources = view.sources.as_ref();
        let (suite, trials) = sources.map_or((&[][..], &[][..]), |own| (own.suite.cases.as_slice(), own.trials));
        Self {
            results: tools.iter().map(|tool| by_case(&tool.cases)).collect(),
            tools: tools.iter().map(|tool| tool.tool.as_str()).collect(),
            cases: suite.iter().map(|case| (case.id.as_str(), case)).collect(),
            trials: trials.iter().map(|t| ((t.case.as_str(), t.tool.as_str(), t.number), t)).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct CaseData<'a> {
    id: &'a str,
    name: Option<&'a str>,
    about: Option<String>,
    verdict: Verdict,
    fields: &'a BTreeMap<String, String>,
    categories: &'a [String],
    goldens: Vec<GoldenData<'a>>,
    files: Vec<FileData>,
    code: bool,
    tools: Vec<Vec<TrialData<'a>>>,
}

#[derive(Debug, Serialize)]
struct GoldenData<'a> {
    #[serde(flatten)]
    info: &'a IssueInfoV1,
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct TrialData<'a> {
    result: &'a TrialResultV1,
    texts: BTreeMap<&'a str, String>,
}

pub(super) fn case<'a>(view: &'a ReportView<'_>, lookup: &Lookup<'a>, at: usize, level: DetailLevel) -> CaseData<'a> {
    let info: &CaseInfoV1 = &view.report.cases[at];
    let id = info.case.as_str();
    let stated = lookup.cases.get(id).copied();
    let results = lookup.results.iter().map(|of_tool| of_tool.get(id).map_or(&[][..], |result| &result.trials));
    let results: Vec<&'a [TrialResultV1]> = results.collect();
    let mut places = Places::default();
    // A pattern is not a file; the files it matches are shown if a finding lies in them.
    for golden in info.issues.iter().filter(|golden| !golden.file.as_deref().is_some_and(|file| file.contains('*'))) {
        places.add(golden.file.as_deref(), golden.line_start, golden.line_end);
    }
    for finding in results.iter().flat_map(|trials| trials.iter()).flat_map(|trial| &trial.findings) {
        places.add(finding.file.as_deref(), finding.line_start, finding.line_end);
    }
    let files = view.sources.as_ref().zip(level.limits);
    let files = files.map_or_else(Vec::new, |(sources, limits)| places.show(&CaseId::from(id), sources, limits));
    let text_of = |text: Option<&str>, title: &str| {
        let text = text.map(str::trim).filter(|text| !text.is_empty() && *text != title && level.text > 0)?;
        Some(truncate(text, level.text))
    };
    let goldens: HashMap<&str, &Golden> =
        stated.iter().flat_map(|case| &case.goldens).map(|golden| (golden.id.as_str(), golden)).collect();
    let golden = |golden: &'a IssueInfoV1| {
        let stated = goldens.get(golden.id.as_str()).copied();
        let pattern = stated.and_then(|own| own.file.as_ref()).filter(|pattern| pattern.is_glob());
        let fits = |file: &&FileData| {
            pattern.zip(RepoPath::new(&file.path)).is_some_and(|(pattern, path)| pattern.matches(&path))
        };
        GoldenData {
            info: golden,
            text: text_of(stated.and_then(|own| own.description.as_deref()), &golden.title),
            files: pattern.map(|_| files.iter().filter(fits).map(|file| file.path.clone()).collect()),
        }
    };
    let trial = |tool: &str, result: &'a TrialResultV1| {
        let trial = lookup.trials.get(&(id, tool, result.trial));
        let mut texts = BTreeMap::new();
        for (info, finding) in result.findings.iter().zip(trial.map_or(&[][..], |trial| &trial.findings)) {
            let words = finding.message.as_deref().or(finding.title.as_deref());
            if let Some(text) = text_of(words, &info.title).filter(|_| finding.id.as_str() == info.id) {
                texts.insert(info.id.as_str(), text);
            }
        }
        TrialData { result, texts }
    };
    let tools = lookup.tools.iter().zip(results);
    CaseData {
        id,
        name: info.name.as_deref(),
        about: text_of(stated.and_then(|case| case.description.as_deref()), ""),
        verdict: info.verdict,
        fields: &info.fields,
        categories: &info.categories,
        goldens: info.issues.iter().map(golden).collect(),
        code: view.sources.is_some(),
        files,
        tools: tools.map(|(tool, trials)| trials.iter().map(|t| trial(tool, t)).collect()).collect(),
    }
}

fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… [{} characters in all]", &text[..end], text.chars().count()),
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ExcerptLimits {
    /// Files with up to this many lines are shown completely.
    pub(super) whole: u32,
    pub(super) around: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct FileData {
    path: String,
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
