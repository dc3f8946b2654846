//! Rankings and judgements in the text formats of TREC, with results in the layout of `trec_eval` and as JSON.

use karat_core::trec::{Evaluation, Measure, Qrels, TrecRun};
use karat_core::wording::count;
use karat_format::diagnostic::{Diagnostic, Fault, Faults, harmless};
use karat_format::diagnostic_groups::{DiagnosticGroups, stopped};
use karat_format::document::Source;
use karat_format::recorded::NamedLines;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read};

const ALL: &str = "all";

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Evaluated {
    pub run: String,
    pub topics: usize,
    /// Topics of the run without judgements, which are left out.
    pub unjudged_topics: Vec<String>,
    /// Judged topics that are missing in the run: left out, or counted as 0 if `complete`.
    pub missing_topics: Vec<String>,
    /// Whether those count as 0.
    pub complete: bool,
    pub all: Values,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_topic: Option<BTreeMap<String, Values>>,
    /// The names of the measures, in the order in which they are shown, and which of them are counts.
    #[serde(skip)]
    columns: Vec<(String, bool)>,
}

/// Values by the names of their measures.
pub type Values = BTreeMap<String, f64>;

impl Evaluated {
    /// The values of the measures, by topic with `per_query`.
    pub fn new(evaluation: &Evaluation, measures: &[Measure], per_query: bool, complete: bool) -> Self {
        let over_all = |measure: &Measure| (measure.name(), evaluation.over_all(*measure, complete));
        let topic = |(topic, ranking): &(String, _)| {
            let values = measures.iter().filter_map(|measure| Some((measure.name(), measure.value_for(ranking)?)));
            (topic.clone(), values.collect())
        };
        Self {
            run: evaluation.run.clone(),
            topics: evaluation.topics.len(),
            unjudged_topics: evaluation.unjudged.clone(),
            missing_topics: evaluation.missing.clone(),
            complete,
            all: measures.iter().map(over_all).collect(),
            by_topic: per_query.then(|| evaluation.topics.iter().map(topic).collect()),
            columns: measures.iter().map(|measure| (measure.name(), measure.family.is_count())).collect(),
        }
    }
}

/// Renders one line per value: topics first, then all together. With `run_name`, the run's name comes before the latter.
pub fn draw(evaluated: &Evaluated, run_name: bool) -> String {
    let mut lines = String::new();
    for (topic, values) in evaluated.by_topic.iter().flatten() {
        draw_values(&mut lines, &harmless(topic), values, &evaluated.columns);
    }
    if run_name {
        lines.push_str(&line("runid", ALL, &harmless(&evaluated.run)));
    }
    draw_values(&mut lines, ALL, &evaluated.all, &evaluated.columns);
    lines
}

fn draw_values(lines: &mut String, topic: &str, values: &Values, columns: &[(String, bool)]) {
    for (name, is_count) in columns {
        if let Some(value) = values.get(name) {
            let value = if *is_count { format!("{value:.0}") } else { format!("{value:.4}") };
            lines.push_str(&line(name, topic, &value));
        }
    }
}

fn line(name: &str, topic: &str, value: &str) -> String {
    format!("{name:<22}\t{topic}\t{value}\n")
}

const QRELS: &str = "a line of judgements is `topic 0 document relevance`";
const RUN: &str = "a line of a run is `topic Q0 document rank score name`";

/// In bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// Reads judgements.
pub fn read_qrels(input: NamedLines<'_>) -> Result<Qrels, Faults> {
    let mut qrels = Qrels::new();
    let mut seen = SeenDocuments::new();
    each_line(input, QRELS, |number, line, words| {
        let &[topic, _, document, relevance] = words else {
            let swapped = (words.len() == 6 && words[4].parse::<f64>().is_ok())
                .then_some("this looks like a run: give the judgements first, then the run");
            return Err(wrong_width(line, words.len(), 4, swapped.unwrap_or(QRELS)));
        };
        let level = relevance.parse::<i64>().map_err(|_| {
            let message = format!("invalid relevance `{relevance}`: expected a whole number");
            let help = "0 is not relevant, 1 and more is, below 0 is not judged";
            fault(line, relevance, "bad-relevance", message).with_help(help)
        })?;
        refuse_twice(&mut seen, number, line, [topic, document], "is judged")?;
        qrels.entry(topic.to_owned()).or_default().insert(document.to_owned(), level);
        Ok(())
    })?;
    Ok(qrels)
}

