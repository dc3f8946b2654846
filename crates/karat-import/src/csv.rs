//! Any CSV with a header that names its columns.

use super::delimited::{Width, for_each_row, row_fault};
use super::fields;
use super::note_counter::{NoteCounter, quoted};
use super::{ImportError, ImportedData, Input, ReportedFinding, tool_name};
use ::csv::StringRecord;
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::path::RepoPath;
use karat_core::trial::Trial;
use karat_format::plain_id;
use std::collections::{BTreeMap, BTreeSet};

/// The names of each column; messages use the first.
const COLUMNS: &[&[&str]] = &[
    &["case", "case_id"],
    &["tool", "tool_name"],
    &["trial"],
    &["id", "finding_id"],
    &["rule_id", "rule", "check", "ruleid", "check_id"],
    &["title", "name"],
    &["message", "description", "text"],
    &["file", "path", "filename", "filepath", "file_path"],
    &["line_start", "line", "start_line", "startline", "line_number"],
    &["line_end", "end_line", "endline"],
    &["severity", "level"],
    &["confidence"],
    &["category"],
    &["cwe", "cwes", "cwe_id"],
    &["function", "symbol"],
];

/// The index of each known column, by its first name.
type Columns = BTreeMap<&'static str, usize>;

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let mut known_columns = None;
    let mut trials = Trials::default();
    let mut known: BTreeSet<ToolName> = data.tools.iter().cloned().collect();
    for_each_row(input, Width::Even, |_, record| {
        let Some(columns) = &known_columns else {
            known_columns = Some(columns(record, &mut data.counter)?);
            return Ok(());
        };
        let row = Row { record, columns };
        let tool = row.text("tool").and_then(tool_name);
        let case = row.text("case").map(CaseId::from);
        let trial = row.trial()?;
        let finding = row.finding(&mut data.counter)?;
        if let Some(tool) = tool.as_ref().filter(|tool| !known.contains(*tool)) {
            known.insert(tool.clone());
            data.tools.push(tool.clone());
        }
        match (case, tool, trial, finding) {
            (Some(case), Some(tool), Some(number), finding) => {
                trials.add(case, tool, number, finding, &mut data.counter);
            }
            (case, tool, trial, Some(finding)) => {
                if trial.is_some() {
                    data.counter.count("trial skipped: the row does not name case and tool");
                }
                data.findings.push(ReportedFinding { tool, case, finding });
            }
            (None, Some(_), None, None) => {}
            _ => data.counter.count("row skipped: it has no rule_id, title or message"),
        }
        Ok(())
    })?;
    if known_columns.is_none() {
        return Err(row_fault(path, 1, "the file is empty; expected a header that names its columns".to_owned()));
    }
    data.trials.append(&mut trials.list);
    Ok(())
}

fn columns(header: &StringRecord, counter: &mut NoteCounter) -> Result<Columns, String> {
    let mut columns = Columns::new();
    for (index, name) in header.iter().enumerate() {
        let plain = name.to_ascii_lowercase().replace([' ', '-'], "_");
        let Some(names) = COLUMNS.iter().find(|names| names.contains(&plain.as_str())) else {
            counter.count_word("unknown column ignored", name);
            continue;
        };
        if columns.insert(names[0], index).is_some() {
            return Err(format!("column {} is given twice ({}); keep one", names[0], names.join(", ")));
        }
    }
    if !["rule_id", "title", "message"].iter().any(|column| columns.contains_key(column)) {
        let given: Vec<String> = header.iter().take(20).map(quoted).collect();
        return Err(format!(
            "the header has none of rule_id, title and message, so no row says what was found; it has {}",
            given.join(", ")
        ));
    }
    Ok(columns)
}

struct Row<'a> {
    record: &'a StringRecord,
    columns: &'a Columns,
}

