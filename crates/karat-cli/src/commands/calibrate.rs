//! `karat calibrate`.

mod matching;
mod sui;

use crate::args::{CalibrateCommand, FittedArgs};
use crate::exit::{Exit, Failure};
use crate::hints::word;
use crate::output_files::save;
use crate::terminal::{note, tell};
use karat::profile::to_difference;
use karat::suite::LoadedSuite;
use karat_core::profile::Profile;
use karat_report::grid::{Cell, draw};

pub(crate) fn run(command: &CalibrateCommand) -> Result<Exit, Failure> {
    match command {
        CalibrateCommand::Sui(args) => sui::run(args),
        CalibrateCommand::Match(args) => matching::run(args),
    }
}

/// Refuses an output file that is not `.toml` before any work is done.
fn check(args: &FittedArgs) -> Result<(), Failure> {
    match &args.file {
        Some(path) if path.extension().is_none_or(|extension| extension != "toml") => {
            let shown = path.display();
            Err(Failure::usage(format!("{shown}: a profile is a .toml file; print the figures as JSON with --json")))
        }
        _ => Ok(()),
    }
}

/// Writes the profile with the fitted values to the output file, if any, with a comment on their origin.
fn write(args: &FittedArgs, profile: &Profile, from: &str) -> Result<(), Failure> {
    let Some(path) = &args.file else { return Ok(()) };
    let from: String = from.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = format!("# {from}\n{}", to_difference(profile));
    save(path, text.as_bytes())?;
    let shown = path.display().to_string();
    tell(&format!("wrote {shown}; use it with --profile {}", word(&shown)));
    Ok(())
}

/// Notes fitted values that the suite overrides: `karat.toml` takes precedence over any profile.
fn tell_of_overrides(loaded: &LoadedSuite, keys: &[&str]) {
    for key in keys.iter().filter(|key| loaded.config.scoring.overrides.contains_key(**key)) {
        note(&format!(
            "the suite's karat.toml sets `{key}`, which overrides the profile; change it there to use the fitted value"
        ));
    }
}

/// Draws a table with words in the first column and numbers in the others.
fn table(rows: &[Vec<String>], width: usize) -> String {
    let cell = |(column, text): (usize, &String)| if column == 0 { Cell::left(text) } else { Cell::right(text) };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
    draw(&cells, width, false)
}

fn row(name: &str, numbers: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(numbers).collect()
}
