//! Experts' rankings of tools, from CSV or JSONL, combined with the tools of reports.

#![expect(missing_docs, reason = "names of fields say it")]

use crate::failure::{Failure, Result};
use karat_core::calibrate::sui::{Expert, Parts};
use karat_core::metric::composite::SuiParts;
use karat_core::metric::{Undefined, Value};
use karat_core::profile::Profile;
use karat_format::diagnostic::{Diagnostic, Fault, Faults, Level};
use karat_format::document::rows::{Header, Row, read_rows};
use karat_format::document::{decode_lines, schema_of, suggest};
use karat_format::ranking::RankedV1;
use karat_format::report::{MetricsV1, ReportV1, ToolV1};
use std::collections::{BTreeMap, HashMap};

/// Rankings by expert and tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rankings {
    /// More is better, and only the order counts.
    pub experts: BTreeMap<String, BTreeMap<String, f64>>,
    pub notes: Vec<String>,
}

/// Rankings of the tools that can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The ranked tools that have all parts, with these parts.
    pub tools: Vec<(String, Parts)>,
    /// What the experts think of them, by index.
    pub experts: Vec<Expert>,
    pub left_out: Vec<LeftOut>,
}

/// A tool that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    pub tool: String,
    pub why: String,
}

/// Checks that named reports can be combined: one suite, one set of rules, every tool once.
pub fn fit_together(reports: &[(String, ReportV1)]) -> Result<()> {
    let mut reports_by_tool: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, report) in reports {
        let (first, other) = &reports[0];
        if other.suite.digest != report.suite.digest {
            let message = "were scored against different suites; score all tools against the same one";
            return Err(Failure::bad_input(format!("{first} and {name} {message}")));
        }
        if other.profile != report.profile {
            let message = "were scored by different rules; score all tools by the same profile";
            return Err(Failure::bad_input(format!("{first} and {name} {message}")));
        }
        for ToolV1 { tool, .. } in &report.tools {
            if let Some(earlier) = reports_by_tool.insert(tool, name) {
                let message = format!("{earlier} and {name} both have the tool `{tool}`; give each tool once");
                return Err(Failure::bad_input(message));
            }
        }
    }
    Ok(())
}

/// Combines rankings with the tools of reports. The parts are those of `sui` under the profile, filled in where it does so.
pub fn put(rankings: &Rankings, reports: &[(String, ReportV1)], profile: &Profile) -> Ranked {
    let mut ranked = Ranked::default();
    for tool in reports.iter().flat_map(|(_, report)| &report.tools) {
        let known = rankings.experts.values().any(|order| order.contains_key(&tool.tool));
        let parts = if known { parts(&tool.metrics, profile) } else { Err("it was not ranked".to_owned()) };
        match parts {
            Ok(parts) => ranked.tools.push((tool.tool.clone(), parts)),
            Err(why) => ranked.left_out.push(LeftOut { tool: tool.tool.clone(), why }),
        }
    }
    for (name, order) in &rankings.experts {
        let own = ranked.tools.iter().enumerate().filter_map(|(at, (tool, _))| Some((at, *order.get(tool)?)));
        ranked.experts.push(Expert { name: name.clone(), order: own.collect() });
    }
    ranked
}

/// The parts of a tool's index, or which is missing and why.
fn parts(metrics: &MetricsV1, profile: &Profile) -> Result<Parts, String> {
    let why = |id: &str| {
        let reason = metrics.get(id).and_then(|estimate| estimate.undefined.as_deref());
        format!("it has no `{id}`: {}", reason.unwrap_or("the report does not have it"))
    };
    let value = |id: &str| -> Value {
        metrics.get(id).and_then(|estimate| estimate.value).ok_or(Undefined("the report does not have it"))
    };
    // A tool without an index, even with missing parts filled in, was never audited.
    if profile.audit_conventions.sui_fills_missing && value("sui").is_err() {
        return Err(why("sui"));
    }
    SuiParts(SuiParts::ids(profile).map(value)).known(profile).map_err(why)
}

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
        read_rows(file, text, HEADER, &mut reader, RankingReader::header, RankingReader::row)
    };
    if faults.iter().any(|fault| fault.level == Level::Error) {
        return Err(Faults(faults));
    }
    if reader.rankings.experts.is_empty() {
        return Err(Faults(vec![Diagnostic::of_file(file, "no-ranking", format!("the file ranks no tool; {HEADER}"))]));
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

/// A fault of a line: column, code, message and help.
type Wrong = (&'static str, &'static str, String, Option<String>);

impl RankingReader<'_> {
    fn take(&mut self, line: usize, tool: &str, expert: &str, kind: &'static str, value: f64) -> Result<(), Wrong> {
        if tool.is_empty() {
            return Err(("tool", "missing-value", "the tool is missing".to_owned(), None));
        }
        if !self.tools.contains(&tool) {
            let there = || format!("there are {}", self.tools.iter().take(12).copied().collect::<Vec<_>>().join(", "));
            let help = suggest::did_you_mean(tool, self.tools.iter().copied()).unwrap_or_else(there);
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
        decode_lines::<RankedV1>(self.file, text.as_bytes(), &schema_of::<RankedV1>(), |number, value, line| {
            // The line's faults are already reported.
            if !line.wrong.is_empty() {
                return Vec::new();
            }
            let (kind, stated) = match (value.rank, value.score) {
                (Some(rank), None) => ("rank", rank),
                (None, Some(score)) => ("score", score),
                (both, _) => {
                    let found = if both.is_some() { "both `rank` and `score`" } else { "neither `rank` nor `score`" };
                    return vec![line.at(&[], "bad-value", format!("this line has {found}; expected one of them"))];
                }
            };
            let expert = value.expert.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or(ALONE);
            match self.take(number, value.tool.trim(), expert, kind, stated) {
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
            faults.push(Fault::new("missing-column", row.full_span(), format!("missing column `tool`; {HEADER}")));
        }
        let (Some(tool), Some(value), true) = (tool, value, faults.is_empty()) else { return Err(faults) };
        if !others.is_empty() {
            let some: Vec<&str> = others.iter().take(8).map(|(_, name)| name.as_str()).collect();
            self.rankings.notes.push(format!("{}: ignored columns: {}", self.file, some.join(", ")));
        }
        Ok(Columns { tool, value, expert })
    }

    fn row(&mut self, row: &Row<'_>, columns: &Columns) -> Vec<Fault> {
        let (kind, at) = columns.value;
        let Ok(value) = row.field(at).parse() else {
            let message = format!("the {kind} is {:?}; expected a number", row.field(at));
            return vec![Fault::new("bad-value", row.span(at), message)];
        };
        let expert = columns.expert.map(|at| row.field(at)).filter(|name| !name.is_empty()).unwrap_or(ALONE);
        let taken = self.take(row.line, row.field(columns.tool), expert, kind, value);
        let Err((column, code, message, help)) = taken else { return Vec::new() };
        let fault = Fault::new(code, row.span(if column == "tool" { columns.tool } else { at }), message);
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
