//! Checks results against demands, for CI: each holds, fails, or is inconclusive.

mod bound;
mod check;

use crate::did_you_mean;
use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::report_source::{ReportLoader, find_metric, names_run, select_tools, tool_names};
use check::NoWorse;
use karat_core::comparison::{MARGIN, Rules};
use karat_core::metric::table::{METRICS, find};
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::document::{Document, Segment, Syntax, decode, schema_of};
use karat_format::gate::{DemandsV1, GateV1};
use karat_format::report::ReportV1;
use std::path::{Path, PathBuf};

/// A result and the demands on it.
#[derive(Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GateRequest {
    /// A run, or a report file.
    pub report: String,
    /// Default: all.
    pub tools: Vec<String>,
    /// Take precedence over those of the rules file.
    pub demands: DemandsV1,
    /// Whether another version of the suite is compared on the cases with the same goldens.
    pub intersection: bool,
    /// The expected digest of the report, `blake3:HEX`.
    pub digest: Option<String>,
    pub rules: Option<PathBuf>,
    pub seed: Option<u64>,
    pub store_folder: PathBuf,
}

/// Checks a report against all demands.
pub fn gate(request: &GateRequest, observer: &mut dyn JudgeObserver) -> Result<GateV1> {
    for id in request.demands.rules.iter().map(|bound| &bound.metric).chain(&request.demands.metrics) {
        find_metric(id)?;
    }
    let stated = match &request.rules {
        None => DemandsV1::default(),
        Some(path) => {
            let shown = path.display().to_string();
            read(&std::fs::read_to_string(path).map_err(|error| Failure::io(&shown, error))?, &shown)?
        }
    };
    let mut reports = ReportLoader { store_folder: &request.store_folder, observer };
    let (report, digest) = reports.report_and_digest(&request.report)?;
    if let Some(expected) = request.digest.as_ref().filter(|expected| **expected != digest) {
        return Err(Failure::bad_input(format!(
            "{} has the digest {digest}, but --digest is {expected}: it is not the pinned file; find out who \
             changed it, or pin the new one",
            request.report
        )));
    }
    let tools = select_tools(&report, &request.tools, &request.report)?;
    let demands = join_demands(request, stated, &report)?;
    let no_worse = match &demands.no_worse_than {
        None => None,
        Some(name) => Some(load_earlier(name, &demands, request, &mut reports)?),
    };
    Ok(GateV1 { digest: Some(digest), ..check::check(&report, &tools, &demands, no_worse.as_ref())? })
}

/// Joins the demands of the request and of the rules file; the request takes precedence.
fn join_demands(request: &GateRequest, stated: DemandsV1, report: &ReportV1) -> Result<DemandsV1> {
    let there = tool_names(report);
    let unknown =
        stated.rules.iter().filter_map(|rule| rule.tool.as_ref()).find(|tool| !there.contains(&tool.as_str()));
    if let (Some(tool), Some(file)) = (unknown, &request.rules) {
        let message =
            format!("{}: {} has no tool `{tool}`; available: {}", file.display(), request.report, there.join(", "));
        return Err(Failure::bad_input(message));
    }
    let beside = |name: String| match request.rules.as_deref().and_then(Path::parent) {
        // A run's name does not depend on the location of the rules file.
        Some(folder) if folder.join(&name).is_file() => folder.join(name).display().to_string(),
        _ => name,
    };
    let mut joined = request.demands.clone();
    joined.rules.extend(stated.rules);
    joined.no_worse_than = joined.no_worse_than.or_else(|| stated.no_worse_than.map(beside));
    if joined.metrics.is_empty() {
        joined.metrics = stated.metrics;
    }
    joined.margin = joined.margin.or(stated.margin);
    joined.max_cost = joined.max_cost.or(stated.max_cost);
    joined.judge_licence = joined.judge_licence.or(stated.judge_licence);
    joined.allow_small_n |= stated.allow_small_n;
    let nothing = joined.rules.is_empty() && joined.no_worse_than.is_none();
    if nothing && joined.max_cost.is_none() && joined.judge_licence.is_none() {
        return Err(Failure::usage("no demands; use --min f1=0.6, --no-worse-than BASELINE or --rules FILE"));
    }
    Ok(joined)
}

fn load_earlier(
    name: &str,
    demands: &DemandsV1,
    request: &GateRequest,
    reports: &mut ReportLoader<'_>,
) -> Result<NoWorse> {
    if !names_run(name, reports.store_folder) && !Path::new(name).exists() {
        let message = format!("{name} is missing; write it with: karat baseline write RUN -o {name}");
        return Err(Failure::bad_input(message));
    }
    let source = reports.source(name)?;
    let side = |tool: &str| source.side(tool, format!("{tool} ({name})"));
    let margin = demands.margin.unwrap_or(MARGIN);
    Ok(NoWorse {
        label: name.to_owned(),
        sides: source.tools().into_iter().filter_map(side).collect(),
        rules: Rules { margin, seed: request.seed, ..Rules::default() },
        intersection: request.intersection,
    })
}

/// Reads a file with demands. All its faults are reported at once.
pub fn read(text: &str, file: &str) -> Result<DemandsV1, Faults> {
    let (stated, document) = decode::<DemandsV1>(file, text, Syntax::Toml, &schema_of::<DemandsV1>()).into_result()?;
    let mut faults = Vec::new();
    for (at, id) in stated.metrics.iter().enumerate() {
        faults.extend(unknown(&document, &["metrics".into(), at.into()], id));
    }
    for (at, rule) in stated.rules.iter().enumerate() {
        let place = |key: &'static str| [Segment::Key("rule"), Segment::Index(at), Segment::Key(key)];
        faults.extend(unknown(&document, &place("metric"), &rule.metric));
        match (rule.min, rule.max) {
            (None, None) => {
                let message = format!("no demand on `{}`; give `min` or `max`", rule.metric);
                faults.push(document.at(&place("metric"), "no-bound", message));
            }
            (Some(min), Some(max)) if min > max => {
                let message = format!("no value is at least {min} and at most {max}");
                faults.push(document.at(&place("max"), "empty-range", message));
            }
            _ => {}
        }
    }
    if stated.no_worse_than.is_none() && !stated.metrics.is_empty() {
        let message = "`metrics` needs `no_worse_than`, which is missing";
        faults.push(document.at(&["metrics".into()], "no-baseline", message));
    }
    if faults.is_empty() { Ok(stated) } else { Err(Faults(faults)) }
}

fn unknown(document: &Document, path: &[Segment<'_>], id: &str) -> Option<Diagnostic> {
    if find(id).is_some() {
        return None;
    }
    let hint = did_you_mean(id, METRICS.iter().map(|metric| metric.id)).unwrap_or_default();
    Some(document.at(path, "unknown-metric", format!("unknown metric `{id}`{hint}; see `karat metrics list`")))
}
