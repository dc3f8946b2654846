//! Rankings from CSV, with a column `tool` and a column `rank` or `score`, or from JSONL with the same names.

use super::Rankings;
use karat_format::diagnostic::{Diagnostic, Faults, Level};
use karat_format::document::rows::{Header, Row, read_rows};
use karat_format::document::{Fault, Source, decode_lines, schema_of, suggest};
use karat_format::ranking::RankedV1;
use std::collections::HashMap;

/// The expert if none is named.
const ALONE: &str = "expert";

const HEADER: &str = "a ranking starts with the line `tool,rank` or `tool,score`, and may have a column `expert`";

/// Reads a ranking of these tools, or returns all its faults.
pub fn read(file: &str, text: &str, tools: &[&str]) -> Result<Rankings, Faults> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        RankingReader { file, tools, places: HashMap::new(), kinds: HashMap::new(), rankings: Rankings::default() };
    let faults = if text.trim_start().starts_with('{') {
        reader.lines(text)
    } else {
        Source::new(file, text).diagnostics(read_rows(
            text,
            HEADER,
            &mut reader,
            RankingReader::header,
            RankingReader::row,
        ))
    };
    if faults.iter().any(|fault| fault.level == Level::Error) {
        return Err(Faults(faults));
    }
    if reader.rankings.experts.is_empty() {
        let message = format!("the file ranks no tool; {HEADER}");
        return Err(Faults(vec![Diagnostic::of_file(file, "no-ranking", message)]));
    }
    Ok(reader.rankings)
}

struct RankingReader<'a> {
    file: &'a str,
    tools: &'a [&'a str],
    /// The line of each expert and tool.
    places: HashMap<(String, String), usize>,
    /// Whether each expert gives ranks or scores, and the line that says so.
    kinds: HashMap<String, (&'static str, usize)>,
    rankings: Rankings,
}

struct RankingLine<'a> {
    line: usize,
    tool: &'a str,
    expert: &'a str,
    kind: &'static str,
    value: f64,
}

/// A fault of a line: column, code, message and help.
type Wrong = (&'static str, &'static str, String, Option<String>);

impl RankingReader<'_> {
    fn take(&mut self, line: &RankingLine<'_>) -> Result<(), Wrong> {
        let RankingLine { line, tool, expert, kind, value } = *line;
        if tool.is_empty() {
            return Err(("tool", "missing-value", "the tool is missing".to_owned(), None));
        }
        if !self.tools.contains(&tool) {
            let near = suggest::nearest(tool, self.tools.iter().copied());
            let there = || format!("there are {}", self.tools.iter().take(12).copied().collect::<Vec<_>>().join(", "));
            let help = near.map_or_else(there, |near| format!("did you mean `{near}`?"));
            return Err(("tool", "unknown-tool", format!("unknown tool `{tool}`: no report has it"), Some(help)));
        }
        if !value.is_finite() || kind == "rank" && value < 1.0 {
            let wanted = if kind == "rank" { "a number from 1, which is the best" } else { "a number" };
            return Err((kind, "bad-value", format!("the {kind} of `{tool}` is {value}; expected {wanted}"), None));
        }
        let (before, at) = *self.kinds.entry(expert.to_owned()).or_insert((kind, line));
        if before != kind {
            let message = format!("{expert} gives a {kind} here and a {before} at line {at}");
            return Err((kind, "mixed-kinds", message, Some("give each expert ranks or scores, not both".to_owned())));
        }
        if let Some(earlier) = self.places.insert((expert.to_owned(), tool.to_owned()), line) {
            let message = format!("{expert} has already ranked `{tool}`, at line {earlier}");
            let help = "keep one of the lines, or name different experts in a column `expert`";
            return Err(("tool", "duplicate-tool", message, Some(help.to_owned())));
        }
        let goodness = if kind == "rank" { -value } else { value };
        self.rankings.experts.entry(expert.to_owned()).or_default().insert(tool.to_owned(), goodness + 0.0);
        Ok(())
    }

    fn lines(&mut self, text: &str) -> Vec<Diagnostic> {
        let schema = schema_of::<RankedV1>();
        decode_lines::<RankedV1>(self.file, text.as_bytes(), &schema, |number, value, line| {
            // The line's faults are already reported.
            if !line.wrong.is_empty() {
                return Vec::new();
            }
            let (kind, stated) = match (value.rank, value.score) {
                (Some(rank), None) => ("rank", rank),
                (None, Some(score)) => ("score", score),
                (both, _) => {
                    let found = if both.is_some() { "both `rank` and `score`" } else { "neither `rank` nor `score`" };
                    let message = format!("this line has {found}; expected one of them");
                    return vec![line.at(&[], "bad-value", message)];
                }
            };
            let expert = value.expert.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or(ALONE);
            let ranked = RankingLine { line: number, tool: value.tool.trim(), expert, kind, value: stated };
            match self.take(&ranked) {
                Ok(()) => Vec::new(),
                Err((column, code, message, help)) => {
                    let fault = line.at(&[column.into()], code, message);
                    vec![Diagnostic { help, ..fault }]
                }
            }
        })
    }

    fn header(&mut self, row: &Row<'_>) -> Result<Columns, Vec<Fault>> {
        let Header { known: [tool, rank, score, expert], others, mut faults } =
            row.header(["tool", "rank", "score", "expert"]);
        let value = match (rank, score) {
            (Some(rank), None) => Some(("rank", rank)),
            (None, Some(score)) => Some(("score", score)),
            (Some(_), Some(score)) => {
                let message = "there is a column `rank` and a column `score`; keep one of them";
                faults.push(Fault::new("duplicate-column", row.span(score), message));
                None
            }
            (None, None) => {
                let message = format!("missing column `rank` or `score`; {HEADER}");
                faults.push(Fault::new("missing-column", row.full_span(), message));
                None
            }
        };
        if tool.is_none() {
            let message = format!("missing column `tool`; {HEADER}");
            faults.push(Fault::new("missing-column", row.full_span(), message));
        }
        let (Some(tool), Some(value), true) = (tool, value, faults.is_empty()) else { return Err(faults) };
        if !others.is_empty() {
            let some: Vec<&str> = others.iter().take(8).map(|(_, name)| name.as_str()).collect();
            self.rankings.notes.push(format!("{}: ignored columns: {}", self.file, some.join(", ")));
        }
        Ok(Columns { tool, value, expert, count: row.record.len() })
    }

    fn row(&mut self, row: &Row<'_>, columns: &Columns) -> Vec<Fault> {
        if row.is_blank() {
            return Vec::new();
        }
        if let Some(fault) = row.wrong_width(columns.count) {
            return vec![fault];
        }
        let (kind, at) = columns.value;
        let Ok(value) = row.field(at).parse() else {
            let message = format!("the {kind} is {:?}; expected a number", row.field(at));
            return vec![Fault::new("bad-value", row.span(at), message)];
        };
        let expert = columns.expert.map(|at| row.field(at)).filter(|name| !name.is_empty()).unwrap_or(ALONE);
        let line = RankingLine { line: row.line, tool: row.field(columns.tool), expert, kind, value };
        let Err((column, code, message, help)) = self.take(&line) else { return Vec::new() };
        let place = if column == "tool" { columns.tool } else { at };
        let fault = Fault::new(code, row.span(place), message);
        vec![match help {
            Some(help) => fault.with_help(help),
            None => fault,
        }]
    }
}