/// Reads a run, with notes on it. Scores decide, as in `trec_eval`; ranks are ignored.
pub fn read_run(input: NamedLines<'_>) -> Result<(TrecRun, Vec<String>), Faults> {
    let mut run = TrecRun::default();
    let mut seen = SeenDocuments::new();
    let mut names: Vec<String> = Vec::new();
    let file = input.file.clone();
    each_line(input, RUN, |number, line, words| {
        let &[topic, _, document, _, score, name, ..] = words else {
            let swapped = (words.len() == 4 && words[3].parse::<i64>().is_ok())
                .then_some("this looks like judgements: give them first, then the run");
            return Err(wrong_width(line, words.len(), 6, swapped.unwrap_or(RUN)));
        };
        let value = score.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
            let message = format!("invalid score `{score}`: expected a number");
            fault(line, score, "bad-score", message).with_help(format!("{RUN}; a greater score comes first"))
        })?;
        refuse_twice(&mut seen, number, line, [topic, document], "is ranked")?;
        let scored = (document.to_owned(), value);
        run.topics.entry(topic.to_owned()).or_default().push(scored);
        if run.name != name {
            name.clone_into(&mut run.name);
            if !names.contains(&run.name) && names.len() < 8 {
                names.push(run.name.clone());
            }
        }
        Ok(())
    })?;
    let several = || format!("{file} holds lines of several runs ({}); they are taken as one", names.join(", "));
    let notes = if names.len() > 1 { vec![several()] } else { Vec::new() };
    Ok((run, notes))
}

/// The line of each document, by topic.
type SeenDocuments = HashMap<String, HashMap<String, usize>>;

fn refuse_twice(
    seen: &mut SeenDocuments,
    number: usize,
    line: &str,
    [topic, document]: [&str; 2],
    done: &str,
) -> Result<(), Fault> {
    let lines = seen.entry(topic.to_owned()).or_default();
    if let Some(earlier) = lines.get(document) {
        let message = format!("{document} {done} for topic {topic} already, at line {earlier}");
        return Err(fault(line, document, "duplicate-document", message).with_help("keep one of the lines"));
    }
    lines.insert(document.to_owned(), number);
    Ok(())
}

/// A fault at a part of a line.
fn fault(line: &str, part: &str, code: &'static str, message: String) -> Fault {
    let at = part.as_ptr() as usize - line.as_ptr() as usize;
    Fault::new(code, at..at + part.len(), message)
}

fn wrong_width(line: &str, found: usize, wanted: usize, help: &str) -> Fault {
    let message = format!("this line has {}, expected {wanted}", count(found, "column"));
    fault(line, line.trim(), "wrong-width", message).with_help(help)
}

