//! Reads what is scored: submissions, the output of other programs, and judgements.

use crate::failure::{Failure, Result};
use crate::suggestion;
use crate::suite::LoadedSuite;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::diagnostic::Faults;
use karat_format::document::lines::NOT_LINES;
use karat_format::recorded::{LinePlace, NamedLines, read_judgements, scan_trials};
use karat_import::import_files::{detect_importer, import_files};
use karat_import::placement::{CaseRule, Placement, PlacementResult, case_regex, place};
use karat_import::rule_map::RuleMap;
use karat_import::{IMPORTERS, Importer, importer, input};
use std::collections::HashSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Files with trials to score.
#[derive(Clone, Debug, Default)]
pub struct SubmissionRequest {
    /// Submissions or the output of other programs; `-` is standard input. Default: the suite's own submissions.
    pub files: Vec<PathBuf>,
    /// How findings of other programs are assigned to cases.
    pub placement: PlacementRequest,
}

/// How findings of other programs are assigned to cases.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PlacementRequest {
    /// Name of an importer; default: detected from each file.
    pub format: Option<String>,
    pub case: Option<String>,
    /// Regular expression that finds the case in a path.
    pub case_from: Option<String>,
    pub rule_map: Option<PathBuf>,
    /// Default: 1.
    pub trial_number: Option<u32>,
}

/// Reads all trials of a request, and describes what was skipped. `tool` names the tool of imported files.
pub fn read_submissions(
    request: &SubmissionRequest,
    loaded: &LoadedSuite,
    tool: Option<&str>,
) -> Result<(Vec<Trial>, Vec<String>)> {
    let mut trials = Vec::new();
    let notes = scan_submissions(request, loaded, tool, &mut |trial, _| {
        trials.push(trial);
        Ok(())
    })?;
    if trials.is_empty() {
        return Err(no_trials());
    }
    refuse_duplicates(&trials)?;
    Ok((trials, notes))
}

pub(crate) fn no_trials() -> Failure {
    Failure::bad_input("the submissions contain no trials; a tool that found nothing still needs a line for each case")
}

/// Where the text of a trial can be read again.
pub(crate) enum TrialText<'t> {
    /// A line of a file that is stored as it is read.
    Line { path: &'t Path, offset: u64, text: &'t str },
    /// A line of something that cannot be read twice.
    Stream(&'t str),
    /// A trial made of the output of another program.
    Imported,
}

/// Hands over all trials of a request, one at a time, and describes what was skipped. `tool` names the tool of imported files.
pub(crate) fn scan_submissions(
    request: &SubmissionRequest,
    loaded: &LoadedSuite,
    tool: Option<&str>,
    each: &mut dyn FnMut(Trial, TrialText<'_>) -> Result<()>,
) -> Result<Vec<String>> {
    let mut own = Vec::new();
    // The files among them that are stored as they are read.
    let mut plain: Vec<Option<&Path>> = Vec::new();
    if request.files.is_empty() {
        own = own_submissions(loaded)?;
        if own.is_empty() {
            return Err(Failure::usage("nothing to score; add a submission with --submission FILE"));
        }
    }
    let mut foreign: Vec<(&'static Importer, Vec<PathBuf>)> = Vec::new();
    for path in &request.files {
        match file_importer(path, request.placement.format.as_deref())? {
            None => {
                own.push(open_lines(path)?);
                plain.push(input::is_plain_text(path).then_some(path.as_path()));
            }
            Some(importer) => match foreign.last_mut() {
                Some((last, paths)) if last.name == importer.name => paths.push(path.clone()),
                _ => foreign.push((importer, vec![path.clone()])),
            },
        }
    }
    let mut failed = None;
    let scanned = scan_trials(own, Some(&loaded.suite), &mut |trial, LinePlace { input, offset, text }| {
        let file = plain.get_mut(input);
        if text.contains(char::REPLACEMENT_CHARACTER)
            && let Some(file) = file
        {
            // It may stand for bytes that are no UTF-8, and then offsets are no longer those of the file.
            *file = None;
        }
        let text = match plain.get(input).copied().flatten() {
            Some(path) => TrialText::Line { path, offset, text },
            None => TrialText::Stream(text),
        };
        if failed.is_none() {
            failed = each(trial, text).err();
        }
    });
    scanned.map_err(with_formats)?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    let mut notes = Vec::new();
    for (importer, paths) in foreign {
        let placed = import_findings(importer, &paths, &request.placement, Some(loaded), tool)?;
        notes.extend(describe_unplaced(&placed)?);
        notes.extend(placed.notes);
        placed.trials.into_iter().try_for_each(|trial| each(trial, TrialText::Imported))?;
    }
    Ok(notes)
}

/// Says what a submission can be, where a file is none.
fn with_formats(mut faults: Faults) -> Failure {
    for fault in faults.0.iter_mut().filter(|fault| fault.code == NOT_LINES && fault.help.is_none()) {
        let formats: Vec<&str> = IMPORTERS.iter().map(|importer| importer.name).collect();
        fault.help = Some(format!(
            "a submission is JSONL with one trial on each line, or SARIF; with --from FORMAT, the output of another \
             program: {}",
            formats.join(", ")
        ));
    }
    faults.into()
}

pub(crate) fn refuse_duplicates<'t>(trials: impl IntoIterator<Item = &'t Trial>) -> Result<()> {
    let mut seen = HashSet::new();
    match trials.into_iter().find(|trial| !seen.insert((&trial.case, &trial.tool, trial.number))) {
        None => Ok(()),
        Some(twice) => Err(appears_twice(twice)),
    }
}

pub(crate) fn appears_twice(trial: &Trial) -> Failure {
    Failure::bad_input(format!(
        "trial {} of {} on {} appears twice; set different tool names with --tool, or trial numbers with --trial-number",
        trial.number, trial.tool, trial.case
    ))
}

/// The importer of a file: of the named format, or of what its content shows; `None` where it is a submission.
pub fn file_importer(path: &Path, format: Option<&str>) -> Result<Option<&'static Importer>> {
    match format {
        Some(name) => Ok(Some(find_importer(name)?)),
        None => Ok(detect_importer(path)?),
    }
}

