//! Resolves names to finished results: stored runs, report files and baselines.

use crate::comparison::{Side, SideKind};
use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::plausibility;
use crate::run_loader;
use crate::suggestion;
use karat_core::metric::table::{self, METRICS, Metric, Track};
use karat_format::assessment::{self, AssessmentReportV1};
use karat_format::baseline::{self, BaselineToolV1, BaselineV1};
use karat_format::config::SuiteKind;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::report::{self, ReportV1, StatusV1, ToolV1};
use karat_format::shipped_suites::embedded;
use karat_report::number::failed_sentence;
use karat_store::{Store, StoreLocation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::path::Path;

/// Whether a name is that of a stored run: a store exists, and no file, folder or built-in suite has this name. A name that
/// looks like a file path is a run only if the store has a run of this name.
pub fn names_run(name: &str, store: &StoreLocation) -> bool {
    if Path::new(name).exists() || embedded(name).is_some() || !Store::is_at(store) {
        return false;
    }
    !reads_as_file(name) || Store::open(store).is_ok_and(|mut store| store.find(name).is_ok())
}

pub(crate) fn reads_as_file(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    name.contains(std::path::is_separator) || ["json", "jsonl"].iter().any(|own| extension.eq_ignore_ascii_case(own))
}

/// A finished result of either kind.
#[expect(missing_docs, reason = "variant names say it")]
pub enum AnyReport {
    Findings(Box<ReportV1>),
    Assessment(Box<AssessmentReportV1>),
}

impl AnyReport {
    /// Its tools or assessors, with what each case adds to their metrics. `source` is what it is called.
    pub fn sides(&self, source: &str) -> Vec<Side> {
        let sides = match self {
            Self::Findings(report) => Side::of_tools(report),
            Self::Assessment(report) => Side::of_assessment(report),
        };
        sides.into_iter().map(|side| Side { source: source.to_owned(), ..side }).collect()
    }
}

/// Loads finished results by name. A run without a report is scored, which may ask a judge.
#[expect(missing_docs, reason = "field names say it")]
pub struct ReportLoader<'a> {
    pub store: &'a StoreLocation,
    pub observer: &'a mut dyn JudgeObserver,
}

impl ReportLoader<'_> {
    /// Loads the tools or assessors of a report, a run or a baseline.
    pub(crate) fn sides(&mut self, name: &str) -> Result<Vec<Side>> {
        let path = Path::new(name);
        if !names_run(name, self.store) && is_baseline(path) {
            let baseline = read_baseline(path)?;
            let side = |tool: &BaselineToolV1| Side {
                source: name.to_owned(),
                ..Side::of_baseline(&baseline, tool, &tool.tool)
            };
            return Ok(baseline.tools.iter().map(side).collect());
        }
        Ok(self.load(name)?.0.sides(name))
    }

    /// Loads the report of tools of a file or of a finished run; `latest` is the newest run of tools.
    pub fn report(&mut self, name: &str) -> Result<ReportV1> {
        let name = match name.eq_ignore_ascii_case("latest") && names_run(name, self.store) {
            true => Store::open(self.store)?.find_findings(name)?.id.as_str().to_owned(),
            false => name.to_owned(),
        };
        match self.load(&name)?.0 {
            AnyReport::Findings(report) => Ok(*report),
            AnyReport::Assessment(_) => Err(Failure::bad_input(format!(
                "{name} is an assessment of documents, and this needs a report of tools; use `karat compare` or `karat report` for assessments"
            ))),
        }
    }

    /// Loads the assessment of a file or of a run; `None` if it is something else.
    pub fn assessment(&mut self, name: &str) -> Result<Option<AssessmentReportV1>> {
        if !names_run(name, self.store) {
            return read_assessment(Path::new(name));
        }
        let mut store = Store::open(self.store)?;
        let info = store.find(name)?;
        let is_assessment = info.kind == SuiteKind::Assessment;
        is_assessment.then(|| run_loader::assessment(&mut store, &info)).transpose()
    }

    /// Loads a report of either kind with the digest of its bytes, as `blake3:HEX`.
    pub fn load(&mut self, name: &str) -> Result<(AnyReport, String)> {
        let digest = |bytes: &[u8]| format!("blake3:{}", karat_io::content_hash(bytes));
        if !names_run(name, self.store) {
            let path = Path::new(name);
            if is_baseline(path) {
                let message =
                    format!("{name} is a baseline, which has too little data for this; use a report or a run");
                return Err(Failure::bad_input(message));
            }
            if let Some(report) = read_assessment(path)? {
                let bytes = std::fs::read(path).map_err(|error| Failure::io(name, error))?;
                return Ok((AnyReport::Assessment(Box::new(report)), digest(&bytes)));
            }
            let (report, bytes) = read_report(path)?;
            return Ok((AnyReport::Findings(Box::new(report)), digest(&bytes)));
        }
        let mut store = Store::open(self.store)?;
        let info = store.find(name)?;
        let encoded = |error: serde_json::Error| Failure::io("the report", error.into());
        if info.kind == SuiteKind::Assessment {
            let report = run_loader::assessment(&mut store, &info)?;
            let bytes = store.report(&info.id)?.map_or_else(|| serde_json::to_vec(&report), Ok).map_err(encoded)?;
            return Ok((AnyReport::Assessment(Box::new(report)), digest(&bytes)));
        }
        let (info, report) = run_loader::report(&mut store, info.id.as_str(), self.observer)?;
        let done: u64 = info.outcomes.values().sum();
        if done < info.planned {
            return Err(Failure::bad_input(format!(
                "run {} is not finished: {done} of {} trials are done, and missing trials would count as missed; resume it with: karat run --resume {}",
                info.short_id, info.planned, info.short_id
            )));
        }
        let bytes = store.report(&info.id)?.map_or_else(|| serde_json::to_vec(&report), Ok).map_err(encoded)?;
        Ok((AnyReport::Findings(Box::new(report)), digest(&bytes)))
    }

    /// A short label: a run's name or short id, or a file name without extension.
    pub fn label(&self, name: &str) -> Result<String> {
        if names_run(name, self.store) {
            let info = Store::open(self.store)?.find(name)?;
            return Ok(info.name.unwrap_or(info.short_id));
        }
        let stem = Path::new(name).file_stem();
        Ok(stem.map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned()))
    }
}

