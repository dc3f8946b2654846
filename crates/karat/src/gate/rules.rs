//! A file with demands, checked whole.

use karat_core::metric::table::{METRICS, find};
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::document::{Document, Segment, Syntax, decode, schema_of, suggest};
use karat_format::gate::DemandsV1;

/// Reads a file with demands. All its faults come at once.
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
    let near = suggest::nearest(id, METRICS.iter().map(|metric| metric.id));
    let hint = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    Some(document.at(path, "unknown-metric", format!("unknown metric `{id}`{hint}; see `karat metrics list`")))
}