/// Finds an importer by name; the error lists all names.
pub fn find_importer(name: &str) -> Result<&'static Importer> {
    importer(name).ok_or_else(|| {
        let names: Vec<&str> = IMPORTERS.iter().map(|importer| importer.name).collect();
        let hint = suggestion(name, names.iter().copied(), ".");
        Failure::usage(format!("unknown format `{name}`{hint} Available: {}", names.join(", ")))
    })
}

/// Reads files of another program, with categories from the rule map if there is one, and assigns their findings to cases.
pub fn import_findings(
    importer: &Importer,
    paths: &[PathBuf],
    request: &PlacementRequest,
    loaded: Option<&LoadedSuite>,
    tool: Option<&str>,
) -> Result<PlacementResult> {
    let rules = request.rule_map.as_deref().map(RuleMap::read).transpose()?;
    let imported = import_files(importer, paths, rules.as_ref(), &|path| loaded?.source_anywhere(path))?;
    let case_rule = match (&request.case, &request.case_from) {
        (Some(case), _) => CaseRule::One(CaseId::new(case)),
        (None, Some(pattern)) => CaseRule::FromPath(case_regex(pattern).map_err(Failure::usage)?),
        (None, None) => CaseRule::ByPrefix,
    };
    let (suite, tool) = (loaded.map(|loaded| &loaded.suite), tool.map(ToolName::new));
    let placement = Placement { suite, case_rule, tool, trial: request.trial_number.unwrap_or(1) };
    Ok(place(imported, &placement, &|case, path| loaded.is_some_and(|loaded| loaded.has_file(case, path)))?)
}

/// Describes findings without a case. It is an error if no finding has one.
pub fn describe_unplaced(placed: &PlacementResult) -> Result<Option<String>> {
    let lost: usize = placed.unplaced.values().sum();
    if lost == 0 {
        return Ok(None);
    }
    let names: Vec<String> = placed.unplaced.iter().take(8).map(|(path, n)| format!("{path} ({n})")).collect();
    let more = placed.unplaced.len().saturating_sub(8);
    let more = if more > 0 { format!(" and {}", count(more, "more file")) } else { String::new() };
    let text = format!("{} without a case: {}{more}", count(lost, "finding"), names.join(", "));
    if placed.trials.iter().all(|trial| trial.findings.is_empty()) {
        return Err(Failure::bad_input(format!("{text}; assign them with --case ID or --case-from REGEX")));
    }
    Ok(Some(text))
}

pub(crate) fn open_submissions<'a>(paths: &'a [PathBuf], loaded: &'a LoadedSuite) -> Result<Vec<NamedLines<'a>>> {
    if paths.is_empty() { own_submissions(loaded) } else { paths.iter().map(|path| open_lines(path)).collect() }
}

fn own_submissions(loaded: &LoadedSuite) -> Result<Vec<NamedLines<'_>>> {
    let mut files = Vec::new();
    for path in loaded.own_submissions().map_err(|error| Failure::bad_input(error.to_string()))? {
        let file = loaded.files.display(&path);
        let reader = loaded.files.open(&path).map_err(|error| Failure::io(&file, error))?;
        files.extend(reader.map(|reader| NamedLines { file, reader }));
    }
    Ok(files)
}

/// Opens a file of lines; `-` is standard input.
pub fn open_lines(path: &Path) -> Result<NamedLines<'_>> {
    let file = input::display_path(path);
    Ok(NamedLines { file, reader: Box::new(BufReader::with_capacity(1 << 16, input::open(path)?.reader)) })
}

pub(crate) fn read_judgement_files(files: &[PathBuf], suite: &Suite) -> Result<Vec<Judgement>> {
    let inputs = files.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(read_judgements(inputs, Some(suite))?)
}

/// Refuses standard input where several files would be read from it.
pub fn refuse_repeated_stdin<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    if paths.into_iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read only once: use `-` for one file"));
    }
    Ok(())
}
