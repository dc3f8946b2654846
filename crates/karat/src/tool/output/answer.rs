//! Our own format for tools: a JSON object with findings, or a list of them, also in a Markdown fence.

use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_format::diagnostic::Diagnostic;
use karat_format::document::{Syntax, decode, schema_of};
use karat_format::submission::TrialV1;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(super) fn read(bytes: &[u8], trial: &mut Trial) -> Result<(), String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("the result is not UTF-8 text from byte {} on", error.valid_up_to()))?;
    let text = unfenced(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let list = text.trim_start().starts_with('[');
    let schema = if list { &*LIST } else { &*ANSWER };
    let decoded = decode::<Value>("output", &text, Syntax::Json, schema);
    let (value, document) = decoded.into_result().map_err(|faults| fault_text(&faults))?;
    let (read, faults) = complete(value, trial)?.into_trial();
    if !faults.is_empty() {
        let placed = faults.iter().map(|fault| {
            let steps = fault.steps();
            // A list has no key `findings` above its findings.
            let own = if list { steps.get(1..).unwrap_or_default() } else { steps.as_slice() };
            document.at(own, fault.code, fault.message.clone())
        });
        return Err(fault_text(&placed.collect::<Vec<_>>()));
    }
    if read.outcome != Outcome::Reported {
        let why = read.notes.first().map(|note| format!(": {note}")).unwrap_or_default();
        return Err(format!("the tool reported its own outcome as {}{why}", read.outcome.as_str()));
    }
    *trial = read;
    Ok(())
}

/// The schema of a submission's line, in which nothing is required: what must be there is known already.
static ANSWER: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = schema_of::<TrialV1>();
    for pointer in ["", "/$defs/FindingV1"] {
        if let Some(Value::Object(part)) = schema.pointer_mut(pointer) {
            part.remove("required");
        }
    }
    schema
});

static LIST: LazyLock<Value> =
    LazyLock::new(|| json!({ "type": "array", "items": { "$ref": "#/$defs/FindingV1" }, "$defs": ANSWER["$defs"] }));

/// Adds what the tool need not state.
fn complete(value: Value, trial: &Trial) -> Result<TrialV1, String> {
    let mut answer = match value {
        Value::Object(answer) => answer,
        list => Map::from_iter([("findings".to_owned(), list)]),
    };
    answer.insert("case".to_owned(), trial.case.as_str().into());
    answer.insert("tool".to_owned(), trial.tool.as_str().into());
    answer.insert("trial".to_owned(), trial.number.into());
    answer.entry("outcome").or_insert_with(|| Outcome::Reported.as_str().into());
    if let Some(Value::Array(findings)) = answer.get_mut("findings") {
        number(findings);
    }
    serde_json::from_value(Value::Object(answer)).map_err(|error| format!("output: {error}"))
}

/// Gives findings without an id one that no other has.
fn number(findings: &mut [Value]) {
    let id = |finding: &Value| finding.get("id").and_then(Value::as_str).map(str::to_owned);
    let taken: BTreeSet<String> = findings.iter().filter_map(id).collect();
    let mut free = (1..).map(|n: usize| format!("f{n}")).filter(|id| !taken.contains(id));
    for finding in findings.iter_mut().filter_map(Value::as_object_mut) {
        if finding.get("id").is_none_or(Value::is_null)
            && let Some(id) = free.next()
        {
            finding.insert("id".to_owned(), id.into());
        }
    }
}

fn fault_text(faults: &[Diagnostic]) -> String {
    let Some(first) = faults.first() else { return "the result could not be read".to_owned() };
    let place = if first.line > 0 { format!(":{}:{}", first.line, first.column) } else { String::new() };
    // Other labels repeat the message.
    let near = first.label.as_ref().filter(|label| label.starts_with("did you mean"));
    let help = first.help.as_ref().or(near).map(|help| format!("; {help}")).unwrap_or_default();
    let more = match faults.len() {
        0 | 1 => String::new(),
        all => format!(" (and {})", count(all - 1, "more error")),
    };
    format!("{}{place}: {}{help}{more}", first.file, first.message)
}

/// The JSON itself, which models often put into a Markdown fence. One fence of JSON is accepted; nothing else is guessed.
fn unfenced(text: &str) -> Result<String, String> {
    if text.trim_start().starts_with(['{', '[']) {
        return Ok(text.to_owned());
    }
    let found = fences(text);
    let named: Vec<&Fence<'_>> = found.iter().filter(|fence| fence.info.eq_ignore_ascii_case("json")).collect();
    let bare = |fence: &&Fence<'_>| fence.info.is_empty() && fence.text.trim_start().starts_with(['{', '[']);
    let candidates = if named.is_empty() { found.iter().filter(bare).collect() } else { named };
    match candidates.as_slice() {
        // Empty lines replace what came before, so that the lines of faults are right.
        [only] => Ok(format!("{}{}", "\n".repeat(only.line), only.text)),
        [] => Err("the result is neither JSON nor has JSON in a Markdown fence".to_owned()),
        several => {
            Err(format!("the result has {} fences of JSON, and it is unknown which is the answer", several.len()))
        }
    }
}

struct Fence<'t> {
    /// The word after the opening marks.
    info: &'t str,
    text: String,
    /// The number of lines before its text.
    line: usize,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(Fence<'_>, &str)> = None;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        match &mut open {
            Some((_, mark)) if trimmed.starts_with(*mark) && trimmed.trim_matches(['`', '~']).is_empty() => {
                found.extend(open.take().map(|(fence, _)| fence));
            }
            Some((fence, _)) => {
                fence.text.push_str(line);
                fence.text.push('\n');
            }
            None => {
                let length = trimmed.len() - trimmed.trim_start_matches(['`', '~']).len();
                let mark = trimmed.get(..length).filter(|mark| mark.len() >= 3);
                open = mark.map(|mark| {
                    (Fence { info: trimmed[length..].trim(), text: String::new(), line: number + 1 }, mark)
                });
            }
        }
    }
    found
}