/// The requested tools of a report; default: all. `place` names the report in errors.
pub fn select_tools<'r>(report: &'r ReportV1, names: &[String], place: &str) -> Result<Vec<&'r ToolV1>> {
    if report.tools.is_empty() {
        return Err(Failure::bad_input(format!("{place} contains no tools; score a submission first")));
    }
    if names.is_empty() {
        return Ok(report.tools.iter().collect());
    }
    let find = |name: &String| {
        let found = report.tools.iter().find(|tool| tool.tool == *name);
        found.ok_or_else(|| unknown_tool(place, name, &tool_names(report)))
    };
    names.iter().map(find).collect()
}

/// Refuses tools of which no trial came to a report: nothing can be said of them. `place` names the report in errors.
pub(crate) fn refuse_failed(report: &AnyReport, sides: &[Side], place: &str) -> Result<()> {
    let AnyReport::Findings(report) = report else { return Ok(()) };
    let is_wanted = |tool: &&ToolV1| sides.iter().any(|side| side.tool == tool.tool);
    let tools: Vec<&ToolV1> = report.tools.iter().filter(is_wanted).collect();
    if StatusV1::of_tools(tools.iter().copied()) != StatusV1::Failed {
        return Ok(());
    }
    let sentence = failed_sentence(report).unwrap_or_else(|| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.tool.as_str()).collect();
        format!("No trial of {} came to a report.", names.join(", "))
    });
    let help = "there is nothing to compare; run the tools again, or resume the run with --retry-failed";
    Err(Failure::failed(format!("{place} is a failed run. {sentence}\nhelp: {help}")))
}

pub(crate) fn tool_names(report: &ReportV1) -> Vec<&str> {
    report.tools.iter().map(|tool| tool.tool.as_str()).collect()
}

pub(crate) fn unknown_tool(place: &str, name: &str, there: &[&str]) -> Failure {
    let hint = suggestion(name, there.iter().copied(), ".");
    Failure::usage(format!("{place} has no tool `{name}`{hint} Available: {}", there.join(", ")))
}

/// Finds a metric by id; the error suggests a similar one.
pub fn find_metric(id: &str) -> Result<&'static Metric> {
    table::find(id).ok_or_else(|| {
        let hint = suggestion(id, METRICS.iter().map(|metric| metric.id), ";");
        Failure::usage(format!("unknown metric `{id}`{hint} list them with `karat metrics list`"))
    })
}

/// Refuses known metrics that results of this kind do not have: those of findings for assessors, those of answers for a search.
/// A metric that only an older report lacks is not refused. `place` names the result in errors.
pub fn refuse_foreign_metrics<'i>(
    ids: impl IntoIterator<Item = &'i String>,
    sides: &[Side],
    place: &str,
) -> Result<()> {
    match ids.into_iter().find_map(|id| foreign_metric(id, sides, place)) {
        Some(message) => Err(Failure::usage(message)),
        None => Ok(()),
    }
}

