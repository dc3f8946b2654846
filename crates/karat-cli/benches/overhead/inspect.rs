//! Inspect AI with its mock model, where it is installed.

use std::process::Command;

/// So many samples are run.
const SAMPLES: &str = "500";

/// What one sample takes there.
pub(crate) struct Sample {
    /// Seconds.
    pub(crate) wall: f64,
    /// Processor seconds.
    pub(crate) cpu: f64,
    /// The version of Inspect AI.
    pub(crate) version: String,
}

/// Measures Inspect AI, or says why it is skipped.
pub(crate) fn sample() -> Result<Sample, String> {
    let python = std::env::var("KARAT_BENCH_PYTHON");
    let python = python.map_err(|_| "KARAT_BENCH_PYTHON does not name a Python with inspect-ai".to_owned())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/inspect_mock.py");
    let output = Command::new(&python).arg(script).arg(SAMPLES).output();
    let output = output.map_err(|error| format!("{python}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{python} failed: {}", said.lines().last().unwrap_or_default()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let sample = || {
        let [wall, cpu, version] = words[..] else { return None };
        Some(Sample { wall: wall.parse().ok()?, cpu: cpu.parse().ok()?, version: version.to_owned() })
    };
    sample().ok_or_else(|| format!("{python} said {text:?}"))
}
