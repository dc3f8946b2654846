//! Fits values of a profile to what people say: matching to labelled pairs, and `sui` to rankings of tools.

use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::judged_pairs::{JudgedPairs, JudgedPairsRequest, group, skipped};
use crate::profile::{ProfileRequest, resolve_for_suite};
use crate::ranking::{LeftOut, Ranked, fit_together, put, read};
use crate::report_source::{ReportLoader, names_run};
use crate::score::{ScoreRequest, score};
use crate::submissions::{open_lines, refuse_repeated_stdin};
use crate::suite::LoadedSuite;
use karat_core::calibrate::matching::{self, Advice, MatchFit, fit, no_scores};
use karat_core::calibrate::sui::{self, SuiFit};
use karat_core::profile::{Method, Profile};
use karat_core::suite::Case;
use karat_core::wording::count;
use karat_format::report::ReportV1;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Fitted rules of matching.
#[expect(missing_docs, reason = "field names say it")]
pub struct MatchCalibration {
    pub fit: MatchFit,
    pub present: Profile,
    pub fitted: Profile,
    pub judges: Vec<String>,
    pub suites: Vec<String>,
    /// Which fitted values a suite overrides.
    pub overrides: Vec<String>,
}

/// Fits the weights and the threshold of matching to the judged pairs of suites. `notes` receives what is skipped.
pub fn calibrate_matching(
    pairs: &[JudgedPairsRequest],
    profile: &ProfileRequest,
    notes: &mut dyn FnMut(&[String]),
) -> Result<MatchCalibration> {
    if pairs.len() > 1 && pairs.iter().any(|own| !own.submissions.is_empty() || !own.judgements.is_empty()) {
        return Err(Failure::usage(
            "--submission and --labels need exactly one suite; several suites use their own calibration sets",
        ));
    }
    let given = pairs.iter().map(JudgedPairs::load).collect::<Result<Vec<_>>>()?;
    let present = one_profile(profile, &given)?;
    let (mut all, mut judges) = (Vec::new(), BTreeSet::new());
    for one in &given {
        let labels = one.labels()?;
        notes(&skipped(&labels));
        let field = one.field.as_deref().unwrap_or("case");
        let suite = &one.loaded.suite;
        // Cases of two suites may share an id without being the same case.
        let by_suite = field == "case" && given.len() > 1;
        let name = |case: &Case| if by_suite { format!("{}/{}", suite.name, case.id) } else { group(field, case) };
        all.extend(matching::pairs(suite, &labels.trials, &present, name));
        judges.extend(labels.judges.iter().map(ToString::to_string));
    }
    let fit = fit(&all, &present).map_err(Failure::bad_input)?;
    if fit.forbidden > 0 {
        let forbidden = count(fit.forbidden, "labelled pair");
        let why = "can never match because of the profile's requirements; they count as non-matches";
        notes(&[format!("{forbidden} {why}")]);
    }
    // Weights that are not shown to be better stay.
    let fitted = if fit.advice() == Advice::Threshold {
        Profile { threshold: fit.threshold_alone.threshold, ..present.clone() }
    } else {
        Profile { weights: fit.weights.clone(), threshold: fit.threshold, ..present.clone() }
    };
    let overrides = given.iter().flat_map(|one| overrides(&one.loaded, &["threshold", "weights"])).collect();
    let suites = given.into_iter().map(|one| one.loaded.suite.name).collect();
    Ok(MatchCalibration { fit, present, fitted, judges: judges.into_iter().collect(), suites, overrides })
}

/// The profile, which must be the same for all suites.
fn one_profile(request: &ProfileRequest, given: &[JudgedPairs]) -> Result<Profile> {
    let mut profiles = Vec::new();
    for one in given {
        let profile = resolve_for_suite(request, Some(&one.loaded))?;
        if profile.method != Method::Score {
            return Err(Failure::usage(no_scores(&profile)));
        }
        profiles.push((profile, &one.loaded.suite.name));
    }
    let Some(((profile, name), others)) = profiles.split_first() else { return Err(Failure::usage("no suite given")) };
    // Verdicts have no part in matching.
    let differs = |other: &Profile| Profile { verdict_from: profile.verdict_from, ..other.clone() } != *profile;
    match others.iter().find(|(other, _)| differs(other)) {
        Some((_, other)) => Err(Failure::usage(format!(
            "the suites {name} and {other} have different profiles; fit each of them separately"
        ))),
        None => Ok(profile.clone()),
    }
}

/// Describes fitted values that the suite overrides: `karat.toml` takes precedence over any profile.
fn overrides(loaded: &LoadedSuite, keys: &[&str]) -> Vec<String> {
    let stated = keys.iter().filter(|key| loaded.config.scoring.overrides.contains_key(**key));
    let note = |key: &&str| {
        format!(
            "the suite's karat.toml sets `{key}`, which overrides the profile; change it there to use the fitted value"
        )
    };
    stated.map(note).collect()
}

