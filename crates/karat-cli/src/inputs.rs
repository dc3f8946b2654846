//! From what was typed to suites, rules, trials and judgements.

use crate::args::{IntervalArgs, PlaceArgs, RuleArgs, TrialArgs};
use crate::exit::Failure;
use crate::terminal::{note, notes};
use karat::document::{Segment, Syntax, decode_bytes, schema_of};
use karat::format::assessment::{self, AssessmentReportV1};
use karat::format::report::{ReportV1, SCHEMA};
use karat::import::drive::{Kind, kind_of, read_all};
use karat::import::placement::{How, Placed, Placement, place};
use karat::import::rule_map::RuleMap;
use karat::import::{Harvest, IMPORTERS, Importer, importer, input};
use karat::plausibility::{self, Violation};
use karat::profile::{Override, ProfileError, parse_set, resolve};
use karat::recorded::{NamedLines, read_judgements, read_trials};
use karat::report::number::count;
use karat::suite::{LoadedSuite, load, locate};
use karat_core::clusters::ClusterBy;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::profile::Profile;
use karat_core::scorecard::{Intervals, Proportions};
use karat_core::stats::bootstrap::{Kind as Resampling, RESAMPLES};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Loads a suite by folder or by name.
pub(crate) fn suite(place: &str) -> Result<LoadedSuite, Failure> {
    Ok(load(locate(place))?)
}

/// The profile: the suite's or the one asked for, then the suite's changes, then those of flags.
pub(crate) fn profile(rules: &RuleArgs, suite: Option<&LoadedSuite>) -> Result<Profile, Failure> {
    let scoring = suite.map(|s| &s.config.scoring);
    let stated = scoring.and_then(|s| s.profile.as_deref());
    let name = rules.profile.as_deref().or(stated).unwrap_or("karat");
    let mut overrides = Vec::new();
    if let Some(scoring) = scoring.filter(|s| !s.overrides.is_empty()) {
        let values = karat::profile::from_json(&scoring.overrides)?;
        overrides.push(Override { place: OVERRIDE.to_owned(), values });
    }
    for set in &rules.sets {
        overrides.push(Override {
            place: format!("--set {set}"),
            values: parse_set(set).map_err(|error| Failure::usage(error.to_string()))?,
        });
    }
    // A profile named by the suite lies in the suite, and nowhere else; one named by a flag lies where the user is.
    let read = |path: &str| match suite.filter(|_| rules.profile.is_none()) {
        Some(suite) => String::from_utf8(suite.files.read(path).ok()??).ok(),
        None => std::fs::read_to_string(path).ok(),
    };
    resolve(name, &read, &overrides).map_err(|error| match (suite, &error) {
        (Some(suite), ProfileError::Unknown { .. }) if rules.profile.is_none() => {
            in_config(suite, &["scoring", "profile"], &error)
        }
        (Some(suite), ProfileError::Invalid { place, key, .. }) if place == OVERRIDE => {
            let path: Vec<&str> = ["scoring", "override"].into_iter().chain(key.split('.')).collect();
            in_config(suite, &path, &error)
        }
        // What was typed wrongly is a fault of use; what stands in a file is bad input.
        (_, ProfileError::Invalid { place, .. }) if place.starts_with("--set") => Failure::usage(error.to_string()),
        _ => error.into(),
    })
}

/// Where a suite changes single values of its profile.
const OVERRIDE: &str = "[scoring.override] of karat.toml";

/// A fault of the profile at its place in the suite's `karat.toml`.
fn in_config(suite: &LoadedSuite, path: &[&str], error: &ProfileError) -> Failure {
    let steps: Vec<Segment<'_>> = path.iter().map(|key| Segment::Key(key)).collect();
    let diagnostic = suite.in_config(&steps, "bad-profile", error.to_string());
    Failure::Faults(vec![diagnostic].into())
}

/// How intervals are made.
pub(crate) fn intervals(args: &IntervalArgs, suite: &Suite) -> Result<Intervals, Failure> {
    if let Some(field) = ClusterBy::typed(args.cluster.as_deref()).named() {
        let there: BTreeSet<String> = suite.cases.iter().flat_map(|case| case.fields().map(|(name, _)| name)).collect();
        if !there.contains(field) {
            let there: Vec<String> = there.into_iter().collect();
            let known = if there.is_empty() { "cases state no field".to_owned() } else { there.join(", ") };
            return Err(Failure::usage(format!("--cluster {field}: no case has that field; there is: {known}")));
        }
    }
    Ok(interval_options(args))
}

