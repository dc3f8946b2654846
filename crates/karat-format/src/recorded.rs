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
    let mut trials = Vec::new();
    scan_trials(inputs, suite, &mut |trial, _| trials.push(trial))?;
    Ok(trials)
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlace<'l> {
    /// Index of the input.
    pub input: usize,
    /// The byte offset of the line in the input, decoded.
    pub offset: u64,
    /// The line without its line break.
    pub text: &'l str,
}

/// Reads submissions and hands over one trial at a time, so that they need not fit into memory. What was handed over counts only
/// if there are no faults.
pub fn scan_trials(
    inputs: Vec<NamedLines<'_>>,
    suite: Option<&Suite>,
    each: &mut dyn FnMut(Trial, LinePlace<'_>),
) -> Result<(), Faults> {
    let cases: Option<HashSet<&str>> = suite.map(|suite| suite.cases.iter().map(|c| c.id.as_str()).collect());
    let files: Vec<String> = inputs.iter().map(|input| input.file.clone()).collect();
    let mut suggestions = MAX_SUGGESTIONS;
    // By the numbers of case and tool and by trial: the input and the number of the line.
    let mut places: HashMap<(u32, u32, u32), (u32, u32)> = HashMap::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    scan_all(inputs, |value: TrialV1, line, input| {
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
        if ["case", "tool", "trial"].iter().all(|key| stated(key)) {
            let mut number = |name: &str| match numbers.get(name) {
                Some(known) => *known,
                None => {
                    let next = numbers.len() as u32;
                    numbers.insert(name.to_owned(), next);
                    next
                }
            };
            let key = (number(trial.case.as_str()), number(trial.tool.as_str()), trial.number);
            if let Some((file, at)) = places.insert(key, (input as u32, line.number as u32)) {
                let Trial { number, tool, case, .. } = &trial;
                let earlier = format!("{}:{at}", files[file as usize]);
                let message = format!("trial {number} of {tool} on {case} is already given, at {earlier}");
                own.push(line.at(&["trial".into()], "duplicate-trial", message));
            }
        }
        each(trial, LinePlace { input, offset: line.offset as u64, text: line.text });
        own
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
    let mut values = Vec::new();
    scan_all(inputs, |value, line, _| {
        let (value, own) = each(value, line, format!("{}:{}", line.file, line.number));
        values.push(value);
        own
    })?;
    Ok(values)
}

/// Reads the values of all inputs. `each` gets one with its line and the index of its input, and returns its faults.
fn scan_all<V: DeserializeOwned + JsonSchema>(
    inputs: Vec<NamedLines<'_>>,
    mut each: impl FnMut(V, &Line<'_>, usize) -> Vec<Diagnostic>,
) -> Result<(), Faults> {
    let schema = schema_of::<V>();
    let mut faults = Vec::new();
    for (input, NamedLines { file, reader }) in inputs.into_iter().enumerate() {
        faults.extend(decode_lines::<V>(&file, reader, &schema, |_, value, line| each(value, line, input)));
    }
    if faults.iter().any(|fault| fault.level == Level::Error) { Err(Faults(faults)) } else { Ok(()) }
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