/// Reports and a ranking of their tools to fit `sui` to.
pub struct SuiCalibrationRequest {
    /// Reports or runs, or one suite, which is scored first.
    pub of: Vec<String>,
    /// CSV or JSONL; `-` is standard input.
    pub ranking: PathBuf,
    /// How the suite is scored.
    pub score: ScoreRequest,
}

/// Fitted weights of `sui`.
#[expect(missing_docs, reason = "field names say it")]
pub struct SuiCalibration {
    pub fit: SuiFit,
    pub ranked: Ranked,
    pub fitted: Profile,
}

/// Fits the weights of `sui`. `notes` receives what is skipped.
pub fn calibrate_sui(
    request: &SuiCalibrationRequest,
    observer: &mut dyn JudgeObserver,
    notes: &mut dyn FnMut(&[String]),
) -> Result<SuiCalibration> {
    let ScoreRequest { submissions, judgements, .. } = &request.score;
    refuse_repeated_stdin(submissions.files.iter().chain(judgements).chain([&request.ranking]))?;
    let (reports, mut profile) = reports(request, observer, notes)?;
    fit_together(&reports)?;
    let ranked = rank(&request.ranking, &reports, &profile, notes)?;
    let parts: Vec<_> = ranked.tools.iter().map(|(_, parts)| *parts).collect();
    let mean = profile.composites.mean;
    let fit = sui::fit(&parts, &ranked.experts, &profile.sui, mean).map_err(Failure::bad_input)?;
    profile.sui = fit.fitted.clone();
    Ok(SuiCalibration { fit, ranked, fitted: profile })
}

/// The given reports, or one scored now, and their profile.
fn reports(
    request: &SuiCalibrationRequest,
    observer: &mut dyn JudgeObserver,
    notes: &mut dyn FnMut(&[String]),
) -> Result<(Vec<(String, ReportV1)>, Profile)> {
    let ScoreRequest { submissions, profile, store, .. } = &request.score;
    let is_report = |name: &String| Path::new(name).is_file() || names_run(name, store);
    if submissions.files.is_empty() && request.of.iter().any(is_report) {
        let mut loader = ReportLoader { store, observer };
        let named = |name: &String| Ok((name.clone(), loader.report(name)?));
        let reports = request.of.iter().map(named).collect::<Result<Vec<_>>>()?;
        let profile = profile_of(profile, &reports)?;
        return Ok((reports, profile));
    }
    let [suite] = request.of.as_slice() else {
        let message = "only one suite can be scored here; score the others with `karat score -o report.json` first";
        return Err(Failure::usage(message));
    };
    let scored = score(&request.score, observer)?;
    notes(&overrides(&scored.loaded, &["sui"]));
    let profile = resolve_for_suite(profile, Some(&scored.loaded))?;
    Ok((vec![(suite.clone(), scored.scoring.report)], profile))
}

/// The requested profile, else that of the reports.
fn profile_of(request: &ProfileRequest, reports: &[(String, ReportV1)]) -> Result<Profile> {
    let Some((name, report)) = reports.first().filter(|_| request.is_empty()) else {
        return resolve_for_suite(request, None);
    };
    let printed = serde_json::to_value(&report.profile).and_then(serde_json::from_value::<Profile>);
    let profile = printed.map_err(|error| {
        Failure::bad_input(format!("{name}: its profile could not be read: {error}; set one with --profile"))
    })?;
    match profile.faults().as_slice() {
        [] => Ok(profile),
        faults => Err(Failure::bad_input(format!("{name}: invalid profile: {}", faults.join("; ")))),
    }
}

/// Joins the ranking with the tools.
fn rank(
    path: &Path,
    reports: &[(String, ReportV1)],
    profile: &Profile,
    notes: &mut dyn FnMut(&[String]),
) -> Result<Ranked> {
    let mut lines = open_lines(path)?;
    let mut text = String::new();
    let unread = |error| Failure::bad_input(format!("{}: {error}; expected CSV or JSONL in UTF-8", lines.file));
    lines.reader.read_to_string(&mut text).map_err(unread)?;
    let tools: Vec<&str> =
        reports.iter().flat_map(|(_, report)| report.tools.iter().map(|tool| tool.tool.as_str())).collect();
    let rankings = read(&lines.file, &text, &tools)?;
    notes(&rankings.notes);
    let ranked = put(&rankings, reports, profile);
    for LeftOut { tool, why } in &ranked.left_out {
        notes(&[format!("{tool} is skipped: {why}")]);
    }
    Ok(ranked)
}