/// The same for a report of tools.
pub fn refuse_assessment_metrics<'i>(
    ids: impl IntoIterator<Item = &'i String>,
    report: &ReportV1,
    place: &str,
) -> Result<()> {
    let of_assessments = |id: &&String| table::find(id).is_some_and(|metric| metric.track == Track::Assessment);
    match ids.into_iter().find(of_assessments) {
        Some(id) => refuse_foreign_metrics([id], &Side::of_tools(report), place),
        None => Ok(()),
    }
}

/// Why results of this kind do not have a metric, with those that they have.
pub(crate) fn foreign_metric(id: &str, sides: &[Side], place: &str) -> Option<String> {
    let metric = table::find(id)?;
    let is_foreign = |side: &Side| match side.track()? {
        Track::Findings => Some(metric.track != Track::Findings),
        // What an assessment measured is all that it can have: its answers, its search, or both.
        Track::Assessment if side.kept == SideKind::Report => Some(!side.stated.contains_key(id)),
        Track::Assessment => Some(metric.track != Track::Assessment),
    };
    let foreign: Vec<&Side> = sides.iter().filter(|side| is_foreign(side) == Some(true)).collect();
    let kind = match foreign.first()?.track()? {
        Track::Findings => "a report of tools",
        Track::Assessment => "an assessment of documents",
    };
    let stated = |metric: &&Metric| foreign.iter().any(|side| side.stated.contains_key(metric.id));
    let has_value = |metric: &&Metric| {
        let mut values = foreign.iter().filter_map(|side| side.stated.get(metric.id));
        values.any(|estimate| estimate.value.is_some())
    };
    let mut there: Vec<&str> = METRICS.iter().filter(has_value).map(|metric| metric.id).collect();
    if there.is_empty() {
        there = METRICS.iter().filter(stated).map(|metric| metric.id).collect();
    }
    let hint = suggestion(id, there.iter().copied(), ".");
    Some(format!("{place} has no metric `{id}`; it is {kind}{hint} Available: {}", there.join(", ")))
}

/// Reads a complete report of this version, and returns the bytes of the file too.
pub fn read_report(path: &Path) -> Result<(ReportV1, Vec<u8>)> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound if embedded(&shown).is_some() => Failure::bad_input(format!(
            "{shown} is a suite, not a report; `karat score {shown} -o report.json` writes one"
        )),
        ErrorKind::NotFound if !reads_as_file(&shown) => Failure::no_store(&shown),
        _ => Failure::io(&shown, error),
    })?;
    let report: ReportV1 = decode(&shown, &bytes)?;
    refuse_schema(&shown, &report.schema, report::SCHEMA)?;
    plausibility::require(&shown, &plausibility::check_report(&report))?;
    Ok((report, bytes))
}

/// The requested sides of a result; default: all. `place` names the result in errors.
pub(crate) fn select_sides(sides: Vec<Side>, names: &[String], place: &str) -> Result<Vec<Side>> {
    if sides.is_empty() {
        return Err(Failure::bad_input(format!("{place} contains no tools; score a submission first")));
    }
    if names.is_empty() {
        return Ok(sides);
    }
    let find = |name: &String| {
        let there = || sides.iter().map(|side| side.tool.as_str()).collect::<Vec<_>>();
        let found = sides.iter().find(|side| side.tool == *name).cloned();
        found.ok_or_else(|| unknown_tool(place, name, &there()))
    };
    names.iter().map(find).collect()
}

/// Reads an assessment report; `None` if the file is something else or missing.
fn read_assessment(path: &Path) -> Result<Option<AssessmentReportV1>> {
    let shown = path.display().to_string();
    let Ok(bytes) = std::fs::read(path) else { return Ok(None) };
    let Some(schema) = stated_schema(&bytes).filter(|schema| schema.starts_with("karat.assessment/")) else {
        return Ok(None);
    };
    refuse_schema(&shown, &schema, assessment::SCHEMA)?;
    let report: AssessmentReportV1 = decode(&shown, &bytes)?;
    plausibility::require(&shown, &plausibility::check_assessment(&report))?;
    Ok(Some(report))
}

fn is_baseline(path: &Path) -> bool {
    stated_schema(&std::fs::read(path).unwrap_or_default()).is_some_and(|schema| schema.starts_with("karat.baseline/"))
}

