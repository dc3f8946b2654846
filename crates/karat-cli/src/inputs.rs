//! Resolves arguments to suites, profiles, trials and judgements.

use crate::args::{IntervalArgs, PlaceArgs, RuleArgs, TrialArgs};
use crate::exit::Failure;
use crate::terminal::{note, notes};
use karat::plausibility;
use karat::profile::request::resolve_for_suite;
use karat::suite::{LoadedSuite, load};
use karat_core::clusters::ClusterBy;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::profile::Profile;
use karat_core::scorecard::{Intervals, Proportions};
use karat_core::stats::bootstrap::{BootstrapKind as Resampling, RESAMPLES};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::assessment::{self, AssessmentReportV1};
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::recorded::{NamedLines, read_judgements, read_trials};
use karat_format::report::{ReportV1, SCHEMA};
use karat_format::shipped_suites::locate;
use karat_import::import_files::{FileKind, detect_kind, import_files};
use karat_import::placement::{CaseRule, Placement, PlacementResult, place};
use karat_import::rule_map::RuleMap;
use karat_import::{IMPORTERS, ImportedData, Importer, importer, input};
use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Loads a suite by folder or by name.
pub(crate) fn suite(place: &str) -> Result<LoadedSuite, Failure> {
    Ok(load(locate(place))?)
}

/// The requested profile or the suite's, then the suite's changes, then those of flags.
pub(crate) fn profile(rules: &RuleArgs, suite: Option<&LoadedSuite>) -> Result<Profile, Failure> {
    resolve_for_suite(&rules.into(), suite)
}

/// Interval options, with `--cluster` checked against the suite.
pub(crate) fn intervals(args: &IntervalArgs, suite: &Suite) -> Result<Intervals, Failure> {
    if let Some(field) = ClusterBy::parse(args.cluster.as_deref()).named() {
        let there: BTreeSet<String> = suite.cases.iter().flat_map(|case| case.fields().map(|(name, _)| name)).collect();
        if !there.contains(field) {
            let there: Vec<String> = there.into_iter().collect();
            let known = if there.is_empty() { "the cases have no fields".to_owned() } else { there.join(", ") };
            return Err(Failure::usage(format!("--cluster {field}: no case has this field; available: {known}")));
        }
    }
    Ok(interval_options(args))
}

/// Interval options, with `--cluster` unchecked.
pub(crate) fn interval_options(args: &IntervalArgs) -> Intervals {
    Intervals {
        kind: if args.bootstrap.as_deref() == Some("percentile") { Resampling::Percentile } else { Resampling::Bca },
        proportions: match args.proportions.as_deref() {
            Some("clopper-pearson") => Proportions::ClopperPearson,
            _ => Proportions::Wilson,
        },
        cluster: ClusterBy::parse(args.cluster.as_deref()),
        resamples: args.resamples.map_or(RESAMPLES, |n| n as usize),
        ..Intervals::default()
    }
}

/// All trials to score; without files, those in the suite.
pub(crate) fn trials(
    args: &TrialArgs,
    loaded: &LoadedSuite,
    tool: Option<&str>,
) -> Result<(Vec<Trial>, Vec<String>), Failure> {
    let from_stdin = args.submissions.iter().chain(&args.judgements).filter(|path| path.as_os_str() == "-").count();
    if from_stdin > 1 {
        return Err(Failure::usage("standard input can be read only once: use `-` for one file"));
    }
    let mut own = Vec::new();
    if args.submissions.is_empty() {
        own = own_submission_lines(loaded)?;
        if own.is_empty() {
            return Err(Failure::usage("nothing to score; add a submission with --submission FILE"));
        }
    }
    let mut foreign: Vec<(&'static Importer, Vec<PathBuf>)> = Vec::new();
    for path in &args.submissions {
        match format_of(path, args.place.from.as_deref())? {
            FileKind::Submission => own.push(lines(path)?),
            FileKind::Foreign(importer) => match foreign.last_mut() {
                Some((last, paths)) if last.name == importer.name => paths.push(path.clone()),
                _ => foreign.push((importer, vec![path.clone()])),
            },
        }
    }
    let mut trials = read_trials(own, Some(&loaded.suite))?;
    let mut said = Vec::new();
    for (importer, paths) in foreign {
        let harvest = harvest(importer, &paths, &args.place, Some(loaded))?;
        let placed = placed(harvest, &args.place, Some(loaded), tool)?;
        said.extend(unplaced(&placed)?);
        said.extend(placed.notes);
        trials.extend(placed.trials);
    }
    if trials.is_empty() {
        return Err(Failure::bad_input(
            "the submissions contain no trials; a tool that found nothing still needs a line for each case",
        ));
    }
    refuse_twice(trials.iter())?;
    Ok((trials, said))
}

/// Refuses duplicate trials.
pub(crate) fn refuse_twice<'t>(mut trials: impl Iterator<Item = &'t Trial>) -> Result<(), Failure> {
    let mut seen = std::collections::HashSet::new();
    match trials.find(|t| !seen.insert((&t.case, &t.tool, t.number))) {
        None => Ok(()),
        Some(twice) => Err(Failure::bad_input(format!(
            "trial {} of {} on {} appears twice; set different tool names with --tool, or trial numbers with --trial-number",
            twice.number, twice.tool, twice.case
        ))),
    }
}