/// How intervals are made, whatever they are of.
pub(crate) fn interval_options(args: &IntervalArgs) -> Intervals {
    Intervals {
        kind: if args.bootstrap.as_deref() == Some("percentile") { Resampling::Percentile } else { Resampling::Bca },
        proportions: match args.proportions.as_deref() {
            Some("clopper-pearson") => Proportions::ClopperPearson,
            _ => Proportions::Wilson,
        },
        cluster: ClusterBy::typed(args.cluster.as_deref()),
        resamples: args.resamples.map_or(RESAMPLES, |n| n as usize),
        ..Intervals::default()
    }
}

/// All trials that are to be scored; without files, those in the suite itself.
pub(crate) fn trials(
    args: &TrialArgs,
    loaded: &LoadedSuite,
    tool: Option<&str>,
) -> Result<(Vec<Trial>, Vec<String>), Failure> {
    let from_stdin = args.submissions.iter().chain(&args.judgements).filter(|path| path.as_os_str() == "-").count();
    if from_stdin > 1 {
        return Err(Failure::usage("standard input can be read once only, so `-` can stand for one file only"));
    }
    let mut own = Vec::new();
    if args.submissions.is_empty() {
        let found = loaded.own_submissions().map_err(|error| Failure::bad_input(error.to_string()))?;
        for path in found {
            let shown = loaded.files.display(&path);
            let reader = loaded.files.open(&path).map_err(|error| Failure::io(&shown, error))?;
            own.extend(reader.map(|reader| NamedLines { file: shown, reader }));
        }
        if own.is_empty() {
            return Err(Failure::usage("nothing to score: give a submission with --submission FILE"));
        }
    }
    let mut foreign: Vec<(&'static Importer, Vec<PathBuf>)> = Vec::new();
    for path in &args.submissions {
        match format_of(path, args.place.from.as_deref())? {
            Kind::Submission => own.push(lines(path)?),
            Kind::Foreign(importer) => match foreign.last_mut() {
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
            "the submissions hold no trial; a tool that found nothing still has a line for each case",
        ));
    }
    refuse_twice(trials.iter())?;
    Ok((trials, said))
}

/// No trial stands twice.
pub(crate) fn refuse_twice<'t>(mut trials: impl Iterator<Item = &'t Trial>) -> Result<(), Failure> {
    let mut seen = std::collections::HashSet::new();
    match trials.find(|t| !seen.insert((&t.case, &t.tool, t.number))) {
        None => Ok(()),
        Some(twice) => Err(Failure::bad_input(format!(
            "trial {} of {} on {} is stated twice; name tools apart with --tool, or trials with --trial-number",
            twice.number, twice.tool, twice.case
        ))),
    }
}

fn format_of(path: &Path, stated: Option<&str>) -> Result<Kind, Failure> {
    match stated {
        Some(name) => Ok(Kind::Foreign(find_importer(name)?)),
        None => Ok(kind_of(path)?),
    }
}

/// The importer of that name, or the names there are.
pub(crate) fn find_importer(name: &str) -> Result<&'static Importer, Failure> {
    importer(name).ok_or_else(|| {
        let names: Vec<&str> = IMPORTERS.iter().map(|i| i.name).collect();
        let near = karat::document::suggest::nearest(name, names.iter().copied());
        let hint = near.map_or_else(|| ".".to_owned(), |near| format!(", did you mean `{near}`?"));
        Failure::usage(format!("there is no format `{name}`{hint} There are: {}", names.join(", ")))
    })
}

/// Reads foreign files, with categories from the rule map where one is given.
pub(crate) fn harvest(
    importer: &Importer,
    paths: &[PathBuf],
    args: &PlaceArgs,
    loaded: Option<&LoadedSuite>,
) -> Result<Harvest, Failure> {
    let rules = args.rule_map.as_deref().map(RuleMap::read).transpose()?;
    Ok(read_all(importer, paths, rules.as_ref(), &|path| loaded?.source_anywhere(path))?)
}

