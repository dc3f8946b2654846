//! Resolves an argument to a finished result: a report, a stored run or a baseline.

use crate::args::StorePlace;
use crate::exit::Failure;
use crate::progress::JudgeProgress;
use crate::{inputs, store_path};
use karat::comparison::Side;
use karat::run_loader;
use karat_format::baseline::{self, BaselineV1};
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::report::{ReportV1, ToolV1};
use std::path::Path;

/// A finished result.
pub(crate) enum Source {
    /// From a file or a run.
    Report(Box<ReportV1>),
    Baseline(BaselineV1),
}

/// Loads a report, a run or a baseline.
pub(crate) fn source(reference: &str, store: &StorePlace) -> Result<Source, Failure> {
    let path = Path::new(reference);
    if !store_path::names_run(reference, store.folder.as_deref()) && is_baseline(path) {
        return Ok(Source::Baseline(baseline(path)?));
    }
    Ok(Source::Report(Box::new(report(reference, store)?)))
}

/// Loads the report of a file or of a finished run.
pub(crate) fn report(reference: &str, store: &StorePlace) -> Result<ReportV1, Failure> {
    Ok(report_and_digest(reference, store)?.0)
}

/// Loads a report with the digest of its bytes, as `blake3:HEX`.
pub(crate) fn report_and_digest(reference: &str, store: &StorePlace) -> Result<(ReportV1, String), Failure> {
    let digest = |bytes: &[u8]| format!("blake3:{}", karat_io::content_hash(bytes));
    let folder = store.folder.as_deref();
    if !store_path::names_run(reference, folder) {
        let path = Path::new(reference);
        if is_baseline(path) {
            let message =
                format!("{reference} is a baseline, which has too little data for this; use a report or a run");
            return Err(Failure::bad_input(message));
        }
        let (report, bytes) = inputs::report_and_bytes(path)?;
        return Ok((report, digest(&bytes)));
    }
    let mut store = store_path::open(folder)?;
    let (info, report) = run_loader::report(&mut store, reference, &mut JudgeProgress::new(false))?;
    let done: u64 = info.outcomes.values().sum();
    if done < info.planned {
        return Err(Failure::bad_input(format!(
            "run {} is not finished: {done} of {} trials are done, and missing trials would count as missed; resume it with: karat run --resume {}",
            info.short_id, info.planned, info.short_id
        )));
    }
    let bytes = match store.report(&info.id)? {
        Some(bytes) => bytes,
        None => serde_json::to_vec(&report).map_err(|error| Failure::io("the report", error.into()))?,
    };
    Ok((report, digest(&bytes)))
}

/// A short label: a run's name or short id, or a file name without extension.
pub(crate) fn label(reference: &str, store: &StorePlace) -> Result<String, Failure> {
    let folder = store.folder.as_deref();
    if store_path::names_run(reference, folder) {
        let info = store_path::open(folder)?.find(reference)?;
        return Ok(info.name.unwrap_or(info.short_id));
    }
    let stem = Path::new(reference).file_stem();
    Ok(stem.map_or_else(|| reference.to_owned(), |stem| stem.to_string_lossy().into_owned()))
}

impl Source {
    pub(crate) fn tools(&self) -> Vec<&str> {
        match self {
            Self::Report(report) => report.tools.iter().map(|tool| tool.tool.as_str()).collect(),
            Self::Baseline(baseline) => baseline.tools.iter().map(|tool| tool.tool.as_str()).collect(),
        }
    }

    /// One tool as a side of a comparison; `None` if there is no such tool.
    pub(crate) fn side(&self, tool: &str, label: String) -> Option<Side> {
        match self {
            Self::Report(report) => {
                let found = report.tools.iter().find(|one| one.tool == tool)?;
                Some(Side::of_report(report, found, label))
            }
            Self::Baseline(baseline) => {
                let found = baseline.tools.iter().find(|one| one.tool == tool)?;
                Some(Side::of_baseline(baseline, found, label))
            }
        }
    }
}

/// The requested tools of a report; default: all.
pub(crate) fn tools<'r>(report: &'r ReportV1, names: &[String], place: &str) -> Result<Vec<&'r ToolV1>, Failure> {
    if report.tools.is_empty() {
        return Err(Failure::bad_input(format!("{place} contains no tools; score a submission first")));
    }
    if names.is_empty() {
        return Ok(report.tools.iter().collect());
    }
    let there: Vec<&str> = report.tools.iter().map(|tool| tool.tool.as_str()).collect();
    let pick = |name: &String| {
        let found = report.tools.iter().find(|tool| tool.tool == *name);
        found.ok_or_else(|| no_tool(place, name, &there))
    };
    names.iter().map(pick).collect()
}

/// The error for an unknown tool.
pub(crate) fn no_tool(place: &str, name: &str, there: &[&str]) -> Failure {
    let near = karat_format::document::suggest::nearest(name, there.iter().copied());
    let hint = near.map_or_else(|| ".".to_owned(), |near| format!(", did you mean `{near}`?"));
    Failure::usage(format!("{place} has no tool `{name}`{hint} Available: {}", there.join(", ")))
}

/// Whether a file has the schema of a baseline, of any version.
fn is_baseline(path: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Schema {
        schema: Option<String>,
    }
    let bytes = std::fs::read(path).unwrap_or_default();
    let stated = serde_json::from_slice::<Schema>(&bytes).ok().and_then(|file| file.schema);
    stated.is_some_and(|schema| schema.starts_with("karat.baseline/"))
}

/// Reads a complete baseline of this version.
fn baseline(path: &Path) -> Result<BaselineV1, Failure> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::io(&shown, error))?;
    let decoded = decode_bytes::<BaselineV1>(&shown, &bytes, Syntax::Json, &schema_of::<BaselineV1>());
    let read: BaselineV1 = decoded.into_result().map_err(|faults| Failure::Faults(faults.into()))?.0;
    if read.schema != baseline::SCHEMA {
        let message =
            format!("{shown}: unsupported schema {:?}; this version reads {:?}", read.schema, baseline::SCHEMA);
        return Err(Failure::bad_input(message));
    }
    karat::plausibility::require(&shown, &karat::plausibility::check_baseline(&read))?;
    Ok(read)
}