fn format_of(path: &Path, stated: Option<&str>) -> Result<FileKind, Failure> {
    match stated {
        Some(name) => Ok(FileKind::Foreign(find_importer(name)?)),
        None => Ok(detect_kind(path)?),
    }
}

/// Finds an importer by name; the error lists all names.
pub(crate) fn find_importer(name: &str) -> Result<&'static Importer, Failure> {
    importer(name).ok_or_else(|| {
        let names: Vec<&str> = IMPORTERS.iter().map(|i| i.name).collect();
        let near = karat_format::document::suggest::nearest(name, names.iter().copied());
        let hint = near.map_or_else(|| ".".to_owned(), |near| format!(", did you mean `{near}`?"));
        Failure::usage(format!("unknown format `{name}`{hint} Available: {}", names.join(", ")))
    })
}

/// Reads foreign files, with categories from the rule map if there is one.
pub(crate) fn harvest(
    importer: &Importer,
    paths: &[PathBuf],
    args: &PlaceArgs,
    loaded: Option<&LoadedSuite>,
) -> Result<ImportedData, Failure> {
    let rules = args.rule_map.as_deref().map(RuleMap::read).transpose()?;
    Ok(import_files(importer, paths, rules.as_ref(), &|path| loaded?.source_anywhere(path))?)
}

/// Assigns imported findings to cases.
pub(crate) fn placed(
    harvest: ImportedData,
    args: &PlaceArgs,
    loaded: Option<&LoadedSuite>,
    tool: Option<&str>,
) -> Result<PlacementResult, Failure> {
    let how = match (&args.case, &args.case_from) {
        (Some(case), _) => CaseRule::One(CaseId::new(case)),
        (None, Some(pattern)) => {
            let regex = karat_import::placement::case_regex(pattern).map_err(Failure::usage)?;
            CaseRule::FromPath(regex)
        }
        (None, None) => CaseRule::ByPrefix,
    };
    let placement = Placement {
        suite: loaded.map(|l| &l.suite),
        case_rule: how,
        tool: tool.map(ToolName::new),
        trial: args.trial_number,
    };
    Ok(place(harvest, &placement, &|case, path| loaded.is_some_and(|l| l.has_file(case, path)))?)
}

/// Describes findings without a case. It is an error if no finding has one.
pub(crate) fn unplaced(placed: &PlacementResult) -> Result<Vec<String>, Failure> {
    let lost: usize = placed.unplaced.values().sum();
    if lost == 0 {
        return Ok(Vec::new());
    }
    let names: Vec<String> = placed.unplaced.iter().take(8).map(|(path, n)| format!("{path} ({n})")).collect();
    let more = placed.unplaced.len().saturating_sub(8);
    let more = if more > 0 { format!(" and {}", count(more, "more file")) } else { String::new() };
    let text = format!("{} without a case: {}{more}", count(lost, "finding"), names.join(", "));
    if placed.trials.iter().all(|t| t.findings.is_empty()) {
        let help = "assign them with --case ID or --case-from REGEX";
        return Err(Failure::bad_input(format!("{text}; {help}")));
    }
    Ok(vec![text])
}