/// Passes the words of every line that is not empty and not a comment to `each`; a text without such lines is a fault.
fn each_line(
    mut input: NamedLines<'_>,
    format: &str,
    mut each: impl FnMut(usize, &str, &[&str]) -> Result<(), Fault>,
) -> Result<(), Faults> {
    let file = input.file;
    let mut faults = DiagnosticGroups::default();
    let (mut number, mut offset, mut lines) = (0, 0, 0_usize);
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => number += 1,
            Err(error) => {
                let message = format!("could not be read after line {number}: {error}");
                faults.push(Diagnostic::of_file(&file, "unreadable", message).with_help("copy the whole file again"));
                break;
            }
        }
        let is_endless = line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n");
        let first = line.utf8_chunks().next();
        let (text, is_text) = first.map_or(("", true), |chunk| (chunk.valid(), chunk.invalid().is_empty()));
        // A byte order mark is not part of the first word.
        let mark = if number == 1 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let text = &text[mark..];
        let result = if is_endless {
            let fault = Fault::new("endless-line", 0..0, format!("this line is longer than {LONGEST_LINE} bytes"));
            Err(fault.with_help(format!("{format}; is this the right file?")))
        } else if !is_text {
            Err(Fault::new("bad-encoding", text.len()..text.len(), "invalid UTF-8").with_help("save the file as UTF-8"))
        } else if text.trim_start().starts_with('#') || text.trim().is_empty() {
            Ok(())
        } else {
            lines += 1;
            each(number, text, &text.split_whitespace().collect::<Vec<_>>())
        };
        if let Err(fault) = result {
            faults.push(Source::part(&*file, text, number, offset + mark).diagnostic(fault));
        }
        if is_endless {
            // The rest would be reported as further lines.
            break;
        }
        if faults.is_full() {
            faults.push(stopped(&file, &format!("line {number}")));
            break;
        }
        offset += line.len();
    }
    let mut faults = faults.into_diagnostics();
    if lines == 0 && faults.is_empty() {
        let fault = Diagnostic::of_file(&file, "empty-file", "the file has no line that says anything");
        faults.push(fault.with_help(format!("{format}; fields are separated by spaces or tabs")));
    }
    if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> NamedLines<'_> {
        NamedLines { file: "f".to_owned(), reader: Box::new(text.as_bytes()) }
    }

    fn listed(faults: &Faults) -> String {
        let line = |d: &Diagnostic| format!("{}:{}:{} {}", d.file, d.line, d.column, d.message);
        faults.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn qrels_fault(text: &str, expect: &str) {
        assert_eq!(listed(&read_qrels(lines(text)).unwrap_err()), expect, "{text:?}");
    }

    #[track_caller]
    fn run_fault(text: &str, expect: &str) {
        assert_eq!(listed(&read_run(lines(text)).unwrap_err()), expect, "{text:?}");
    }

    #[test]
    fn odd_files_are_read() {
        let qrels = read_qrels(lines("\u{feff}1 0 a 1\r\n\r\n# a comment\r\n2\t0\tb\t-1\n  1  0  b  0")).unwrap();
        let levels: Vec<String> =
            qrels.iter().flat_map(|(t, d)| d.iter().map(move |(d, level)| format!("{t} {d} {level}"))).collect();
        assert_eq!(levels, ["1 a 1", "1 b 0", "2 b -1"]);
        let (run, notes) = read_run(lines("2 Q0 a 1 1e3 x\n1 Q0 a 7 -2.5 x more words\n2 Q0 b 2 .5 x")).unwrap();
        assert_eq!((run.name.as_str(), run.topics.len(), notes.len()), ("x", 2, 0));
        assert_eq!(run.topics["2"][1], ("b".to_owned(), 0.5));
        let (run, notes) = read_run(lines("1 Q0 a 1 1 x\n1 Q0 b 1 1 y\n1 Q0 c 1 1 x")).unwrap();
        assert_eq!(run.name, "x");
        assert_eq!(notes, ["f holds lines of several runs (x, y); they are taken as one"]);
    }

    #[test]
    fn all_faults_come_with_their_places() {
        qrels_fault(
            "1 0 a\n1 0 a 1\n1 0 b x\n1 0 a 0\n",
            "\
f:1:1 this line has 3 columns, expected 4
f:3:7 invalid relevance `x`: expected a whole number
f:4:5 a is judged for topic 1 already, at line 2",
        );
        run_fault(
            "1 Q0 a 1 nan x\n 1 Q0 a 1 2\n1 Q0 a 1 3 x\n1 Q0 a 2 2 x\n",
            "\
f:1:10 invalid score `nan`: expected a number
f:2:2 this line has 5 columns, expected 6
f:4:6 a is ranked for topic 1 already, at line 3",
        );
        qrels_fault("", "f:0:0 the file has no line that says anything");
        let bytes = b"1 0 a 1\n1 0 \xff 1\n";
        let input = NamedLines { file: "f".to_owned(), reader: Box::new(&bytes[..]) };
        assert_eq!(listed(&read_qrels(input).unwrap_err()), "f:2:5 invalid UTF-8");
        run_fault("\n# x\n", "f:0:0 the file has no line that says anything");
    }

    #[test]
    fn swapped_files_are_recognised() {
        let help = |faults: Faults| faults.0[0].help.clone().unwrap();
        assert!(help(read_qrels(lines("1 Q0 a 1 0.5 x")).unwrap_err()).contains("looks like a run"));
        assert!(help(read_run(lines("1 0 a 1")).unwrap_err()).contains("looks like judgements"));
    }

    #[test]
    fn no_text_is_endless() {
        let long = "x".repeat(1 << 17);
        qrels_fault(&long, "f:1:1 this line is longer than 65536 bytes");
        let faults = read_run(lines(&"1\n".repeat(100_000))).unwrap_err();
        assert_eq!((faults.0.len(), faults.0[4].more, faults.0[5].code), (6, 995, "stopped"));
    }
}