fn read_baseline(path: &Path) -> Result<BaselineV1> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::io(&shown, error))?;
    let read: BaselineV1 = decode_with_faults(&shown, &bytes)?;
    refuse_schema(&shown, &read.schema, baseline::SCHEMA)?;
    plausibility::require(&shown, &plausibility::check_baseline(&read))?;
    Ok(read)
}

fn stated_schema(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Schema {
        schema: Option<String>,
    }
    serde_json::from_slice::<Schema>(bytes).ok()?.schema
}

fn refuse_schema(file: &str, stated: &str, known: &str) -> Result<()> {
    if stated == known {
        return Ok(());
    }
    Err(Failure::bad_input(format!("{file}: unsupported schema {stated:?}; this version reads {known:?}")))
}

/// Decodes a file of this version. Only a broken one needs the slower decoder that lists all faults.
fn decode<T: DeserializeOwned + JsonSchema>(file: &str, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).or_else(|_| decode_with_faults(file, bytes))
}

fn decode_with_faults<T: DeserializeOwned + JsonSchema>(file: &str, bytes: &[u8]) -> Result<T> {
    let decoded = decode_bytes::<T>(file, bytes, Syntax::Json, &schema_of::<T>());
    Ok(decoded.into_result().map_err(|faults| Failure::Faults(faults.into()))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Category;
    use karat_format::baseline::{BaselineMetricV1, NamedDigestV1};
    use std::collections::BTreeMap;

    type Accepts<'a> = &'a dyn Fn(&Metric) -> bool;

    fn side(kept: SideKind, ids: impl Iterator<Item = &'static str>) -> Vec<Side> {
        let metric = BaselineMetricV1 { value: Some(0.5), ci: None, n: 40 };
        let metrics = ids.map(|id| (id.to_owned(), metric.clone())).collect();
        let named = || NamedDigestV1 { name: "n".to_owned(), digest: "d".to_owned() };
        let baseline = BaselineV1 {
            schema: baseline::SCHEMA.to_owned(),
            suite: named(),
            profile: named(),
            judges: Vec::new(),
            judge_identities: BTreeMap::new(),
            tools: vec![BaselineToolV1 { tool: "t".to_owned(), metrics, cases: Vec::new() }],
        };
        vec![Side { kept, ..Side::of_baseline(&baseline, &baseline.tools[0], "t") }]
    }

    #[test]
    fn every_metric_is_refused_by_results_of_the_other_kind() {
        let of = |track: Track| METRICS.iter().filter(move |metric| metric.track == track).map(|metric| metric.id);
        let search = ["retrieval_recall", "recall_at_k", "mrr", "ndcg_at_k", "map"];
        let is_findings = |metric: &Metric| metric.track == Track::Findings;
        let is_assessment = |metric: &Metric| metric.track == Track::Assessment;
        let of_search = |metric: &Metric| search.contains(&metric.id);
        let table: [(&str, Vec<Side>, Accepts<'_>); 6] = [
            ("tools", side(SideKind::Report, of(Track::Findings)), &is_findings),
            // Scoring again adds what an older report lacks.
            ("older tools", side(SideKind::Report, ["f1"].into_iter()), &is_findings),
            ("assessors", side(SideKind::Report, of(Track::Assessment)), &is_assessment),
            ("a search", side(SideKind::Report, search.into_iter()), &of_search),
            ("a baseline of tools", side(SideKind::Baseline, ["f1"].into_iter()), &is_findings),
            ("a baseline of assessors", side(SideKind::Baseline, ["mrr"].into_iter()), &is_assessment),
        ];
        for (name, sides, accepts) in &table {
            for metric in METRICS {
                let refused = refuse_foreign_metrics([&metric.id.to_owned()], sides, name).err();
                assert_eq!(refused.is_none(), accepts(metric), "{} of {name}", metric.id);
                let message = match refused {
                    None => continue,
                    Some(Failure::Message(Category::Usage, message)) => message,
                    Some(failure) => panic!("{failure:?}"),
                };
                let there: Vec<&str> = sides[0].stated.keys().map(String::as_str).collect();
                assert!(message.contains(&format!("{name} has no metric `{}`; it is a", metric.id)), "{message}");
                assert!(there.iter().all(|id| message.contains(id)), "{message}");
            }
        }
        let message = foreign_metric("accuracy", &table[2].1, "r").unwrap();
        assert!(message.contains("Available: mean_combined_score, mean_compliance_score"), "{message}");
        let message = foreign_metric("recall", &table[3].1, "r").unwrap();
        assert!(message.contains("an assessment of documents, did you mean `recall_at_k`? Available: "), "{message}");
        assert!(refuse_foreign_metrics([&"f1".to_owned()], &[], "nothing").is_ok());
    }
}