impl Row<'_> {
    fn text(&self, column: &str) -> Option<&str> {
        let text = self.record.get(*self.columns.get(column)?)?;
        (!text.is_empty()).then_some(text)
    }

    fn owned(&self, column: &str) -> Option<String> {
        self.text(column).map(str::to_owned)
    }

    /// `None` where the row has no finding.
    fn finding(&self, counter: &mut NoteCounter) -> Result<Option<Finding>, String> {
        let mut finding = Finding::new(self.text("id").and_then(plain_id).unwrap_or_default());
        finding.rule_id = self.owned("rule_id");
        finding.title = self.owned("title");
        finding.message = self.owned("message");
        if finding.rule_id.is_none() && finding.title.is_none() && finding.message.is_none() {
            return Ok(None);
        }
        finding.file = self.text("file").and_then(RepoPath::new);
        finding.line_start = self.line_number("line_start", counter)?;
        finding.line_end = self.line_number("line_end", counter)?;
        finding.severity = fields::severity(self.text("severity"), counter);
        finding.confidence = self.confidence(counter);
        finding.category = self.owned("category");
        finding.cwe = self.cwe(counter);
        finding.function = self.owned("function");
        Ok(Some(finding))
    }

    fn line_number(&self, column: &str, counter: &mut NoteCounter) -> Result<Option<u32>, String> {
        let Some(text) = self.text(column) else { return Ok(None) };
        match text.strip_suffix(".0").unwrap_or(text).parse() {
            Ok(number) => Ok(fields::line_number(number, counter)),
            Err(_) => Err(format!("invalid line {}: expected a number", quoted(text))),
        }
    }

    fn trial(&self) -> Result<Option<u32>, String> {
        let Some(text) = self.text("trial") else { return Ok(None) };
        match text.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(format!("invalid trial {}: expected a number of at least 1", quoted(text))),
        }
    }

    fn confidence(&self, counter: &mut NoteCounter) -> Option<f64> {
        let text = self.text("confidence")?;
        let number = match text.strip_suffix('%') {
            Some(percent) => percent.trim_end().parse::<f64>().ok().map(|percent| percent / 100.0),
            None => text.parse().ok(),
        };
        let within = fields::confidence(number);
        if within.is_none() {
            counter.count_word("confidence ignored: it is not a number from 0 to 1", text);
        }
        within
    }

    fn cwe(&self, counter: &mut NoteCounter) -> Vec<u32> {
        let mut numbers = Vec::new();
        for part in self.text("cwe").into_iter().flat_map(|text| text.split([',', ';', '|'])) {
            match fields::cwe(part) {
                Some(number) if !numbers.contains(&number) => numbers.push(number),
                Some(_) => {}
                None if part.trim().is_empty() => {}
                None => counter.count_word("unknown CWE ignored", part.trim()),
            }
        }
        numbers
    }
}

#[derive(Default)]
struct Trials {
    list: Vec<Trial>,
    index: BTreeMap<(CaseId, ToolName, u32), usize>,
    taken: BTreeSet<(usize, FindingId)>,
}

impl Trials {
    /// A row without a finding means that the trial ran.
    fn add(&mut self, case: CaseId, tool: ToolName, number: u32, finding: Option<Finding>, counter: &mut NoteCounter) {
        let at = *self.index.entry((case, tool, number)).or_insert_with_key(|(case, tool, number)| {
            self.list.push(Trial::reported(case.clone(), tool.clone(), *number));
            self.list.len() - 1
        });
        let (Some(mut finding), Some(trial)) = (finding, self.list.get_mut(at)) else { return };
        let mut next = trial.findings.len() + 1;
        if !finding.id.as_str().is_empty() && self.taken.contains(&(at, finding.id.clone())) {
            counter.count_word("duplicate finding id in a trial, replaced by a new one", finding.id.as_str());
            finding.id = FindingId::new("");
        }
        while finding.id.as_str().is_empty() || self.taken.contains(&(at, finding.id.clone())) {
            finding.id = FindingId::new(format!("f{next}"));
            next += 1;
        }
        self.taken.insert((at, finding.id.clone()));
        trial.findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn columns_are_found_by_name() {
        check(
            &import_fixture("csv", "csv/semicolons.csv"),
            r#"
            ran acme
            finding acme sqli: rule="R1" title="Query, built by hand" message="two\nlines; with \"quotes\"" file="app/db.py" start="12" end="14" severity="high" confidence="0.8" category="injection" function="q" cwe=[89, 564]
            finding -: message="only text" severity="low"
            finding -: rule="R2"
            note csv/semicolons.csv: confidence ignored: it is not a number from 0 to 1: "very" (1)
            note csv/semicolons.csv: line number ignored: line numbers start at 1 (2)
            note csv/semicolons.csv: row skipped: it has no rule_id, title or message (1)
            note csv/semicolons.csv: unknown column ignored: "Author" (1)
            note csv/semicolons.csv: unknown severity ignored: "shrug" (1)
            "#,
        );
    }

    #[test]
    fn rows_that_name_their_trial_become_trials() {
        check_text(
            "csv",
            "\u{feff}case\ttool\ttrial\tid\ttitle\n\
             a\tx\t1\t\tone\na\tx\t2\t\t\na\tx\t1\tf1\ttwo\na\tx\t1\tf1\tthree\n\t\t1\t\tfour\n",
            r#"
            ran x
            finding -: title="four"
            trial a x 1 reported
            f1: title="one"
            f2: title="two"
            f3: title="three"
            trial a x 2 reported
            note in: duplicate finding id in a trial, replaced by a new one: "f1" (2)
            note in: trial skipped: the row does not name case and tool (1)
            "#,
        );
    }

    #[test]
    fn header_without_rows_is_valid() {
        check_text("csv", "rule,tool\n,acme\n", "ran acme");
        check_text("csv", "rule\n", "");
    }

    #[test]
    fn faults_have_lines() {
        let check = |text: &str, expect: &str| check_fault("csv", text, expect);
        check("", "in:1:1: the file is empty");
        check("a,b\n", "the header has none of rule_id, title and message");
        check("rule,check\n", "column rule_id is given twice");
        check("rule,line\nx,1\ny\n", "in:3:1: this row has 1 fields, but the first row has 2");
        check("rule,line\n\"x\ny\",1\nz,two\n", "in:4:1: invalid line \"two\": expected a number");
        check("rule,trial\nx,0\n", "in:2:1: invalid trial \"0\"");
    }
}