/// Puts what was imported to cases.
pub(crate) fn placed(
    harvest: Harvest,
    args: &PlaceArgs,
    loaded: Option<&LoadedSuite>,
    tool: Option<&str>,
) -> Result<Placed, Failure> {
    let how = match (&args.case, &args.case_from) {
        (Some(case), _) => How::One(CaseId::new(case)),
        (None, Some(pattern)) => {
            let regex = karat::import::placement::case_regex(pattern).map_err(Failure::usage)?;
            How::FromPath(regex)
        }
        (None, None) => How::ByPrefix,
    };
    let placement =
        Placement { suite: loaded.map(|l| &l.suite), how, tool: tool.map(ToolName::new), trial: args.trial_number };
    Ok(place(harvest, &placement, &|case, path| loaded.is_some_and(|l| l.has_file(case, path)))?)
}

/// What fits no case, counted and named. It is an error when nothing fits any.
pub(crate) fn unplaced(placed: &Placed) -> Result<Vec<String>, Failure> {
    let lost: usize = placed.unplaced.values().sum();
    if lost == 0 {
        return Ok(Vec::new());
    }
    let names: Vec<String> = placed.unplaced.iter().take(8).map(|(path, n)| format!("{path} ({n})")).collect();
    let more = placed.unplaced.len().saturating_sub(8);
    let more = if more > 0 { format!(" and {}", count(more, "more file")) } else { String::new() };
    let text = format!("{} without a case: {}{more}", count(lost, "finding"), names.join(", "));
    if placed.trials.iter().all(|t| t.findings.is_empty()) {
        let help = "say where they belong with --case ID or --case-from REGEX";
        return Err(Failure::bad_input(format!("{text}; {help}")));
    }
    Ok(vec![text])
}

/// Opens a file of lines; `-` is standard input.
pub(crate) fn lines(path: &Path) -> Result<NamedLines<'_>, Failure> {
    let file = input::shown(path);
    let opened = input::open(path)?;
    Ok(NamedLines { file, reader: Box::new(BufReader::with_capacity(1 << 16, opened.reader)) })
}

/// The judgements that are to be heard.
pub(crate) fn judgements(files: &[PathBuf], suite: &Suite) -> Result<Vec<Judgement>, Failure> {
    let inputs = files.iter().map(|path| lines(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(read_judgements(inputs, Some(suite))?)
}

/// A report that was written to a file, whole and of this version.
pub(crate) fn report(path: &Path) -> Result<ReportV1, Failure> {
    Ok(report_and_bytes(path)?.0)
}

/// A report, and the bytes it was read from.
pub(crate) fn report_and_bytes(path: &Path) -> Result<(ReportV1, Vec<u8>), Failure> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::io(&shown, error))?;
    // Reading it the quick way first: only a broken report needs its faults named one by one.
    let report: ReportV1 = match serde_json::from_slice(&bytes) {
        Ok(report) => report,
        Err(_) => {
            let decoded = decode_bytes::<ReportV1>(&shown, &bytes, Syntax::Json, &schema_of::<ReportV1>());
            decoded.whole().map_err(|faults| Failure::Faults(faults.into()))?.0
        }
    };
    if report.schema != SCHEMA {
        let message = format!("{shown}: the schema is {:?}, and this version reads {SCHEMA:?}", report.schema);
        return Err(Failure::bad_input(message));
    }
    plausible(&shown, &plausibility::check_report(&report))?;
    Ok((report, bytes))
}

/// Refuses a file with values that no scoring gives.
pub(crate) fn plausible(file: &str, violations: &[Violation]) -> Result<(), Failure> {
    if violations.is_empty() {
        return Ok(());
    }
    let told = plausibility::refusal(file, violations);
    Err(Failure::bad_input(told.lines().map(karat::diagnostic::harmless).collect::<Vec<_>>().join("\n")))
}

/// The report of an assessment; none where the file is something else, or not there.
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
        return Err(Failure::bad_input(format!("{shown}: the schema is {schema:?}, and this version reads {known:?}")));
    }
    // Reading it the quick way first, as other reports.
    let report: AssessmentReportV1 = match serde_json::from_slice(&bytes) {
        Ok(report) => report,
        Err(_) => {
            let schema = schema_of::<AssessmentReportV1>();
            let decoded = decode_bytes::<AssessmentReportV1>(&shown, &bytes, Syntax::Json, &schema);
            decoded.whole().map_err(|faults| Failure::Faults(faults.into()))?.0
        }
    };
    plausible(&shown, &plausibility::check_assessment(&report))?;
    Ok(Some(report))
}

/// Tells what was noticed on the way.
pub(crate) fn tell_all(said: &[String]) {
    notes(said);
}

/// Tells what the suite's loader noticed.
pub(crate) fn tell_suite(loaded: &LoadedSuite) {
    for text in &loaded.notes {
        note(text);
    }
}
