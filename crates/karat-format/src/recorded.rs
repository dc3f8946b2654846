//! Reads and writes submissions and judgements. A file with any fault is rejected as a whole.

use crate::diagnostic::{Diagnostic, Faults, Level};
use crate::document::{Line, decode_lines, schema_of, suggest};
use crate::judgement::JudgementV1;
use crate::submission::TrialV1;
use crate::value_diagnostics;
use karat_core::judgement::{Decision, Judgement};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};

/// A named stream of lines.
#[expect(missing_docs, reason = "field names say it")]
pub struct NamedLines<'a> {
    pub file: String,
    pub reader: Box<dyn BufRead + 'a>,
}

const MAX_SUGGESTIONS: usize = 50;

/// Reads submissions. Unknown cases and duplicate trials are faults; all are reported at once.
pub fn read_trials(inputs: Vec<NamedLines<'_>>, suite: Option<&Suite>) -> Result<Vec<Trial>, Faults> {
    let cases: Option<HashSet<&str>> = suite.map(|suite| suite.cases.iter().map(|c| c.id.as_str()).collect());
    let mut suggestions = MAX_SUGGESTIONS;
    let mut places: HashMap<(String, String, u32), String> = HashMap::new();
    read_all(inputs, |value: TrialV1, line, place| {
        let (trial, found) = value.into_trial();
        let mut own: Vec<Diagnostic> = value_diagnostics(&found, line);
        let stated = |key: &'static str| line.has(&[key.into()]);
        if cases.as_ref().is_some_and(|known| stated("case") && !known.contains(trial.case.as_str())) {
            let message = format!("the suite has no case `{}`", trial.case);
            let mut fault = line.at(&["case".into()], "unknown-case", message);
            // Finding suggestions is slow in a large suite, and a few are enough.
            if let (Some(suite), Some(left)) = (suite, suggestions.checked_sub(1)) {
                suggestions = left;
                let names = suite.cases.iter().map(|c| c.id.as_str());
                fault.help = suggest::did_you_mean(trial.case.as_str(), names);
            }
            own.push(fault);
        }
        let key = (trial.case.to_string(), trial.tool.to_string(), trial.number);
        let identified = ["case", "tool", "trial"].iter().all(|key| stated(key));
        if let Some(earlier) = identified.then(|| places.insert(key, place)).flatten() {
            let Trial { number, tool, case, .. } = &trial;
            let message = format!("trial {number} of {tool} on {case} is already given, at {earlier}");
            own.push(line.at(&["trial".into()], "duplicate-trial", message));
        }
        (trial, own)
    })
}

/// Reads judgements. An unknown golden is a fault; a judgement about a trial that is not given is not.
pub fn read_judgements(inputs: Vec<NamedLines<'_>>, suite: Option<&Suite>) -> Result<Vec<Judgement>, Faults> {
    let goldens: Option<HashMap<&str, HashSet<&str>>> = suite.map(|suite| {
        suite.cases.iter().map(|c| (c.id.as_str(), c.goldens.iter().map(|g| g.id.as_str()).collect())).collect()
    });
    let mut places: HashMap<String, String> = HashMap::new();
    read_all(inputs, |value: JudgementV1, line, place| {
        let (judgement, found) = value.into_judgement();
        let mut own: Vec<Diagnostic> = value_diagnostics(&found, line);
        if let Some(goldens) = goldens.as_ref().filter(|_| line.has(&["case".into()])) {
            let golden = match &judgement.decision {
                Decision::Pair(pair) => pair.golden.as_ref(),
                Decision::Unjudged(pair) => Some(&pair.golden),
                Decision::Audit(_) | Decision::Extra(_) => None,
            };
            match (goldens.get(judgement.case.as_str()), golden) {
                (None, _) => {
                    let message = format!("the suite has no case `{}`", judgement.case);
                    own.push(line.at(&["case".into()], "unknown-case", message));
                }
                (Some(known), Some(golden)) if !known.contains(golden.as_str()) => {
                    let message = format!("the case `{}` has no golden `{golden}`", judgement.case);
                    own.push(line.at(&["golden".into()], "unknown-golden", message));
                }
                _ => {}
            }
        }
        if line.wrong.is_empty()
            && let Some(earlier) = places.insert(question(&judgement), place)
        {
            let judge = &judgement.judge;
            let message = format!("{judge} has already decided this, at {earlier}; a judge decides only once");
            own.push(line.at(&["judge".into()], "duplicate-judgement", message));
        }
        (judgement, own)
    })
}

/// Reads the values of all inputs. `each` converts one and finds its faults; it is also told where the value is.
fn read_all<V: DeserializeOwned + JsonSchema, T>(
    inputs: Vec<NamedLines<'_>>,
    mut each: impl FnMut(V, &Line<'_>, String) -> (T, Vec<Diagnostic>),
) -> Result<Vec<T>, Faults> {
    let schema = schema_of::<V>();
    let (mut values, mut faults) = (Vec::new(), Vec::new());
    for NamedLines { file, reader } in inputs {
        faults.extend(decode_lines::<V>(&file, reader, &schema, |number, value, line| {
            let (value, own) = each(value, line, format!("{file}:{number}"));
            values.push(value);
            own
        }));
    }
    if faults.iter().any(|fault| fault.level == Level::Error) { Err(Faults(faults)) } else { Ok(values) }
}

/// A key of the question to a judge, to detect a second answer to the same question.
fn question(judgement: &Judgement) -> String {
    let about = match &judgement.decision {
        Decision::Audit(_) => "audit".to_owned(),
        // No id contains this character.
        Decision::Extra(extra) => format!("\u{2}\0{}", extra.finding),
        Decision::Unjudged(pair) => format!("{}\0{}", pair.golden, pair.finding),
        Decision::Pair(pair) => {
            let golden = pair.golden.as_ref().map_or_else(|| "\u{1}".to_owned(), ToString::to_string);
            format!("{golden}\0{}", pair.finding)
        }
    };
    format!("{}\0{}\0{}\0{}\0{about}", judgement.judge, judgement.case, judgement.tool, judgement.trial)
}

/// Writes trials as a submission.
pub fn write_trials<'t>(out: &mut dyn Write, trials: impl IntoIterator<Item = &'t Trial>) -> io::Result<()> {
    write_lines(out, trials.into_iter().map(TrialV1::from))
}

/// Writes judgements, one a line.
pub fn write_judgements<'j>(
    out: &mut dyn Write,
    judgements: impl IntoIterator<Item = &'j Judgement>,
) -> io::Result<()> {
    write_lines(out, judgements.into_iter().map(JudgementV1::from))
}

fn write_lines(out: &mut dyn Write, values: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
    for value in values {
        serde_json::to_writer(&mut *out, &value)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without serde's `float_roundtrip` a number may change in the last digit, and a stored run would score differently when replayed.
    #[test]
    fn numbers_round_trip() {
        let numbers = [51.248178375505404, 0.1 + 0.2, 5e-324, f64::MAX, 0.0];
        let text: String = (1..)
            .zip(numbers)
            .map(|(trial, n)| {
                format!(r#"{{"case":"c","tool":"t","trial":{trial},"outcome":"crashed","latency_ms":{n:?}}}{}"#, "\n")
            })
            .collect();
        let lines = NamedLines { file: "in.jsonl".to_owned(), reader: Box::new(text.as_bytes()) };
        let trials = read_trials(vec![lines], None).unwrap();
        assert_eq!(trials.iter().filter_map(|trial| trial.latency_ms).collect::<Vec<_>>(), numbers);
    }
}
