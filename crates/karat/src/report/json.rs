//! The report itself.

use super::Look;
use crate::format::report::ReportV1;

/// Pretty JSON, ending in a newline; a report always serialises.
pub fn draw(report: &ReportV1, _: &Look) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
