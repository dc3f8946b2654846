//! Summarises a log: calls, tokens, times and failures by stage and model.

use super::{LogError, LogFile};
use karat_core::stats::summary::quantile;
use karat_format::log::{LatencyV1, LogErrorV1, LogLineV1, LogStageV1, LogSummaryV1};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

const LONGEST_LINE: u64 = 1 << 20;

/// In the order of execution.
const STAGES: [&str; 6] = ["ingest", "search", "embedding", "rerank", "relevance", "verdict"];

/// Events that are counted.
const COUNTED: [&str; 5] = ["document_read", "bundle_searched", "search_model_used", "call_settled", "model_failed"];

/// Reads a log. Unreadable lines, such as the last one of a killed process, are counted.
pub fn summarize(log: &LogFile) -> Result<LogSummaryV1, LogError> {
    let wrong = |source| LogError::Io { path: log.path.clone(), source };
    let mut reader = BufReader::new(File::open(&log.path).map_err(wrong)?);
    let mut tally = Tally::default();
    let mut line = Vec::new();
    while (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(wrong)? > 0 {
        match serde_json::from_slice::<LogLineV1>(&line) {
            Ok(line) => tally.add(line),
            Err(_) => tally.summary.unreadable_lines += 1,
        }
        line.clear();
    }
    Ok(tally.finish(&log.batch_run_id))
}

type Key = (usize, String, Option<String>);

#[derive(Default)]
struct Tally {
    summary: LogSummaryV1,
    first: Option<LogLineV1>,
    began: Option<String>,
    templates: BTreeSet<String>,
    bundles: BTreeSet<String>,
    requirements: BTreeSet<(String, String)>,
    stages: BTreeMap<Key, (LogStageV1, Vec<f64>)>,
    errors: BTreeMap<(Key, String), LogErrorV1>,
}

impl Tally {
    fn add(&mut self, line: LogLineV1) {
        match line.event.as_str() {
            "run_began" => self.began = Some(line.time.clone()),
            "run_ended" => self.summary.ended = Some(line.time.clone()),
            _ => {}
        }
        self.templates.extend(line.template_id.clone());
        self.bundles.extend(line.bundle_id.clone());
        if let (Some(bundle), Some(requirement)) = (&line.bundle_id, &line.requirement_id) {
            self.requirements.insert((bundle.clone(), requirement.clone()));
        }
        if let Some(stage) = line.stage.clone() {
            let place = STAGES.iter().position(|own| *own == stage).unwrap_or(STAGES.len());
            let model = line.evaluation_model.clone().or_else(|| line.search_model.clone());
            let key = (place, stage.clone(), model.clone());
            if COUNTED.contains(&line.event.as_str()) {
                self.count(&key, &line);
            }
            if let Some(kind) = &line.error_kind {
                let new = || LogErrorV1 {
                    stage,
                    model,
                    kind: kind.clone(),
                    count: 0,
                    first: line.error.clone().unwrap_or_default(),
                };
                self.errors.entry((key, kind.clone())).or_insert_with(new).count += 1;
            }
        }
        self.first.get_or_insert(line);
    }

    fn count(&mut self, key: &Key, line: &LogLineV1) {
        let new = || {
            let stage = LogStageV1 { stage: key.1.clone(), model: key.2.clone(), ..LogStageV1::default() };
            (stage, Vec::new())
        };
        let (stage, times) = self.stages.entry(key.clone()).or_insert_with(new);
        stage.calls += 1;
        stage.cached += usize::from(line.cached);
        stage.requests += u64::from(line.requests.unwrap_or_default());
        stage.errors += usize::from(line.error_kind.is_some());
        stage.tokens_in = stage.tokens_in.saturating_add(line.tokens_in.unwrap_or_default());
        stage.tokens_out = stage.tokens_out.saturating_add(line.tokens_out.unwrap_or_default());
        match line.usd {
            Some(usd) => *stage.usd.get_or_insert(0.0) += usd,
            None => stage.usd_is_lower_bound |= is_billed(line),
        }
        times.extend(line.latency_ms);
    }

    fn finish(self, batch_run_id: &str) -> LogSummaryV1 {
        let stages: Vec<(LogStageV1, Vec<f64>)> = self.stages.into_values().collect();
        let known: Vec<f64> = stages.iter().filter_map(|(stage, _)| stage.usd).collect();
        let is_partial = stages.iter().any(|(stage, _)| stage.usd_is_lower_bound);
        let stage = |(stage, times): (LogStageV1, Vec<f64>)| LogStageV1 {
            latency_ms: latency(times),
            // Nothing known is no bound.
            usd_is_lower_bound: stage.usd_is_lower_bound && stage.usd.is_some(),
            ..stage
        };
        let first = self.first.unwrap_or_default();
        LogSummaryV1 {
            batch_run_id: batch_run_id.to_owned(),
            session_id: first.session_id,
            assessment_mode: first.assessment_mode.unwrap_or_default(),
            began: self.began.unwrap_or(first.time),
            templates: self.templates.into_iter().collect(),
            bundles: self.bundles.len(),
            requirements: self.requirements.len(),
            stages: stages.into_iter().map(stage).collect(),
            usd: (!known.is_empty()).then(|| known.iter().sum()),
            usd_is_lower_bound: is_partial && !known.is_empty(),
            errors: self.errors.into_values().collect(),
            ..self.summary
        }
    }
}

/// Whether a provider charges for a call: one that was sent, and not to a model of this machine.
fn is_billed(line: &LogLineV1) -> bool {
    let is_sent = !line.cached && line.requests != Some(0);
    let is_remote = line.search_model.as_ref().is_none_or(|model| model.starts_with("http/"));
    is_sent && is_remote && line.tokens_in.unwrap_or_default() + line.tokens_out.unwrap_or_default() > 0
}

fn latency(mut times: Vec<f64>) -> Option<LatencyV1> {
    times.retain(|time| time.is_finite());
    times.sort_by(f64::total_cmp);
    let at = |share: f64| quantile(&times, share);
    Some(LatencyV1 { p50: at(0.5)?, p90: at(0.9)?, p99: at(0.99)?, max: *times.last()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_tokens_times_and_failures_are_summed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let call = |model: &str, ms: f64, rest: &str| {
            format!(
                r#"{{"time":"t","event":"call_settled","batch_run_id":"r","bundle_id":"b","requirement_id":"q","template_id":"n","stage":"verdict","evaluation_model":"{model}","latency_ms":{ms},"requests":1,"tokens_in":10,"tokens_out":2{rest}}}"#
            )
        };
        let lines = [
            r#"{"time":"t0","event":"run_began","batch_run_id":"r","assessment_mode":"full"}"#.to_owned(),
            r#"{"time":"t","event":"document_read","batch_run_id":"r","stage":"ingest","latency_ms":4}"#.to_owned(),
            call("a", 10.0, ""),
            call("a", 30.0, r#","usd":0.5"#),
            call("b", 5.0, r#","error_kind":"rejected","error":"too long""#),
            call("b", 7.0, r#","error_kind":"rejected","error":"again""#),
            r#"{"time":"t","event":"call_settled","batch_run_id":"r","stage":"relevance","evaluation_model":"a","cached":true}"#.to_owned(),
            call("c", 1.0, r#","usd":0.1"#),
            // Never sent, answered on this machine.
            r#"{"time":"t","event":"call_settled","batch_run_id":"r","stage":"verdict","evaluation_model":"c","requests":0,"tokens_in":0,"tokens_out":0,"error_kind":"budget","error":"spent"}"#.to_owned(),
            r#"{"time":"t","event":"search_model_used","batch_run_id":"r","stage":"embedding","search_model":"folder/ab","requests":3,"tokens_in":70}"#.to_owned(),
            r#"{"time":"t9","event":"run_"#.to_owned(),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let summary = summarize(&LogFile { batch_run_id: "r".into(), path }).unwrap();
        let lines: Vec<String> = summary
            .stages
            .iter()
            .map(|s| {
                let p50 = s.latency_ms.map(|latency| latency.p50);
                format!(
                    "{} {:?} {} {} {} {} {:?} {p50:?}",
                    s.stage,
                    s.model.as_deref(),
                    s.calls,
                    s.cached,
                    s.errors,
                    s.tokens_in,
                    s.usd
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                "ingest None 1 0 0 0 None Some(4.0)",
                "embedding Some(\"folder/ab\") 1 0 0 70 None None",
                "relevance Some(\"a\") 1 1 0 0 None None",
                "verdict Some(\"a\") 2 0 0 20 Some(0.5) Some(20.0)",
                "verdict Some(\"b\") 2 0 2 20 None Some(6.0)",
                "verdict Some(\"c\") 2 0 1 10 Some(0.1) Some(1.0)",
            ]
        );
        let error = &summary.errors[0];
        assert_eq!((error.kind.as_str(), error.count, error.first.as_str()), ("rejected", 2, "too long"));
        assert_eq!((summary.began.as_str(), summary.ended, summary.unreadable_lines), ("t0", None, 1));
        assert_eq!((summary.bundles, summary.requirements), (1, 1));
        // One of the calls has a price, and others that were made have none.
        assert_eq!((summary.usd, summary.usd_is_lower_bound), (Some(0.6), true));
        let partial: Vec<bool> = summary.stages.iter().map(|stage| stage.usd_is_lower_bound).collect();
        assert_eq!(partial, [false, false, false, true, false, false]);
    }
}
