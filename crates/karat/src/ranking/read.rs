//! Rankings from CSV, with a column `tool` and a column `rank` or `score`, or from JSONL with the same names.

use super::Rankings;
use karat_format::diagnostic::{Diagnostic, Faults, Level};
use karat_format::document::rows::{Row, each_row};
use karat_format::document::{Fault, Source, decode_lines, schema_of, suggest};
use karat_format::ranking::RankedV1;
use std::collections::{BTreeMap, HashMap};

/// The name of the one expert where nobody is named.
const ALONE: &str = "expert";

const HEADER: &str = "a ranking starts with the line `tool,rank` or `tool,score`, and may have a column `expert`";

/// Reads a ranking of these tools. Nothing is taken where anything is wrong, and all faults come at once.
pub fn read(file: &str, text: &str, tools: &[&str]) -> Result<Rankings, Faults> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut heard =
        RankingReader { file, tools, places: HashMap::new(), kinds: HashMap::new(), rankings: Rankings::default() };
    let faults = if text.trim_start().starts_with('{') { heard.lines(text) } else { heard.sheet(text) };
    if faults.iter().any(|fault| fault.level == Level::Error) {
        return Err(Faults(faults));
    }
    if heard.rankings.experts.is_empty() {
        let message = format!("the file ranks no tool; {HEADER}");
        return Err(Faults(vec![Diagnostic::of_file(file, "no-ranking", message)]));
    }
    Ok(heard.rankings)
}

/// What was read so far.
struct RankingReader<'a> {
    file: &'a str,
    tools: &'a [&'a str],
    /// Where each expert spoke of each tool.
    places: HashMap<(String, String), usize>,
    /// What each expert states, and where that was first seen.
    kinds: HashMap<String, (&'static str, usize)>,
    rankings: Rankings,
}

/// What one line says.
struct RankingLine<'a> {
    line: usize,
    tool: &'a str,
    expert: &'a str,
    kind: &'static str,
    value: f64,
}

/// What is wrong with a line: the column, a code, words, and what to do.
type Wrong = (&'static str, &'static str, String, Option<String>);

impl RankingReader<'_> {
    fn take(&mut self, said: &RankingLine<'_>) -> Result<(), Wrong> {
        let RankingLine { line, tool, expert, kind, value } = *said;
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
            // What could not be read is said already, and stand-ins rank nothing.
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
            let said = RankingLine { line: number, tool: value.tool.trim(), expert, kind, value: stated };
            match self.take(&said) {
                Ok(()) => Vec::new(),
                Err((column, code, message, help)) => {
                    let fault = line.at(&[column.into()], code, message);
                    vec![Diagnostic { help, ..fault }]
                }
            }
        })
    }

    fn sheet(&mut self, text: &str) -> Vec<Diagnostic> {
        let (mut columns, mut faults, mut wrong_header) = (None, Vec::new(), None);
        let unreadable = each_row(text, |row| {
            match &columns {
                None => match self.header(row) {
                    Ok(found) => columns = Some(found),
                    Err(wrong) => wrong_header = Some(wrong),
                },
                Some(columns) => faults.extend(self.row(row, columns)),
            }
            wrong_header.is_none()
        });
        faults.extend(unreadable);
        faults.extend(wrong_header.into_iter().flatten());
        if columns.is_none() && faults.is_empty() {
            faults.push(Fault::new("no-header", 0..0, format!("the file is empty; {HEADER}")));
        }
        Source::new(self.file, text).diagnostics(faults)
    }

    fn header(&mut self, row: &Row<'_>) -> Result<Columns, Vec<Fault>> {
        let mut places: BTreeMap<&'static str, usize> = BTreeMap::new();
        let (mut faults, mut others) = (Vec::new(), Vec::new());
        for (at, name) in row.record.iter().enumerate() {
            let name = name.trim().to_lowercase();
            match ["tool", "rank", "score", "expert"].into_iter().find(|known| *known == name) {
                None => others.push(name),
                Some(known) if places.insert(known, at).is_some() => {
                    let message = format!("duplicate column `{known}`");
                    faults.push(Fault::new("duplicate-column", row.span(at), message));
                }
                Some(_) => {}
            }
        }
        let value = match (places.get("rank"), places.get("score")) {
            (Some(&rank), None) => Some(("rank", rank)),
            (None, Some(&score)) => Some(("score", score)),
            (Some(_), Some(&score)) => {
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
        if !places.contains_key("tool") {
            let message = format!("missing column `tool`; {HEADER}");
            faults.push(Fault::new("missing-column", row.full_span(), message));
        }
        match (places.get("tool"), value) {
            (Some(&tool), Some(value)) if faults.is_empty() => {
                if !others.is_empty() {
                    let some: Vec<&str> = others.iter().take(8).map(String::as_str).collect();
                    self.rankings.notes.push(format!("{}: ignored columns: {}", self.file, some.join(", ")));
                }
                Ok(Columns { tool, value, expert: places.get("expert").copied(), count: row.record.len() })
            }
            _ => Err(faults),
        }
    }

    fn row(&mut self, row: &Row<'_>, columns: &Columns) -> Option<Fault> {
        if row.is_blank() {
            return None;
        }
        if let Some(fault) = row.wrong_width(columns.count) {
            return Some(fault);
        }
        let (kind, at) = columns.value;
        let Ok(value) = row.field(at).parse() else {
            let message = format!("the {kind} is {:?}; expected a number", row.field(at));
            return Some(Fault::new("bad-value", row.span(at), message));
        };
        let expert = columns.expert.map(|at| row.field(at)).filter(|name| !name.is_empty()).unwrap_or(ALONE);
        let said = RankingLine { line: row.line, tool: row.field(columns.tool), expert, kind, value };
        let (column, code, message, help) = self.take(&said).err()?;
        let place = if column == "tool" { columns.tool } else { at };
        let fault = Fault::new(code, row.span(place), message);
        Some(match help {
            Some(help) => fault.with_help(help),
            None => fault,
        })
    }
}

/// Where the columns are.
struct Columns {
    tool: usize,
    value: (&'static str, usize),
    expert: Option<usize>,
    count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

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
