//! `karat judge agree`.

use crate::args::AgreeArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::terminal::notes;
use karat::judge::agree::{On, Opinions, Trials, agree, draw, from_csv, from_judgements, read_csv, read_each};
use karat::submissions::{load_suite, open_lines, refuse_repeated_stdin};
use karat_format::recorded::{NamedLines, read_judgements};
use std::io::{BufRead, Read};

pub(crate) fn run(args: &AgreeArgs) -> Result<Exit, Failure> {
    let opinions = opinions(args)?;
    let agreement = agree(&opinions, args.seed, args.disagreements);
    show(args.json, &agreement, |look| draw(&agreement, look))?;
    if !args.json {
        notes(&agreement.notes);
    }
    Ok(Exit::Ok)
}

fn opinions(args: &AgreeArgs) -> Result<Opinions, Failure> {
    refuse_repeated_stdin(args.files.iter().chain(&args.submissions))?;
    let on = args.on.map(On::from);
    if args.suite.is_some() && on != Some(On::Found) {
        return Err(Failure::usage("--suite and --submission require --on found"));
    }
    let (mut judgements, mut tables) = (Vec::new(), Vec::new());
    for path in &args.files {
        let mut lines = open_lines(path)?;
        let named = path.extension().is_some_and(|extension| extension == "jsonl");
        if named || is_json(&mut lines)? { judgements.push(lines) } else { tables.push(lines) }
    }
    if !tables.is_empty() {
        return from_tables(tables, !judgements.is_empty(), on);
    }
    let Some(place) = &args.suite else {
        return decided(from_judgements(&read_judgements(judgements, None)?, on, None));
    };
    let loaded = load_suite(place)?;
    let submissions = args.submissions.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>, _>>()?;
    let trials = read_each(submissions, &loaded.suite)?;
    let judgements = read_judgements(judgements, Some(&loaded.suite))?;
    let trials = Trials { suite: &loaded.suite, trials: &trials };
    decided(from_judgements(&judgements, on, Some(&trials)))
}

/// Whether a file starts like JSON. Consumes nothing.
fn is_json(lines: &mut NamedLines<'_>) -> Result<bool, Failure> {
    let start = lines.reader.fill_buf().map_err(|error| Failure::io(&lines.file, error))?;
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b'{' | b'[')))
}

fn from_tables(tables: Vec<NamedLines<'_>>, mixed: bool, on: Option<On>) -> Result<Opinions, Failure> {
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
    decided(from_csv(read_csv(&texts)?))
}

fn decided(opinions: Result<Opinions, karat::judge::agree::AgreeError>) -> Result<Opinions, Failure> {
    opinions.map_err(|error| Failure::bad_input(error.to_string()))
}
