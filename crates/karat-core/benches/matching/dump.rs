//! The drawn data as a file that other programs read.

use karat_core::golden::Golden;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};

/// One case a line: goldens as file, first line, last line, keywords; findings as file, first line, last line, text.
pub(crate) fn write(suite: &Suite, trials: &[Trial], file: &str) {
    let mut out = BufWriter::new(std::fs::File::create(file).expect("a file to write to"));
    for (case, trial) in suite.cases.iter().zip(trials) {
        let line = json!({
            "goldens": case.goldens.iter().map(golden).collect::<Vec<_>>(),
            "findings": trial.findings.iter().map(finding).collect::<Vec<_>>(),
        });
        writeln!(out, "{line}").expect("room on the disk");
    }
    out.flush().expect("room on the disk");
}

fn golden(golden: &Golden) -> Value {
    let lines = golden.lines.map(|lines| (lines.start, lines.end));
    let file = golden.file.as_ref().map(|file| file.path().as_str());
    json!([file, lines.map(|l| l.0), lines.map(|l| l.1), golden.keywords])
}

fn finding(finding: &karat_core::finding::Finding) -> Value {
    let said = [&finding.title, &finding.message, &finding.category, &finding.rule_id];
    let text: Vec<&str> = said.into_iter().filter_map(|part| part.as_deref()).collect();
    let lines = finding.lines().map(|lines| (lines.start, lines.end));
    let file = finding.file.as_ref().map(|file| file.as_str());
    json!([file, lines.map(|l| l.0), lines.map(|l| l.1), text.join("\n")])
}
