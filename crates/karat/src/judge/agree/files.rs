//! Opinions from files of judgements, or from CSV.

use super::csv::{from_csv, read_csv};
use super::golden_found::{Trials, read_each};
use super::judgements::from_judgements;
use super::opinions::{On, Opinions};
use super::{Agreement, agree};
use crate::failure::{Failure, Result};
use crate::submissions::{load_suite, open_lines, refuse_repeated_stdin};
use karat_format::recorded::{NamedLines, read_judgements};
use std::io::{BufRead, Read};
use std::path::PathBuf;

/// Whose decisions to compare.
#[expect(missing_docs, reason = "field names say it")]
pub struct AgreeRequest {
    /// Judgements or CSV; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Default: matches if there are pair judgements, else verdicts.
    pub on: Option<On>,
    /// The suite with the goldens, and the submissions that were judged, for [`On::Found`].
    pub suite: Option<String>,
    pub submissions: Vec<PathBuf>,
    pub most_disagreements: usize,
    pub seed: Option<u64>,
}

/// Measures how far the decisions in files agree.
pub fn agree_files(request: &AgreeRequest) -> Result<Agreement> {
    Ok(agree(&opinions(request)?, request.seed, request.most_disagreements))
}

fn opinions(request: &AgreeRequest) -> Result<Opinions> {
    refuse_repeated_stdin(request.files.iter().chain(&request.submissions))?;
    let on = request.on;
    if request.suite.is_some() && on != Some(On::Found) {
        return Err(Failure::usage("--suite and --submission require --on found"));
    }
    let (mut judgements, mut tables) = (Vec::new(), Vec::new());
    for path in &request.files {
        let mut lines = open_lines(path)?;
        let named = path.extension().is_some_and(|extension| extension == "jsonl");
        if named || is_json(&mut lines)? { judgements.push(lines) } else { tables.push(lines) }
    }
    if !tables.is_empty() {
        return from_tables(tables, !judgements.is_empty(), on);
    }
    let Some(place) = &request.suite else {
        return from_judgements(&read_judgements(judgements, None)?, on, None);
    };
    let loaded = load_suite(place)?;
    let submissions = request.submissions.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>>>()?;
    let trials = read_each(submissions, &loaded.suite)?;
    let judgements = read_judgements(judgements, Some(&loaded.suite))?;
    let trials = Trials { suite: &loaded.suite, trials: &trials };
    from_judgements(&judgements, on, Some(&trials))
}

/// Whether a file starts like JSON. Consumes nothing.
fn is_json(lines: &mut NamedLines<'_>) -> Result<bool> {
    let start = lines.reader.fill_buf().map_err(|error| Failure::io(&lines.file, error))?;
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b'{' | b'[')))
}

fn from_tables(tables: Vec<NamedLines<'_>>, mixed: bool, on: Option<On>) -> Result<Opinions> {
    if mixed {
        return Err(Failure::usage("judgements and CSV files cannot be combined: their items have different names"));
    }
    if on.is_some() {
        return Err(Failure::usage("--on applies to judgements; a CSV file has only one value for each rating"));
    }
    let mut texts = Vec::new();
    for mut table in tables {
        let mut text = String::new();
        table.reader.read_to_string(&mut text).map_err(|error| Failure::io(&table.file, error))?;
        texts.push((table.file, text));
    }
    from_csv(read_csv(&texts)?)
}
