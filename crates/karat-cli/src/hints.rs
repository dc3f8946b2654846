//! Suggestions for the next command.

use karat_format::report::{CaseResultV1, ReportV1};
use karat_report::number::ranked;

/// The case on which the best tool did worst, as (tool, case id).
pub(crate) fn worst_case(report: &ReportV1) -> Option<(&str, &str)> {
    let tool = ranked(report).into_iter().next()?;
    // A clean case has no F1; `clean_pass` takes its place.
    let value = |case: &CaseResultV1, id: &str| case.metrics.get(id).and_then(|estimate| estimate.value);
    let goodness = |case| value(case, "f1").or_else(|| value(case, "clean_pass"));
    let worst = tool.cases.iter().filter_map(|case| Some((goodness(case)?, case.case.as_str())));
    let (_, case) = worst.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((&tool.tool, case))
}

/// Quotes a name as one shell word; names may contain text from a tool.
pub(crate) fn word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@+".contains(c);
    let quoted = || format!("'{}'", name.replace('\'', r"'\''"));
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted() }
}

/// Flags with their values, as typed in a shell.
pub(crate) fn flags(flags: &[(&str, String)]) -> String {
    flags.iter().map(|(flag, value)| format!(" {flag} {}", word(value))).collect()
}
