//! The data of the case view: goldens, code, and the result of every trial of every tool.

use super::excerpt::{ExcerptLimits, FileData, Places};
use crate::number::ranked;
use crate::report_view::ReportView;
use karat_core::golden::Golden;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Verdict};
use karat_core::trial::Trial;
use karat_format::report::{CaseInfoV1, CaseResultV1, IssueInfoV1, TrialResultV1};
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
    pub(super) const ALL: [Self; 5] = [
        Self { text: 4_000, limits: Some(ExcerptLimits::new(10_000, 12, true)), leaves_out: None },
        Self { text: 4_000, limits: Some(ExcerptLimits::new(300, 12, true)), leaves_out: Some(LONG_FILES) },
        Self { text: 1_000, limits: Some(ExcerptLimits::new(0, 5, false)), leaves_out: Some(FAR_CODE) },
        Self { text: 300, limits: Some(ExcerptLimits::new(0, 1, false)), leaves_out: Some(NEAR_CODE) },
        Self { text: 0, limits: None, leaves_out: Some(ALL_CODE) },
    ];
}

const LONG_FILES: &str =
    "To keep the page small, only the code around changes, goldens and findings is shown of long files.";
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
    /// Whether extras are no false alarms.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    allow_unexpected: bool,
    fields: &'a BTreeMap<String, String>,
    categories: &'a [String],
    goldens: Vec<GoldenData<'a>>,
    files: Vec<FileData>,
    /// Changed files that are not among them.
    more_files: usize,
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
    let shown = view.sources.as_ref().zip(level.limits).map(|(sources, limits)| {
        let change = stated.filter(|case| case.change.is_some()).map(|case| sources.code.changed_files(case));
        places.show(&CaseId::from(id), sources.code, change.as_deref(), limits)
    });
    let (files, more_files) = shown.unwrap_or_default();
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
        // A report with less detail has some of the findings only, in their order.
        let mut findings = trial.map_or(&[][..], |trial| &trial.findings).iter();
        for info in &result.findings {
            let Some(finding) = findings.find(|finding| finding.id.as_str() == info.id) else { break };
            let words = finding.message.as_deref().or(finding.title.as_deref());
            if let Some(text) = text_of(words, &info.title) {
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
        allow_unexpected: info.allow_unexpected,
        fields: &info.fields,
        categories: &info.categories,
        goldens: info.issues.iter().map(golden).collect(),
        code: view.sources.is_some(),
        files,
        more_files,
        tools: tools.map(|(tool, trials)| trials.iter().map(|t| trial(tool, t)).collect()).collect(),
    }
}

fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… [{} characters in all]", &text[..end], text.chars().count()),
    }
}