struct Columns {
    tool: usize,
    value: (&'static str, usize),
    expert: Option<usize>,
    count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const TOOLS: [&str; 3] = ["alpha", "beta", "gamma"];

    fn parse(text: &str) -> Result<String, String> {
        let Rankings { experts, notes } = read("r.csv", text, &TOOLS).map_err(|faults| {
            let lines = faults.0.iter().map(|f| format!("{}:{} {}", f.line, f.column, f.message));
            lines.collect::<Vec<_>>().join("\n")
        })?;
        let order = |(name, order): (String, BTreeMap<String, f64>)| {
            let tools: Vec<String> = order.iter().map(|(tool, value)| format!("{tool} {value}")).collect();
            format!("{name}: {}", tools.join(", "))
        };
        Ok(experts.into_iter().map(order).chain(notes).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn rankings_are_read_in_every_form() {
        let check = |text: &str, expect: &str| assert_eq!(parse(text), Ok(expect.to_owned()), "{text}");
        check("tool,rank\nalpha,1\nbeta,2\n", "expert: alpha -1, beta -2");
        check(
            "\u{feff}Score;Tool;Why\r\n0.5;beta;x\r\n\r\n7;alpha;\r\n",
            "expert: alpha 7, beta 0.5; r.csv: ignored columns: why",
        );
        check(
            "tool\trank\texpert\nalpha\t1.5\tanna\nbeta\t1.5\tanna\nbeta\t1\tben\n",
            "anna: alpha -1.5, beta -1.5; ben: beta -1",
        );
        check(
            "{\"tool\": \"alpha\", \"rank\": 1}\n\n{\"tool\": \"beta\", \"score\": 3, \"expert\": \"ben\"}\n",
            "ben: beta 3; expert: alpha -1",
        );
    }

    #[test]
    fn all_faults_come_at_once_with_their_places() {
        let check = |text: &str, expect: &[&str]| assert_eq!(parse(text), Err(expect.join("\n")), "{text}");
        let empty = format!("1:1 the file is empty; {HEADER}");
        check("", &[&empty]);
        check(
            "\n \n",
            &[
                &format!("2:1 missing column `rank` or `score`; {HEADER}"),
                &format!("2:1 missing column `tool`; {HEADER}"),
            ],
        );
        check("tool,rank\n", &[&format!("0:0 the file ranks no tool; {HEADER}")]);
        check(
            "alpha,1\n",
            &[
                &format!("1:1 missing column `rank` or `score`; {HEADER}"),
                &format!("1:1 missing column `tool`; {HEADER}"),
            ],
        );
        check(
            "tool,rank,score,tool\n",
            &["1:11 there is a column `rank` and a column `score`; keep one of them", "1:17 duplicate column `tool`"],
        );
        check(
            "tool,rank\nalpha,1\nalpha,2\nbetta,1\n,3\nbeta,0\ngamma,best\nbeta\nbeta,nan\n",
            &[
                "3:1 expert has already ranked `alpha`, at line 2",
                "4:1 unknown tool `betta`: no report has it",
                "5:1 the tool is missing",
                "6:6 the rank of `beta` is 0; expected a number from 1, which is the best",
                "7:7 the rank is \"best\"; expected a number",
                "8:1 this row has 1 fields, but the header has 2",
                "9:6 the rank of `beta` is NaN; expected a number from 1, which is the best",
            ],
        );
        check(
            "{\"tool\": \"alpha\", \"rank\": 1}\n{\"tool\": \"beta\", \"score\": 1}\n{\"tool\": \"gamma\"}\n{\"tool\": \"alpha\", \"rank\": 1, \"score\": 1}\n",
            &[
                "2:27 expert gives a score here and a rank at line 1",
                "3:1 this line has neither `rank` nor `score`; expected one of them",
                "4:1 this line has both `rank` and `score`; expected one of them",
            ],
        );
    }
}