/// Opens the submissions that were named, or the suite's own if none was.
pub(crate) fn submission_lines<'a>(
    paths: &'a [PathBuf],
    loaded: &'a LoadedSuite,
) -> Result<Vec<NamedLines<'a>>, Failure> {
    match paths {
        [] => own_submission_lines(loaded),
        paths => paths.iter().map(|path| lines(path)).collect(),
    }
}

fn own_submission_lines(loaded: &LoadedSuite) -> Result<Vec<NamedLines<'_>>, Failure> {
    let mut files = Vec::new();
    for path in loaded.own_submissions().map_err(|error| Failure::bad_input(error.to_string()))? {
        let file = loaded.files.display(&path);
        let reader = loaded.files.open(&path).map_err(|error| Failure::io(&file, error))?;
        files.extend(reader.map(|reader| NamedLines { file, reader }));
    }
    Ok(files)
}

/// Opens a file of lines; `-` is standard input.
pub(crate) fn lines(path: &Path) -> Result<NamedLines<'_>, Failure> {
    let file = input::display_path(path);
    let opened = input::open(path)?;
    Ok(NamedLines { file, reader: Box::new(BufReader::with_capacity(1 << 16, opened.reader)) })
}

/// The judgements of the given files.
pub(crate) fn judgements(files: &[PathBuf], suite: &Suite) -> Result<Vec<Judgement>, Failure> {
    let inputs = files.iter().map(|path| lines(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(read_judgements(inputs, Some(suite))?)
}

/// Reads a complete report of this version from a file.
pub(crate) fn report(path: &Path) -> Result<ReportV1, Failure> {
    Ok(report_and_bytes(path)?.0)
}

/// Reads a report, and returns the bytes of the file too.
pub(crate) fn report_and_bytes(path: &Path) -> Result<(ReportV1, Vec<u8>), Failure> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::io(&shown, error))?;
    // Fast path first: only a broken report needs the decoder that lists all faults.
    let report: ReportV1 = match serde_json::from_slice(&bytes) {
        Ok(report) => report,
        Err(_) => {
            let decoded = decode_bytes::<ReportV1>(&shown, &bytes, Syntax::Json, &schema_of::<ReportV1>());
            decoded.into_result().map_err(|faults| Failure::Faults(faults.into()))?.0
        }
    };
    if report.schema != SCHEMA {
        let message = format!("{shown}: unsupported schema {:?}; this version reads {SCHEMA:?}", report.schema);
        return Err(Failure::bad_input(message));
    }
    plausibility::require(&shown, &plausibility::check_report(&report))?;
    Ok((report, bytes))
}

/// Reads an assessment report; `None` if the file is something else or missing.
pub(crate) fn assessment(path: &Path) -> Result<Option<AssessmentReportV1>, Failure> {
    let shown = path.display().to_string();
    let Ok(bytes) = std::fs::read(path) else { return Ok(None) };
    #[derive(serde::Deserialize)]
    struct Named {
        schema: String,
    }
    let named: Option<Named> = serde_json::from_slice(&bytes).ok();
    let Some(Named { schema }) = named.filter(|named| named.schema.starts_with("karat.assessment/")) else {
        return Ok(None);
    };
    if schema != assessment::SCHEMA {
        let known = assessment::SCHEMA;
        return Err(Failure::bad_input(format!(
            "{shown}: unsupported schema {schema:?}; this version reads {known:?}"
        )));
    }
    // Fast path first, as for other reports.
    let report: AssessmentReportV1 = match serde_json::from_slice(&bytes) {
        Ok(report) => report,
        Err(_) => {
            let schema = schema_of::<AssessmentReportV1>();
            let decoded = decode_bytes::<AssessmentReportV1>(&shown, &bytes, Syntax::Json, &schema);
            decoded.into_result().map_err(|faults| Failure::Faults(faults.into()))?.0
        }
    };
    plausibility::require(&shown, &plausibility::check_assessment(&report))?;
    Ok(Some(report))
}

/// Prints notes.
pub(crate) fn tell_all(said: &[String]) {
    notes(said);
}

/// Prints the notes of the suite's loader.
pub(crate) fn tell_suite(loaded: &LoadedSuite) {
    for text in &loaded.notes {
        note(text);
    }
}
